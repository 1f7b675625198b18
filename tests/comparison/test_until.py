"""Rounds until an interval is narrow enough: one look, its line in the journal, and what it promises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest
import scipy
import simulated
from journals import begin, history_of, record
from numpy.typing import NDArray
from sides import side_of

from equipoise.comparison.gate.family import family_of
from equipoise.comparison.gate.until import StoppingRule
from equipoise.comparison.gate_terms import NO_TERMS, GateTerms
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import Rule, Scope, Until, parse_rule, parse_until
from equipoise.core.types import JSON
from equipoise.results.journal import Journal
from equipoise.results.lines import LookLine
from equipoise.results.plans import Plans
from equipoise.results.results import Results
from equipoise.runner import resume
from equipoise.stats import fixed, valid
from equipoise.stats.intervals import bounded_mean
from equipoise.stats.metrics import observations
from equipoise.stats.sequential import look_confidence, question_share

Array = NDArray[np.float64]
OVERALL = Metric(name="overall", of="percent")
cells_of = partial(simulated.cells_of, "percent")


def percents(number: int, seed: int) -> tuple[Array, float]:
    """Percentages (session, question, language, run), and their true mean."""
    scores, truth = simulated.benchmarks(number, (0.6, 0.3, 0.7), seed, questions=30, languages=2)
    return 25 * (scores - 1), 25 * (truth - 1)


def until(half_width: float, name: str = "overall", scope: Scope = "population") -> Until:
    """The wish for so narrow an interval."""
    return Until(text=f"{name}:±{half_width}pp", name=name, half_width=half_width, scope=scope)


def look_at_interval(until: Until, metric: Metric, cells: Sequence[Cell], number: int, looks: int) -> JSON:
    """A look at the interval of a metric, whatever its name."""
    rule = StoppingRule(until=until, terms=NO_TERMS, baseline=None, metrics={until.name: metric}, looks=looks)
    return rule.look(cells, number)


def look_at_gate(terms: GateTerms, baseline: Results, cells: Sequence[Cell], number: int, looks: int) -> JSON:
    """A look at the gate."""
    rule = StoppingRule(until=parse_until("gate"), terms=terms, baseline=baseline, metrics={}, looks=looks)
    return rule.look(cells, number)


# One look.


def test_a_look_is_the_interval_that_allows_for_all_looks() -> None:
    """That of as many looks as there are rounds, with the questions' share that the runs show."""
    runs = percents(1, seed=1)[0][0][..., :3]
    means = runs.mean(axis=2)
    cells = {
        (f"q{q}", f"l{language}"): runs[q, language].tolist() for q in range(30) for language in range(2)
    }
    items = observations(OVERALL, cells_of(runs))
    level = look_confidence(3, 5, fixed_share=question_share(items, cells))
    expected = bounded_mean(items, least=0.0, most=100.0, confidence=level)
    look = look_at_interval(until(1), OVERALL, cells_of(runs), 3, 5)
    names = ("value", "se", "low", "high")
    assert [look[name] for name in names] == pytest.approx(
        [getattr(expected, name) for name in names], abs=1e-6
    )
    assert look["value"] == pytest.approx(means.mean(), abs=1e-6)
    assert (look["rule"], look["metric"], look["round"]) == ("overall:±1pp", "overall", 3)
    assert look["scope"] == "population"
    assert (look["n"], look["reason"], look["is_enough"]) == (30, None, False)


def test_a_look_at_these_questions_is_the_interval_of_their_runs() -> None:
    """Nothing of it stays as it is from look to look; in the first round there is none."""
    cells = cells_of(percents(1, seed=1)[0][0][..., :3])
    look = look_at_interval(until(1, scope="these"), OVERALL, cells, 3, 5)
    expected = fixed.estimate(OVERALL, cells, confidence=look_confidence(3, 5))
    names = ("value", "se", "low", "high")
    assert [look[name] for name in names] == pytest.approx(
        [getattr(expected, name) for name in names], abs=1e-6
    )
    assert look["scope"] == "these"
    sample = look_at_interval(until(1), OVERALL, cells, 3, 5)
    assert look["half_width"] < 0.7 * sample["half_width"]
    first = look_at_interval(until(99, scope="these"), OVERALL, cells_of(np.full((9, 2, 1), 50.0)), 1, 5)
    assert (first["half_width"], first["is_enough"]) == (None, False)


