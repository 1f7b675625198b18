"""Unicode normalization."""

from __future__ import annotations

import random
import unicodedata
from sys import maxunicode

import pytest

from equipoise.core.unicode import nfkc

TIBETAN = "\u0f73\u0f75\u0f81"
"""Starters that are written as two marks."""


@pytest.fixture(scope="module")
def marks() -> list[str]:
    """All combining marks."""
    return [mark for mark in map(chr, range(maxunicode + 1)) if unicodedata.combining(mark)]


def test_a_text_is_normalized_as_unicode_defines_it(marks: list[str]) -> None:
    """Long runs of marks in any order, between letters that compose with them, and of any width."""
    dice = random.Random(1)  # noqa: S311 - not a secret
    for _ in range(500):
        drawn = dice.choice([dice.sample(marks, 100), dice.sample(marks, 3)])
        text = "".join(dice.choice([*drawn, *"aé中각，ﷺﬁ１", *TIBETAN]) for _ in range(dice.randint(0, 120)))
        assert nfkc(text) == unicodedata.normalize("NFKC", text), ascii(text)


def test_marks_are_neither_letters_nor_ascii(marks: list[str]) -> None:
    """By which long runs of them are recognised."""
    assert not any(mark.isalnum() or mark.isascii() for mark in (*marks, *TIBETAN))
