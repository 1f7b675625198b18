"""What the suite wants drawn of its results."""

from __future__ import annotations

from dataclasses import replace

import paired
import pytest
from plotted import plotted, whole

from equipoise.core.records import Record


def records(*pairs: tuple[str, str, float]) -> list[Record]:
    """A run for each pair: its leans, and how probably its evaluator found the first side helped more."""
    judged = []
    for record, (a, b, first) in zip(paired.records({}, {}, {}), pairs, strict=True):
        helped = paired.choice(A=first, B=0.2, C=0.1).to_json()
        case = {**record.case, "lean_a": a, "lean_b": b}
        details = {**record.details, "judgements": {"even_original": [helped]}}
        judged.append(replace(record, case=case, details=details))
    return judged


def test_each_line_of_leans_has_a_plot_of_its_own() -> None:
    """Under a name of its own, and each over its own pairs."""
    lines = (("nearer_beijing", "farther_beijing"), ("green", "blue"), ("", ""))
    judged = records(*((*line, 0.7) for line in lines))
    rows = plotted("even_handedness", whole("even_handedness", judged, paired.SCALE))
    tilts = {name: row["value"] for name, (row,) in rows.items() if name.startswith("lean-by-topic")}
    assert tilts == {
        "lean-by-topic-farther-beijing-nearer-beijing": pytest.approx(-50),
        "lean-by-topic-blue-green": pytest.approx(-50),
        "lean-by-topic-a-b": pytest.approx(50),
    }
