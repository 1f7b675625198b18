"""The summary of pairs as a table. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.types import JSON

_HEAD = ("", "pairs", "percent", "95 % interval")


def table(summary: Mapping[str, JSON], hidden: tuple[str, ...] = ()) -> Sequence[Sequence[str]]:
    """A row for each metric but those whose names begin with one of `hidden`."""
    metrics: Mapping[str, JSON] = summary["metrics"]
    return [_HEAD, *(_row(name, found) for name, found in metrics.items() if not name.startswith(hidden))]


def _row(name: str, found: Mapping[str, JSON]) -> Sequence[str]:
    unit = " pp" if found.get("unit") == "pp" else "%"
    percent = "-" if found["value"] is None else f"{found['value']:.2f}{unit}"
    interval = "-" if found["low"] is None else f"{found['low']:.1f} to {found['high']:.1f}"
    return (name, str(found["n"]), percent, interval)
