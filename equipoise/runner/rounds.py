"""Decides for `--until` whether an interval is narrow enough after a round of runs.

Each interim look is a line of the journal, so results can be rebuilt from it. Does not decide what to run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from equipoise.core.records import Cell, Metric
from equipoise.core.rules import Until
from equipoise.core.types import JSON
from equipoise.results.history import History
from equipoise.results.summary import plain
from equipoise.runner import resume
from equipoise.stats.metrics import observations, valid
from equipoise.stats.sequential import looks_interval, question_share


def look(until: Until, metric: Metric, cells: Sequence[Cell], number: int, looks: int) -> dict[str, JSON]:
    """The interval after round `number` of at most `looks`, and whether it is narrow enough."""
    chosen = [cell for cell in cells if metric.chooses(cell)]
    runs = {(cell.cluster, cell.stratum): valid(cell.of(metric.of)) for cell in chosen}
    means = observations(metric, chosen)
    share = question_share(means, runs)
    found = looks_interval(means, look=number, looks=looks, question_share=share)
    half = None if found.low is None or found.high is None else (found.high - found.low) / 2
    values: dict[str, JSON] = plain(
        {"rule": until.text, "metric": until.name, "round": number, **asdict(found), "half_width": half}
    )
    return {**values, "is_enough": half is not None and half <= until.half_width}


def append(history: History, found: Mapping[str, JSON]) -> None:
    """Write a look to the journal."""
    resume.append(history, "look", **found)
