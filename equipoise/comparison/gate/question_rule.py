"""The rule that no single question becomes worse by so many points of the scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.comparison.compare import ROUNDING, Comparison
from equipoise.comparison.gate.ruling import Ruling, inconclusive
from equipoise.core.rules import Rule
from equipoise.stats import squares
from equipoise.stats.intervals import student
from equipoise.stats.metrics import valid
from equipoise.stats.paired import needed_repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fall:
    """One case's fall in points of the scale, and the values of its runs before and after."""

    cell: str
    points: float
    older: Sequence[float]
    newer: Sequence[float]


def judge(rule: Rule, comparison: Comparison, error: float, planned_error: float) -> Ruling:
    """No case may fall by so much in its mean; a fall that chance explains decides nothing.

    Errors are as in `metric_rules.judge`.
    """
    falls, noun = _falls(comparison), comparison.after.suite.clusters
    if not falls:
        return inconclusive(
            rule,
            f"none of the {noun} has a score in both: one that has two runs in each is needed to decide it",
        )
    deep = sorted(
        (fall for fall in falls if fall.points >= rule.amount - ROUNDING), key=lambda fall: -fall.points
    )
    if not deep:
        worst = max(falls, key=lambda fall: fall.points)
        fell = f"{worst.cell} fell most, by {worst.points:.2f} points" if worst.points > 0 else "none fell"
        return Ruling(rule=rule.text, verdict="pass", why=f"of {len(falls)} {noun} {fell}")
    noise = _run_noise([runs for fall in falls for runs in (fall.older, fall.newer)])
    certain = [fall for fall in deep if _is_certain(fall, noise, error / len(falls))]
    shown = ", ".join(f"{fall.cell} by {fall.points:.2f}" for fall in (certain or deep)[:5])
    needed = "" if certain else _needed_repeats(deep, noise, len(falls), 1 - 2 * planned_error)
    doubt = f"; with so few runs chance may have done that: {needed}" if needed else ""
    why = f"{len(deep)} of {len(falls)} {noun} fell by {rule.amount:g} points or more: {shown}{doubt}"
    return Ruling(rule=rule.text, verdict="fail" if certain else "inconclusive", why=why)


def _falls(comparison: Comparison) -> list[_Fall]:
    scale = comparison.after.scale
    headline = comparison.after.suite.metrics(comparison.after.cells)[0]
    name = headline.of
    known = {cell.id: valid(cell.of(name)) for cell in comparison.before.cells}
    pairs = {cell.id: (known.get(cell.id, []), valid(cell.of(name))) for cell in comparison.after.cells}
    points = (scale.high - scale.low) * headline.percent / 100
    return [
        _Fall(cell=cell, points=points * _drop(older, newer), older=older, newer=newer)
        for cell, (older, newer) in pairs.items()
        if older and newer
    ]


def _drop(older: Sequence[float], newer: Sequence[float]) -> float:
    return math.fsum(older) / len(older) - math.fsum(newer) / len(newer)


def _run_noise(groups: Sequence[Sequence[float]]) -> _Noise:
    """The variance of runs within cases, pooled over all."""
    spare = sum(len(runs) - 1 for runs in groups)
    variance = math.fsum(map(squares, groups)) / spare if spare else 0.0
    return _Noise(variance=variance, degrees=spare, groups=len(groups))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Noise:
    """How much runs vary, and from how many degrees of freedom and groups of runs that is known."""

    variance: float
    degrees: int
    groups: int

    def of(self, fall: _Fall) -> _Noise:
        """This case's own or that of all cases, whichever is larger: five runs that agree prove no zero."""
        own = len(fall.older) + len(fall.newer) - 2
        variance = (squares(fall.older) + squares(fall.newer)) / own if own else 0.0
        return _Noise(variance=variance, degrees=own, groups=2) if variance > self.variance else self


def _is_certain(fall: _Fall, pooled: _Noise, error: float) -> bool:
    """Whether a t test finds that the case fell, with this one-sided error: a rule's over all cases."""
    if pooled.degrees < 1:
        return False
    noise = pooled.of(fall)
    spread = math.sqrt(noise.variance * (1 / len(fall.older) + 1 / len(fall.newer)))
    return _drop(fall.older, fall.newer) > student(noise.degrees, 1 - 2 * error) * spread


def _needed_repeats(deep: Sequence[_Fall], pooled: _Noise, cases: int, confidence: float) -> str:
    """How many runs would tell one of these falls from chance."""
    if pooled.degrees < 1:
        return "two runs or more of each question, before and after, are needed to decide it"
    numbers = [
        needed_repeats(
            _drop(fall.older, fall.newer),
            noise.variance,
            groups=noise.groups,
            tests=cases,
            confidence=confidence,
        )
        for fall, noise in ((fall, pooled.of(fall)) for fall in deep)
    ]
    runs = min((number for number in numbers if number), default=None)
    if runs is None:
        return "no number of runs would decide it where the figures stand now"
    return f"about {runs:,} runs of each question, before and after, would decide it"
