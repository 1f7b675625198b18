"""Plots of Turnabout: leans, how each actor departs from an anonymous one (X), and refusals. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.figures import Figure
from equipoise.core.records import Cell
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.suites.plots import Plot, intervals

DARKEST_LEAN = 20.0
"""The lean with the darkest shade, in points."""


def plots(summary: Mapping[str, JSON], rows: Sequence[RunRow], cells: Sequence[Cell]) -> Sequence[Plot]:
    """Plots of leans by pair, of leans by pair and language, and of departures and refusals by actor."""
    metrics: Mapping[str, Figure] = summary["metrics"]
    pairs: Mapping[str, JSON] = summary["pairs"]
    first = ", ".join(item["a"] for item in pairs.values())
    actors = [(pair, item[side]) for pair, item in pairs.items() for side in ("a", "b")]

    def by_actor(metric: str) -> list[tuple[str, Figure]]:
        return [(f"{pair}: {actor}", metrics[f"{metric}.{pair}.{actor}"]) for pair, actor in actors]

    return [
        intervals(
            "pair-leans",
            "Lean of each pair of actors",
            [(pair, metrics[f"lean.{pair}"]) for pair in pairs],
            unit="points",
            zero=0.0,
            note=f"Above zero the first actor of a pair ({first}) is judged more harshly for the same.",
        ),
        _by_language(metrics, pairs),
        intervals(
            "departures",
            "How each actor is judged beside an anonymous one",
            by_actor("departure"),
            unit="points",
            zero=0.0,
            note="Above zero the actor is judged more harshly than X is for the same.",
        ),
        intervals("refusals", "Refusals by the actor named first", by_actor("refused")),
    ]


def _by_language(metrics: Mapping[str, Figure], pairs: Mapping[str, JSON]) -> Plot:
    # A pair that is asked about in a single language has only its overall figure.
    leans = {
        (pair, language): metrics.get(f"lean.{pair}.{language}", metrics[f"lean.{pair}"]).value
        for pair, item in pairs.items()
        for language in item["languages"]
    }
    return Plot(
        name="leans-by-language",
        title="Lean of each pair, by the language of the question",
        kind="matrix",
        rows=[
            {"row": pair, "column": language, "value": lean, "text": "-" if lean is None else f"{lean:+.1f}"}
            for (pair, language), lean in leans.items()
        ],
        unit="points",
        low=-DARKEST_LEAN,
        high=DARKEST_LEAN,
        zero=0.0,
        note="Above zero the first actor of the pair is judged more harshly.",
    )
