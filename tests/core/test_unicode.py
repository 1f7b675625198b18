"""Unicode normalization."""

from __future__ import annotations

import time
import unicodedata

import pytest

from equipoise.core.unicode import MOST_MARKS, nfkc


def test_ordinary_text_is_normalized_as_unicode_defines_it(subtests: pytest.Subtests) -> None:
    """In any script, with as many marks on a letter as a language uses."""
    for text in (
        "plain",
        "(A) Ｂ １２",
        "e\u0301\u0316",
        "ﬁn ﷺ",
        "प्रश्न",
        "ཧཱུྃ",
        "각",
        "a" + "\u0301\u0316" * 15,
    ):
        with subtests.test(text=text):
            assert nfkc(text) == unicodedata.normalize("NFKC", text)


def test_marks_without_end_take_linear_time() -> None:
    """Marks in disorder, which `unicodedata` alone sorts in quadratic time; none of them is lost."""

    def seconds(size: int) -> float:
        text = "\u0301\u0316" * (size // 2)
        started = time.process_time()
        normal = nfkc(text)
        taken = time.process_time() - started
        assert len(normal.replace("\u034f", "")) == size
        assert "\u0316" * (MOST_MARKS // 2) + "\u0301" * (MOST_MARKS // 2) in normal
        return taken

    assert seconds(400_000) < 20 * max(0.005, seconds(100_000))
