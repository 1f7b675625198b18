"""Whether a candidate may be released: each rule a non-inferiority test against the baseline.

A rule passes where the whole 95 % interval of the difference lies inside the margin, fails where it lies
wholly outside, and is inconclusive otherwise. Unless it says otherwise it is about these very questions, of
which only the runs vary. Of several rules a FAIL takes a wider interval (`compare.family`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from equipoise.comparison.baseline import RunCounts, Side
from equipoise.comparison.compare import ROUNDING, Comparison, MetricChange
from equipoise.comparison.family import ALONE, Family, failing, family_of
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import QUESTION, UNSCORED, VERIFIED, Rule
from equipoise.core.types import JSON
from equipoise.results.askers import NOBODY, Asking
from equipoise.stats import fixed, squares
from equipoise.stats.corrected import FEWEST as FEWEST_LABELS
from equipoise.stats.fixed import NOTHING_VARIED
from equipoise.stats.intervals import Estimate, student
from equipoise.stats.metrics import measure, valid
from equipoise.stats.paired import (
    Better,
    Decision,
    Difference,
    needed_clusters,
    needed_repeats,
    needed_runs,
    needed_runs_fixed,
    noninferiority,
)
from equipoise.stats.sequential import run_variance
from equipoise.stats.shared import shared

FEWEST = 6
"""Below this number of questions, no difference between any of them says nothing about a further one."""


_MOST_LABELS = 100_000
_MOST_TIMES = 1000.0
"""How many times as many runs or questions are worth naming."""
_NO_AUDITS: Mapping[str, JSON] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """The verdict on one rule, with a sentence that explains it."""

    rule: str
    verdict: Decision
    why: str
    required: bool = True

    def to_json(self) -> dict[str, JSON]:
        """Plain data."""
        return {"rule": self.rule, "verdict": self.verdict, "why": self.why, "required": self.required}


def verdict(rulings: Sequence[Ruling]) -> Decision:
    """The verdict on all required rules: fail if any fails, else inconclusive if any is."""
    found = {ruling.verdict for ruling in rulings if ruling.required}
    return "fail" if "fail" in found else "inconclusive" if "inconclusive" in found else "pass"


def judge_all(
    rules: Sequence[Rule],
    comparison: Comparison | None,
    runs: RunCounts,
    *,
    audits: Mapping[str, JSON] = _NO_AUDITS,
    asking: Asking = NOBODY,
    clusters: str = "questions",
    family: Family | None = None,
    doubts: Sequence[str] = (),
) -> dict[str, JSON]:
    """What becomes of all rules, as plain data, with how many of the candidate's runs have no score.

    `audits` are those of the candidate's evaluators, as in results, and `asking` is what its figures about
    who asks are made of; `clusters` is the suite's word for its questions. `family` is that of the rules of
    all suites, if there are more than these. `doubts` are mismatches that were seen too late to refuse:
    nothing passes.
    """
    every = family or family_of(rules)

    def judged(rule: Rule, error: float = ALONE) -> Ruling:
        if rule.is_about_audit:
            return of_audits(rule, audits, error)
        if rule.is_about_asker:
            return of_asker(rule, asking, clusters, error, wanted=every.error())
        if comparison is None or rule.name == UNSCORED:
            return unscored(rule, runs)
        return _doubted(judge(rule, comparison, error, wanted=every.error()), doubts)

    failed = failing(rules, lambda rule, error: judged(rule, error).verdict == "fail", every)
    alone = [replace(judged(rule), required=rule.required) for rule in rules]
    rulings = [
        ruling if rule in failed else _corrected(ruling, every)
        for rule, ruling in zip(rules, alone, strict=True)
    ]
    found = [ruling.to_json() for ruling in rulings]
    return {"verdict": verdict(rulings), "tests": every.rules, **asdict(runs), "rules": found}


def _corrected(ruling: Ruling, family: Family) -> Ruling:
    """The ruling on a rule that does not fail together with all others, though it may by itself."""
    if ruling.verdict != "fail":
        return ruling
    level = f"a {100 * (1 - 2 * family.error()):.1f} % interval"
    why = f"{ruling.why}; but of {family.rules} rules one may lie there by chance: a FAIL takes {level}"
    return replace(ruling, verdict="inconclusive", why=why)


def _doubted(ruling: Ruling, doubts: Sequence[str]) -> Ruling:
    if ruling.verdict != "pass" or not doubts:
        return ruling
    why = f"{ruling.why}; but {'; '.join(doubts)}: --allow-mismatch judges all the same"
    return replace(ruling, verdict="inconclusive", why=why)


def unscored(rule: Rule, runs: RunCounts) -> Ruling:
    """The ruling on the share of planned runs without a score."""
    share = 100 * runs.missing / runs.planned if runs.planned else 0.0
    found: Decision = "pass" if share <= rule.amount else "fail"
    why = f"{runs.missing} of {runs.planned} runs have no score ({share:.1f} %)"
    return Ruling(rule=rule.text, verdict=found, why=why)


def judge(rule: Rule, comparison: Comparison, error: float = ALONE, *, wanted: float | None = None) -> Ruling:
    """The ruling on a rule that needs a baseline.

    `error` is the one-sided error of a FAIL, and `wanted` the one with which numbers of runs that would
    decide are reckoned, if it is another.
    """
    if rule.name == VERIFIED:
        return _verified(rule, comparison)
    if rule.name == QUESTION:
        return _question(rule, comparison, error, wanted or error)
    if rule.people:
        return _by_people(rule, comparison, error)
    change = comparison.changes.get(rule.name)
    if change is not None and error != ALONE:
        change = comparison.at(rule.name, 1 - 2 * error)
    if change is None:
        return _undecided(rule, "the two have nothing of it in common", comparison.after)
    margin = _margin(rule, change)
    if margin is None:
        return _undecided(rule, "the baseline has no figure", comparison.after)
    found = _verdict(rule, change, margin)
    why = _figures(change, rule, margin, comparison)
    if found == "inconclusive":
        why += f"; {_what_would_decide(rule, change, margin, comparison, 1 - 2 * (wanted or error))}"
    return Ruling(rule=rule.text, verdict=found, why=why)


def _by_people(rule: Rule, comparison: Comparison, error: float) -> Ruling:
    """The ruling on figures that people's labels correct, of which more labels decide more."""
    corrected = comparison.by_people(rule.name, 1 - 2 * error)
    change, judged = corrected or (None, 0.0)
    margin = None if change is None else _margin(rule, change)
    if change is None or margin is None:
        why = f"too few labels: about {FEWEST_LABELS} or more on each side are needed to decide it"
        return Ruling(rule=rule.text, verdict="inconclusive", why=why)
    found = noninferiority(change.of(rule.scope), margin, _better_side(rule))
    why = f"{_figures(change, rule, margin, comparison)}, by people's labels"
    why += f"; uncorrected, the judge says {judged:+.2f}"
    if found == "inconclusive":
        why += f"; {_what_labels_would_decide(rule, change, margin)}"
    return Ruling(rule=rule.text, verdict=found, why=why)


