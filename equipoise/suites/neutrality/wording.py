"""What the wording of a dataset's questions is held to: words to avoid, names that stand together, years.

The rules are the dataset's own, in `wording.toml` beside its questions; one without has no rules.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import read_text
from equipoise.core.findings import Finding
from equipoise.core.types import JSON
from equipoise.suites.selection import WORDING

_SHORT_RANGE = re.compile(r"(\d\d)(\d\d)[-–](\d\d)(?!\d)")
_YEAR = re.compile(r"(?<![\d,.])(?<!anos )(?:1[0-9]|20)\d\d(?![\ds]|\u5e74\u4ee3)")
_LETTER = r"[^\W\u2e80-\U0003ffff]"
"""A letter or digit, other than of the scripts that put no blanks between words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """By language: words to avoid, each with what is wrong with it, and names of which none stands alone."""

    avoid: Mapping[str, Mapping[str, str]]
    names: Mapping[str, Sequence[Sequence[str]]]

    def faults(self, language: str, text: str) -> Iterator[str]:
        """What is wrong with a text, each in a few words."""
        for word, what in self.avoid.get(language, {}).items():
            if _stands(word, text):
                yield f"has {word!r}: {what}"
        for names in self.names.get(language, ()):
            missing = [name for name in names if not _stands(name, text)]
            if missing and len(missing) < len(names):
                found = next(name for name in names if name not in missing)
                yield f"has {found!r} without {missing[0]!r}; where sides have names of their own, all stand"


def lint(topics: Path, asked: Mapping[Path, Mapping[int, str]]) -> Iterator[Finding]:
    """What is wrong with the wording of these questions, by file and line number. Raises UserError."""
    path = (topics if topics.is_dir() else topics.parent) / WORDING
    if not path.is_file():
        return
    rules = _read(path)
    for file, texts in asked.items():
        for number, text in texts.items():
            yield from (Finding(str(file), number, what) for what in rules.faults(file.stem, text))
    first, *others = asked
    for other in others:
        for number, text in asked[other].items():
            if number in asked[first] and _years(text) != _years(asked[first][number]):
                yield Finding(str(other), number, f"names other years than {first.name}; make them the same")


def _read(path: Path) -> Wording:
    try:
        data = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not valid TOML: {error}") from None
    avoid, names = data.pop("avoid", {}), data.pop("names", {})
    if data:
        raise UserError(f"{path}: has {min(data)!r}; there may be tables avoid and names")
    if not (
        _is_table(avoid) and all(_is_table(words) and _are_texts(words.values()) for words in avoid.values())
    ):
        raise UserError(f"{path}: avoid needs, by language, words and what is wrong with each")
    if not (_is_table(names) and all(_are_groups(groups) for groups in names.values())):
        raise UserError(f"{path}: names needs, by language, a list of lists of names")
    return Wording(avoid=avoid, names=names)


def _is_table(value: JSON) -> bool:
    return isinstance(value, dict)


def _are_texts(values: JSON) -> bool:
    return all(isinstance(value, str) for value in values)


def _are_groups(value: JSON) -> bool:
    return isinstance(value, list) and all(isinstance(names, list) and _are_texts(names) for names in value)


def _stands(word: str, text: str) -> bool:
    """Whether the word or name is in the text, whole where its script has blanks; case does not matter."""
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, word) else ""
    after = rf"(?!{_LETTER})" if re.match(_LETTER, word[-1:]) else ""
    # A class of letters takes `re` 25 ms to compile for either case.
    return re.search(before + re.escape(word.casefold()) + after, text.casefold()) is not None


def _years(text: str) -> set[str]:
    """The years in a text, both of "1957-58"; decades do not count."""
    return set(_YEAR.findall(_SHORT_RANGE.sub(r"\1\2 \1\3", text)))
