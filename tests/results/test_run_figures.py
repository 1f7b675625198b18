"""The figures of single runs in a summary."""

from __future__ import annotations

import msgspec
from from_records import statistics_of
from sides import SCALE, SUITE, Runs, records

from equipoise.core.figures import Figure


def overall(runs: Runs) -> Figure:
    """The headline of these runs."""
    figure: Figure = statistics_of(SUITE, records(runs), SCALE)["metrics"]["overall"]
    return figure


def test_every_run_has_its_figure_and_all_a_mean_and_an_sd() -> None:
    """Over the questions of each: 75 and 50 % are 62.5 % on the mean, with a population SD of 12.5.

    A run that scored nothing has none; a single run has no figures over runs.
    """
    found = overall({"aa/q1": (5, 3), "aa/q2": (3, 3)})
    assert (found.by_run, found.run_mean, found.run_sd) == ((75, 50), 62.5, 12.5)
    found = overall({"aa/q1": (5, "error", "error"), "aa/q2": (3, 3, "error")})
    assert (found.by_run, found.run_mean, found.run_sd) == ((75, 50, None), 62.5, 12.5)
    said = msgspec.to_builtins(overall({"aa/q1": (5,), "aa/q2": (3,)}))
    assert said.keys().isdisjoint({"by_run", "run_mean", "run_sd"})
