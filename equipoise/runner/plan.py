"""The plan of a session: its suites, and their runs in the order in which they begin.

Makes no calls and writes no files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from equipoise.comparison.gate_terms import NO_TERMS, GateTerms
from equipoise.core.settings import Settings
from equipoise.core.types import Case, Cue, Run, Shard
from equipoise.results.results import Results
from equipoise.runner import loading, shards
from equipoise.runner.extra_jobs import ExtraJobs
from equipoise.runner.loading import LoadedSuite
from equipoise.suites import askers, dealing
from equipoise.suites.shared_options import SEED

if TYPE_CHECKING:
    from equipoise.comparison.gate.until import StoppingRule

CaseT = TypeVar("CaseT", bound=Case)


@dataclass(slots=True)
class Plan:
    """The suites and runs of a session, loaded at first use. `root` is the folder of the user's files.

    `preflight.check` sets the rest, by suite: `gate_terms`, on which the results are compared and gated;
    `baselines`, the loaded results of the baselines; and `stopping_rules`, which say when `--until` ends its
    rounds.
    """

    settings: Settings
    root: Path
    extra_jobs: ExtraJobs
    gate_terms: Mapping[str, GateTerms] = field(default_factory=dict)
    baselines: dict[str, Results | None] = field(default_factory=dict)
    stopping_rules: dict[str, StoppingRule] = field(default_factory=dict)
    _loaded: dict[str, LoadedSuite] = field(default_factory=dict)
    _planned: dict[str, tuple[Sequence[Run], Mapping[str, int]]] = field(default_factory=dict)

    def load(self, name: str) -> LoadedSuite:
        """A suite with its cases and rubric. Raises UserError."""
        if name not in self._loaded:
            self._loaded[name] = loading.load(name, self.settings.of(name), self.root)
        return self._loaded[name]

    def terms_of(self, name: str) -> GateTerms:
        """The terms of a suite: what its results are compared with, and its gate's rules."""
        return self.gate_terms.get(name, NO_TERMS)

    def runs(self, name: str) -> Sequence[Run]:
        """All runs of a suite, or of its shard, in the order in which they begin.

        The first runs of all cases precede the second runs of all, so a session that ends early leaves a
        smaller, but balanced sample.
        """
        return self._runs_and_ranks(name)[0]

    def ranks(self, name: str, runs: Iterable[str]) -> list[int]:
        """The positions of these runs among the runs of all shards, from 0; empty without --shard."""
        ranks = self._runs_and_ranks(name)[1]
        return [ranks[run] for run in runs] if self.settings.shard else []

    def _runs_and_ranks(self, name: str) -> tuple[Sequence[Run], Mapping[str, int]]:
        """The runs of a suite and, with --shard, the rank of each by its id."""
        if name not in self._planned:
            runs, shard = self._runs_with_replies(name), self.settings.shard
            self._planned[name] = (runs, {}) if shard is None else self._in_shard(name, runs, shard)
        return self._planned[name]

    def _in_shard(
        self, name: str, runs: Sequence[Run], shard: Shard
    ) -> tuple[Sequence[Run], Mapping[str, int]]:
        loaded, limited = self.load(name), self._limited(name, runs)
        limited_ids = {run.case.id for run in limited}
        cases = [case for case in loaded.cases if case.id in limited_ids]
        case_ids = shards.shard_cases(loaded.suite, loaded.rubric, cases, shard)
        ranks = {run.id: rank for rank, run in enumerate(limited) if run.case.id in case_ids}
        return [run for run in limited if run.case.id in case_ids], ranks

    def within_limit(self, name: str, selected: Sequence[Run]) -> Sequence[Run]:
        """The selected runs that --limit leaves. The runs of a shard are within the limit already."""
        return selected if self.settings.shard else self._limited(name, selected)

    def _limited(self, name: str, selected: Sequence[Run]) -> Sequence[Run]:
        loaded = self.load(name)
        if loaded.settings.limit is None:
            return selected
        case_ids = {run.case.id for run in selected}
        cases = [case for case in loaded.cases if case.id in case_ids]
        chosen = dealing.within_limit(loaded.suite, cases, loaded.settings.limit)
        return [run for run in selected if run.case.id in chosen]

    def cues(self, name: str) -> Mapping[str, Sequence[Sequence[Cue]]]:
        """The cues of each case, by case id: the cues of each repeat. Empty without --asker."""
        loaded, asker = self.load(name), self.settings.asker
        if loaded.askers is None or asker is None:
            return {}
        return askers.deal(
            loaded.askers,
            loaded.cases,
            forms=asker.forms,
            share=asker.share,
            repeats=loaded.repeats,
            seed=self.settings.option(SEED),
        )

    def _runs_with_replies(self, name: str) -> list[Run]:
        """The runs of all shards; with --replies, only the runs that the file has replies to."""
        runs = self._all_runs(name)
        replies = self.load(name).replies
        return runs if replies is None else [run for run in runs if replies.has(run.id)]

    def total(self, name: str) -> int:
        """The number of runs of a suite, or of its shard, including runs that --replies has no reply to.

        Runs without a reply are divided evenly among the shards, so the totals of all shards add up.
        """
        runs, shard = len(self.runs(name)), self.settings.shard
        if self.load(name).replies is None:
            return runs
        missing = len(self._all_runs(name)) - len(self._runs_with_replies(name))
        return runs + (missing if shard is None else _share(missing, shard))

    def _all_runs(self, name: str) -> list[Run]:
        loaded, cues = self.load(name), self.cues(name)
        cases = round_robin(loaded.cases)

        def round_of_runs(number: int) -> Iterator[Run]:
            """The runs of a round: plain ones first, as most figures use only these."""
            yield from (Run(suite=name, case=case, number=number) for case in cases)
            for case in cases:
                for cue in cues[case.id][number - 1] if case.id in cues else ():
                    yield Run(suite=name, case=case, number=number, asker=cue)

        return [run for number in range(1, loaded.repeats + 1) for run in round_of_runs(number)]


def _share(count: int, shard: Shard) -> int:
    """How many of `count` things a shard has if the shards take them in turn."""
    return len(range(shard.number - 1, count, shard.of))


def round_robin(cases: Sequence[CaseT]) -> list[CaseT]:
    """The first case of each area in every language, area by area, then the second of each, and so on.

    At any point, no area of a language is more than one case ahead of another that has cases left.
    """
    languages = list(dict.fromkeys(case.language for case in cases))
    areas = dict.fromkeys(case.area for case in cases)
    groups: dict[tuple[str, str], list[CaseT]] = {
        (area, language): [] for area in areas for language in languages
    }
    for case in cases:
        groups[case.area, case.language].append(case)
    return dealing.in_turn(groups.values())
