"""Overlap: runs of words that a suite's texts share with published data, if a copy of these is available.

The texts that a suite yields for its checks are compared with whole published files.
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
"""The shortest run of words that is a finding. Brown et al. (2020, appendix C) use 8 to 13.

In our data, names that both texts must use, as of a law or a prize, have up to nine words or eleven
characters.
"""
CHARACTERS = 12
"""The shortest run that is a finding in a script without spaces between words."""
_UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Tibetan, Burmese, Khmer, Japanese and Chinese."""
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_WORD = rf"(?:(?![{_UNSPACED}])[^\W_])+"
_TOKEN = re.compile(rf"[{_UNSPACED}]|{_WORD}(?:'{_WORD})*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)")
Tokens = Sequence[str]
"""Case-folded words, and single characters of scripts without spaces."""


@dataclass(frozen=True, slots=True)
class TokenRun:
    """Consecutive tokens that two texts share. `at` is the index of the first one in the second text."""

    tokens: Tokens
    at: int

    @property
    def is_long(self) -> bool:
        """Whether the run is too long to be chance."""
        return len(self.tokens) >= (CHARACTERS if self._is_unspaced else WORDS)

    @property
    def _is_unspaced(self) -> bool:
        return any(map(_IS_UNSPACED.match, self.tokens))

    def __str__(self) -> str:
        unit, space = ("characters", "") if self._is_unspaced else ("words", " ")
        return f"{len(self.tokens)} {unit} ({space.join(self.tokens)!r})"


def lint(suite: str, dataset: Path, texts: Sequence[Text]) -> Iterator[Finding]:
    """A finding for each text of a dataset that shares a long run with published data, on its longest run.

    Only datasets in a suite's folder with pins are compared, without editions that are pinned as unchanged.
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
    """The published files that a dataset is compared with; empty if no intact copy is available."""
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
    """The tokens of a text, without combining marks."""
    plain = folded(text).replace("\u2019", "'")
    marks = {ord(character): None for character in set(plain) if unicodedata.category(character)[0] == "M"}
    return _TOKEN.findall(plain.translate(marks))


def shared(own: Sequence[Tokens], other: Tokens) -> dict[int, TokenRun]:
    """The longest run that each of `own` shares with `other`, by index in `own`; only runs that are long."""
    positions = _grams(own)
    longest: dict[int, TokenRun] = {}
    for at, gram in enumerate(zip(*(other[shift:] for shift in range(WORDS)), strict=False)):
        for index, start in positions.get(gram, ()):
            run = TokenRun(_common_prefix(own[index][start:], other, at), at)
            if run.is_long and (index not in longest or len(run.tokens) > len(longest[index].tokens)):
                longest[index] = run
    return longest


def _grams(texts: Sequence[Tokens]) -> Mapping[tuple[str, ...], list[tuple[int, int]]]:
    """The positions of each run of WORDS tokens, as pairs (index of the text, index of the token)."""
    positions: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for index, text in enumerate(texts):
        for start in range(len(text) - WORDS + 1):
            positions[tuple(text[start : start + WORDS])].append((index, start))
    return positions


def _common_prefix(tokens: Tokens, other: Tokens, at: int) -> Tokens:
    """The longest common beginning of `tokens` and of `other` from its index `at` on."""
    pairs = zip(tokens, other[at : at + len(tokens)], strict=False)
    differs = (length for length, (first, second) in enumerate(pairs) if first != second)
    return tokens[: next(differs, min(len(tokens), len(other) - at))]
