"""The words by which answers are read, by language: numbers, what stands around an answer, and refusals.

They are the suite's rubric file, as no evaluator is asked. Texts are compared folded: see `folded`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path

from equipoise.core.types import JSON
from equipoise.core.unicode import nfkc
from equipoise.judge.rubric import Rubric, Scale, reading, take

ENGLISH = "en"
"""The language that models fall back to, whose words are read beside those of the question's."""
_ALIKE = str.maketrans(
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
"""One letter for those that are written alike or for each other; apostrophes and marks of direction go."""
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u093c]")
_SPACES = re.compile(r"[^\S\n]+")


def folded(text: str) -> str:
    """The text in lower case with ASCII digits, without accents and vowel points; lines stay."""
    plain = unicodedata.normalize("NFD", nfkc(text).lower().translate(_ALIKE))
    digits = (str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in _MARKS.sub("", plain))
    return _SPACES.sub(" ", unicodedata.normalize("NFC", "".join(digits)).translate(_ALIKE))


@dataclass(frozen=True, kw_only=True)
class Words:
    """The words of one language, folded. `numbers` has the value of each number from 0 to 100 in words.

    A script that is `unspaced` writes no spaces between words; the other fields are explained in the file.
    """

    numbers: Mapping[str, int]
    unspaced: bool = False
    common: frozenset[str] = frozenset()
    percent: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    out_of: tuple[str, ...] = ()
    range: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    final: tuple[str, ...] = ()
    declines: tuple[str, ...] = ()
    yet: tuple[str, ...] = ()
    denies: tuple[str, ...] = ()
    revises: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    tenths: str = ""
    letters: Mapping[str, int] = field(default_factory=dict)
    ordinals: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def most_words(self) -> int:
        """Of how many words the longest number is."""
        return max(len(number.split()) for number in self.numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRubric(Rubric):
    """The scale of answers, and the words by which they are read, by language."""

    words: Mapping[str, Words]

    def of(self, language: str) -> Sequence[Words]:
        """The words of a language such as pt-BR, those of English, and of others in which a reply may be."""
        own = language.partition("-")[0]
        also = self.words[own].also if own in self.words else ()
        names = dict.fromkeys((own, ENGLISH, *also))
        return [self.words[name] for name in names if name in self.words]


def load(path: Path) -> AnswerRubric:
    """The rubric file. Raises UserError naming file and key."""
    with reading(path) as (data, digest):
        scale = take(data, "scale", dict)
        levels = take(scale, "levels", dict, "scale.")
        languages = {name: part for name, part in data.items() if isinstance(part, dict) and name != "scale"}
        return AnswerRubric(
            version=take(data, "version", str),
            hash=digest,
            scale=Scale(
                low=take(scale, "low", int, "scale."),
                high=take(scale, "high", int, "scale."),
                levels={int(level): str(text) for level, text in levels.items()},
            ),
            words={name: _words(name, part) for name, part in languages.items()},
        )


_LISTS = ("percent", "points", "out_of", "range", "answer", "final", "declines", "yet", "revises")


def _words(name: str, part: Mapping[str, JSON]) -> Words:
    """Raises ValueError naming the key."""
    known = {
        *_LISTS,
        "not",
        "also",
        "tenths",
        "ordinals",
        "unspaced",
        "common",
        "letters",
        "numbers",
        "units",
        "tens",
        "hundred",
        "compound",
    }
    if unknown := sorted(part.keys() - known):
        raise ValueError(f"{name}.{unknown[0]}: there is no such key")
    lists = {key: tuple(_folded(part.get(key, ()))) for key in _LISTS}
    return Words(
        numbers=_numbers(name, part),
        unspaced=part.get("unspaced", False),
        common=frozenset(_folded(part.get("common", ()))),
        denies=tuple(_folded(part.get("not", ()))),
        also=tuple(part.get("also", ())),
        tenths=part.get("tenths", ""),
        letters=_places(part.get("letters", ())),
        ordinals=_places(part.get("ordinals", ())),
        **lists,
    )


def _numbers(name: str, part: Mapping[str, JSON]) -> dict[str, int]:
    """Every spelling of the numbers from 0 to 100, folded, with hyphens as spaces."""
    if "numbers" in part:
        rows = [_forms(forms) for forms in part["numbers"]]
        if len(rows) != 101:
            raise ValueError(f"{name}.numbers: has {len(rows)}, not the 101 from 0 to 100")
        return {form: value for value, forms in enumerate(rows) for form in forms}
    units, tens = ([_forms(forms) for forms in take(dict(part), key, list)] for key in ("units", "tens"))
    if (len(units), len(tens)) != (20, 8):
        raise ValueError(f"{name}: needs 20 units, 0 to 19, and 8 tens, 20 to 90")
    found = {form: value for value, forms in enumerate(units) for form in forms}
    found |= {form: 10 * value for value, forms in enumerate(tens, 2) for form in forms}
    for ten, unit in product(range(2, 10), range(1, 10)):
        for template, tens_form, unit_form in product(part["compound"], tens[ten - 2], units[unit]):
            compound = template.replace("{tens}", tens_form).replace("{unit}", unit_form)
            found.setdefault(folded(compound), 10 * ten + unit)
    return found | dict.fromkeys(_forms(part["hundred"]), 100)


def _places(listed: Sequence[str]) -> dict[str, int]:
    """The index of each spelling."""
    return {form: place for place, forms in enumerate(listed) for form in _forms(forms)}


def _forms(forms: str) -> list[str]:
    return [" ".join(folded(form).replace("-", " ").split()) for form in forms.split("|")]


def _folded(texts: Iterable[str]) -> Iterator[str]:
    # The longest first, so that what begins alike is taken whole.
    yield from sorted((folded(text).strip() for text in texts), key=len, reverse=True)
