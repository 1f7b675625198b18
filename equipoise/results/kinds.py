"""Checks that the values of runs suit the kinds of the metrics that use them.

A user's own suite is checked from its first run on, and results files are checked when they are read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from equipoise.core.errors import UserError
from equipoise.core.records import OUTCOMES, Bounds, Cell, Metric, Record
from equipoise.judge.rubric import Scale
from equipoise.results import rows
from equipoise.results.rows import ImpossibleValueError
from equipoise.suites import AnySuite

RUNS_WITH_METRICS = 10
"""The number of first runs of a suite in a session whose metrics are computed at once."""
_YES_OR_NO = ("rate", "ratio", "count")
"""The kinds of metrics for which True and False are 1 and 0; in others they would be 1 and 0 percent."""


class RecordCheck:
    """Checks the records of a suite as they are made.

    Computing the metrics of a run takes a millisecond. It is done for the first RUNS_WITH_METRICS runs, and
    for later runs with a value outside the bounds of those metrics.
    """

    def __init__(self, suite: AnySuite, scale: Scale) -> None:
        self._suite = suite
        self._scale = scale
        self._checked = 0
        self._bounds: dict[str, Bounds] = {}

    def require_possible(self, record: Record) -> None:
        """Raise UserError, naming suite, run, value and kind, unless readers will accept this record."""
        suite = self._suite
        if record.outcome not in OUTCOMES:
            raise UserError(
                f"suite {suite.name!r}: {record.id}: its outcome is {record.outcome!r:.80}; "
                f"there are {', '.join(OUTCOMES)}"
            )
        for name, score in (("score", record.score), ("percent", record.percent)):
            # A bool is passed as text, to be refused: it is a number, but readers refuse it as a score.
            rows.as_number(suite, record, name, str(score) if isinstance(score, bool) else score)
        values = suite.values(record, self._scale)
        is_usual = all(
            self._is_within(name, rows.as_number(suite, record, name, values[name])) for name in values
        )
        if self._checked < RUNS_WITH_METRICS or not is_usual:
            self._checked += 1
            self._require_possible_metrics(record, values)

    def _is_within(self, name: str, value: float | None) -> bool:
        low, high = self._bounds.get(name, (-math.inf, math.inf))
        return value is None or low <= value <= high

    def _require_possible_metrics(self, record: Record, values: Mapping[str, object]) -> None:
        suite = self._suite
        (row,) = rows.of_records(suite, [record], self._scale)
        for evaluator, score in row.scores.items():
            rows.as_number(suite, record, evaluator, str(score) if isinstance(score, bool) else score)
        cells = suite.combine([row])
        metrics = suite.metrics(cells)
        _refuse_yes_and_no(suite, record, values, metrics)
        require_possible_cells(suite, cells, metrics)
        self._bounds |= _bounds(metrics)


def _refuse_yes_and_no(
    suite: AnySuite, record: Record, values: Mapping[str, object], metrics: Sequence[Metric]
) -> None:
    """Raise UserError for True or False in a value that a metric would read as a percentage."""
    for metric in metrics:
        for name in filter(None, (metric.of, metric.per)):
            if isinstance(values.get(name), bool) and metric.kind not in _YES_OR_NO:
                raise UserError(
                    f"suite {suite.name!r}: {record.id}: its value {name!r} is {values[name]}, but metric "
                    f"{metric.name!r} is a {metric.kind}, of percentages: return 100.0 or 0.0"
                )


def require_possible_cells(suite: AnySuite, cells: Sequence[Cell], metrics: Sequence[Metric]) -> None:
    """Raise UserError, naming suite, value and kind, for cells or metrics that readers will refuse."""
    if metrics and metrics[0].kind == "contrast":
        raise UserError(
            f"suite {suite.name!r}: its headline {metrics[0].name!r} is a contrast, which says nothing of "
            "one model: put another metric first"
        )
    try:
        refuse_impossible_cells(cells, metrics)
    except ImpossibleValueError as error:
        raise UserError(
            f"suite {suite.name!r}: {error}; mend it, and run the same command again: no reply is lost"
        ) from None


def refuse_impossible_cells(cells: Sequence[Cell], metrics: Sequence[Metric]) -> None:
    """Raise ImpossibleValueError for duplicate questions, and for values outside a metric's bounds."""
    keys = {(cell.cluster, cell.stratum) for cell in cells}
    if len(keys) < len(cells):
        raise ImpossibleValueError("a question occurs twice in a language")
    bounds = _bounds(metrics)
    for cell in cells:
        for name, values in cell.values.items():
            low, high = bounds.get(name, (-math.inf, math.inf))
            for number in values:
                if number is not None and not low <= number <= high:
                    kinds = sorted({metric.kind for metric in metrics if name in (metric.of, metric.per)})
                    raise ImpossibleValueError(
                        f"{cell.id}: {name} is not within {low:g} and {high:g}: it is {number:g}, "
                        f"in a metric of kind {' or '.join(kinds)}"
                    )


def _bounds(metrics: Sequence[Metric]) -> dict[str, Bounds]:
    """The bounds of each value by name: the widest bounds of the metrics that use the value."""
    bounds: dict[str, Bounds] = {}
    for metric in metrics:
        for name in filter(None, (metric.of, metric.per)):
            low, high = bounds.get(name, metric.bounds)
            bounds[name] = min(low, metric.bounds[0]), max(high, metric.bounds[1])
    return bounds