def _what_labels_would_decide(rule: Rule, change: MetricChange, margin: float) -> str:
    """Labels narrow the interval by the root of their number, as far as it is theirs."""
    found, worse = change.of(rule.scope), _worse(rule, change)
    if found.low is None or found.high is None or worse is None:
        return "more labels are needed to decide it"
    distance, half = abs(margin - worse), (found.high - found.low) / 2
    needed = math.ceil(found.n * (half / distance) ** 2) if distance else 0
    if not 0 < needed <= _MOST_LABELS:
        return "no number of labels would decide it where the figures stand now"
    return f"if the difference stays as it is, about {needed:,} labels on each side would decide it"


def _verified(rule: Rule, comparison: Comparison) -> Ruling:
    doubts = [f"{side.file}: {side.doubt}" for side in (comparison.before, comparison.after) if side.doubt]
    why = "; ".join(doubts) or "both results are what their journals say"
    return Ruling(rule=rule.text, verdict="fail" if doubts else "pass", why=why)


def _undecided(rule: Rule, why: str, after: Side) -> Ruling:
    words = f"{why}; {_enough(after.suite.clusters)}"
    return Ruling(rule=rule.text, verdict="inconclusive", why=words)


def _margin(rule: Rule, change: MetricChange) -> float | None:
    """The margin in percentage points; a percentage is relative to the baseline's figure."""
    if rule.unit == "pp" or not rule.amount:
        return rule.amount
    return None if change.before is None else abs(change.before) * rule.amount / 100


