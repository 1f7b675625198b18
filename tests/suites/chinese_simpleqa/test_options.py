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
BOOKS, OTHERS = ({"retrieval": {"name": name}} for name in ("books", "others"))
CHOICE, SHUFFLED, SURE = {"answer_format": "choice"}, {"answer_format": "shuffled"}, {"confidence": True}
GAIN = "F +12.50 pp (+2.00 to +23.00)"
RISEN = "CO 40.00 % to 60.00 %, a drop of -20.00 pp, -50.0 % of it"
FALLEN = "CO 60.00 % to 40.00 %, a drop of 20.00 pp, 33.3 % of it"


def effects(before: Mapping[str, JSON], after: Mapping[str, JSON], changes: JSON = METRICS) -> list[str]:
    """What the suite's options say of results whose metadata have these values."""
    first, second = {**PLAIN, **before}, {**PLAIN, **after}
    texts = [
        option.effect(first[option.name], second[option.name], changes)
        for option in SUITE.options
        if option.effect
    ]
    return [text for text in texts if text]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {}, []),
        ({"confidence": None}, {}, []),
        (OTHERS, BOOKS, []),
        ({}, BOOKS, [f"passages given: {GAIN}"]),
        (BOOKS, {}, [f"passages left out: {GAIN}"]),
        ({}, {"prompt_style": "recall"}, [f"prompt style direct, then recall: {GAIN}"]),
        ({}, SURE, [f"confidence asked for: {GAIN}"]),
        ({}, CHOICE, [f"from choice to open answers: {RISEN}"]),
        ({}, SHUFFLED, [f"from shuffled to open answers: {RISEN}"]),
        (CHOICE, {}, [f"from choice to open answers: {FALLEN}"]),
    ],
)
def test_what_options_did_is_told(before: JSON, after: JSON, expected: list[str]) -> None:
    """The gain in F; for open answers the drop from the choice, whichever of the two came first."""
    assert effects(before, after) == expected


def test_nothing_is_made_up_where_there_is_no_figure() -> None:
    """No F, or no CO, in both."""
    sentences = effects({}, {**SURE, **CHOICE}, {"f": NOTHING, "correct": NOTHING})
    assert sentences == [
        "answers open, then choice: CO is not known for both",
        "confidence asked for: F is not known for both",
    ]


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
