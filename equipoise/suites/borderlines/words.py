"""The rubric's words for reading a reply, by language, and the search for them in a text. Pure.

Countries in a text are marks, single characters from `answer_parser`. A flat text has its words in lower
case, each between single spaces. A clause is a part of a sentence, as `sentences` divides it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias, get_args

from equipoise.suites.borderlines.answer_parser import MENTIONS, NAMES, NEUTRAL, UNSPACED, option_indices

ANY, COUNTRY, FURTHER = "*", "{}", ".."
"""Placeholders in phrases: for any characters of a word, for the country, and for up to two words."""
GAP = r"[^\w\ue000-\ue030]*"
"""Pattern of any characters between words and marks."""
PhraseKind: TypeAlias = Literal["belongs", "holds", "links"]
"""The kinds of phrases about a country."""
WordKind: TypeAlias = Literal[
    "certain",
    "denials",
    "doubts",
    "bodies",
    "withheld",
    "ours",
    "turns",
    "contrasts",
    "concedes",
    "facts",
    "instead",
    "besides",
    "sides",
    "contrary",
    "answers",
    PhraseKind,
]
"""The kinds of words, which are the tables of the rubric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of a language that show what a reply does with a name.

    - `certain`: phrases that only look like a denial.
    - `denials`, `doubts`, `bodies` (an army is not its country): a clause with one of them affirms nothing.
    - `withheld`: the reply gives no answer. `ours`: a country without its name ("our country").
    - `turns`, `contrasts` ("but"), `concedes` ("although"): they begin a new clause, except that one of
      `concedes` that begins with `..` ends its clause. A concession does not decide.
    - `facts`: the clause states facts as opposed to law, and does not decide.
    - `instead`: it precedes the right country after a denied one ("not Chile but Peru").
    - `besides`: it adds a country to the one before ("not only").
    - `sides`: before a capitalised name, it begins a sentence that reports a view ("for Lima").
    - `contrary`: it takes the answer back.
    - `belongs`, `holds`, `links`: phrases that say who owns the territory, who holds it, or less than that.
    - `answers`: it says that something is the answer.

    A `*` at either end of a word matches any characters there, a `..` in a phrase up to two words.
    """

    certain: Sequence[str] = ()
    denials: Sequence[str] = ()
    doubts: Sequence[str] = ()
    bodies: Sequence[str] = ()
    withheld: Sequence[str] = ()
    ours: Sequence[str] = ()
    turns: Sequence[str] = ()
    contrasts: Sequence[str] = ()
    concedes: Sequence[str] = ()
    facts: Sequence[str] = ()
    instead: Sequence[str] = ()
    besides: Sequence[str] = ()
    sides: Sequence[str] = ()
    contrary: Sequence[str] = ()
    belongs: Sequence[str] = ()
    holds: Sequence[str] = ()
    links: Sequence[str] = ()
    answers: Sequence[str] = ()


PHRASES: tuple[PhraseKind, ...] = get_args(PhraseKind)
KINDS: tuple[WordKind, ...] = get_args(WordKind)
ByLanguage = Sequence[tuple[str, Words]]
"""Languages, each with its words."""


class Vocabulary:
    """The words of all languages that a reply may be in, as patterns."""

    def __init__(self, words: ByLanguage) -> None:
        self._words = [(item, language in UNSPACED) for language, item in words]
        self._anywhere = {kind: self._patterns(kind, _pattern_anywhere) for kind in KINDS}
        self._phrases = {kind: self._patterns(kind, _phrases) for kind in PHRASES}
        self._clause_starts = [
            _unflattened_pattern(
                (*item.instead, *item.turns, *item.contrasts, *_clause_openers(item)), is_unspaced
            )
            for item, is_unspaced in self._words
        ]
        self._contrasts = self._patterns("contrasts", _pattern_at_start)
        self._instead = self._patterns("instead", _instead_pattern)
        self._sides = [_view_pattern(tuple(item.sides)) for item, _ in self._words if item.sides]

    def _patterns(
        self, kind: WordKind, of: Callable[[tuple[str, ...], bool], re.Pattern[str]]
    ) -> list[re.Pattern[str]]:
        listed = ((tuple(getattr(item, kind)), is_unspaced) for item, is_unspaced in self._words)
        return [of(words, is_unspaced) for words, is_unspaced in listed if words]

    def has(self, flat: str, *kinds: WordKind) -> bool:
        """Whether a flat text contains a word of one of these kinds; as a substring in unspaced scripts."""
        return any(pattern.search(flat) for kind in kinds for pattern in self._anywhere[kind])

    def without_apparent_denials(self, text: str) -> str:
        """The text, not flat, without the phrases that only look like a denial ("without doubt")."""
        for item, is_unspaced in self._words:
            text = (
                _unflattened_pattern(tuple(item.certain), is_unspaced).sub("", text) if item.certain else text
            )
        return text

    def with_clause_breaks(self, sentence: str) -> str:
        """The sentence, not flat, with a comma before each word that begins a new clause."""
        for pattern in self._clause_starts:
            sentence = pattern.sub(lambda match: f",{match[0].replace(',', '')}", sentence)
        return sentence

    def contrasts(self, flat: str) -> bool:
        """Whether a flat text begins with a word of contrast."""
        return any(pattern.match(flat) for pattern in self._contrasts)

    def replacement(self, flat: str) -> set[int]:
        """The countries after a word of `instead`, if a flat text consists of little more than these two."""
        matches = (pattern.fullmatch(flat) for pattern in self._instead)
        return {country for match in matches if match for country in option_indices(MENTIONS, match[0])}

    def reports_view(self, sentence: str) -> bool:
        """Whether the sentence begins by saying whose view it reports: "For Lima it is Peruvian"."""
        firsts = (pattern.match(sentence) for pattern in self._sides)
        return any(first and (first[1].isupper() or re.match(MENTIONS, first[1])) for first in firsts)

    def countries(self, flat: str, *kinds: PhraseKind) -> set[int]:
        """The countries that a flat text names or hints at in phrases of these kinds."""
        return option_indices(MENTIONS, self._in_phrases(flat, kinds))

    def named(self, flat: str, kind: PhraseKind) -> set[int]:
        """The countries named in such phrases of a flat text; empty if these also hint at another country."""
        phrases = self._in_phrases(flat, (kind,))
        names = option_indices(NAMES, phrases)
        return names if names == option_indices(MENTIONS, phrases) else set()

    def _in_phrases(self, flat: str, kinds: Sequence[PhraseKind]) -> str:
        """All phrases of these kinds in a flat text."""
        patterns = (pattern for kind in kinds for pattern in self._phrases[kind])
        return " ".join(match[0] for pattern in patterns for match in pattern.finditer(flat))


def flatten(text: str) -> str:
    """The flat text: its words in lower case, each between single spaces, also at both ends."""
    words = (word.strip("'") for word in _lower_words(text).split())
    return f" {' '.join(filter(None, words))} "


def _lower_words(text: str) -> str:
    """The text in lower case, with a single space in place of anything but letters, digits and apostrophes.

    Letters include diacritics, and the marks of countries.
    """
    return " ".join("".join(map(_letter_or_space, text.casefold())).split())


@cache
def _letter_or_space(letter: str) -> str:
    is_kept = unicodedata.category(letter)[0] in "LMN" or letter == "'" or "\ue000" <= letter <= "\ue030"
    return letter if is_kept else " "


# Patterns.


def _clause_openers(words: Words) -> Iterator[str]:
    """The words of concession that begin a clause."""
    return (word for word in words.concedes if not word.startswith(FURTHER))


@cache
def _unflattened_pattern(words: tuple[str, ...], is_unspaced: bool) -> re.Pattern[str]:
    """The pattern of any of the words in a text that is not flat."""
    if not words:
        return re.compile(r"(?!)")
    either = "|".join(re.escape(word).replace(r"\*", r"\w*") for word in words)
    return re.compile(either if is_unspaced else rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)


@cache
def _pattern_anywhere(words: tuple[str, ...], is_unspaced: bool) -> re.Pattern[str]:
    return re.compile("|".join(_word_pattern(word.removeprefix(FURTHER), is_unspaced) for word in words))


@cache
def _pattern_at_start(words: tuple[str, ...], is_unspaced: bool) -> re.Pattern[str]:
    return re.compile(
        "|".join((" ?" if is_unspaced else "") + _word_pattern(word, is_unspaced) for word in words)
    )


def _word_pattern(word: str, is_unspaced: bool) -> str:
    """The pattern of one or more words in a flat text, with any beginning or ending in place of a star."""
    if is_unspaced:
        return re.escape(_lower_words(word))
    parts = (
        (r"\S*" if part.startswith(ANY) else "")
        + re.escape(_lower_words(part))
        + (r"\S*" if part.endswith(ANY) else "")
        for part in word.split()
    )
    return f" {' '.join(parts)} "


@cache
def _view_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """The pattern of one of the words and, as a group, the first character of the next word."""
    return re.compile(rf"{GAP}(?:{'|'.join(map(re.escape, words))})\s+(.)", re.IGNORECASE)


@cache
def _phrases(phrases: tuple[str, ...], is_unspaced: bool) -> re.Pattern[str]:
    return re.compile("|".join(map(_unspaced_phrase_pattern if is_unspaced else _phrase_pattern, phrases)))


def _unspaced_phrase_pattern(phrase: str) -> str:
    before, after = (
        [re.escape(_lower_words(part)) for part in text.split(FURTHER)] for text in phrase.split(COUNTRY)
    )
    between = r"[^\ue000-\ue030]{0,10}"
    return f"{between.join(before)} ?{MENTIONS} ?{between.join(after)}"


def _phrase_pattern(phrase: str) -> str:
    pattern = ""
    for part in phrase.replace("'", " ").replace(COUNTRY, f" {COUNTRY} ").split():
        if part == FURTHER:
            pattern += rf"(?:[^\s\ue000-\ue030]+ |{NEUTRAL} ?){{0,2}}"
        elif part == COUNTRY:
            pattern += rf"[^\W\d_]{{0,3}} ?{MENTIONS} ?"
        else:
            pattern += re.escape(_lower_words(part)) + (r"\S*" if part.endswith(ANY) else "") + " "
    return f"(?<!\\S){pattern.rstrip(' ?')}"


@cache
def _instead_pattern(words: tuple[str, ...], is_unspaced: bool) -> re.Pattern[str]:
    """The pattern of a flat text that consists of one of the words, a country after it, and little more."""
    either = "|".join(re.escape(_lower_words(word)) for word in words)
    if is_unspaced:
        return re.compile(rf" ?(?:{either})[^\ue000-\ue030]{{0,4}}{MENTIONS}[^\ue000-\ue030]{{0,6}}")
    return re.compile(rf" (?:{either}) (?:\w{{1,5}} ){{0,2}}[^\W\d_]{{0,3}}{MENTIONS}[^\W\d_]*(?: \w+)? ")