def test_the_first_look_by_hand() -> None:
    """Question means 45 and 55: t of a critical value of 2.963, its level 0.00305 at 1 degree, is 209.

    Wilson's interval of 50 at 100 effective trials: half of sqrt(209^2 / (209^2 + 100)).
    """
    look = look_at_interval(until(1), OVERALL, cells_of(np.array([[[45.0]], [[55.0]]])), 1, 2)
    critical = scipy.stats.t.isf(scipy.stats.norm.sf(2.96259), 1)
    half = 50 * critical / math.sqrt(critical**2 + 100)
    assert look["half_width"] == pytest.approx(half, rel=1e-4)
    assert (look["low"], look["high"]) == pytest.approx((50 - half, 50 + half), abs=1e-3)


def test_a_half_width_exactly_as_asked_is_enough() -> None:
    """To the last digit: a hair less is not."""
    cells = cells_of(percents(1, seed=3)[0][0])
    items = observations(OVERALL, cells)
    runs = {(cell.cluster, cell.stratum): valid(cell.values["percent"]) for cell in cells}
    level = look_confidence(5, 5, fixed_share=question_share(items, runs))
    exact = bounded_mean(items, least=0.0, most=100.0, confidence=level)
    assert exact.low is not None
    assert exact.high is not None
    half = (exact.high - exact.low) / 2
    assert look_at_interval(until(half), OVERALL, cells, 5, 5)["is_enough"] is True
    assert look_at_interval(until(math.nextafter(half, 0)), OVERALL, cells, 5, 5)["is_enough"] is False


@pytest.mark.parametrize(
    ("runs", "reason"),
    [
        (np.array([[[50.0, 75.0]]]), "1 question"),
        (np.full((9, 2, 1), 100.0), "no variation between questions"),
        (np.full((9, 2, 1), math.nan), "no questions"),
    ],
    ids=["one_question", "nothing_varies", "nothing_valid"],
)
def test_without_an_interval_it_is_never_enough(runs: Array, reason: str) -> None:
    """No interval is not one of no width."""
    look = look_at_interval(until(100), OVERALL, cells_of(runs), 1, 5)
    assert (look["low"], look["high"], look["half_width"]) == (None, None, None)
    assert (look["reason"], look["is_enough"]) == (reason, False)


def test_only_the_cells_of_the_metric_are_looked_at() -> None:
    """A language alone has its own interval, whatever the other does; runs without a score do not count."""
    runs = percents(1, seed=4)[0][0]
    one = Metric(name="l1", of="percent", where={"language": "l1"})
    wide, holed = runs.copy(), runs.copy()
    wide[:, 0] = 100 - wide[:, 0]
    holed[..., 3:] = math.nan
    plain, turned, cut, short = (
        look_at_interval(until(3, "l1"), one, cells_of(data), 2, 5)
        for data in (runs, wide, holed, runs[..., :3])
    )
    assert (plain, cut) == (turned, short)
    assert plain["value"] == pytest.approx(runs[:, 1].mean(), abs=1e-6)


# A look at a gate.


def side(runs: Array) -> Results:
    """Results of these percentages as whole scores, question by language by run."""
    return side_of(
        {
            f"l{language}/q{question + 1}/x": [round(1 + value / 25) for value in values]
            for question, row in enumerate(runs.tolist())
            for language, values in enumerate(row)
        }
    )


def wanted(*rules: Rule) -> GateTerms:
    """Terms with these rules."""
    return GateTerms(rules=rules, family=family_of(rules))


def test_a_look_at_a_gate_says_what_would_become_of_each_rule() -> None:
    """Enough once all are decided, whichever way; intervals allow for all looks that may come."""
    before, after = (side(percents(1, seed=1)[0][0] - shift) for shift in (0.0, 25.0))
    decided, open_ = parse_rule("overall:-2pp"), parse_rule("overall:-2pp@population")
    for newer, verdict in ((after, "fail"), (before, "inconclusive")):
        look = look_at_gate(wanted(decided), before, newer.cells, 5, 10)
        assert look == {
            "rule": "gate",
            "round": 5,
            "verdicts": {"overall:-2pp": verdict},
            "is_enough": verdict == "fail",
        }
    margin = parse_rule("overall:-6pp")
    assert look_at_gate(wanted(margin), before, before.cells, 5, 5)["verdicts"] == {margin.text: "pass"}
    assert look_at_gate(wanted(margin), before, before.cells, 1, 10)["is_enough"] is False
    both = look_at_gate(wanted(margin, parse_rule("overall:-1pp")), before, before.cells, 5, 5)
    assert both["verdicts"] == {margin.text: "pass", "overall:-1pp": "inconclusive"}
    assert both["is_enough"] is False
    assert look_at_gate(wanted(open_), before, after.cells, 5, 5)["verdicts"] == {open_.text: "fail"}


