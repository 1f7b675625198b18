"""Texts in CSV files that no spreadsheet takes for a formula, and the way back to the exact text.

A guard is an apostrophe where a spreadsheet could begin to calculate. The texts of every CSV file are written
with guards, and those that Equipoise reads back lose them.
"""

from __future__ import annotations

import re
import unicodedata

_SIGNS = "=+-@\N{MINUS SIGN}\t"
"""First characters of cells that may be calculated, in any form: full width, small, raised ..."""
_ENDS = ";\t\r\n"
"""What ends a cell where a spreadsheet splits at others than commas. Cells with commas are quoted, and a
guard after each comma would break lists in JSON."""
_INVISIBLE = "CMZ"
"""Categories of characters that may go first: controls, marks of direction, combining marks, spaces."""
_BLANK = "'\"\u115f\u1160\u2800\u3164\uffa0"
"""And these: quotes, which may be taken for a spreadsheet's own, and letters and symbols without ink."""
_END = re.compile(rf"[{_ENDS}](?=[\W{_BLANK}])")
"""The end of a cell, where the next one may begin a formula."""
_GUARD = re.compile(rf"(?<![^{_ENDS}])'")


def guarded(text: str) -> str:
    """The text with an apostrophe wherever a spreadsheet could begin to calculate."""
    rest = _END.sub(lambda end: f"{end[0]}'" if _is_formula(text, end.end()) else end[0], text)
    return f"'{rest}" if _is_formula(text, 0, is_first=True) else rest


def unguarded(text: str) -> str:
    """The text that `guarded` was given; it takes nothing else away."""
    return _GUARD.sub(
        lambda guard: "" if _is_formula(text, guard.end(), is_first=not guard.start()) else "'", text
    )


def _is_formula(text: str, start: int, *, is_first: bool = False) -> bool:
    """Whether what stands here, after nothing that can be seen, could begin a formula."""
    for index in range(start, len(text)):
        character = text[index]
        if unicodedata.normalize("NFKC", character)[0] in _SIGNS or (is_first and character == "\r"):
            return True
        if character in _ENDS or not _is_unseen(character):
            return False
    return False


def _is_unseen(character: str) -> bool:
    return character in _BLANK or unicodedata.category(character)[0] in _INVISIBLE
