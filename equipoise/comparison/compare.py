"""The comparison of two results: the difference in every metric, and the cases that changed most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
from msgspec import structs

from equipoise.comparison import drift, labels
from equipoise.comparison.comparable import (
    allowed_differences,
    mismatches,
    sampling_differences,
    unknown_cells,
    why_unfit,
)
from equipoise.core.errors import UserError
from equipoise.core.figures import Change, Difference
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import GATE, MOST_UNSCORED, Scope
from equipoise.results import answered, cautions
from equipoise.results.document import CaseMove, ComparisonFigures, EvaluatorDrift
from equipoise.results.results import Results
from equipoise.results.summary import reword_reason, to_plain_json
from equipoise.stats import fixed
from equipoise.stats.metrics import compared_figures, difference
from equipoise.stats.paired import holm
from equipoise.stats.shared import shared_cases

MOST_MOVES = 10
"""The maximum number of cases listed as fallen, and of those listed as risen."""
ROUNDING = 1e-9
"""Tolerance, in percentage points, for floating-point sums in a different order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricChange:
    """One metric in both results, and its difference in each scope.

    `before` and `after` are the figures of the two results. `difference` generalises to all questions like
    these; `these` is about these questions alone. `adjusted` is the p-value of `difference` after Holm's
    correction within the metric's family.
    """

    metric: Metric
    before: float | None
    after: float | None
    difference: Difference
    these: Difference
    adjusted: float | None = None

    @property
    def figures(self) -> Change:
        """The change in the form of results, rounded."""
        data = {
            "before": self.before,
            "after": self.after,
            **structs.asdict(self.difference),
            "p_adjusted": self.adjusted,
            "these": structs.asdict(self.these),
            "higher_is_better": self.metric.higher_is_better,
            "unit": self.metric.unit,
            # Other cautions concern only one of the two results.
            "caution": self.metric.caution if self.metric.kind == "contrast" else None,
        }
        return msgspec.convert(to_plain_json(data), Change)

    def in_scope(self, scope: Scope) -> Difference:
        """The difference with the interval of this scope."""
        return self.these if scope == "these" else self.difference

    def worsening(self, sign: int) -> float | None:
        """How much worse the figure is than the baseline's; below 0 if it is better.

        `sign` is 1 if a rise is worse, else -1.
        """
        value = self.difference.value
        if value is None:
            return None
        return -value if sign < 0 else value


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceLevels:
    """The confidence level of intervals in each scope.

    `looks` is the number of times that a session with `--until gate` has tested its gate (interim looks);
    otherwise 0. The intervals of all looks hold jointly at the nominal confidence, so the level of each look
    is at least the nominal one.
    """

    these: float = 0.95
    population: float = 0.95
    looks: int = 0


