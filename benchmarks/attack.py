"""Attacks the client and whole sessions in every way that we know of, and counts what gives way.

    python benchmarks/attack.py [--sample] [--seed N] [--only FAMILY]

Everything happens on loopback and in temporary folders. For each family prints how many attacks were tried,
how many held and how many fell; in sum the calls lost, the calls paid twice beyond those in flight, the
scores changed in silence and the keys found. All of these must be 0; what fell is named, and the exit status
is 1. With --sample it takes about a minute and a half of CPU.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping

from attacks import (
    answers,
    batch_results,
    batches,
    bodies,
    budgets,
    characters,
    copies,
    crashes,
    foreign,
    journals,
    keys,
    mixtures,
    overload,
    spreadsheets,
    strings,
    transports,
    verdicts,
)
from attacks.tally import Size, Tally

FAMILIES: Mapping[str, Callable[[Size], Tally]] = {
    "bodies": bodies.attack,
    "errors beside answers": bodies.beside,
    "transports": transports.attack,
    "late copies": copies.attack,
    "overload by 5xx": overload.attack,
    "redirects": transports.redirects,
    "waits": transports.waits,
    "mixtures": mixtures.attack,
    "replies and verdicts": verdicts.attack,
    "shares and chances": answers.attack,
    "crashes": crashes.attack,
    "batches": batches.attack,
    "results of batches": batch_results.attack,
    "edited intents": batch_results.edited,
    "files of answers": batch_results.answers,
    "journals": journals.attack,
    "edited journals": journals.edited,
    "budgets": budgets.attack,
    "keys": keys.attack,
    "full disk": crashes.full_disk,
    "two at once": crashes.doubled,
    "spreadsheet cells": spreadsheets.attack,
    "control characters": characters.attack,
    "hostile strings": strings.attack,
    "files of others": foreign.attack,
}
TITLE = f"{'family':<22}{'tried':>7}{'held':>7}{'fell':>7}{'lost':>7}{'twice':>7}{'changed':>9}{'keys':>6}"


def row(tally: Tally) -> str:
    """One line of the table."""
    fell = len(tally.fell)
    numbers = f"{tally.tried:>7}{tally.tried - fell:>7}{fell:>7}{tally.lost:>7}{tally.twice:>7}"
    return f"{tally.family:<22}{numbers}{tally.changed:>9}{tally.keys:>6}"


def total(tallies: Iterable[Tally]) -> Tally:
    """The sum of all families."""
    found = Tally("all")
    for tally in tallies:
        for name in ("tried", "lost", "twice", "changed", "keys", "fell"):
            setattr(found, name, getattr(found, name) + getattr(tally, name))
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the table; the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=FAMILIES)
    options = parser.parse_args(arguments)
    size = Size(is_full=not options.sample, seed=options.seed)
    print(TITLE, flush=True)
    tallies = []
    for name in options.only or FAMILIES:
        tallies.append(FAMILIES[name](size))
        print(row(tallies[-1]), *tallies[-1].fell, sep="\n", flush=True)
    whole = total(tallies)
    print(row(whole))
    return 0 if whole.is_harmless else 1


def forget_settings() -> None:
    """A developer's own keys and options must not reach the sessions."""
    for name in [*os.environ]:
        if name.startswith(("EQUIPOISE_", "OPENAI_")) or name == "PYTHONDONTWRITEBYTECODE":
            del os.environ[name]


if __name__ == "__main__":
    forget_settings()
    raise SystemExit(main())
