"""Reads the rubric file: the words by which answers are read, for each language.

They are numbers in words, phrases around an answer, and phrases of refusals. All are folded; see `folded`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path

from equipoise.core.types import JSON
from equipoise.core.unicode import nfkc
from equipoise.judge.rubric import Rubric, reading, scale_of, take

ENGLISH = "en"
"""The language to which models fall back; its words are used in addition to the question's language."""
_INTERCHANGEABLE = str.maketrans(
    {
        "\u0131": "i",
        **dict.fromkeys("\u0623\u0625\u0622\u0671", "\u0627"),
        **dict.fromkeys("\u0649\u06cc", "\u064a"),
        "\u06a9": "\u0643",
        **dict.fromkeys("\u06c1\u06be\u0629", "\u0647"),
        **dict.fromkeys(
            "'\u2018\u2019\u201b\u02bb\u02bc\u0060\u00b4\u05f3\u0640\u200b\u200c\u200d\u200e\u200f"
        ),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u05be", "-"),
        "\u066a": "%",
        "\u066b": ".",
        "\u2044": "/",
        "\u0901": "\u0902",
    }
)
"""Maps interchangeable characters to one of them, and removes apostrophes and direction marks."""
LETTER = r"[\w\u0900-\u0963]"
"""The character class of a word's characters; `re` does not count Devanagari's vowel signs among them."""
SHORT_PHRASE = 3
"""A phrase of up to so many characters must be a whole word; a longer one may be the beginning of a word."""
_WORD_START = re.compile(LETTER)
_DIACRITICS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u093c]")
_SPACES = re.compile(r"[^\S\n]+")


def folded(text: str) -> str:
    """The text in lower case with ASCII digits, without accents and vowel points; line breaks stay."""
    # Lower case again, because normalisation may yield capitals.
    return unaccented(text.lower()).lower()


def unaccented(text: str) -> str:
    """The text with ASCII digits, without accents and vowel points, in its original case."""
    plain = unicodedata.normalize("NFD", nfkc(text).translate(_INTERCHANGEABLE))
    bare = _DIACRITICS.sub("", plain)
    digits = (str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in bare)
    # Recomposed letters may again be interchangeable.
    return _SPACES.sub(" ", unicodedata.normalize("NFC", "".join(digits)).translate(_INTERCHANGEABLE))


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """The words of one language, folded. `numbers` has the value of each number from 0 to 100 in words.

    `unspaced`: the script has no spaces between words. `foreign`: the words of other languages than the
    question's and English, of which only `numbers` are used. `lists` has the phrases of each kind; the rubric
    file explains the kinds, `common`, `letters` and `ordinals`.
    """

    numbers: Mapping[str, int]
    unspaced: bool = False
    foreign: bool = False
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    common: frozenset[str] = frozenset()
    letters: Mapping[str, int] = field(default_factory=dict)
    ordinals: Sequence[Sequence[str]] = ()

    def pattern(self, kind: str) -> str:
        """A regular expression that matches phrases of a kind; it matches nothing if there are none."""
        return self._patterns.get(kind) or "(?!)"

    @cached_property
    def _patterns(self) -> Mapping[str, str]:
        return {kind: "|".join(map(self._pattern, phrases)) for kind, phrases in self.lists.items()}

    def _pattern(self, phrase: str) -> str:
        begins = "" if self.unspaced or not _WORD_START.match(phrase) else f"(?<!{LETTER})"
        ends = "" if self.unspaced or len(phrase) > SHORT_PHRASE else f"(?!{LETTER})"
        return f"{begins}{re.escape(phrase)}{ends}"

    @cached_property
    def first_words(self) -> frozenset[str]:
        """The first words of all numbers."""
        return frozenset(number.split()[0] for number in self.numbers)

    @cached_property
    def signs(self) -> str:
        """The characters that occur in numbers."""
        return "".join(sorted({sign for number in self.numbers for sign in number}))

    @cached_property
    def most_words(self) -> int:
        """The word count of the longest number."""
        return max(len(number.split()) for number in self.numbers)


