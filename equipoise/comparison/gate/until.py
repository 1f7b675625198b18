"""The stopping rule of `--until`: after a round of runs, is the interval narrow enough, or the gate decided?

It knows neither sessions nor journals, in which each look is a line, so that results can be rebuilt from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NotRequired

from equipoise.comparison.gate.family import ALPHA_OF_ONE_RULE, failing_rules
from equipoise.comparison.gate.refusals import Metrics
from equipoise.comparison.release import Release
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import GATE, Rule, Until
from equipoise.results.document import InterimLook
from equipoise.results.results import Results

if TYPE_CHECKING:
    from equipoise.stats.intervals import Estimate
    from equipoise.stats.paired import Decision


class Look(InterimLook):
    """The content of the journal line of a look: what was seen, and whether it is enough to stop."""

    rule: str
    is_enough: bool
    metric: NotRequired[str]
    scope: NotRequired[str]
    se: NotRequired[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingRule:
    """The stopping rule of a suite in a session: `until`, and what it is decided by.

    `metrics` are those that results will have, and `looks` is the largest number of rounds. There is a
    `baseline` if the rule is the gate.
    """

    until: Until
    release: Release
    baseline: Results | None
    metrics: Metrics
    looks: int

    @property
    def recorded(self) -> str:
        """The rule as recorded in results: for a gate, with its rules and baseline.

        A session with other rules or another baseline cannot resume, as the journalled looks do not apply to
        it.
        """
        if self.until.half_width is not None or self.baseline is None:
            return self.until.text
        rules = " ".join(rule.text for rule in self.release.rules)
        return f"{self.until.text}: {rules} against {self.baseline.file} ({(self.baseline.digest or '')[:8]})"

    def look(self, cells: Sequence[Cell], number: int) -> Look:
        """The content of a look's line after round `number`: its `is_enough` says whether to stop.

        `cells` are those of the plain runs up to this round.
        """
        if self.until.half_width is None:
            assert self.baseline is not None
            return look_at_gate(self.release, self.baseline, cells, number, self.looks)
        return look_at_interval(self.until, self.metrics[self.until.name], cells, number, self.looks)


def look_at_interval(until: Until, metric: Metric, cells: Sequence[Cell], number: int, looks: int) -> Look:
    """The content of a look's line: the interval after this round, and whether it is narrow enough.

    `number` is that of the round, `looks` the largest number of rounds.
    """
    from equipoise.results.summary import to_plain_json

    assert until.half_width is not None
    estimate = _interval(until, metric, cells, number, looks)
    half_width = None if estimate.low is None or estimate.high is None else (estimate.high - estimate.low) / 2
    look: Look = to_plain_json(
        {
            "rule": until.text,
            "metric": until.name,
            "scope": until.scope,
            "round": number,
            **asdict(estimate),
            "half_width": half_width,
        }
    )
    return {**look, "is_enough": half_width is not None and half_width <= until.half_width}


def _interval(until: Until, metric: Metric, cells: Sequence[Cell], number: int, looks: int) -> Estimate:
    """The interval for these questions or for all of their kind, at the confidence level of the look."""
    from equipoise.stats import fixed
    from equipoise.stats.intervals import bounded_mean
    from equipoise.stats.metrics import observations, valid
    from equipoise.stats.sequential import look_confidence, question_share

    if until.scope == "these":
        return fixed.estimate(metric, cells, confidence=look_confidence(number, looks))
    metric_cells = metric.select(cells)
    runs = {(cell.cluster, cell.stratum): valid(cell.of(metric.of)) for cell in metric_cells}
    means = observations(metric, metric_cells)
    confidence = look_confidence(number, looks, fixed_share=question_share(means, runs))
    return bounded_mean(means, least=0.0, most=100.0, confidence=confidence)


def look_at_gate(release: Release, baseline: Results, cells: Sequence[Cell], number: int, looks: int) -> Look:
    """The content of a look's line: the verdict of each rule about a metric, and whether all are decided.

    `number` is that of the round, `looks` the largest number of rounds.
    """
    from equipoise.comparison.compare import change_in, common_cells, levels_of_look
    from equipoise.comparison.gate.metric_rules import decide

    suite = baseline.suite
    older, newer = common_cells(baseline.cells, cells)
    metrics = {metric.name: metric for metric in suite.metrics(newer)}
    rules = [rule for rule in release.rules if rule.is_about_metric]

    def decision(rule: Rule, alpha: float = ALPHA_OF_ONE_RULE) -> Decision:
        metric = metrics.get(rule.name)
        if metric is None:
            return "inconclusive"
        # A rule is one-sided, so its interval leaves out alpha on each side.
        levels = levels_of_look(number, looks, baseline.rounds, 1 - 2 * alpha)
        return decide(rule, change_in(metric, older, newer, suite.clusters, levels))

    failed = failing_rules(rules, lambda rule, alpha: decision(rule, alpha) == "fail", release.family)
    verdicts: dict[str, str] = {rule.text: _family_verdict(decision(rule), rule in failed) for rule in rules}
    is_enough = "inconclusive" not in verdicts.values()
    return {"rule": GATE, "round": number, "verdicts": verdicts, "is_enough": is_enough}


def _family_verdict(decision: Decision, fails_corrected: bool) -> Decision:
    """The verdict on a rule in a family of rules, from the decision on this rule alone.

    `fails_corrected` says whether the rule also fails when corrected for several rules; otherwise a fail is
    inconclusive.
    """
    return "fail" if fails_corrected else "inconclusive" if decision == "fail" else decision
