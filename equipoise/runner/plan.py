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
from equipoise.core.errors import UserError
from equipoise.core.settings import Settings
from equipoise.core.types import JSON, Case, Cue, Run
from equipoise.results import audits
from equipoise.runner import anchors, loading, shards
from equipoise.runner.anchors import AuditPlan
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
    releases: Mapping[str, Release] = field(default_factory=dict)
    baselines: dict[str, Side | None] = field(default_factory=dict)
    _loaded: dict[str, LoadedSuite] = field(default_factory=dict)
    _runs: dict[str, Sequence[Run]] = field(default_factory=dict)
    _ranks: dict[str, Mapping[str, int]] = field(default_factory=dict)
    _audits: dict[str, AuditPlan] = field(default_factory=dict)

    def load(self, name: str) -> LoadedSuite:
        """A suite with its cases and rubric. Raises UserError."""
        if name not in self._loaded:
            self._loaded[name] = loading.load(name, self.settings.of(name), self.root)
        return self._loaded[name]

    def release(self, name: str) -> Release:
        """With what a suite's results are compared, and its rules."""
        return self.releases.get(name, NOTHING)

    # Audits.

    def audit(self, name: str) -> AuditPlan | None:
        """The audit of a suite's evaluators, if the session has one. Raises UserError.

        Of several shards the first has it.
        """
        loaded, extent, shard = self.load(name), self.settings.audit, self.settings.shard
        is_elsewhere = shard is not None and shard.number > 1
        if extent is None or loaded.suite.audit is None or is_elsewhere:
            return None
        if name not in self._audits:
            self._audits[name] = anchors.plan(loaded.suite, loaded.rubric, self.root, extent)
        return self._audits[name]

    def kept_audits(self, name: str) -> dict[str, Mapping[str, JSON]]:
        """The latest kept audit of each evaluator, by the same rubric and anchors; of some there is none."""
        loaded = self.load(name)
        found = {
            evaluator: kept
            for evaluator in loaded.settings.evaluator_models
            if (kept := audits.kept(self.audits_folder, evaluator, name))
        }
        if not found or loaded.suite.audit is None:
            return {}
        try:
            wanted = loaded.rubric.hash, anchors.load(loaded.suite, loaded.rubric, self.root).hash
        except UserError:
            return {}
        # One of a few questions only has another extent than any of the suite's.
        extents = loaded.suite.audit.DESIGNS
        fitting = {
            evaluator: next(
                (said for said in kept if said["extent"] in extents and _made_by(said) == wanted), None
            )
            for evaluator, kept in found.items()
        }
        return {evaluator: said for evaluator, said in fitting.items() if said is not None}

    @property
    def audits_folder(self) -> Path:
        """Below which audits are kept."""
        return self.root / "results"

    # Runs.

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
        """By case the cues of each repeat; empty in a session of plain runs."""
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


def _made_by(audit: Mapping[str, JSON]) -> tuple[JSON, JSON]:
    """The rubric and the anchors of a kept audit."""
    return audit["rubric_hash"], audit["anchors_hash"]