@dataclass(frozen=True, kw_only=True)
class AnswerRubric(Rubric):
    """The scale of answers, and the words used to read them, by language."""

    words: Mapping[str, Lexicon]

    def of(self, language: str) -> Sequence[Lexicon]:
        """The words of a language such as pt-BR, those of English, and the numbers of all other languages."""
        names = dict.fromkeys((language.partition("-")[0], ENGLISH))
        return [*(self.words[name] for name in names if name in self.words), *self._foreign]

    @cached_property
    def _foreign(self) -> Sequence[Lexicon]:
        """The number words that have the same value in every language in which they occur.

        Words of one or two letters and common words are left out: they are too ambiguous.
        """
        spaced = [item for item in self.words.values() if not item.unspaced]
        values = {(word, value) for item in spaced for word, value in item.numbers.items() if len(word) > 2}
        counts = Counter(word for word, _ in values)
        common = {word for item in spaced for word in item.common}
        unique = {word: value for word, value in values if counts[word] == 1 and word not in common}
        unspaced = [item for item in self.words.values() if item.unspaced]
        numbers = [(unique, False), *((item.numbers, True) for item in unspaced)]
        return [Lexicon(numbers=words, unspaced=is_unspaced, foreign=True) for words, is_unspaced in numbers]


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
            words={name: _lexicon(name, table) for name, table in languages.items()},
        )


LISTS = (
    "percent",
    "points",
    "out_of",
    "range",
    "either",
    "answer",
    "label",
    "final",
    "rather",
    "scrap",
    "earlier",
    "denies",
    "denies_after",
    "bound",
    "bound_after",
    "certain",
    "counts",
    "means",
    "after",
    "declines",
    "unable",
    "acts",
    "excuses",
    "yet",
    "nouns",
)
"""The keys of lists of phrases; the rubric file explains them."""
_NUMBER_KEYS = {"numbers", "units", "tens", "hundred", "compound"}


def _lexicon(name: str, table: Mapping[str, JSON]) -> Lexicon:
    """The words in the table of one language. Raises ValueError naming the key."""
    known = {*LISTS, *_NUMBER_KEYS, "unspaced", "common", "letters", "ordinals"}
    if unknown := sorted(table.keys() - known):
        raise ValueError(f"{name}.{unknown[0]}: there is no such key")
    letters = {
        spelling: index
        for index, spellings in enumerate(table.get("letters", ()))
        for spelling in _spellings(spellings)
    }
    lists = {key: tuple(_folded_phrases(table.get(key, ()))) for key in LISTS}
    # Phrases for "out of 100" are also used with other numbers.
    out_of_100 = [phrase for phrase in lists["out_of"] if "100" in phrase]
    lists["scale"] = tuple(_folded_phrases(phrase.replace("100", "") for phrase in out_of_100))
    return Lexicon(
        numbers=_numbers(name, table),
        unspaced=table.get("unspaced", False),
        lists=lists,
        common=frozenset(_folded_phrases(table.get("common", ()))),
        letters=letters,
        ordinals=[[folded(form) for form in forms.split("|")] for forms in table.get("ordinals", ())],
    )


def _numbers(name: str, table: Mapping[str, JSON]) -> dict[str, int]:
    """Every spelling of the numbers from 0 to 100, folded, with hyphens as spaces."""
    if "numbers" in table:
        rows = [_spellings(forms) for forms in table["numbers"]]
        if len(rows) != 101:
            raise ValueError(f"{name}.numbers: has {len(rows)}, not the 101 from 0 to 100")
        return {form: value for value, forms in enumerate(rows) for form in forms}
    units, tens = ([_spellings(forms) for forms in take(dict(table), key, list)] for key in ("units", "tens"))
    if (len(units), len(tens)) != (20, 8):
        raise ValueError(f"{name}: needs 20 units, 0 to 19, and 8 tens, 20 to 90")
    numbers = {form: value for value, forms in enumerate(units) for form in forms}
    numbers |= {form: 10 * value for value, forms in enumerate(tens, 2) for form in forms}
    for ten, unit in product(range(2, 10), range(1, 10)):
        for template, tens_form, unit_form in product(table["compound"], tens[ten - 2], units[unit]):
            compound = template.replace("{tens}", tens_form).replace("{unit}", unit_form)
            numbers.setdefault(folded(compound), 10 * ten + unit)
    return numbers | dict.fromkeys(_spellings(table["hundred"]), 100)


def _spellings(forms: str) -> list[str]:
    """The spellings of a number or letter, which the file separates by `|`."""
    return [" ".join(folded(form).replace("-", " ").split()) for form in forms.split("|")]


def _folded_phrases(texts: Iterable[str]) -> Iterator[str]:
    """The phrases, the longest first, so that a phrase takes precedence over its own beginning."""
    yield from sorted((folded(text).strip() for text in texts), key=len, reverse=True)
