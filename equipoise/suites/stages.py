"""Interfaces of a suite's modules `construct` and `from_documents` to the command `equipoise construct`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from equipoise.core.types import JSON
from equipoise.judge.judge import JobModels

StageRow = Mapping[str, JSON]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageResult:
    """The result of a stage for one row: the row to continue with, or the reason why it is dropped."""

    row: StageRow
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage: `each` handles one row and may ask models; `every` handles all rows and asks nothing.

    `skipped` is the reason if the stage is skipped.
    """

    name: str
    each: Callable[[StageRow, JobModels], Awaitable[StageResult]] | None = None
    every: Callable[[Sequence[StageRow]], Sequence[StageResult]] | None = None
    skipped: str | None = None


class Construct(Protocol):
    """Builds tables from other data; its docstring is the command's help."""

    def __call__(self, folder: Path, *, is_check: bool = False) -> str:
        """Write the tables; with `is_check` only raise UserError if they would change.

        Returns a line for the user.
        """


class FromDocuments(Protocol):
    """A module that builds a suite's questions out of documents; its docstring is the command's help."""

    COMMAND: str
    """The name of the command below `equipoise construct`."""

    def stages(
        self,
        root: Path,
        *,
        least: int,
        most: int,
        corpus: Path,
        retriever: str | None,
        critic: int,
        solvers: Sequence[int],
    ) -> tuple[Sequence[Stage], Sequence[Stage]]:
        """The stages before and after human annotation. Raises UserError.

        Documents have `least` to `most` characters; answers are looked up in `corpus`, or by the user's
        `retriever`; `critic` and `solvers` are indices into the evaluators of a job.
        """

    def annotate(self, rows: Sequence[StageRow], folder: Path) -> Sequence[StageResult]:
        """The annotators' verdict on every question. Raises UserError if a sheet is not filled in."""

    def as_question(self, row: StageRow) -> dict[str, JSON]:
        """The row in the format of the suite's questions."""
