"""Plots of Chinese SimpleQA: grades by topic, calibration, best of several tries. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.figures import Figure, format_value
from equipoise.core.records import Cell
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.suites.plots import Plot

METRIC_LABELS = {
    "correct": "CO",
    "not_attempted": "NA",
    "incorrect": "IN",
    "correct_given_attempted": "CGA",
    "f": "F",
}


def plots(summary: Mapping[str, JSON], rows: Sequence[RunRow], cells: Sequence[Cell]) -> Sequence[Plot]:
    """The metrics by topic; calibration and the best of several tries where the summary has them."""
    drawn = [_topics_plot(groups(summary["metrics"], "topic"))]
    if (calibration := summary.get("calibration")) and calibration["n"]:
        drawn.append(_calibration_plot(calibration))
    if curve := summary.get("best_of"):
        drawn.append(_best_of_plot(curve))
    return drawn


def groups(metrics: Mapping[str, Figure], label: str) -> dict[str, dict[str, Figure]]:
    """The five metrics, by name: under `overall` those of all answers, then by each value of a label."""
    prefix = f"f.{label}."
    names = [name.removeprefix(prefix) for name in metrics if name.startswith(prefix)]
    suffixes = {"overall": "", **{name: f".{label}.{name}" for name in names}}
    return {
        group: {name: metrics[f"{name}{suffix}"] for name in METRIC_LABELS}
        for group, suffix in suffixes.items()
    }


def _topics_plot(by_topic: Mapping[str, Mapping[str, Figure]]) -> Plot:
    return Plot(
        name="by-topic",
        title="Answers by topic, in percent",
        kind="matrix",
        rows=[
            {
                "row": topic,
                "column": label,
                "value": figures[name].value,
                "text": format_value(figures[name].value, 0),
            }
            for topic, figures in by_topic.items()
            for name, label in METRIC_LABELS.items()
        ],
        low=0.0,
        high=100.0,
        note="CO, NA and IN are the shares of answers that are correct, not attempted and incorrect; CGA is "
        "CO among the attempted; F is the harmonic mean of CO and CGA.",
    )


def _calibration_plot(calibration: Mapping[str, JSON]) -> Plot:
    return Plot(
        name="calibration",
        title="Calibration: how often answers are correct at the confidence that was stated",
        kind="lines",
        rows=[
            {"x": row["confidence"], "series": "correct", "value": row["accuracy"], "answers": row["n"]}
            for row in calibration["bins"]
            if row["n"]
        ],
        x_title="stated confidence in percent",
        low=0.0,
        high=100.0,
        diagonal=True,
        note=f"Expected calibration error {calibration['ece']:.1f} percentage points "
        f"over {calibration['n']:,} answers. "
        "On the dashed line confidence is what it should be; below it the model is overconfident.",
    )


def _best_of_plot(curve: Sequence[Mapping[str, JSON]]) -> Plot:
    labels = {"prefix": "the first k tries", "unbiased": "any k tries"}
    return Plot(
        name="best-of",
        title="Questions with a correct answer among k tries",
        kind="lines",
        rows=[
            {"x": row["tries"], "series": label, "value": row[name]}
            for row in curve
            for name, label in labels.items()
        ],
        x_title="tries",
        low=0.0,
        high=100.0,
    )
