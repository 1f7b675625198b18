"""Shards: a suite's questions are divided among independent sessions, whose results are merged later.

Whole clusters are assigned to a shard, with all their languages, wordings and runs, so that the intervals of
a shard are valid, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from equipoise import suites
from equipoise.comparison import of_session
from equipoise.comparison.gate.refusals import refuse_undecidable
from equipoise.comparison.gate_terms import GateTerms
from equipoise.comparison.verify import why_unlike_calls
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.settings import Settings
from equipoise.core.types import Case, Shard
from equipoise.judge.rubric import Rubric
from equipoise.results import merge as journals
from equipoise.results import recover, store
from equipoise.results.document import Sections
from equipoise.results.history import History
from equipoise.results.merge import LoadedShard
from equipoise.results.recover import Recovered
from equipoise.results.results import Results
from equipoise.results.store import Files
from equipoise.suites import AnySuite

# Dividing.

_WHOLE_SUITE_OPTIONS = ("baseline", "gate", "until")
"""Options that need the results of all questions."""


def refuse_unfit(settings: Settings) -> None:
    """Raise UserError for an option that only the results of all shards can answer."""
    for name in _WHOLE_SUITE_OPTIONS if settings.shard else ():
        if getattr(settings, name):
            advice = "leave it out" if name == "until" else "give it to `equipoise merge` when all are done"
            raise UserError(f"--{name}: cannot be decided by one shard of the questions; {advice}")


def shard_cases(suite: AnySuite, rubric: Rubric, cases: Sequence[Case], shard: Shard) -> set[str]:
    """The ids of the shard's cases: of n shards, each has every nth cluster, in the order of the cases.

    Raises UserError if there are fewer clusters than shards.
    """
    clusters = {case.id: _cluster(suite, rubric, case) for case in cases}
    order = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters.values()))}
    if len(order) < shard.of:
        raise UserError(
            f"--shard {shard}: {suite.name} has {len(order)} {suite.about.clusters}, so there can be at most "
            f"{len(order)} shards"
        )
    return {case for case, cluster in clusters.items() if order[cluster] % shard.of == shard.number - 1}


def _cluster(suite: AnySuite, rubric: Rubric, case: Case) -> str:
    """The cluster of a case; the first if the case counts in several."""
    return of_session.expected_cells(suite, rubric, [case])[0].cluster


# Merging.


def merge(
    shards: Sequence[LoadedShard], files: Files, terms: GateTerms, roots: tuple[Path, ...]
) -> Recovered:
    """Write the results that one session would have written, compared and gated on these terms.

    `files` are the paths of the merged results and their journal. The rubric is looked up in `roots`, in
    order. Raises UserError.
    """
    journals.refuse_unfit(shards)
    files.check()
    with ExitStack() as steps:
        steps.callback(store.lock(files).release)
        session = shards[0].last
        suite = suites.load(session.suite).of(session.settings.get("dataset"))
        history = journals.join(shards, files)
        conclude = partial(_comparison_sections, history, files, terms)
        recovered = recover.write_results(suite, history, files, roots, conclude)
    damage = (f"{shown(shard.path)}: {text}" for shard in shards if (text := shard.history.damage))
    return replace(recovered, warnings=(*recovered.warnings, *damage))


def _comparison_sections(history: History, files: Files, terms: GateTerms, candidate: Results) -> Sections:
    """The comparison and the gate of merged results. Raises UserError."""
    suite, metadata = candidate.suite, candidate.metadata
    refuse_undecidable(terms.rules, candidate)
    baseline = of_session.load_baseline(terms, metadata, files)
    if baseline is not None:
        of_session.refuse_unfit_rules(terms, baseline, candidate.definitions, metadata["runs"])
        of_session.refuse_other_cases(terms, baseline, candidate.cells)
    if terms.is_to_be_verified:
        rubric = suite.judging.rubric(suites.rubric_path(suite, metadata.get("dataset"), Path.cwd()))
        candidate = replace(candidate, doubt=why_unlike_calls(suite, rubric, history))
    return of_session.comparison_sections(terms, baseline, candidate)
