"""Reads results without their transcripts, which make up most of a file, in a fraction of the memory.

Sessions write indented JSON, in which a transcript is a block of lines that can be skipped. A file that
another tool has reformatted is read completely.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path

from equipoise.core import json_io
from equipoise.core.files import open_regular, read_bytes
from equipoise.core.types import JSON

_TRANSCRIPT_START = re.compile(rb'( *)"(?:subject_transcripts?|evaluator_transcripts)": ([\[{])\n')
_CLOSING_BRACKETS = {b"[": b"]", b"{": b"}"}
_RESULTS_KEY = b'  "results": '
_PIECE_DEPTH = 3
"""The depth to which results are split into pieces for a comparison: that of a question."""


def load(path: Path) -> tuple[JSON, str]:
    """The JSON in a file with empty transcripts, and the SHA-256 of the file. Raises OSError, ValueError."""
    digest, content = hashlib.sha256(), BytesIO()
    with open_regular(path) as file:
        content.writelines(_without_transcripts(file, digest.update))
    try:
        return json_io.loads(content.getvalue()), digest.hexdigest()
    except ValueError:
        # Another tool has reformatted the file, or it is not JSON at all.
        return json_io.loads(read_bytes(path)), digest.hexdigest()


def _without_transcripts(lines: Iterable[bytes], update: Callable[[bytes], None]) -> Iterator[bytes]:
    """The lines, with empty transcripts. If the file has another layout, the output is not valid JSON."""
    end = b""
    for line in lines:
        update(line)
        if end:
            if line.startswith(end):
                yield line.lstrip(b" ")
                end = b""
        elif b"_transcript" in line and (match := _TRANSCRIPT_START.fullmatch(line)):
            end = match[1] + _CLOSING_BRACKETS[match[2]]
            yield line.rstrip(b"\n")
        else:
            yield line


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
