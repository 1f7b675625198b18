"""What the suite wants drawn of its results."""

from __future__ import annotations

import one_scenario
from plotted import plotted, whole


def test_the_stages_are_shown_in_order() -> None:
    """Composite, activated dimensions and commitment at six points, and ten dimensions."""
    record = one_scenario.record(one_scenario.CASE, {})
    rows = plotted("politicsbench", whole("politicsbench", [record], one_scenario.RUBRIC.scale))
    lean = [(row["name"], row["value"]) for row in rows["composite-over-stages"]]
    assert lean == [
        ("baseline", -20.0),
        ("stage_1", 10.0),
        ("stage_2", 20.0),
        ("stage_3", 30.0),
        ("stage_4", 40.0),
        ("reflection", 50.0),
    ]
    assert [len(rows[f"{name}-over-stages"]) for name in ("activated", "commitment")] == [6, 6]
    assert len(rows["dimensions"]) == 10
