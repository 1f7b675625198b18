"""The runs that the sessions of a journal have planned, and the rounds of them that `--until` needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from sys import intern
from typing import TypeVar

from equipoise.results.lines import LookLine, SessionLine, round_of

T = TypeVar("T")


class Plans:
    """The union of the plans of all sessions, in the order of the largest plan.

    `planned` maps the needed runs to their languages. `ranks` are the positions of a shard's runs among those
    of all shards. `looks` has the interim looks of `--until`, by the round after which each was taken.
    """

    def __init__(self) -> None:
        self.planned: Mapping[str, str] = {}
        self.ranks: dict[str, int] = {}
        self.looks: dict[int, LookLine] = {}
        self._all_planned: dict[str, str] = {}

    def add(self, session: SessionLine) -> None:
        """Add a session's plan."""
        # Interned, because every plan, record and test has the same strings.
        plan = {intern(run): intern(language) for run, language in session.plan.items()}
        self.ranks.update(zip(plan, session.ranks, strict=False))
        longer, shorter = sorted((self._all_planned, plan), key=len, reverse=True)
        self._all_planned = {**longer, **shorter}
        self.planned = self.needed(self._all_planned)

    def add_look(self, look: LookLine) -> None:
        """Add an interim look, whose decision may make later rounds unnecessary."""
        self.looks[look.round] = look
        self.planned = self.needed(self._all_planned)

    def drop_stale(self, run: str) -> None:
        """Drop the looks after this run's round or a later one: the run's new record makes them stale."""
        stale = [number for number in self.looks if number >= round_of(run)] if self.looks else []
        for number in stale:
            del self.looks[number]
        if stale:
            self.planned = self.needed(self._all_planned)

    def needed(self, planned: Mapping[str, T]) -> Mapping[str, T]:
        """The runs of a plan up to the round after which `--until` was satisfied; all if it never was."""
        enough = [number for number, look in self.looks.items() if look.is_enough]
        if not enough:
            return planned
        return {run: value for run, value in planned.items() if round_of(run) <= min(enough)}

    @property
    def left_out(self) -> int:
        """The number of runs that `--until` made unnecessary."""
        return len(self._all_planned) - len(self.needed(self._all_planned))

    @property
    def total(self) -> int:
        """The number of runs that any session has planned, needed or not."""
        return len(self._all_planned)

    def snapshot(self, runs: Collection[str] | None) -> Plans:
        """A copy, restricted to some of the needed runs if `runs` is given."""
        snapshot = copy(self)
        snapshot.looks = dict(self.looks)
        if runs is not None:
            snapshot.planned = {run: language for run, language in self.planned.items() if run in runs}
        return snapshot
