"""Audits of evaluators, as in results or as they are kept, as text: a table for each, and a ranking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from equipoise.core.types import JSON
from equipoise.report.layout import align
from equipoise.results.audits import Audit

NOT_AUDITED = "evaluator not audited"
_HEAD = ("check", "found", "95 % interval", "a sound one has", "")
_SOMERS = "Somers' D"
CheckRow = Mapping[str, JSON]


def summary(audits: Mapping[str, Audit | None], width: int | None = None) -> Iterator[str]:
    """What is known of each evaluator of a session: its audit, or that there is none."""
    for evaluator, audit in audits.items():
        if audit is None:
            yield NOT_AUDITED if len(audits) == 1 else f"{NOT_AUDITED}: {evaluator}"
            continue
        yield f"audit:     {evaluator}: {finding(audit)}"
        for text in audit["differs"]:
            yield f"warning:   {evaluator} is not as it was audited: {text}"
        yield from align(rows(audit), width)


def lines(evaluator: str, audit: Audit, width: int | None = None) -> Iterator[str]:
    """The checks of one evaluator, under the faults that were found."""
    yield f"{evaluator}: {_said(audit)}"
    yield from align(rows(audit), width)


def finding(audit: Audit) -> str:
    """The faults that were found, how and when; nothing is said of an incomplete audit."""
    done = f"{audit['verdicts']:,} of {audit['planned']:,} verdicts"
    if audit["state"] != "complete":
        return f"incomplete: {done}; the same command with --audit goes on with it"
    kept = ", kept" if audit["source"] == "kept" else ""
    about = f"{audit['extent']} audit, {audit['verdicts']:,} verdicts, {audit['finished'][:10]}{kept}"
    outdated = "; not the evaluator as it is now" if audit["differs"] else ""
    return f"{_said(audit)} ({about}){outdated}"


def _said(audit: Audit) -> str:
    """What the checks come to, in a line."""
    faults = [check["name"] for check in audit["checks"] if check["is_fault"]]
    by_chance = [check["name"] for check in audit["checks"] if check["is_by_chance"]]
    said = [f"not shown to be better than chance ({', '.join(by_chance)})"] if by_chance else []
    said += [f"faults: {', '.join(faults)}"] if faults else []
    return "; ".join(said) or "no fault found"


def rows(audit: Audit) -> list[tuple[str, ...]]:
    """The table of checks, header first; empty of an incomplete audit."""
    found = [
        (check["name"], _figure(check), _interval(check), _sound(check), _ruling(check))
        for check in audit["checks"]
    ]
    found += [
        (f"lean in {language}", _figure(check), _interval(check), "", "")
        for language, check in audit["lean_by_language"].items()
        if f"lean in {language}" not in {check["name"] for check in audit["checks"]}
    ]
    return [_HEAD, *found] if found else []


def ranked(audits: Mapping[str, Audit]) -> list[str]:
    """The evaluators' names, the one with the fewest faults first, then by how much they get right."""
    return sorted(audits, key=lambda name: _rank(audits[name]["checks"]))


def _rank(checks: Sequence[CheckRow]) -> tuple[int, int, float]:
    """By chance first of all; then the number of faults, then how much was missed of what should be high."""
    missed = [
        1.0 if check["value"] is None else (check["sound"] - check["value"]) / check["sound"]
        for check in checks
        if check["worse"] == "lower"
    ]
    by_chance, faults = (sum(check[name] for check in checks) for name in ("is_by_chance", "is_fault"))
    return by_chance, faults, sum(missed) / len(missed) if missed else 1.0


def ranking(audits: Mapping[str, Mapping[str, Audit]], width: int | None = None) -> Iterator[str]:
    """Several evaluators over all suites that were audited, by their audits by suite, best first."""
    every = {
        name: {"checks": [check for audit in by.values() for check in audit["checks"]]}
        for name, by in audits.items()
    }
    rows = [
        (
            f"{place}.",
            name,
            str(sum(check["is_fault"] for check in every[name]["checks"])),
            _where(audits[name]),
        )
        for place, name in enumerate(ranked(every), 1)
    ]
    yield from align([("", "evaluator", "faults", ""), *rows], width)


def _where(audited: Mapping[str, Audit]) -> str:
    faults = {suite: [*_named(audit["checks"])] for suite, audit in audited.items()}
    return (
        "; ".join(f"{suite}: {', '.join(names)}" for suite, names in faults.items() if names) or "none found"
    )


def _named(checks: Sequence[CheckRow]) -> Iterator[str]:
    yield from (check["name"] for check in checks if check["is_fault"])
    yield from (f"{check['name']} by chance" for check in checks if check["is_by_chance"] > check["is_fault"])


def _figure(check: CheckRow) -> str:
    if check["value"] is None:
        return "-"
    return (
        f"{check['value']:.2f}"
        if check["unit"] == _SOMERS
        else f"{check['value']:{'+' if check['worse'] == 'either' else ''}.1f}"
    )


def _interval(check: CheckRow) -> str:
    if check["low"] is None or check["high"] is None:
        return check["reason"] or "-"
    places = 2 if check["unit"] == _SOMERS else 1
    return f"{check['low']:.{places}f} to {check['high']:.{places}f}"


def _sound(check: CheckRow) -> str:
    if check["worse"] == "lower":
        return f"at least {check['sound'] - check['tolerance']:g}"
    if check["worse"] == "higher":
        return f"at most {check['sound'] + check['tolerance']:g}{' %' if check['unit'] == '%' else ''}"
    return (
        f"{check['sound']:g}"
        if not check["tolerance"]
        else f"{-check['tolerance']:g} to {check['tolerance']:g}"
    )


def _ruling(check: CheckRow) -> str:
    return "FAULT" if check["is_fault"] else "BY CHANCE" if check["is_by_chance"] else ""
