"""The verdict on all rules of a gate. A FAIL is corrected for the number of rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from equipoise.comparison.compare import Comparison
from equipoise.comparison.gate import asker_rules, audit_rules, metric_rules, question_rule
from equipoise.comparison.gate.family import ALPHA_OF_ONE_RULE, Family, failing, family_of
from equipoise.comparison.gate.ruling import Ruling, verdict
from equipoise.comparison.side import RunCounts
from equipoise.core.rules import QUESTION, UNSCORED, VERIFIED, Rule
from equipoise.core.types import JSON
from equipoise.results.askers import NO_ASKERS, AskerCells

if TYPE_CHECKING:
    from equipoise.results.document import AuditFigures

_NO_AUDITS: Mapping[str, AuditFigures | None] = {}


def rule_on_all(
    rules: Sequence[Rule],
    comparison: Comparison | None,
    runs: RunCounts,
    *,
    audits: Mapping[str, AuditFigures | None] = _NO_AUDITS,
    asking: AskerCells = NO_ASKERS,
    clusters: str = "questions",
    family: Family | None = None,
    doubts: Sequence[str] = (),
) -> dict[str, JSON]:
    """The section `gate` of results: the verdict, the ruling on each rule, and the numbers of runs.

    `audits` are those of the candidate's evaluators, as in results. `asking` has the candidate's cells for
    metrics about who asks. `clusters` is the suite's word for its questions. `family` counts the rules of all
    suites; by default there are only these. `doubts` are mismatches that became known only during the
    session: with any of them, no rule that needs the baseline passes.
    """
    whole = family or family_of(rules)

    def ruled(rule: Rule, alpha: float = ALPHA_OF_ONE_RULE) -> Ruling:
        if rule.is_about_audit:
            return audit_rules.rule_on(rule, audits, alpha)
        if rule.is_about_asker:
            return asker_rules.rule_on(rule, asking, clusters, alpha, planned_alpha=whole.alpha())
        if comparison is None or rule.name == UNSCORED:
            return unscored(rule, runs)
        return _doubted(rule_on(rule, comparison, alpha, planned_alpha=whole.alpha()), doubts)

    failed = failing(rules, lambda rule, alpha: ruled(rule, alpha).verdict == "fail", whole)
    alone = [replace(ruled(rule), required=rule.required) for rule in rules]
    rulings = [
        ruling if rule in failed else _corrected(ruling, whole)
        for rule, ruling in zip(rules, alone, strict=True)
    ]
    rows = [ruling.to_json() for ruling in rulings]
    return {"verdict": verdict(rulings), "tests": whole.rules, **asdict(runs), "rules": rows}


def rule_on(
    rule: Rule,
    comparison: Comparison,
    alpha: float = ALPHA_OF_ONE_RULE,
    *,
    planned_alpha: float | None = None,
) -> Ruling:
    """The ruling on a rule that needs a baseline. The parameters are as in `metric_rules.rule_on`."""
    if rule.name == VERIFIED:
        return _verified(rule, comparison)
    if rule.name == QUESTION:
        return question_rule.rule_on(rule, comparison, alpha, planned_alpha or alpha)
    return metric_rules.rule_on(rule, comparison, alpha, planned_alpha=planned_alpha)


def unscored(rule: Rule, runs: RunCounts) -> Ruling:
    """The ruling on the share of planned runs without a score."""
    share = 100 * runs.missing / runs.planned if runs.planned else 0.0
    why = f"{runs.missing} of {runs.planned} runs have no score ({share:.1f} %)"
    return Ruling(rule=rule.text, verdict="pass" if share <= rule.amount else "fail", why=why)


def _verified(rule: Rule, comparison: Comparison) -> Ruling:
    doubts = [f"{side.file}: {side.doubt}" for side in (comparison.before, comparison.after) if side.doubt]
    why = "; ".join(doubts) or "both results are what their journals say"
    return Ruling(rule=rule.text, verdict="fail" if doubts else "pass", why=why)


def _corrected(ruling: Ruling, family: Family) -> Ruling:
    """The ruling with a FAIL that does not survive the correction turned into inconclusive."""
    if ruling.verdict != "fail":
        return ruling
    level = f"a {100 * (1 - 2 * family.alpha()):.1f} % interval"
    why = f"{ruling.why}; but of {family.rules} rules one may lie there by chance: a FAIL takes {level}"
    return replace(ruling, verdict="inconclusive", why=why)


def _doubted(ruling: Ruling, doubts: Sequence[str]) -> Ruling:
    if ruling.verdict != "pass" or not doubts:
        return ruling
    why = f"{ruling.why}; but {'; '.join(doubts)}: --allow-mismatch judges all the same"
    return replace(ruling, verdict="inconclusive", why=why)
