"""Extra jobs of a session: work of its models in addition to its runs, such as judging an audit's anchors.

These are the protocols that a session uses. The class that implements ExtraJobs knows what the jobs are for.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from equipoise.core.rules import Rule
from equipoise.core.types import JSON, Foreseen
from equipoise.judge.judge import JobModels
from equipoise.results.history import History
from equipoise.results.results import Results
from equipoise.runner.loading import LoadedSuite

R = TypeVar("R")
V = TypeVar("V")


class ExtraJob(Protocol):
    """One extra job of a suite's session."""

    @property
    def suite(self) -> str:
        """The name of the suite in whose journal the job is recorded."""

    @property
    def id(self) -> str:
        """The job's id in the journal, which differs from the ids of runs. No model sees it."""

    @property
    def line_kind(self) -> str:
        """The kind of the job's line in the journal."""

    async def do(self, models: JobModels) -> Mapping[str, JSON]:
        """Do the job, and return the content of its line. Raises CallFailed.

        The engine adds the calls and the models that answered.
        """


class ExtraJobs(Protocol):
    """The extra jobs of a session, by suite."""

    def refuse_unfit(self, suites: Sequence[LoadedSuite]) -> None:
        """Raise UserError if none of these suites has the jobs that its settings request."""

    def prepare(self, loaded: LoadedSuite, rules: Sequence[Rule]) -> None:
        """Load the data of a suite's jobs. Raises UserError, also for a rule that the jobs cannot decide."""

    def begin(self, loaded: LoadedSuite, history: History) -> Sequence[ExtraJob]:
        """Record the plan of a suite's jobs in its journal. Returns the jobs to do. Raises UserError."""

    def foreseen(self, loaded: LoadedSuite, history: History) -> Mapping[str, Sequence[Sequence[Foreseen]]]:
        """The foreseen calls of each job that is left to do, by evaluator."""

    def finish(self, results: Results) -> None:
        """Store what the jobs found for later sessions; called after the results are written."""


def scatter(runs: Sequence[R], jobs: Sequence[V], seed: str) -> list[R | V]:
    """The runs in their order, with the jobs in random order at random positions among them."""
    generator = random.Random(seed)  # noqa: S311 - an order, no secret
    positioned: list[tuple[float, R | V]] = [(position, run) for position, run in enumerate(runs)]
    positioned += [(generator.random() * len(runs), job) for job in generator.sample(jobs, len(jobs))]
    return [item for _, item in sorted(positioned, key=lambda entry: entry[0])]