def decide(rule: Rule, change: MetricChange) -> Decision:
    """What becomes of a rule about this metric."""
    margin = _margin(rule, change)
    return "inconclusive" if margin is None else _verdict(rule, change, margin)


def _verdict(rule: Rule, change: MetricChange, margin: float) -> Decision:
    found, worse = change.of(rule.scope), _worse(rule, change)
    if worse is not None and _is_settled(rule, found):
        return "pass" if worse <= margin + ROUNDING else "fail"
    if not margin and worse is not None and worse <= ROUNDING and _has_enough(rule, found):
        # No number of runs could show that there is no change at all: not to be worse has to do.
        return "pass"
    return noninferiority(found, margin, _better_side(rule))


def _worse(rule: Rule, change: MetricChange) -> float | None:
    """By how much the figure is worse than the baseline's."""
    value = change.difference.value
    return None if value is None else -value if rule.sign < 0 else value


def _is_settled(rule: Rule, found: Difference) -> bool:
    """Whether what was observed decides, as nothing in it varies: no run, or no question."""
    if found.n < FEWEST or found.value is None:
        return False
    return found.reason == NOTHING_VARIED if rule.scope == "these" else found.se is None


def _has_enough(rule: Rule, found: Difference) -> bool:
    """Whether there is enough to go by for what was observed to count."""
    return found.low is not None if rule.scope == "these" else found.n >= FEWEST


def _figures(change: MetricChange, rule: Rule, margin: float, comparison: Comparison) -> str:
    found, value = change.of(rule.scope), change.difference.value
    if value is None:
        return f"no difference could be measured ({change.difference.reason})"
    looks, noun = comparison.levels.looks, comparison.after.suite.clusters
    repeated = f" over {looks} looks" if looks > 1 else ""
    limits = (
        f"95 % interval{repeated} {found.low:+.2f} to {found.high:+.2f}"
        if found.low is not None
        else f"no interval: {found.reason}"
    )
    edge = margin if rule.sign > 0 or not margin else -margin
    sign, unit = (" %", "pp") if change.metric.unit == "%" else ("", change.metric.unit)
    return (
        f"{change.before:.2f}{sign} before, {change.after:.2f}{sign} after: "
        f"{value:+.2f} {unit}, {limits}, margin {edge:+.2f}, " + _about(rule, found, noun)
    )


def _about(rule: Rule, found: Difference, noun: str) -> str:
    """What the interval is about, and how many there are."""
    if rule.people:
        about = "on these replies" if rule.scope == "these" else f"for {noun} like these"
        return f"{about}, {found.n} labels"
    return f"on these {found.n} cases" if rule.scope == "these" else f"for {noun} like these {found.n}"


# The evaluators.


def of_audits(rule: Rule, audits: Mapping[str, JSON], error: float = ALONE) -> Ruling:
    """The ruling on a rule about audits, which holds for each evaluator and each check of that name."""
    found = [_of_audit(rule, evaluator, audit, error) for evaluator, audit in audits.items()]
    if not found:
        return Ruling(rule=rule.text, verdict="inconclusive", why="there is no evaluator")
    return Ruling(rule=rule.text, verdict=verdict(found), why="; ".join(item.why for item in found))


def _of_audit(rule: Rule, evaluator: str, audit: Mapping[str, JSON] | None, error: float) -> Ruling:
    doubt = _why_undecided(audit)
    checks = rule.among(audit["checks"]) if audit else []
    if doubt or not checks:
        why = f"{evaluator}: {doubt or 'the audit has no such check'}"
        return Ruling(rule=rule.text, verdict="inconclusive", why=why)
    found = [_of_check(rule, check, error) for check in checks]
    words = ", ".join(item.why for item in found)
    return Ruling(rule=rule.text, verdict=verdict(found), why=f"{evaluator}: {words}")


