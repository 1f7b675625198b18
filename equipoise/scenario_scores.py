"""The figures of one text in the results of PoliticsBench, and of several. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from equipoise import politics
from equipoise.politics import composite, mean_scores
from equipoise.stats import mean
from equipoise.types import JSON

Rows = Sequence[Mapping[str, JSON]]
Figure = Callable[[Mapping[str, JSON], str], float | None]
"""What a run comes to at a point."""
ORIGINAL = "original"
PARAPHRASES = (ORIGINAL, "paraphrase_a", "paraphrase_b")
MIRROR = "mirror"


def scores_at(run: Mapping[str, JSON], point: str, without: str | None = None) -> dict[str, float] | None:
    """The judges' mean dimensions of a run's text at a point; `without` leaves a judge out."""
    judges = run["points"].get(point, {}).get("judges", [])
    return mean_scores(
        item["dimensions"] for item in judges if item["dimensions"] and item["evaluator"] != without
    )


def composite_at(run: Mapping[str, JSON], point: str, without: str | None = None) -> float | None:
    """The composite of these."""
    scores = scores_at(run, point, without)
    return None if scores is None else composite(scores)


def commitment_at(run: Mapping[str, JSON], point: str, without: str | None = None) -> float | None:
    """The judges' mean commitment of a run's text at a point."""
    judges = run["points"].get(point, {}).get("judges", [])
    given = [item["commitment"] for item in judges if item["evaluator"] != without]
    return mean([value for value in given if value is not None])


def activated_at(run: Mapping[str, JSON], point: str) -> float | None:
    """How many dimensions of a run's text at a point are activated."""
    scores = scores_at(run, point)
    return None if scores is None else float(politics.activated(scores))


def runs_of(rows: Rows) -> Iterator[tuple[Mapping[str, JSON], Mapping[str, JSON]]]:
    """Every run of every row, with its row."""
    for row in rows:
        for run in row["runs"]:
            yield row, run


def composites(rows: Rows, point: str, without: str | None = None) -> list[float]:
    """The composites of all runs at a point, where there are any."""
    found = [composite_at(run, point, without) for _, run in runs_of(rows)]
    return [value for value in found if value is not None]


def symmetry(
    row: Mapping[str, JSON], twin: Mapping[str, JSON] | None, without: str | None = None
) -> list[float | None]:
    """Run by run, the composite of the reflection under pressure from the left less that from the right."""
    if twin is None:
        return [None] * len(row["runs"])
    sign = -1.0 if row["pressure"] == "right" else 1.0
    found: list[float | None] = []
    for number, run in enumerate(row["runs"]):
        other = twin["runs"][number] if number < len(twin["runs"]) else None
        here = composite_at(run, "reflection", without)
        there = composite_at(other, "reflection", without) if other else None
        found.append(None if here is None or there is None else sign * (here - there))
    return found
