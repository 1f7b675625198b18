"""An entry of a board: the results of one model on one suite, with the headline and a score for each case.

An entry does not keep the runs, so that hundreds of files can be read one after the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from equipoise import suites
from equipoise.comparison.comparable import must_agree, sampling_changes, setting
from equipoise.core import json_io
from equipoise.core.figures import NO_FIGURE, Figure
from equipoise.core.records import Metric
from equipoise.core.rows import count_outcomes
from equipoise.core.types import JSON
from equipoise.results.results import Results
from equipoise.results.summary import figure
from equipoise.stats.pairwise import ModelValues, SharedCells, layout_and_values
from equipoise.suites import AnySuite
from equipoise.suites.shared_options import DATASET

if TYPE_CHECKING:
    from equipoise.results.document import Audit, Metadata

DATA, RUBRIC, CASES, AUDIT = "data", "rubric", "cases asked", "audit of the evaluators"
"""Names of settings whose difference the board describes in a way of its own."""
_REPLIES_KEYS = ("replies", "selection")
"""The metadata that say which of a suite's runs are in a file of replies."""
_METADATA_KEYS = (
    "started",
    "finished",
    "status",
    "runs",
    "runs_expected",
    "runs_completed",
    "evaluator_models",
    "dataset",
    "data_hash",
    "rubric_version",
    "rubric_hash",
    "scale",
    "about",
    "facts_hash",
    "equipoise_version",
    "git_commit",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The results of one model on one suite.

    All entries of a table share the `settings`, by name, and `key`, a digest of them. `place` is the index of
    the results on the command line. `kind` is the suite, with the dataset if that is a suite of its own.
    `headline` is the headline figure as in results, of `metric`, and `lean`, of `lean_metric`, is that of the
    side to which replies lean, where the suite has one. `column` has the model's values for the cells in
    `layout`. `cost` is that of both roles in USD, None where a price is unknown.
    """

    place: int
    model: str
    file: str
    digest: str | None
    suite: AnySuite
    kind: str
    metadata: Metadata
    settings: Mapping[str, JSON]
    key: str
    metric: Metric | None
    headline: Figure
    lean_metric: Metric | None
    lean: Figure
    outcomes: Mapping[str, int]
    audits: Mapping[str, Audit | None]
    cost: float | None
    layout: SharedCells
    column: ModelValues

    @property
    def value(self) -> float | None:
        """The value of the headline figure; None where no run has a score."""
        return self.headline.value

    @property
    def started(self) -> str:
        """The time at which its session began; empty if unknown."""
        return str(self.metadata.get("started") or "")


def entry(side: Results, index: int = 0) -> Entry:
    """The board's entry for these results, which may be empty, as when a session has just begun."""
    metrics = side.suite.metrics(side.cells) if side.cells else ()
    metric = metrics[0] if metrics else None
    lean = _lean(metrics)
    layout, scores = layout_and_values(metric or Metric(name="", of=""), side.cells)
    settings = {**_settings(side), AUDIT: _audit_state(side)}
    # As for `mismatches`: if the data are the same, the name of the dataset does not matter.
    shared = {name: value for name, value in settings.items() if name != DATASET.label}
    return Entry(
        place=index,
        model=side.model,
        file=PurePath(side.file).name,
        digest=side.digest,
        suite=side.suite,
        kind=kind(side),
        metadata=_metadata(side),
        settings=settings,
        key=_digest([kind(side), metric and [metric.name, metric.unit], shared]),
        metric=metric,
        headline=_figure_of(side, metric),
        lean_metric=lean,
        lean=_figure_of(side, lean),
        outcomes=count_outcomes(side.rows),
        audits={name: side.audits.get(name) for name in side.metadata["evaluator_models"]},
        cost=_cost(side.metadata),
        layout=layout,
        column=scores,
    )


def _cost(metadata: Metadata) -> float | None:
    if "cost_usd" not in metadata:
        return None
    subject, evaluator = metadata["cost_usd"]["subject"], metadata["cost_usd"]["evaluator"]
    return None if subject is None or evaluator is None else subject + evaluator


def kind(side: Results) -> str:
    """The suite's name, with the dataset's if that is a suite of its own, and so has another headline."""
    name, dataset = side.suite.name, side.metadata.get("dataset")
    return f"{name}-{dataset}" if dataset in suites.load(name).own_suites else name


def _lean(metrics: Sequence[Metric]) -> Metric | None:
    """The first balance of all cases besides the headline, neither of whose ends is better.

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


def _figure_of(side: Results, metric: Metric | None) -> Figure:
    """The figure of a metric in the results, or a new one if they have none, as files of other tools."""
    if metric is None:
        return NO_FIGURE
    figures = side.summary.get("metrics", {})
    return figures.get(metric.name) or figure(metric, side.cells, side.suite.about.clusters)


def _metadata(side: Results) -> Metadata:
    names = (*_METADATA_KEYS, *(_REPLIES_KEYS if "replies" in side.metadata else ()))
    return cast("Metadata", {name: side.metadata.get(name) for name in names})


def _settings(side: Results) -> dict[str, JSON]:
    metadata = side.metadata
    required = {label: setting(key, metadata) for key, label in must_agree(side.suite.name).items()}
    cells = sorted((cell.id, cell.cluster, cell.stratum) for cell in side.cells)
    languages = sorted({row.language for row in side.rows})
    # A suite may have cells of several cases, or several of one: what was asked are the rows' questions.
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
