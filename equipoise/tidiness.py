"""Text files as they should be: UTF-8, composed, without what nobody sees, ended by a newline.

Knows nothing of suites. A finding is what is wrong at one line of one file.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from equipoise.errors import UserError, printable
from equipoise.types import JSON

SUFFIXES = (".csv", ".json", ".jsonl", ".md", ".toml", ".tsv", ".txt")
"""Of the files that are looked at."""
SEPARATOR = "separator"
"""The column of a table whose values are put between others, and so may begin and end with blanks."""
_UNSEEN = {"Cc": "control character", "Cf": "invisible character"}
_UNSEEN |= {"Zl": "line separator", "Zp": "line separator", "Co": "character of no meaning"}
_ZERO_WIDTH = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0}
"""Of no width, although Unicode counts them among letters and marks; variation selectors come on top."""
_REPLACEMENT = "\ufffd"
_ARABIC = r"[\u0620-\u0652\u066e-\u06d3\u0750-\u077f]"
_WITHIN_A_WORD = re.compile(rf"(?<={_ARABIC})\u200c(?={_ARABIC})")
"""The non-joiner that Persian and its neighbours are spelt with."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """What is wrong, and where: one line for the user. Lines count from 1."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return printable(f"{self.path}:{self.line}: {self.what}")


def of_error(error: UserError, path: Path) -> Finding:
    """What a loader refuses as a finding; where it names no line, that is the first of the file."""
    text = str(error)
    head, _, rest = text.partition(": ")
    place, _, number = head.rpartition(":")
    if rest and place and number.isdecimal():
        return Finding(place, int(number), rest)
    is_file = bool(rest) and Path(head).exists()
    return Finding(head, 1, rest) if is_file else Finding(str(path), 1, text)


def text_files(path: Path, aside: str) -> list[Path]:
    """The text files of a folder and below, or the one file; folders of the name `aside` are left out."""
    if path.is_file():
        return [path]
    found = (item for item in path.rglob("*") if item.is_file() and item.suffix in SUFFIXES)
    return sorted(item for item in found if _is_seen(item.relative_to(path), aside))


def _is_seen(path: Path, aside: str) -> bool:
    return aside not in path.parts[:-1] and not any(part.startswith(".") for part in path.parts)


def untidy(path: Path) -> Iterator[Finding]:
    """All that is wrong with one text file, apart from what it says. Raises UserError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        yield Finding(str(path), line, "not UTF-8; save the file as UTF-8")
        return
    yield from (Finding(str(path), line, what) for line, what in dict.fromkeys(_of_text(path.suffix, text)))


def _of_text(suffix: str, text: str) -> Iterator[tuple[int, str]]:
    if "\r\n" in text:
        line = text.count("\n", 0, text.index("\r\n")) + 1
        yield line, "ends in CR LF, as lines may do below; save the file with LF alone"
        text = text.replace("\r\n", "\n")
    for number, row in enumerate(text.split("\n"), start=1):
        yield from ((number, what) for what in _of_line(row, suffix))
    if not text.endswith("\n"):
        yield text.count("\n") + 1, "the file does not end with a newline; add one"
    yield from _of_values(suffix, text)


def _of_line(text: str, suffix: str) -> Iterator[str]:
    yield from _odd_characters(text.replace("\t", "") if suffix == ".tsv" else text)
    # A row's values are looked at one by one.
    if suffix != ".csv" and text != text.rstrip():
        yield "ends in blanks; remove them"


def _odd_characters(text: str) -> Iterator[str]:
    if text.isascii() and text.isprintable():
        return
    for character in dict.fromkeys(_WITHIN_A_WORD.sub("", text)):
        kind = _kind(character)
        if kind is not None:
            name = unicodedata.name(character, "no name")
            yield f"has the {kind} U+{ord(character):04X} ({name}); remove it"
    if not unicodedata.is_normalized("NFC", text):
        yield "is not in Unicode's composed form; save it as NFC"


def _kind(character: str) -> str | None:
    """What a character is that should not be there; None of all others."""
    code = ord(character)
    if code in _ZERO_WIDTH or 0xFE00 <= code <= 0xFE0F or 0x180B <= code <= 0x180D:
        return "invisible character"
    if character == _REPLACEMENT:
        return "mark of a lost character"
    return _UNSEEN.get(unicodedata.category(character))


# Values, as they are once they are read.


def _of_values(suffix: str, text: str) -> Iterator[tuple[int, str]]:
    values = _cells(text) if suffix == ".csv" else _strings_of_lines(text) if suffix == ".jsonl" else ()
    for number, value in values:
        if value != value.strip():
            yield number, f"{_shown(value)} has blanks around it; remove them"
        if suffix == ".jsonl":
            yield from ((number, what) for what in _odd_characters(value.replace("\n", "")))


def _shown(value: str) -> str:
    return repr(value) if len(value) <= 40 else f"{value[:20]!r} ... {value[-20:]!r}"


def _cells(text: str) -> Iterator[tuple[int, str]]:
    """The values of a table; what cannot be read is the loader's to refuse."""
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        head = next(reader, [])
        kept = [place for place, name in enumerate(head) if name != SEPARATOR]
        yield from ((reader.line_num, name) for name in head)
        for row in reader:
            yield from ((reader.line_num, row[place]) for place in kept if place < len(row))
    except csv.Error:
        return


def _strings_of_lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            yield from ((number, value) for value in _strings(json.loads(line)))
        except (ValueError, RecursionError):
            continue


def _strings(data: JSON) -> Iterator[str]:
    """All texts in some JSON, keys too."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from _strings(value)
    elif isinstance(data, list):
        for value in data:
            yield from _strings(value)
