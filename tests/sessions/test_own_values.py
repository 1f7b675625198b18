"""Values of a suite of one's own that are beyond their kind: refused at the first run; nothing is lost."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from builders import SUITE
from fake_client import Project

from conftest import typed
from equipoise import suites
from equipoise.core.records import Cell, Metric, Record, Score
from equipoise.core.rows import Values
from equipoise.judge.rubric import Scale
from equipoise.results.load import load
from equipoise.suites.contract import Judging

ASKED = 4
"""Questions of the small dataset, in two languages."""


@pytest.fixture
def edit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Replaces members of the example suite, as its author may; without any, mends it."""
    module = sys.modules[f"{suites.__name__}.{SUITE}"]
    usual = module.SUITE

    def edit_suite(**members: Any) -> None:
        monkeypatch.setattr(module, "SUITE", replace(usual, **members))
        suites.load.cache_clear()

    yield edit_suite
    edit_suite()


def values_of(percent: object) -> Callable[..., Values]:
    """A function of values that returns this one for every run."""

    def values(record: Record, scale: Scale, without: str | None = None) -> Any:
        return {"percent": percent}

    return values


def score_of(**members: Any) -> Callable[..., Any]:
    """A function that asks and judges, and returns a score with these members."""
    usual = suites.load(SUITE).evaluate

    async def evaluate(*arguments: Any) -> Score:
        return replace(await usual(*arguments), **members)

    return evaluate


@pytest.mark.slow
def test_values_beyond_their_kind_are_refused_at_the_first_run(
    project: Project, edit: Callable[..., None], subtests: pytest.Subtests
) -> None:
    """One line says suite, run, value and kind; after the mend no call is made again."""
    for name, members, reason in (
        (
            "200",
            {"values": values_of(200)},
            "percent is not within 0 and 100: it is 200, in a metric of kind ",
        ),
        ("-5", {"values": values_of(-5)}, "it is -5, in a metric of kind mean"),
        ("1e30", {"values": values_of(1e30)}, "it is 1e+30, in a metric of kind mean"),
        ("NaN", {"values": values_of(math.nan)}, "its value 'percent' is nan, not a finite number"),
        ("a list", {"values": values_of([4.0])}, "its value 'percent' is [4.0], not a finite number"),
        ("text", {"values": values_of("x" * 100_000)}, "not a finite number"),
        ("digits", {"values": values_of(10**400)}, "not a finite number"),
        ("True", {"values": values_of(True)}, "is True, but metric 'overall' is a mean, of percentages"),
        ("a score", {"evaluate": score_of(value=math.inf)}, "its value 'score' is inf, not a finite"),
        ("True as one", {"evaluate": score_of(value=True)}, "its value 'score' is 'True', not a "),
        ("an outcome", {"evaluate": score_of(outcome="fine")}, "its outcome is 'fine'; there are scored"),
        (
            "a level",
            {"judging": Judging(level=lambda verdict: math.nan)},
            "its value 'judge' is nan, not a finite number",
        ),
    ):
        with subtests.test(name):
            edit(**members)
            ran = project.run(runs="1", fresh=True, concurrency="1")
            assert ran.records == []
            assert ran.stop_reason is not None
            assert f"suite '{SUITE}': " in ran.stop_reason
            assert reason in ran.stop_reason
            assert len(ran.stop_reason) < 500
            assert not project.lines("record")
            calls = len(project.client.calls)
            edit()
            mended = project.run(runs="1")
            assert len(mended.records) == ASKED
            assert mended.is_complete
            assert len(project.client.calls) - calls < 2 * ASKED
            assert load(project.results_path).metadata["calls"]["replayed"] > 0


def test_a_rate_may_have_yes_and_no(project: Project, edit: Callable[..., None]) -> None:
    """True and False are 1 and 0 there."""

    def metrics(cells: list[Cell]) -> list[Metric]:
        return [Metric(name="overall", of="percent", kind="rate")]

    edit(values=values_of(True), metrics=metrics)
    assert project.run(runs="1").is_complete
    assert load(project.results_path).summary["metrics"]["overall"].value == 100


def test_a_journal_of_values_beyond_their_kind_waits_for_the_mend(
    project: Project, edit: Callable[..., None], subtests: pytest.Subtests
) -> None:
    """A session and `show` of its journal say so in one line; afterwards the results are made."""
    assert project.run(runs="1").is_complete
    edit(values=values_of(200))
    with subtests.test("session"):
        again = project.run(runs="1")
        assert not again.is_complete
        assert "not written: suite 'attribution': " in " ".join(again.summary)
    recover = ("show", project.journal_path)
    with subtests.test("journal"):
        (line,) = typed(*recover, status=4).stderr.splitlines()
        assert "it is 200, in a metric of kind mean" in line
    edit()
    with subtests.test("mended"):
        typed(*recover)
        assert load(project.results_path).metadata["status"] == "complete"
