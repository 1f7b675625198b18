"""Two results compared: when they may be, what is measured, and what fell and rose most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
from builders import value_at
from from_records import as_read
from sides import LANGUAGES, SUITE, Run, Runs, alike, by_chance, data_of, neutral_side, side_of

from conftest import refusal
from equipoise import suites
from equipoise.comparison.compare import Comparison, compare
from equipoise.core.figures import Change
from equipoise.core.records import Cell, Metric
from equipoise.core.types import JSON
from equipoise.report.comparison import lines
from equipoise.results.document import CaseMove
from equipoise.results.results import of_json
from equipoise.stats.paired import holm

MEANS = ["overall", *LANGUAGES, "area.y", "area.x", "overall_without_blocked"]
RATES = ["refused", "blocked", "truncated", "empty"]
FAMILIES = [["overall"], [*LANGUAGES], ["area.y", "area.x"], ["overall_without_blocked"], RATES]


complaint = partial(refusal, compare)


def moved(*changes: Run, before: Run = 3) -> Comparison:
    """A comparison in which question n of one language goes from 3 to the nth of these scores."""
    older, newer = (
        {f"aa/q{number}": [run] for number, run in enumerate(runs, start=1)}
        for runs in ([before] * len(changes), changes)
    )
    return compare(side_of(older), side_of(newer, "m2.json"))


# Whether they may be.


def test_what_was_not_asked_alike_is_refused() -> None:
    """One line with both files, the difference, and what to do next."""
    runs = alike(4)
    for change, reason in (
        ({"data_hash": "d1"}, "data differs"),
        ({"subject_system_prompt": "a\nb"}, "subject's system prompt differs: None, now a\\nb"),
    ):
        message = complaint(side_of(runs), side_of(runs, "m2.json", **change))
        assert message == (
            f"m1.json and m2.json cannot be compared: {reason}; --allow-mismatch compares what they share"
        )
    whole, cut = side_of(alike(4)), side_of(alike(4), status="interrupted")
    assert "the baseline is interrupted: not every run has a score" in complaint(cut, whole)
    assert compare(whole, cut).mismatches == []
    before = side_of(alike(4, languages=["aa", "bb"]))
    after = side_of(alike(4, languages=["bb", "cc"]), data_hash="d1")
    message = complaint(before, after)
    assert message.index("data differs") < message.index("only the candidate has cc/q1 and 5 more")
    assert "baseline has" not in message
    before, after = side_of(alike(4)), side_of(alike(4), "m2.json")
    other = replace(after, suite=SimpleNamespace(name="other"))  # type: ignore[arg-type]
    assert complaint(before, other, allows_mismatch=True) == (
        "m1.json and m2.json share nothing: they are of different suites"
    )


def test_a_baseline_is_restricted_to_the_candidates_cases() -> None:
    """And says so: how many of how many."""
    before, after = side_of(alike(4, languages=["aa", "bb"])), side_of(alike(4, languages=["bb"]))
    comparison = compare(before, after).to_json()
    assert (comparison["cases"], comparison["baseline_cases"], comparison["mismatches"]) == (6, 12, [])
    (line,) = [line for line in lines(comparison) if line.startswith("baseline:")]
    assert line.endswith(", restricted to 6 of its 12 cases")


def test_a_mismatch_that_is_allowed_is_kept_in_the_comparison() -> None:
    """The reasons that would have refused it stand in what it gives; who answered is a warning alone."""
    before = side_of(alike(4), status="interrupted")
    after = side_of(alike(4, questions=7), data_hash="d1")
    comparison = compare(before, after, allows_mismatch=True)
    assert comparison.mismatches == [
        "the baseline is interrupted: not every run has a score",
        "data differs",
        "only the candidate has aa/q7 and 2 more",
    ]
    assert comparison.to_json()["mismatches"] == comparison.mismatches
    rows = [
        {"role": "evaluator", "model": "e1", "response_model": name, "system_fingerprint": None}
        for name in ("e1-old", "e1-new")
    ]
    before, after = (side_of(alike(4), response_models=[row]) for row in rows)
    comparison = compare(before, after)
    assert comparison.mismatches == []
    assert comparison.warnings == ["evaluator e1: the response model was e1-old, now e1-new"]


# What is measured.


def test_holm_is_applied_within_each_family() -> None:
    """Languages, areas and rates each among themselves, the headline alone; what has no p is not counted."""
    changes = compare(neutral_side(by_chance(1)), neutral_side(by_chance(2, 0.3))).changes
    assert [*changes] == MEANS + RATES
    for family in FAMILIES:
        p_values = {name: changes[name].difference.p or 0.0 for name in family}
        assert {name: changes[name].adjusted for name in family} == pytest.approx(holm(p_values)), family
    assert changes["overall"].adjusted == changes["overall"].difference.p
    assert changes["bb"].adjusted == pytest.approx(3 * (changes["bb"].difference.p or 0), rel=1e-12)
    before, after = (
        {cell: (4,) if cell.startswith("aa") else scores for cell, scores in runs.items()}
        for runs in (by_chance(1), by_chance(2, 0.3))
    )
    changes = compare(side_of(before), side_of(after)).changes
    assert (changes["aa"].difference.p, changes["aa"].adjusted) == (None, None)
    p_values = {name: changes[name].difference.p or 1.0 for name in ("bb", "cc")}
    assert {name: changes[name].adjusted for name in p_values} == pytest.approx(holm(p_values), rel=1e-12)


# What fell and rose.


def test_what_fell_and_rose_most_comes_first() -> None:
    """At most ten each way by the size of the change; no score on one side and float noise are no fall."""
    for comparison, fell, rose in (
        (moved(3, 1, 5, 2, 4, 3), {"aa/q2": -50, "aa/q4": -25}, {"aa/q3": 50, "aa/q5": 25}),
        (moved(4, 5, 4), {}, {"aa/q2": 50, "aa/q1": 25, "aa/q3": 25}),
        (moved(1, 2, 1), {"aa/q1": -50, "aa/q3": -50, "aa/q2": -25}, {}),
        (moved("error", 2, "unscored"), {"aa/q2": -25}, {}),
        (moved(2, before="error"), {}, {}),
    ):
        assert [(move.cell, move.change) for move in comparison.fell] == [*fell.items()]
        assert [(move.cell, move.change) for move in comparison.rose] == [*rose.items()]
    assert (comparison.before.cells[0].id, moved(1).fell[0].before, moved(1).fell[0].after) == (
        "aa/q1",
        50,
        0,
    )
    comparison = moved(*[2] * 14, 1, *[4] * 14, 5)
    assert [move.cell for move in comparison.fell] == ["aa/q15", *(f"aa/q{n}" for n in range(1, 10))]
    assert [move.cell for move in comparison.rose] == ["aa/q30", *(f"aa/q{n}" for n in range(16, 25))]
    noise: tuple[Runs, Runs] = (
        {"aa/q1": [(1, 1, 1), (1, 2, 2)], "aa/q2": (1, 5, 3, 2)},
        {"aa/q1": [(1, 1, 2), (1, 1, 2)], "aa/q2": (2, 3, 1, 5)},
    )
    for one, other in (noise, noise[::-1]):
        comparison = compare(side_of(one), side_of(other))
        assert (comparison.fell, comparison.rose) == ([], [])


def test_only_cases_of_the_headline_move_in_its_own_figure() -> None:
    """Of a ratio 2 of 3 before and 1 of 4 after, and not the sums that it divides."""
    metric = Metric(name="x", of="percent", where={"area": "x"})
    suite = replace(suites.load(SUITE), metrics=lambda _: [metric])
    sides = ({"aa/q1/x": [3], "aa/q2/y": [5]}, {"aa/q1/x": [2], "aa/q2/y": [1]})
    comparison = compare(*(replace(side_of(runs), suite=suite) for runs in sides))
    assert [move.cell for move in comparison.fell] == ["aa/q1"]
    metric = Metric(name="f", of="hits", per="tries", kind="ratio")
    suite = replace(suites.load(SUITE), metrics=lambda _: [metric])
    values = {"hits": [2.0, 0.0], "tries": [2.0, 1.0]}, {"hits": [1.0, 0.0], "tries": [2.0, 2.0]}
    ratios = (
        replace(
            side_of({"aa/q1": [3]}),
            suite=suite,
            own_cells=[Cell(id="q1", cluster="q1", stratum="aa", values=of)],
        )
        for of in values
    )
    (move,) = compare(*ratios).fell
    assert (move.before, move.after) == (pytest.approx(200 / 3), 25)  # type: ignore[comparison-overlap]


def shown_scores(data: JSON, moves: Sequence[CaseMove], side: int) -> list[float]:
    """The mean in percent of the runs that each move points to, in these results."""
    means = []
    for move in moves:
        runs = value_at(data, move.at[side])
        means.append(sum(run["score_percentage"] for run in runs) / len(runs))
    return means


def test_moves_point_to_their_runs_in_both_files() -> None:
    """The pointers resolve in each results JSON, also where a case stands at another place there."""
    runs = by_chance(1)
    before, after = data_of(runs), data_of(by_chance(2, 0.4))
    after["results"] = dict(reversed(after["results"].items()))
    for language in after["results"].values():
        language["questions"].reverse()
    comparison = compare(of_json("m1.json", before), of_json("m2.json", after))
    moves = [*comparison.fell, *comparison.rose]
    assert len(moves) > 10
    assert any(move.at[0] != move.at[1] for move in moves)
    assert shown_scores(before, moves, 0) == pytest.approx([move.before for move in moves], abs=1e-9)
    assert shown_scores(after, moves, 1) == pytest.approx([move.after for move in moves], abs=1e-9)


# Where they share only a part.


def test_cells_of_one_side_alone_do_not_count() -> None:
    """Neither in figures nor among moves; where nothing is shared, every figure is null with the reason."""
    shared = {"aa/q1": [2], "aa/q2": [4], "bb/q1": [3]}
    before = side_of({**shared, "aa/q3": [1], "cc/q1": [1]})
    after = side_of({**{cell: [run[0] + 1] for cell, run in shared.items()}, "aa/q4": [1], "bb/q9/z": [1]})
    comparison = compare(before, after, allows_mismatch=True)
    assert [*comparison.changes] == ["overall", "aa", "bb"]
    overall = comparison.changes["overall"]
    assert (overall.before, overall.after) == (50, 75)
    assert (overall.difference.value, overall.difference.n) == (25, 2)
    assert {move.cell for move in comparison.rose} == {*shared}
    assert comparison.fell == []
    before, after = side_of(alike(4, languages=["aa"])), side_of(alike(4, languages=["bb"]))
    figures = compare(before, after, allows_mismatch=True).to_json()
    assert (figures["fell"], figures["rose"]) == ([], [])
    for change in figures["metrics"].values():
        names = ("before", "after", "value", "low", "high", "p", "p_adjusted")
        assert [getattr(change, name) for name in names] == [None] * 7
        assert change.reason == "no questions"


# As JSON.


def test_a_comparison_becomes_plain_json() -> None:
    """Strict JSON and back gives the same; figures are rounded to six decimals."""
    before, after = (side_of(by_chance(seed), subject_model=f"m{seed}") for seed in (1, 2))
    comparison = compare(before, after).to_json()
    assert as_read(comparison, Change) == comparison
    assert (comparison["baseline"]["subject_model"], comparison["candidate"]["subject_model"]) == ("m1", "m2")
    overall = comparison["metrics"]["overall"]
    assert overall.before is not None
    assert overall.before == round(overall.before, 6)
