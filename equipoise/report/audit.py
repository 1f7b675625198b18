"""Audits of evaluators, as in results or as they are kept, as text: a table for each, and a ranking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from equipoise.core.types import JSON
from equipoise.report.layout import align

NOT_AUDITED = "evaluator not audited"
_HEAD = ("check", "found", "95 % interval", "a sound one has", "")
_SOMERS = "Somers' D"
Audit = Mapping[str, JSON]
Check = Mapping[str, JSON]


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
    yield f"{evaluator}: {_faults(audit)}"
    yield from align(rows(audit), width)


def finding(audit: Audit) -> str:
    """The faults that were found, how and when; nothing is said of an incomplete audit."""
    done = f"{audit['verdicts']:,} of {audit['planned']:,} verdicts"
    if audit["state"] != "complete":
        return f"incomplete: {done}; the same command with --audit goes on with it"
    kept = ", kept" if audit["source"] == "kept" else ""
    about = f"{audit['extent']} audit, {audit['verdicts']:,} verdicts, {audit['finished'][:10]}{kept}"
    outdated = "; not the evaluator as it is now" if audit["differs"] else ""
    return f"{_faults(audit)} ({about}){outdated}"


def _faults(audit: Audit) -> str:
    faults = [check["name"] for check in audit["checks"] if check["is_fault"]]
    return f"faults: {', '.join(faults)}" if faults else "no fault found"


def rows(audit: Audit) -> list[tuple[str, ...]]:
    """The table of checks, header first; empty of an incomplete audit."""
    found = [
        (check["name"], _figure(check), _interval(check), _sound(check), "FAULT" if check["is_fault"] else "")
        for check in audit["checks"]
    ]
    found += [
        (f"lean in {language}", _figure(check), _interval(check), "", "")
        for language, check in audit["lean_by_language"].items()
    ]
    return [_HEAD, *found] if found else []


def ranked(audits: Mapping[str, Audit]) -> list[str]:
    """The evaluators' names, the one with the fewest faults first, then by how well they keep the order."""

    def rank(name: str) -> tuple[int, float]:
        checks = audits[name]["checks"]
        order = next((check["value"] for check in checks if check["name"] == "order"), None)
        return sum(check["is_fault"] for check in checks), -(order if order is not None else -1.0)

    return sorted(audits, key=rank)


def _figure(check: Check) -> str:
    if check["value"] is None:
        return "-"
    return (
        f"{check['value']:.2f}"
        if check["unit"] == _SOMERS
        else f"{check['value']:{'+' if check['worse'] == 'either' else ''}.1f}"
    )


def _interval(check: Check) -> str:
    if check["low"] is None or check["high"] is None:
        return check["reason"] or "-"
    places = 2 if check["unit"] == _SOMERS else 1
    return f"{check['low']:.{places}f} to {check['high']:.{places}f}"


def _sound(check: Check) -> str:
    if check["worse"] == "lower":
        return f"at least {check['sound'] - check['tolerance']:g}"
    if check["worse"] == "higher":
        return f"at most {check['sound'] + check['tolerance']:g}{' %' if check['unit'] == '%' else ''}"
    return (
        f"{check['sound']:g}"
        if not check["tolerance"]
        else f"{-check['tolerance']:g} to {check['tolerance']:g}"
    )
