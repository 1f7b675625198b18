"""Whether a model's scores differ between languages: the spread of each question, and pairs of languages.

Languages are fixed effects, not a sample of languages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from msgspec import structs

from equipoise.core.figures import Estimate, LanguageGap, LanguagePair
from equipoise.stats import Observation, mean, population_sd
from equipoise.stats.intervals import clustered_mean
from equipoise.stats.paired import holm, paired_difference

ScoresByQuestion = Mapping[str, Mapping[str, Sequence[float]]]
"""The scores of the valid runs by question, then language. A language without scores is absent or empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """The gap of every question in the given order, every pair of languages, and the mean spread.

    The mean spread covers only questions that have every language, because a spread grows with the number of
    languages.
    """

    gaps: tuple[LanguageGap, ...]
    pairs: tuple[LanguagePair, ...]
    spread: Estimate


def consistency(scores: ScoresByQuestion) -> Consistency:
    """Gaps, pairs and the mean spread; a pair's interval is Student's t over questions (`paired_difference`).

    Questions are the clusters; runs are averaged within them. Languages are in the order of first appearance.
    Pairs without an interval have a `reason` and no p, and do not count in Holm's procedure. Intervals are
    not adjusted for the number of pairs. ValueError for a score that is not finite.
    """
    gaps = tuple(_gap(question, by_language) for question, by_language in scores.items())
    languages = list(dict.fromkeys(language for gap in gaps for language in gap.means))
    return Consistency(gaps=gaps, pairs=_pairs(gaps, languages), spread=_mean_spread(gaps, len(languages)))


def largest_gaps(consistency: Consistency, n: int) -> list[LanguageGap]:
    """The n questions with the largest spreads, largest first; equal spreads are in the given order.

    Most of these spreads would be smaller if the questions were asked again, because the largest were
    selected: compare them with `noise`.
    """
    known = [(gap.spread, gap) for gap in consistency.gaps if gap.spread is not None]
    return [gap for _, gap in sorted(known, key=lambda item: -item[0])[:n]]


def _gap(question: str, scores: Mapping[str, Sequence[float]]) -> LanguageGap:
    means = {language: centre for language, runs in scores.items() if (centre := mean(runs)) is not None}
    if not all(math.isfinite(centre) for centre in means.values()):
        raise ValueError(f"a score of {question!r} is not a finite number: leave out what has no score")
    has_several = len(means) > 1
    return LanguageGap(
        question=question,
        means=means,
        spread=max(means.values()) - min(means.values()) if has_several else None,
        sd=population_sd([*means.values()]),
        noise=_noise(scores, len(means)) if has_several else None,
    )


def _noise(scores: Mapping[str, Sequence[float]], languages: int) -> float | None:
    """sqrt((L - 1) / L times the mean of s^2 / R), the SD to expect of L languages' means of R runs."""
    # The population variance divided by R - 1 is s^2 / R.
    squared_errors = [
        deviation**2 / (len(runs) - 1)
        for runs in scores.values()
        if (deviation := population_sd(runs)) is not None
    ]
    mean_error = mean(squared_errors)
    return None if mean_error is None else math.sqrt((languages - 1) / languages * mean_error)


def _mean_spread(gaps: Sequence[LanguageGap], languages: int) -> Estimate:
    if languages < 2:
        return Estimate(value=None, se=None, low=None, high=None, n=0, reason="fewer than 2 languages")
    spreads = [
        Observation(cluster=gap.question, stratum="", value=gap.spread)
        for gap in gaps
        if gap.spread is not None and len(gap.means) == languages
    ]
    return clustered_mean(spreads)


def _pairs(gaps: Sequence[LanguageGap], languages: Sequence[str]) -> tuple[LanguagePair, ...]:
    # `paired_difference` is after minus before, so the second language comes first.
    differences = {
        (first, second): paired_difference(_observations(gaps, second), _observations(gaps, first))
        for first, second in combinations(languages, 2)
    }
    adjusted = holm(
        {names: difference.p for names, difference in differences.items() if difference.p is not None}
    )
    return tuple(
        LanguagePair(
            first=names[0],
            second=names[1],
            p_adjusted=adjusted.get(names),
            **structs.asdict(difference),
        )
        for names, difference in differences.items()
    )


def _observations(gaps: Sequence[LanguageGap], language: str) -> list[Observation]:
    return [
        Observation(cluster=gap.question, stratum="", value=gap.means[language])
        for gap in gaps
        if language in gap.means
    ]
