"""A stage of the pipeline that constructs a suite's questions out of documents. Knows no files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from equipoise.core.types import JSON
from equipoise.judge.judge import JobModels

Row = Mapping[str, JSON]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a stage makes of a row: the row as it goes on, or why it is dropped."""

    row: Row
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One step. `each` looks at one row with its models; `every` at all rows without asking anybody.

    `skipped` says why a stage has nothing to do.
    """

    name: str
    each: Callable[[Row, JobModels], Awaitable[Outcome]] | None = None
    every: Callable[[Sequence[Row]], Sequence[Outcome]] | None = None
    skipped: str | None = None
