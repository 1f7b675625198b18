"""What the suite wants drawn of its results."""

from __future__ import annotations

from dataclasses import replace

import one_fact
from plotted import plotted, whole


def test_topics_calibration_and_tries_are_shown() -> None:
    """The five shares by topic, the bins that have answers, and the curve over tries."""
    cases = (one_fact.CASE, one_fact.CHESS)
    records = [one_fact.record(case, vote, run) for case in cases for run, vote in ((1, "B"), (2, "A"))]
    stated = [
        replace(record, details={**record.details, "confidence": 80.0 + record.run}) for record in records
    ]
    found = plotted("chinese_simpleqa", whole("chinese_simpleqa", stated, one_fact.RUBRIC.scale))
    shares = {(row["row"], row["column"]): row["value"] for row in found["by-topic"]}
    assert (shares["overall", "CO"], shares["games", "IN"], shares["games", "NA"]) == (50.0, 50.0, 0.0)
    assert [(row["x"], row["value"], row["answers"]) for row in found["calibration"]] == [(81.5, 50.0, 4)]
    tries = [(row["x"], row["value"]) for row in found["best-of"] if row["series"] == "the first k tries"]
    assert tries == [(1, 0.0), (2, 100.0)]
