"""Interfaces of a suite's modules `construct` and `from_documents` to the command `data construct`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from equipoise.core.types import JSON
from equipoise.judge.judge import JobModels

Draft = Mapping[str, JSON]
"""A row on its way from a document to a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageResult:
    """The result of a stage for one row: the row, and the reason if it is dropped."""

    row: Draft
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage: `by_row` handles one row and may ask models; `all_rows` handles all rows and asks nothing.

    Exactly one of them is given. If the stage is skipped, `skipped` is the reason.
    """

    name: str
    by_row: Callable[[Draft, JobModels], Awaitable[StageResult]] | None = None
    all_rows: Callable[[Sequence[Draft]], Sequence[StageResult]] | None = None
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
    """The name of the command below `equipoise data construct`."""

    def stages(
        self,
        root: Path,
        *,
        min_length: int,
        max_length: int,
        corpus: Path,
        retriever: str | None,
        critic_index: int,
        solver_indices: Sequence[int],
    ) -> tuple[Sequence[Stage], Sequence[Stage]]:
        """The stages before and after human annotation. Raises UserError.

        Documents have from `min_length` to `max_length` characters. Answers are looked up in `corpus`, or by
        the user's `retriever`. The critic judges questions, and the solvers try to answer them; their indices
        are those of a job's evaluators.
        """

    def annotate(self, rows: Sequence[Draft], folder: Path) -> Sequence[StageResult]:
        """The annotators' decision on every question. Raises UserError if a sheet is not filled in."""

    def as_question(self, row: Draft) -> dict[str, JSON]:
        """The row in the format of the suite's questions."""
