"""Plans the number of labels: for an interval of a given width, and for gates."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.comparison import labels
from equipoise.comparison.side import LoadedResults
from equipoise.core.errors import UserError
from equipoise.core.records import Metric
from equipoise.core.rules import Scope
from equipoise.stats.corrected import FEWEST_LABELS, needed_for_margin, needed_labels
from equipoise.stats.metrics import measure
from equipoise.studies.people import draws

ASSUMED = 0.7
"""The assumed correlation of people and judge if it is not known."""
_MARGINS = (1.0, 2.0, 3.0, 5.0)
"""Margins of gates in percentage points."""
_POINTS = re.compile(r"(?:±|\+-)?(\d{1,3}(?:\.\d{1,3})?)(?:pp)?")


def points(text: str) -> float:
    """The half-width in percentage points of a text such as 4pp. Raises UserError."""
    match = _POINTS.fullmatch(text.strip())
    if not match or not float(match[1]):
        raise UserError(f"--within: {text!r} is not a half-width in percentage points, such as 4pp")
    return float(match[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """Assumptions of a plan: the SD of single replies in points, and the correlation of people and judge."""

    spread: float
    agreement: float
    source: str
    replies: int


def lines(side: LoadedResults, half_width: float, agreement: float | None) -> Iterator[str]:
    """Lines of the plan for the headline in both scopes, and for gates. Raises UserError."""
    metric = next(iter(side.metrics.values()))
    basis = _basis(side, metric, agreement)
    yield (
        f"plan:      {metric.name} of {side.file}: {basis.replies:,} replies, SD {basis.spread:.1f} points; "
        f"people and judge correlate {basis.agreement:.2f} ({basis.source})"
    )
    for scope, words, floor in _scopes(side, metric):
        needed = needed_labels(
            half_width, spread=basis.spread, agreement=basis.agreement, replies=basis.replies, floor=floor
        )
        estimate = f"about {needed:,} labels" if needed else _unreachable(words, floor)
        yield f"           {words} (@{scope}): ±{half_width:g} pp: {estimate}"
    gates = ", ".join(_gates(basis))
    yield f"           gates @these@people, 80 % power if nothing changed: {gates} on each side"


def _unreachable(words: str, floor: float) -> str:
    at_least = f"; with labels of all it is about ±{1.96 * floor:.1f} pp" if floor else ""
    return f"no number of labels gives that {words}{at_least}"


def _scopes(side: LoadedResults, metric: Metric) -> Sequence[tuple[Scope, str, float]]:
    floor = measure(metric, side.cells).se or 0.0
    return [
        ("these", "on these replies", 0.0),
        ("population", f"for {side.suite.clusters} like these", floor),
    ]


def _gates(basis: Basis) -> Iterator[str]:
    for margin in _MARGINS:
        needed = needed_for_margin(
            margin, spread=basis.spread, agreement=basis.agreement, replies=basis.replies
        )
        yield f"-{margin:g}pp about {needed:,}"


def _basis(side: LoadedResults, metric: Metric, agreement: float | None) -> Basis:
    """The basis from labels in the results if there are enough, else from the judge's scores and ASSUMED."""
    replies = draws.judged(side)
    spread = float(np.std([reply.percent for reply in replies], ddof=1)) if len(replies) > 1 else 0.0
    source = "as given" if agreement is not None else "assumed"
    pilot = _pilot(side, metric) if agreement is None else None
    if pilot:
        spread, agreement = pilot[0], pilot[1]
        source = f"a pilot of {pilot[2]} labels"
    if not spread:
        raise UserError(f"{side.file}: all of its scores are alike: nothing says how many labels it takes")
    return Basis(
        spread=spread,
        agreement=ASSUMED if agreement is None else agreement,
        source=source,
        replies=len(replies),
    )


def _pilot(side: LoadedResults, metric: Metric) -> tuple[float, float, int] | None:
    """The SD of labels, their correlation with the judge, and their number; None if there are too few."""
    section = side.people or {}
    if not section.get("labels"):
        return None
    runs = labels.labelled_runs(side, section)
    if metric.of not in runs.value_names:
        return None
    cells = {cell.id: cell.of(metric.of) for cell in side.cells}
    pairs = [
        (judge, math.fsum(scores) / len(scores))
        for (cell, index), by_person in runs.values.items()
        if (judge := cells[cell][index]) is not None
        and (
            scores := [score for values in by_person.values() if (score := values.get(metric.of)) is not None]
        )
    ]
    judge, people = np.array(pairs, dtype=np.float64).reshape(-1, 2).T * metric.percent_factor
    if len(pairs) < FEWEST_LABELS or not judge.std() or not people.std():
        return None
    return float(people.std(ddof=1)), abs(float(np.corrcoef(judge, people)[0, 1])), len(pairs)
