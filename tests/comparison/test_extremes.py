"""Results at the ends of every figure's range: what a session can measure, a reader opens."""

from __future__ import annotations

import math
from pathlib import Path

import extremes
import pytest

from conftest import refusal, typed
from equipoise import suites
from equipoise.core import json_io
from equipoise.results.load import load


def test_every_suite_has_such_results() -> None:
    """A new suite needs them, too."""
    assert set(suites.names()) == extremes.RECORDS.keys()


def test_results_at_the_ends_of_every_figure_are_opened(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Every value of a metric with bounds is at both of them in some run."""
    for name in extremes.RECORDS:
        with subtests.test(name):
            side = load(extremes.write(tmp_path, name))
            for metric in side.definitions.values():
                reached = [v for cell in side.cells for v in cell.of(metric.of) if v is not None]
                ends = [end for end in metric.bounds if math.isfinite(end)]
                assert {*ends} <= {*reached}, metric.name


@pytest.mark.slow
def test_what_a_session_measures_is_shown_compared_reported_exported_and_valid(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """At the ends of the range of every figure, in every suite."""
    for name in extremes.RECORDS:
        path = str(extremes.write(tmp_path, name))
        for command in (
            ("show", path),
            ("compare", path, path),
            ("report", path, "-o", str(tmp_path / "page.html")),
            ("export", path, "--to", "csv", "-o", str(tmp_path / f"{name}.csv")),
            ("data", "validate", path),
        ):
            with subtests.test(f"{name}: {command[0]}"):
                typed(*command)


def test_a_value_that_no_session_writes_is_named(tmp_path: Path) -> None:
    """A score of 900 %, a commitment without end, and the repeat 1.5 or true of a question."""
    for name, before, after, message in (
        ("neutrality", b'"percent":100.0', b'"percent":900.0', "aa/q1: percent is not within 0 and 100"),
        (
            "politicsbench",
            b'"commitment.baseline":5.0',
            b'"commitment.baseline":1e999',
            "has a number that is infinite",
        ),
        ("neutrality", b'"run_index":1,', b'"run_index":1.5,', "run_index: expected `int`, got `float`"),
        ("neutrality", b'"run_index":1,', b'"run_index":true,', "run_index: expected `int`, got `bool`"),
    ):
        path = extremes.write(tmp_path, name)
        content = json_io.dumps(json_io.loads(path.read_bytes()))
        path.write_bytes(content.replace(before, after))
        assert message in refusal(load, path)
