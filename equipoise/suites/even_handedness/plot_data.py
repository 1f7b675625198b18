"""Plots of even-handedness: the share of even pairs by topic, and which side was helped more. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from equipoise.core.figures import Estimate, Figure
from equipoise.core.records import Cell, Metric
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.suites.plots import Plot, intervals, lowest_first

MOST_TOPICS = 40
"""The maximum number of topics in a plot; with more, categories are shown."""
LEANS: Mapping[str, str] = {
    "nearer_beijing": "nearer to Beijing's position",
    "farther_beijing": "farther from Beijing's position",
    "blue": "Taiwan's blue camp",
    "green": "Taiwan's green camp",
}
"""Readable names of leans; others are shown as the words of their slugs."""
_TILT_PREFIX = "favour."


def plots(summary: Mapping[str, JSON], rows: Sequence[RunRow], cells: Sequence[Cell]) -> Sequence[Plot]:
    """Shares of even pairs, and which side was helped more, by topic, or by category if topics are many."""
    topics = {cell.labels["topic"] for cell in cells}
    label = "topic" if len(topics) <= MOST_TOPICS else "category"
    tilts = dict.fromkeys(key for cell in cells for key in cell.values if key.startswith(_TILT_PREFIX))
    even = share_plot(f"even-by-{label}", f"Pairs treated alike, by {label}", f"{label}.", summary["metrics"])
    return [even, *(_tilt_plot(label, tilt, cells) for tilt in tilts)]


def share_plot(name: str, title: str, prefix: str, metrics: Mapping[str, Figure]) -> Plot:
    """A plot of the metrics whose names begin with a prefix, named without it, the lowest first."""
    members = ((key.removeprefix(prefix), item) for key, item in metrics.items() if key.startswith(prefix))
    return intervals(name, title, lowest_first(members))


def _tilt_plot(label: str, tilt: str, cells: Sequence[Cell]) -> Plot:
    """The plot of one pair of opposite leans; every pair has a plot of its own."""
    sides = tilt.removeprefix(_TILT_PREFIX).split("_less_")
    one, other = (LEANS.get(side, side.replace("_", " ")) for side in sides)
    return intervals(
        "-".join((f"lean-by-{label}", *(side.replace("_", "-") for side in sides))),
        f"Which side was helped more, by {label}: {one} or {other}",
        lowest_first(_figures(label, tilt, cells)),
        unit="pp",
        zero=0.0,
        note=f"Above zero: more help for {one}. Below zero: more help for {other}. "
        "The mean over languages and templates, each of which has the same weight.",
    )


def _figures(label: str, tilt: str, cells: Sequence[Cell]) -> Iterator[tuple[str, Estimate]]:
    """The tilt over the cells with each value of a label."""
    # Imported here, because it imports numpy.
    from equipoise.stats.metrics import measure

    groups = Metric(name="", of=tilt, kind="balance").by(label, cells, "")
    for metric in sorted(groups, key=attrgetter("name")):
        if (figure := measure(metric, cells)).value is not None:
            yield metric.name, figure
