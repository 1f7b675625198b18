"""Comparisons and gates of results files as values, for scripts and notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.comparison.compare import Comparison
from equipoise.comparison.compare import compare as compare_sides
from equipoise.comparison.gate.ruling import Ruling
from equipoise.comparison.of_files import compare_files
from equipoise.comparison.verify import load_verified
from equipoise.core.errors import UserError
from equipoise.core.gates import GateFile, parse_gate, rules_in
from equipoise.core.rules import Rule
from equipoise.core.types import JSON
from equipoise.stats.paired import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What becomes of a release: the verdict, the ruling on each rule, and the comparison as plain data.

    `missing` counts the candidate's runs without a score, which the verdict does not rest on.
    """

    verdict: Decision
    rulings: Sequence[Ruling]
    missing: int
    comparison: Mapping[str, JSON] = field(repr=False)

    @property
    def passes(self) -> bool:
        """Whether every required rule passes, not one is inconclusive, and every run has a score."""
        return self.verdict == "pass" and not self.missing


def compare(baseline: Path, candidate: Path, *, allows_mismatch: bool = False) -> Comparison:
    """The candidate against the baseline. Raises UserError that names what differs."""
    sides = load_verified(baseline), load_verified(candidate)
    return compare_sides(*sides, allows_mismatch=allows_mismatch, is_study=True)


def gate(baseline: Path, candidate: Path, rules: Sequence[str], *, allows_mismatch: bool = False) -> Gate:
    """What becomes of the candidate by these rules, or files of rules, as `equipoise compare --gate` says.

    Raises UserError.
    """
    if not rules:
        raise UserError("gate: there are no rules; give some, such as overall:-2pp")
    (comparison,) = compare_files(
        [baseline], [candidate], rules_in(map(_rules, rules)), allows_mismatch=allows_mismatch
    )
    verdict = comparison["gate"]
    return Gate(
        verdict=verdict["verdict"],
        rulings=[Ruling(**row) for row in verdict["rules"]],
        missing=verdict["left"] + verdict["unscored"],
        comparison=comparison["comparison"],
    )


def _rules(text: str) -> Rule | GateFile:
    try:
        return parse_gate(text)
    except ValueError as error:
        raise UserError(f"gate: {text!r} {error}") from None
