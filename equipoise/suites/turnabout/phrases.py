"""A reply's text as it is read, and where the phrases of the rubric stand in it. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property

from equipoise.core.unicode import nfkc
from equipoise.models.reasoning import split
from equipoise.suites.turnabout.vocabulary import SHORT, Lexicon

HEAD, TAIL = 1_000, 4_000
"""Characters that are read of a long reply: an answer stands at its beginning or at its end."""
AROUND = 30
"""Characters before and behind an answer that say what it is."""
ACT = 60
"""Characters behind "I cannot" in which a clause says what."""
BOLD = re.compile(r"\*\*([^*\n]{1,80})\*\*|__([^_\n]{1,80})__|\\boxed\{([^{}\n]{1,40})\}", re.IGNORECASE)
_MARKUP = re.compile(
    r"\\[A-Za-z]{1,12}|</?[A-Za-z]{2,12}>|[*_`#~|$\\{}\ue000-\ue00f]|^[ \t]{0,3}>(?=\s)", re.MULTILINE
)
_STRUCK = re.compile(r"~~[^~\n]{1,80}~~")
_TILDES = re.compile(r"(?<=[\w%])\s?[~\u301c\u223c\u02dc]\s?(?=[\w%])")
_ENDS = re.compile(r"[.!?](?=\s|$)|[\n\u3002\u0964\u06d4\u061f]")


def answer_in(text: str) -> str:
    """A reply without thoughts and what is struck out, or its beginning and its end if it is long."""
    answer = split(text)[0]
    answer = answer if len(answer) <= HEAD + TAIL else f"{answer[:HEAD]}\n{answer[-TAIL:]}"
    return _TILDES.sub("-", _STRUCK.sub(" ", nfkc(answer)))


def without_markup(text: str) -> str:
    """The text alone."""
    return _MARKUP.sub("", text)


def in_bold(text: str) -> list[str]:
    """The parts of a text in bold or in boxes."""
    return [" ".join(filter(None, parts)) for parts in BOLD.findall(text)]


def places(text: str, kind: str, words: Sequence[Lexicon]) -> Iterator[tuple[int, int]]:
    """Beginnings and ends of the phrases of a kind in a text, as words where words have spaces."""
    for language in words:
        for phrase in language.lists.get(kind, ()):
            end = 0
            while (start := text.find(phrase, end)) >= 0:
                end = start + len(phrase)
                if language.unspaced or _is_word(text, start, end):
                    yield start, end


def _is_word(text: str, start: int, end: int) -> bool:
    """Whether a word begins here, and ends here if it is short."""
    is_inside = start > 0 and _is_letter(text[start - 1]) and _is_letter(text[start])
    return not is_inside and (end - start > SHORT or end == len(text) or not _is_letter(text[end]))


def _is_letter(sign: str) -> bool:
    return sign.isalnum() or "\u0900" <= sign <= "\u0963"


def pattern(words: Sequence[Lexicon], *kinds: str) -> str:
    """A regular expression for the phrases of these kinds, as `places` finds them."""
    return "|".join(language.pattern(kind) for language in words for kind in kinds) or "(?!)"


def begins_with(text: str, words: Sequence[Lexicon], *kinds: str, gap: str = "") -> bool:
    """Whether a text begins with one of these phrases, behind what the pattern `gap` allows."""
    return re.match(f"(?:{gap})(?:{pattern(words, *kinds)})", text) is not None


def ends_with(text: str, words: Sequence[Lexicon], *kinds: str, gap: str) -> bool:
    """Whether a text ends with one of these phrases, before what the pattern `gap` allows."""
    return re.search(f"(?:{pattern(words, *kinds)})(?:{gap})$", text) is not None


class Clauses:
    """The clauses of a folded text, and which of them decline to answer."""

    def __init__(self, text: str, words: Sequence[Lexicon]) -> None:
        self.text, self.words = text, words
        ends = [match.start() for match in _ENDS.finditer(text)]
        # What begins with "but" answers all the same.
        self.ends = sorted([*ends, *(start - 1 for start, _ in places(text, "yet", words))])

    def at(self, position: int) -> int:
        """The index of the clause at this place."""
        return bisect_left(self.ends, position)

    def first(self, kind: str) -> dict[int, int]:
        """Position of the first phrase of this kind, by clause."""
        starts: dict[int, int] = {}
        for position, _ in places(self.text, kind, self.words):
            starts[self.at(position)] = min(position, starts.get(self.at(position), position))
        return starts

    @cached_property
    def declined(self) -> dict[int, int]:
        """Position at which a clause declines to answer, by clause."""
        starts = self.first("declines")
        acts = sorted(position for position, _ in places(self.text, "acts", self.words))
        for position, end in places(self.text, "unable", self.words):
            clause, act = self.at(position), bisect_left(acts, end)
            if act < len(acts) and acts[act] <= end + ACT and self.at(acts[act]) == clause:
                starts[clause] = min(position, starts.get(clause, position))
        return starts

    @cached_property
    def excused(self) -> dict[int, int]:
        """Position at which a clause excuses itself from answering, by clause."""
        return self.first("excuses")

    @property
    def declines(self) -> bool:
        """Whether the text says that it does not answer."""
        return bool(self.declined or self.excused)