def test_a_rule_of_which_the_two_share_nothing_is_not_decided() -> None:
    """As at the end: a language that one of them lacks."""
    runs = percents(1, seed=1)[0][0]
    rule = parse_rule("l1:-2pp")
    look = look_at_gate(wanted(rule), side(runs), side(runs[:, :1]).cells, 5, 5)
    assert look["verdicts"] == {rule.text: "inconclusive"}


# What a look leaves in the journal.


def planned(questions: Sequence[str] = ("a", "b"), runs: int = 3) -> list[str]:
    """Run ids, round by round."""
    return [f"{question}-run{run}" for run in range(1, runs + 1) for question in questions]


def journal_of(path: Path, done: int) -> Journal:
    """A session of two questions and three rounds, so many of which are done."""
    log = begin(path, planned())
    for run in range(1, done + 1):
        for question in ("a", "b"):
            log.append_record(record(question, run=run), [])
    return log


def found_in(half_width: float, number: int) -> dict[str, object]:
    """A look at two questions that differ by 10 points, after one of two rounds."""
    cells = cells_of(np.array([[[45.0]], [[55.0]]]))
    look: dict[str, object] = look_at_interval(until(half_width), OVERALL, cells, number, 3)
    return look


def test_a_look_is_kept_whole(path: Path) -> None:
    """The line belongs to the session that looked, the latest, and says all that was found."""
    journal_of(path, 1).close()
    begin(path, planned(), session="s2").close()
    history = history_of(path)
    look = found_in(1, 1)
    resume.append(history, "look", **look)
    assert msgspec.to_builtins([*history.plans.looks.values()]) == [{"kind": "look", "session": "s2", **look}]
    assert history_of(path).plans.looks == history.plans.looks


def test_a_look_that_is_enough_drops_later_rounds_from_the_plan(path: Path) -> None:
    """The session is complete; a call of the next round that was in flight is kept, and does not count."""
    log = journal_of(path, 2)
    log.append_record(record("a", run=3), [])
    log.close()
    resume.append(history_of(path), "look", **found_in(1, 1))
    history = history_of(path)
    assert (list(history.planned), history.missing()) == (planned(), ["b-run3"])
    resume.append(history, "look", **found_in(1000, 2))
    history = history_of(path)
    assert list(history.planned) == [item.id for item in history.records()] == planned()[:4]
    assert (history.missing(), history.status(is_running=False)) == ([], "complete")
    assert history.pending(history.planned) == []
    assert history.has_score("a-run3")


def test_a_run_of_the_rounds_that_are_needed_must_still_have_a_score(path: Path) -> None:
    """A narrow interval does not excuse an error: that run is asked again."""
    log = begin(path, planned())
    log.append_record(record("a"), [])
    log.append_record(record("b", "error"), [])
    log.close()
    resume.append(history_of(path), "look", **found_in(1000, 1))
    history = history_of(path)
    assert history.status(is_running=False) == "complete_with_unscored"
    assert history.pending(history.planned) == ["b-run1"]


def look_after(number: int, *, is_enough: bool = False) -> LookLine:
    """A look after a round."""
    return LookLine(session="s1", round=number, is_enough=is_enough)


def test_rounds_are_told_by_the_number_at_the_end_of_an_id() -> None:
    """The tenth is not in the first two; a look is out of date once a run of its rounds is asked again."""
    plan, plans = dict.fromkeys(["a-run2-run1", "a-run2-run10", "a-run2-run2"], "aa"), Plans()
    plans.add_look(look_after(1))
    assert list(plans.needed(plan)) == list(plan)
    plans.add_look(look_after(2, is_enough=True))
    assert list(plans.needed(plan)) == ["a-run2-run1", "a-run2-run2"]
    plans = Plans()
    for number in (1, 2, 10):
        plans.add_look(look_after(number))
    plans.drop_stale("a-run11")
    assert list(plans.looks) == [1, 2, 10]
    plans.drop_stale("a-run2")
    assert list(plans.looks) == [1]
