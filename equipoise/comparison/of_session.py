"""Comparison of a session with its baseline: checks before the first call, and the verdict at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from equipoise.comparison.comparable import mismatches, sampling_differences, unknown_cells, why_unfit
from equipoise.comparison.gate.refusals import (
    Metrics,
    refuse_label_rule,
    refuse_single_runs,
    refuse_unfit_metric,
)
from equipoise.comparison.gate_terms import GateTerms, candidate_sections
from equipoise.comparison.verify import load_verified
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.records import Cell, Record
from equipoise.core.rules import most_unscored
from equipoise.core.types import Case
from equipoise.judge.rubric import Rubric
from equipoise.results import rows
from equipoise.results.document import Metadata, Sections
from equipoise.results.results import Results
from equipoise.results.store import Files
from equipoise.suites import AnySuite


def expected_cells(
    suite: AnySuite, rubric: Rubric, cases: Sequence[Case], baseline: Results | None = None
) -> Sequence[Cell]:
    """The cells that a session with these cases will have, without numbers.

    A run without a score may lack values that other runs have. So the names of values are those that the
    suite gives (`value_names`) and those that the case has in the baseline.
    """
    records = [Record(case=case.to_json(), run=1, outcome="error", score=None, error="") for case in cases]
    names = {suite.question(item.case).key: suite.judging.value_names(item.case, rubric) for item in records}
    named_rows = [
        structs.replace(row, values={**dict.fromkeys(names[row.question.key]), **row.values})
        for row in rows.of_records(suite, records, rubric.scale)
    ]
    of_baseline = {cell.id: cell.values for cell in baseline.cells} if baseline else {}
    return [
        replace(cell, values={**dict.fromkeys(of_baseline.get(cell.id, ()), ()), **cell.values})
        for cell in suite.combine(named_rows)
    ]


def load_baseline(terms: GateTerms, metadata: Metadata, files: Files) -> Results | None:
    """The baseline of a suite in a session, if there is one, after a check of its settings.

    `metadata` are those that the session's results will have. Raises UserError.
    """
    if terms.baseline is None:
        return None
    if terms.baseline.resolve() == files.results.resolve():
        raise UserError(
            f"--baseline: {shown(files.results)} is where this session writes its own results; "
            "copy the baseline elsewhere"
        )
    baseline = load_verified(terms.baseline)
    refuse_mismatch(terms, baseline, metadata)
    return baseline


def refuse_unfit_rules(terms: GateTerms, baseline: Results, metrics: Metrics, runs: int) -> None:
    """Raise UserError for a rule that neither this session nor its baseline can decide.

    `metrics` are those that the session's results will have, and `runs` is the number of runs of each case.
    """
    for rule in terms.rules:
        refuse_label_rule(rule)
        refuse_unfit_metric(rule, metrics, "this session")
        refuse_unfit_metric(rule, baseline.definitions, baseline.file)
        refuse_single_runs(rule, baseline, runs)


def refuse_mismatch(terms: GateTerms, baseline: Results, metadata: Metadata) -> None:
    """Raise UserError if the session's results would not be comparable with the baseline."""
    if metadata["suite"] != baseline.suite.name:
        raise UserError(
            f"{baseline.file}: belongs to the suite {baseline.suite.name}, not {metadata['suite']}"
        )
    unfit = why_unfit(baseline, most_unscored(terms.rules))
    _refuse(terms, baseline, [*([unfit] if unfit else []), *mismatches(baseline.metadata, metadata)])


def refuse_other_cases(terms: GateTerms, baseline: Results, cells: Sequence[Cell]) -> None:
    """Raise UserError if the session has cases that the baseline lacks. The baseline may have more."""
    _refuse(terms, baseline, unknown_cells(baseline.cells, cells))


def _refuse(terms: GateTerms, baseline: Results, reasons: Sequence[str]) -> None:
    if reasons and not terms.allows_mismatch:
        raise UserError(
            f"--baseline: {baseline.file} cannot be compared with this session: {'; '.join(reasons)}; "
            "--allow-mismatch compares what they share"
        )


def comparison_sections(terms: GateTerms, baseline: Results | None, candidate: Results) -> Sections:
    """The sections `comparison` and `gate` of a session's results; empty without a baseline and rules.

    The candidate's `doubt` says why the session's records do not verifiably follow from its calls.
    """
    if baseline is None and not terms.rules:
        return {}
    from equipoise.comparison.compare import compare

    if baseline is None:
        return candidate_sections(terms, None, candidate)
    comparison = compare(baseline, candidate, allows_mismatch=True, most_unscored=most_unscored(terms.rules))
    # Settings and cases were checked before any call; parameters that an endpoint changed are known only now.
    late_mismatches = (
        [] if terms.allows_mismatch else sampling_differences(baseline.metadata, candidate.metadata)
    )
    return candidate_sections(terms, comparison, candidate, late_mismatches=late_mismatches)
