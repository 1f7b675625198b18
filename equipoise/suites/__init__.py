"""The benchmarks, one module each, and the contract that they meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Protocol, TypeVar, cast

from equipoise.evaluators import Panel
from equipoise.models import Subject
from equipoise.records import Aggregate, Cell, Metric, Record, Score
from equipoise.rubric import Rubric, Scale
from equipoise.topics import Selection
from equipoise.types import JSON, Case, Foreseen

C = TypeVar("C", bound=Case)
R = TypeVar("R", bound=Rubric)


class Suite(Protocol[C, R]):
    """A benchmark: a module with its name and these functions."""

    NAME: str
    RUNS: int
    """Runs of each case, where the user says nothing."""
    CLUSTERS: str
    """What its cells' clusters are, as a plural: what its figures are a sample of."""
    DECKS: tuple[str, ...]
    """The sets of cases that it has, the default first; empty where there is only one."""
    OPTIONS: tuple[str, ...]
    """Those of the options that only some suites take which this one takes."""
    DEFAULTS: Mapping[str, Any]
    """What holds by name of option where the user says nothing, other than what holds for all suites."""

    def rubric(self, path: Path) -> R:
        """The suite's rubric file, read and checked. Raises UserError naming file and key."""

    def cases(self, selection: Selection) -> Sequence[C]:
        """The cases in their stable order. Raises UserError naming file and line."""

    def notes(self, topics: Path) -> Sequence[str]:
        """What a reader of the figures should know of these data, in sentences: for the metadata."""

    def foresee(self, case: C, rubric: R) -> Sequence[Foreseen]:
        """The calls of one run of the case, with one evaluator, if nothing has to be repeated."""

    async def evaluate(self, case: C, rubric: R, subject: Subject, panel: Panel) -> Score:
        """Ask, judge and score one run of the case. Raises CallFailed."""

    def aggregate(self, records: Sequence[Record], rubric: R) -> Aggregate:
        """Results and summary of these records; pure."""

    def cells(self, results: Mapping[str, JSON], scale: Scale, without: str | None = None) -> Sequence[Cell]:
        """The numbers in what `aggregate` gave as results, of this session or read from a file; pure.

        `without` leaves an evaluator out, as if it had not been in the panel.
        """

    def metrics(self, cells: Sequence[Cell]) -> Sequence[Metric]:
        """The figures that these cells give, the headline first."""

    def effects(
        self, before: Mapping[str, JSON], after: Mapping[str, JSON], metrics: Mapping[str, JSON]
    ) -> Sequence[str]:
        """What options have done in which the metadata of two results differ, in sentences.

        `metrics` are those of the comparison, by name.
        """

    def table(self, summary: Mapping[str, JSON]) -> Sequence[Sequence[str]]:
        """The rows that a terminal shows of a summary, head first."""


AnySuite = Suite[Any, Any]


@cache
def names() -> tuple[str, ...]:
    """The names of all suites, sorted."""
    return tuple(sorted(module.name for module in iter_modules(__path__)))


def load(name: str) -> AnySuite:
    """The suite of that name."""
    return cast("AnySuite", import_module(f"{__name__}.{name}"))


def defaults_of(asked_for: Sequence[str]) -> Mapping[str, Any]:
    """The defaults of the one suite that is asked for; none where there are several, or it is not known."""
    return load(asked_for[0]).DEFAULTS if len(asked_for) == 1 and asked_for[0] in names() else {}
