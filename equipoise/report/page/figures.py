"""Draws figures: plain data become Vega-Lite, and vl-convert turns that into SVG and PNG, offline."""

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
INK, SOFT, LINE, ACCENT, PAPER = "#1b1b1b", "#5a5a5a", "#dcdcdc", "#1a5a96", "#ffffff"
"""Colours that the page's style sheet replaces in dark mode."""
SERIES = ("#0b3c5d", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a6d00", "#7f7f7f")
"""Colours for colour-blind readers (Okabe and Ito 2008); lines differ in dashes and marks, too."""
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
_STEP, _LINE, _CHARACTER = 22, 14, 7
"""Pixels: the height of a row and of a line, and about the width of a character."""
_LINES = 3
"""Maximum number of lines of a name; longer ones are cut."""
_FONT = "Helvetica Neue, Arial, Liberation Sans, sans-serif"
_ARIA_OF_GROUPS = re.compile(r' (?:role="graphics-[a-z]+"|aria-roledescription="[a-z -]*")')
"""ARIA attributes of groups within a figure, useless for screen readers without labels."""
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The width of a figure with its axes in pixels, and the maximum length of a line in a name."""

    width: int
    characters: int
    legend: int
    """Number of columns of a legend; 0 for one row."""


WIDE = Layout(width=540, characters=36, legend=0)
NARROW = Layout(width=348, characters=17, legend=3)
"""Layout for a phone: 390 pixels with the margins of the page."""


def svg(figure: Plot, layout: Layout = WIDE, *, background: str | None = None) -> str:
    """The figure as SVG with its title for screen readers; without scripts, styles and links."""
    import vl_convert

    image: str = vl_convert.vegalite_to_svg(spec(figure, layout, background), vl_version="5.20")
    label = escape(f"{figure.title}. The same figures are in the table that follows.")
    image = _ARIA_OF_GROUPS.sub("", image)
    return image.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def png(figure: Plot) -> bytes:
    """The figure as a PNG for print, on white, at 300 dots per inch."""
    import vl_convert

    return vl_convert.vegalite_to_png(spec(figure, background=PAPER), vl_version="5.20", scale=2, ppi=150)


def spec(figure: Plot, layout: Layout = WIDE, background: str | None = None) -> Spec:
    """The figure in Vega-Lite."""
    rows = [_drawable(row) | {"place": index} for index, row in enumerate(figure.rows)]
    for key in _LABELS & {*COLUMNS[figure.kind]}:
        labels = _labels(_names(rows, key), layout)
        rows = [{**row, key: labels[row[key]]} for row in rows]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": rows},
        "background": background,
        "padding": 4,
        "config": _CONFIG,
        **_KINDS[figure.kind](replace(figure, rows=rows), layout),
    }


_LABELS = {"name", "row"}
"""Columns whose values are labels, which may be wrapped."""


def _drawable(row: Mapping[str, JSON]) -> dict[str, JSON]:
    texts = {key: value for key, value in row.items() if isinstance(value, str)}
    return {**row, **{key: _NOT_IN_XML.sub("\ufffd", text) for key, text in texts.items()}}


def _labels(names: Sequence[str], layout: Layout) -> dict[str, str]:
    """The label of each name, wrapped. Equal labels are made distinct with zero-width spaces."""
    labels: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        # Cut first, because wrapping takes quadratic time.
        start = name[: layout.characters * (_LINES + 1)]
        label = "\n".join(textwrap.wrap(start, layout.characters, max_lines=_LINES, placeholder="\u2026"))
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
        "gridColor": LINE,
        "domainColor": LINE,
        "tickColor": LINE,
        "labelLimit": 260,
        "domain": False,
        "ticks": False,
        "labelPadding": 8,
    },
    "legend": {"labelColor": INK, "title": None, "orient": "top", "labelFontSize": 12, "labelLimit": 260},
    "header": {"labelColor": INK, "title": None, "labelFontSize": 12, "labelFontWeight": "bold"},
}


# Kinds.


def _intervals(figure: Plot, layout: Layout) -> Spec:
    names = _names(figure.rows, "name")
    shared = {"y": _rows_axis("name", names), "x": _value_axis(figure, "low")}
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeWidth": 2, "color": ACCENT},
            "transform": [{"filter": "isValid(datum.low)"}],
            "encoding": {**shared, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 70, "color": ACCENT, "opacity": 1},
            "transform": [{"filter": "isValid(datum.value)"}],
            "encoding": {**shared, "x": _value_axis(figure, "value")},
        },
    ]
    if figure.zero is not None:
        even = {"mark": {"type": "rule", "color": SOFT, "strokeDash": [4, 3]}}
        layers.insert(0, {**even, "encoding": {"x": {"datum": figure.zero}}})
    return {**_fitted(layout), "height": {"step": _row_step(names)}, "layer": layers}


def _stacked(figure: Plot, layout: Layout) -> Spec:
    parts, names = _names(figure.rows, "part"), _names(figure.rows, "name")
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
                "title": f"share of {figure.unit}",
                "axis": {"format": ".0%", "tickCount": 5, "labelFlush": False},
            },
            "order": {"field": "place", "type": "quantitative"},
            "color": {**colour, "legend": {"symbolType": "square", "columns": layout.legend}},
        },
    }


def _matrix(figure: Plot, layout: Layout) -> Spec:
    columns, rows = _names(figure.rows, "column"), _names(figure.rows, "row")
    colours = shades.colours(is_tilt=figure.zero is not None)
    papers = [
        None if row["value"] is None else colours[shades.step(figure, row["value"])] for row in figure.rows
    ]
    inks = [INK if paper is None else shades.ink(paper) for paper in papers]
    shaded = [
        {**row, "paper": paper, "ink": ink} for row, paper, ink in zip(figure.rows, papers, inks, strict=True)
    ]
    step = max(38, min(90, 420 // max(1, len(columns))))
    is_tilted = _CHARACTER * max(map(len, columns), default=0) > step
    axis = {"orient": "top", "labelAngle": -40 if is_tilted else 0}
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


def _lines(figure: Plot, layout: Layout) -> Spec:
    series = _names(figure.rows, "series")
    numbers = all(isinstance(row["x"], int | float) for row in figure.rows)
    axis = {"grid": False, "labelAngle": 0}
    x: Spec = {"field": "x", "title": figure.x_title or None, "axis": axis}
    x["type"] = "quantitative" if numbers else "ordinal"
    if numbers:
        x["scale"] = {"zero": False, "nice": False}
        x["axis"] = {**axis, "tickMinStep": 1}
    else:
        x["sort"] = _names(figure.rows, "x")
    legend = _series(series, layout)
    encoding = {"x": x, "y": _value_axis(figure, "value"), "color": legend}
    different = {"shape": {**legend}, "strokeDash": {**legend}}
    for channel in different.values():
        channel["scale"] = {"domain": series}
    layers: list[Spec] = [
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "transform": [{"filter": "isValid(datum.value)"}],
            "encoding": {**encoding, "strokeDash": different["strokeDash"]},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "transform": [{"filter": "isValid(datum.value)"}],
            "encoding": {**encoding, "shape": different["shape"]},
        },
    ]
    if figure.diagonal:
        ends = [{"at": figure.low}, {"at": figure.high}]
        line = {"type": "line", "color": SOFT, "strokeDash": [4, 3], "strokeWidth": 1}
        both = {"x": {"field": "at", "type": "quantitative"}, "y": {"field": "at", "type": "quantitative"}}
        layers.insert(0, {"data": {"values": ends}, "mark": line, "encoding": both})
    return {**_fitted(layout), "height": 240, "layer": layers}


def _bars(figure: Plot, layout: Layout) -> Spec:
    series, positions = _names(figure.rows, "series"), _names(figure.rows, "x")
    x = {"field": "x", "type": "ordinal", "sort": positions, "title": figure.x_title or None}
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
            "y": {**_value_axis(figure, "value"), "axis": {"tickCount": 4}},
            **(by_series if len(series) > 1 else {}),
        },
    }


def _series(series: Sequence[str], layout: Layout) -> Spec:
    """The colour of each series, and a legend if there are several."""
    scale = {"domain": [*series], "range": [*SERIES]}
    legend = {"columns": 1 if layout.legend else 0} if len(series) > 1 else None
    return {"field": "series", "type": "nominal", "scale": scale, "legend": legend}


def _checks(figure: Plot, layout: Layout) -> Spec:
    """Checks of audits, readable without colour: bands are grey, faults are hollow diamonds."""
    names = _names(figure.rows, "name")
    shared = {"y": _rows_axis("name", names), "x": _value_axis(figure, "low")}
    rulings = ["no fault found", "fault or by chance"]
    shape = {
        "field": "ruling",
        "type": "nominal",
        "scale": {"domain": rulings, "range": ["circle", "diamond"]},
    }
    fill = {"condition": {"test": "datum.ruling !== 'no fault found'", "value": PAPER}, "value": INK}
    layers: list[Spec] = [
        {
            "mark": {"type": "bar", "color": LINE, "height": {"band": 0.8}},
            "encoding": {**shared, "x": _value_axis(figure, "from"), "x2": {"field": "to"}},
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
            "encoding": {**shared, "x": _value_axis(figure, "value"), "shape": shape, "fill": fill},
        },
    ]
    header = {"labelAngle": 0, "labelAlign": "left", "labelOrient": "top", "labelAnchor": "start"}
    return {
        "facet": {"row": {"field": "series", "sort": _names(figure.rows, "series"), "header": header}},
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
    axis = {"grid": False, "labelExpr": "split(datum.label, '\\n')", "labelLineHeight": _LINE}
    return {"field": field, "type": "nominal", "sort": [*names], "title": None, "axis": axis}


def _row_step(names: Sequence[str]) -> int:
    """The height of every row in pixels: that of the name with the most lines."""
    return _STEP + _LINE * max((name.count("\n") for name in names), default=0)


def _value_axis(figure: Plot, field: str) -> Spec:
    ends = [figure.low, figure.high]
    scale = {"domain": ends} if None not in ends else {"zero": figure.low == 0, "nice": True}
    title = {"%": "percent", "pp": "percentage points"}.get(figure.unit, figure.unit)
    axis = {"tickCount": 6, "labelFlush": False}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _names(rows: Sequence[Mapping[str, JSON]], column: str) -> list[str]:
    """The distinct values of a column, in order."""
    return list(dict.fromkeys(row[column] for row in rows))
