"""The terms on which the results of a suite are compared and gated: its baseline and its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise import suites
from equipoise.comparison.gate.family import NO_RULES, Family, required_tests
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.rules import VERIFIED, InconclusiveCountsAs, Rule, rules_for
from equipoise.results import answered, cautions
from equipoise.results.document import Sections
from equipoise.results.find import find_one
from equipoise.results.results import Results

if TYPE_CHECKING:
    from equipoise.comparison.compare import Comparison
    from equipoise.comparison.trend import Trend


@dataclass(frozen=True, slots=True, kw_only=True)
class GateTerms:
    """The terms on which the results of one suite are compared and gated.

    `baseline` is a results file. `family` counts the statistical tests among the rules of all suites that
    are gated together. `inconclusive` is the verdict that an inconclusive gate counts as.
    """

    baseline: Path | None = None
    rules: tuple[Rule, ...] = ()
    family: Family = NO_RULES
    inconclusive: InconclusiveCountsAs | None = None
    allows_mismatch: bool = False

    @property
    def is_to_be_verified(self) -> bool:
        """Whether a rule requires that results are verified against their journals."""
        return any(rule.name == VERIFIED for rule in self.rules)


NO_TERMS = GateTerms()
"""Terms without a baseline and without rules: nothing is compared."""


class CandidateSections(Sections, total=False):
    """The sections of one candidate: its comparison and its gate, and the trend up to it."""

    trend: Trend


def resolve_terms(
    names: Sequence[str],
    baseline: Path | None,
    rules: Sequence[Rule],
    inconclusive: InconclusiveCountsAs | None,
    *,
    allows_mismatch: bool,
) -> dict[str, GateTerms]:
    """The terms of each of these suites, by name, from the user's options. Raises UserError.

    If `baseline` is a folder, it may lack results of a suite whose rules need no baseline.
    """
    _refuse_pointless(rules, inconclusive, baseline, allows_mismatch=allows_mismatch)
    for rule in rules:
        if rule.suite and rule.suite not in suites.names():
            raise UserError(
                f"{rule}: there is no suite {rule.suite!r}; there are {', '.join(suites.names())}"
            )
    own_rules = {name: rules_for(name, rules) for name in names}
    if rules and not any(own_rules.values()):
        raise UserError(f"{rules[0]}: there are no rules for {', '.join(names)}")
    count = sum(len(required_tests(own)) for own in own_rules.values())
    by_suite = {
        name: GateTerms(
            baseline=baseline and find_one(baseline, name),
            rules=own,
            family=Family(rules=count, own=len(required_tests(own))),
            inconclusive=inconclusive,
            allows_mismatch=allows_mismatch,
        )
        for name, own in own_rules.items()
    }
    _refuse_missing(by_suite, baseline)
    return by_suite


def _refuse_pointless(
    rules: Sequence[Rule],
    inconclusive: InconclusiveCountsAs | None,
    baseline: Path | None,
    *,
    allows_mismatch: bool,
) -> None:
    if inconclusive and not rules:
        raise UserError("--gate-inconclusive: says what becomes of a gate, but there is no --gate")
    if allows_mismatch and baseline is None:
        raise UserError("--allow-mismatch: says how to compare, but there is no --baseline")


def _refuse_missing(by_suite: Mapping[str, GateTerms], baseline: Path | None) -> None:
    """Raise UserError if a rule needs a baseline that is missing, or a folder has none for any suite."""
    for name, terms in by_suite.items():
        rule = next((rule for rule in terms.rules if rule.needs_baseline), None)
        if rule is not None and terms.baseline is None:
            where = f"{shown(baseline)} has no {name}.json or *.{name}.json" if baseline else ""
            raise UserError(
                f"{rule}: compared with what? {where or 'Name earlier results with --baseline=PATH'}"
            )
    if baseline is not None and not any(terms.baseline for terms in by_suite.values()):
        names = ", ".join(f"{name}.json" for name in by_suite)
        raise UserError(f"--baseline: {shown(baseline)} has results of none of these suites: {names}")


def candidate_sections(
    terms: GateTerms,
    comparison: Comparison | None,
    candidate: Results,
    *,
    late_mismatches: Sequence[str] = (),
) -> CandidateSections:
    """The sections `comparison` and `gate` of the candidate's results JSON.

    `late_mismatches` became known only during the session. If there are any, no rule that needs the baseline
    passes.
    """
    from equipoise.comparison.gate.verdict import rule_on_all

    results: CandidateSections = {} if comparison is None else {"comparison": comparison.to_json()}
    if terms.rules:
        gate = rule_on_all(
            terms.rules,
            comparison,
            candidate.counts,
            audits=candidate.audits,
            cells=candidate.cells,
            metrics=candidate.definitions,
            asker_cells=candidate.asker_cells,
            noun=candidate.suite.about.clusters,
            family=terms.family,
            late_mismatches=late_mismatches,
        )
        if model_changes := _model_changes(comparison, candidate):
            gate["answered"] = model_changes
        if sentences := _cautions(comparison, candidate):
            gate["cautions"] = sentences
        results["gate"] = gate
    return results


def _cautions(comparison: Comparison | None, candidate: Results) -> list[str]:
    """The cautions about the results on which the rules decide."""
    if comparison is None:
        return list(candidate.metadata.get("cautions", ()))
    return cautions.of_both(comparison.before.metadata, comparison.after.metadata)


def _model_changes(comparison: Comparison | None, candidate: Results) -> list[str]:
    """A phrase for each change of the model that answered: within either result, or between the two."""
    if comparison is None:
        return answered.changes(candidate.metadata)
    older, newer = comparison.before.metadata, comparison.after.metadata
    return [*answered.changes_between(older, newer), *answered.changes_within(older, newer)]
