"""Plots of Turnabout: leans, how each actor departs from an anonymous one (X), and refusals. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.figures import Figure
from equipoise.core.records import Cell
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.suites.plots import Plot, interval_row

DARKEST_LEAN = 20.0
"""The lean with the darkest shade, in points."""


def plots(summary: Mapping[str, JSON], rows: Sequence[RunRow], cells: Sequence[Cell]) -> Sequence[Plot]:
    """Plots of leans by pair, of leans by pair and language, and of departures and refusals by actor."""
    return [_leans(summary), _by_language(summary), _departures(summary), _refusals(summary)]


def _leans(summary: Mapping[str, JSON]) -> Plot:
    metrics, pairs = summary["metrics"], summary["pairs"]
    first_actors = ", ".join(item["a"] for item in pairs.values())
    return Plot(
        name="pair-leans",
        title="Lean of each pair of actors",
        kind="intervals",
        rows=[interval_row(pair, metrics[f"lean.{pair}"]) for pair in pairs],
        unit="points",
        zero=0.0,
        note=f"Above zero the first actor of a pair ({first_actors}) is judged more harshly for the same.",
    )


def _by_language(summary: Mapping[str, JSON]) -> Plot:
    return Plot(
        name="leans-by-language",
        title="Lean of each pair, by the language of the question",
        kind="matrix",
        rows=[
            {"row": pair, "column": language, "value": lean, "text": "-" if lean is None else f"{lean:+.1f}"}
            for pair, item in summary["pairs"].items()
            for language, lean in item["by_language"].items()
        ],
        unit="points",
        low=-DARKEST_LEAN,
        high=DARKEST_LEAN,
        zero=0.0,
        note="Above zero the first actor of the pair is judged more harshly.",
    )


def _departures(summary: Mapping[str, JSON]) -> Plot:
    return Plot(
        name="departures",
        title="How each actor is judged beside an anonymous one",
        kind="intervals",
        rows=_by_actor(summary, "departure"),
        unit="points",
        zero=0.0,
        note="Above zero the actor is judged more harshly than X is for the same.",
    )


def _refusals(summary: Mapping[str, JSON]) -> Plot:
    return Plot(
        name="refusals",
        title="Refusals by the actor named first",
        kind="intervals",
        rows=_by_actor(summary, "refused"),
        low=0.0,
        high=100.0,
    )


def _by_actor(summary: Mapping[str, JSON], metric: str) -> list[dict[str, JSON]]:
    """A row for each actor of each pair, with the interval of the actor's metric of this name."""
    metrics: Mapping[str, Figure] = summary["metrics"]
    return [
        interval_row(f"{pair}: {actor}", metrics[f"{metric}.{pair}.{actor}"])
        for pair, item in summary["pairs"].items()
        for actor in (item["a"], item["b"])
    ]