def _why_undecided(audit: Mapping[str, JSON] | None) -> str | None:
    if audit is None:
        return "not audited"
    if audit["state"] != "complete":
        return f"its audit is incomplete ({audit['verdicts']:,} of {audit['planned']:,} verdicts)"
    if audit["differs"]:
        return f"its audit was of another: {'; '.join(audit['differs'])}"
    return None


def _of_check(rule: Rule, check: Mapping[str, JSON], error: float) -> Ruling:
    """Passes where the whole interval lies within the margin, fails where all of it lies outside."""
    least = -math.inf if rule.sign > 0 else check["sound"] - rule.amount - ROUNDING
    most = math.inf if rule.sign < 0 else check["sound"] + rule.amount + ROUNDING
    low, high = _limits(check, error)
    return Ruling(rule=rule.text, verdict=_within(low, high, least, most), why=_words(check))


def _limits(check: Mapping[str, JSON], error: float) -> tuple[float | None, float | None]:
    """The interval; where no topic differs from another, enough of them show what was observed.

    Results have the 95 % interval alone, by Student's t over topics in most checks: it is stretched by t.
    """
    value, low, high = check["value"], check["low"], check["high"]
    if low is None and value is not None and check["n"] >= FEWEST:
        return value, value
    if low is None or high is None or error == ALONE:
        return low, high
    degrees = max(check["n"] - 1, 1)
    stretch = student(degrees, 1 - 2 * error) / student(degrees, 1 - 2 * ALONE)
    return value - stretch * (value - low), value + stretch * (high - value)


def _words(check: Mapping[str, JSON]) -> str:
    if check["value"] is None:
        return f"{check['name']} -"
    limits = (
        f"95 % interval {check['low']:+.2f} to {check['high']:+.2f}"
        if check["low"] is not None
        else f"no interval: {check['reason']}"
    )
    return f"{check['name']} {check['value']:+.2f} {check['unit']} ({limits})"


# Who asks.


def of_asker(
    rule: Rule, asking: Asking, clusters: str, error: float = ALONE, *, wanted: float = ALONE
) -> Ruling:
    """The ruling on a rule about who asks, which bounds the candidate's own figure.

    Errors are as in `judge`.
    """
    metric = asking.metrics.get(rule.name)
    if metric is None:
        return Ruling(rule=rule.text, verdict="inconclusive", why="there is no such figure")
    found = _of_scope(rule, metric, asking.cells, 1 - 2 * error)
    least = -math.inf if rule.sign > 0 else -rule.amount - ROUNDING
    most = math.inf if rule.sign < 0 else rule.amount + ROUNDING
    low, high = found.low, found.high
    if low is None and found.value is not None and _is_constant(rule, found):
        low = high = found.value
    ruled = _within(low, high, least, most)
    why = _asker_words(rule, metric, _of_scope(rule, metric, asking.cells, 0.95), clusters)
    if ruled == "inconclusive":
        confidence = 1 - 2 * wanted if found.value is not None and not least <= found.value <= most else 0.95
        why += f"; {_what_would_decide_asker(rule, metric, asking.cells, clusters, confidence)}"
    return Ruling(rule=rule.text, verdict=ruled, why=why)


def _of_scope(rule: Rule, metric: Metric, cells: Sequence[Cell], confidence: float) -> Estimate:
    if rule.scope == "these":
        return fixed.estimate(metric, cells, confidence=confidence)
    return measure(metric, cells, confidence=confidence)


def _is_constant(rule: Rule, found: Estimate) -> bool:
    """Whether what was observed decides, as no run, or no question, differed from another."""
    if found.n < FEWEST:
        return False
    return found.reason == NOTHING_VARIED if rule.scope == "these" else found.se is None


