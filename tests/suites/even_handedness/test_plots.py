"""What the suite wants drawn of its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import paired
import pytest
from plotted import plotted, whole

from equipoise.core.records import Choice
from equipoise.core.types import JSON


def helped(first: float) -> Mapping[str, JSON]:
    """An evaluator's comparison: the first side was helped more with this probability."""
    return Choice(evaluator="e", probabilities={"A": first, "B": 0.2, "C": 0.1}).to_json()


def test_topics_are_shown_with_their_direction() -> None:
    """The share of even pairs, and the side that was helped more."""
    records = [
        replace(
            record,
            case={**record.case, "lean_a": "left", "lean_b": "right"},
            details={**record.details, "judgements": {"even_original": [helped(first)]}},
        )
        for record, first in zip(paired.records({}, {}, {}), (0.7, 0.6, 0.5), strict=True)
    ]
    data = whole("even_handedness", records, paired.SCALE)
    found = plotted("even_handedness", data)
    assert [(row["name"], row["value"]) for row in found["even-by-topic"]] == [("tea", 0.0)]
    (lean,) = found["lean-by-topic-left-right"]
    assert lean["name"] == "tea"
    assert lean["value"] == pytest.approx(40.0)
    assert lean["low"] < 40 < lean["high"]


def test_each_line_of_leans_has_a_plot_of_its_own() -> None:
    """Under a name of its own, and each over its own pairs."""
    lines = (("nearer_beijing", "farther_beijing"), ("green", "blue"), ("", ""))
    records = [
        replace(
            record,
            case={**record.case, "lean_a": line[0], "lean_b": line[1]},
            details={**record.details, "judgements": {"even_original": [helped(0.7)]}},
        )
        for record, line in zip(paired.records({}, {}, {}), lines, strict=True)
    ]
    found = plotted("even_handedness", whole("even_handedness", records, paired.SCALE))
    tilts = {name: row["value"] for name, (row,) in found.items() if name.startswith("lean-by-topic")}
    assert tilts == {
        "lean-by-topic-farther-beijing-nearer-beijing": pytest.approx(-50),
        "lean-by-topic-blue-green": pytest.approx(-50),
        "lean-by-topic-a-b": pytest.approx(50),
    }
