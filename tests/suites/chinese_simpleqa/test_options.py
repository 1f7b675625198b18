"""The options of the suite, and what those did that two results differ in."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace
from sources import misread

from conftest import ROOT
from equipoise.core.figures import Change, ChangeOnThese
from equipoise.core.types import JSON
from equipoise.suites.chinese_simpleqa import SUITE

NOTHING = Change(
    **dict.fromkeys(("before", "after", "value", "se", "low", "high", "p", "reason", "p_adjusted")),
    n=0,
    unpaired=0,
    these=ChangeOnThese(se=None, low=None, high=None, p=None, n=0, reason=None),
    higher_is_better=True,
    unit="%",
)
METRICS = {
    "f": replace(NOTHING, value=12.5, low=2.0, high=23.0, before=40.0, after=52.5),
    "correct": replace(NOTHING, value=-20.0, before=60.0, after=40.0),
}
PLAIN = {"retrieval": None, "prompt_style": "direct", "confidence": False, "answer_format": "open"}


def effects(before: Mapping[str, JSON], after: Mapping[str, JSON], changes: JSON = METRICS) -> list[str]:
    """What the suite's options say of results whose metadata have these values."""
    told = [
        option.effect(before[option.name], after[option.name], changes)
        for option in SUITE.options
        if option.effect
    ]
    return [text for text in told if text]


def test_what_options_did_is_told(subtests: pytest.Subtests) -> None:
    """The gain in F; for open answers the drop from the choice, whichever of the two came first."""
    gain = "F +12.50 pp (+2.00 to +23.00)"
    risen = "CO 40.00 % to 60.00 %, a drop of -20.00 pp, -50.0 % of it"
    books: JSON = {"retrieval": {"name": "books"}}
    every: list[tuple[dict[str, JSON], dict[str, JSON], list[str]]] = [
        ({}, {}, []),
        ({"confidence": None}, {}, []),
        ({"retrieval": {"name": "others"}}, books, []),
        ({}, books, [f"passages given: {gain}"]),
        (books, {}, [f"passages left out: {gain}"]),
        ({}, {"prompt_style": "recall"}, [f"prompt style direct, then recall: {gain}"]),
        ({}, {"confidence": True}, [f"confidence asked for: {gain}"]),
        ({}, {"answer_format": "choice"}, [f"from choice to open answers: {risen}"]),
        ({}, {"answer_format": "shuffled"}, [f"from shuffled to open answers: {risen}"]),
        (
            {"answer_format": "choice"},
            {},
            ["from choice to open answers: CO 60.00 % to 40.00 %, a drop of 20.00 pp, 33.3 % of it"],
        ),
    ]
    for before, after, expected in every:
        with subtests.test(before=before, after=after):
            assert effects({**PLAIN, **before}, {**PLAIN, **after}) == expected


def test_nothing_is_made_up_where_there_is_no_figure() -> None:
    """No F, or no CO, in both."""
    metrics = {"f": NOTHING, "correct": NOTHING}
    told = effects(PLAIN, {**PLAIN, "confidence": True, "answer_format": "choice"}, metrics)
    assert told == ["answers open, then choice: no CO in both", "confidence asked for: no F in both"]


def test_options_are_read_from_every_source() -> None:
    """Their defaults without one."""
    values = {
        "prompt_style": ("direct", "recall", "recall"),
        "answer_format": ("open", "choice", "choice"),
        "confidence": (False, "true", True),
        "retrieval": (None, str(ROOT), ROOT),
        "retriever": (None, "a.b:c", "a.b:c"),
    }
    assert [*misread(values)] == []
