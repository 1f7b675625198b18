"""The terminal table of metrics over pairs, for stance pairs and Polarized Contrastive Pairs. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.figures import Figure, format_value
from equipoise.core.types import JSON

_HEAD = ("", "pairs", "percent", "95 % interval")


def table(summary: Mapping[str, JSON], hidden: tuple[str, ...] = ()) -> Sequence[Sequence[str]]:
    """A row for each metric, except those whose names begin with one of `hidden`."""
    metrics: Mapping[str, Figure] = summary["metrics"]
    return [_HEAD, *(_row(name, figure) for name, figure in metrics.items() if not name.startswith(hidden))]


def _row(name: str, figure: Figure) -> Sequence[str]:
    unit = " pp" if figure.unit == "pp" else "%"
    return (name, str(figure.n), format_value(figure.value, unit=unit), figure.limits())
