"""Statistical tests of an evaluator's verdicts on anchors: of means and of shares, with their levels.

Scores are on 0..100, differences in points. Pure functions of verdicts on anchors. Each suite composes its
own checks from these.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from scipy.special import stdtr  # type: ignore[import-untyped]  # scipy has no types
from scipy.stats import binomtest  # type: ignore[import-untyped]

from equipoise.judge.anchors import SCORE, Check, Judged, Mirrors
from equipoise.stats.intervals import Estimate, Observation, linearise

LEVEL = 0.05
"""The probability of accusing a sound evaluator of anything, over all checks together."""
LEAN_SHARE = 0.4
"""The share of LEVEL for the check of the lean, the fault that matters most. The others divide the rest."""
LEAN_WITH_PARTS_SHARE = 0.25
"""The lean's share if leans by language or topic are checked too. These divide as much again."""
PARTS = ("lean in", "lean on")
"""Prefixes of the names of such checks: of the lean in one language, and on one topic."""


def lean_by_language(judged: Sequence[Judged], mirrors: Mirrors) -> dict[str, Check]:
    """The lean in each language alone, for information: these checks have no level, so they find no fault."""
    return {
        language: mean_check("lean", leans(of_aspects(judged, SCORE), mirrors, language))
        for language in dict.fromkeys(item.language for item in judged)
    }


def with_levels(checks: Iterable[Check]) -> tuple[Check, ...]:
    """The checks that have data, each with its part of LEVEL (weighted Bonferroni)."""
    measured = [check for check in checks if check.n]
    shares = _shares({_weight_class(check) for check in measured})
    counts = Counter(map(_weight_class, measured))
    return tuple(
        replace(check, level=LEVEL * shares[_weight_class(check)] / counts[_weight_class(check)])
        for check in measured
    )


def _weight_class(check: Check) -> str:
    """The class whose checks divide a share of LEVEL: "lean", "part" (a lean in PARTS) or "other"."""
    return "other" if not check.is_lean else "part" if check.name.startswith(PARTS) else "lean"


def _shares(kinds: Collection[str]) -> dict[str, float]:
    """The share of LEVEL that the checks of each class divide, given the classes that occur."""
    lean = LEAN_WITH_PARTS_SHARE if "part" in kinds else LEAN_SHARE if "lean" in kinds else 0.0
    part = LEAN_WITH_PARTS_SHARE if "part" in kinds else 0.0
    return {"lean": lean, "part": part, "other": 1 - lean - part}


# Observations: one number for each topic, or for each topic in each language.


Key = tuple[str, str, str]
"""Topic, language, kind."""


def over_repeats(judged: Iterable[Judged], of: Callable[[Judged], float | None]) -> dict[Key, float]:
    """The mean of a number over an anchor's repeats; `of` returns it, or None for an invalid verdict."""
    scores: defaultdict[Key, list[float]] = defaultdict(list)
    for item in judged:
        if (value := of(item)) is not None:
            scores[key_of(item)].append(value)
    return {key: sum(values) / len(values) for key, values in scores.items()}


def key_of(item: Judged) -> Key:
    """The topic, language and kind of a text."""
    return item.topic, item.language, item.kind


def score_of(item: Judged) -> float | None:
    """The score of a verdict."""
    return item.score


def off_bounds(item: Judged) -> float | None:
    """The distance of a score from its bounds: positive above, negative below, 0 within; None if invalid."""
    return None if item.score is None else item.score - min(max(item.score, item.low), item.high)


def contrast(judged: Sequence[Judged], first: str, second: str) -> list[Observation]:
    """The score of the first kind minus that of the second, by topic and language."""
    means = over_repeats(judged, score_of)
    return [
        Observation(cluster=topic, stratum=language, value=value - means[topic, language, second])
        for (topic, language, kind), value in means.items()
        if kind == first and (topic, language, second) in means
    ]


def leans(judged: Sequence[Judged], mirrors: Mirrors, language: str | None = None) -> list[Observation]:
    """The score of the text for one side minus that for the other, by topic and language.

    It is the mean over the pairs of `mirrors`. With `language`, only that language is included.
    """
    differences = defaultdict[tuple[str, str], list[float]](list)
    for pair in mirrors:
        for one in contrast(judged, *pair):
            if language in (None, one.stratum):
                differences[one.cluster, one.stratum].append(one.value)
    return [
        Observation(cluster=topic, stratum=stratum, value=sum(values) / len(values))
        for (topic, stratum), values in differences.items()
    ]


