"""Recognises replies that decline to answer, by the phrases of the rubric file. Pure."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from equipoise.core.types import JSON
from equipoise.core.unicode import nfkc
from equipoise.judge.rubric import Rubric, reading, scale_of, take
from equipoise.suites.reading import answer_text

ENGLISH = "en"
"""The language whose phrases are looked for in every reply."""
ACT_DISTANCE = 60
"""The maximum distance in characters from the end of "I cannot" to a verb such as "answer"."""
SHORT_PHRASE = 3
"""A phrase of at most this many characters must end with a word; a longer phrase may end within one."""
PhraseKind = Literal["markers", "declines", "unable", "acts", "excuses", "yet"]
"""The kinds of phrases, which the rubric file explains."""
_CLAUSE_END = re.compile(r"[.!?](?=\s|$)|[\n\u3002\u0964\u06d4\u061f]")
_APOSTROPHES = dict.fromkeys(map(ord, "'\u2018\u2019\u201b\u02bb\u02bc\u0060\u00b4\u200b\u200c\u200d"))
_SPACES = re.compile(r"[^\S\n]+")


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """The phrases of one language by kind; all are folded except markers.

    `unspaced` says that the script has no spaces between words.
    """

    lists: Mapping[PhraseKind, tuple[str, ...]]
    unspaced: bool = False


@dataclass(frozen=True, kw_only=True)
class AnswerRubric(Rubric):
    """The scale of answers, the markers of answers and the phrases of refusals, by language."""

    words: Mapping[str, Phrases]

    def of(self, language: str) -> Sequence[Phrases]:
        """The phrases of a language such as pt-BR, and those of English."""
        names = dict.fromkeys((language.partition("-")[0], ENGLISH))
        return [self.words[name] for name in names if name in self.words]

    def markers(self, language: str) -> list[str]:
        """The words that may precede a colon and an answer, in a language and in English."""
        return [marker for phrases in self.of(language) for marker in phrases.lists["markers"]]


def load(path: Path) -> AnswerRubric:
    """The rubric file. Raises UserError naming file and key."""
    with reading(path) as (data, digest):
        languages = {
            name: table for name, table in data.items() if isinstance(table, dict) and name != "scale"
        }
        return AnswerRubric(
            version=take(data, "version", str),
            hash=digest,
            scale=scale_of(data, has_all_levels=False),
            words={name: _phrases(name, table) for name, table in languages.items()},
        )


def _phrases(name: str, table: Mapping[str, JSON]) -> Phrases:
    if unknown := sorted(table.keys() - {*get_args(PhraseKind), "unspaced"}):
        raise ValueError(f"{name}.{unknown[0]}: there is no such key")
    lists = {
        kind: tuple(folded(text).strip() for text in table.get(kind, ())) for kind in get_args(PhraseKind)
    }
    # Markers are looked for in unfolded replies.
    lists["markers"] = tuple(table.get("markers", ()))
    return Phrases(lists=lists, unspaced=table.get("unspaced", False))


def folded(text: str) -> str:
    """The text in lower case without accents, vowel points and apostrophes; line breaks stay."""
    plain = unicodedata.normalize("NFD", nfkc(text).lower().translate(_APOSTROPHES))
    bare = "".join(
        sign for sign in plain if unicodedata.category(sign) != "Mn" or "\u0900" <= sign <= "\u0963"
    )
    return _SPACES.sub(" ", unicodedata.normalize("NFC", bare).lower())


def declines(reply: str, phrases: Sequence[Phrases]) -> bool:
    """Whether a reply says that it does not answer.

    It says so by a phrase that declines, by an excuse, or by "I cannot" and a verb such as "answer" in the
    same clause.
    """
    text = folded(answer_text(reply))
    if any(True for kind in ("declines", "excuses") for _ in _spans(text, kind, phrases)):
        return True
    ends = [match.start() for match in _CLAUSE_END.finditer(text)]
    # A "but" begins a new clause, which may answer even if the clause before it declines.
    ends = sorted([*ends, *(start - 1 for start, _ in _spans(text, "yet", phrases))])
    acts = sorted(start for start, _ in _spans(text, "acts", phrases))
    return any(_is_followed(end, acts, ends) for _, end in _spans(text, "unable", phrases))


def _is_followed(end: int, acts: Sequence[int], clause_ends: Sequence[int]) -> bool:
    """Whether an act follows within ACT_DISTANCE in the same clause."""
    index = bisect_left(acts, end)
    if index == len(acts) or acts[index] > end + ACT_DISTANCE:
        return False
    return bisect_left(clause_ends, end) == bisect_left(clause_ends, acts[index])


def _spans(text: str, kind: PhraseKind, phrases: Iterable[Phrases]) -> Iterator[tuple[int, int]]:
    """The start and end of each phrase of a kind in a folded text; if there are spaces, it begins a word."""
    for language in phrases:
        for phrase in language.lists[kind]:
            end = 0
            while (start := text.find(phrase, end)) >= 0:
                end = start + len(phrase)
                if language.unspaced or _is_word(text, start, end):
                    yield start, end


def _is_word(text: str, start: int, end: int) -> bool:
    """Whether a word begins at `start` and, if the phrase is short, a word ends at `end`."""
    is_inside = start > 0 and _is_letter(text[start - 1]) and _is_letter(text[start])
    return not is_inside and (end - start > SHORT_PHRASE or end == len(text) or not _is_letter(text[end]))


def _is_letter(sign: str) -> bool:
    """Whether a character is a letter, a digit, or a vowel sign of Devanagari."""
    return sign.isalnum() or "\u0900" <= sign <= "\u0963"
