"""An audit of evaluators as people read it: a table for each, and a ranking of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from equipoise.audit.judged import Check
from equipoise.report.layout import align

_HEAD = ("check", "found", "95 % interval", "a sound one has", "")


def lines(
    evaluator: str, checks: Sequence[Check], by_language: Mapping[str, Check], width: int | None = None
) -> Iterator[str]:
    """The checks of one evaluator."""
    faults = [check.name for check in checks if check.is_fault]
    yield f"{evaluator}: {'faults: ' + ', '.join(faults) if faults else 'no fault found'}"
    rows = [
        (f"{check.name}", _figure(check), _interval(check), _sound(check), _ruling(check)) for check in checks
    ]
    rows += [
        (f"lean in {language}", _figure(check), _interval(check), "", "")
        for language, check in by_language.items()
    ]
    yield from align([_HEAD, *rows], width)


def ranked(audits: Mapping[str, Sequence[Check]]) -> list[str]:
    """The evaluators' names, the one with the fewest faults first, then by how well they keep the order."""

    def rank(name: str) -> tuple[int, float]:
        order = next((check.value for check in audits[name] if check.name == "order"), None)
        return sum(check.is_fault for check in audits[name]), -(order if order is not None else -1.0)

    return sorted(audits, key=rank)


def _figure(check: Check) -> str:
    if check.value is None:
        return "-"
    return (
        f"{check.value:.2f}"
        if check.unit == "Somers' D"
        else f"{check.value:{'+' if check.worse == 'either' else ''}.1f}"
    )


def _interval(check: Check) -> str:
    if check.low is None or check.high is None:
        return check.reason or "-"
    places = 2 if check.unit == "Somers' D" else 1
    return f"{check.low:.{places}f} to {check.high:.{places}f}"


def _sound(check: Check) -> str:
    if check.worse == "lower":
        return f"at least {check.sound - check.tolerance:g}"
    if check.worse == "higher":
        return f"at most {check.sound + check.tolerance:g}{' %' if check.unit == '%' else ''}"
    return f"{check.sound:g}" if not check.tolerance else f"{-check.tolerance:g} to {check.tolerance:g}"


def _ruling(check: Check) -> str:
    return "FAULT" if check.is_fault else ""
