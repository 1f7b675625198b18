"""The stopping rule of `--until`: after a round of runs, is the interval narrow enough, or the gate decided?

A look is such a decision after a round. This module knows neither sessions nor journals; each look becomes a
line of the journal, so that results can be rebuilt from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from equipoise.comparison.gate.family import ALPHA_OF_ONE_RULE, failing_rules
from equipoise.comparison.gate.refusals import Metrics
from equipoise.comparison.gate_terms import GateTerms
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import GATE, Rule, Until
from equipoise.core.types import JSON
from equipoise.results.results import Results

if TYPE_CHECKING:
    from equipoise.core.figures import Estimate
    from equipoise.stats.paired import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingRule:
    """The stopping rule `until` of a suite in a session.

    `metrics` are those that the results will have. `looks` is the maximum number of rounds, each with one
    look. `baseline` is set if the rule is the gate.
    """

    until: Until
    terms: GateTerms
    baseline: Results | None
    metrics: Metrics
    looks: int

    @property
    def recorded(self) -> str:
        """The rule as recorded in results: for a gate, with its rules and baseline.

        The looks in the journal do not apply to other rules or another baseline, so a session with these
        cannot resume.
        """
        if self.until.half_width is not None or self.baseline is None:
            return self.until.text
        rules = " ".join(rule.text for rule in self.terms.rules)
        return f"{self.until.text}: {rules} against {self.baseline.file} ({(self.baseline.digest or '')[:8]})"

    def look(self, cells: Sequence[Cell], number: int) -> dict[str, JSON]:
        """The content of a `LookLine` after round `number`. `cells` are those of the plain runs so far."""
        if (wanted := self.until.half_width) is not None:
            return self._look_at_interval(wanted, cells, number)
        assert self.baseline is not None
        return self._look_at_gate(self.baseline, cells, number)

    def _look_at_interval(self, wanted: float, cells: Sequence[Cell], number: int) -> dict[str, JSON]:
        """The interval after this round, and whether its half-width is at most the wanted one."""
        from equipoise.results.summary import to_plain_json

        estimate = self._interval(self.metrics[self.until.name], cells, number)
        half_width = (
            None if estimate.low is None or estimate.high is None else (estimate.high - estimate.low) / 2
        )
        look: dict[str, JSON] = to_plain_json(
            {
                "rule": self.until.text,
                "metric": self.until.name,
                "scope": self.until.scope,
                "round": number,
                **structs.asdict(estimate),
                "half_width": half_width,
            }
        )
        return {**look, "is_enough": half_width is not None and half_width <= wanted}

    def _interval(self, metric: Metric, cells: Sequence[Cell], number: int) -> Estimate:
        """The interval for these questions or for all of their kind, at the confidence level of the look."""
        from equipoise.stats import fixed, valid
        from equipoise.stats.intervals import bounded_mean
        from equipoise.stats.metrics import observations
        from equipoise.stats.sequential import look_confidence, question_share

        if self.until.scope == "these":
            return fixed.estimate(metric, cells, confidence=look_confidence(number, self.looks))
        metric_cells = metric.select(cells)
        runs = {(cell.cluster, cell.stratum): valid(cell.of(metric.of)) for cell in metric_cells}
        means = observations(metric, metric_cells)
        confidence = look_confidence(number, self.looks, fixed_share=question_share(means, runs))
        return bounded_mean(means, least=0.0, most=100.0, confidence=confidence)

    def _look_at_gate(self, baseline: Results, cells: Sequence[Cell], number: int) -> dict[str, JSON]:
        """The verdict of each rule about a metric after this round, and whether all are decided."""
        from equipoise.comparison.compare import change_in, common_cells, levels_of_look
        from equipoise.comparison.gate.metric_rules import decide

        suite = baseline.suite
        older, newer = common_cells(baseline.cells, cells)
        metrics = {metric.name: metric for metric in suite.metrics(newer)}
        rules = [rule for rule in self.terms.rules if rule.is_about_metric]

        def decision(rule: Rule, alpha: float = ALPHA_OF_ONE_RULE) -> Decision:
            metric = metrics.get(rule.name)
            if metric is None:
                return "inconclusive"
            # A rule is a one-sided test at alpha, so the two-sided interval has the confidence 1 - 2 alpha.
            levels = levels_of_look(number, self.looks, baseline.rounds, 1 - 2 * alpha)
            return decide(rule, change_in(metric, older, newer, suite.about.clusters, levels))

        family = self.terms.family
        failed = failing_rules(rules, lambda rule, alpha: decision(rule, alpha) == "fail", family)
        verdicts: dict[str, str] = {
            rule.text: _family_verdict(decision(rule), rule in failed) for rule in rules
        }
        is_enough = "inconclusive" not in verdicts.values()
        return {"rule": GATE, "round": number, "verdicts": verdicts, "is_enough": is_enough}


def _family_verdict(decision: Decision, fails_corrected: bool) -> Decision:
    """The verdict on a rule in a family of rules, from the decision on this rule alone.

    `fails_corrected` says whether the rule also fails when corrected for several rules; otherwise a fail is
    inconclusive.
    """
    return "fail" if fails_corrected else "inconclusive" if decision == "fail" else decision
