"""Rank stability: how far the ranking of models depends on the panel of evaluators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from equipoise.core.errors import UserError
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.results.load import load as load_results
from equipoise.results.results import Results
from equipoise.stats.agreement import correlations
from equipoise.stats.metrics import measure

FEWEST_MODELS = 3
"""The minimum number of models that two panels must share for a rank correlation."""


def load(paths: Sequence[Path]) -> list[Results]:
    """The results in these files. Raises UserError unless they differ only in models and evaluators."""
    sides = [load_results(path) for path in paths]
    for side in sides:
        _refuse_other_settings(side, sides[0])
    return sides


def scores_by_panel(sides: Sequence[Results]) -> dict[str, dict[str, float]]:
    """The headline figure in percent, by panel and model. Raises UserError for two results of one model."""
    by_panel: dict[str, dict[str, float]] = {}
    for side in sides:
        panel = _panel_name(side)
        if side.model in by_panel.setdefault(panel, {}):
            raise UserError(f"{side.file}: there are two results of {side.model} by {panel}")
        value = measure(side.headline, side.cells).value
        if value is not None:
            by_panel[panel][side.model] = value
    return by_panel


def _panel_name(side: Results) -> str:
    return " + ".join(sorted(side.metadata["evaluator_models"]))


def _refuse_other_settings(side: Results, first: Results) -> None:
    """Raise UserError if results differ from the first in other settings, or no evaluator judged them."""
    metadata, expected = side.metadata, first.metadata
    if any(metadata.get(key) != expected.get(key) for key in ("suite", "data_hash")):
        raise UserError(f"{side.file}: has another suite or other data than {first.file}")
    options = (option for option in side.suite.options if not option.is_about_judging)
    labels = {
        "rubric_hash": "rubric",
        "facts_hash": "evaluators' key facts",
        "scale": "scale",
        **{item.name: item.label for item in options},
    }
    for key, label in labels.items():
        if metadata.get(key) != expected.get(key):
            raise UserError(
                f"{side.file}: its {label} differs from that in {first.file}; "
                "give results that differ in models and evaluators only"
            )
    if {cell.id for cell in side.cells} != {cell.id for cell in first.cells}:
        raise UserError(
            f"{side.file}: was not asked the same {side.suite.about.clusters} in the same languages "
            f"as {first.file}; give results of the same ones"
        )
    if metadata.get("evaluators") == {}:
        raise UserError(f"{side.file}: no evaluator has judged it, so there is no panel to rank by")


class RankCorrelation(NamedTuple):
    """Spearman's rank correlation `rho` of two panels, over the number of `models` that both judged."""

    first: str
    second: str
    models: int
    rho: float | None
    reason: str | None


def rank_correlations(by_panel: Mapping[str, Mapping[str, float]]) -> list[RankCorrelation]:
    """A row for each pair of panels: Spearman's rank correlation over the models that both judged.

    `rho` is None, with a reason, if the panels share fewer than three models or one ranks all models alike.
    """
    rows = []
    for first, second in combinations(by_panel, 2):
        shared = [model for model in by_panel[first] if model in by_panel[second]]
        columns = [{model: by_panel[panel][model] for model in shared} for panel in (first, second)]
        reason = _why_no_correlation(columns)
        rho = None if reason else correlations(*columns)["spearman"]
        rows.append(RankCorrelation(first, second, len(shared), rho, reason))
    return rows


def _why_no_correlation(columns: Sequence[Mapping[str, float]]) -> str | None:
    if len(columns[0]) < FEWEST_MODELS:
        return f"they share {len(columns[0])} models, and it takes {FEWEST_MODELS}"
    is_flat = any(len(set(column.values())) == 1 for column in columns)
    return "one of them ranks all models alike" if is_flat else None


def evaluator_agreement(sides: Sequence[Results]) -> list[Mapping[str, JSON]]:
    """Rows on how far the evaluators of each panel agree in ranking models, if the suite measures that."""
    panels: dict[str, dict[str, Sequence[RunRow]]] = {}
    for side in sides:
        models = panels.setdefault(_panel_name(side), {})
        if side.model in models:
            raise UserError(f"{side.file}: there are two results of {side.model}; give one of each model")
        models[side.model] = side.rows
    return [row for models in panels.values() for row in sides[0].suite.judging.over_models(models)]
