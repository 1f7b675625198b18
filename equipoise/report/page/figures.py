"""Draws plots as SVG: positions across are shares of the width, so that one drawing fits every screen."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from itertools import pairwise

from equipoise.core.outcomes import APPEARANCES
from equipoise.core.types import JSON
from equipoise.report.page import shades
from equipoise.report.page.axis import Axis, rounded_axis
from equipoise.suites.plots import Plot, PlotKind

INK, SOFT, RULE_COLOUR, ACCENT, PAPER = "#1b1b1b", "#5a5a5a", "#dcdcdc", "#1a5a96", "#ffffff"
"""Colours of text, axis titles, rules, data and background, which the style sheet replaces in dark mode."""
SERIES = ("#0b3c5d", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a6d00", "#7f7f7f")
"""Colours of series that colour-blind readers can tell apart (Okabe and Ito 2008)."""
PARTS: Mapping[str, str] = {outcome: appearance.colour for outcome, appearance in APPEARANCES.items()}
"""The colours of outcomes in stacked bars; other parts take those of SERIES."""
_FILE_WIDTH, _FONT = 540, "Helvetica Neue, Arial, Liberation Sans, sans-serif"
"""Width of a figure in a file in pixels, and its font."""
_LEFT, _RIGHT = 34.0, 96.0
"""Where an axis of rows begins and ends, in percent of the width. The names are to its left."""
_ROW, _LINE, _SIZE = 24, 14, 12
"""Pixels: the height of a row and of a further line of its name, and the size of the font."""
_CHARACTERS, _MOST_LINES = 19, 3
"""The number of characters in a line of a name, and of lines; longer names are cut."""
_CURVES = 220
"""Height of the area of curves and bars in pixels."""
_MARKS = (
    "M-4,0a4,4 0 1 0 8,0a4,4 0 1 0 -8,0Z",
    "M-4,-4H4V4H-4Z",
    "M0,-5.5L5.5,0L0,5.5L-5.5,0Z",
    "M0,-5L5,4H-5Z",
)
"""The paths of the marks of series: a circle, a square, a diamond and a triangle."""
_DASHES = ("", "6 3", "2 3", "8 3 2 3")
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
PlotRow = Mapping[str, JSON]
"""A row of a plot, or a part of one."""


def svg(plot: Plot, *, is_file: bool = False) -> str:
    """The plot as SVG with its title for screen readers, without scripts, styles and links.

    As a file it has a width in pixels and a white background; on a page it fills the width of its parent.
    """
    drawing = Drawing()
    _KINDS[plot.kind](plot, drawing)
    label = f"{plot.title}. The same figures are in the table that follows."
    width = str(_file_width(plot)) if is_file else "100%"
    paper = f'<rect width="100%" height="100%" fill="{PAPER}"/>' if is_file else ""
    return (
        f'<svg role="img" aria-label="{_safe(label)}" xmlns="http://www.w3.org/2000/svg" width="{width}" '
        f'height="{drawing.height:g}" font-family="{_FONT}" font-size="{_SIZE}">{paper}'
        f"{''.join(drawing.elements)}</svg>"
    )


def png(plot: Plot) -> bytes:
    """The plot as a PNG for print, on white, at 300 dots per inch: 150, drawn at twice the size."""
    import vl_convert

    return vl_convert.svg_to_png(svg(plot, is_file=True), scale=2, ppi=150)


def is_worth_drawing(plot: Plot) -> bool:
    """Whether a drawing has something to compare. A matrix is never drawn on a page: it is a shaded table."""
    rows = [row for row in plot.drawn.rows if row["value"] is not None]
    compared = {"lines": "x", "bars": "x"}
    if plot.kind == "matrix":
        return False
    if plot.kind == "bars":
        rows = [row for row in rows if row["value"]]
    return len({row[compared.get(plot.kind, "name")] for row in rows}) > 1


@dataclass(slots=True)
class Drawing:
    """The SVG elements of a figure and its height so far. Positions are percent across, and pixels down."""

    elements: list[str] = field(default_factory=list)
    height: float = 4

    def text(self, x: float, y: float, text: str, *, anchor: str = "start", fill: str = INK) -> None:
        """Text on the line `y`."""
        shown = _safe(str(with_minus(text)))
        self.elements.append(
            f'<text x="{x:.2f}%" y="{y:g}" text-anchor="{anchor}" fill="{fill}">{shown}</text>'
        )

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        colour: str,
        width: float = 1,
        dash: str = "",
    ) -> None:
        """A line from one position to another."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.elements.append(
            f'<line x1="{start[0]:.2f}%" y1="{start[1]:g}" x2="{end[0]:.2f}%" y2="{end[1]:g}" '
            f'stroke="{colour}" stroke-width="{width:g}"{dashes}/>'
        )

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """A filled rectangle."""
        size = f'width="{max(0.0, width):.2f}%" height="{height:g}"'
        self.elements.append(f'<rect x="{x:.2f}%" y="{y:g}" {size} fill="{colour}"/>')

    def mark(self, x: float, y: float, colour: str, shape: int = 0, outline: str = "") -> None:
        """A small mark in one of the shapes."""
        stroke = f' stroke="{outline}" stroke-width="1.5"' if outline else ""
        self.elements.append(
            f'<svg x="{x:.2f}%" y="{y:g}" overflow="visible"><path d="{_MARKS[shape % len(_MARKS)]}" '
            f'fill="{colour}"{stroke}/></svg>'
        )

    def name(self, lines: Sequence[str], middle: float) -> None:
        """The lines of a name to the left of the axis, around the middle of its row."""
        top = middle + 4 - _LINE * (len(lines) - 1) / 2
        for index, text in enumerate(lines):
            self.text(_LEFT - 2, top + _LINE * index, text, anchor="end")


