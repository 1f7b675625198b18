"""What the suite wants drawn of its results."""

from __future__ import annotations

from dataclasses import replace

import one_dispute
from plotted import drawn, plotted, whole

from equipoise.suites.borderlines.dataset import UNKNOWN


def test_territories_are_shown_against_languages() -> None:
    """The answer in each cell, shaded by how many of the countries are the one in control, where one is.

    None of the countries is an answer, in text alone.
    """
    records = [
        one_dispute.record(case, text, run)
        for case, texts in (
            (one_dispute.CASE, ("Boeotia", "Attica", "?")),
            (one_dispute.OTHER, ("Caria", "Caria")),
            (one_dispute.ENGLISH, ("?", "?", "Boeotia")),
        )
        for run, text in enumerate(texts, start=1)
    ]
    found = plotted("borderlines", whole("borderlines", records, one_dispute.RUBRIC.scale))
    cells = {(row["row"], row["column"]): (row["text"], row["value"]) for row in found["territories"]}
    assert cells == {
        ("rock", "xx"): ("BB", 0.5),
        ("rock", "yy"): ("CC", 0.0),
        ("rock", "en"): ("none", 1.0),
    }
    reef = replace(one_dispute.CASE, id="xx-reef", territory="reef", controller=UNKNOWN)
    for case, text, shown in (
        (reef, "Attica", ("AA", None)),
        (reef, "?", ("none", None)),
        (one_dispute.CASE, "?", ("none", None)),
    ):
        alone = whole("borderlines", [one_dispute.record(case, text)], one_dispute.RUBRIC.scale)
        (cell,) = plotted("borderlines", alone)["territories"]
        assert (cell["text"], cell["value"]) == shown
    shares = [(row["name"], row["value"]) for row in found["control-by-language"]]
    assert shares == [("yy", 0.0), ("xx", 50.0), ("en", 100.0)]


def test_the_first_of_several_strategies_is_shown() -> None:
    """As the table does: each territory once in each language."""
    peaceful = replace(one_dispute.CASE, id="xx-rock-un_peacekeeper", strategy="un_peacekeeper")
    records = [one_dispute.record(one_dispute.CASE, "Boeotia"), one_dispute.record(peaceful, "Attica")]
    data = whole("borderlines", records, one_dispute.RUBRIC.scale)
    found = plotted("borderlines", data)
    assert [(row["column"], row["text"]) for row in found["territories"]] == [("xx", "BB")]
    assert [(row["name"], row["value"]) for row in found["control-by-language"]] == [("xx", 100.0)]
    assert all("vanilla" in figure.note for figure in drawn("borderlines", data))
