"""The comparison of two results: the difference in every metric, and the cases that changed most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from equipoise.comparison import labels
from equipoise.comparison.comparable import changes, mismatches, sent_otherwise, unknown_cells, why_unfit
from equipoise.comparison.drift import Drift, drifts
from equipoise.comparison.side import Side
from equipoise.core.errors import UserError
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import GATE, MOST_UNSCORED, Scope
from equipoise.core.types import JSON
from equipoise.results import answered
from equipoise.results.summary import reworded, to_plain_json
from equipoise.stats import fixed
from equipoise.stats.metrics import compared_figures, difference
from equipoise.stats.paired import Difference, holm
from equipoise.stats.shared import shared_cases

MOST_MOVES = 10
ROUNDING = 1e-9
"""Tolerance, in percentage points, for floating-point sums taken in another order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricChange:
    """One metric in both results, and its difference in each scope.

    `difference` generalises to all questions like these; `these` is about these questions alone. `adjusted`
    is the p-value of `difference` after Holm's correction within the metric's family.
    """

    metric: Metric
    before: float | None
    after: float | None
    difference: Difference
    these: Difference
    adjusted: float | None = None

    def of(self, scope: Scope) -> Difference:
        """The difference with the interval of that scope."""
        return self.these if scope == "these" else self.difference

    def worsening(self, sign: int) -> float | None:
        """By how much the figure is worse than the baseline's. `sign` is 1 if a rise is worse, else -1."""
        value = self.difference.value
        return None if value is None else -value if sign < 0 else value


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceLevels:
    """Confidence level of an interval in each scope.

    If a gate was tested repeatedly during a session, the levels are such that all `looks` hold jointly.
    """

    these: float = 0.95
    population: float = 0.95
    looks: int = 0


