"""Plots of saved audits: every check with its interval, beside the band of a sound evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.audit.files import load
from equipoise.core.files import open_regular
from equipoise.suites.plots import Plot

if TYPE_CHECKING:
    from equipoise.judge.anchors import Check
    from equipoise.results.document import KeptAudit

_SOMERS_FACTOR = 100.0
"""Factor of Somers' D, so that it shares the axis of points and percent."""


def read(paths: Sequence[Path]) -> list[KeptAudit]:
    """The saved audits among these files and those in folders; others are left out. Raises UserError."""
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    return [load(file) for file in files if file.is_file() and _is_audit(file)]


def _is_audit(path: Path) -> bool:
    """Whether a file begins as a saved audit does. Only 200 bytes are read: results may be long."""
    with open_regular(path) as file:
        start = file.read(200)
    return b'"evaluator"' in start and b'"metadata"' not in start


def plots(audits: Sequence[KeptAudit]) -> dict[str, Plot]:
    """A plot for each suite, by the name of its file, with a series for each evaluator and extent.

    The extent names how much of the suite's anchors an audit judges, such as `full`.
    """
    ordered = sorted(audits, key=lambda audit: audit["suite"])
    return {
        f"audit-{suite}": Plot(
            name=f"audit-{suite}",
            title=f"Checks of the evaluators of {suite}, with 95 % intervals",
            kind="checks",
            rows=[
                _row(f"{content['evaluator']} ({content['audit']['extent']})", check)
                for content in group
                for check in content["audit"]["checks"]
            ],
            unit="points or percent; grey: range expected of a sound evaluator",
            low=-100,
            high=100,
        )
        for suite, group in groupby(ordered, lambda audit: audit["suite"])
    }


def _row(series: str, check: Check) -> dict[str, str | float | None]:
    factor = 1.0 if check.unit in ("points", "%") else _SOMERS_FACTOR
    value, low, high = (
        None if figure is None else factor * figure for figure in (check.value, check.low, check.high)
    )
    band_low, band_high = _band(check, factor)
    return {
        "series": series,
        "name": check.name if factor == 1.0 else f"{check.name} (D x 100)",
        "value": value,
        "low": None if low is None else max(-100.0, low),
        "high": None if high is None else min(100.0, high),
        "from": band_low,
        "to": band_high,
        "ruling": "fault, or no better than chance"
        if check.is_fault or check.is_by_chance
        else "no fault found",
    }


def _band(check: Check, factor: float) -> tuple[float, float]:
    """The lower and upper end of a sound evaluator's band, within the axis.

    Where only higher (or lower) values are worse, the band reaches to the other end of the axis.
    """
    axis_low = 0.0 if check.unit == "%" else -100.0
    low, high = (factor * (check.sound + sign * check.tolerance) for sign in (-1, 1))
    band_low = axis_low if check.worse == "higher" else low
    band_high = 100.0 if check.worse == "lower" else high
    return band_low, band_high
