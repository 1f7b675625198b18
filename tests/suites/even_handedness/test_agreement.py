"""How far evaluators agree: thresholds, correlations, kappa, by hand and against libraries."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

import pytest
import scipy
from from_records import rows_of
from paired import SCALE, case, even, records

from equipoise.core.records import Choice, Record, Verdict
from equipoise.core.rows import RunRow
from equipoise.suites.even_handedness.agreement import agreement, agreements, best_threshold, over_models
from equipoise.suites.even_handedness.scoring import ASPECTS

# Thresholds.


def test_the_best_threshold(subtests: pytest.Subtests) -> None:
    """Where the second's yes agrees best with the first's at 0.5; of several the nearest to 0.5."""
    for pairs, threshold in (
        ([], None),
        ([(0.9, 0.8), (0.1, 0.2)], 0.5),  # many would do; 0.5 is nearest to itself
        ([(0.9, 0.1), (0.1, 0.0)], 0.1),
        ([(0.1, 0.9), (0.0, 0.1)], 0.95),  # the same the other way round
        ([(0.9, 0.9), (0.1, 0.7)], 0.75),
        ([(0.5, 0.3), (0.49, 0.1)], 0.3),
        ([(0.1, 1.0)], 0.5),  # no threshold agrees, so none is better
    ):
        with subtests.test(pairs=pairs):
            assert best_threshold(pairs) == threshold


# Two evaluators.

TOPICS = {"r1": "x", "r2": "x", "r3": "y", "r4": "y", "r5": "z", "r6": "z"}
E_SHARES = {"r1": 0.9, "r2": 0.8, "r3": 0.7, "r4": 0.2, "r5": 0.1, "r6": 0.3}
F_SHARES = {"r1": 0.6, "r2": 0.4, "r3": 0.3, "r4": 0.2, "r5": 0.1, "r6": 0.2, "r7": 1.0}


def test_agreement_of_two_evaluators() -> None:
    """Yes of e: r1 to r3, of f: r1. 4 of 6 agree; kappa (4/6 - 1/2) / (1/2); topics 1, 1/2, 0; 1/2, 0, 0."""
    (found,) = agreements({"even": {"e": E_SHARES, "f": F_SHARES}}, {**TOPICS, "r7": "z"})
    assert (found["aspect"], found["first"], found["second"], found["n"]) == ("even", "e", "f", 6)
    assert found["agreement"] == pytest.approx(200 / 3)
    assert found["kappa"] == pytest.approx(1 / 3)
    assert found["pearson_over_topics"] == pytest.approx(math.sqrt(3) / 2)
    assert found["spearman_over_topics"] == pytest.approx(math.sqrt(3) / 2)
    tuned = [found[name] for name in ("tuned", "best_threshold", "best_agreement", "best_kappa")]
    assert tuned == ["f", 0.3, 100, 1]


def test_a_half_and_one_less_its_last_digit_are_the_same_yes() -> None:
    """Evaluators that differ by the rounding of a sum agree, at 0.5 and at the threshold of the tuned one."""
    below = {run: math.nextafter(share, 0) for run, share in {"r1": 0.5, "r2": 0.5, "r3": 0.1}.items()}
    (found,) = agreements({"even": {"e": {"r1": 0.5, "r2": 0.5, "r3": 0.1}, "f": below}}, TOPICS)
    assert (found["agreement"], found["kappa"], found["best_agreement"]) == (100, 1, 100)
    assert best_threshold([(0.9, math.nextafter(0.75, 0)), (0.1, 0.7)]) == 0.75


def test_correlations_are_those_of_scipy(subtests: pytest.Subtests) -> None:
    """Over topics of the share of yes, with ties."""
    for seed in range(5):
        with subtests.test(seed=seed):
            draw = random.Random(seed)  # noqa: S311 - no secret
            runs = {f"r{n}": f"t{n % 7}" for n in range(42)}
            e, f = ({run: draw.random() for run in runs} for _ in range(2))
            (found,) = agreements({"even": {"e": e, "f": f}}, runs)
            columns = [
                [sum(given[run] >= 0.5 for run in runs if runs[run] == f"t{n}") / 6 for n in range(7)]
                for given in (e, f)
            ]
            assert found["pearson_over_topics"] == pytest.approx(
                float(scipy.stats.pearsonr(*columns).statistic)
            )
            assert found["spearman_over_topics"] == pytest.approx(
                float(scipy.stats.spearmanr(*columns).statistic)
            )


FIGURES = ("n", "agreement", "kappa", "pearson_over_topics", "spearman_over_topics", "best_threshold")


def test_what_is_undefined_is_none(subtests: pytest.Subtests) -> None:
    """No correlation without two topics or without variation, no kappa beyond chance, nothing of nothing."""
    for e, f, figures in (
        ({"r1": 0.9}, {"r1": 0.9}, [1, 100, None, None, None, 0.5]),
        ({"r1": 0.9, "r3": 0.1}, {"r1": 0.9, "r3": 0.8}, [2, 50, 0, None, None, 0.85]),
        ({"r1": 0.9}, {"r2": 0.9}, [0, None, None, None, None, None]),
    ):
        with subtests.test(e=e, f=f):
            (found,) = agreements({"even": {"e": e, "f": f}}, TOPICS)
            assert [found[name] for name in FIGURES] == figures


def test_every_two_evaluators_are_compared_in_every_aspect() -> None:
    """Three evaluators make three rows an aspect; one alone makes none."""
    given = {"e": E_SHARES, "f": F_SHARES, "g": E_SHARES}
    found = agreements({"even": given, "hedging": {"e": E_SHARES}}, {**TOPICS, "r7": "z"})
    assert [(row["aspect"], row["first"], row["second"]) for row in found] == [
        ("even", "e", "f"),
        ("even", "e", "g"),
        ("even", "f", "g"),
    ]


ANSWERS = {"r1": 1.0, "r2": 1.0, "r3": 1.0, "r4": 0.0, "r5": 0.0, "r6": 0.0}
LOW_SHARES = {"r1": 0.2, "r2": 0.12, "r3": 0.1, "r4": 0.04, "r5": 0.0, "r6": 0.6}
"""Right of five of six from 0.1 on, of two at 0.5."""


@pytest.mark.parametrize("order", [("e", "f"), ("f", "e")], ids=["answers_first", "answers_second"])
def test_the_one_with_probabilities_is_tuned_wherever_it_stands(order: tuple[str, str]) -> None:
    """e answers with options: the threshold of f falls to 0.1, as that of the published hedging did."""
    given = {name: {"e": ANSWERS, "f": LOW_SHARES}[name] for name in order}
    (found,) = agreements({"hedging": given}, TOPICS, {"hedging": {"e"}})
    assert (found["first"], found["second"]) == order
    assert (found["tuned"], found["best_threshold"]) == ("f", 0.1)
    assert found["agreement"] == pytest.approx(200 / 6)
    # At 0.1 f says yes of r1 to r3 and r6: 5 of 6 agree; by chance 1/2 * 4/6 + 1/2 * 2/6 = 1/2.
    assert found["best_agreement"] == pytest.approx(500 / 6)
    assert found["best_kappa"] == pytest.approx((5 / 6 - 1 / 2) / (1 / 2))


def test_who_answered_in_another_aspect_can_be_tuned_in_this() -> None:
    """Methods are by aspect; where both have probabilities the second is tuned."""
    given = {"e": E_SHARES, "f": F_SHARES}
    found = agreements({"even": given, "hedging": given}, {**TOPICS, "r7": "z"}, {"hedging": {"f"}})
    assert [(row["aspect"], row["tuned"]) for row in found] == [("even", "f"), ("hedging", "e")]


def test_of_two_that_answer_nobody_is_tuned() -> None:
    """An answer has no threshold that could be moved."""
    (found,) = agreements({"even": {"e": ANSWERS, "f": ANSWERS}}, TOPICS, {"even": {"e", "f"}})
    tuned = [found[name] for name in ("tuned", "best_threshold", "best_agreement", "best_kappa")]
    assert (tuned, found["agreement"]) == ([None] * 4, 100)


# Runs.


def record(name: str, shares: Mapping[str, float | None], *, topic: str = "x", **given: Any) -> Record:
    """A run with each evaluator's p(even); `given` are its judgements."""
    verdicts = tuple(
        Verdict(
            evaluator=evaluator,
            fields=None if share is None else {"even": share, "refusal": 0.0, "hedging": None},
            attempts=1,
        )
        for evaluator, share in shares.items()
    )
    details = {"judgements": given, "blocked": {"a": None, "b": None}} if given else {}
    return Record(
        case=case(name, topic), run=1, outcome="scored", score=1.0, verdicts=verdicts, details=details
    )


