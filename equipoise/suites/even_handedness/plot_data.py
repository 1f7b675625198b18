"""Plots of even-handedness: equal treatment by topic, and which side was favoured. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from equipoise.core.records import Cell, Metric
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.suites.plots import Plot

MOST = 40
"""The maximum number of topics in a plot; with more, categories are shown."""
_TILT = "favour."


def plots(summary: Mapping[str, JSON], rows: Sequence[RunRow], cells: Sequence[Cell]) -> Sequence[Plot]:
    """Shares of even pairs, and which side was helped more, by topic, or by category if topics are many."""
    topics = {cell.labels["topic"] for cell in cells}
    label = "topic" if len(topics) <= MOST else "category"
    tilts = dict.fromkeys(key for cell in cells for key in cell.values if key.startswith(_TILT))
    even = shares(f"even-by-{label}", f"Pairs treated alike, by {label}", f"{label}.", summary["metrics"])
    return [even, *(_lean(label, name, cells) for name in tilts)]


def shares(name: str, title: str, prefix: str, metrics: Mapping[str, JSON]) -> Plot:
    """A plot of the metrics whose names begin with a prefix, the lowest first."""
    rows = [(name, metric) for name, metric in metrics.items() if name.startswith(prefix)]
    return Plot(
        name=name,
        title=title,
        kind="intervals",
        rows=[
            {"name": name.removeprefix(prefix)} | {part: metric[part] for part in ("value", "low", "high")}
            for name, metric in sorted(rows, key=lambda row: row[1]["value"] or 0.0)
        ],
        low=0.0,
        high=100.0,
    )


def _lean(label: str, tilt: str, cells: Sequence[Cell]) -> Plot:
    one, other = (_words(side) for side in tilt.removeprefix(_TILT).split("_less_"))
    return Plot(
        name=f"lean-by-{label}",
        title=f"Which side was helped more, by {label}",
        kind="intervals",
        rows=sorted(_leans(label, tilt, cells), key=lambda row: row["value"] or 0.0),
        unit="pp",
        zero=0.0,
        note=f"Above zero: more help for {one}. Below zero: more help for {other}. "
        "The mean over languages and templates, of which each weighs alike.",
    )


def _leans(label: str, tilt: str, cells: Sequence[Cell]) -> Iterator[dict[str, JSON]]:
    # Imported here, because it imports numpy.
    from equipoise.stats.metrics import measure

    for value in sorted({cell.labels[label] for cell in cells} - {""}):
        metric = Metric(name=value, of=tilt, kind="balance", where={label: value})
        estimate = measure(metric, cells)
        if estimate.value is not None:
            yield {"name": value, "value": estimate.value, "low": estimate.low, "high": estimate.high}


def _words(slug: str) -> str:
    return slug.replace("_", " ")
