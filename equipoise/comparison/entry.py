"""An entry of a board: the results of one model on one suite, with the headline and a score for each case.

An entry does not keep the runs, so that a board of hundreds of files fits into memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from equipoise import suites
from equipoise.comparison.comparable import must_agree, sampling_changes, setting
from equipoise.core import json_io
from equipoise.core.figures import NO_FIGURE, Figure
from equipoise.core.records import Metric
from equipoise.core.types import JSON
from equipoise.results.results import Results
from equipoise.results.summary import figure
from equipoise.stats.pairwise import ModelValues, SharedCells, layout_and_values
from equipoise.suites import AnySuite
from equipoise.suites.shared_options import DATASET

if TYPE_CHECKING:
    from equipoise.results.document import Audit, Metadata

DATA, RUBRIC, CASES, AUDIT = "data", "rubric", "cases asked", "audit of the evaluators"
"""The names of settings for which the board describes a difference in a special form."""
NO_METRIC = Metric(name="", of="")
"""The headline metric of results without a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The results of one model on one suite, reduced to what a board shows.

    All entries of a table have the same `settings`, by name, and the same `key`, a digest of them. `place` is
    the index of the results on the command line. The summary of `results` has only the figures of `metric`,
    the headline, and of `lean_metric`, the lean of replies, if the suite measures it. `has_scores` says
    whether any run has a score. `column` has the model's values for the cells in `layout`.
    """

    place: int
    results: Results
    settings: Mapping[str, JSON]
    key: str
    metric: Metric | None
    lean_metric: Metric | None
    has_scores: bool
    layout: SharedCells
    column: ModelValues

    @property
    def model(self) -> str:
        """The subject model."""
        return self.results.model

    @property
    def suite(self) -> AnySuite:
        """The suite."""
        return self.results.suite

    @property
    def metadata(self) -> Metadata:
        """The metadata of the results: settings, time and versions."""
        return self.results.metadata

    @property
    def file(self) -> str:
        """The name of the results file."""
        return PurePath(self.results.file).name

    @property
    def kind(self) -> str:
        """The suite's name, with the dataset's if it is a suite of its own."""
        return kind(self.results)

    @property
    def headline(self) -> Figure:
        """The headline figure."""
        return self._figure(self.metric)

    @property
    def lean(self) -> Figure:
        """The figure of the lean of replies; without a value if the suite does not measure it."""
        return self._figure(self.lean_metric)

    def _figure(self, metric: Metric | None) -> Figure:
        return self.results.metrics[metric.name] if metric else NO_FIGURE

    @property
    def value(self) -> float | None:
        """The value of the headline figure; None if no run has a score."""
        return self.headline.value

    @property
    def started(self) -> str:
        """The time at which the session began; empty if unknown."""
        return str(self.metadata.get("started") or "")

    @property
    def cost(self) -> float | None:
        """The cost of both roles in USD; None if a price is unknown."""
        costs = self.metadata.get("cost_usd")
        if costs is None or costs["subject"] is None or costs["evaluator"] is None:
            return None
        return costs["subject"] + costs["evaluator"]


def entry(side: Results, index: int = 0) -> Entry:
    """The board's entry for these results. They may be empty, for example if a session has just begun."""
    metrics = side.suite.metrics(side.cells) if side.cells else ()
    metric, lean = metrics[0] if metrics else None, _lean(metrics)
    layout, scores = layout_and_values(metric or NO_METRIC, side.cells)
    settings = {**_settings(side), AUDIT: _audit_state(side)}
    # As in `mismatches`, data are compared, not names of datasets.
    shared = {name: value for name, value in settings.items() if name != DATASET.label}
    return Entry(
        place=index,
        results=_light(side, [item for item in (metric, lean) if item]),
        settings=settings,
        key=_digest([kind(side), metric and [metric.name, metric.unit], shared]),
        metric=metric,
        lean_metric=lean,
        has_scores=side.has_scores,
        layout=layout,
        column=scores,
    )


def _light(side: Results, metrics: Sequence[Metric]) -> Results:
    """The results with only the figures of these metrics and the audits: no runs, cells or errors."""
    light = side.without_cells()
    figures = {metric.name: _figure_of(side, metric) for metric in metrics}
    return replace(
        light,
        summary={"outcomes": light.summary["outcomes"], "metrics": figures},
        sections={"audit": {name: side.audits.get(name) for name in side.metadata["evaluator_models"]}},
        errors=(),
    )


def kind(side: Results) -> str:
    """The suite's name, and the dataset's if it has a suite, and so a headline, of its own."""
    name, dataset = side.suite.name, side.metadata.get("dataset")
    return f"{name}-{dataset}" if dataset in suites.load(name).own_suites else name


def _lean(metrics: Sequence[Metric]) -> Metric | None:
    """The metric of the lean: the first balance over all cases, after the headline, with no better end.

    Breakdowns of another figure, such as `refusal.left_less_right` of `refusal`, do not count.
    """
    names = {item.name for item in metrics}
    return next(
        (
            item
            for item in metrics[1:]
            if item.kind == "balance"
            and item.higher_is_better is None
            and not item.where
            and item.name.partition(".")[0] not in names - {item.name}
        ),
        None,
    )


def _figure_of(side: Results, metric: Metric) -> Figure:
    """The figure of a metric in the results. It is computed if they lack it, as files of other tools may."""
    figures = side.summary.get("metrics", {})
    return figures.get(metric.name) or figure(metric, side.cells, side.suite.about.clusters)


def _settings(side: Results) -> dict[str, JSON]:
    metadata = side.metadata
    required = {label: setting(key, metadata) for key, label in must_agree(side.suite.name).items()}
    cells = sorted((cell.id, cell.cluster, cell.stratum) for cell in side.cells)
    languages = sorted({row.language for row in side.rows})
    # A suite may have cells of several cases, or several cells of one case, so questions are counted.
    questions = {row.question.key for row in side.rows}
    return {
        **required,
        "rubric version": metadata.get("rubric_version"),
        "sampling as sent": [list(change) for change in sorted(sampling_changes(metadata))],
        "recomputed from": metadata.get("recomputed_from"),
        CASES: {"cases": len(questions), "languages": languages, "checksum": _digest(cells)},
    }


def _audit_state(side: Results) -> str:
    """The state of the evaluators' audits, in words: one for all if they agree, else one for each."""
    states = {name: _state_of(side.audits.get(name)) for name in sorted(side.metadata["evaluator_models"])}
    if len({*states.values()}) > 1:
        return ", ".join(f"{name} {state}" for name, state in states.items())
    return next(iter(states.values()), "no evaluator")


def _state_of(audit: Audit | None) -> str:
    if audit is None:
        return "not audited"
    if audit["state"] != "complete":
        return "audit not complete"
    return "audited, but changed since" if audit["differs"] else "audited"


def _digest(value: JSON) -> str:
    return hashlib.sha256(json_io.dumps(value)).hexdigest()
