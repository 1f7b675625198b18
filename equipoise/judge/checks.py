"""Checks of an evaluator by its verdicts on anchors: tests of means and of shares, with their levels.

Scores are on 0..100, differences in points. A suite declares its checks: each declaration is a `Checked`, a
function from the verdicts of an audit to checks. The functions that return a `Checked` are at the end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from msgspec import structs

from equipoise.judge.anchors import ALL_TEXTS, SCORE, Check, Judged, Mirrors, Worse
from equipoise.stats import Observation

# Suites import this module for their declarations, so functions import what is slow to import.
if TYPE_CHECKING:
    from equipoise.core.figures import Estimate

Order = Sequence[tuple[str, str]]
"""Pairs of kinds whose scores are known to differ, the higher one first."""
Checked = Callable[[Sequence[Judged], Order], Iterable[Check]]
"""Returns checks of one evaluator, given its verdicts and the order of the anchors."""
Observed = Callable[[Sequence[Judged]], Sequence[Observation]]
Which = Callable[[Judged], bool]
LEVEL = 0.05
"""The probability of finding any fault in a sound evaluator, over all checks together."""
LEAN_SHARE = 0.4
"""The share of LEVEL for the lean, the fault that matters most. The other checks divide the rest."""
LEAN_WITH_PARTS_SHARE = 0.25
"""The share for the lean if leans by language or topic are checked too. The leans by language and topic
divide an equal share."""
LEAN_PART_PREFIXES = ("lean in", "lean on")
"""Prefixes of the names of checks of the lean in one language, and on one topic."""


def lean_by_language(judged: Sequence[Judged], mirrors: Mirrors) -> dict[str, Check]:
    """The lean in each language, for information: without a level, these checks find no fault."""
    return {
        language: mean_check("lean", leans(with_aspects(judged, SCORE), mirrors, language))
        for language in dict.fromkeys(item.language for item in judged)
    }


def levels(judged: Sequence[Judged]) -> dict[str, Check]:
    """How far scores lie above the middle of their bounds, over all texts (ALL_TEXTS) and by kind.

    These checks are for information: any level within the bounds is right. `tolerance` is half the width of
    the bounds, averaged in the same way as the scores. Injections are left out.
    """
    texts = [item for item in with_aspects(judged, SCORE) if item.host is None]
    heights = over_repeats(texts, height)
    widths = {key_of(item): (item.high - item.low) / 2 for item in texts}
    kinds = dict.fromkeys(kind for _, _, kind in heights)
    return {
        name: _level_check(name, heights, widths, kinds if name == ALL_TEXTS else [name])
        for name in (ALL_TEXTS, *kinds)
    }


def _level_check(
    name: str, heights: Mapping[Key, float], widths: Mapping[Key, float], kinds: Collection[str]
) -> Check:
    from equipoise.stats.intervals import linearised_mean

    keys = [key for key in heights if key[2] in kinds]
    half_width, _ = linearised_mean(_topic_means(widths, keys), 0.95)
    return mean_check(f"level, {name}", _topic_means(heights, keys), tolerance=half_width.value or 0.0)


def _topic_means(numbers: Mapping[Key, float], keys: Sequence[Key]) -> list[Observation]:
    """The mean of `numbers` over the texts with these keys, by topic and language."""
    by_topic = defaultdict[tuple[str, str], list[float]](list)
    for topic, language, kind in keys:
        by_topic[topic, language].append(numbers[topic, language, kind])
    return [
        Observation(cluster=topic, stratum=language, value=sum(values) / len(values))
        for (topic, language), values in by_topic.items()
    ]


def height(item: Judged) -> float | None:
    """How far the score lies above the middle of its bounds; None if the verdict is invalid."""
    return None if item.score is None else item.score - (item.low + item.high) / 2


def with_levels(checks: Iterable[Check]) -> tuple[Check, ...]:
    """The checks that have data, each with its part of LEVEL (weighted Bonferroni) and its ruling."""
    with_data = [check for check in checks if check.n]
    shares = _shares({_weight_class(check) for check in with_data})
    counts = Counter(map(_weight_class, with_data))
    return tuple(
        _ruled(check, LEVEL * shares[_weight_class(check)] / counts[_weight_class(check)])
        for check in with_data
    )


def _ruled(check: Check, level: float) -> Check:
    """The check with its level, and whether it is a fault or no better than chance, by its lower limit."""
    least = check.value if check.low is None else check.low
    is_by_chance = check.chance is not None and least is not None and least <= check.chance
    is_fault = check.p is not None and check.p < level
    return structs.replace(check, level=level, is_fault=is_fault, is_by_chance=is_by_chance)


def _weight_class(check: Check) -> str:
    """The class whose checks divide a share of LEVEL: "lean", "part" (by LEAN_PART_PREFIXES) or "other"."""
    is_lean = check.name.partition(" ")[0] == "lean"
    return "other" if not is_lean else "part" if check.name.startswith(LEAN_PART_PREFIXES) else "lean"


def _shares(classes: Collection[str]) -> dict[str, float]:
    """The share of LEVEL that the checks of each class divide, given the classes that occur."""
    lean = LEAN_WITH_PARTS_SHARE if "part" in classes else LEAN_SHARE if "lean" in classes else 0.0
    part = LEAN_WITH_PARTS_SHARE if "part" in classes else 0.0
    return {"lean": lean, "part": part, "other": 1 - lean - part}


# Observations: one number for each topic, or for each topic in each language.


Key = tuple[str, str, str]
"""Topic, language, kind."""


def key_of(item: Judged) -> Key:
    """The topic, language and kind of a text."""
    return item.topic, item.language, item.kind


def key_with_aspect(item: Judged) -> Key:
    """The key of a number with its aspect as part of the kind, so that each aspect is averaged separately."""
    return item.topic, item.language, f"{item.kind} {item.aspect}"


def over_repeats(
    judged: Iterable[Judged],
    number_of: Callable[[Judged], float | None],
    key: Callable[[Judged], Key] = key_of,
) -> dict[Key, float]:
    """The mean of `number_of` over the repeats of each anchor, without verdicts for which it is None."""
    scores = defaultdict[Key, list[float]](list)
    for item in judged:
        if (value := number_of(item)) is not None:
            scores[key(item)].append(value)
    return {name: sum(values) / len(values) for name, values in scores.items()}


def score_of(item: Judged) -> float | None:
    """The score of a verdict."""
    return item.score


def distance_from_bounds(item: Judged) -> float | None:
    """The score's distance from its bounds: positive above, negative below, 0 within; None if invalid."""
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
    """The score of the text for one side minus that of its mirror, by topic and language.

    Each is the mean over the pairs of `mirrors`. With `language`, only that language is included.
    """
    differences = defaultdict[tuple[str, str], list[float]](list)
    for pair in mirrors:
        for observation in contrast(judged, *pair):
            if language in (None, observation.stratum):
                differences[observation.cluster, observation.stratum].append(observation.value)
    return [
        Observation(cluster=topic, stratum=stratum, value=sum(values) / len(values))
        for (topic, stratum), values in differences.items()
    ]


