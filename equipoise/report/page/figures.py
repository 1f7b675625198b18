"""Figures drawn: from plain data to Vega-Lite, and by vl-convert to SVG and PNG, without any network."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from equipoise.core.figures import Figure, FigureKind
from equipoise.core.types import JSON

Spec = dict[str, Any]
INK, SOFT, LINE, ACCENT, PAPER = "#1b1b1b", "#5a5a5a", "#dcdcdc", "#1a5a96", "#ffffff"
"""Colours that the page's style sheet replaces where it is dark."""
SERIES = ("#0b3c5d", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a6d00", "#7f7f7f")
"""Told apart by colour-blind readers (Okabe and Ito 2008); lines differ in their dashes and marks, too."""
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
_SHADES: Spec = {"clamp": True, "interpolate": "lab"}
_WIDTH, _STEP = 520, 22
_FONT = "Helvetica Neue, Arial, Liberation Sans, sans-serif"
_PARTS_FOR_READERS = re.compile(r' (?:role="graphics-[a-z]+"|aria-roledescription="[a-z -]*")')
"""Roles of groups within a figure, which without labels tell a screen reader nothing."""
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def svg(figure: Figure, *, background: str | None = None) -> str:
    """The figure as SVG with its title for screen readers; without scripts, styles and links."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(spec(figure, background), vl_version="5.20")
    label = escape(f"{figure.title}. The same figures are in the table that follows.")
    drawn = _PARTS_FOR_READERS.sub("", drawn)
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def png(figure: Figure) -> bytes:
    """The figure as a picture for papers, on white, at 300 dots per inch."""
    import vl_convert

    return vl_convert.vegalite_to_png(spec(figure, PAPER), vl_version="5.20", scale=2, ppi=150)


def spec(figure: Figure, background: str | None = None) -> Spec:
    """The figure in Vega-Lite."""
    rows = [
        {key: _drawable(value) for key, value in row.items()} | {"place": place}
        for place, row in enumerate(figure.rows)
    ]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": rows},
        "background": background,
        "padding": 4,
        "config": _CONFIG,
        **_KINDS[figure.kind](figure),
    }


def _drawable(value: JSON) -> JSON:
    return _NOT_IN_XML.sub("\ufffd", value) if isinstance(value, str) else value


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
        "labelPadding": 6,
    },
    "legend": {"labelColor": INK, "title": None, "orient": "top", "labelFontSize": 12, "labelLimit": 260},
    "header": {"labelColor": INK, "title": None, "labelFontSize": 12, "labelFontWeight": "bold"},
}


# Kinds.


def _intervals(figure: Figure) -> Spec:
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
    return {"width": _WIDTH, "height": {"step": _STEP}, "layer": layers}


def _stacked(figure: Figure) -> Spec:
    parts = _names(figure.rows, "part")
    colours = [PARTS.get(part, SERIES[place % len(SERIES)]) for place, part in enumerate(parts)]
    size = {"aggregate": None, "field": "value", "type": "quantitative", "stack": "normalize"}
    x = {**size, "title": f"share of {figure.unit}", "axis": {"format": ".0%", "tickCount": 5}}
    colour = {"field": "part", "type": "nominal", "scale": {"domain": parts, "range": colours}}
    shared = {
        "y": _rows_axis("name", _names(figure.rows, "name")),
        "x": {key: value for key, value in x.items() if value is not None},
        "order": {"field": "place", "type": "quantitative"},
    }
    return {
        "width": _WIDTH,
        "height": {"step": _STEP + 6},
        "mark": {"type": "bar", "stroke": PAPER, "strokeWidth": 1.5},
        "encoding": {**shared, "color": {**colour, "legend": {"symbolType": "square"}}},
    }


def _matrix(figure: Figure) -> Spec:
    columns = _names(figure.rows, "column")
    shared = {
        "y": _rows_axis("row", _names(figure.rows, "row")),
        "x": {
            "field": "column",
            "type": "nominal",
            "sort": columns,
            "title": None,
            "axis": {"orient": "top", "labelAngle": -40 if max(map(len, columns), default=0) > 6 else 0},
        },
    }
    low, high = _range(figure)
    scale: Spec = {"domain": [low, high], "range": ["#f4f1ea", "#1a5a96"], **_SHADES}
    if figure.zero is not None:
        scale = {
            "domain": [low, figure.zero, high],
            "range": ["#b35806", "#f4f1ea", "#1a5a96"],
            **_SHADES,
        }
    dark = f"isValid(datum.value) && (datum.value - {low}) / {high - low} > 0.6"
    if figure.zero is not None:
        dark = f"isValid(datum.value) && abs(datum.value - {figure.zero}) > {0.6 * (high - figure.zero)}"
    shade = {"field": "value", "type": "quantitative", "scale": scale, "legend": None}
    ink = {"condition": {"test": dark, "value": "#fefefe"}, "value": "#1c1c1c"}
    return {
        "width": {"step": max(38, min(90, 420 // max(1, len(columns))))},
        "height": {"step": _STEP + 2},
        "layer": [
            {
                "mark": {"type": "rect", "stroke": PAPER, "strokeWidth": 1.5},
                "transform": [{"filter": "isValid(datum.value)"}],
                "encoding": {**shared, "color": shade},
            },
            {
                "mark": {"type": "text", "fontSize": 11, "limit": 88},
                "encoding": {**shared, "text": {"field": "text"}, "color": ink},
            },
        ],
    }


def _lines(figure: Figure) -> Spec:
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
    colour = {"field": "series", "type": "nominal", "scale": {"domain": series, "range": [*SERIES]}}
    legend = {**colour, **({} if len(series) > 1 else {"legend": None})}
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
    return {"width": _WIDTH, "height": 240, "layer": layers}


def _bars(figure: Figure) -> Spec:
    x = {"field": "x", "type": "ordinal", "sort": _names(figure.rows, "x"), "title": figure.x_title or None}
    header = {"labelAngle": 0, "labelAlign": "left", "labelOrient": "top", "labelAnchor": "start"}
    return {
        "width": _WIDTH,
        "height": 48,
        "spacing": 10,
        "mark": {"type": "bar", "color": ACCENT},
        "encoding": {
            "x": {**x, "axis": {"labelAngle": 0}},
            "y": {**_value_axis(figure, "value"), "axis": {"tickCount": 3}},
            "row": {"field": "series", "sort": _names(figure.rows, "series"), "header": header},
        },
    }


def _checks(figure: Figure) -> Spec:
    """Readable without colour: bands are grey, faults are hollow diamonds."""
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
        "spec": {"width": _WIDTH, "height": {"step": _STEP}, "layer": layers},
    }


_KINDS: Mapping[FigureKind, Callable[[Figure], Spec]] = {
    "intervals": _intervals,
    "stacked": _stacked,
    "matrix": _matrix,
    "lines": _lines,
    "bars": _bars,
    "checks": _checks,
}


def _rows_axis(field: str, names: Sequence[str]) -> Spec:
    return {"field": field, "type": "nominal", "sort": [*names], "title": None, "axis": {"grid": False}}


def _value_axis(figure: Figure, field: str) -> Spec:
    ends = [figure.low, figure.high]
    scale = {"domain": ends} if None not in ends else {"zero": figure.low == 0, "nice": True}
    title = {"%": "percent", "pp": "percentage points"}.get(figure.unit, figure.unit)
    return {"field": field, "type": "quantitative", "title": title, "scale": scale}


def _range(figure: Figure) -> tuple[float, float]:
    """The ends of the shades: as given, else those of the values; never the same."""
    known = [row["value"] for row in figure.rows if row["value"] is not None] or [0.0]
    low = min(known) if figure.low is None else figure.low
    high = max(known) if figure.high is None else figure.high
    return (low, high) if high > low else (low, low + 1)


def _names(rows: Sequence[Mapping[str, JSON]], column: str) -> list[str]:
    return list(dict.fromkeys(_drawable(row[column]) for row in rows))