def _safe(text: str) -> str:
    """Text without characters that XML does not allow, escaped."""
    return escape(_NOT_IN_XML.sub("\ufffd", text))


_MINUS = re.compile(r"(?<![^\s(])-(?=\d)")


def with_minus(value: object) -> object:
    """A text with minus signs in place of the hyphens of negative numbers; other values unchanged."""
    return _MINUS.sub("\N{MINUS SIGN}", value) if type(value) is str else value


def wrapped(name: str, characters: int = _CHARACTERS) -> list[str]:
    """The lines of a name, at most three."""
    # Cut first, because wrapping takes quadratic time.
    start = name[: characters * (_MOST_LINES + 1)]
    return textwrap.wrap(start, characters, max_lines=_MOST_LINES, placeholder="\u2026") or [""]


def _distinct(rows: Iterable[PlotRow], column: str) -> list[str]:
    """The distinct values of a column as text, in the order of their first rows."""
    return list(dict.fromkeys(str(row[column]) for row in rows))


def _across(axis: Axis, value: float, left: float = _LEFT, right: float = _RIGHT) -> float:
    """The position of a value, within the axis."""
    return left + (right - left) * min(max(axis.share(value), 0.0), 100.0) / 100


def _axis_of(plot: Plot, keys: Sequence[str]) -> Axis:
    """The axis of these columns: the plot's own ends, or round numbers around all values."""
    if plot.low is not None and plot.high is not None:
        return Axis(low=plot.low, high=plot.high)
    values = [row[key] for row in plot.rows for key in keys if row.get(key) is not None]
    values += [end for end in (plot.low, plot.high, plot.zero) if end is not None]
    return rounded_axis(values or [0.0, 1.0])


def _unit(plot: Plot) -> str:
    return {"%": "percent", "pp": "percentage points"}.get(plot.unit, plot.unit)


def _scale_below(drawing: Drawing, axis: Axis, top: float, title: str) -> None:
    """Draw rules from `top` to the drawing's height, then their values and the title of the axis below."""
    rules = Drawing()
    for tick in axis.ticks():
        x = _across(axis, tick)
        rules.line((x, top), (x, drawing.height), RULE_COLOUR)
        drawing.text(x, drawing.height + 15, f"{tick:g}", anchor="middle", fill=SOFT)
    drawing.elements[:0] = rules.elements
    drawing.text((_LEFT + _RIGHT) / 2, drawing.height + 33, title, anchor="middle", fill=SOFT)
    drawing.height += 40


