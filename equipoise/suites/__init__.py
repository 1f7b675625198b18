"""The benchmarks, one module each, and the contract that they meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Protocol, TypeVar, cast

from equipoise.models import Panel, Subject
from equipoise.rubric import Rubric
from equipoise.topics import Selection
from equipoise.types import JSON, Aggregate, Case, Record, Score

C = TypeVar("C", bound=Case)


class Suite(Protocol[C]):
    """A benchmark: a module with its name and these functions."""

    NAME: str

    def rubric(self, path: Path) -> Rubric:
        """The suite's rubric file, read and checked. Raises UserError naming file and key."""

    def cases(self, selection: Selection) -> Sequence[C]:
        """The cases in their stable order. Raises UserError naming file and line."""

    async def evaluate(self, case: C, rubric: Rubric, subject: Subject, panel: Panel) -> Score:
        """Ask, judge and score one run of the case. Raises CallFailed."""

    def aggregate(self, records: Sequence[Record], rubric: Rubric) -> Aggregate:
        """Results, summary and metrics of these records; pure."""

    def table(self, summary: Mapping[str, JSON]) -> Sequence[Sequence[str]]:
        """The rows that a terminal shows of a summary, head first."""


@cache
def names() -> tuple[str, ...]:
    """The names of all suites, sorted."""
    return tuple(sorted(module.name for module in iter_modules(__path__)))


def load(name: str) -> Suite[Any]:
    """The suite of that name."""
    return cast("Suite[Any]", import_module(f"{__name__}.{name}"))
