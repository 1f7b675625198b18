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
    yield f"{evaluator}: {_said(checks)}"
    rows = [
        (f"{check.name}", _figure(check), _interval(check), _sound(check), _ruling(check)) for check in checks
    ]
    rows += [
        (f"lean in {language}", _figure(check), _interval(check), "", "")
        for language, check in by_language.items()
    ]
    yield from align([_HEAD, *rows], width)


def _said(checks: Sequence[Check]) -> str:
    """What the checks come to, in a line."""
    faults = [check.name for check in checks if check.is_fault]
    by_chance = [check.name for check in checks if check.is_by_chance]
    said = [f"not shown to be better than chance ({', '.join(by_chance)})"] if by_chance else []
    said += [f"faults: {', '.join(faults)}"] if faults else []
    return "; ".join(said) or "no fault found"


def ranked(audits: Mapping[str, Sequence[Check]]) -> list[str]:
    """The evaluators' names, the one with the fewest faults first, then by how much they get right."""
    return sorted(audits, key=lambda name: _rank(audits[name]))


def _rank(checks: Sequence[Check]) -> tuple[int, int, float]:
    """By chance first of all; then the number of faults, then how much was missed of what should be high."""
    missed = [
        1.0 if check.value is None else (check.sound - check.value) / check.sound
        for check in checks
        if check.worse == "lower"
    ]
    by_chance, faults = (sum(check.is_by_chance for check in checks), sum(check.is_fault for check in checks))
    return by_chance, faults, sum(missed) / len(missed) if missed else 1.0


def ranking(audits: Mapping[str, Mapping[str, Sequence[Check]]], width: int | None = None) -> Iterator[str]:
    """Several evaluators over all suites that were audited, by their checks by suite, best first."""
    every = {name: [check for found in by.values() for check in found] for name, by in audits.items()}
    rows = [
        (f"{place}.", name, str(sum(check.is_fault for check in every[name])), _where(audits[name]))
        for place, name in enumerate(ranked(every), 1)
    ]
    yield from align([("", "evaluator", "faults", ""), *rows], width)


def _where(audited: Mapping[str, Sequence[Check]]) -> str:
    faults = {
        suite: [check.name for check in checks if check.is_fault]
        + [f"{check.name} by chance" for check in checks if check.is_by_chance and not check.is_fault]
        for suite, checks in audited.items()
    }
    return (
        "; ".join(f"{suite}: {', '.join(names)}" for suite, names in faults.items() if names) or "none found"
    )


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
    return "FAULT" if check.is_fault else "BY CHANCE" if check.is_by_chance else ""