def _rows_of(drawing: Drawing, names: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Write each name, and yield it with the middle of its row; then add the row to the drawing's height."""
    for name in names:
        lines = wrapped(name)
        height = _ROW + _LINE * (len(lines) - 1)
        middle = drawing.height + height / 2
        drawing.name(lines, middle)
        yield name, middle
        drawing.height += height


def _legend(
    drawing: Drawing,
    entries: Sequence[tuple[str, str]],
    shapes: Sequence[int] | None = None,
    outline: str = "",
) -> None:
    """Draw names beside their colours, three to a line if they are short."""
    columns = 3 if all(len(name) <= 12 for name, _ in entries) else 1
    for index, (name, colour) in enumerate(entries):
        x, y = 3 + 33 * (index % columns), drawing.height + 8 + 18 * (index // columns)
        drawing.mark(x, y, colour, 1 if shapes is None else shapes[index], outline)
        drawing.text(x + 3, y + 4, textwrap.shorten(name, 44, placeholder="\u2026"))
    drawing.height += 18 * -(-len(entries) // columns) + 6


# Kinds.


def _intervals(plot: Plot, drawing: Drawing) -> None:
    axis, top = _axis_of(plot, ("value", "low", "high")), drawing.height
    rows = {str(row["name"]): row for row in plot.rows}
    for name, middle in _rows_of(drawing, [*rows]):
        _whiskers(drawing, axis, rows[name], middle, ACCENT)
        if rows[name]["value"] is not None:
            drawing.mark(_across(axis, rows[name]["value"]), middle, ACCENT)
    if plot.zero is not None:
        zero = _across(axis, plot.zero)
        drawing.line((zero, top), (zero, drawing.height), SOFT, dash="4 3")
    _scale_below(drawing, axis, top, _unit(plot))


def _whiskers(drawing: Drawing, axis: Axis, row: PlotRow, middle: float, colour: str) -> None:
    if row["low"] is not None and row["high"] is not None:
        ends = [_across(axis, row[end]) for end in ("low", "high")]
        drawing.line((ends[0], middle), (ends[1], middle), colour, 2)


_PLANE, _LABEL = 250, 30
"""Pixels: the heights of a plane, and of a label in it together with its note."""


def _plane(plot: Plot, drawing: Drawing) -> None:
    """Draw points with whiskers in both directions. Names on the same side of their points are kept apart."""
    rows = [row for row in plot.rows if row["x"] is not None and row["value"] is not None]
    far = max([25.0, *(abs(row[key]) for row in rows for key in ("x", "x low", "x high") if row[key])])
    axis, x_axis = _axis_of(plot, ("value", "low", "high")), Axis(low=-far, high=far)
    down = _frame(plot, drawing, axis, _PLANE)
    x_of = partial(_across, x_axis, left=_CURVES_LEFT + 3, right=_RIGHT)
    top = drawing.height - _PLANE
    drawing.line((x_of(0.0), top), (x_of(0.0), drawing.height), SOFT, dash="4 3")
    # The points from the lowest up. A label stands at its point, or above the last label on its side.
    last_label = {-1: drawing.height, 1: drawing.height}
    for row in sorted(rows, key=lambda row: row["value"]):
        x, y = x_of(row["x"]), down(row["value"])
        _crossed(drawing, row, (x_of, down))
        drawing.mark(x, y, PAPER if row["note"] else ACCENT, 0, ACCENT)
        side = -1 if row["x"] > far / 3 else 1
        label = min(y + 4, last_label[side] - (_LABEL if row["note"] else _LABEL / 2 + 2))
        last_label[side] = label
        anchor = "start" if side > 0 else "end"
        drawing.text(x + 2 * side, label, wrapped(str(row["name"]), 28)[0], anchor=anchor)
        if row["note"]:
            drawing.text(x + 2 * side, label + _LINE, str(row["note"]), anchor=anchor, fill=SOFT)
    for tick in x_axis.ticks():
        drawing.text(
            x_of(tick), drawing.height + 15, f"{tick:+g}" if tick else "0", anchor="middle", fill=SOFT
        )
    below, above = plot.sides
    names = ((-far, f"\u2190 {below}", "start"), (0.0, "lean", "middle"), (far, f"{above} \u2192", "end"))
    for x, text, anchor in names:
        drawing.text(x_of(x), drawing.height + 32, text, anchor=anchor, fill=SOFT)
    drawing.height += 38


def _crossed(
    drawing: Drawing, row: PlotRow, positions: tuple[Callable[[float], float], Callable[[float], float]]
) -> None:
    """Draw the whiskers of a point in a plane. `positions` are the functions from values to positions."""
    x_of, down = positions
    x, y = x_of(row["x"]), down(row["value"])
    if row["x low"] is not None and row["x high"] is not None:
        drawing.line((x_of(row["x low"]), y), (x_of(row["x high"]), y), ACCENT, 2)
    if row["low"] is not None and row["high"] is not None:
        drawing.line((x, down(row["low"])), (x, down(row["high"])), ACCENT, 2)


def _stacked(plot: Plot, drawing: Drawing) -> None:
    parts = _distinct(plot.rows, "part")
    colours = {part: PARTS.get(part, SERIES[index % len(SERIES)]) for index, part in enumerate(parts)}
    _legend(drawing, [*colours.items()])
    top, axis = drawing.height, Axis(low=0.0, high=100.0)
    for name, middle in _rows_of(drawing, _distinct(plot.rows, "name")):
        own = [row for row in plot.rows if str(row["name"]) == name]
        total, share = sum(row["value"] or 0 for row in own) or 1, 0.0
        for row in own:
            size = 100 * (row["value"] or 0) / total
            x = _across(axis, share)
            drawing.box(x, middle - 9, _across(axis, share + size) - x, 18, colours[str(row["part"])])
            share += size
    _scale_below(drawing, axis, top, f"percent of {plot.unit}")


def _matrix(plot: Plot, drawing: Drawing) -> None:
    """Draw a cell with a text for each row; pages show a matrix as a table instead."""
    columns = _distinct(plot.rows, "column")
    width = (100 - _LEFT) / max(1, len(columns))
    heads = [wrapped(column, 10) for column in columns]
    drawing.height += _LINE * max(map(len, heads), default=1)
    for index, lines in enumerate(heads):
        for up, text in enumerate(reversed(lines)):
            x = _LEFT + width * (index + 0.5)
            drawing.text(x, drawing.height - 4 - _LINE * up, text, anchor="middle")
    cells = {(str(row["row"]), str(row["column"])): row for row in plot.rows}
    for name, middle in _rows_of(drawing, _distinct(plot.rows, "row")):
        for index, column in enumerate(columns):
            if row := cells.get((name, column)):
                _shaded(plot, drawing, row, (_LEFT + width * index, middle), width)
    drawing.height += 4


def _shaded(plot: Plot, drawing: Drawing, row: PlotRow, start: tuple[float, float], width: float) -> None:
    paper = PAPER if row["value"] is None else shades.colour(plot, row["value"])
    x, middle = start
    drawing.box(x, middle - _ROW / 2 + 1, width - 0.3, _ROW - 2, paper)
    text = textwrap.shorten(str(row["text"]), 12, placeholder="\u2026")
    drawing.text(x + width / 2, middle + 4, text, anchor="middle", fill=shades.ink(paper))


_CURVES_LEFT = 9.0
"""Where the area of curves begins, in percent of the width. The values of its axis are to its left."""


def _frame(plot: Plot, drawing: Drawing, axis: Axis, height: float = _CURVES) -> Callable[[float], float]:
    """Draw the axis of values to the left. Returns the function from a value to its distance from the top."""
    drawing.text(_CURVES_LEFT, drawing.height + 10, _unit(plot), fill=SOFT)
    top = drawing.height + 20

    def down(value: float) -> float:
        return top + height * (100 - min(max(axis.share(value), 0.0), 100.0)) / 100

    for tick in axis.ticks():
        drawing.line((_CURVES_LEFT, down(tick)), (_RIGHT, down(tick)), RULE_COLOUR)
        drawing.text(_CURVES_LEFT - 1.5, down(tick) + 4, f"{tick:g}", anchor="end", fill=SOFT)
    drawing.height = top + height
    return down


def _positions(plot: Plot) -> tuple[dict[object, float], list[tuple[float, str]]]:
    """The position of each x in percent across, and the labels of the axis with their positions."""
    xs = list(dict.fromkeys(row["x"] for row in plot.rows))
    if all(isinstance(x, int | float) for x in xs):
        axis = Axis(low=min(xs), high=max(xs)) if len(xs) > 1 else Axis(low=xs[0] - 1, high=xs[0] + 1)
        places = {x: _across(axis, x, _CURVES_LEFT + 2, _RIGHT - 2) for x in xs}
        step = -(-len(xs) // 8)
        return places, [(places[x], f"{x:g}") for x in sorted(xs)[::step]]
    width = (_RIGHT - _CURVES_LEFT) / len(xs)
    places = {x: _CURVES_LEFT + width * (index + 0.5) for index, x in enumerate(xs)}
    return places, [(across, str(x)) for x, across in places.items()]


def _label_below(drawing: Drawing, labels: Sequence[tuple[float, str]], title: str) -> None:
    lines = [wrapped(text, max(6, 50 // max(1, len(labels)))) for _, text in labels]
    for (x, _), texts in zip(labels, lines, strict=True):
        for index, text in enumerate(texts):
            drawing.text(x, drawing.height + 16 + _LINE * index, text, anchor="middle", fill=SOFT)
    drawing.height += 20 + _LINE * (max(map(len, lines), default=1) - 1)
    if title:
        drawing.text((_CURVES_LEFT + _RIGHT) / 2, drawing.height + 14, title, anchor="middle", fill=SOFT)
        drawing.height += 20
    drawing.height += 4


def _lines(plot: Plot, drawing: Drawing) -> None:
    series = _distinct(plot.rows, "series")
    colours = {name: SERIES[index % len(SERIES)] for index, name in enumerate(series)}
    if len(series) > 1:
        _legend(drawing, [*colours.items()], [*range(len(series))])
    axis = _axis_of(plot, ("value",))
    down = _frame(plot, drawing, axis)
    places, labels = _positions(plot)
    if plot.diagonal:
        ends = [(across, down(float(x))) for x, across in places.items() if isinstance(x, int | float)]
        drawing.line(min(ends), max(ends), SOFT, dash="4 3")
    # Marks and dashes differ, too, for readers who cannot tell the colours apart.
    for index, (name, colour) in enumerate(colours.items()):
        own = [row for row in plot.rows if str(row["series"]) == name and row["value"] is not None]
        points = [(places[row["x"]], down(row["value"])) for row in own]
        for start, end in pairwise(points):
            drawing.line(start, end, colour, 2, _DASHES[index % len(_DASHES)])
        for x, y in points:
            drawing.mark(x, y, colour, index)
    _label_below(drawing, labels, plot.x_title)


def _bars(plot: Plot, drawing: Drawing) -> None:
    series = _distinct(plot.rows, "series")
    colours = [ACCENT] if len(series) == 1 else [SERIES[n % len(SERIES)] for n in range(len(series))]
    if len(series) > 1:
        _legend(drawing, [*zip(series, colours, strict=True)])
    down = _frame(plot, drawing, _axis_of(plot, ("value",)))
    places, labels = _positions(plot)
    width = 0.8 * (_RIGHT - _CURVES_LEFT) / len(places) / len(series)
    for row in plot.rows:
        if row["value"] is not None:
            index = series.index(str(row["series"]))
            x, top = places[row["x"]] + width * (index - len(series) / 2), down(row["value"])
            drawing.box(x, top, width, drawing.height - top, colours[index])
    _label_below(drawing, labels, plot.x_title)


def _checks(plot: Plot, drawing: Drawing) -> None:
    """Draw the checks of audits, readable without colour: bands are grey, faults are hollow diamonds."""
    axis, top = _axis_of(plot, ("value", "low", "high", "from", "to")), drawing.height
    faultless = "no fault found"
    for series in _distinct(plot.rows, "series"):
        drawing.height += 20
        drawing.text(0.5, drawing.height - 5, series)
        rows = {str(row["name"]): row for row in plot.rows if str(row["series"]) == series}
        for name, middle in _rows_of(drawing, [*rows]):
            row = rows[name]
            ends = [_across(axis, row[end]) for end in ("from", "to")]
            drawing.box(ends[0], middle - 9, ends[1] - ends[0], 18, RULE_COLOUR)
            _whiskers(drawing, axis, row, middle, INK)
            if row["value"] is not None:
                is_sound = row["ruling"] == faultless
                x = _across(axis, row["value"])
                drawing.mark(x, middle, INK if is_sound else PAPER, 0 if is_sound else 2, INK)
    zero = _across(axis, 0.0)
    drawing.line((zero, top), (zero, drawing.height), SOFT)
    _scale_below(drawing, axis, top, _unit(plot))
    _legend(drawing, [(faultless, INK), ("fault, or no better than chance", PAPER)], [0, 2], INK)


_KINDS: Mapping[PlotKind, Callable[[Plot, Drawing], None]] = {
    "intervals": _intervals,
    "plane": _plane,
    "stacked": _stacked,
    "matrix": _matrix,
    "lines": _lines,
    "bars": _bars,
    "checks": _checks,
}


def _file_width(plot: Plot) -> int:
    """The width in a file: a matrix is as wide as its columns."""
    return (
        max(_FILE_WIDTH, 200 + 70 * len(_distinct(plot.rows, "column")))
        if plot.kind == "matrix"
        else _FILE_WIDTH
    )
