"""The sentences of a reply and their parts: the countries that each mentions and affirms. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from equipoise.suites.borderlines.answer_parser import LETTER, MENTIONS, NEUTRAL, OTHER_PLACE, option_indices
from equipoise.suites.borderlines.dataset import LETTERS
from equipoise.suites.borderlines.words import Vocabulary, flat

_WIDE = r"\u0589\u0964\u104b\u1362\u17d4\u3002\uff01"
"""Full stops of scripts that need no space after them."""
START = rf"(?:^|(?<=[.!?\u061f\u06d4]\s)|(?<=[{_WIDE}\uff1f]))"
END = rf"[\"'\u201d\u00bb]*\s*(?!\.\.|\u2026)(?:$|[.!\n(\u06d4{_WIDE}\u2013\u2014]|-\s)"
"""Patterns of the beginning of a sentence, and of the end of a name that is a sentence by itself."""
_SENTENCE_END = re.compile(rf"(?<=[.!?\u061f\u06d4])\s+|(?<=[{_WIDE}\uff1f])|\n")
_PART_END = re.compile(
    r"[,;:\u060c\u061b\u055d\u1363-\u1366\u104a\u17d6\u3001\uff0c\uff1b\uff1a()\[\]\u00b7\u2013\u2014]|\s-\s"
)
_SAYS = re.compile(r"[\w\ue000-\ue030]")
_NO_WORD = re.compile(r"\W*")
_QUESTION_MARKS = frozenset("?\uff1f\u061f\u1367")
_QUOTED = re.compile(
    r"\u00ab[^\u00ab\u00bb]*\u00bb|[\u201c\u201e][^\u201c-\u201e]*[\u201c\u201d]"
    r'|\u300c[^\u300c\u300d]*\u300d|\u300e[^\u300e\u300f]*\u300f|"[^"]*"'
)
_LATIN = "A-Za-z0-9\u00c0-\u024f"
_NO_WORD_BEFORE, _NO_WORD_BEHIND = rf"(?<![{_LATIN}'-])(?<![{_LATIN}]\.)", rf"(?!\.?[{_LATIN}'])"
_BARE = re.compile(
    rf"(?<=\w )([A-G]){_NO_WORD_BEHIND}"
    rf"|{_NO_WORD_BEFORE}([A-G]){_NO_WORD_BEHIND}(?!\s+[a-z\u00e0-\u024f])"
    rf"|{_NO_WORD_BEFORE}([A-G])(?=(?:\W{{1,3}}[^\W\d_]{{1,6}}){{1,3}}\W{{1,3}}(?:[A-G]{_NO_WORD_BEHIND}|{LETTER}))"
)
"""A letter without a bracket or the like; "A dispute" has none, "A and B" has two."""
_FEW_WORDS, _FEW_LETTERS = 4, 14
"""The length of a short part, in words, or in characters without spaces between words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A part of a sentence: its words, the countries and letters in it, and what it does with them.

    `is_denied`: it contains a denial; one that `adds` ("not only") denies nothing. `is_told`: it reports a
    claim, a view or history, or is about a body such as an army. `is_conceded`: it is a concession
    ("although"). `is_factual`: it states facts as opposed to law. `is_contrast`: it begins with a contrast
    ("but").
    """

    text: str
    flat: str
    mentions: frozenset[int]
    letters: frozenset[int]
    is_denied: bool
    is_told: bool
    is_conceded: bool
    is_factual: bool
    is_contrast: bool
    adds: bool

    @property
    def is_doubtful(self) -> bool:
        """Whether it is denied, told or conceded, so that it affirms nothing."""
        return self.is_denied or self.is_told or self.is_conceded

    @property
    def is_asserted(self) -> bool:
        """Whether it may support the countries in it, even if only as a concession."""
        return self.is_given and not self.is_told

    @property
    def is_given(self) -> bool:
        """Whether its letters are given by the reply, even if only as a claim."""
        return self.adds or not self.is_denied

    @property
    def is_short(self) -> bool:
        """Whether it is too short to do more than name a country."""
        words = len(self.flat.split())
        return words <= _FEW_WORDS and (words > 1 or len(self.flat) <= _FEW_LETTERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """The parts of a sentence, the countries that it casts doubt on, and those that it supports.

    `is_clear`: each doubtful part, and each side of a contrast, mentions its country. `is_factual`: a part
    without a country makes the whole sentence factual ("In practice, ..."). `is_whole`: each part is factual
    or mentions a country.
    """

    parts: Sequence[Clause]
    doubted: frozenset[int]
    asserted: frozenset[int]
    lettered: frozenset[int]
    is_clear: bool
    is_factual: bool
    is_whole: bool

    @property
    def given(self) -> frozenset[int]:
        """The countries and letters that it does not deny."""
        return frozenset[int]().union(*(part.mentions | part.letters for part in self.parts if part.is_given))

    def affirms(self, part: Clause, country: int) -> bool:
        """Whether this part, and the sentence around it, cast no doubt on the country."""
        return self.is_clear and not part.is_doubtful and country not in self.doubted

    def is_of_law(self, part: Clause) -> bool:
        """Whether this part is more than a statement of facts as opposed to law."""
        return not (self.is_factual or part.is_factual)


def sentences(text: str, vocabulary: Vocabulary, count: int) -> tuple[list[Sentence], list[Sentence]]:
    """The statements and the questions in a text with marks; quotations are left out.

    A question about several countries before the first statement repeats the prompt, and is left out.
    """
    own = _QUOTED.sub(lambda match: match[0] if _is_bare(match[0]) else NEUTRAL, text)
    stated: list[Sentence] = []
    questions: list[Sentence] = []
    for sentence in filter(_SAYS.search, _SENTENCE_END.split(own)):
        (questions if _asks(sentence) else stated).append(_sentence(sentence, vocabulary, count))
        if questions and not stated and len(questions[-1].given) > 1:
            questions.pop()
    return stated, questions


def strays(text: str) -> bool:
    """Whether a sentence of a text with marks names another place, but not the one asked about."""
    return any(OTHER_PLACE in part and NEUTRAL not in part for part in _SENTENCE_END.split(text))


def letters(text: str, count: int = len(LETTERS)) -> frozenset[int]:
    """The indices of the letters in a text; letters without a mark count only below `count`."""
    bare = {LETTERS.index(letter) for match in _BARE.findall(text) for letter in match if letter}
    return frozenset(option_indices(LETTER, text) | {letter for letter in bare if letter < count})


def _is_bare(quoted: str) -> bool:
    """Whether the quotation consists of just a name or a letter."""
    return not re.search(r"[^\W\d_]{2}", re.sub(f"{MENTIONS}|{LETTER}", "", quoted))


def _asks(sentence: str) -> bool:
    """Whether a question mark follows the last word."""
    behind = _NO_WORD.match(sentence[::-1])
    return behind is not None and not _QUESTION_MARKS.isdisjoint(behind[0])


def _sentence(text: str, vocabulary: Vocabulary, count: int) -> Sentence:
    is_view = vocabulary.tells_a_view(text)
    split = filter(_SAYS.search, _PART_END.split(vocabulary.turned(text)))
    parts = [_part(part, vocabulary, count, is_view=is_view) for part in split]
    doubtful = [part for part in parts if part.is_doubtful]
    return Sentence(
        parts=parts,
        doubted=frozenset[int]().union(*(part.mentions for part in doubtful if len(part.mentions) == 1)),
        asserted=frozenset[int]().union(*(part.mentions for part in parts if part.is_asserted)),
        lettered=frozenset[int]().union(*(part.letters for part in parts)),
        is_clear=all(part.mentions for part in doubtful) and all(map(_speaks, _sides(parts))),
        is_factual=any(part.is_factual and not part.mentions for part in parts),
        is_whole=all(part.is_factual or part.mentions for part in parts),
    )


def _part(text: str, vocabulary: Vocabulary, count: int, *, is_view: bool) -> Clause:
    words = flat(text)
    loose = flat(text.replace("'", " "))
    mentions = frozenset(option_indices(MENTIONS, text))
    return Clause(
        text=text,
        flat=loose,
        mentions=mentions,
        letters=letters(text, count),
        is_denied=vocabulary.has(words, "denials"),
        is_told=is_view or vocabulary.has(words, "doubts", "bodies", "ours"),
        is_conceded=vocabulary.has(words, "concedes"),
        is_factual=vocabulary.has(words, "facts"),
        is_contrast=vocabulary.contrasts(words),
        adds=vocabulary.has(words, "besides"),
    )


def _sides(parts: Sequence[Clause]) -> Iterator[Sequence[Clause]]:
    """The parts of a sentence between its words of contrast."""
    starts = [number for number, part in enumerate(parts) if part.is_contrast and number]
    return (parts[start:end] for start, end in zip([0, *starts], [*starts, len(parts)], strict=True))


def _speaks(side: Sequence[Clause]) -> bool:
    return any(part.mentions or part.letters for part in side)
