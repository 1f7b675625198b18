"""Divides a reply into sentences and clauses, with the countries that each mentions and affirms. Pure.

A clause is what stands between commas, brackets and words that begin a new thought. Countries and letters are
marks in the text, and indices of options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from equipoise.suites.borderlines.answer_parser import LETTER, MENTIONS, NEUTRAL, OTHER_PLACE, option_indices
from equipoise.suites.borderlines.dataset import LETTERS
from equipoise.suites.borderlines.words import Vocabulary, flatten

_WIDE = r"\u0589\u0964\u104b\u1362\u17d4\u3002\uff01"
"""Full stops of scripts that need no space after them."""
START = rf"(?:^|(?<=[.!?\u061f\u06d4]\s)|(?<=[{_WIDE}\uff1f]))"
END = rf"[\"'\u201d\u00bb]*\s*(?!\.\.|\u2026)(?:$|[.!\n(\u06d4{_WIDE}\u2013\u2014]|-\s)"
"""Patterns of the beginning of a sentence, and of the end of a name that is a sentence by itself."""
_SENTENCE_END = re.compile(rf"(?<=[.!?\u061f\u06d4])\s+|(?<=[{_WIDE}\uff1f])|\n")
_CLAUSE_END = re.compile(
    r"[,;:\u060c\u061b\u055d\u1363-\u1366\u104a\u17d6\u3001\uff0c\uff1b\uff1a()\[\]\u00b7\u2013\u2014]|\s-\s"
)
_HAS_WORD = re.compile(r"[\w\ue000-\ue030]")
_NO_WORD = re.compile(r"\W*")
_QUESTION_MARKS = frozenset("?\uff1f\u061f\u1367")
_QUOTED = re.compile(
    r"\u00ab[^\u00ab\u00bb]*\u00bb|[\u201c\u201e][^\u201c-\u201e]*[\u201c\u201d]"
    r'|\u300c[^\u300c\u300d]*\u300d|\u300e[^\u300e\u300f]*\u300f|"[^"]*"'
)
_LATIN = "A-Za-z0-9\u00c0-\u024f"
_NO_WORD_BEFORE, _NO_WORD_AFTER = rf"(?<![{_LATIN}'-])(?<![{_LATIN}]\.)", rf"(?!\.?[{_LATIN}'])"
_UNMARKED_LETTER = re.compile(
    rf"(?<=\w )([A-G]){_NO_WORD_AFTER}"
    rf"|{_NO_WORD_BEFORE}([A-G]){_NO_WORD_AFTER}(?!\s+[a-z\u00e0-\u024f])"
    rf"|{_NO_WORD_BEFORE}([A-G])(?=(?:\W{{1,3}}[^\W\d_]{{1,6}}){{1,3}}\W{{1,3}}(?:[A-G]{_NO_WORD_AFTER}|{LETTER}))"
)
"""A letter without a bracket or the like; "A dispute" has no such letter, "A and B" has two."""
_SHORT_IN_WORDS, _SHORT_IN_CHARACTERS = 4, 14
"""The longest short clause, in words, or in characters if there are no spaces between words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause of a sentence: its words, the countries and letters in it, and what it does with them.

    `is_denied`: it contains a denial. `is_additive`: it adds a country ("not only"), so that a denial in it
    denies nothing. `is_reported`: it reports a claim, a view or history, or is about a body such as an army.
    `is_conceded`: it is a concession ("although"). `is_factual`: it states facts as opposed to law.
    `is_contrast`: it begins with a contrast ("but").
    """

    text: str
    flat: str
    mentions: frozenset[int]
    letters: frozenset[int]
    is_denied: bool
    is_reported: bool
    is_conceded: bool
    is_factual: bool
    is_contrast: bool
    is_additive: bool

    @property
    def is_doubtful(self) -> bool:
        """Whether it is denied, told or conceded, so that it affirms nothing."""
        return self.is_denied or self.is_reported or self.is_conceded

    @property
    def is_asserted(self) -> bool:
        """Whether it may support the countries in it; a concession may."""
        return self.is_undenied and not self.is_reported

    @property
    def is_undenied(self) -> bool:
        """Whether it denies nothing; it may still be a claim or a concession."""
        return self.is_additive or not self.is_denied

    @property
    def is_short(self) -> bool:
        """Whether it is too short to do more than name a country."""
        words = len(self.flat.split())
        return words <= _SHORT_IN_WORDS and (words > 1 or len(self.flat) <= _SHORT_IN_CHARACTERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """The clauses of a sentence, the countries that it doubts, and the countries and letters that it
    supports.

    `is_clear`: each doubtful clause mentions a country, and each side of a contrast an option. `is_factual`:
    a clause without a country makes the sentence factual ("In practice, ..."). `is_on_topic`: each clause is
    factual or mentions a country.
    """

    clauses: Sequence[Clause]
    doubted: frozenset[int]
    asserted: frozenset[int]
    lettered: frozenset[int]
    is_clear: bool
    is_factual: bool
    is_on_topic: bool

    @property
    def undenied(self) -> frozenset[int]:
        """The countries and letters that it does not deny."""
        return frozenset[int]().union(
            *(clause.mentions | clause.letters for clause in self.clauses if clause.is_undenied)
        )

    def affirms(self, clause: Clause, country: int) -> bool:
        """Whether this clause, and the sentence around it, cast no doubt on the country."""
        return self.is_clear and not clause.is_doubtful and country not in self.doubted

    def is_of_law(self, clause: Clause) -> bool:
        """Whether this clause is more than a statement of facts as opposed to law."""
        return not (self.is_factual or clause.is_factual)


def sentences(text: str, vocabulary: Vocabulary, count: int) -> tuple[list[Sentence], list[Sentence]]:
    """The statements and the questions in a text with marks.

    Quotations are left out, except of a mere option. So are questions about several countries before the
    first statement, which repeat the prompt.
    """
    unquoted = _QUOTED.sub(lambda match: match[0] if _is_only_option(match[0]) else NEUTRAL, text)
    stated: list[Sentence] = []
    questions: list[Sentence] = []
    for sentence in filter(_HAS_WORD.search, _SENTENCE_END.split(unquoted)):
        (questions if _is_question(sentence) else stated).append(_sentence(sentence, vocabulary, count))
        if questions and not stated and len(questions[-1].undenied) > 1:
            questions.pop()
    return stated, questions


def names_only_other_place(text: str) -> bool:
    """Whether a sentence of a text with marks names another place, but not the one asked about."""
    return any(OTHER_PLACE in clause and NEUTRAL not in clause for clause in _SENTENCE_END.split(text))


def letters(text: str, count: int = len(LETTERS)) -> frozenset[int]:
    """The indices of the letters in a text; letters without a mark count only below `count`."""
    bare = {LETTERS.index(letter) for match in _UNMARKED_LETTER.findall(text) for letter in match if letter}
    return frozenset(option_indices(LETTER, text) | {letter for letter in bare if letter < count})


def _is_only_option(quoted: str) -> bool:
    """Whether a quotation consists of names or letters only."""
    return not re.search(r"[^\W\d_]{2}", re.sub(f"{MENTIONS}|{LETTER}", "", quoted))


def _is_question(sentence: str) -> bool:
    """Whether a question mark follows the last word."""
    # Reversed, because a search for the end would take quadratic time.
    ending = _NO_WORD.match(sentence[::-1])
    return ending is not None and not _QUESTION_MARKS.isdisjoint(ending[0])


def _sentence(text: str, vocabulary: Vocabulary, count: int) -> Sentence:
    is_view = vocabulary.reports_view(text)
    split = filter(_HAS_WORD.search, _CLAUSE_END.split(vocabulary.with_clause_breaks(text)))
    clauses = [_clause(clause, vocabulary, count, is_view=is_view) for clause in split]
    doubtful = [clause for clause in clauses if clause.is_doubtful]
    return Sentence(
        clauses=clauses,
        doubted=frozenset[int]().union(
            *(clause.mentions for clause in doubtful if len(clause.mentions) == 1)
        ),
        asserted=frozenset[int]().union(*(clause.mentions for clause in clauses if clause.is_asserted)),
        lettered=frozenset[int]().union(*(clause.letters for clause in clauses)),
        is_clear=all(clause.mentions for clause in doubtful)
        and all(map(_mentions_option, _contrasted(clauses))),
        is_factual=any(clause.is_factual and not clause.mentions for clause in clauses),
        is_on_topic=all(clause.is_factual or clause.mentions for clause in clauses),
    )


def _clause(text: str, vocabulary: Vocabulary, count: int, *, is_view: bool) -> Clause:
    words = flatten(text)
    words_without_apostrophes = flatten(text.replace("'", " "))
    mentions = frozenset(option_indices(MENTIONS, text))
    return Clause(
        text=text,
        flat=words_without_apostrophes,
        mentions=mentions,
        letters=letters(text, count),
        is_denied=vocabulary.has(words, "denials"),
        is_reported=is_view or vocabulary.has(words, "doubts", "bodies", "ours"),
        is_conceded=vocabulary.has(words, "concedes"),
        is_factual=vocabulary.has(words, "facts"),
        is_contrast=vocabulary.contrasts(words),
        is_additive=vocabulary.has(words, "besides"),
    )


def _contrasted(clauses: Sequence[Clause]) -> Iterator[Sequence[Clause]]:
    """The sides of each contrast: the clauses before, between and after words of contrast."""
    starts = [number for number, clause in enumerate(clauses) if clause.is_contrast and number]
    return (clauses[start:end] for start, end in zip([0, *starts], [*starts, len(clauses)], strict=True))


def _mentions_option(side: Sequence[Clause]) -> bool:
    return any(clause.mentions or clause.letters for clause in side)
