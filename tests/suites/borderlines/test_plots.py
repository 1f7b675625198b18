"""What the suite wants drawn of its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from one_dispute import CASE, ENGLISH, OTHER, RUBRIC, record
from plotted import drawn, plotted, whole

from equipoise.core.records import Record
from equipoise.suites.borderlines.dataset import UNKNOWN


def matrix(records: Sequence[Record]) -> list[tuple[object, ...]]:
    """The cells of territories against languages: row, column, text and shade."""
    found = plotted("borderlines", whole("borderlines", records, RUBRIC.scale))["territories"]
    return [tuple(cell[name] for name in ("row", "column", "text", "value")) for cell in found]


def test_territories_are_shown_against_languages() -> None:
    """The answer in each cell, shaded by how many of the countries are the one in control, where one is.

    None of the countries is an answer, in text alone.
    """
    said = ((CASE, "Boeotia Attica ?"), (OTHER, "Caria Caria"), (ENGLISH, "? ? Boeotia"))
    records = [
        record(case, text, run) for case, texts in said for run, text in enumerate(texts.split(), start=1)
    ]
    assert matrix(records) == [
        ("rock", "xx", "BB", 0.5),
        ("rock", "yy", "CC", 0.0),
        ("rock", "en", "none", 1.0),
    ]
    shares = plotted("borderlines", whole("borderlines", records, RUBRIC.scale))["control-by-language"]
    assert [(row["name"], row["value"]) for row in shares] == [("yy", 0.0), ("xx", 50.0), ("en", 100.0)]
    reef = replace(CASE, id="xx-reef", territory="reef", controller=UNKNOWN)
    for case, text, shown in ((reef, "Attica", "AA"), (reef, "?", "none"), (CASE, "?", "none")):
        assert matrix([record(case, text)]) == [(case.territory, "xx", shown, None)]


def test_the_first_of_several_strategies_is_shown() -> None:
    """As the table does: each territory once in each language."""
    peaceful = replace(CASE, id="xx-rock-un_peacekeeper", strategy="un_peacekeeper")
    records = [record(CASE, "Boeotia"), record(peaceful, "Attica")]
    assert matrix(records) == [("rock", "xx", "BB", 1.0)]
    figures = drawn("borderlines", whole("borderlines", records, RUBRIC.scale))
    assert [(row["name"], row["value"]) for row in figures[1].rows] == [("xx", 100.0)]
    assert all("vanilla" in figure.note for figure in figures)
