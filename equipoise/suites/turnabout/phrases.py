"""Prepares a reply's text for reading, and searches it for the rubric's phrases. Pure.

A kind of phrase is the name of a list in the rubric, such as "final" or "declines".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property

from equipoise.core.unicode import nfkc
from equipoise.models.reasoning import split
from equipoise.suites.turnabout.vocabulary import SHORT_PHRASE, Lexicon

HEAD, TAIL = 1_000, 4_000
"""The numbers of characters read at the beginning and at the end of a long reply, where answers are."""
CONTEXT = 30
"""The number of characters that are read before, and after, a possible answer."""
ACT_DISTANCE = 60
"""The maximum distance in characters from the end of "I cannot" to a verb such as "answer"."""
BOLD = re.compile(r"\*\*([^*\n]{1,80})\*\*|__([^_\n]{1,80})__|\\boxed\{([^{}\n]{1,40})\}", re.IGNORECASE)
_MARKUP = re.compile(
    r"\\[A-Za-z]{1,12}|</?[A-Za-z]{2,12}>|[*_`#~|$\\{}\ue000-\ue00f]|^[ \t]{0,3}>(?=\s)", re.MULTILINE
)
_STRUCK_OUT = re.compile(r"~~[^~\n]{1,80}~~")
_RANGE_TILDE = re.compile(r"(?<=[\w%])\s?[~\u301c\u223c\u02dc]\s?(?=[\w%])")
"""A tilde between the ends of a range, as East Asian languages write it."""
_CLAUSE_END = re.compile(r"[.!?](?=\s|$)|[\n\u3002\u0964\u06d4\u061f]")


def answer_in(text: str) -> str:
    """The reply without its reasoning and struck-out text; only the beginning and the end of a long one.

    Empty if its tags do not say what is reasoning: the first number in it might be none of the answer's.
    """
    parts = split(text, lone_closing="never")
    answer = "" if parts.tags == "whole" else parts.answer
    answer = answer if len(answer) <= HEAD + TAIL else f"{answer[:HEAD]}\n{answer[-TAIL:]}"
    return _RANGE_TILDE.sub("-", _STRUCK_OUT.sub(" ", nfkc(answer)))


def without_markup(text: str) -> str:
    """The text without markup."""
    return _MARKUP.sub("", text)


def in_bold(text: str) -> list[str]:
    """The parts of a text in bold or in boxes."""
    return [" ".join(filter(None, parts)) for parts in BOLD.findall(text)]


def spans(text: str, kind: str, words: Sequence[Lexicon]) -> Iterator[tuple[int, int]]:
    """The start and end of each phrase of a kind in a folded text; it begins a word if there are spaces."""
    for language in words:
        for phrase in language.lists.get(kind, ()):
            end = 0
            while (start := text.find(phrase, end)) >= 0:
                end = start + len(phrase)
                if language.unspaced or _is_word(text, start, end):
                    yield start, end


def _is_word(text: str, start: int, end: int) -> bool:
    """Whether a word begins at `start`, and, if it is short, ends at `end`."""
    is_inside = start > 0 and _is_letter(text[start - 1]) and _is_letter(text[start])
    return not is_inside and (end - start > SHORT_PHRASE or end == len(text) or not _is_letter(text[end]))


def _is_letter(sign: str) -> bool:
    """Whether a character is a letter, a digit, or a vowel sign of Devanagari."""
    return sign.isalnum() or "\u0900" <= sign <= "\u0963"


def pattern(words: Sequence[Lexicon], *kinds: str) -> str:
    """A regular expression that matches phrases of these kinds; one that never matches if there are none."""
    return "|".join(language.pattern(kind) for language in words for kind in kinds) or "(?!)"


def begins_with(text: str, words: Sequence[Lexicon], *kinds: str, gap: str = "") -> bool:
    """Whether a text begins with a match of `gap` and a phrase of these kinds."""
    return re.match(f"(?:{gap})(?:{pattern(words, *kinds)})", text) is not None


def ends_with(text: str, words: Sequence[Lexicon], *kinds: str, gap: str) -> bool:
    """Whether a text ends with a phrase of these kinds and a match of `gap`."""
    return re.search(f"(?:{pattern(words, *kinds)})(?:{gap})$", text) is not None


class Clauses:
    """The clauses of a folded text, and which of them decline to answer."""

    def __init__(self, text: str, words: Sequence[Lexicon]) -> None:
        self.text, self.words = text, words
        ends = [match.start() for match in _CLAUSE_END.finditer(text)]
        # A "but" begins a new clause, which may answer even if the one before declines.
        self.ends = sorted([*ends, *(start - 1 for start, _ in spans(text, "yet", words))])

    def index_at(self, position: int) -> int:
        """The index of the clause at this position."""
        return bisect_left(self.ends, position)

    def _first_starts(self, kind: str) -> dict[int, int]:
        """The position of the first phrase of this kind in each clause that has one, by its index."""
        starts: dict[int, int] = {}
        for position, _ in spans(self.text, kind, self.words):
            starts[self.index_at(position)] = min(position, starts.get(self.index_at(position), position))
        return starts

    @cached_property
    def declined(self) -> dict[int, int]:
        """The position of the words that decline to answer, by the index of the clause."""
        starts = self._first_starts("declines")
        acts = sorted(position for position, _ in spans(self.text, "acts", self.words))
        for position, end in spans(self.text, "unable", self.words):
            clause, act = self.index_at(position), bisect_left(acts, end)
            if act < len(acts) and acts[act] <= end + ACT_DISTANCE and self.index_at(acts[act]) == clause:
                starts[clause] = min(position, starts.get(clause, position))
        return starts

    @cached_property
    def excused(self) -> dict[int, int]:
        """The position of an excuse for not answering, by the index of the clause."""
        return self._first_starts("excuses")

    @property
    def declines(self) -> bool:
        """Whether the text says that it does not answer."""
        return bool(self.declined or self.excused)
