"""The rule `question`: no single case (a question in one language) may become worse by N points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from equipoise.comparison.compare import ROUNDING, Comparison
from equipoise.comparison.gate.ruling import inconclusive_ruling
from equipoise.core.rules import Rule
from equipoise.results.document import Ruling
from equipoise.stats import sum_of_squares, valid
from equipoise.stats.intervals import student
from equipoise.stats.paired import needed_runs_for_worsening

_MOST_EXAMPLES = 5
"""The maximum number of cases that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worsening:
    """How much worse one case became.

    `older_runs` and `newer_runs` are the values of its runs in the two results. `change` is in their unit,
    `change_in_points` in points of the suite's scale.
    """

    case_id: str
    change_in_points: float
    change: float
    older_runs: Sequence[float]
    newer_runs: Sequence[float]


def rule_on(rule: Rule, comparison: Comparison, alpha: float, planned_alpha: float) -> Ruling:
    """The ruling on the rule `question`: fail only if some case is worse beyond chance.

    `alpha` is the one-sided error of a FAIL. `planned_alpha` is the error assumed in the number of runs that
    would decide the rule.
    """
    cases, noun = _worsenings(comparison, rule.sign), comparison.after.suite.about.clusters
    verb = "rose" if rule.sign > 0 else "fell"
    if not cases:
        return inconclusive_ruling(
            rule,
            f"none of the {noun} has a score in both results: at least one needs two scored runs in each",
        )
    worse = sorted(
        (case for case in cases if case.change_in_points >= rule.amount - ROUNDING),
        key=lambda case: -case.change_in_points,
    )
    if not worse:
        worst = max(cases, key=lambda case: case.change_in_points)
        worst_change = f"{worst.case_id} {verb} most, by {worst.change_in_points:.2f} points"
        why = f"of {len(cases)} {noun} {worst_change if worst.change_in_points > 0 else f'none {verb}'}"
        return Ruling(rule=rule.text, verdict="pass", why=why)
    noise = _run_noise([runs for case in cases for runs in (case.older_runs, case.newer_runs)])
    # Bonferroni's correction: the rule is about all cases.
    significant = [case for case in worse if _is_significant(case, noise, alpha / len(cases))]
    examples = ", ".join(
        f"{case.case_id} by {case.change_in_points:.2f}" for case in (significant or worse)[:_MOST_EXAMPLES]
    )
    needed = "" if significant else _describe_needed_runs(worse, noise, len(cases), 1 - 2 * planned_alpha)
    hint = f"; with so few runs chance may have done that: {needed}" if needed else ""
    why = f"{len(worse)} of {len(cases)} {noun} {verb} by {rule.amount:g} points or more: {examples}{hint}"
    return Ruling(rule=rule.text, verdict="fail" if significant else "inconclusive", why=why)


def _worsenings(comparison: Comparison, sign: int) -> list[_Worsening]:
    """The worsening of each case with scores in both results. `sign` is 1 if a rise is worse, else -1."""
    scale = comparison.after.scale
    headline = comparison.after.suite.metrics(comparison.after.cells)[0]
    name = headline.of
    baseline_runs = {cell.id: valid(cell.of(name)) for cell in comparison.before.cells}
    pairs = {
        cell.id: (baseline_runs.get(cell.id, []), valid(cell.of(name))) for cell in comparison.after.cells
    }
    # `headline.percent_factor` converts a value to percent, and 100 % is the whole scale.
    points_per_unit = (scale.high - scale.low) * headline.percent_factor / 100
    return [
        _worsening(case_id, older, newer, sign, points_per_unit)
        for case_id, (older, newer) in pairs.items()
        if older and newer
    ]


def _worsening(
    case_id: str, older: Sequence[float], newer: Sequence[float], sign: int, points_per_unit: float
) -> _Worsening:
    change = sign * (fmean(newer) - fmean(older))
    return _Worsening(
        case_id=case_id,
        change_in_points=points_per_unit * change,
        change=change,
        older_runs=older,
        newer_runs=newer,
    )


def _run_noise(groups: Sequence[Sequence[float]]) -> _Noise:
    """The variance of runs within cases, pooled over all cases."""
    degrees = sum(len(runs) - 1 for runs in groups)
    variance = math.fsum(map(sum_of_squares, groups)) / degrees if degrees else 0.0
    return _Noise(variance=variance, degrees=degrees, groups=len(groups))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Noise:
    """An estimate of the variance of runs, from `groups` groups of runs, with its degrees of freedom."""

    variance: float
    degrees: int
    groups: int

    def in_case(self, case: _Worsening) -> _Noise:
        """The noise of this case, or that of all cases (`self`) if it is larger.

        A few runs that happen to agree do not show that a case has no variance.
        """
        degrees = len(case.older_runs) + len(case.newer_runs) - 2
        variance = (
            (sum_of_squares(case.older_runs) + sum_of_squares(case.newer_runs)) / degrees if degrees else 0.0
        )
        return _Noise(variance=variance, degrees=degrees, groups=2) if variance > self.variance else self


def _is_significant(case: _Worsening, overall_noise: _Noise, alpha: float) -> bool:
    """Whether a t test finds the case worse at one-sided error `alpha`.

    The test is against 0 and not against the rule's amount, on purpose: the amount selects the cases whose
    observed change matters, and the test only has to rule out that such a change is due to chance.
    """
    if overall_noise.degrees < 1:
        return False
    noise = overall_noise.in_case(case)
    se = math.sqrt(noise.variance * (1 / len(case.older_runs) + 1 / len(case.newer_runs)))
    return case.change > student(noise.degrees, 1 - 2 * alpha) * se


def _describe_needed_runs(
    worse: Sequence[_Worsening], overall_noise: _Noise, tests: int, confidence: float
) -> str:
    """How many runs would make one of these worsenings significant, in words."""
    if overall_noise.degrees < 1:
        return "two runs or more of each question, before and after, are needed to decide it"
    numbers = [
        needed_runs_for_worsening(
            case.change, noise.variance, groups=noise.groups, tests=tests, confidence=confidence
        )
        for case, noise in ((case, overall_noise.in_case(case)) for case in worse)
    ]
    runs = min((number for number in numbers if number), default=None)
    if runs is None:
        return "no number of runs would decide it with the present figures"
    return f"about {runs:,} runs of each question, before and after, would decide it"
