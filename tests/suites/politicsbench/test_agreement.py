"""How far judges agree: composites in classes, kappa and alpha."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.suites.politicsbench import agreement


def test_a_composite_is_in_one_of_eleven_classes() -> None:
    """Twenty points wide, or as published up to 24; a half goes to the even one, all beyond to the last."""
    classes = {
        **{-140: 0, -100: 0, -90: 0, -89: 1, -70: 2, -30: 4, -10: 4, -9: 5, 0: 5, 9: 5, 10: 6},
        **{30: 6, 50: 8, 90: 10, 100: 10, 140: 10},
    }
    published = {-25: 0, -24: 0, -12: 2, 0: 5, 12: 8, 21.5: 9, 21.7: 10, 24: 10, 70: 10}
    assert {value: agreement.composite_class(value) for value in classes} == classes
    reach = agreement.PUBLISHED_REACH
    assert {value: agreement.composite_class(value, reach) for value in published} == published


def kappa(a: list[int], b: list[int]) -> float:
    """Quadratic-weighted kappa: 1 less the mean squared distance over that of all pairs."""
    seen = sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) / len(a)
    return 1 - seen / (sum((x - y) ** 2 for x in a for y in b) / (len(a) * len(b)))


def test_kappa_against_brute_force() -> None:
    """Over the texts that both have judged; the mean is that of the pairs."""
    chance = np.random.default_rng(1)
    a = {f"t{n}": chance.uniform(-100, 100) for n in range(30)}
    b = {text: value + chance.normal(0, 30) for text, value in a.items() if text != "t3"}
    c = {text: chance.uniform(-100, 100) for text in (*a, "elsewhere")}
    found = agreement.pairwise_kappas({"a": a, "b": b, "c": c}, 100.0)
    expected = []
    for first, second in ((a, b), (a, c), (b, c)):
        shared = [text for text in first if text in second]
        expected.append(
            kappa(*([agreement.composite_class(side[text]) for text in shared] for side in (first, second)))
        )
    assert [pair["value"] for pair in found["pairs"]] == pytest.approx(expected)
    assert [pair["texts"] for pair in found["pairs"]] == [29, 30, 29]
    assert found["mean"] == pytest.approx(sum(expected) / 3)


def test_kappa_where_there_is_little_to_compare() -> None:
    """One where judges say the same, also of one class only; none without a common text, or of one alone."""
    for same in ((-60.0, 0.0, 55.0), (30.0, 30.0, 31.0)):
        told = {f"t{number}": value for number, value in enumerate(same)}
        assert agreement.pairwise_kappas({"a": told, "b": told}, 100.0)["mean"] == 1
    assert agreement.pairwise_kappas({"a": {"t": 1.0}}, 100.0) == {"pairs": [], "mean": None}
    three = agreement.pairwise_kappas({"a": {"t": 1.0}, "b": {"u": 1.0}, "c": {"t": 1.0}}, 100.0)
    assert three["pairs"][0] == {"first": "a", "second": "b", "texts": 0, "value": None}
    assert ([pair["value"] for pair in three["pairs"]], three["mean"]) == ([None, 1, None], 1)


def test_alpha_by_hand(subtests: pytest.Subtests) -> None:
    """1 less observed over expected squared distance; what only one judge scored does not count.

    None of one judge, of none, where nothing varies, and where they share no unit.
    """
    a = {("t", "x"): 1.0, ("u", "x"): 2.0, ("v", "x"): 6.0, ("w", "x"): 19.0}
    b = {("t", "x"): 1.0, ("u", "x"): 4.0, ("v", "x"): 6.0}
    values = [1.0, 1.0, 2.0, 4.0, 6.0, 6.0]
    chance = sum((x - y) ** 2 for x in values for y in values) / (6 * 5)
    flat = dict.fromkeys(a, 9.0)
    for judges, expected in (
        ({"a": a, "b": b}, pytest.approx(1 - (2 * (2 - 4) ** 2 / 6) / chance)),
        ({"a": a, "b": a}, pytest.approx(1)),
        ({"a": a}, None),
        ({}, None),
        ({"a": flat, "b": flat}, None),
        ({"a": {("t", "x"): 3.0}, "b": {("u", "x"): 4.0}}, None),
    ):
        with subtests.test(judges=judges):
            assert agreement.alpha_of_dimensions(judges) == expected
