"""Compares two results: the difference in every metric, and the cases that changed most. Renders nothing."""

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
from equipoise.results.summary import plain, reworded
from equipoise.stats import fixed
from equipoise.stats.metrics import difference, sides
from equipoise.stats.paired import Difference, holm
from equipoise.stats.shared import shared

MOST_MOVES = 10
ROUNDING = 1e-9
"""Tolerance, in percentage points, for sums of the same numbers in another order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricChange:
    """One metric before and after: `difference` for questions like these, `these` for these questions alone.

    `adjusted` is p for questions like these, after Holm, within the metrics of its family.
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
        """Amount by which the figure is worse than the baseline's, if a rise (1) or a fall (-1) is worse."""
        value = self.difference.value
        return None if value is None else -value if sign < 0 else value


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceLevels:
    """The confidence of one interval in each scope, by which all looks so far hold together."""

    these: float = 0.95
    population: float = 0.95
    looks: int = 0


def levels(look: int, looks: int, baseline_runs: int, confidence: float = 0.95) -> ConfidenceLevels:
    """The levels at a look at a gate, after so many of at most `looks` rounds of the candidate.

    All looks together hold at `confidence`. A baseline's own runs stay as they are from look to look, and are
    that part of one round's variance.
    """
    from equipoise.stats.sequential import look_confidence

    return ConfidenceLevels(
        these=look_confidence(look, looks, confidence=confidence, fixed_share=1 / (1 + baseline_runs)),
        population=look_confidence(look, looks, confidence=confidence),
        looks=look,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """The headline of one case before and after, with JSON pointers to its runs in each file."""

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
    """A candidate against a baseline, on the cells that both have."""

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
        # Short: a notebook shows it, and the cells of both would be pages.
        suite, models = self.after.suite.name, f"{self.after.model!r} with {self.before.model!r}"
        return f"<Comparison of {models} on {suite}: {len(self.changes)} metrics>"

    def at(self, name: str, confidence: float) -> MetricChange:
        """The change of one of its metrics, with intervals of another confidence."""
        sides = (self.before, self.after)
        is_asker = name in self.after.asking.metrics
        older, newer = common(*(side.asking.cells if is_asker else side.cells for side in sides))
        levels = _levels_of(self.before, self.after, confidence)
        return measured(self.changes[name].metric, older, newer, self.after.suite.clusters, levels)

    def by_people(self, name: str, confidence: float) -> tuple[MetricChange, float] | None:
        """The change of a metric as people's labels correct it, and as the judge has it.

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
        data: dict[str, JSON] = plain(
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
    most: float = MOST_UNSCORED,
) -> Comparison:
    """The comparison of two results of one suite. Raises UserError that names what differs.

    A study is about the options that a suite tells the effect of, which may then differ; `most` percent of
    the baseline's runs may have no score. Where the candidate's runs ended as soon as a gate was
    decided, the intervals allow for the looks at it.
    """
    mismatches = refuse_unlike(before, after, allows_mismatch=allows_mismatch, is_study=is_study, most=most)
    older, newer = common(before.cells, after.cells)
    moves = _moves(after.suite.metrics(newer)[0], older, newer) if newer else []
    confidence = _levels_of(before, after)
    measured_changes = _adjusted(
        [
            measured(metric, older, newer, after.suite.clusters, confidence)
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
    """Changes of how far answers move with who asks, and why these are not compared if they are not.

    A family of its own: what is made of plain runs stays as it is without them.
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
    return _adjusted([measured(metric, was, now, clusters, confidence) for metric in metrics]), []


def _effects(before: Side, after: Side, changes: Mapping[str, JSON]) -> list[str]:
    """Effects of each option in which the two differ, where the option states them."""
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
    most: float = MOST_UNSCORED,
) -> list[str]:
    """The mismatches that are allowed. Raises UserError for those that are not, and for different suites."""
    mismatches = reasons(before, after, is_study=is_study, most=most)
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


def reasons(before: Side, after: Side, *, is_study: bool = False, most: float = MOST_UNSCORED) -> list[str]:
    """Why the two are not comparable, each reason in a few words."""
    unfit = why_unfit(before, most)
    return [
        *([unfit] if unfit else []),
        *mismatches(before.metadata, after.metadata, is_study=is_study),
        *sent_otherwise(before.metadata, after.metadata),
        *unknown_cells(before.cells, after.cells),
    ]


def _incomplete(after: Side) -> list[str]:
    """Warnings about runs that a candidate lacks: only the rest is compared."""
    runs = after.counts
    if not runs.missing:
        return []
    return [
        f"the candidate has no score for {runs.missing} of {runs.planned} runs: what both have is compared"
    ]


def common(before: Sequence[Cell], after: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """The cells of each that the other has too, in the candidate's order."""
    known = {cell.id: cell for cell in before}
    newer = [cell for cell in after if cell.id in known]
    return [known[cell.id] for cell in newer], newer


def measured(
    metric: Metric,
    before: Sequence[Cell],
    after: Sequence[Cell],
    clusters: str,
    confidence: ConfidenceLevels,
) -> MetricChange:
    """The change of one metric on cells that both have; `clusters` is the suite's word for its questions."""
    # Chosen once: with hundreds of metrics that is most of the work.
    older, newer = map(metric.chosen, (before, after))
    change = difference(metric, older, newer, confidence=confidence.population)
    was, now = sides(metric, older, newer)
    return MetricChange(
        metric=metric,
        before=was,
        after=now,
        difference=replace(change, reason=reworded(change.reason, clusters)),
        these=fixed.difference(metric, older, newer, confidence=confidence.these),
    )


def _adjusted(changes: Sequence[MetricChange]) -> dict[str, MetricChange]:
    """Changes with p adjusted within each family: languages, areas, rates; the headline stands alone."""
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
    """The cases that changed most in one direction."""
    largest = [move for move in moves if sign * move.change > ROUNDING]
    return sorted(largest, key=lambda move: -sign * move.change)[:MOST_MOVES]


def _moves(metric: Metric, before: Sequence[Cell], after: Sequence[Cell]) -> list[Move]:
    """The headline of each case alone, before and after."""
    both = shared(metric, before, after)
    moves = []
    for older, newer in zip(both.before, both.after, strict=True):
        was, now = sides(metric, [older], [newer])
        if was is not None and now is not None:
            moves.append(Move(cell=newer.id, before=was, after=now, at=(older.at, newer.at)))
    return moves