def levels_of_look(look: int, looks: int, baseline_runs: int, confidence: float = 0.95) -> ConfidenceLevels:
    """The confidence levels at the interim look with this number, of at most `looks`.

    There is a look at the gate after each round of runs, and all looks hold jointly at `confidence`. The
    baseline's runs are the same at each look. If its runs vary as much as the candidate's, they contribute
    1 / (1 + `baseline_runs`) of the variance after the first round.
    """
    from equipoise.stats.sequential import look_confidence

    return ConfidenceLevels(
        these=look_confidence(look, looks, confidence=confidence, fixed_share=1 / (1 + baseline_runs)),
        population=look_confidence(look, looks, confidence=confidence),
        looks=look,
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison:
    """A candidate (`after`) compared with a baseline (`before`) on the cells that both have.

    `changes` has the change of each metric by name, the headline first. `mismatches` are phrases about
    settings that differ although they should not. `effects` are sentences about options that may differ.
    `fell` and `rose` are the cases whose headline figure changed most. `says` writes the sentences.
    """

    before: Results
    after: Results
    mismatches: Sequence[str]
    warnings: Sequence[str]
    changes: dict[str, MetricChange]
    effects: Sequence[str]
    fell: Sequence[CaseMove]
    rose: Sequence[CaseMove]
    drifts: Sequence[EvaluatorDrift] = ()
    levels: ConfidenceLevels = ConfidenceLevels()
    says: Callable[[ComparisonFigures], Iterable[str]] = lambda _: ()

    @property
    def sentences(self) -> list[str]:
        """Sentences on whether the candidate differs, as in a terminal; empty without `says`."""
        return [*self.says(self.to_json())]

    def __repr__(self) -> str:
        # For notebooks: the dataclass repr would show all cells.
        suite, models = self.after.suite.name, f"{self.after.model!r} with {self.before.model!r}"
        name = f"<Comparison of {models} on {suite}: {len(self.changes)} metrics>"
        return "\n".join([*self.sentences, name])

    def change_at(self, name: str, confidence: float) -> MetricChange:
        """The change of one metric, with intervals at this confidence level."""
        sides = (self.before, self.after)
        is_asker = name in self.after.asker_cells.metrics
        older, newer = common_cells(*(side.asker_cells.cells if is_asker else side.cells for side in sides))
        levels = _confidence_levels(self.before, self.after, confidence)
        return change_in(self.changes[name].metric, older, newer, self.after.suite.about.clusters, levels)

    def corrected_change(self, name: str, confidence: float) -> tuple[MetricChange, float] | None:
        """The change of a metric after correction by people's labels, and the uncorrected difference.

        None if there are too few labels.
        """
        metric = labels.metrics_of(self.after)[name]
        levels = _confidence_levels(self.before, self.after, confidence)
        corrected = labels.corrected_change(
            metric,
            self.before,
            self.after,
            {"these": levels.these, "population": levels.population},
        )
        if corrected is None:
            return None
        was, now, by_scope = corrected
        change = MetricChange(
            metric=metric,
            before=was.value,
            after=now.value,
            difference=by_scope["population"],
            these=by_scope["these"],
        )
        return change, now.judge - was.judge

    def to_json(self) -> ComparisonFigures:
        """The section `comparison` of results, as plain data."""
        data: ComparisonFigures = to_plain_json(
            {
                "baseline": self.before.about(),
                "candidate": self.after.about(),
                "mismatches": list(self.mismatches),
                "warnings": list(self.warnings),
                "effects": list(self.effects),
                "unit": "percentage points",
                # If there were several looks, this is their joint confidence.
                "confidence": 0.95,
                "looks": self.levels.looks,
                "clusters": self.after.suite.about.clusters,
                "is_judged": self.after.suite.judging.form is not None,
                "cases": len(common_cells(self.before.cells, self.after.cells)[0]),
                "baseline_cases": len(self.before.cells),
                "metrics": {name: change.figures for name, change in self.changes.items()},
                "fell": list(self.fell),
                "rose": list(self.rose),
                "drift": list(self.drifts),
            }
        )
        return data


def compare(
    before: Results,
    after: Results,
    *,
    allows_mismatch: bool = False,
    is_study: bool = False,
    most_unscored: float = MOST_UNSCORED,
) -> Comparison:
    """The comparison of two results of one suite. Raises UserError that names what differs.

    With `allows_mismatch`, results with different settings or cases are compared on the cells that they
    share. In a study, options whose effect the suite can report may differ. Up to `most_unscored` percent of
    the baseline's runs may lack a score. If the candidate ended as soon as its gate was decided (`--until
    gate`), the intervals are corrected for repeated looks.
    """
    mismatches = refuse_incomparable(
        before, after, allows_mismatch=allows_mismatch, is_study=is_study, most_unscored=most_unscored
    )
    older, newer = common_cells(before.cells, after.cells)
    moves = _moves(after.suite.metrics(newer)[0], older, newer) if newer else []
    levels = _confidence_levels(before, after)
    plain_changes = _with_adjusted_p(
        [
            change_in(metric, older, newer, after.suite.about.clusters, levels)
            for metric in after.suite.metrics(newer)
        ]
    )
    headline = next(iter(plain_changes.values()), None)
    asker_changes, asker_warnings = _asker_changes(before, after, levels)
    difference_of_models = (
        None if headline is None else headline.difference.value,
        "pp" if headline is None or headline.metric.unit == "%" else headline.metric.unit,
    )
    all_drifts = drift.drifts(before, after, *difference_of_models)
    figures = {name: change.figures for name, change in plain_changes.items()}
    return Comparison(
        before=before,
        after=after,
        mismatches=mismatches,
        warnings=[
            *_missing_score_warnings(after),
            *asker_warnings,
            *allowed_differences(before.metadata, after.metadata),
            *answered.changes_within(before.metadata, after.metadata),
            *cautions.of_both(before.metadata, after.metadata),
            *(drift.describe(item) for item in all_drifts if item["has_drifted"]),
            *drift.level_warnings(before, after, *difference_of_models),
        ],
        drifts=all_drifts,
        changes={**plain_changes, **asker_changes},
        levels=levels,
        effects=_effects(before, after, figures),
        fell=_largest(moves, -1),
        rose=_largest(moves, 1),
    )


def _asker_changes(
    before: Results, after: Results, levels: ConfidenceLevels
) -> tuple[dict[str, MetricChange], list[str]]:
    """Changes of the metrics about who asks, and a warning if these metrics cannot be compared.

    Their p-values are adjusted separately, so that they do not affect those of plain runs.
    """
    older, newer = before.asker_cells, after.asker_cells
    if not older.cells or not newer.cells:
        return {}, []
    if not older.is_like(newer):
        return {}, [
            "the sentences about who asks, or their forms, differ: figures about them are not compared"
        ]
    was, now = common_cells(older.cells, newer.cells)
    metrics = replace(newer, cells=now).metrics.values()
    clusters = after.suite.about.clusters
    return _with_adjusted_p([change_in(metric, was, now, clusters, levels) for metric in metrics]), []


def _effects(before: Results, after: Results, changes: Mapping[str, Change]) -> list[str]:
    """A sentence on the effect of each option in which the two results differ, if the suite can report it."""
    older, newer = before.metadata, after.metadata
    effects = (
        option.effect(older.get(option.name), newer.get(option.name), changes)
        for option in after.suite.options
        if option.effect
    )
    return [effect for effect in effects if effect]


def refuse_incomparable(
    before: Results,
    after: Results,
    *,
    allows_mismatch: bool,
    is_study: bool = False,
    most_unscored: float = MOST_UNSCORED,
) -> list[str]:
    """The mismatches, if they are allowed. Raises UserError if they are not, or if the suites differ."""
    mismatches = _mismatch_reasons(before, after, is_study=is_study, most_unscored=most_unscored)
    if mismatches and not allows_mismatch:
        raise UserError(
            f"{before.file} and {after.file} cannot be compared: {'; '.join(mismatches)}; "
            "--allow-mismatch compares what they share"
        )
    if before.suite.name != after.suite.name:
        raise UserError(f"{before.file} and {after.file} share nothing: they are of different suites")
    return mismatches


def _confidence_levels(before: Results, after: Results, confidence: float = 0.95) -> ConfidenceLevels:
    """The levels of a comparison; those of the last look if the candidate ended by `--until gate`."""
    until = after.until
    if not until or until["rule"] != GATE:
        return ConfidenceLevels(these=confidence, population=confidence)
    return levels_of_look(until["runs"], until["runs_planned"], before.rounds, confidence)


def _mismatch_reasons(
    before: Results, after: Results, *, is_study: bool = False, most_unscored: float = MOST_UNSCORED
) -> list[str]:
    """Why two results are not comparable, a phrase for each reason."""
    unfit = why_unfit(before, most_unscored)
    return [
        *([unfit] if unfit else []),
        *mismatches(before.metadata, after.metadata, is_study=is_study),
        *sampling_differences(before.metadata, after.metadata),
        *unknown_cells(before.cells, after.cells),
    ]


def _missing_score_warnings(after: Results) -> list[str]:
    """A warning if runs of the candidate have no score. Such runs are left out of the comparison."""
    runs = after.counts
    if not runs.missing:
        return []
    return [
        f"the candidate has no score for {runs.missing} of {runs.planned} runs: what both have is compared"
    ]


def common_cells(before: Sequence[Cell], after: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """The baseline's and the candidate's cells of the cases that both have, in the candidate's order."""
    baseline_cells = {cell.id: cell for cell in before}
    newer = [cell for cell in after if cell.id in baseline_cells]
    return [baseline_cells[cell.id] for cell in newer], newer


def change_in(
    metric: Metric,
    before: Sequence[Cell],
    after: Sequence[Cell],
    clusters: str,
    levels: ConfidenceLevels,
) -> MetricChange:
    """The change of one metric on the `common_cells`. `clusters` is the suite's word for its questions."""
    # Cells are selected only once: with hundreds of metrics, the selection takes most of the time.
    older, newer = map(metric.select, (before, after))
    change = difference(metric, older, newer, confidence=levels.population)
    was, now = compared_figures(metric, older, newer)
    return MetricChange(
        metric=metric,
        before=was,
        after=now,
        difference=structs.replace(change, reason=reword_reason(change.reason, clusters)),
        these=fixed.difference(metric, older, newer, confidence=levels.these),
    )


def _with_adjusted_p(changes: Sequence[MetricChange]) -> dict[str, MetricChange]:
    """The changes by name, with p-values adjusted by Holm's procedure within each family of metrics.

    The headline, which is first, is a family of its own.
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
    """The key of the family in which p-values are adjusted.

    Metrics of one kind and one breakdown, such as all languages, are a family, and so are the overall rates.
    Any other metric is a family of its own.
    """
    return (metric.kind, *sorted(metric.where)) if metric.where or metric.kind == "rate" else (metric.name,)


def _largest(moves: Sequence[CaseMove], sign: int) -> list[CaseMove]:
    """The cases that rose (sign 1) or fell (-1) most, at most MOST_MOVES of them."""
    moved = [move for move in moves if sign * move.change > ROUNDING]
    return sorted(moved, key=lambda move: -sign * move.change)[:MOST_MOVES]


def _moves(metric: Metric, before: Sequence[Cell], after: Sequence[Cell]) -> list[CaseMove]:
    """The change of the headline figure of each case that has one in both results."""
    cases = shared_cases(metric, before, after)
    moves = []
    for older, newer in zip(cases.before, cases.after, strict=True):
        was, now = compared_figures(metric, [older], [newer])
        if was is not None and now is not None:
            moves.append(
                CaseMove(cell=newer.id, before=was, after=now, at=[older.at, newer.at], change=now - was)
            )
    return moves