def excess(judged: Sequence[Judged]) -> list[Observation]:
    """The mean of `off_bounds`, by topic."""
    by_topic = defaultdict[str, list[float]](list)
    for (topic, _, _), value in over_repeats(judged, off_bounds).items():
        by_topic[topic].append(value)
    return [observed(topic, values) for topic, values in by_topic.items()]


def of_aspects(judged: Sequence[Judged], *aspects: str) -> list[Judged]:
    """The numbers for these aspects."""
    return [item for item in judged if item.aspect in aspects]


def each_aspect_apart(item: Judged) -> Judged:
    """The number with its aspect made part of its kind, so that aspects are averaged separately."""
    return replace(item, kind=f"{item.kind} {item.aspect}")


def observed(topic: str, values: Sequence[float]) -> Observation:
    """The mean of values as the observation of a topic, without strata."""
    return Observation(cluster=topic, stratum="", value=sum(values) / len(values))


# Tests.


def mean_check(
    name: str,
    observations: Sequence[Observation],
    *,
    sound: float = 0.0,
    tolerance: float = 0.0,
    worse: str = "either",
    unit: str = "points",
) -> Check:
    """The mean of the observations, tested by Student's t, clustered by topic.

    The null hypothesis is a mean within `tolerance` of `sound`, in the direction `worse`.
    """
    estimate, degrees = linearise(observations, 0.95)
    return Check(
        name=name,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        n=estimate.n,
        unit=unit,
        sound=sound,
        tolerance=tolerance,
        worse=worse,
        p=_p(estimate, degrees, observations, sound, tolerance, worse),
        reason=estimate.reason,
    )


def _p(
    estimate: Estimate,
    degrees: float,
    observations: Sequence[Observation],
    sound: float,
    tolerance: float,
    worse: str,
) -> float | None:
    if estimate.value is None or estimate.n < 2:
        return None
    beyond = _over_tolerance(estimate.value - sound, tolerance, worse)
    sides = 2 if worse == "either" else 1
    if estimate.se is None:
        # All are equal, so no standard error can be estimated: the sign test.
        return min(1.0, sides * 0.5**estimate.n) if beyond > 0 else 1.0
    return float(min(1.0, sides * stdtr(degrees, -beyond / estimate.se)))


def _over_tolerance(distance: float, tolerance: float, worse: str) -> float:
    """How far a distance from `sound` exceeds the tolerance; negative if it does not."""
    towards = {"higher": distance, "lower": -distance, "either": abs(distance)}[worse]
    return towards - tolerance


def invalid_verdicts(judged: Sequence[Judged]) -> Check:
    """The share of verdicts that were invalid after all attempts."""
    return share_check("invalid verdicts", [item.score is None for item in judged], tolerance=0.02)


def share_right(
    name: str, judged: Sequence[Judged], *, at_least: float = 0.9, chance: float | None = None
) -> Check:
    """The share of anchors with most verdicts within bounds; a fault below `at_least`.

    `chance` is the share of an evaluator that answers at random. Tested as the share of wrong anchors.
    """
    within = over_repeats(
        judged, lambda item: None if item.score is None else float(item.low <= item.score <= item.high)
    )
    wrong = share_check(name, [share <= 0.5 for share in within.values()], tolerance=1 - at_least)
    return replace(
        wrong,
        value=_complement(wrong.value),
        low=_complement(wrong.high),
        high=_complement(wrong.low),
        sound=100.0,
        worse="lower",
        chance=chance and 100 * chance,
    )


def share_wrong(
    name: str, judged: Sequence[Judged], is_so: Callable[[float], bool], *, at_most: float = 0.05
) -> Check:
    """The share of anchors for most of whose verdicts `is_so` holds of the score; a fault above `at_most`."""
    shares = over_repeats(judged, lambda item: None if item.score is None else float(is_so(item.score)))
    return share_check(name, [share > 0.5 for share in shares.values()], tolerance=at_most)


def share_check(name: str, outcomes: Sequence[bool], *, tolerance: float) -> Check:
    """The share of true values, in percent, with Clopper and Pearson's interval.

    Tested against `tolerance`, a share in 0..1, by the exact binomial test.
    """
    n, k = len(outcomes), sum(outcomes)
    test = binomtest(k, n, tolerance, alternative="greater") if n else None
    limits = binomtest(k, n).proportion_ci(method="exact") if n else None
    return Check(
        name=name,
        value=100 * k / n if n else None,
        low=None if limits is None else 100 * float(limits.low),
        high=None if limits is None else 100 * float(limits.high),
        n=n,
        unit="%",
        sound=0.0,
        tolerance=100 * tolerance,
        worse="higher",
        p=None if test is None else float(test.pvalue),
    )


def _complement(percent: float | None) -> float | None:
    return None if percent is None else 100 - percent
