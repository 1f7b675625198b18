"""Figures of saved audits: every check with its interval, beside the band of a sound evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, cast

from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import opened, read_bytes
from equipoise.core.types import JSON
from equipoise.suites.plots import Plot

if TYPE_CHECKING:
    from equipoise.results.document import CheckFigures, KeptAudit

_KEYS = {"evaluator", "suite", "extent", "checks"}
_SOMERS_FACTOR = 100.0
"""Somers' D is multiplied by this, to share the axis of points and percent."""


def read(paths: Sequence[Path]) -> list[KeptAudit]:
    """The audits in these files and folders. Raises UserError for one that cannot be read."""
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    return [_read(file) for file in files if file.is_file() and _is_audit(file)]


def _is_audit(path: Path) -> bool:
    """Whether a file is an audit by its first 200 bytes, because results may be long."""
    with opened(path) as file:
        start = file.read(200)
    return b'"evaluator"' in start and b'"metadata"' not in start


def _read(path: Path) -> KeptAudit:
    try:
        audit = json_io.loads(read_bytes(path))
    except ValueError as error:
        raise UserError(f"{path}: not valid JSON ({error})") from None
    if not isinstance(audit, dict) or not audit.keys() >= _KEYS:
        raise UserError(f"{path}: neither results nor an audit")
    return cast("KeptAudit", audit)


def plots(audits: Sequence[KeptAudit]) -> dict[str, Plot]:
    """A figure for each suite, by file name, with a panel for each evaluator."""
    ordered = sorted(audits, key=lambda audit: audit["suite"])
    return {
        f"audit-{suite}": Plot(
            name=f"audit-{suite}",
            title=f"Checks of the evaluators of {suite}, with 95 % intervals",
            kind="checks",
            rows=[row for audit in group for row in _rows(audit)],
            unit="points or percent; a grey band is what a sound evaluator has",
            low=-100,
            high=100,
        )
        for suite, group in groupby(ordered, lambda audit: audit["suite"])
    }


def _rows(audit: KeptAudit) -> list[dict[str, JSON]]:
    return [_row(f"{audit['evaluator']} ({audit['extent']})", check) for check in audit["checks"]]


def _row(series: str, check: CheckFigures) -> dict[str, JSON]:
    times = 1.0 if check["unit"] in ("points", "%") else _SOMERS_FACTOR
    value, low, high = (
        None if figure is None else times * figure for figure in (check["value"], check["low"], check["high"])
    )
    near, far = _band(check, times)
    return {
        "series": series,
        "name": check["name"] if times == 1.0 else f"{check['name']} (D x 100)",
        "value": value,
        "low": None if low is None else max(-100.0, low),
        "high": None if high is None else min(100.0, high),
        "from": near,
        "to": far,
        "ruling": "fault or by chance"
        if check["is_fault"] or check.get("is_by_chance")
        else "no fault found",
    }


def _band(check: CheckFigures, times: float) -> tuple[float, float]:
    """The lower and upper end of a sound evaluator's band, within the axis."""
    least = 0.0 if check["unit"] == "%" else -100.0
    low, high = (times * (check["sound"] + sign * check["tolerance"]) for sign in (-1, 1))
    return least if check["worse"] == "higher" else low, 100.0 if check["worse"] == "lower" else high
