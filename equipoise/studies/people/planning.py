"""Plans the number of labels for an interval of a given width, and for gates."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.comparison import labels
from equipoise.core.errors import UserError
from equipoise.core.records import Metric
from equipoise.core.rules import Scope
from equipoise.results.results import Results
from equipoise.stats.corrected import FEWEST_LABELS, needed_for_margin, needed_labels
from equipoise.stats.metrics import measure
from equipoise.studies.people.draws import judged_replies

ASSUMED_CORRELATION = 0.7
"""The correlation of people and judge if it is unknown."""
_GATE_MARGINS = (1.0, 2.0, 3.0, 5.0)
"""The margins of the gates in a plan, in percentage points."""
_HALF_WIDTH = re.compile(r"(?:±|\+-)?(\d{1,3}(?:\.\d{1,3})?)(?:pp)?")


def parse_half_width(text: str) -> float:
    """The half-width in percentage points of a text such as 4pp. Raises UserError."""
    match = _HALF_WIDTH.fullmatch(text.strip())
    if not match or not float(match[1]):
        raise UserError(f"--within: {text!r} is not a half-width in percentage points, such as 4pp")
    return float(match[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """The assumptions of a plan: the SD of single replies in points, and the correlation of people and judge.

    `source` says where the correlation comes from. `replies` is the number of all replies.
    """

    sd: float
    correlation: float
    source: str
    replies: int


def lines(results: Results, half_width: float, correlation: float | None) -> Iterator[str]:
    """Lines of the plan for the headline in both scopes, and for gates. Raises UserError."""
    headline = results.headline
    assumptions = _assumptions(results, headline, correlation)
    yield (
        f"plan:      {headline.name} of {results.file}: {assumptions.replies:,} replies, "
        f"SD {assumptions.sd:.1f} points; "
        f"people and judge correlate {assumptions.correlation:.2f} ({assumptions.source})"
    )
    for scope, words, floor in _scopes(results, headline):
        needed = needed_labels(
            half_width,
            spread=assumptions.sd,
            agreement=assumptions.correlation,
            replies=assumptions.replies,
            floor=floor,
        )
        estimate = f"about {needed:,} labels" if needed else _unreachable_message(words, floor)
        yield f"           {words} (@{scope}): ±{half_width:g} pp: {estimate}"
    gates = ", ".join(_gate_labels(assumptions))
    yield f"           gates @these@people, 80 % power if nothing changed: {gates} on each side"


def _unreachable_message(words: str, floor: float) -> str:
    at_least = f"; with labels of all it is about ±{1.96 * floor:.1f} pp" if floor else ""
    return f"no number of labels gives that {words}{at_least}"


def _scopes(results: Results, metric: Metric) -> Sequence[tuple[Scope, str, float]]:
    """Each scope, by name and in words, with the standard error in points that labels cannot reduce."""
    floor = measure(metric, results.cells).se or 0.0
    return [
        ("these", "on these replies", 0.0),
        ("population", f"for {results.suite.about.clusters} like these", floor),
    ]


def _gate_labels(assumptions: Assumptions) -> Iterator[str]:
    """The number of labels for a gate of each margin."""
    for margin in _GATE_MARGINS:
        needed = needed_for_margin(
            margin, spread=assumptions.sd, agreement=assumptions.correlation, replies=assumptions.replies
        )
        yield f"-{margin:g}pp {f'about {needed:,}' if needed else f'not with {assumptions.replies} replies'}"


def _assumptions(results: Results, metric: Metric, correlation: float | None) -> Assumptions:
    """The assumptions with this correlation. If it is None, correlation and SD come from the labels.

    If labels are too few, the correlation is ASSUMED_CORRELATION and the SD that of the judge's scores.
    Raises UserError.
    """
    replies = judged_replies(results)
    sd = float(np.std([reply.percent for reply in replies], ddof=1)) if len(replies) > 1 else 0.0
    source = "as given"
    if correlation is None:
        correlation, source = ASSUMED_CORRELATION, "assumed"
        if pilot := _pilot(results, metric):
            sd, correlation, count = pilot
            source = f"a pilot of {count} labels"
    if not sd:
        raise UserError(f"{results.file}: all scores are equal, so the number of labels cannot be estimated")
    return Assumptions(sd=sd, correlation=correlation, source=source, replies=len(replies))


def _pilot(results: Results, metric: Metric) -> tuple[float, float, int] | None:
    """The SD of labels, their correlation with the judge, and their number; None if there are too few."""
    section = results.people
    if section is None or not section.get("labels"):
        return None
    runs = labels.labelled_runs(results, section)
    if metric.of not in runs.value_names:
        return None
    cells = {cell.id: cell.of(metric.of) for cell in results.cells}
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
    # The sign of the correlation does not matter for the correction.
    return float(people.std(ddof=1)), abs(float(np.corrcoef(judge, people)[0, 1])), len(pairs)
