"""Checks of the wording of stance pairs by the rules in `wording.toml` beside the tables.

The rules are the dataset's own; one without the file has none.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import read_text
from equipoise.core.types import JSON
from equipoise.suites.selection import WORDING

STEM = "*"
"""Mark at the end of a word for any word that begins like this."""
_LETTER = r"[^\W\u2e80-\U0003ffff]"
"""A letter or digit, other than of the scripts that put no blanks between words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Rules by language.

    `avoid` has words that no stance may have, each with what is wrong with it; `both` named lists of words,
    which stand on both sides of a pair as often or on neither; `clash` two words each, which may not face
    each other: one would be the weaker.
    """

    avoid: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    both: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    clash: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)

    def faults(self, language: str, stances: Sequence[str]) -> Iterator[str]:
        """Faults of the two stances of a pair, each in a sentence."""
        folded = [stance.casefold() for stance in stances]
        for word, what in self.avoid.get(language, {}).items():
            if any(_count(word, text) for text in folded):
                yield f"a stance has {word!r}: {what}"
        for name, words in self.both.get(language, {}).items():
            if len({sum(_count(word, text) for word in words) for text in folded}) > 1:
                yield f"{name} stand more often on one side, as {_first(words, folded)!r}; make both alike"
        for weak, strong in self.clash.get(language, ()):
            if _faces(weak, strong, folded):
                yield f"one stance has {weak!r} where the other has {strong!r}; make both as strong"


def read(topics: Path) -> Wording:
    """The rules of a dataset. Raises UserError."""
    path = topics / WORDING
    if not path.is_file():
        return Wording()
    try:
        data = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not valid TOML: {error}") from None
    for name, table in data.items():
        if name not in _FORMS:
            raise UserError(f"{path}: has {name!r}; there may be tables {', '.join(_FORMS)}")
        form, needed = _FORMS[name]
        if not isinstance(table, dict) or not all(form(rules) for rules in table.values()):
            raise UserError(f"{path}: {name} needs, by language, {needed}")
    return Wording(**data)


def _are_words(value: JSON) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) and word.strip(STEM) for word in value)


def _are_avoided(rules: JSON) -> bool:
    return isinstance(rules, dict) and _are_words([*rules]) and _are_words([*rules.values()])


def _are_lists(rules: JSON) -> bool:
    return isinstance(rules, dict) and all(_are_words(words) for words in rules.values())


def _are_pairs(rules: JSON) -> bool:
    return isinstance(rules, list) and all(_are_words(words) and len(words) == 2 for words in rules)


_FORMS = {
    "avoid": (_are_avoided, "words and what is wrong with each"),
    "both": (_are_lists, "lists of words, each with its name"),
    "clash": (_are_pairs, "a list of two words each"),
}


def _first(words: Sequence[str], texts: Sequence[str]) -> str:
    return next(word for word in words if any(_count(word, text) for text in texts))


def _faces(weak: str, strong: str, texts: Sequence[str]) -> bool:
    (a_weak, a_strong), (b_weak, b_strong) = ((_count(weak, text), _count(strong, text)) for text in texts)
    return bool((a_weak and b_strong and not b_weak) or (b_weak and a_strong and not a_weak))


def _count(word: str, text: str) -> int:
    """How often the word is in a casefolded text, whole where its script has blanks."""
    stem = word.removesuffix(STEM).casefold()
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, stem) else ""
    is_whole = not word.endswith(STEM) and re.match(_LETTER, stem[-1:])
    return len(re.findall(before + re.escape(stem) + (rf"(?!{_LETTER})" if is_whole else ""), text))
