"""Runs of words that a suite's own texts share with the published ones, where a copy of these is at hand.

Knows no suite's files: it compares the texts that a suite yields for its checks with whole published files.
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

WORDS = 10
"""The shortest run of words that is a finding. Brown and others (2020, appendix C) take 8 to 13.

Names that both must use, of a law or a prize, run to nine words and eleven characters in our data.
"""
CHARACTERS = 12
"""The shortest run in a script without spaces between words."""
_UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Tibetan, Burmese, Khmer, Japanese and Chinese."""
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_WORD = rf"(?:(?![{_UNSPACED}])[^\W_])+"
_TOKEN = re.compile(rf"[{_UNSPACED}]|{_WORD}(?:'{_WORD})*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)")
Tokens = Sequence[str]
"""Words, and single characters of scripts without spaces, folded."""


@dataclass(frozen=True, slots=True)
class TokenRun:
    """Tokens in a row that two texts share; `at` is where it begins in the second, in tokens from 0."""

    tokens: Tokens
    at: int

    @property
    def is_long(self) -> bool:
        """Whether chance does not explain it."""
        return len(self.tokens) >= (CHARACTERS if self._is_unspaced else WORDS)

    @property
    def _is_unspaced(self) -> bool:
        return any(map(_IS_UNSPACED.match, self.tokens))

    def __str__(self) -> str:
        unit, space = ("characters", "") if self._is_unspaced else ("words", " ")
        return f"{len(self.tokens)} {unit} ({space.join(self.tokens)!r})"


def lint(suite: str, dataset: Path, texts: Sequence[Text]) -> Iterator[Finding]:
    """The texts of a dataset that share a long run with the published data, each at its longest one.

    Looks only at datasets in a folder with pins, and not at editions that stay as they were.
    """
    own = [tokens(item.text) for item in texts]
    longest: dict[int, tuple[TokenRun, str]] = {}
    for path in _published(suite, dataset) if own else ():
        words = [(word, number) for number, line in enumerate(_lines(path), 1) for word in tokens(line)]
        for index, run in shared(own, [word for word, _ in words]).items():
            if index not in longest or len(run.tokens) > len(longest[index][0].tokens):
                longest[index] = run, f"{path.name}:{words[run.at][1]}"
    for index, (run, where) in longest.items():
        yield Finding.at(texts[index].where, f"shares {run} with the published {where}; reword it")


def _published(suite: str, dataset: Path) -> list[Path]:
    """The published files that a dataset is compared with; none where no intact copy is at hand."""
    path = dataset.absolute()
    pinned = (
        folder for folder in (path, *path.parents) if folder.name == suite and (folder / PINS).is_file()
    )
    if (folder := next(pinned, None)) is None:
        return []
    original = originals([folder.parent])[suite]
    parts = path.relative_to(folder).parts
    if ORIGINAL in parts or parts[:1] in [(name,) for name in original.unchanged]:
        return []
    try:
        copy = original_folder(suite, [folder.parent])
    except UserError:
        return []
    return [copy / name for name in original.files if (copy / name).is_file()]


def _lines(path: Path) -> list[str]:
    text = read_bytes(path).decode("utf-8", errors="replace")
    if path.suffix in (".json", ".jsonl"):
        text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else " ", text)
    return text.split("\n")


def tokens(text: str) -> list[str]:
    """The words of a text, and characters of scripts without spaces, folded, without combining marks."""
    plain = folded(text).replace("\u2019", "'")
    marks = {ord(character): None for character in set(plain) if unicodedata.category(character)[0] == "M"}
    return _TOKEN.findall(plain.translate(marks))


def shared(own: Sequence[Tokens], other: Tokens) -> dict[int, TokenRun]:
    """The longest run that each text shares with another, by its index; only long ones."""
    positions = _grams(own)
    longest: dict[int, TokenRun] = {}
    for at, gram in enumerate(zip(*(other[shift:] for shift in range(WORDS)), strict=False)):
        for index, start in positions.get(gram, ()):
            run = TokenRun(_common(own[index][start:], other, at), at)
            if run.is_long and (index not in longest or len(run.tokens) > len(longest[index].tokens)):
                longest[index] = run
    return longest


def _grams(texts: Sequence[Tokens]) -> Mapping[tuple[str, ...], list[tuple[int, int]]]:
    """Beginnings of each run of WORDS tokens: in which text, and at which token."""
    positions: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for index, text in enumerate(texts):
        for start in range(len(text) - WORDS + 1):
            positions[tuple(text[start : start + WORDS])].append((index, start))
    return positions


def _common(tokens: Tokens, other: Tokens, at: int) -> Tokens:
    """The tokens with which both begin, the other at its token `at`."""
    pairs = zip(tokens, other[at : at + len(tokens)], strict=False)
    differs = (length for length, (first, second) in enumerate(pairs) if first != second)
    return tokens[: next(differs, min(len(tokens), len(other) - at))]
