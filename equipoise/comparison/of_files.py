"""Comparisons, trends and gates of results files, for commands and the Python API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.comparison.gate.family import family_of
from equipoise.comparison.gate.refusals import (
    Metrics,
    refuse_label_rule,
    refuse_undecidable,
    refuse_unfit_metric,
    refuse_without_labels,
)
from equipoise.comparison.gate_terms import CandidateSections, GateTerms, candidate_sections, resolve_terms
from equipoise.comparison.pool import pool_results
from equipoise.comparison.verify import load_verified
from equipoise.core.errors import UserError
from equipoise.core.gates import GateFile, parse_gate, rules_in
from equipoise.core.rules import InconclusiveCountsAs, Rule, most_unscored, rules_for
from equipoise.results.document import ComparisonFigures, Ruling, Sections
from equipoise.results.load import load
from equipoise.results.results import Results
from equipoise.stats.paired import Decision

if TYPE_CHECKING:
    from equipoise.comparison.compare import Comparison


def compare_files(
    baselines: Sequence[Path], candidates: Sequence[Path], rules: Sequence[Rule], *, allows_mismatch: bool
) -> list[CandidateSections]:
    """The sections of each candidate: `comparison` and, with rules, `gate`. Raises UserError.

    Files of one model with the same settings are pooled. If there are several baselines, oldest first, each
    candidate is compared with the last, and the section `trend` has the headline of each result.
    """
    from equipoise.comparison.trend import trend

    older = pool_results(map(load_verified, baselines))
    all_sections: list[CandidateSections] = []
    for after in pool_results(map(load_verified, candidates)):
        terms = _terms_of(after, rules, allows_mismatch=allows_mismatch)
        sections = _compare_and_gate(older[-1], after, terms)
        if len(older) > 1:
            sections["trend"] = trend(
                [*older, after],
                allows_mismatch=allows_mismatch,
                is_study=not rules,
                most_unscored=most_unscored(terms.rules),
            )
        all_sections.append(sections)
    return all_sections


def _terms_of(after: Results, rules: Sequence[Rule], *, allows_mismatch: bool) -> GateTerms:
    """The terms for a candidate, without `baseline`, because the baseline is loaded already."""
    own = rules_for(after.suite.name, rules)
    if rules and not own:
        raise UserError(f"{rules[0]}: there are no rules for {after.suite.name}")
    return GateTerms(rules=own, family=family_of(own), allows_mismatch=allows_mismatch)


def _compare_and_gate(before: Results, after: Results, terms: GateTerms) -> CandidateSections:
    """The sections `comparison` and, with rules, `gate` of one candidate. Raises UserError."""
    from equipoise.comparison.compare import compare

    # Options whose effect the suite can report may differ only if there are no rules (`is_study`).
    comparison = compare(
        before,
        after,
        allows_mismatch=terms.allows_mismatch,
        is_study=not terms.rules,
        most_unscored=most_unscored(terms.rules),
    )
    metrics = {name: change.metric for name, change in comparison.changes.items()}
    for rule in terms.rules:
        available = _labelled_metrics(after) if rule.people else metrics
        refuse_unfit_metric(rule, available, f"what {before.file} and {after.file} share")
        if rule.people:
            refuse_without_labels(rule, before, after, available)
    refuse_undecidable(terms.rules, after)
    return candidate_sections(terms, comparison, after)


def _labelled_metrics(side: Results) -> Metrics:
    from equipoise.comparison import labels

    return labels.metrics_of(side)


def gate_files(
    baseline: Path | None,
    candidates: Sequence[Path],
    rules: Sequence[Rule],
    inconclusive: InconclusiveCountsAs | None,
    *,
    allows_mismatch: bool,
) -> dict[str, dict[str, Sections]]:
    """The sections `gate` and, with a baseline, `comparison`, by model and suite. Raises UserError.

    Files of one model and suite with the same settings are pooled. All suites of a model are gated together.
    """
    sides: dict[str, dict[str, Results]] = {}
    for after in pool_results(map(load_verified, candidates)):
        by_suite = sides.setdefault(after.model, {})
        if (other := by_suite.setdefault(after.suite.name, after)) is not after:
            raise UserError(
                f"{other.file} and {after.file} are both results of {after.model} on {after.suite.name}, "
                "and cannot be pooled: name one of them"
            )
    results = {}
    for model, by_suite in sides.items():
        terms_by_suite = resolve_terms(
            list(by_suite), baseline, rules, inconclusive, allows_mismatch=allows_mismatch
        )
        results[model] = {
            name: _gate_candidate(by_suite[name], terms) for name, terms in terms_by_suite.items()
        }
    return results


def _gate_candidate(after: Results, terms: GateTerms) -> Sections:
    if terms.baseline is not None:
        return _compare_and_gate(load_verified(terms.baseline), after, terms)
    refuse_undecidable(terms.rules, after)
    return candidate_sections(terms, None, after)


def check_terms(terms_by_suite: Mapping[str, GateTerms]) -> None:
    """Raise UserError for a baseline of another suite, a rule about labels, or a metric not in the baseline.

    For use before there are results: whether these are comparable with the baseline is checked later.
    """
    for name, terms in terms_by_suite.items():
        if terms.baseline is None:
            continue
        before = load(terms.baseline)
        if before.suite.name != name:
            raise UserError(f"{before.file}: belongs to the suite {before.suite.name}, not {name}")
        for rule in terms.rules:
            refuse_label_rule(rule)
            refuse_unfit_metric(rule, before.definitions, before.file)


# The Python API: `equipoise.compare` and `equipoise.gate`.


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The outcome of a gate: the gate's verdict, the ruling on each rule, and the comparison as plain data.

    `missing` counts the candidate's runs without a score, which the verdict does not consider.
    """

    verdict: Decision
    rulings: Sequence[Ruling]
    missing: int
    comparison: ComparisonFigures = field(repr=False)

    @property
    def passes(self) -> bool:
        """Whether every required rule passes and every run has a score."""
        return self.verdict == "pass" and not self.missing


def compare_two(baseline: Path, candidate: Path, *, allows_mismatch: bool = False) -> Comparison:
    """The comparison of a candidate with a baseline, both results files.

    With `allows_mismatch`, results with different settings are compared on the cases that they share. Raises
    UserError that names what differs.
    """
    from equipoise.comparison.compare import compare

    sides = load_verified(baseline), load_verified(candidate)
    # As in `equipoise compare` without a gate, options whose effect the suite reports may differ.
    return compare(*sides, allows_mismatch=allows_mismatch, is_study=True)


def gate_one(baseline: Path, candidate: Path, rules: Sequence[str], *, allows_mismatch: bool = False) -> Gate:
    """The gate's outcome for a candidate, the same as that of `equipoise compare --gate`.

    Each of `rules` is a rule such as `overall:-2pp`, or a TOML file of rules. Raises UserError.
    """
    if not rules:
        raise UserError("gate: there are no rules; give some, such as overall:-2pp")
    (sections,) = compare_files(
        [baseline], [candidate], rules_in(map(_parse_rule, rules)), allows_mismatch=allows_mismatch
    )
    outcome = sections["gate"]
    return Gate(
        verdict=outcome["verdict"],
        rulings=outcome["rules"],
        missing=outcome["left"] + outcome["unscored"],
        comparison=sections["comparison"],
    )


def _parse_rule(text: str) -> Rule | GateFile:
    try:
        return parse_gate(text)
    except ValueError as error:
        raise UserError(f"gate: {text!r} {error}") from None
