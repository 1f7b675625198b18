"""A session against its baseline: what cannot be compared or decided is refused before any call, the verdict
is given at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from equipoise.comparison.comparable import mismatches, sent_otherwise, unknown_cells, why_unfit
from equipoise.comparison.gate.refusals import (
    Metrics,
    refuse_people,
    refuse_single_runs,
    refuse_unfit,
)
from equipoise.comparison.release import Release, parts
from equipoise.comparison.side import Side, loaded
from equipoise.comparison.verify import load_verified
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.records import Cell, Record
from equipoise.core.rules import most_unscored
from equipoise.core.types import JSON, Case
from equipoise.judge.rubric import Rubric
from equipoise.results import rows
from equipoise.results.store import Files
from equipoise.suites import AnySuite


def expected(suite: AnySuite, rubric: Rubric, cases: Sequence[Case]) -> Sequence[Cell]:
    """The cells that these cases will give, without their numbers."""
    records = [Record(case=case.to_json(), run=1, outcome="error", score=None, error="") for case in cases]
    return suite.combine(rows.of_records(suite, records, rubric.scale))


def prepare(
    release: Release, metadata: Mapping[str, JSON], files: Files, metrics: Metrics, runs: int
) -> Side | None:
    """The baseline of a suite in a session, checked as far as it can be. Raises UserError.

    `metadata` is what the session's results will say of themselves; `metrics` are those that they will have,
    and `runs` how many of each case.
    """
    if release.baseline is None:
        return None
    if release.baseline.resolve() == files.results.resolve():
        raise UserError(
            f"--baseline: {shown(files.results)} is where this session writes its own results; "
            "copy the baseline elsewhere"
        )
    baseline = load_verified(release.baseline)
    refuse_mismatch(release, baseline, metadata)
    for rule in release.rules:
        refuse_people(rule)
        refuse_unfit(rule, metrics, "this session")
        refuse_unfit(rule, baseline.metrics, shown(release.baseline))
        refuse_single_runs(rule, baseline, runs)
    return baseline


def refuse_mismatch(release: Release, baseline: Side, metadata: Mapping[str, JSON]) -> None:
    """Raise UserError where this session's results will not be comparable with the baseline."""
    if metadata["suite"] != baseline.suite.name:
        raise UserError(
            f"{baseline.file}: belongs to the suite {baseline.suite.name}, not {metadata['suite']}"
        )
    unfit = why_unfit(baseline, most_unscored(release.rules))
    _refuse(release, baseline, [*([unfit] if unfit else []), *mismatches(baseline.metadata, metadata)])


def refuse_other_cases(release: Release, baseline: Side, cells: Sequence[Cell]) -> None:
    """Raise UserError where the session will ask cases that the baseline lacks; it is restricted to them."""
    _refuse(release, baseline, unknown_cells(baseline.cells, cells))


def _refuse(release: Release, baseline: Side, reasons: Sequence[str]) -> None:
    if reasons and not release.allow_mismatch:
        raise UserError(
            f"--baseline: {baseline.file} cannot be compared with this session: {'; '.join(reasons)}; "
            "--allow-mismatch compares what they share"
        )


def conclude(
    release: Release, baseline: Side | None, data: Mapping[str, JSON], path: Path, doubt: str | None = None
) -> dict[str, JSON]:
    """The parts `comparison` and `gate` of a session's results, where it was asked for them.

    `doubt` says why its journal is not what its calls come to, where that was tried.
    """
    if baseline is None and not release.rules:
        return {}
    from equipoise.comparison.compare import compare

    candidate = replace(loaded(shown(path), data).side, doubt=doubt)
    if baseline is None:
        return parts(release, None, candidate)
    comparison = compare(baseline, candidate, allows_mismatch=True, most=most_unscored(release.rules))
    # Settings and cases were held against the baseline's before any call; what was really sent is seen here.
    late = [] if release.allow_mismatch else sent_otherwise(baseline.metadata, candidate.metadata)
    return parts(release, comparison, candidate, doubts=late)
