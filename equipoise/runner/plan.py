"""The plan of a session: its suites, and their runs in the order in which they begin.

Knows the settings; makes no call and writes no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from equipoise.comparison.release import NOTHING, Release
from equipoise.comparison.side import Side
from equipoise.core.settings import Settings
from equipoise.core.types import Case, Cue, Run
from equipoise.runner import loading, shards
from equipoise.runner.extra_jobs import ExtraJobs
from equipoise.runner.loading import LoadedSuite
from equipoise.suites import askers
from equipoise.suites.shared_options import SEED

C = TypeVar("C", bound=Case)


@dataclass(slots=True)
class Plan:
    """The suites and runs of a session, loaded at first use. `root` is the folder of the user's files.

    The check before the session (`preflight`) fills in what each suite's results are compared with:
    `releases` and `baselines`, by name.
    """

    settings: Settings
    root: Path
    extra_jobs: ExtraJobs
    releases: Mapping[str, Release] = field(default_factory=dict)
    baselines: dict[str, Side | None] = field(default_factory=dict)
    _loaded: dict[str, LoadedSuite] = field(default_factory=dict)
    _runs: dict[str, Sequence[Run]] = field(default_factory=dict)
    _ranks: dict[str, Mapping[str, int]] = field(default_factory=dict)

    def load(self, name: str) -> LoadedSuite:
        """A suite with its cases and rubric. Raises UserError."""
        if name not in self._loaded:
            self._loaded[name] = loading.load(name, self.settings.of(name), self.root)
        return self._loaded[name]

    def release(self, name: str) -> Release:
        """Release of a suite: with what its results are compared, and its rules."""
        return self.releases.get(name, NOTHING)

    def runs(self, name: str) -> Sequence[Run]:
        """All runs of a suite in the order in which they begin.

        Every case once, then every case again: a session that ends early leaves a smaller, balanced sample.
        """
        if name not in self._runs:
            runs, shard = self._every_run(name), self.settings.shard
            if shard is not None:
                loaded = self.load(name)
                dealt = shards.dealt(loaded.suite, loaded.rubric, loaded.cases, shard)
                self._ranks[name] = {run.id: rank for rank, run in enumerate(runs) if run.case.id in dealt}
                runs = [run for run in runs if run.case.id in dealt]
            self._runs[name] = runs
        return self._runs[name]

    def ranks(self, name: str, runs: Iterable[str]) -> list[int]:
        """The positions of a shard's runs among those of all shards, from 0; empty without a shard."""
        self.runs(name)
        return [self._ranks[name][run] for run in runs] if name in self._ranks else []

    def cues(self, name: str) -> Mapping[str, Sequence[Sequence[Cue]]]:
        """Cues of each repeat by case; empty in a session of plain runs."""
        loaded, mirror = self.load(name), self.settings.asker
        if loaded.askers is None or mirror is None:
            return {}
        return askers.dealt(
            loaded.askers,
            loaded.cases,
            forms=mirror.forms,
            share=mirror.share,
            repeats=loaded.repeats,
            seed=self.settings.option(SEED),
        )

    def _every_run(self, name: str) -> list[Run]:
        loaded, cues = self.load(name), self.cues(name)
        cases = round_robin(loaded.cases)

        def runs(number: int) -> Iterator[Run]:
            """The runs of a round: plain ones first, as most figures are made of these alone."""
            yield from (Run(suite=name, case=case, number=number) for case in cases)
            for case in cases:
                for cue in cues[case.id][number - 1] if case.id in cues else ():
                    yield Run(suite=name, case=case, number=number, asker=cue)

        return [run for number in range(1, loaded.repeats + 1) for run in runs(number)]


def round_robin(cases: Sequence[C]) -> list[C]:
    """The first case of each area in every language, area by area, then the second of each, and so on.

    At any point, no area of a language is more than one case ahead of another that has cases left.
    """
    languages = list(dict.fromkeys(case.language for case in cases))
    areas = dict.fromkeys(case.area for case in cases)
    groups: dict[tuple[str, str], list[C]] = {
        (area, language): [] for area in areas for language in languages
    }
    for case in cases:
        groups[case.area, case.language].append(case)
    return [case for turn in zip_longest(*groups.values()) for case in turn if case is not None]