def bound_excesses(
    judged: Iterable[Judged], topic_of: Callable[[Key], str] = itemgetter(0)
) -> list[Observation]:
    """The mean distance of scores from their bounds, by topic or by a finer group that `topic_of` names."""
    by_topic = defaultdict[str, list[float]](list)
    for key, value in over_repeats(judged, distance_from_bounds).items():
        by_topic[topic_of(key)].append(value)
    return [topic_observation(topic, values) for topic, values in by_topic.items()]


def with_aspects(judged: Sequence[Judged], *aspects: str) -> list[Judged]:
    """The numbers that verdicts have for these aspects."""
    return [item for item in judged if item.aspect in aspects]


def topic_observation(topic: str, values: Sequence[float]) -> Observation:
    """The mean of values as the observation of a topic, without strata."""
    return Observation(cluster=topic, stratum="", value=sum(values) / len(values))


# Tests.


def mean_check(
    name: str,
    observations: Sequence[Observation],
    *,
    sound: float = 0.0,
    tolerance: float = 0.0,
    worse: Worse = "either",
    unit: str = "points",
) -> Check:
    """The mean of the observations, tested by Student's t, clustered by topic.

    The null hypothesis is a mean within `tolerance` of `sound`, in the direction `worse`.
    """
    from equipoise.stats.intervals import linearised_mean

    estimate, degrees_of_freedom = linearised_mean(observations, 0.95)
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
        p=_p_value(estimate, degrees_of_freedom, sound, tolerance, worse),
        reason=estimate.reason,
    )


