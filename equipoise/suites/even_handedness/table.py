"""The terminal table of metrics over pairs, for stance pairs and Polarized Contrastive Pairs. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.types import JSON

_HEAD = ("", "pairs", "percent", "95 % interval")


def table(summary: Mapping[str, JSON], hidden: tuple[str, ...] = ()) -> Sequence[Sequence[str]]:
    """A row for each metric, except those whose names begin with one of `hidden`."""
    metrics: Mapping[str, JSON] = summary["metrics"]
    return [_HEAD, *(_row(name, metric) for name, metric in metrics.items() if not name.startswith(hidden))]


def _row(name: str, metric: Mapping[str, JSON]) -> Sequence[str]:
    unit = " pp" if metric.get("unit") == "pp" else "%"
    percent = "-" if metric["value"] is None else f"{metric['value']:.2f}{unit}"
    interval = "-" if metric["low"] is None else f"{metric['low']:.1f} to {metric['high']:.1f}"
    return (name, str(metric["n"]), percent, interval)
