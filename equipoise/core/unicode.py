"""Unicode normalization in linear time, whatever the text. Pure."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

_MARKS = re.compile(r"[^\w\x00-\x7f]{31,}")
"""More combining marks in a row than any language uses (Unicode Standard Annex 15, section 13).

They are neither letters nor ASCII."""


def nfkc(text: str) -> str:
    """The text in Unicode's form NFKC, as `unicodedata` has it.

    That sorts a run of combining marks in quadratic time, unless they are in their canonical order (The
    Unicode Standard, section 3.11): long runs are sorted beforehand.
    """
    return unicodedata.normalize("NFKC", _MARKS.sub(lambda run: _in_order(run[0]), text))


def _in_order(run: str) -> str:
    # A few characters are not marks, but are written as two.
    parts = {character: unicodedata.normalize("NFKD", character) for character in set(run)}
    classes = {mark: unicodedata.combining(mark) for part in parts.values() for mark in part}
    if not any(classes.values()):
        return run
    groups = groupby("".join(map(parts.__getitem__, run)), lambda mark: classes[mark] > 0)
    return "".join("".join(sorted(group, key=classes.__getitem__)) for _, group in groups)
