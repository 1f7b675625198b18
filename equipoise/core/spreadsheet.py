"""Protection against CSV injection: adds and removes guards, so that no text becomes a formula.

A guard is an apostrophe before anything that a spreadsheet could treat as a formula. Texts are written to CSV
files with guards. Reading them back removes the guards, and no other apostrophes.
"""

from __future__ import annotations

import re
import unicodedata

_FORMULA_SIGNS = "=+-@\N{MINUS SIGN}\t"
"""First characters of formulas. Variants of these (full width, small, superscript) count as well."""
_SEPARATORS = ";\t\r\n"
"""Separators, except commas, at which a spreadsheet may split. Cells with commas are quoted, and a guard
after each comma would break lists in JSON."""
_INVISIBLE_CATEGORIES = "CMZ"
"""Unicode categories of characters that a spreadsheet may skip: controls, combining marks, spaces."""
_BLANK_CHARACTERS = "'\"\u115f\u1160\u2800\u3164\uffa0"
"""Further characters that a spreadsheet may skip: quotes, and letters and symbols that are blank."""
_CELL_END = re.compile(rf"[{_SEPARATORS}](?=[\W{_BLANK_CHARACTERS}])")
"""A separator, after which a cell may begin with a formula. The look-ahead only saves time."""
_GUARD = re.compile(rf"(?<![^{_SEPARATORS}])'")
"""An apostrophe that may be a guard: no character but a separator precedes it."""


def add_guards(text: str) -> str:
    """The text with a guard wherever a spreadsheet could see the beginning of a formula."""
    inner = _CELL_END.sub(lambda end: f"{end[0]}'" if _is_formula(text, end.end()) else end[0], text)
    return f"'{inner}" if _is_formula(text, 0, is_first=True) else inner


def remove_guards(text: str) -> str:
    """The text without guards, the inverse of `add_guards`."""
    return _GUARD.sub(
        lambda guard: "" if _is_formula(text, guard.end(), is_first=not guard.start()) else "'", text
    )


def _is_formula(text: str, start: int, *, is_first: bool = False) -> bool:
    """Whether the first character from `start` on that a spreadsheet does not skip could begin a formula."""
    for index in range(start, len(text)):
        character = text[index]
        # OWASP counts a leading carriage return as the start of a formula; anywhere else it is a separator.
        if unicodedata.normalize("NFKC", character)[0] in _FORMULA_SIGNS or (is_first and character == "\r"):
            return True
        if character in _SEPARATORS or not _may_be_skipped(character):
            return False
    return False


def _may_be_skipped(character: str) -> bool:
    return character in _BLANK_CHARACTERS or unicodedata.category(character)[0] in _INVISIBLE_CATEGORIES
