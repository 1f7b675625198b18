"""Text that fits a terminal: tables, line wrapping at punctuation, and colours.

Widths are in terminal columns; a wide character takes two.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, zip_longest

from wcwidth import wcswidth, wcwidth

from equipoise.core.errors import printable
from equipoise.core.figures import Difference, Estimate, format_limits

MIN_COLUMN = 14
"""The minimum width of a column of words that is wrapped."""
LABEL_WIDTH = 11
"""The width of the label at the beginning of many lines."""
INDENT = " " * LABEL_WIDTH
"""The beginning of a line that belongs to a labelled one."""
GAP = "  "
Markup = Mapping[str, bool]
"""Colours and weight, as keyword arguments of pytest's terminal writer."""

_NUMBERS = re.compile(r"(?:[-+<>±~()/\d.,:%*\s]|to|from|pp|USD)*")
_BREAKS = (re.compile(r"[;.] "), re.compile(r"[:,] "), re.compile(r" (?!%|pp\b|to\b|USD\b|s\b)"))
"""Where lines are broken: after these patterns, the best first."""
_BLANKS = re.compile(r"\s*")
_WORD_BREAK = re.compile(r"(?<= )(?![ %])")
"""Where cells are broken, if nothing else helps: between words."""
_NUMBER_BREAK = re.compile(r"(?<= )(?=from )")
"""Where cells of figures are broken, if nothing else helps: before "from" and the figure after it."""
_HEADER_BREAK = re.compile(r"(?<= )(?![ %])|(?<=[._/-])(?=[^ \n])")
"""Where headers are broken: between words, and between the parts of a model's name."""
_STYLES: Sequence[tuple[re.Pattern[str], Markup]] = (
    (re.compile(r"gate:? FAIL\b"), {"red": True, "bold": True}),
    (re.compile(r"gate:? INCONCLUSIVE\b"), {"yellow": True, "bold": True}),
    (re.compile(r"gate:? PASS\b"), {"green": True}),
    (re.compile(r"(error|unscored): "), {"red": True}),
    (re.compile(r"(warning|caution|MISMATCH|cost): |answered: (?!.*too many)"), {"yellow": True}),
    (re.compile(r"Read it with care: "), {"yellow": True}),
    (re.compile(r"audit: .*: (faults|incomplete|not shown)"), {"yellow": True}),
    (re.compile(r"overall "), {"bold": True}),
)


def text_width(text: str) -> int:
    """The width of a text in terminal columns."""
    return len(text) if text.isascii() else max(0, wcswidth(text))


def cut(text: str, width: int) -> str:
    """The beginning of a text that fits in `width` columns."""
    if text.isascii():
        return text[:width]
    width_so_far = 0
    for index, character in enumerate(text):
        width_so_far += max(0, wcwidth(character))
        if width_so_far > width:
            return text[:index]
    return text


def fit_parts(parts: Sequence[tuple[int, str]], width: int) -> str:
    """The texts of `parts`, (rank, text), joined; if too wide, without those of the highest ranks."""
    remaining = list(parts)
    while len(remaining) > 1 and text_width(_join_parts(remaining)) > width:
        remaining.remove(max(remaining, key=lambda part: part[0]))
    return cut(_join_parts(remaining), width)


def _join_parts(parts: Sequence[tuple[int, str]]) -> str:
    return " | ".join(text for _, text in parts)


# Tables.