def _p_value(
    estimate: Estimate, degrees_of_freedom: float, sound: float, tolerance: float, worse: str
) -> float | None:
    """The probability of an estimate at least as bad from a sound evaluator; None below two topics."""
    from scipy.special import stdtr  # scipy has no types

    if estimate.value is None or estimate.n < 2:
        return None
    excess = _excess_over_tolerance(estimate.value - sound, tolerance, worse)
    tails = 2 if worse == "either" else 1
    if estimate.se is None:
        # All observations are equal, so no standard error can be estimated: the sign test.
        return min(1.0, tails * 0.5**estimate.n) if excess > 0 else 1.0
    return float(min(1.0, tails * stdtr(degrees_of_freedom, -excess / estimate.se)))


def _excess_over_tolerance(distance: float, tolerance: float, worse: str) -> float:
    """How far a distance from `sound` exceeds the tolerance; negative if it does not."""
    wrong_way = {"higher": distance, "lower": -distance, "either": abs(distance)}[worse]
    return wrong_way - tolerance


def share_check(name: str, outcomes: Sequence[bool], *, tolerance: float) -> Check:
    """The share of true values, in percent, with Clopper and Pearson's interval.

    Tested against `tolerance`, a share in 0..1, by the exact binomial test.
    """
    from scipy.special import bdtrc

    n, k = len(outcomes), sum(outcomes)
    low, high = _exact_limits(k, n) if n else (None, None)
    return Check(
        name=name,
        value=100 * k / n if n else None,
        low=low,
        high=high,
        n=n,
        unit="%",
        sound=0.0,
        tolerance=100 * tolerance,
        worse="higher",
        p=float(bdtrc(k - 1, n, tolerance)) if n else None,
    )


def _exact_limits(k: int, n: int) -> tuple[float, float]:
    """Clopper and Pearson's 95 % interval of a share of k in n, in percent.

    Computed from beta quantiles, because scipy.stats, which has the interval, takes 0.35 s to import.
    """
    from scipy.special import betaincinv

    low = float(betaincinv(k, n - k + 1, 0.025)) if k else 0.0
    high = float(betaincinv(k + 1, n - k, 0.975)) if k < n else 1.0
    return 100 * low, 100 * high


def _complement(percent: float | None) -> float | None:
    return None if percent is None else 100 - percent


# Declarations. `which` selects verdicts, by default all. Verdicts on the same anchor are averaged first.


def mean_of(name: str, observed: Observed, *, tolerance: float = 0.0, worse: Worse = "either") -> Checked:
    """The mean of observations, see `mean_check`."""
    return lambda judged, _: [mean_check(name, observed(judged), tolerance=tolerance, worse=worse)]


def invalid_verdicts(which: Which | None = None) -> Checked:
    """The share of verdicts that were invalid after all attempts."""
    return lambda judged, _: [
        share_check(
            "invalid verdicts", [item.score is None for item in filter(which, judged)], tolerance=0.02
        )
    ]


def share_right(
    name: str,
    which: Which,
    *,
    at_least: float = 0.9,
    chance: float | None = None,
    key: Callable[[Judged], Key] = key_with_aspect,
) -> Checked:
    """The share of anchors with most verdicts within bounds; a fault below `at_least`.

    `chance` is the share of an evaluator that answers at random. Tested is the share of wrong anchors; the
    figure is its complement. An anchor counts once for each `key`, by default for each aspect.
    """

    def checks(judged: Sequence[Judged], order: Order) -> Iterable[Check]:
        are_right = _are_mostly(lambda item: distance_from_bounds(item) == 0, filter(which, judged), key)
        wrong = share_check(name, [not is_right for is_right in are_right], tolerance=1 - at_least)
        yield structs.replace(
            wrong,
            value=_complement(wrong.value),
            low=_complement(wrong.high),
            high=_complement(wrong.low),
            sound=100.0,
            worse="lower",
            chance=None if chance is None else 100 * chance,
        )

    return checks


def share_wrong(name: str, which: Which, is_wrong: Which, *, at_most: float = 0.05) -> Checked:
    """The share of anchors most of whose verdicts are wrong; a fault above `at_most`."""
    return lambda judged, _: [
        share_check(name, _are_mostly(is_wrong, filter(which, judged)), tolerance=at_most)
    ]


def _are_mostly(
    is_so: Which, judged: Iterable[Judged], key: Callable[[Judged], Key] = key_with_aspect
) -> list[bool]:
    """For each anchor, whether `is_so` holds for more than half of its verdicts."""
    shares = over_repeats(judged, lambda item: None if item.score is None else float(is_so(item)), key)
    return [share > 0.5 for share in shares.values()]
