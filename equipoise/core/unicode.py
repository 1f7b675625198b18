"""Unicode normalization in linear time, whatever the text. Pure."""

from __future__ import annotations

import re
import unicodedata

MOST_MARKS = 30
"""More combining marks in a row than any language uses (Unicode Standard Annex 15, section 13)."""
_MARKS = re.compile(rb"[^\0]{%d}(?=[^\0])" % MOST_MARKS)
_JOINER = "\u034f"


def nfkc(text: str) -> str:
    """The text in Unicode's form NFKC.

    A combining grapheme joiner divides longer runs of combining marks, as in the stream-safe text format:
    `unicodedata` sorts a run in quadratic time.
    """
    if text.isascii():
        return text
    # Combining classes are below 256.
    classes = bytes(map(unicodedata.combining, text))
    ends = [run.end() for run in _MARKS.finditer(classes)]
    starts = [0, *ends]
    pieces = [text[start:end] for start, end in zip(starts, [*ends, None], strict=True)]
    return unicodedata.normalize("NFKC", _JOINER.join(pieces))