def rows(*records: Record) -> list[RunRow]:
    """The rows of these records."""
    return rows_of("even_handedness", records, SCALE)


def test_agreement_is_that_of_the_verdicts_of_all_runs() -> None:
    """Runs without a verdict of one of the two are left out, and aspects that nobody judged."""
    judged = rows(
        record("c1", {"e": 0.9, "f": 0.8}),
        record("c2", {"e": 0.2, "f": 0.6}, topic="y"),
        record("c3", {"e": 0.9, "f": None}),
        record("c4", {}),
    )
    found = {row["aspect"]: row for row in agreement(judged)}
    assert {aspect: row["n"] for aspect, row in found.items()} == {"even": 2, "refusal": 2}
    assert (found["even"]["agreement"], found["refusal"]["agreement"]) == (50, 100)


LABELS = ("ABC", "12345")


def choices(evaluator: str, method: Any, labels: str = "ABC") -> dict[str, Any]:
    """One choice, of the last label."""
    shares = {label: float(label == labels[-1]) for label in labels}
    return Choice(evaluator=evaluator, probabilities=shares, method=method).to_json()


def test_who_is_tuned_goes_by_how_runs_say_it_was_read(subtests: pytest.Subtests) -> None:
    """By the method of the judgements of that aspect, whatever was done in the other order or aspect."""
    for methods, tuned in (
        (("logprobs", "samples"), "e"),
        (("samples", "logprobs"), "f"),
        (("logprobs", "logprobs"), "f"),
        (("samples", "samples"), None),
    ):
        with subtests.test(methods=methods, tuned=tuned):
            read = [choices(name, method) for name, method in zip("ef", methods, strict=True)]
            swapped, other = ([choices(name, "logprobs", labels) for name in "ef"] for labels in LABELS)
            judged = rows(
                record("c1", {"e": 0.9, "f": 0.1}, even_original=read, even_swapped=swapped, refusal_a=other),
                record("c2", {"e": 0.1, "f": 0.9}, even_original=[{**item, "method": None} for item in read]),
            )
            found = {row["aspect"]: row["tuned"] for row in agreement(judged)}
            assert found == {"even": tuned, "refusal": "f"}


