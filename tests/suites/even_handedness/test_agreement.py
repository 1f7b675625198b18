"""How far evaluators agree: thresholds, correlations, kappa, by hand and against libraries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
import scipy
from from_records import rows_of
from paired import SCALE, case, choice, even, records

from equipoise.core.records import Record, Verdict
from equipoise.core.rows import RunRow
from equipoise.suites.even_handedness.agreement import agreement, agreements, best_threshold, over_models
from equipoise.suites.even_handedness.scoring import ASPECTS


def test_the_best_threshold(subtests: pytest.Subtests) -> None:
    """It is where the second agrees best with the first at 0.5; of several, the one nearest to 0.5."""
    for pairs, threshold in (
        ([], None),
        ([(0.9, 0.8), (0.1, 0.2)], 0.5),  # many would do; 0.5 is nearest to itself
        ([(0.9, 0.1), (0.1, 0.0)], 0.1),
        ([(0.1, 0.9), (0.0, 0.1)], 0.95),  # the same the other way round
        ([(0.9, 0.9), (0.1, 0.7)], 0.75),
        ([(0.9, math.nextafter(0.75, 0)), (0.1, 0.7)], 0.75),  # as much, but for its last digit
        ([(0.5, 0.3), (0.49, 0.1)], 0.3),
        ([(0.1, 1.0)], 0.5),  # no threshold agrees, so none is better
    ):
        with subtests.test(pairs=pairs):
            assert best_threshold(pairs) == threshold


# Two evaluators.

TOPICS = {"r1": "x", "r2": "x", "r3": "y", "r4": "x", "r5": "z", "r6": "z", "r7": "z"}
E_SHARES = {"r1": 0.9, "r2": 0.8, "r3": 0.7, "r4": 0.2, "r5": 0.1, "r6": 0.3}
F_SHARES = {"r1": 0.6, "r2": 0.4, "r3": 0.3, "r4": 0.2, "r5": 0.1, "r6": 0.2, "r7": 1.0}
TUNED = ("tuned", "best_threshold", "best_agreement", "best_kappa")


def test_agreement_of_two_evaluators() -> None:
    """Yes of e: r1 to r3, of f: r1. 4 of 6 agree; kappa (4/6 - 1/2) / (1/2). One alone agrees with nobody.

    Topics have 2/3, 1 and 0 of it by e, and 1/3, 0 and 0 by f: their ranks are not correlated.
    """
    (row,) = agreements({"even": {"e": E_SHARES, "f": F_SHARES}, "hedging": {"e": E_SHARES}}, TOPICS)
    assert (row["aspect"], row["first"], row["second"], row["n"]) == ("even", "e", "f", 6)
    assert row["agreement"] == pytest.approx(200 / 3)
    assert row["kappa"] == pytest.approx(1 / 3)
    assert row["pearson_over_topics"] == pytest.approx(1 / math.sqrt(28))
    assert row["spearman_over_topics"] == pytest.approx(0)
    assert [row[name] for name in TUNED] == ["f", 0.3, 100, 1]


FIGURES = ("n", "agreement", "kappa", "pearson_over_topics", "spearman_over_topics", "best_threshold")
HALF = {"r1": 0.5, "r2": 0.5, "r3": 0.1}


def test_what_is_undefined_is_none(subtests: pytest.Subtests) -> None:
    """A correlation needs two topics that differ, kappa needs variation, and all need a common run."""
    for e, f, figures in (
        ({"r1": 0.9}, {"r1": 0.9}, [1, 100, None, None, None, 0.5]),
        ({"r1": 0.9, "r3": 0.1}, {"r1": 0.9, "r3": 0.8}, [2, 50, 0, None, None, 0.85]),
        ({"r1": 0.9}, {"r2": 0.9}, [0, None, None, None, None, None]),
        (HALF, {run: math.nextafter(share, 0) for run, share in HALF.items()}, [3, 100, 1, 1, 1, 0.5]),
    ):
        with subtests.test(e=e, f=f):
            (row,) = agreements({"even": {"e": e, "f": f}}, TOPICS)
            assert [row[name] for name in FIGURES] == figures


ANSWERS = {"r1": 1.0, "r2": 1.0, "r3": 1.0, "r4": 0.0, "r5": 0.0, "r6": 0.0}
LOW_SHARES = {"r1": 0.2, "r2": 0.12, "r3": 0.1, "r4": 0.04, "r5": 0.0, "r6": 0.6}


def test_the_one_with_probabilities_is_tuned_though_it_stands_first() -> None:
    """e answers with options: the threshold of f falls to 0.1, as that of the published hedging did.

    At 0.1 f says yes of r1 to r3 and r6: 5 of 6 agree; by chance 1/2 * 4/6 + 1/2 * 2/6 = 1/2.
    """
    (row,) = agreements({"hedging": {"f": LOW_SHARES, "e": ANSWERS}}, TOPICS, {"hedging": {"e"}})
    assert row["agreement"] == pytest.approx(200 / 6)
    assert [row[name] for name in TUNED] == ["f", 0.1, pytest.approx(500 / 6), pytest.approx(2 / 3)]


# Runs.


def record(name: str, shares: Mapping[str, float | None], *, topic: str = "x", **judgements: Any) -> Record:
    """A run with each evaluator's p(even); `judgements` are its judgements."""
    verdicts = tuple(
        Verdict(
            evaluator=evaluator,
            fields=None if share is None else {"even": share, "refusal": 0.0, "hedging": None},
            attempts=1,
        )
        for evaluator, share in shares.items()
    )
    details = {"judgements": judgements, "blocked": {"a": None, "b": None}} if judgements else {}
    return Record(
        case=case(name, topic), run=1, outcome="scored", score=1.0, verdicts=verdicts, details=details
    )


