"""Overlap: runs of words that a suite's texts share with published data, if a copy of the data is available.

The texts are those that a suite yields for its checks. They are compared with whole published files.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes
from equipoise.suites.findings import Finding, Text
from equipoise.suites.resources import ORIGINAL, PINS, original_folder, originals
from equipoise.suites.similarity import folded

_MIN_WORDS = 10
"""The shortest run of words that is a finding. Brown et al. (2020, appendix C) use 8 to 13.

In the data of Equipoise, names that both texts must use, such as that of a law, have up to nine words or
eleven characters.
"""
_MIN_CHARACTERS = 12
"""The shortest run that is a finding in a script without spaces between words; at least _MIN_WORDS."""
_UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Tibetan, Burmese, Khmer, Japanese and Chinese."""
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_WORD = rf"(?:(?![{_UNSPACED}])[^\W_])+"
_TOKEN = re.compile(rf"[{_UNSPACED}]|{_WORD}(?:'{_WORD})*")
_JSON_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)")
Tokens = Sequence[str]
"""Case-folded words, and single characters of scripts without spaces."""


@dataclass(frozen=True, slots=True)
class TokenRun:
    """Consecutive tokens that two texts share. `start` is the index of the first token in the second text."""

    tokens: Tokens
    start: int

    @property
    def is_long(self) -> bool:
        """Whether the run is too long to be a coincidence."""
        return len(self.tokens) >= (_MIN_CHARACTERS if self._is_unspaced else _MIN_WORDS)

    @property
    def _is_unspaced(self) -> bool:
        return any(map(_IS_UNSPACED.match, self.tokens))

    def __str__(self) -> str:
        unit, space = ("characters", "") if self._is_unspaced else ("words", " ")
        return f"{len(self.tokens)} {unit} ({space.join(self.tokens)!r})"


def lint(suite: str, dataset: Path, texts: Sequence[Text]) -> Iterator[Finding]:
    """A finding for each text of a dataset that shares long runs with published data, on the longest of them.

    Only datasets in a suite's folder with pins are compared.
    """
    token_lists = [tokens(item.text) for item in texts]
    longest: dict[int, tuple[TokenRun, str]] = {}
    for path in _published(suite, dataset) if token_lists else ():
        words = [
            (word, number) for number, line in enumerate(_published_lines(path), 1) for word in tokens(line)
        ]
        for index, run in shared_runs(token_lists, [word for word, _ in words]).items():
            if index not in longest or len(run.tokens) > len(longest[index][0].tokens):
                longest[index] = run, f"{path.name}:{words[run.start][1]}"
    for index, (run, where) in longest.items():
        yield Finding.at(texts[index].where, f"shares {run} with the published {where}; reword it")


def _published(suite: str, dataset: Path) -> list[Path]:
    """The published files that a dataset is compared with; empty if no intact copy is available."""
    path = dataset.absolute()
    pinned = (
        folder for folder in (path, *path.parents) if folder.name == suite and (folder / PINS).is_file()
    )
    if (folder := next(pinned, None)) is None:
        return []
    if ORIGINAL in path.relative_to(folder).parts:
        return []
    original = originals([folder.parent])[suite]
    try:
        copy = original_folder(suite, [folder.parent])
    except UserError:
        return []
    return [copy / name for name in original.files if (copy / name).is_file()]


def _published_lines(path: Path) -> list[str]:
    """The lines of a file, with the escapes of JSON decoded."""
    text = read_bytes(path).decode("utf-8", errors="replace")
    if path.suffix in (".json", ".jsonl"):
        text = _JSON_ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else " ", text)
    return text.split("\n")


def tokens(text: str) -> list[str]:
    """The tokens of a text, without combining marks."""
    plain = folded(text).replace("\u2019", "'")
    marks = {ord(character): None for character in set(plain) if unicodedata.category(character)[0] == "M"}
    return _TOKEN.findall(plain.translate(marks))


def shared_runs(texts: Sequence[Tokens], other: Tokens) -> dict[int, TokenRun]:
    """The longest run that each text shares with `other`, by the index of the text, if the run is long."""
    positions = _positions(texts)
    longest: dict[int, TokenRun] = {}
    for start, gram in enumerate(zip(*(other[shift:] for shift in range(_MIN_WORDS)), strict=False)):
        for index, own_start in positions.get(gram, ()):
            rest = texts[index][own_start:]
            run = TokenRun(_common_prefix(rest, other[start : start + len(rest)]), start)
            if run.is_long and (index not in longest or len(run.tokens) > len(longest[index].tokens)):
                longest[index] = run
    return longest


def _positions(texts: Sequence[Tokens]) -> Mapping[tuple[str, ...], list[tuple[int, int]]]:
    """The positions of each run of _MIN_WORDS tokens, as pairs (index of the text, index of the token)."""
    positions: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for index, text in enumerate(texts):
        for start in range(len(text) - _MIN_WORDS + 1):
            positions[tuple(text[start : start + _MIN_WORDS])].append((index, start))
    return positions


def _common_prefix(first: Tokens, second: Tokens) -> Tokens:
    pairs = enumerate(zip(first, second, strict=False))
    length = next((index for index, (one, other) in pairs if one != other), min(len(first), len(second)))
    return first[:length]
