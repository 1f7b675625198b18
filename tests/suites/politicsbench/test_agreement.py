"""How far judges agree: composites in classes, kappa and alpha."""

from __future__ import annotations

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


def test_kappas_of_composites() -> None:
    """Quadratic-weighted, over the texts that both have judged: classes 0 and 10 against 0 and 5 by hand."""
    a, b = {"t": -100.0, "u": 100.0}, {"t": -100.0, "u": 0.0, "elsewhere": 5.0}
    expected = pytest.approx(1 - ((0 + 25) / 2) / ((0 + 25 + 100 + 25) / 4))
    kappas = agreement.pairwise_kappas({"a": a, "b": b, "c": a, "d": {"elsewhere": 30.0}}, 100.0)
    assert {pair["first"] + pair["second"]: (pair["texts"], pair["value"]) for pair in kappas["pairs"]} == {
        **{"ab": (2, expected), "ac": (2, 1), "bc": (2, expected)},
        **{"ad": (0, None), "bd": (1, 0), "cd": (0, None)},
    }
    assert kappas["mean"] == pytest.approx((1 + 2 * 2 / 3 + 0) / 4)
    flat = {"t": 30.0, "u": 31.0}
    assert agreement.pairwise_kappas({"a": flat, "b": flat}, 100.0)["mean"] == 1
    assert agreement.pairwise_kappas({"a": a}, 100.0) == {"pairs": [], "mean": None}
