"""Checks of the wording of stance pairs by the rules in the dataset's `wording.toml`, if there is one."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core import toml_text
from equipoise.core.errors import UserError
from equipoise.core.files import read_text
from equipoise.core.types import JSON

STEM_MARK = "*"
"""A word with this mark at its end matches all words that begin with it."""
_LETTER = r"[^\W\u2e80-\U0003ffff]"
"""A letter or digit below U+2E80, which leaves out Chinese, Japanese and Korean.

Their words are matched anywhere, since nothing separates them from the next ones.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairWording:
    """The rules of a dataset, by language.

    `avoid` maps words that no stance may contain to what is wrong with them. `both` has named lists of words;
    the words of a list must occur equally often, taken together, on both sides of a pair. `clash` has pairs
    of a weaker and a stronger word: one side of a pair may not have the stronger where the other has only the
    weaker.
    """

    avoid: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    both: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    clash: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)

    def faults(self, language: str, stances: Sequence[str]) -> Iterator[str]:
        """The faults of the two stances of a pair, each in a sentence."""
        folded = [stance.casefold() for stance in stances]
        for word, objection in self.avoid.get(language, {}).items():
            if any(_count(word, text) for text in folded):
                yield f"a stance has {word!r}: {objection}"
        for name, words in self.both.get(language, {}).items():
            if len({sum(_count(word, text) for word in words) for text in folded}) > 1:
                yield f"{name} stand more often on one side, as {_example(words, folded)!r}; make both alike"
        for weak, strong in self.clash.get(language, ()):
            if _are_opposed(weak, strong, folded):
                yield f"one stance has {weak!r} where the other has {strong!r}; make both as strong"


def read(path: Path) -> PairWording:
    """The rules of a file; none if it is missing. Raises UserError."""
    if not path.is_file():
        return PairWording()
    try:
        data = toml_text.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not valid TOML: {error}") from None
    for name, table in data.items():
        if name not in _TABLES:
            raise UserError(f"{path}: has {name!r}; there may be tables {', '.join(_TABLES)}")
        is_valid, content = _TABLES[name]
        if not isinstance(table, dict) or not all(is_valid(rules) for rules in table.values()):
            raise UserError(f"{path}: {name} needs, by language, {content}")
    return PairWording(**data)


def _are_words(value: JSON) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) and word.strip(STEM_MARK) for word in value)


def _are_avoided(rules: JSON) -> bool:
    return isinstance(rules, dict) and _are_words([*rules]) and _are_words([*rules.values()])


def _are_lists(rules: JSON) -> bool:
    return isinstance(rules, dict) and all(_are_words(words) for words in rules.values())


def _are_pairs(rules: JSON) -> bool:
    return isinstance(rules, list) and all(_are_words(words) and len(words) == 2 for words in rules)


_TABLES = {
    "avoid": (_are_avoided, "words and what is wrong with each"),
    "both": (_are_lists, "lists of words, each with its name"),
    "clash": (_are_pairs, "a list of two words each"),
}
"""The tables of the file: how the rules of a language are checked, and their content in words."""


def _example(words: Sequence[str], texts: Sequence[str]) -> str:
    """The first word that does not occur equally often in all texts."""
    return next(word for word in words if len({_count(word, text) for text in texts}) > 1)


def _are_opposed(weak: str, strong: str, texts: Sequence[str]) -> bool:
    """Whether one text has the weak word, and the other the strong word without the weak one."""
    (a_weak, a_strong), (b_weak, b_strong) = ((_count(weak, text), _count(strong, text)) for text in texts)
    return bool((a_weak and b_strong and not b_weak) or (b_weak and a_strong and not a_weak))


def _count(word: str, text: str) -> int:
    """How often the word occurs in a casefolded text, as a whole word if its script has spaces."""
    stem = word.removesuffix(STEM_MARK).casefold()
    if stem not in text:
        # A pattern takes milliseconds to compile, and few words are anywhere in a text.
        return 0
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, stem) else ""
    is_whole = not word.endswith(STEM_MARK) and re.match(_LETTER, stem[-1:])
    return len(re.findall(before + re.escape(stem) + (rf"(?!{_LETTER})" if is_whole else ""), text))