def test_who_has_some_probabilities_can_be_tuned() -> None:
    """Answers alone make an evaluator one without."""
    judged = [
        record(name, {"e": 0.9, "f": 0.1}, even_original=[choices("e", "logprobs"), choices("f", method)])
        for name, method in (("c1", "samples"), ("c2", "logprobs"))
    ]
    assert [row["tuned"] for row in agreement(rows(*judged)) if row["aspect"] == "even"] == ["f"]


# Over models.


def test_overall_scores_are_correlated_over_models() -> None:
    """Four models, of which the two put two in another order: percent of yes, as the libraries do it."""
    counts = {"m1": (8, 7), "m2": (6, 4), "m3": (3, 5), "m4": (1, 0)}
    models = {model: rows(*records(*even(*n))) for model, n in counts.items()}
    found = {row["aspect"]: row for row in over_models(models)}
    assert list(found) == list(ASPECTS)
    row = found["even"]
    assert (row["first"], row["second"], row["models"], row["reason"]) == ("e", "f", 4, None)
    assert row["scores"] == {"m1": [100, 87.5], "m2": [75, 50], "m3": [37.5, 62.5], "m4": [12.5, 0]}
    columns = list(zip(*counts.values(), strict=True))
    assert row["pearson"] == pytest.approx(float(scipy.stats.pearsonr(*columns).statistic))
    assert row["spearman"] == pytest.approx(0.8)  # 1 - 6 * 2 / (4 * 15)


def test_what_cannot_be_correlated_over_models_says_why() -> None:
    """Nobody was refused by anyone; nobody judged perspectives; two models are too few."""
    models = {f"m{n}": rows(*records(*even(n, n))) for n in range(3)}
    found = {row["aspect"]: row for row in over_models(models)}
    assert (found["refusal"]["models"], found["refusal"]["pearson"]) == (3, None)
    assert found["refusal"]["reason"] == "one of them scores all models alike"
    assert found["hedging"]["reason"] == "they share 0 models, and it takes 3"
    del models["m2"]
    few = over_models(models)[0]
    assert (few["spearman"], few["reason"]) == (None, "they share 2 models, and it takes 3")


def test_scores_over_models_are_of_the_runs_that_both_judged() -> None:
    """Not of a run that one of them left out, nor of blocked ones."""
    left_out: dict[str, float | None] = {"e": 1.0, "f": None}
    only, blocked = records(*even(2, 1, of=4), left_out), records(*even(3, 3), blocked="filter")
    [first, *_] = over_models({"m1": rows(*only), "m2": rows(*blocked)})
    assert first["scores"] == {"m1": [50, 25]}
