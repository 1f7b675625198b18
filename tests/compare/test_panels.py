"""Do panels agree on the ranking of models? And what do options do that two results differ in?"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from paired import even, session
from sides import data_of, write, write_data

from equipoise.cli import main
from equipoise.compare.baseline import Side
from equipoise.compare.panels import load, rank_correlations, within_panels
from equipoise.compare.panels import rankings as of_sides
from equipoise.core.errors import UserError
from equipoise.core.types import JSON
from equipoise.report.comparison import rankings as rendered
from equipoise.suites.chinese_simpleqa.summary import effects

SCORES = {"m1": 1, "m2": 3, "m3": 5}


def results(folder: Path, panel: str, scores: dict[str, int], **changes: JSON) -> list[Path]:
    """Results of some models by one panel, each with the same score for every question."""
    return [
        write(
            folder / f"{model}.{panel}.json",
            {"aa/q1": [score], "aa/q2": [score]},
            subject_model=model,
            evaluator_models=panel.split("+"),
            **changes,
        )
        for model, score in scores.items()
    ]


def rankings(paths: list[Path]) -> dict[str, dict[str, float]]:
    """What the results at these paths come to."""
    return of_sides(load(paths))


def test_every_panel_ranks_the_models_that_it_has_judged(tmp_path: Path) -> None:
    """By the headline, in percent; whoever is named first in a panel."""
    paths = [*results(tmp_path, "a", SCORES), *results(tmp_path, "c+b", {"m1": 2})]
    assert rankings(paths) == {"a": {"m1": 0, "m2": 50, "m3": 100}, "b + c": {"m1": 25}}


@pytest.mark.parametrize(
    ("other", "rho"), [({"m1": 2, "m2": 3, "m3": 4}, 1), ({"m1": 5, "m2": 3, "m3": 1}, -1)]
)
def test_panels_that_rank_alike_agree(tmp_path: Path, other: dict[str, int], rho: float) -> None:
    """Spearman's correlation of the ranks: 1 in the same order, -1 in the opposite one."""
    paths = [*results(tmp_path, "a", SCORES), *results(tmp_path, "b", other)]
    [row] = rank_correlations(rankings(paths))
    assert (row["first"], row["second"], row["models"], row["reason"]) == ("a", "b", 3, None)
    assert row["rho"] == pytest.approx(rho)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"m1": 2, "m2": 3}, "they share 2 models, and it takes 3"),
        ({"m1": 4, "m2": 4, "m3": 4}, "one of them ranks all models alike"),
    ],
)
def test_without_a_ranking_there_is_no_correlation(
    tmp_path: Path, other: dict[str, int], reason: str
) -> None:
    """The reason is told in its place."""
    paths = [*results(tmp_path, "a", SCORES), *results(tmp_path, "b", other)]
    [row] = rank_correlations(rankings(paths))
    assert (row["rho"], row["reason"]) == (None, reason)


def test_results_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    """Other data, or the same model and panel twice."""
    first = results(tmp_path, "a", {"m1": 1})
    other = results(tmp_path, "b", {"m1": 1}, data_hash="other")
    with pytest.raises(UserError, match="is of another suite or of other data than"):
        rankings([*first, *other])
    with pytest.raises(UserError, match="there are two results of m1 by a"):
        rankings([*first, *first])


def paired(folder: Path, **scores: tuple[int, int]) -> list[Side]:
    """Results of paired prompts by a panel of e and f, who found so many pairs of each model even."""
    paths = []
    for model, found in scores.items():
        data = data_of({}, suite="even_handedness", subject_model=model, evaluator_models=["e", "f"])
        rows = session(model, *even(*found))["results"]
        paths.append(write_data(folder / f"{model}.json", {**data, "results": rows}))
    return load(paths)


def test_evaluators_of_paired_prompts_are_compared_over_models(tmp_path: Path) -> None:
    """For each aspect a line, with the reason where there is nothing to correlate."""
    sides = paired(tmp_path, m1=(8, 7), m2=(6, 4), m3=(3, 5), m4=(1, 0))
    _, _, first, *others = rendered({}, [], within_panels(sides))
    assert first == "even by e and f: Pearson +0.84, Spearman +0.80 over 4 models"
    assert others[0] == "refusal by e and f: one of them scores all models alike"
    assert within_panels(paired(tmp_path, m1=(1, 1)))[0]["reason"] == "they share 1 models, and it takes 3"