def align(rows: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """The lines of a table, header first: numbers are right-aligned, names and words left-aligned.

    If the table is wider than `width`, steps are taken until it fits: the header is wrapped; columns without
    a figure are left out; a last column of words moves to a line below; long names move above their figures,
    and a first part that several share is written once; cells are wrapped between words, or before the figure
    from which a difference is taken. Text that cannot be broken may still be wider.
    """
    below: list[str] = []
    cells = _headed(rows, width)
    if width and _table_width(cells) > width:
        cells = _headed(rows := _without_empty_columns(rows), width)
    if width and _table_width(cells) > width:
        rows, below = _with_last_below(rows)
        cells = _headed(rows, width)
    above: list[list[str]] = [[] for _ in rows]
    if width and (excess := _table_width(cells) - width) > 0:
        above = _raise_names(cells, excess)
    if width and (excess := _table_width(cells) - width) > 0:
        _fold_cells(cells, excess)
    widths = _column_widths(cells)
    is_left = [_is_left_aligned(column, rows) for column in range(len(widths))]
    parts = ((*names, *_row_lines(row, widths, is_left)) for names, row in zip(above, cells, strict=True))
    return [*chain.from_iterable(parts), *below]


Cells = list[list[list[str]]]
"""A table: rows of cells, each with its lines."""


def _column_widths(cells: Cells) -> list[int]:
    return [max(text_width(line) for cell in column for line in cell) for column in zip(*cells, strict=True)]


def _table_width(cells: Cells) -> int:
    widths = _column_widths(cells)
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _is_left_aligned(column: int, rows: Sequence[Sequence[str]]) -> bool:
    is_last = column == len(rows[0]) - 1
    return column == 0 or (is_last and not all(_NUMBERS.fullmatch(row[column]) for row in rows[1:]))


def _headed(rows: Sequence[Sequence[str]], width: int | None) -> Cells:
    """The cells of a table, with its header wrapped if it is wider than `width`."""
    cells = [[[text] for text in row] for row in rows]
    if width and (excess := _table_width(cells) - width) > 0:
        _fold_head(cells, excess)
    return cells


def _without_empty_columns(rows: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """The table without columns that have nothing but dashes below their heading."""
    columns = [column for column in zip(*rows, strict=True) if {*column[1:]} - {"", "-"}]
    return [*zip(*columns, strict=True)] if columns else rows


def _with_last_below(rows: Sequence[Sequence[str]]) -> tuple[Sequence[Sequence[str]], list[str]]:
    """The table without its last column, if that has words and a heading, and the lines with these words."""
    if len(rows[0]) < 3 or not rows[0][-1] or not _is_left_aligned(len(rows[0]) - 1, rows):
        return rows, []
    words = (f"{row[0]} ({row[-1]})" for row in rows[1:] if row[-1] not in ("", "-"))
    # Without duplicates: rows on several models have the same words on a suite.
    return [row[:-1] for row in rows], [f"{rows[0][-1]}: {'; '.join(dict.fromkeys(words))}"]


def _fold_head(cells: Cells, excess: int) -> None:
    """Wrap the header only as far as needed: at the longest line with which the table fits."""
    body_widths = _column_widths(cells[1:]) if len(cells) > 1 else [0] * len(cells[0])
    max_width, heads = _table_width(cells) - excess, [cell[0] for cell in cells[0]]

    def fold_to(longest: int) -> list[list[str]]:
        widths = (max(body_width, longest) for body_width in body_widths)
        return [_wrap_cell(head, width, _HEADER_BREAK) for head, width in zip(heads, widths, strict=True)]

    def is_too_wide(longest: int) -> bool:
        return _table_width([fold_to(longest), [[" " * width] for width in body_widths]]) > max_width

    lengths = range(max(map(text_width, heads)))
    cells[0] = fold_to(max(bisect_left(lengths, True, key=is_too_wide) - 1, 0))


def _raise_names(cells: Cells, excess: int) -> list[list[str]]:
    """Shorten the column of names by `excess`, and return the lines to print above each row.

    If a name is too long, the part before its last point is written once, above all names that share it.
    """
    width = max(MIN_COLUMN, _column_widths(cells)[0] - excess)
    names = [row[0][0] for row in cells[1:]]
    counts = Counter(map(_group, names))
    groups = {group for name in names if text_width(name) > width and counts[group := _group(name)] > 1} - {
        ""
    }
    above, group = [list[str]()], ""
    for name, row in zip(names, cells[1:], strict=True):
        lines = [name]
        if (first := _group(name)) in groups:
            lines = [*([first] if first != group else []), f"{GAP}{name.removeprefix(first)}"]
        group = first if first in groups else f"{name}."
        row[0] = [lines.pop()] if text_width(lines[-1]) <= width else [""]
        above.append(lines)
    return above


def _group(name: str) -> str:
    """The part of a name up to its last point; empty if it has none."""
    return "".join(name.rpartition(".")[:2])


def _fold_cells(cells: Cells, excess: int) -> None:
    for column in range(1, len(cells[0])):
        width = max(MIN_COLUMN, _column_widths(cells)[column] - excess)
        for row in cells[1:]:
            separator = _NUMBER_BREAK if _NUMBERS.fullmatch(row[column][0]) else _WORD_BREAK
            row[column] = _wrap_cell(row[column][0], width, separator)


def _wrap_cell(text: str, width: int, separator: re.Pattern[str]) -> list[str]:
    """The text in lines of at most `width` columns, broken after a separator; a longer part is not broken."""
    lines, line, width_so_far = [], list[str](), 0
    for part in separator.split(text):
        if line and part.strip() and width_so_far + text_width(part.rstrip()) > width:
            lines.append("".join(line).rstrip())
            line, width_so_far = [], 0
        line.append(part)
        width_so_far += text_width(part)
    return [*lines, "".join(line).rstrip()]


def _row_lines(row: Sequence[Sequence[str]], widths: Sequence[int], is_left: Sequence[bool]) -> Iterator[str]:
    for texts in zip_longest(*row, fillvalue=""):
        last = max((number for number, text in enumerate(texts, start=1) if text), default=0)
        padded = (
            text + padding if left else padding + text
            for text, width, left in zip(texts[:last], widths, is_left, strict=False)
            for padding in [" " * (width - text_width(text))]
        )
        yield GAP.join(padded).rstrip()


# Lines.


def style_lines(lines: Iterable[str], width: int) -> Iterator[tuple[str, Markup]]:
    """Wrap the lines, escape what is not printable, and add the markup of each: table headers are bold."""
    previous, is_head = "", False
    for line in lines:
        is_head = line.startswith(" ") and (is_head or not previous.strip())
        markup = {"bold": True} if is_head else _markup_of(line)
        for part in wrap_line(printable(line), width):
            # Again: wrapping may put a workflow command, which CI obeys, at the start of a line.
            yield printable(part), markup
        previous = line


def _markup_of(line: str) -> Markup:
    return next((markup for pattern, markup in _STYLES if pattern.match(line)), {})


def wrap_line(line: str, width: int) -> list[str]:
    """Wrap a line at punctuation; continuation lines are aligned with the text after the line's label."""
    indent, columns, ends = _indent(line, width), _columns_before(line), _break_ends(line)
    lines: list[str] = []
    start, margin = 0, ""
    while len(margin) + columns[-1] - columns[start] > width:
        fitting = bisect_right(columns, columns[start] + width - len(margin)) - 1
        end = _break_offset(ends, start + len(indent) - len(margin), fitting, len(margin) + fitting - start)
        if end is None:
            break
        lines.append((margin + line[start:end]).rstrip())
        start, margin = _skip_blanks(line, end), indent
    return [*lines, margin + line[start:]]


def _indent(line: str, width: int) -> str:
    """The indent of continuation lines: the label's width, or the line's own indent, or two spaces."""
    label = re.match(rf"(?=.{{{LABEL_WIDTH}}}\S)[^\s:]+: +", line)
    if label and label.end() == LABEL_WIDTH:
        return INDENT
    return line[: _skip_blanks(line, 0)][:width] or "  "


def _skip_blanks(line: str, start: int) -> int:
    """The index of the first character from `start` on that is not blank."""
    blanks = _BLANKS.match(line, start)
    return blanks.end() if blanks else start


def _columns_before(line: str) -> Sequence[int]:
    """The number of columns before each character, and, as the last item, that of the whole line."""
    if line.isascii():
        return range(len(line) + 1)
    return [0, *accumulate(max(0, wcwidth(character)) for character in line)]


def _break_ends(line: str) -> list[list[int]]:
    """Offsets at which the line can be broken, for each kind of punctuation."""
    return [[match.end() for match in pattern.finditer(line)] for pattern in _BREAKS]


def _break_offset(ends: Sequence[Sequence[int]], start: int, fitting: int, length: int) -> int | None:
    """Offset of a break after `start`: at the last punctuation that fits, of the best kind.

    A kind is passed over if more than a third of the line would stay empty. `fitting` is the last index that
    fits, with `length` characters of the line before it. None if the rest cannot be broken.
    """
    for offsets in ends:
        last = bisect_right(offsets, fitting + 1) - 1
        if last >= 0 and offsets[last] > start:
            is_full = length + offsets[last] - fitting > length * 2 / 3
            if is_full or offsets is ends[-1]:
                return offsets[last]
    # No break fits. Words are not broken, so the line extends to the next break.
    following = bisect_right(ends[-1], max(fitting, start))
    return ends[-1][following] if following < len(ends[-1]) else None


# Markdown.


def markdown_table(table_rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, header first."""
    head, *body = ["| " + " | ".join(markdown_cell(text) for text in row) + " |" for row in table_rows]
    return "\n".join([head, "|" + "---|" * len(table_rows[0]), *body])


def markdown_cell(text: str) -> str:
    """Text escaped for a Markdown table cell: no cell ends, and no HTML, code, link or image begins."""
    return re.sub(r"[\\|`\[]", r"\\\g<0>", printable(text)).replace("<", "&lt;")


# Figures.


def format_estimate(
    figure: Estimate | Difference, unit: str = "", digits: int = 2, *, sign: str = "+"
) -> str:
    """A figure with its interval, or with the reason why there is none."""
    if figure.value is None:
        return f"unknown ({figure.reason})"
    value = f"{figure.value:{sign}.{digits}f}{unit}"
    if figure.low is None:
        return f"{value} (no interval: {figure.reason})"
    return f"{value} ({format_limits(figure.low, figure.high, digits, sign)})"


def reason_kind(reason: str) -> str:
    """The kind of a reason why a figure has no interval: the part before the colon, which details follow."""
    return reason.partition(":")[0]