def rows(*records: Record) -> list[RunRow]:
    """The rows of these records."""
    return rows_of("even_handedness", records, SCALE)


def test_agreement_is_that_of_the_verdicts_of_all_runs() -> None:
    """Runs that only one of the two judged are left out, and so are aspects without verdicts."""
    judged = rows(
        record("c1", {"e": 0.9, "f": 0.8}),
        record("c2", {"e": 0.2, "f": 0.6}, topic="y"),
        record("c3", {"e": 0.9, "f": None}),
        record("c4", {}),
    )
    by_aspect = {row["aspect"]: row for row in agreement(judged)}
    assert {aspect: row["n"] for aspect, row in by_aspect.items()} == {"even": 2, "refusal": 2}
    assert (by_aspect["even"]["agreement"], by_aspect["refusal"]["agreement"]) == (50, 100)


def choices(method: Any, **shares: float) -> list[dict[str, Any]]:
    """A choice of each evaluator, and how it was read."""
    methods = method if isinstance(method, tuple) else (method, method)
    return [choice(name, how, **shares).to_json() for name, how in zip("ef", methods, strict=True)]


def test_who_is_tuned_goes_by_how_runs_say_it_was_read(subtests: pytest.Subtests) -> None:
    """The method of that aspect's judgements decides; other orders and aspects do not matter."""
    for methods, in_another_run, tuned in (
        (("logprobs", "samples"), None, "e"),
        (("samples", "logprobs"), None, "f"),
        (("logprobs", "logprobs"), None, "f"),
        (("samples", "samples"), None, None),
        (("logprobs", "samples"), "logprobs", "f"),
    ):
        with subtests.test(methods=methods, in_another_run=in_another_run):
            swapped, other = choices("logprobs", C=1), choices("logprobs", x5=1)
            read: dict[str, Any] = {"even_swapped": swapped, "refusal_a": other}
            judged = rows(
                record("c1", {"e": 0.9, "f": 0.1}, even_original=choices(methods, C=1), **read),
                record("c2", {"e": 0.1, "f": 0.9}, even_original=choices(in_another_run, C=1)),
            )
            tuned_by_aspect = {row["aspect"]: row["tuned"] for row in agreement(judged)}
            assert tuned_by_aspect == {"even": tuned, "refusal": "f"}


# Over models.


def test_overall_scores_are_correlated_over_models() -> None:
    """Of four models, the two evaluators rank two differently; scipy gives the same correlation."""
    counts = {"m1": (8, 7), "m2": (6, 4), "m3": (3, 5), "m4": (1, 0)}
    models = {model: rows(*records(*even(*n))) for model, n in counts.items()}
    by_aspect = {row["aspect"]: row for row in over_models(models)}
    assert list(by_aspect) == list(ASPECTS)
    row = by_aspect["even"]
    assert (row["first"], row["second"], row["models"], row["reason"]) == ("e", "f", 4, None)
    assert row["scores"] == {"m1": [100, 87.5], "m2": [75, 50], "m3": [37.5, 62.5], "m4": [12.5, 0]}
    columns = list(zip(*counts.values(), strict=True))
    assert row["pearson"] == pytest.approx(float(scipy.stats.pearsonr(*columns).statistic))
    assert row["spearman"] == pytest.approx(0.8)  # 1 - 6 * 2 / (4 * 15)


def test_what_cannot_be_correlated_over_models_says_why() -> None:
    """One of the two finds all alike, nobody judged perspectives, or there are too few models."""
    models = {f"m{n}": rows(*records(*even(4, n))) for n in range(3)}
    by_aspect = {row["aspect"]: row for row in over_models(models)}
    for row in (by_aspect["even"], by_aspect["refusal"]):
        assert (row["models"], row["pearson"]) == (3, None)
        assert row["reason"] == "one of them scores all models alike"
    assert by_aspect["hedging"]["reason"] == "they share 0 models, and it takes 3"
    left_out: dict[str, float | None] = {"e": 1.0, "f": None}
    only, blocked = records(*even(2, 1, of=4), left_out), records(*even(3, 3), blocked="filter")
    few = over_models({"m1": rows(*only), "m2": rows(*blocked), "m3": rows(*records(*even(8, 0)))})[0]
    assert few["scores"] == {"m1": [50, 25], "m3": [100, 0]}
    assert (few["spearman"], few["reason"]) == (None, "they share 2 models, and it takes 3")