def levels(look: int, looks: int, baseline_runs: int, confidence: float = 0.95) -> ConfidenceLevels:
    """The confidence levels of one of at most `looks` looks at a gate, one after each round of runs.

    All looks hold jointly at `confidence`. The baseline's runs are the same at each look: their share of the
    variance is fixed.
    """
    from equipoise.stats.sequential import look_confidence

    return ConfidenceLevels(
        these=look_confidence(look, looks, confidence=confidence, fixed_share=1 / (1 + baseline_runs)),
        population=look_confidence(look, looks, confidence=confidence),
        looks=look,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """The headline figure of one case in both results. `at` has JSON pointers to its runs in each file."""

    cell: str
    before: float
    after: float
    at: tuple[str, str]

    @property
    def change(self) -> float:
        """After minus before, in percentage points."""
        return self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison:
    """A candidate compared with a baseline on the cells that both have.

    `effects` are sentences about options that differ; `fell` and `rose` are the cases that changed most.
    """

    before: Side
    after: Side
    mismatches: Sequence[str]
    warnings: Sequence[str]
    changes: dict[str, MetricChange]
    effects: Sequence[str]
    fell: Sequence[Move]
    rose: Sequence[Move]
    drifts: Sequence[Drift] = ()
    levels: ConfidenceLevels = ConfidenceLevels()

    def __repr__(self) -> str:
        # Short, for notebooks: with all cells it would be pages long.
        suite, models = self.after.suite.name, f"{self.after.model!r} with {self.before.model!r}"
        return f"<Comparison of {models} on {suite}: {len(self.changes)} metrics>"

    def at(self, name: str, confidence: float) -> MetricChange:
        """The change of one metric, with intervals at this confidence level."""
        sides = (self.before, self.after)
        is_asker = name in self.after.asking.metrics
        older, newer = common(*(side.asking.cells if is_asker else side.cells for side in sides))
        levels = _levels_of(self.before, self.after, confidence)
        return change_in(self.changes[name].metric, older, newer, self.after.suite.clusters, levels)

    def by_people(self, name: str, confidence: float) -> tuple[MetricChange, float] | None:
        """The change of a metric after correction by people's labels, and the uncorrected difference.

        None with too few labels.
        """
        metric, levels = labels.metrics_of(self.after)[name], _levels_of(self.before, self.after, confidence)
        corrected = labels.change(
            metric,
            self.before,
            self.after,
            {"these": levels.these, "population": levels.population},
        )
        if corrected is None:
            return None
        was, now, scoped = corrected
        change = MetricChange(
            metric=metric,
            before=was.value,
            after=now.value,
            difference=scoped["population"],
            these=scoped["these"],
        )
        return change, now.judge - was.judge

    def to_json(self) -> dict[str, JSON]:
        """Plain data, as in the results JSON."""
        data: dict[str, JSON] = to_plain_json(
            {
                "baseline": self.before.about(),
                "candidate": self.after.about(),
                "mismatches": list(self.mismatches),
                "warnings": list(self.warnings),
                "effects": list(self.effects),
                "unit": "percentage points",
                "confidence": 0.95,
                "looks": self.levels.looks,
                "clusters": self.after.suite.clusters,
                "cases": len(common(self.before.cells, self.after.cells)[0]),
                "baseline_cases": len(self.before.cells),
                "metrics": {name: _change(change) for name, change in self.changes.items()},
                "fell": [_move(move) for move in self.fell],
                "rose": [_move(move) for move in self.rose],
                "drift": [drift.to_json() for drift in self.drifts],
            }
        )
        return data


_THESE = ("se", "low", "high", "p", "n", "reason")


def _change(change: MetricChange) -> dict[str, JSON]:
    return {
        "before": change.before,
        "after": change.after,
        **asdict(change.difference),
        "p_adjusted": change.adjusted,
        "these": {name: getattr(change.these, name) for name in _THESE},
        "higher_is_better": change.metric.higher_is_better,
        "unit": change.metric.unit,
    }


def _move(move: Move) -> dict[str, JSON]:
    return {**asdict(move), "change": move.change}


def compare(
    before: Side,
    after: Side,
    *,
    allows_mismatch: bool = False,
    is_study: bool = False,
    most_unscored: float = MOST_UNSCORED,
) -> Comparison:
    """The comparison of two results of one suite. Raises UserError that names what differs.

    In a study, options whose effect the suite can report may differ. Up to `most_unscored` percent of the
    baseline's runs may lack a score. If the candidate ended as soon as its gate was decided (`--until gate`),
    the intervals are corrected for repeated looks.
    """
    mismatches = refuse_unlike(
        before, after, allows_mismatch=allows_mismatch, is_study=is_study, most_unscored=most_unscored
    )
    older, newer = common(before.cells, after.cells)
    moves = _moves(after.suite.metrics(newer)[0], older, newer) if newer else []
    confidence = _levels_of(before, after)
    measured_changes = _adjusted(
        [
            change_in(metric, older, newer, after.suite.clusters, confidence)
            for metric in after.suite.metrics(newer)
        ]
    )
    headline = next(iter(measured_changes.values()), None)
    asker_changes, remark = _asker_changes(before, after, confidence)
    all_drifts = drifts(
        before,
        after,
        None if headline is None else headline.difference.value,
        "pp" if headline is None or headline.metric.unit == "%" else headline.metric.unit,
    )
    by_name = {name: _change(change) for name, change in measured_changes.items()}
    return Comparison(
        before=before,
        after=after,
        mismatches=mismatches,
        warnings=[
            *_incomplete(after),
            *remark,
            *changes(before.metadata, after.metadata),
            *answered.within(before.metadata, after.metadata),
            *(str(drift) for drift in all_drifts if drift.has_drifted),
        ],
        drifts=all_drifts,
        changes={**measured_changes, **asker_changes},
        levels=confidence,
        effects=_effects(before, after, by_name),
        fell=_largest(moves, -1),
        rose=_largest(moves, 1),
    )


def _asker_changes(
    before: Side, after: Side, confidence: ConfidenceLevels
) -> tuple[dict[str, MetricChange], list[str]]:
    """Changes of the metrics about who asks, and a warning if they are not compared.

    Their p-values are adjusted as a family of their own, so that they do not affect those of plain runs.
    """
    older, newer = before.asking, after.asking
    if not older.cells or not newer.cells:
        return {}, []
    if not older.is_like(newer):
        return {}, [
            "the sentences about who asks, or their forms, differ: figures about them are not compared"
        ]
    was, now = common(older.cells, newer.cells)
    metrics = replace(newer, cells=now).metrics.values()
    clusters = after.suite.clusters
    return _adjusted([change_in(metric, was, now, clusters, confidence) for metric in metrics]), []


def _effects(before: Side, after: Side, changes: Mapping[str, JSON]) -> list[str]:
    """A sentence on the effect of each option in which the two differ, for options that can report it."""
    older, newer = before.metadata, after.metadata
    effects = (
        option.effect(older.get(option.name), newer.get(option.name), changes)
        for option in after.suite.options
        if option.effect
    )
    return [effect for effect in effects if effect]


def refuse_unlike(
    before: Side,
    after: Side,
    *,
    allows_mismatch: bool,
    is_study: bool = False,
    most_unscored: float = MOST_UNSCORED,
) -> list[str]:
    """The mismatches, if they are allowed. Raises UserError if they are not, or if the suites differ."""
    mismatches = reasons(before, after, is_study=is_study, most_unscored=most_unscored)
    if mismatches and not allows_mismatch:
        raise UserError(
            f"{before.file} and {after.file} cannot be compared: {'; '.join(mismatches)}; "
            "--allow-mismatch compares what they share"
        )
    if before.suite.name != after.suite.name:
        raise UserError(f"{before.file} and {after.file} share nothing: they are of different suites")
    return mismatches


def _levels_of(before: Side, after: Side, confidence: float = 0.95) -> ConfidenceLevels:
    until = after.until
    if not until or until["rule"] != GATE:
        return ConfidenceLevels(these=confidence, population=confidence)
    return levels(until["runs"], until["runs_planned"], before.runs, confidence)


def reasons(
    before: Side, after: Side, *, is_study: bool = False, most_unscored: float = MOST_UNSCORED
) -> list[str]:
    """Why the two are not comparable, a phrase for each reason."""
    unfit = why_unfit(before, most_unscored)
    return [
        *([unfit] if unfit else []),
        *mismatches(before.metadata, after.metadata, is_study=is_study),
        *sent_otherwise(before.metadata, after.metadata),
        *unknown_cells(before.cells, after.cells),
    ]


def _incomplete(after: Side) -> list[str]:
    """A warning if runs of the candidate have no score; they are left out of the comparison."""
    runs = after.counts
    if not runs.missing:
        return []
    return [
        f"the candidate has no score for {runs.missing} of {runs.planned} runs: what both have is compared"
    ]


def common(before: Sequence[Cell], after: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """The cells that both have, from each of the two, in the candidate's order."""
    known = {cell.id: cell for cell in before}
    newer = [cell for cell in after if cell.id in known]
    return [known[cell.id] for cell in newer], newer


def change_in(
    metric: Metric,
    before: Sequence[Cell],
    after: Sequence[Cell],
    clusters: str,
    confidence: ConfidenceLevels,
) -> MetricChange:
    """The change of one metric on cells that both have. `clusters` is the suite's word for its questions."""
    # Cells are selected once: with hundreds of metrics that is most of the work.
    older, newer = map(metric.chosen, (before, after))
    change = difference(metric, older, newer, confidence=confidence.population)
    was, now = compared_figures(metric, older, newer)
    return MetricChange(
        metric=metric,
        before=was,
        after=now,
        difference=replace(change, reason=reworded(change.reason, clusters)),
        these=fixed.difference(metric, older, newer, confidence=confidence.these),
    )


def _adjusted(changes: Sequence[MetricChange]) -> dict[str, MetricChange]:
    """Changes by name, with p-values adjusted by Holm within each family of metrics.

    Families are languages, areas and rates. The headline, which is first, is a family of its own.
    """
    families: dict[tuple[str, ...], dict[str, float]] = {}
    for index, change in enumerate(changes):
        if change.difference.p is not None:
            family = _family(change.metric) if index else ("headline",)
            families.setdefault(family, {})[change.metric.name] = change.difference.p
    adjusted = {name: p for family in families.values() for name, p in holm(family).items()}
    return {
        change.metric.name: replace(change, adjusted=adjusted.get(change.metric.name)) for change in changes
    }


def _family(metric: Metric) -> tuple[str, ...]:
    return (metric.kind, *sorted(metric.where)) if metric.where or metric.kind == "rate" else (metric.name,)


def _largest(moves: Sequence[Move], sign: int) -> list[Move]:
    """The cases that rose (sign 1) or fell (-1) most, at most MOST_MOVES of them."""
    largest = [move for move in moves if sign * move.change > ROUNDING]
    return sorted(largest, key=lambda move: -sign * move.change)[:MOST_MOVES]


def _moves(metric: Metric, before: Sequence[Cell], after: Sequence[Cell]) -> list[Move]:
    """The headline figure of each single case in both results."""
    both = shared_cases(metric, before, after)
    moves = []
    for older, newer in zip(both.before, both.after, strict=True):
        was, now = compared_figures(metric, [older], [newer])
        if was is not None and now is not None:
            moves.append(Move(cell=newer.id, before=was, after=now, at=(older.at, newer.at)))
    return moves
