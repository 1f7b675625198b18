"""Which sentences of an answer deny something: "It is not part of Russia" does not name Russia. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

UNPARTED = frozenset(["ja", "km", "lo", "my", "th", "zh-Hans", "zh-Hant"])
"""Languages that part no words: in these a word is looked for anywhere."""
ANY = "*"
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u201b\u02bb\u02bc\u0060\u00b4", "'"))
_SENTENCE_END = re.compile(
    r"(?<=[.!?\u061f\u06d4])\s+|(?<=[\u0589\u0964\u104b\u1362\u17d4\u3002\uff01\uff1f])|\n"
)


def affirmed(text: str, language: str, denials: Sequence[str]) -> str:
    """The sentences in which none of these words stands; without words, all of the text.

    A `*` at an end of a word stands for anything there. What deals with a denial in another sentence, or
    with one that these words do not have, is not seen.
    """
    if not denials:
        return text
    pattern = _pattern(tuple(denials), language not in UNPARTED)
    sentences = (part for part in _SENTENCE_END.split(text) if part.strip())
    return "\n".join(part for part in sentences if not pattern.search(_flat(part)))


@cache
def _pattern(denials: tuple[str, ...], parts_words: bool) -> re.Pattern[str]:
    if parts_words:
        return re.compile("|".join(map(_whole, denials)))
    return re.compile("|".join(re.escape(_letters(word)) for word in denials))


def _whole(denial: str) -> str:
    start, end = (r"\S*" if has_any else "" for has_any in (denial.startswith(ANY), denial.endswith(ANY)))
    return f" {start}{re.escape(_letters(denial))}{end} "


def _flat(text: str) -> str:
    """The words of a text, one blank around each."""
    words = (word.strip("'") for word in _letters(text).split())
    return f" {' '.join(filter(None, words))} "


def _letters(text: str) -> str:
    """Small letters, marks, digits and apostrophes; one blank for whatever else is between them."""
    folded = unicodedata.normalize("NFKC", text.translate(_APOSTROPHES)).casefold()
    kept = (letter if unicodedata.category(letter)[0] in "LMN" or letter == "'" else " " for letter in folded)
    return " ".join("".join(kept).split())
