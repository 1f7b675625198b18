"""The verdict on all rules of a gate, each FAIL corrected for the number of rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from equipoise.comparison.compare import Comparison
from equipoise.comparison.gate import bound_rules, metric_rules, question_rule
from equipoise.comparison.gate.family import ALPHA_OF_ONE_RULE, Family, failing_rules, family_of
from equipoise.comparison.gate.ruling import overall_verdict
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import QUESTION, UNSCORED, VERIFIED, Rule
from equipoise.results.askers import NO_ASKERS, AskerCells
from equipoise.results.document import Ruling
from equipoise.results.results import RunCounts

if TYPE_CHECKING:
    from equipoise.results.document import Audit, GateVerdict

_NO_AUDITS: Mapping[str, Audit | None] = {}
_NO_METRICS: Mapping[str, Metric] = {}


def rule_on_all(
    rules: Sequence[Rule],
    comparison: Comparison | None,
    runs: RunCounts,
    *,
    audits: Mapping[str, Audit | None] = _NO_AUDITS,
    cells: Sequence[Cell] = (),
    metrics: Mapping[str, Metric] = _NO_METRICS,
    asker_cells: AskerCells = NO_ASKERS,
    noun: str = "questions",
    family: Family | None = None,
    late_mismatches: Sequence[str] = (),
) -> GateVerdict:
    """The section `gate` of results: the verdict, the ruling on each rule, and the numbers of runs.

    `audits` has the audit of each of the candidate's evaluators, None if there is none. `cells` and `metrics`
    are the candidate's, and `asker_cells` has those about who asks. `noun` is the suite's word for its
    questions. `family` counts the rules of all suites, by default only `rules`. `late_mismatches`
    became known only during the session. If there are any, no rule that needs the baseline passes.
    """
    gate_family = family or family_of(rules)

    def rule_at(rule: Rule, alpha: float = ALPHA_OF_ONE_RULE) -> Ruling:
        if rule.is_about_audit:
            return bound_rules.rule_on_audits(rule, audits, alpha)
        if rule.bounds_own_figure:
            own = (asker_cells.metrics, asker_cells.cells) if rule.is_about_asker else (metrics, cells)
            return bound_rules.rule_on(rule, *own, noun, alpha, planned_alpha=gate_family.alpha())
        # Without a comparison, only `unscored` is left: rules that need a baseline were refused before.
        if comparison is None or rule.name == UNSCORED:
            return rule_on_unscored(rule, runs)
        return _withhold_pass(
            rule_on(rule, comparison, alpha, planned_alpha=gate_family.alpha()), late_mismatches
        )

    failed = failing_rules(rules, lambda rule, alpha: rule_at(rule, alpha).verdict == "fail", gate_family)
    uncorrected = [structs.replace(rule_at(rule), required=rule.required) for rule in rules]
    rulings = [
        ruling if rule in failed else _withhold_fail(ruling, gate_family)
        for rule, ruling in zip(rules, uncorrected, strict=True)
    ]
    return {
        "verdict": overall_verdict(rulings),
        "tests": gate_family.rules,
        "planned": runs.planned,
        "left": runs.left,
        "unscored": runs.unscored,
        "rules": rulings,
    }


def rule_on(
    rule: Rule,
    comparison: Comparison,
    alpha: float = ALPHA_OF_ONE_RULE,
    *,
    planned_alpha: float | None = None,
) -> Ruling:
    """The ruling on a rule that needs a baseline. The parameters are as in `metric_rules.rule_on`."""
    if rule.name == VERIFIED:
        return _rule_on_verified(rule, comparison)
    if rule.name == QUESTION:
        return question_rule.rule_on(rule, comparison, alpha, planned_alpha or alpha)
    return metric_rules.rule_on(rule, comparison, alpha, planned_alpha=planned_alpha)


def rule_on_unscored(rule: Rule, runs: RunCounts) -> Ruling:
    """The ruling on the share of planned runs without a score."""
    share = 100 * runs.missing / runs.planned if runs.planned else 0.0
    why = f"{runs.missing} of {runs.planned} runs have no score ({share:.1f} %)"
    return Ruling(rule=rule.text, verdict="pass" if share <= rule.amount else "fail", why=why)


def _rule_on_verified(rule: Rule, comparison: Comparison) -> Ruling:
    doubts = [f"{side.file}: {side.doubt}" for side in (comparison.before, comparison.after) if side.doubt]
    why = "; ".join(doubts) or "both results are what their journals say"
    return Ruling(rule=rule.text, verdict="fail" if doubts else "pass", why=why)


def _withhold_fail(ruling: Ruling, family: Family) -> Ruling:
    """The ruling, with a FAIL changed to inconclusive because it does not hold after correction."""
    if ruling.verdict != "fail":
        return ruling
    level = f"a {100 * (1 - 2 * family.alpha()):.1f} % interval"
    why = f"{ruling.why}; but of {family.rules} rules one may lie there by chance: a FAIL takes {level}"
    return structs.replace(ruling, verdict="inconclusive", why=why)


def _withhold_pass(ruling: Ruling, late_mismatches: Sequence[str]) -> Ruling:
    """The ruling, with a PASS changed to inconclusive if there are late mismatches."""
    if ruling.verdict != "pass" or not late_mismatches:
        return ruling
    why = f"{ruling.why}; but {'; '.join(late_mismatches)}: --allow-mismatch decides it anyway"
    return structs.replace(ruling, verdict="inconclusive", why=why)
