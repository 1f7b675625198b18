"""Extra jobs of a session: what its models do beside its runs, such as judging the anchors of an audit.

Knows what a session needs of them: what is left to do, what it may cost, and their lines in the journal. What
they are for is known to the part that is handed to the session as its ExtraJobs.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from equipoise.core.rules import Rule
from equipoise.core.types import JSON, Foreseen
from equipoise.judge.judge import JobModels
from equipoise.results.history import History
from equipoise.runner.loading import LoadedSuite

R = TypeVar("R")
V = TypeVar("V")


class ExtraJob(Protocol):
    """One job of a suite's session. Its id is unique among those of runs, and no model sees it."""

    @property
    def suite(self) -> str:
        """The suite whose journal it is in."""

    @property
    def id(self) -> str:
        """Its name in the journal."""

    @property
    def line(self) -> str:
        """The kind of its line in the journal."""

    async def do(self, models: JobModels) -> Mapping[str, JSON]:
        """The content of its line beside its calls and the models that answered. Raises CallFailed."""


class ExtraJobs(Protocol):
    """The extra jobs of a session, by suite."""

    def refuse_unfit(self, suites: Sequence[LoadedSuite]) -> None:
        """Raise UserError if none of these suites has the jobs that its settings ask for."""

    def prepare(self, loaded: LoadedSuite, rules: Sequence[Rule]) -> None:
        """Read what the jobs of a suite need. Raises UserError, also for a rule that they cannot decide."""

    def begin(self, loaded: LoadedSuite, history: History) -> Sequence[ExtraJob]:
        """Plan the jobs of a suite in its journal. Returns those that are left to do. Raises UserError."""

    def foreseen(self, loaded: LoadedSuite, history: History) -> Mapping[str, Sequence[Sequence[Foreseen]]]:
        """The calls of each job that is left to do, by evaluator."""

    def finish(self, loaded: LoadedSuite, history: History) -> None:
        """Keep what a session with this journal has shown, after its results are written."""


def scattered(runs: Sequence[R], jobs: Sequence[V], seed: str) -> list[R | V]:
    """The runs in their order, with the jobs in a random one among them."""
    chance = random.Random(seed)  # noqa: S311 - an order, no secret
    keyed: list[tuple[float, R | V]] = [(position, run) for position, run in enumerate(runs)]
    keyed += [(chance.random() * len(runs), job) for job in chance.sample(jobs, len(jobs))]
    return [item for _, item in sorted(keyed, key=lambda entry: entry[0])]
