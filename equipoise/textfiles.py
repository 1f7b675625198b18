"""Reads and writes files of text and of JSON Lines; every error names file and line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from equipoise.errors import UserError
from equipoise.storage import shown, take_over_mode
from equipoise.types import JSON


def read_text(path: Path) -> str:
    """The whole file. Raises UserError naming the line that is not UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from None


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, stripped, by their numbers from 1. Raises UserError."""
    # Not str.splitlines: it also splits at separators that may stand inside a text.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield number, line.strip()


def objects(path: Path) -> Iterator[tuple[str, dict[str, JSON]]]:
    """The objects of a file of JSON Lines, each with its `file:line`. Raises UserError."""
    for number, line in lines(path):
        where = f"{path}:{number}"
        yield where, json_object(line, where)


def json_object(text: str, where: str) -> dict[str, JSON]:
    """The one JSON object that the text is. Raises UserError naming `where`."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise UserError(f"{where}: not valid JSON: {error}") from None
    except RecursionError:
        raise UserError(f"{where}: is nested too deeply") from None
    if not isinstance(data, dict):
        raise UserError(f"{where}: is no JSON object")
    return data


def is_whole(text: str) -> bool:
    """Whether the text can be written as UTF-8: half a character, a lone surrogate, cannot."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def whole(text: str) -> str:
    """The text with a question mark for every half of a character."""
    return text.encode("utf-8", "replace").decode("utf-8")


def write_text(path: Path, text: str) -> None:
    """Write the file whole, under a temporary name first; its folder is made. Raises UserError.

    A file that is replaced passes on its permissions.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("w", encoding="utf-8", newline="") as file:
                take_over_mode(path, file.fileno())
                file.write(text)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"{shown(path)}: cannot be written to ({error.strerror})") from None


def write_objects(path: Path, found: Iterable[Mapping[str, JSON]]) -> None:
    """Write one JSON object a line, whole. Raises UserError."""
    text = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in found)
    # Half a character becomes its escape, which is what JSON has for it.
    write_text(path, text.encode("utf-8", "backslashreplace").decode("utf-8"))
