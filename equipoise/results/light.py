"""Reads results without their transcripts, which make up most of a file, in a fraction of the memory.

Each transcript is replaced by its first and last offset in the file, from which it is read when needed.

Sessions write indented JSON, in which a transcript is a block of lines that can be skipped. A file that
another tool has reformatted is read completely.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import OpenFile, open_regular, read_bytes
from equipoise.core.types import JSON

_TRANSCRIPT_START = re.compile(rb'\n( *)"(?:subject_transcript|evaluator_transcripts)": \[\n')
_BLOCK_BYTES = 2**20
WITH_RUNS = ("results", "askers")
"""The parts of results with runs."""
_RESULTS_KEY = b'  "results": '
_PIECE_DEPTH = 3
"""The depth to which results are split into pieces for a comparison: that of a question."""


def load(path: Path) -> tuple[JSON, str]:
    """The JSON in a file without transcripts, and the SHA-256 of the file. Raises OSError, ValueError.

    The parts with runs are not decoded yet.
    """
    digest, content = hashlib.sha256(), BytesIO()
    with open_regular(path) as file:
        content.writelines(_without_transcripts(file, digest.update))
    return _decoded(path, content.getvalue()), digest.hexdigest()


def _decoded(path: Path, content: bytes) -> JSON:
    with suppress(ValueError):
        parts = json_io.split(content)
        return {
            name: part if name in WITH_RUNS else json_io.loads(bytes(part)) for name, part in parts.items()
        }
    try:
        # An unpaired surrogate or NaN, for instance, which only this decoder accepts.
        return json_io.loads(content)
    except ValueError:
        # Another tool has reformatted the file, or it is not JSON at all.
        return json_io.loads(read_bytes(path))


class Transcripts(OpenFile):
    """The transcripts in a results file with this SHA-256, by their offsets."""

    def __init__(self, path: Path, digest: str) -> None:
        super().__init__(path)
        self._digest: str | None = digest

    def read(self, first: int, last: int) -> Sequence[Any]:
        """The transcript from one offset to another. Raises UserError if the file has changed."""
        try:
            self._refuse_changed_file()
            transcript: Sequence[Any] = json_io.loads(self.part(first, last - first))
        except OSError as error:
            raise UserError(f"{self.path}: cannot be read ({error.strerror})") from None
        return transcript

    def _refuse_changed_file(self) -> None:
        """On the first read, compare the whole file with its digest."""
        if self._digest is None:
            return
        with open_regular(self.path) as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != self._digest:
                raise UserError(f"{self.path}: has changed since it was loaded; load it again")
        self._digest = None


def _without_transcripts(file: BinaryIO, update: Callable[[bytes], None]) -> Iterator[bytes]:
    """The file, with offsets in place of transcripts. The result is not valid JSON for another layout.

    The first offset is that of the opening bracket, the last one is that after the closing bracket.
    """
    closing, offset = b"", 0
    while block := file.read(_BLOCK_BYTES) + file.readline():
        update(block)
        # With a line break before every line. The character `text[i]` is at `offset + i - 1` in the file.
        text, position = b"\n" + block, 1
        while True:
            if closing:
                # In a transcript: skip the lines up to its closing bracket.
                if (index := text.find(closing, position - 1)) < 0:
                    break
                position, closing = index + len(closing) - 1, b""
                yield b"%d" % (offset + position)
            # Outside transcripts: copy everything up to the next opening bracket.
            if (match := _TRANSCRIPT_START.search(text, position - 1)) is None:
                yield text[position:]
                break
            bracket = match.end() - 2
            yield b"%b%d," % (text[position : bracket + 1], offset + bracket - 1)
            position, closing = match.end(), b"\n%b]" % match[1]
        offset += len(block)


def has_same_results(path: Path, results: JSON) -> bool:
    """Whether the section `results` of a file is exactly how these results are written. Raises OSError."""
    with open_regular(path) as file:
        position = 0
        for line in file:
            if line.startswith(_RESULTS_KEY):
                break
            position += len(line)
        file.seek(position + len(_RESULTS_KEY))
        is_same = all(
            file.read(len(piece)) == piece for piece in json_io.iter_encoded(results, _PIECE_DEPTH, b"  ")
        )
        return is_same and file.read(1) in (b",", b"\n")