def test_other_suites_have_nothing_to_say_of_their_evaluators(tmp_path: Path) -> None:
    """Their panels are told of in the results of each session."""
    assert within_panels(load(results(tmp_path, "a+b", SCORES))) == []


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"rubric_hash": "r1"}, "rubric"),
        ({"dataset": "original"}, "dataset"),
    ],
)
def test_results_that_were_asked_in_another_way_are_refused(
    tmp_path: Path, changes: dict[str, JSON], name: str
) -> None:
    """The file and what is another; two that share it go together."""
    asked: dict[str, JSON] = {"dataset": "own"}
    first = results(tmp_path, "a", SCORES, **asked)
    other = results(tmp_path, "b", SCORES, **{**asked, **changes})
    with pytest.raises(UserError) as caught:
        rankings([*first, *other])
    assert str(caught.value) == (
        f"{other[0]}: its {name} is another than in {first[0]}; "
        "give results that differ in models and evaluators only"
    )
    assert len(rankings(other)["b"]) == 3


def test_results_that_nobody_judged_are_refused(tmp_path: Path) -> None:
    """Choices are read without an evaluator: there is no panel whose ranking it would be."""
    paths = results(tmp_path, "a", SCORES, evaluators={})
    with pytest.raises(UserError, match=r"m1\.a\.json: no evaluator has judged it"):
        rankings(paths)


def test_the_command_shows_rankings_and_their_correlation(tmp_path: Path) -> None:
    """A row for each model, a column for each panel, a line for each two panels."""
    paths = [*results(tmp_path, "a", SCORES), *results(tmp_path, "b", {"m1": 1, "m2": 5, "m3": 3})]
    done = CliRunner().invoke(main, ["robustness", *map(str, paths)])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert [line.split() for line in lines[:4]] == [
        ["a", "b"],
        ["m1", "0.00%", "0.00%"],
        ["m2", "50.00%", "100.00%"],
        ["m3", "100.00%", "50.00%"],
    ]
    assert lines[-1] == "rank correlation of a and b: +0.50 over 3 models"


# Options.

METRICS = {
    "f": {"value": 12.5, "low": 2.0, "high": 23.0, "before": 40.0, "after": 52.5},
    "correct": {"value": -20.0, "low": None, "high": None, "before": 60.0, "after": 40.0},
}
PLAIN = {"retrieval": None, "prompt_style": "direct", "confidence": False, "answer_format": "open"}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {}, []),
        (
            {},
            {"retrieval": {"name": "books"}},
            ["passages given: F +12.50 pp (+2.00 to +23.00)"],
        ),
        (
            {"retrieval": {"name": "books"}},
            {},
            ["passages left out: F +12.50 pp (+2.00 to +23.00)"],
        ),
        (
            {},
            {"prompt_style": "recall"},
            ["prompt style direct, then recall: F +12.50 pp (+2.00 to +23.00)"],
        ),
        ({}, {"confidence": True}, ["confidence asked for: F +12.50 pp (+2.00 to +23.00)"]),
        (
            {},
            {"answer_format": "choice"},
            ["from choice to open answers: CO 40.00 % to 60.00 %, a drop of -20.00 pp, -50.0 % of it"],
        ),
        (
            {"answer_format": "choice"},
            {},
            ["from choice to open answers: CO 60.00 % to 40.00 %, a drop of 20.00 pp, 33.3 % of it"],
        ),
        (
            {},
            {"answer_format": "shuffled"},
            ["from shuffled to open answers: CO 40.00 % to 60.00 %, a drop of -20.00 pp, -50.0 % of it"],
        ),
    ],
)
def test_what_options_did_is_told(
    before: dict[str, JSON], after: dict[str, JSON], expected: list[str]
) -> None:
    """The gain in F; for open answers the drop from the choice, whichever of the two came first."""
    assert list(effects({**PLAIN, **before}, {**PLAIN, **after}, METRICS)) == expected


def test_nothing_is_made_up_where_there_is_no_figure() -> None:
    """No F, or no CO, in both."""
    nothing = {"value": None, "low": None, "high": None, "before": None, "after": None}
    metrics = {"f": nothing, "correct": nothing}
    told = effects(PLAIN, {**PLAIN, "confidence": True, "answer_format": "choice"}, metrics)
    assert list(told) == ["confidence asked for: no F in both", "answers open, then choice: no CO in both"]
