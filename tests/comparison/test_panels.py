"""Whether panels of evaluators agree on the ranking of models."""

from __future__ import annotations

from pathlib import Path

import pytest
from from_records import parts_of
from paired import SCALE, even, records
from sides import data_of, write, write_data

from conftest import refusal
from equipoise.comparison.panels import evaluator_agreement, load, rank_correlations
from equipoise.comparison.panels import scores_by_panel as of_sides
from equipoise.core.errors import UserError
from equipoise.core.types import JSON
from equipoise.report.comparison import ranking_lines as rendered
from equipoise.results.results import Results

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
    assert evaluator_agreement(load(results(tmp_path, "a+b", SCORES))) == []


def test_panels_that_rank_alike_agree(tmp_path: Path) -> None:
    """Spearman's correlation of the ranks, 1 in the same order and -1 in the opposite one, or the reason."""
    for other, rho in (({"m1": 2, "m2": 3, "m3": 4}, 1), ({"m1": 5, "m2": 3, "m3": 1}, -1)):
        paths = [*results(tmp_path, "a", SCORES), *results(tmp_path, "b", other)]
        [row] = rank_correlations(rankings(paths))
        assert row == ("a", "b", 3, pytest.approx(rho), None)  # type: ignore[comparison-overlap]
    for other, reason in (
        ({"m1": 2, "m2": 3}, "they share 2 models, and it takes 3"),
        ({"m1": 4, "m2": 4, "m3": 4}, "one of them ranks all models alike"),
    ):
        paths = [*results(tmp_path, "a", SCORES), *results(tmp_path, "b", other)]
        [row] = rank_correlations(rankings(paths))
        assert (row.rho, row.reason) == (None, reason)


def test_results_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    """Other data, the same model and panel twice, or results that nobody judged."""
    first = results(tmp_path, "a", {"m1": 1})
    other = results(tmp_path, "b", {"m1": 1}, data_hash="other")
    with pytest.raises(UserError, match="has another suite or other data than"):
        rankings([*first, *other])
    fewer = write(tmp_path / "fewer.json", {"aa/q1": [1]}, subject_model="m2", evaluator_models=["a"])
    with pytest.raises(
        UserError, match=r"fewer\.json: was not asked the same questions in the same languages"
    ):
        rankings([*first, fewer])
    with pytest.raises(UserError, match="there are two results of m1 by a"):
        rankings([*first, *first])
    paths = results(tmp_path, "a", SCORES, evaluators={})
    with pytest.raises(UserError, match=r"m1\.a\.json: no evaluator has judged it"):
        rankings(paths)


def paired(folder: Path, **scores: tuple[int, int]) -> list[Results]:
    """Results of paired prompts by a panel of e and f, who found so many pairs of each model even."""
    paths = []
    for model, even_pairs in scores.items():
        data = data_of({}, suite="even_handedness", subject_model=model, evaluator_models=["e", "f"])
        judged = parts_of("even_handedness", records(*even(*even_pairs)), SCALE)["results"]
        paths.append(write_data(folder / f"{model}.json", {**data, "results": judged}))
    return load(paths)


def test_evaluators_of_paired_prompts_are_compared_over_models(tmp_path: Path) -> None:
    """For each aspect a line, with the reason where there is nothing to correlate."""
    sides = paired(tmp_path, m1=(8, 7), m2=(6, 4), m3=(3, 5), m4=(1, 0))
    _, _, first, *others = rendered({}, [], evaluator_agreement(sides))
    assert first == "even by e and f: Pearson +0.84, Spearman +0.80 over 4 models"
    assert others[0] == "refusal by e and f: one of them scores all models alike"
    assert (
        evaluator_agreement(paired(tmp_path, m1=(1, 1)))[0]["reason"] == "they share 1 models, and it takes 3"
    )
    with pytest.raises(UserError, match="there are two results of m1; give one of each model"):
        evaluator_agreement([sides[0], *sides])


def test_results_that_were_asked_in_another_way_are_refused(tmp_path: Path) -> None:
    """The file and what is another; two that share it go together."""
    settings: dict[str, JSON] = {"suite": "neutrality", "dataset": "own"}
    first = results(tmp_path, "a", SCORES, **settings)
    every: dict[str, dict[str, JSON]] = {"rubric": {"rubric_hash": "r1"}, "dataset": {"dataset": "original"}}
    for name, changes in every.items():
        other = results(tmp_path, "b", SCORES, **{**settings, **changes})
        assert refusal(rankings, [*first, *other]) == (
            f"{other[0]}: its {name} differs from that in {first[0]}; "
            "give results that differ in models and evaluators only"
        )
        assert len(rankings(other)["b"]) == 3
