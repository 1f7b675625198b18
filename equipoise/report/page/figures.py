"""Draws plots: plain data become Vega-Lite, which vl-convert turns into SVG or PNG, offline."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from equipoise.core.types import JSON
from equipoise.report.page import shades
from equipoise.suites.plots import COLUMNS, Plot, PlotKind

Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one."""
INK, SOFT, RULE_COLOUR, ACCENT, PAPER = "#1b1b1b", "#5a5a5a", "#dcdcdc", "#1a5a96", "#ffffff"
"""Colours of text, axis titles, rules, data and background, which the style sheet replaces in dark mode."""
SERIES = ("#0b3c5d", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a6d00", "#7f7f7f")
"""Colours of series that colour-blind readers can tell apart (Okabe and Ito 2008)."""
PARTS: Mapping[str, str] = {
    "scored": "#b7d3ea",
    "refused": "#d55e00",
    "truncated": "#f0c75e",
    "empty": "#f7ecc4",
    "blocked": "#7b3294",
    "unscored": "#8f8f8f",
    "error": "#3a3a3a",
    "unknown": "#dddddd",
}
"""The colours of outcomes in stacked bars; other parts take those of SERIES."""
_ROW_HEIGHT, _LINE_HEIGHT, _CHARACTER_WIDTH = 22, 14, 7
"""Pixels: the height of a row and of a line, and about the width of a character."""
_MOST_LINES = 3
"""Maximum number of lines of a name; longer ones are cut."""
_MATRIX_WIDTH, _LEAST_CELL_WIDTH, _MOST_CELL_WIDTH = 420, 38, 90
"""Pixels: the width that the columns of a matrix share, and the least and greatest width of a column."""
_SLANT = -40
"""The angle in degrees of column labels that are wider than their column."""
_FONT = "Helvetica Neue, Arial, Liberation Sans, sans-serif"
_ARIA_OF_GROUPS = re.compile(r' (?:role="graphics-[a-z]+"|aria-roledescription="[a-z -]*")')
"""ARIA attributes of groups within a figure, useless for screen readers without labels."""
_OF_OBJECTS = {
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
}
"""The properties of every object in JavaScript."""
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The width of a figure with its axes in pixels, and the maximum length of a line in a name."""

    width: int
    characters: int
    legend_columns: int
    """Number of columns of a legend; 0 for one row."""


WIDE = Layout(width=540, characters=36, legend_columns=0)
NARROW = Layout(width=348, characters=17, legend_columns=3)
"""Layout for a phone: 390 pixels with the margins of the page."""


def svg(plot: Plot, layout: Layout = WIDE, *, background: str | None = None) -> str:
    """The plot as SVG with its title for screen readers, without scripts, styles and links."""
    import vl_convert

    image: str = vl_convert.vegalite_to_svg(spec(plot, layout, background), vl_version="5.20")
    label = escape(f"{plot.title}. The same figures are in the table that follows.")
    image = _ARIA_OF_GROUPS.sub("", image)
    return image.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def png(plot: Plot) -> bytes:
    """The plot as a PNG for print, on white, at 300 dots per inch."""
    import vl_convert

    return vl_convert.vegalite_to_png(spec(plot, background=PAPER), vl_version="5.20", scale=2, ppi=150)


def spec(plot: Plot, layout: Layout = WIDE, background: str | None = None) -> Spec:
    """The plot in Vega-Lite."""
    rows = [_drawable(row) | {"place": index} for index, row in enumerate(plot.rows)]
    for key in _LABEL_COLUMNS & {*COLUMNS[plot.kind]}:
        labels = _wrapped_labels(_names(rows, key), layout)
        rows = [{**row, key: labels[row[key]]} for row in rows]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": rows},
        "background": background,
        "padding": 4,
        "config": _CONFIG,
        **_KINDS[plot.kind](replace(plot, rows=rows), layout),
    }


_LABEL_COLUMNS = {"name", "row"}
"""Columns whose values are labels, which may be wrapped."""


def _drawable(row: Mapping[str, JSON]) -> dict[str, JSON]:
    """The row, with characters that XML does not allow replaced.

    Vega takes a name that every JavaScript object has, such as `constructor`, for one that it has seen.
    """
    texts = {key: value for key, value in row.items() if isinstance(value, str)}
    drawable = {key: _NOT_IN_XML.sub("\ufffd", text) for key, text in texts.items()}
    return {
        **row,
        **{key: f"{text}\u200b" if text in _OF_OBJECTS else text for key, text in drawable.items()},
    }


def _wrapped_labels(names: Sequence[str], layout: Layout) -> dict[str, str]:
    """The label of each name, wrapped. Equal labels are made distinct with zero-width spaces."""
    labels: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        # Cut first, because wrapping takes quadratic time.
        start = name[: layout.characters * (_MOST_LINES + 1)]
        label = "\n".join(
            textwrap.wrap(start, layout.characters, max_lines=_MOST_LINES, placeholder="\u2026")
        )
        while label in taken:
            label += "\u200b"
        taken.add(label)
        labels[name] = label
    return labels


_CONFIG: Spec = {
    "aria": False,
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK,
        "titleColor": SOFT,
        "titleFontWeight": "normal",
        "titleFontSize": 12,
        "labelFontSize": 12,
        "gridColor": RULE_COLOUR,
        "domainColor": RULE_COLOUR,
        "tickColor": RULE_COLOUR,
        "labelLimit": 260,
        "domain": False,
        "ticks": False,
        "labelPadding": 8,
    },
    "legend": {"labelColor": INK, "title": None, "orient": "top", "labelFontSize": 12, "labelLimit": 260},
    "header": {"labelColor": INK, "title": None, "labelFontSize": 12, "labelFontWeight": "bold"},
}


# Kinds.


def _intervals(plot: Plot, layout: Layout) -> Spec:
    names = _names(plot.rows, "name")
    shared = {"y": _rows_axis("name", names), "x": _value_axis(plot, "low")}
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeWidth": 2, "color": ACCENT},
            "transform": [{"filter": "isValid(datum.low)"}],
            "encoding": {**shared, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 70, "color": ACCENT, "opacity": 1},
            "transform": [{"filter": "isValid(datum.value)"}],
            "encoding": {**shared, "x": _value_axis(plot, "value")},
        },
    ]
    if plot.zero is not None:
        zero_line = {"mark": {"type": "rule", "color": SOFT, "strokeDash": [4, 3]}}
        layers.insert(0, {**zero_line, "encoding": {"x": {"datum": plot.zero}}})
    return {**_fitted(layout), "height": {"step": _row_step(names)}, "layer": layers}


def _stacked(plot: Plot, layout: Layout) -> Spec:
    parts, names = _names(plot.rows, "part"), _names(plot.rows, "name")
    colours = [PARTS.get(part, SERIES[index % len(SERIES)]) for index, part in enumerate(parts)]
    colour = {"field": "part", "type": "nominal", "scale": {"domain": parts, "range": colours}}
    return {
        **_fitted(layout),
        "height": {"step": _row_step(names) + 6},
        "mark": {"type": "bar", "stroke": PAPER, "strokeWidth": 1.5},
        "encoding": {
            "y": _rows_axis("name", names),
            "x": {
                "field": "value",
                "type": "quantitative",
                "stack": "normalize",
                "title": f"share of {plot.unit}",
                "axis": {"format": ".0%", "tickCount": 5, "labelFlush": False},
            },
            "order": {"field": "place", "type": "quantitative"},
            "color": {**colour, "legend": {"symbolType": "square", "columns": layout.legend_columns}},
        },
    }


def _matrix(plot: Plot, layout: Layout) -> Spec:
    """The matrix as wide as its columns; `layout` is not used, since pages show a matrix as a table."""
    columns, rows = _names(plot.rows, "column"), _names(plot.rows, "row")
    colours = shades.colours(is_diverging=plot.zero is not None)
    backgrounds = [
        None if row["value"] is None else colours[shades.step(plot, row["value"])] for row in plot.rows
    ]
    text_colours = [INK if paper is None else shades.ink(paper) for paper in backgrounds]
    shaded = [
        {**row, "paper": paper, "ink": ink}
        for row, paper, ink in zip(plot.rows, backgrounds, text_colours, strict=True)
    ]
    step = max(_LEAST_CELL_WIDTH, min(_MOST_CELL_WIDTH, _MATRIX_WIDTH // max(1, len(columns))))
    are_labels_slanted = _CHARACTER_WIDTH * max(map(len, columns), default=0) > step
    axis = {"orient": "top", "labelAngle": _SLANT if are_labels_slanted else 0}
    shared = {
        "y": _rows_axis("row", rows),
        "x": {"field": "column", "type": "nominal", "sort": columns, "title": None, "axis": axis},
    }
    return {
        "data": {"values": shaded},
        "width": {"step": step},
        "height": {"step": _row_step(rows) + 2},
        "layer": [
            {
                "mark": {"type": "rect", "stroke": PAPER, "strokeWidth": 1.5},
                "transform": [{"filter": "isValid(datum.value)"}],
                "encoding": {**shared, "color": {"field": "paper", "type": "nominal", "scale": None}},
            },
            {
                "mark": {"type": "text", "fontSize": 11, "limit": 88},
                "encoding": {
                    **shared,
                    "text": {"field": "text"},
                    "color": {"field": "ink", "type": "nominal", "scale": None},
                },
            },
        ],
    }


def _lines(plot: Plot, layout: Layout) -> Spec:
    series = _names(plot.rows, "series")
    is_numeric = all(isinstance(row["x"], int | float) for row in plot.rows)
    axis = {"grid": False, "labelAngle": 0}
    x: Spec = {"field": "x", "title": plot.x_title or None, "axis": axis}
    x["type"] = "quantitative" if is_numeric else "ordinal"
    if is_numeric:
        x["scale"] = {"zero": False, "nice": False}
        x["axis"] = {**axis, "tickMinStep": 1}
    else:
        x["sort"] = _names(plot.rows, "x")
    legend = _series(series, layout)
    encoding = {"x": x, "y": _value_axis(plot, "value"), "color": legend}
    # Marks and dashes differ, too, for readers who cannot tell the colours apart.
    mark_or_dash = {**legend, "scale": {"domain": series}}
    layers: list[Spec] = [
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "transform": [{"filter": "isValid(datum.value)"}],
            "encoding": {**encoding, "strokeDash": mark_or_dash},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "transform": [{"filter": "isValid(datum.value)"}],
            "encoding": {**encoding, "shape": mark_or_dash},
        },
    ]
    if plot.diagonal:
        ends = [{"at": plot.low}, {"at": plot.high}]
        line = {"type": "line", "color": SOFT, "strokeDash": [4, 3], "strokeWidth": 1}
        both = {"x": {"field": "at", "type": "quantitative"}, "y": {"field": "at", "type": "quantitative"}}
        layers.insert(0, {"data": {"values": ends}, "mark": line, "encoding": both})
    return {**_fitted(layout), "height": 240, "layer": layers}


def _bars(plot: Plot, layout: Layout) -> Spec:
    series, positions = _names(plot.rows, "series"), _names(plot.rows, "x")
    x = {"field": "x", "type": "ordinal", "sort": positions, "title": plot.x_title or None}
    by_series = {
        "color": _series(series, layout),
        "xOffset": {"field": "series", "sort": series},
    }
    return {
        **_fitted(layout),
        "height": 120,
        "mark": {"type": "bar", "color": ACCENT},
        "encoding": {
            "x": {**x, "axis": {"labelAngle": 0}},
            "y": {**_value_axis(plot, "value"), "axis": {"tickCount": 4}},
            **(by_series if len(series) > 1 else {}),
        },
    }


def _series(series: Sequence[str], layout: Layout) -> Spec:
    """The colour of each series, and a legend if there are several."""
    scale = {"domain": [*series], "range": [*SERIES]}
    # The names of series can be long: a narrow legend has one on each line.
    legend = {"columns": 1 if layout.legend_columns else 0} if len(series) > 1 else None
    return {"field": "series", "type": "nominal", "scale": scale, "legend": legend}


def _checks(plot: Plot, layout: Layout) -> Spec:
    """Checks of audits, readable without colour: bands are grey, faults are hollow diamonds."""
    names = _names(plot.rows, "name")
    shared = {"y": _rows_axis("name", names), "x": _value_axis(plot, "low")}
    rulings = ["no fault found", "fault, or no better than chance"]
    shape = {
        "field": "ruling",
        "type": "nominal",
        "scale": {"domain": rulings, "range": ["circle", "diamond"]},
    }
    fill = {"condition": {"test": "datum.ruling !== 'no fault found'", "value": PAPER}, "value": INK}
    layers: list[Spec] = [
        {
            "mark": {"type": "bar", "color": RULE_COLOUR, "height": {"band": 0.8}},
            "encoding": {**shared, "x": _value_axis(plot, "from"), "x2": {"field": "to"}},
        },
        {"mark": {"type": "rule", "color": SOFT}, "encoding": {"x": {"datum": 0}}},
        {
            "mark": {"type": "rule", "strokeWidth": 2, "color": INK},
            "transform": [{"filter": "isValid(datum.low)"}],
            "encoding": {**shared, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "size": 90, "opacity": 1, "stroke": INK, "strokeWidth": 1.5},
            "transform": [{"filter": "isValid(datum.value)"}],
            "encoding": {**shared, "x": _value_axis(plot, "value"), "shape": shape, "fill": fill},
        },
    ]
    header = {"labelAngle": 0, "labelAlign": "left", "labelOrient": "top", "labelAnchor": "start"}
    return {
        "facet": {"row": {"field": "series", "sort": _names(plot.rows, "series"), "header": header}},
        "spacing": 8,
        "spec": {"width": layout.width - 20, "height": {"step": _row_step(names)}, "layer": layers},
    }


_KINDS: Mapping[PlotKind, Callable[[Plot, Layout], Spec]] = {
    "intervals": _intervals,
    "stacked": _stacked,
    "matrix": _matrix,
    "lines": _lines,
    "bars": _bars,
    "checks": _checks,
}


def _fitted(layout: Layout) -> Spec:
    """The width of a figure, such that it fits the layout including axes and legend."""
    return {"width": layout.width, "autosize": {"type": "fit-x", "contains": "padding"}}


def _rows_axis(field: str, names: Sequence[str]) -> Spec:
    axis = {"grid": False, "labelExpr": "split(datum.label, '\\n')", "labelLineHeight": _LINE_HEIGHT}
    return {"field": field, "type": "nominal", "sort": [*names], "title": None, "axis": axis}


def _row_step(names: Sequence[str]) -> int:
    """The height of every row in pixels: that of the name with the most lines."""
    return _ROW_HEIGHT + _LINE_HEIGHT * max((name.count("\n") for name in names), default=0)


def _value_axis(plot: Plot, field: str) -> Spec:
    ends = [plot.low, plot.high]
    scale = {"domain": ends} if None not in ends else {"zero": plot.low == 0, "nice": True}
    title = {"%": "percent", "pp": "percentage points"}.get(plot.unit, plot.unit)
    axis = {"tickCount": 6, "labelFlush": False}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _names(rows: Sequence[Mapping[str, JSON]], column: str) -> list[str]:
    """The distinct values of a column, in the order of their first rows."""
    return list(dict.fromkeys(row[column] for row in rows))
