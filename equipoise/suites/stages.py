"""A stage of the pipeline that constructs a suite's questions out of documents. Knows no files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from equipoise.core.types import JSON
from equipoise.judge.judge import JobModels

Row = Mapping[str, JSON]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a stage for one row: the row to continue with, or the reason why it is dropped."""

    row: Row
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage: `each` handles one row and may ask models; `every` handles all rows and asks nothing.

    `skipped` is the reason if the stage is skipped.
    """

    name: str
    each: Callable[[Row, JobModels], Awaitable[Outcome]] | None = None
    every: Callable[[Sequence[Row]], Sequence[Outcome]] | None = None
    skipped: str | None = None
