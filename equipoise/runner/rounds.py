"""Interim looks for `--until`: after a round of runs, is the interval narrow enough, or the gate decided?

Each look is a line of the journal, so that results can be rebuilt from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from equipoise.comparison.compare import change_in, common_cells, levels_of_look
from equipoise.comparison.gate.family import ALPHA_OF_ONE_RULE, failing_rules
from equipoise.comparison.gate.metric_rules import decide
from equipoise.comparison.of_session import expected_cells
from equipoise.comparison.release import Release
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import GATE, Rule, Until
from equipoise.core.types import JSON
from equipoise.results import rows
from equipoise.results.history import History
from equipoise.results.results import Results
from equipoise.results.summary import to_plain_json
from equipoise.runner import resume
from equipoise.runner.plan import Plan
from equipoise.stats import fixed
from equipoise.stats.intervals import Estimate, bounded_mean
from equipoise.stats.metrics import observations, valid
from equipoise.stats.paired import Decision
from equipoise.stats.sequential import look_confidence, question_share


def look_after(plan: Plan, name: str, history: History, number: int) -> bool:
    """Look at a suite's plain runs after round `number`, and journal the look. Returns whether to stop.

    Raises CannotKeep.
    """
    loaded, until = plan.load(name), plan.settings.until
    assert until is not None
    records = [record for record in history.records() if record.run <= number and record.asker is None]
    cells = loaded.suite.combine(rows.of_records(loaded.suite, records, loaded.rubric.scale))
    if until.half_width is None:
        baseline = plan.baselines.get(name)
        assert baseline is not None
        look = look_at_gate(plan.release(name), baseline, cells, number, loaded.repeats)
    else:
        # The first rounds may have no value of the metric yet.
        expected = expected_cells(loaded.suite, loaded.rubric, loaded.cases, plan.baselines.get(name))
        metrics = {metric.name: metric for metric in loaded.suite.metrics(expected)}
        look = look_at_interval(until, metrics[until.name], cells, number, loaded.repeats)
    resume.append(history, "look", **look)
    return bool(look["is_enough"])


def look_at_interval(
    until: Until, metric: Metric, cells: Sequence[Cell], number: int, looks: int
) -> dict[str, JSON]:
    """The content of a look's line: the interval after this round, and whether it is narrow enough.

    `number` is that of the round, `looks` the largest number of rounds.
    """
    assert until.half_width is not None
    estimate = _interval(until, metric, cells, number, looks)
    half_width = None if estimate.low is None or estimate.high is None else (estimate.high - estimate.low) / 2
    values: dict[str, JSON] = to_plain_json(
        {
            "rule": until.text,
            "metric": until.name,
            "scope": until.scope,
            "round": number,
            **asdict(estimate),
            "half_width": half_width,
        }
    )
    return {**values, "is_enough": half_width is not None and half_width <= until.half_width}


def _interval(until: Until, metric: Metric, cells: Sequence[Cell], number: int, looks: int) -> Estimate:
    """The interval for these questions or for all of their kind, at the confidence level of the look."""
    if until.scope == "these":
        return fixed.estimate(metric, cells, confidence=look_confidence(number, looks))
    metric_cells = metric.select(cells)
    runs = {(cell.cluster, cell.stratum): valid(cell.of(metric.of)) for cell in metric_cells}
    means = observations(metric, metric_cells)
    confidence = look_confidence(number, looks, fixed_share=question_share(means, runs))
    return bounded_mean(means, least=0.0, most=100.0, confidence=confidence)


def look_at_gate(
    release: Release, baseline: Results, cells: Sequence[Cell], number: int, looks: int
) -> dict[str, JSON]:
    """The content of a look's line: the verdict of each rule about a metric, and whether all are decided.

    `number` is that of the round, `looks` the largest number of rounds.
    """
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
    verdicts = {rule.text: _family_verdict(decision(rule), rule in failed) for rule in rules}
    is_enough = "inconclusive" not in verdicts.values()
    return {"rule": GATE, "round": number, "verdicts": verdicts, "is_enough": is_enough}


def _family_verdict(decision: Decision, fails_corrected: bool) -> Decision:
    """The verdict on a rule in a family of rules, from the decision on this rule alone.

    `fails_corrected` says whether the rule also fails when corrected for several rules; otherwise a fail is
    inconclusive.
    """
    return "fail" if fails_corrected else "inconclusive" if decision == "fail" else decision
