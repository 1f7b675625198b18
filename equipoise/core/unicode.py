"""Unicode normalization in linear time for any text."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

_LONG_RUN = re.compile(r"[^\w\x00-\x7f]{31,}")
"""A run of combining marks, and of other characters that are neither letters nor ASCII, that is longer than
any language uses (Unicode Standard Annex 15, section 13)."""


def nfkc(text: str) -> str:
    """The text in Unicode's form NFKC, the same as from `unicodedata.normalize`.

    `unicodedata.normalize` takes quadratic time for a run of combining marks that are not in canonical order
    (The Unicode Standard, section 3.11). Therefore long runs are sorted beforehand.
    """
    return unicodedata.normalize("NFKC", _LONG_RUN.sub(lambda run: _sort_marks(run[0]), text))


def _sort_marks(run: str) -> str:
    """The run decomposed, with its marks in canonical order."""
    # Some characters that are not marks decompose into marks.
    parts = {character: unicodedata.normalize("NFKD", character) for character in set(run)}
    classes = {mark: unicodedata.combining(mark) for part in parts.values() for mark in part}
    if not any(classes.values()):
        return run
    groups = groupby("".join(map(parts.__getitem__, run)), lambda mark: classes[mark] > 0)
    return "".join("".join(sorted(group, key=classes.__getitem__)) for _, group in groups)
