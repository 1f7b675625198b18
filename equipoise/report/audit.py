"""Audits of evaluators in results, as text: a summary, and a table of the checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from equipoise.core.figures import format_limits
from equipoise.judge.anchors import ALL_TEXTS
from equipoise.report.layout import align

if TYPE_CHECKING:
    from equipoise.judge.anchors import Check
    from equipoise.results.document import Audit

_HEAD = ("check", "found", "95 % interval", "sound judge", "")
_SOMERS = "Somers' D"


def summary_lines(
    audits: Mapping[str, Audit | None], width: int | None = None, *, has_checks: bool
) -> Iterator[str]:
    """Lines on the audit of each evaluator of a session that was audited, with or without its checks."""
    for evaluator, audit in audits.items():
        if audit is None:
            continue
        yield f"audit:     {evaluator}: {describe_audit(audit)}"
        for text in audit["differs"]:
            yield f"warning:   {evaluator} is not as it was audited: {text}"
        if has_checks:
            yield from align(check_rows(audit), width)


def describe_audit(audit: Audit | None) -> str:
    """A phrase on an audit: its faults, extent and date, or its progress if it is incomplete."""
    if audit is None:
        return "not audited"
    done = f"{audit['verdicts']:,} of {audit['planned']:,} verdicts"
    if audit["state"] != "complete":
        return f"incomplete: {done}; the same command with --audit resumes it"
    source = ", kept" if audit["source"] == "kept" else ""
    origin = (
        f"{audit['extent']} audit, {audit['verdicts']:,} verdicts, {(audit['finished'] or '')[:10]}{source}"
    )
    outdated = "; not the evaluator as it is now" if audit["differs"] else ""
    return f"{describe_faults(audit)} ({origin}){outdated}"


def describe_faults(audit: Audit) -> str:
    """A phrase on the checks of an audit that found a fault, and on how high the evaluator's scores lie."""
    names = [check.name for check in audit["checks"] if check.is_fault]
    by_chance = [check.name for check in audit["checks"] if check.is_by_chance]
    phrases = [f"not shown to be better than chance ({', '.join(by_chance)})"] if by_chance else []
    phrases += [f"faults: {', '.join(names)}"] if names else []
    level = audit.get("levels", {}).get(ALL_TEXTS)
    return f"{'; '.join(phrases) or 'no fault found'}{'' if level is None else _describe_level(level)}"


def _describe_level(level: Check) -> str:
    """A clause on how high an evaluator's scores lie, which no check decides on."""
    if level.value is None:
        return ""
    way = "below" if level.value < 0 else "above"
    return f"; scores lie {abs(level.value):.1f} points {way} the middle of the acceptable ranges"


def check_rows(audit: Audit) -> list[tuple[str, ...]]:
    """The table of checks, header first; empty for an incomplete audit."""
    table = [
        (check.name, *_format_figures(check), _describe_sound(check), _describe_ruling(check))
        for check in audit["checks"]
    ]
    # The checks of some suites include the lean in each language, which needs no second row.
    table += [
        (f"lean in {language}", *_format_figures(check), "", "")
        for language, check in audit["lean_by_language"].items()
        if f"lean in {language}" not in {check.name for check in audit["checks"]}
    ]
    table += [
        (check.name, *_format_figures(check), _describe_sound(check), "")
        for check in audit.get("levels", {}).values()
    ]
    return [_HEAD, *table] if table else []


def _format_figures(check: Check) -> tuple[str, str]:
    """The value of a check, signed if a fault may lie on either side; its interval, or why it has none."""
    decimals = 2 if check.unit == _SOMERS else 1
    sign = "+" if check.worse == "either" else ""
    value = "-" if check.value is None else f"{check.value:{sign}.{decimals}f}"
    if check.low is None:
        return value, check.reason or "-"
    return value, format_limits(check.low, check.high, decimals)


def _describe_sound(check: Check) -> str:
    """The values of a check that a sound evaluator has."""
    low, high = check.sound - check.tolerance, check.sound + check.tolerance
    unit = " %" if check.unit == "%" else ""
    if check.worse == "lower":
        return f"at least {low:g}{unit}"
    if check.worse == "higher":
        return f"at most {high:g}{unit}"
    return f"{low:g} to {high:g}{unit}" if check.tolerance else f"{check.sound:g}{unit}"


def _describe_ruling(check: Check) -> str:
    return "FAULT" if check.is_fault else "BY CHANCE" if check.is_by_chance else ""