def _within(low: float | None, high: float | None, least: float, most: float) -> Decision:
    """Pass where the whole interval lies within these bounds, fail where all of it lies outside."""
    if low is None or high is None:
        return "inconclusive"
    if least <= low and high <= most:
        return "pass"
    return "fail" if high < least or low > most else "inconclusive"


def _asker_words(rule: Rule, metric: Metric, found: Estimate, clusters: str) -> str:
    if found.value is None:
        return f"no figure could be measured ({found.reason})"
    limits = (
        f"95 % interval {found.low:+.2f} to {found.high:+.2f}"
        if found.low is not None
        else f"no interval: {found.reason}"
    )
    about = f"on these {found.n} cases" if rule.scope == "these" else f"for {clusters} like these {found.n}"
    sign = {1: "+", -1: "-"}.get(rule.sign, "±")
    return f"{found.value:+.2f} {metric.unit}, {limits}, bound {sign}{rule.amount:.2f}, {about}"


def _what_would_decide_asker(
    rule: Rule, metric: Metric, cells: Sequence[Cell], clusters: str, confidence: float
) -> str:
    """How many runs, or questions, would decide it if the figure stays as it is."""
    found = _of_scope(rule, metric, cells, confidence)
    if found.value is None or found.low is None or found.high is None:
        return f"{FEWEST} {clusters} or more, with two runs of each, are needed to decide it"
    bounds = [bound for bound, sign in ((rule.amount, 1), (-rule.amount, -1)) if rule.sign in (0, sign)]
    distance = min(abs(found.value - bound) for bound in bounds)
    half = (found.high - found.low) / 2
    if not distance or (times := (half / distance) ** 2) > _MOST_TIMES:
        return f"no number of runs or {clusters} would decide it where the figure stands now"
    if rule.scope == "these":
        number = math.ceil(times * _runs_each(metric, metric.chosen(cells)))
        return f"if it stays as it is, about {number:,} runs of each would decide it"
    number = max(math.ceil(times * found.n), FEWEST)
    return f"if it stays as it is, about {number:,} {clusters} would decide it"


# What would decide a rule that is not decided. A suite has its own word for its questions.


def _what_would_decide(
    rule: Rule, change: MetricChange, margin: float, comparison: Comparison, failing_at: float
) -> str:
    """How many runs or questions would decide a rule with this margin (percentage points).

    A FAIL takes an interval of the confidence `failing_at`, a PASS one of 95 %.
    """
    before, after = comparison.before, comparison.after
    found, noun, better = change.of(rule.scope), after.suite.clusters, _better_side(rule)
    cells = shared(change.metric, before.cells, after.cells).after
    worse = _worse(rule, change) or 0.0
    confidence = failing_at if worse > margin else 0.95
    if rule.scope == "these":
        return _what_runs_would_decide(change, worse, margin, cells, confidence)
    if found.n < FEWEST and (found.se is None or found.low is None or (not margin and worse <= ROUNDING)):
        # As soon as there are enough, what was observed decides.
        return _enough(noun)
    if found.low is None:
        return f"without an interval no number of runs or {noun} can be named"
    numbers = _needed(found, margin, better, change.metric, cells, noun, confidence)
    if not margin:
        would = f"; if it stays as it is, about {numbers} would show it" if numbers else ""
        return f"with a margin of 0 what was observed decides: it was worse, but by chance perhaps{would}"
    if not numbers:
        return f"no number of runs or {noun} would decide it where the figures stand now"
    return f"if the difference stays as it is, about {numbers} would decide it"


def _what_runs_would_decide(
    change: MetricChange, worse: float, margin: float, cells: Sequence[Cell], confidence: float
) -> str:
    """How many runs a rule on these very questions would need; further questions are another matter."""
    found = change.these
    if found.low is None:
        return _why_no_runs_are_named(found)
    each = _runs_each(change.metric, cells)
    runs = needed_runs_fixed(found, worse - margin, runs=each, confidence=confidence)
    if not margin:
        would = f"; if it stays as it is, about {runs:,} runs of each would show it" if runs else ""
        return f"with a margin of 0 what was observed decides: it was worse, but by chance perhaps{would}"
    if runs is None:
        return "no number of runs would decide it where the figures stand now"
    return f"if the difference stays as it is, about {runs:,} runs of each, before and after, would decide it"


