"""`Figure`: one figure of results with its intervals, as scripts and notebooks read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A standard error and a confidence interval, or None and a `reason`; `n` is the sample size."""

    se: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure(Interval):
    """One metric of results, in its `unit`; its value is None if there is a `reason`.

    The interval treats clusters as a sample of those that might have been asked. `these` is the interval for
    exactly the questions that were asked. `by_run` has the figure of each run. `caution` says why the figure
    does not prove that the model is even, as where many answers are missing.
    """

    name: str
    value: float | None
    unit: str
    kind: str
    higher_is_better: bool | None
    clusters: str
    confidence: float
    these: Interval
    by_run: Sequence[float | None] = ()
    caution: str | None = None


def figure_of(name: str, metric: Mapping[str, Any]) -> Figure:
    """The figure of this name in a summary."""
    names = {item.name for item in fields(Figure)} - {"name", "these"}
    return Figure(
        name=name,
        these=_interval(metric["these"]),
        **{key: value for key, value in metric.items() if key in names},
    )


def _interval(limits: Mapping[str, Any]) -> Interval:
    return Interval(**{item.name: limits[item.name] for item in fields(Interval) if item.name in limits})