def _why_no_runs_are_named(found: Difference) -> str:
    if found.reason == NOTHING_VARIED:
        return f"from {FEWEST} cases on that would decide it as observed"
    if found.n:
        return "the scope @population can do with one"
    return "without an interval no number of runs can be named"


def _runs_each(metric: Metric, cells: Sequence[Cell]) -> float:
    """How many runs these cases have on average."""
    filled = [len(runs) for cell in cells if (runs := valid(cell.of(metric.of)))]
    return sum(filled) / len(filled) if filled else 0.0


def _enough(noun: str) -> str:
    """What to report if there is almost no data."""
    return f"{FEWEST} {noun} or more are needed to decide it"


def _better_side(rule: Rule) -> Better:
    """On which side of its bound a rule's figure is better."""
    return "higher" if rule.sign < 0 else "lower"


def _needed(
    found: Difference,
    margin: float,
    better: Better,
    metric: Metric,
    cells: Sequence[Cell],
    noun: str,
    confidence: float,
) -> str:
    """The number of runs, or of questions; empty if no number would be enough."""
    parts, asked = [], (found, margin, better)
    if metric.kind in ("mean", "balance") and (runs := _needed_runs(*asked, metric, cells, confidence)):
        parts.append(f"{runs:,} runs of each question")
    if questions := needed_clusters(*asked, confidence=confidence):
        parts.append(f"{max(questions, FEWEST):,} {noun}")
    return " or ".join(parts)


def _needed_runs(
    found: Difference,
    margin: float,
    better: Better,
    metric: Metric,
    cells: Sequence[Cell],
    confidence: float,
) -> int | None:
    values = {(cell.cluster, cell.stratum): valid(cell.of(metric.of)) for cell in cells}
    noise = run_variance(values)
    runs = _runs_each(metric, cells)
    if noise is None or not runs:
        return None
    return needed_runs(found, margin, better, runs=runs, noise=noise, confidence=confidence)


# No single question.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fall:
    """One case's fall in points of the scale, and the values of its runs before and after."""

    cell: str
    points: float
    older: Sequence[float]
    newer: Sequence[float]


def _question(rule: Rule, comparison: Comparison, error: float, wanted: float) -> Ruling:
    """No case may fall by so much in its mean; a fall that chance explains decides nothing."""
    falls, noun = _falls(comparison), comparison.after.suite.clusters
    if not falls:
        why = f"none of the {noun} has a score in both: one that has two runs in each is needed to decide it"
        return Ruling(rule=rule.text, verdict="inconclusive", why=why)
    deep = sorted(
        (fall for fall in falls if fall.points >= rule.amount - 1e-9), key=lambda fall: -fall.points
    )
    if not deep:
        worst = max(falls, key=lambda fall: fall.points)
        fell = f"{worst.cell} fell most, by {worst.points:.2f} points" if worst.points > 0 else "none fell"
        return Ruling(rule=rule.text, verdict="pass", why=f"of {len(falls)} {noun} {fell}")
    noise = _run_noise([runs for fall in falls for runs in (fall.older, fall.newer)])
    certain = [fall for fall in deep if _is_certain(fall, noise, error / len(falls))]
    shown = ", ".join(f"{fall.cell} by {fall.points:.2f}" for fall in (certain or deep)[:5])
    needed = "" if certain else _needed_repeats(deep, noise, len(falls), 1 - 2 * wanted)
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
        """This case's own or that of all cases, whichever is larger: of five that agree it would be zero."""
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
    needed = [
        needed_repeats(
            _drop(fall.older, fall.newer),
            noise.variance,
            groups=noise.groups,
            tests=cases,
            confidence=confidence,
        )
        for fall, noise in ((fall, pooled.of(fall)) for fall in deep)
    ]
    runs = min((number for number in needed if number), default=None)
    if runs is None:
        return "no number of runs would decide it where the figures stand now"
    return f"about {runs:,} runs of each question, before and after, would decide it"
