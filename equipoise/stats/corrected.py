"""Figures of a judge, corrected by the labels that people gave to a random sample of the same replies.

The estimator is the difference estimator of survey sampling with a tuned weight. That is the regression
estimator (Cochran 1977, Sampling Techniques, chapter 7; Särndal, Swensson and Wretman 1992, Model Assisted
Survey Sampling, 6.4). It is also power-tuned prediction-powered inference (Angelopoulos, Duchi and Zrnic
2023, PPI++, arXiv:2311.01453), for a sample drawn from the judged replies themselves.

The "judge" is the panel of evaluators. A "pull" is the contribution of one reply or label to the error of a
figure, after linearisation: the variance is a sum of squared pulls. A person's "leaning" is how far their
labels lie above the mean of all people's labels.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri  # scipy has no types

from equipoise.core.figures import Estimate
from equipoise.core.rules import Scope
from equipoise.stats.intervals import Array, Codes, student

Mask = NDArray[np.bool_]
FEWEST_LABELS = 10
"""The minimum number of labels for an interval."""
_FEWEST_PER_STRATUM = 8
"""The minimum number of labels in each stratum for residuals to be centred within strata."""
_ROUNDING = 1e-12
"""A sum of squares up to this is 0 apart from rounding errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The values of N replies by the judge and by each of K people, and how the replies were sampled.

    `judge` is (N,); `people` is (N, K), NaN if a person gave no label. `probability` (N,) is proportional to
    the probability of being drawn, in 0..1; NaN for a reply that needs no label because its value is a fact.
    `clusters` and `strata` (N,) are codes from 0 of the question and of the language.
    """

    judge: Array
    people: Array
    probability: Array
    clusters: Codes
    strata: Codes

    @property
    def is_labelled(self) -> Mask:
        """Mask (N,) of the replies that were drawn and have at least one label."""
        mask: Mask = ~np.isnan(self.people).all(axis=1) & ~np.isnan(self.probability)
        return mask

    @property
    def mean_labels(self) -> Array:
        """The mean label of each reply over people, (N,); NaN without a label."""
        count = (~np.isnan(self.people)).sum(axis=1)
        total = np.nansum(self.people, axis=1)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedEstimate:
    """A corrected figure with the pulls of its replies. Pulls are linear, so figures can be combined.

    `value` is the corrected figure and `judge` the judge's own, both in the unit of the values. `weight` is
    the weight of the judge, `labels` the number of replies with a label, and `degrees` the degrees of freedom
    of the labels. `drawn` (N,) are the pulls from the sampling of labels: their sum of squares is the
    variance on these very replies. `pulls` (N,) are those of replies and labels together: their sums within
    `clusters` give the variance for questions like these. `is_counted` (N,) has the replies that the figure
    is about: an area's, or all.

    `leanings` (K,) are in the figure's unit, `noise` (K,) are their variances by chance, and `shares` (K,)
    are the people's shares of all labels. `floor` is the variance that is in no pull: it comes from rare
    events, and from the choice of the people who labelled a reply. `is_complete` says that all replies that
    need a label have one.
    """

    value: float
    judge: float
    weight: float
    labels: int
    degrees: float
    drawn: Array
    pulls: Array
    clusters: Codes
    is_counted: Mask
    leanings: Array
    noise: Array
    shares: Array
    floor: float = 0.0
    is_complete: bool = False

    def variance(self, scope: Scope) -> float:
        """The variance of the figure without `variance_between_people`; NaN if one cluster is too few."""
        if scope == "these":
            return float(self.drawn @ self.drawn) + self.floor
        sums = np.bincount(self.clusters, self.pulls)
        count, replies = self._questions, int(self.is_counted.sum())
        if count < 2:
            return math.nan
        # The pulls contain a factor for few replies; the factor for few clusters replaces it.
        return float(sums @ sums) * count / (count - 1) * (replies - 1) / replies + self.floor

    @property
    def _questions(self) -> int:
        return len(np.unique(self.clusters[self.is_counted]))

    @property
    def people(self) -> int:
        """The number of people who gave labels."""
        return int(np.count_nonzero(self.shares))

    def variance_between_people(self) -> float:
        """The variance of the mean over people that comes from their leanings and not from chance.

        For two people who differ by D it is D^2 / 4, so the interval covers the figure of each of them.
        """
        if self.people < 2:
            return 0.0
        spread = float(self.leanings @ self.leanings) - float(self.noise.sum())
        return max(spread, 0.0) / (self.people - 1) * float(self.shares @ self.shares)

    def degrees_of_freedom(self, scope: Scope) -> float:
        """The degrees of freedom of `variance`, 1 or more.

        They are those of the labels; for the population, those of the questions with labels if these are
        fewer.
        """
        if scope == "these":
            return self.degrees
        sizes = np.abs(self.drawn)
        # Numbers that are 0 apart from rounding would make the interval depend on the processor.
        labelled = len(np.unique(self.clusters[sizes > _ROUNDING * sizes.max(initial=0.0)]))
        # Without any variance of labels, all questions count.
        return float(max(min(self.degrees, (labelled or self._questions) - 1), 1))


def has_unread_stratum(weights: Array, labels: Labels) -> bool:
    """Whether the figure includes replies of a stratum in which no reply has a label.

    Such a stratum is not left unlabelled by chance: nobody who labels reads its language. Labels in other
    languages cannot correct it.
    """
    needing = (weights != 0) & ~np.isnan(labels.probability)
    return bool({*labels.strata[needing].tolist()} - {*labels.strata[labels.is_labelled].tolist()})


def tuned_weight(weights: Array, labels: Labels) -> float:
    """The weight of the judge with the smallest variance: the slope of people's labels on the judge's values.

    The slope is pooled within strata; 0 if the judge gives all labelled replies the same value.
    """
    chosen = weights != 0
    labelled = labels.is_labelled & chosen
    if not labelled.any():
        return 0.0
    strata = _strata(labels.strata, labelled, chosen & ~np.isnan(labels.probability))[labelled]
    squared_weights = (weights[labelled] / labels.probability[labelled]) ** 2
    judge_deviations, people_deviations = (
        _stratum_deviations(values[labelled], squared_weights, strata)
        for values in (labels.judge, labels.mean_labels)
    )
    judge_squares = float(squared_weights @ judge_deviations**2)
    if judge_squares <= _ROUNDING:
        return 0.0
    return float(squared_weights @ (judge_deviations * people_deviations)) / judge_squares


def _stratum_deviations(values: Array, squared_weights: Array, strata: Codes) -> Array:
    """The values minus their means within strata, weighted by `squared_weights`."""
    # The floor avoids 0 / 0 in strata without labels, whose means are not used.
    totals = np.maximum(np.bincount(strata, squared_weights), 1e-300)
    means = np.bincount(strata, squared_weights * values) / totals
    return np.asarray(values - means[strata])


def correct(
    weights: Array, labels: Labels, *, weight: float | None = None, extent: float = 0.0
) -> CorrectedEstimate | None:
    """The figure sum(weights * value) corrected by labels; None if too few labels to fit b and the means.

    Let y be the mean of people's labels, f the judge's value, b the weight of the judge and e = y - b f. In
    each stratum the figure is b sum(w f) + sum(w) sum(d e) / sum(d), with d = w / probability. Whatever the
    judge, it is unbiased up to 1 / n, since e is measured on a random sample. b is `weight`, or else
    `tuned_weight`.

    On these replies the variance is that of the sample, the sum of d^2 (1 - n / N) (e - mean e)^2; it is
    0 once all replies have labels. For questions like these it is that of the replies' pulls, b w (f - mean
    f) + d (e - mean e), summed within questions (linearisation of two-phase samples, Särndal, Swensson and
    Wretman 1992, chapter 9).

    Squares of residuals are scaled by n / (n - strata - 1), since b and the means are fitted. With a tuned b,
    residuals have g-weights (the same book, 6.6). `extent` is the range of a value that is 0 or 1: half a
    label at each end is added to the variance, since runs without an event do not prove that there are none.
    For other values it is 0.
    """
    chosen = weights != 0
    labelled = labels.is_labelled & chosen
    count = int(labelled.sum())
    if count < 2:
        return None
    b = tuned_weight(weights, labels) if weight is None else weight
    is_fact = np.isnan(labels.probability)
    strata = _strata(labels.strata, labelled, chosen & ~is_fact)
    fitted = len(np.unique(strata[labelled])) + (weight is None)
    if count <= fitted:
        return None
    eligible = chosen & ~is_fact
    expansion = _expansion(weights, labels, strata, labelled, eligible)
    influence = (
        expansion + _leverage(weights, labels, strata, labelled, eligible, expansion)
        if weight is None
        else expansion
    )
    residuals = np.where(labelled, labels.mean_labels - b * labels.judge, 0.0)
    people = _people_leanings(labels, b)
    people_count = max(int((people.shares > 0).sum()), 1)
    label_counts = (~np.isnan(labels.people)).sum(axis=1)
    value, floor, drawn, pulls = 0.0, 0.0, np.zeros(len(weights)), np.zeros(len(weights))
    for code in np.unique(strata[chosen]):
        in_stratum = chosen & (strata == code)
        to_label, with_label = in_stratum & eligible, in_stratum & labelled
        total = float(weights[in_stratum].sum())
        centre = float(expansion @ np.where(with_label, residuals, 0.0)) / (
            float(expansion[with_label].sum()) or 1.0
        )
        imputed = np.where(is_fact, labels.judge, b * labels.judge + centre)
        part = float(weights[in_stratum] @ imputed[in_stratum])
        value += part
        pulls[in_stratum] = weights[in_stratum] * (imputed[in_stratum] - part / total) if total else 0.0
        if not with_label.any():
            continue
        share = _label_probability(labels.probability, with_label, to_label)
        deviations = influence[with_label] * (residuals[with_label] - centre)
        scale = math.sqrt(count / (count - fitted))
        drawn[with_label] = np.sqrt(1 - share) * deviations * scale
        # The variance from the choice of people who labelled a reply; 0 if all people labelled it.
        missing_labels = np.maximum(1 / label_counts[with_label] - 1 / people_count, 0.0)
        floor += float((expansion[with_label] ** 2 * (1 - share)).mean()) * extent**2
        floor += float((expansion[with_label] ** 2 * share) @ missing_labels) * people.within
        pulls[with_label] += deviations
        _centre(pulls, with_label, scale)
        _centre(pulls, to_label & ~with_label, math.sqrt(_bessel_factor(int((to_label & ~with_label).sum()))))
    total_weight = float(weights[eligible].sum())
    return CorrectedEstimate(
        value=value,
        judge=float(weights[chosen] @ labels.judge[chosen]),
        weight=b,
        labels=count,
        degrees=float(count - fitted),
        drawn=drawn,
        pulls=pulls,
        clusters=labels.clusters,
        is_counted=chosen,
        leanings=people.leanings * total_weight,
        noise=people.noise * total_weight**2,
        shares=people.shares,
        floor=floor,
        is_complete=bool(labelled[eligible].all()),
    )


def _expansion(weights: Array, labels: Labels, strata: Codes, labelled: Mask, eligible: Mask) -> Array:
    """The weight d of each label, (N,), scaled so that the labels of a stratum represent all its replies."""
    expansion = np.zeros(len(weights))
    expansion[labelled] = weights[labelled] / labels.probability[labelled]
    for code in np.unique(strata[labelled]):
        in_stratum = labelled & (strata == code)
        total = float(weights[eligible & (strata == code)].sum())
        expansion[in_stratum] *= total / float(expansion[in_stratum].sum())
    return expansion


def _leverage(
    weights: Array, labels: Labels, strata: Codes, labelled: Mask, eligible: Mask, expansion: Array
) -> Array:
    """The contribution of each label's residual to the figure through the tuned weight, (N,).

    In the figure, the tuned weight is multiplied by the difference between the judge's mean over all replies
    and its mean over the labelled replies.
    """
    gap = float(weights[eligible] @ labels.judge[eligible] - expansion[labelled] @ labels.judge[labelled])
    squared_weights = (weights[labelled] / labels.probability[labelled]) ** 2
    deviations = _stratum_deviations(labels.judge[labelled], squared_weights, strata[labelled])
    squares, leverage = float(squared_weights @ deviations**2), np.zeros(len(weights))
    leverage[labelled] = gap * squared_weights * deviations / squares if squares > _ROUNDING else 0.0
    return leverage


def _centre(pulls: Array, group: Mask, scale: float) -> None:
    """Centre and scale the pulls of a group in place."""
    if group.any():
        pulls[group] = (pulls[group] - pulls[group].mean()) * scale


def _strata(strata: Codes, labelled: Mask, eligible: Mask) -> Codes:
    """The strata, or a single stratum for all if one with eligible replies has few labels."""
    counts = [int((labelled & (strata == code)).sum()) for code in np.unique(strata[eligible])]
    return strata if min(counts, default=0) >= _FEWEST_PER_STRATUM else np.zeros_like(strata)


def _label_probability(probability: Array, labelled: Mask, eligible: Mask) -> Array:
    """The probability that each labelled reply of a stratum was drawn and not left blank, in 0..1."""
    response_rate = float((1 / probability[labelled]).sum()) / float(eligible.sum())
    shares: Array = np.clip(probability[labelled] * response_rate, 0.0, 1.0)
    return shares


def _bessel_factor(count: int) -> float:
    """Bessel's factor n / (n - 1), from a mean of squared deviations to an unbiased variance."""
    return count / (count - 1) if count > 1 else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _PeopleLeanings:
    """People's leanings, their variances by chance (`noise`), and the people's shares of the labels.

    `within` is the variance among people's labels of the same reply.
    """

    leanings: Array
    noise: Array
    shares: Array
    within: float = 0.0


def _people_leanings(labels: Labels, b: float) -> _PeopleLeanings:
    """The leanings, from replies that several people labelled or, if these are too few, from all residuals.

    `b` is the weight of the judge in the residuals.
    """
    has_label = ~np.isnan(labels.people)
    shares = has_label.sum(axis=0) / max(has_label.sum(), 1)
    present = shares > 0
    people, count = labels.people[:, present], int(present.sum())
    leanings, noise = np.zeros(len(shares)), np.zeros(len(shares))
    if count < 2:
        return _PeopleLeanings(leanings=leanings, noise=noise, shares=shares)
    label_counts = (~np.isnan(people)).sum(axis=1)
    by_several = label_counts > 1
    within = 0.0
    deviations = people - b * labels.judge[:, None]
    if ((~np.isnan(people[by_several])).sum(axis=0) > 1).all():
        size = label_counts[by_several][:, None]
        deviations = people[by_several] - np.nansum(people[by_several], axis=1)[:, None] / size
        within = float(np.nansum(deviations**2) / (size - 1).sum())
        # Rescales a deviation from the mean of `size` labels to one from the mean of all people.
        deviations = deviations * size / (size - 1) * (count - 1) / count
    offsets, sizes = np.nanmean(deviations, axis=0), (~np.isnan(deviations)).sum(axis=0)
    leanings[present] = offsets - offsets.mean()
    noise[present] = np.nanvar(deviations, axis=0) / np.maximum(sizes - 1, 1)
    return _PeopleLeanings(leanings=leanings, noise=noise, shares=shares, within=within)


def combine(
    parts: Sequence[CorrectedEstimate], slopes: Sequence[float], value: float, judge: float
) -> CorrectedEstimate:
    """A figure made of `parts`, which have the same replies in order; `slopes` are its derivatives by them.

    `value` is the figure computed from the corrected parts, and `judge` that from the judge's parts. The
    weight is the largest of the parts.
    """
    pairs = [*zip(parts, slopes, strict=True)]
    first = parts[0]
    return replace(
        first,
        value=value,
        judge=judge,
        weight=max((part.weight for part in parts), key=abs),
        labels=min(part.labels for part in parts),
        degrees=min(part.degrees for part in parts),
        drawn=np.sum([slope * part.drawn for part, slope in pairs], axis=0),
        pulls=np.sum([slope * part.pulls for part, slope in pairs], axis=0),
        is_counted=np.any([part.is_counted for part in parts], axis=0),
        leanings=np.sum([slope * part.leanings for part, slope in pairs], axis=0),
        noise=np.sum([slope**2 * part.noise for part, slope in pairs], axis=0),
        floor=math.fsum(slope**2 * part.floor for part, slope in pairs),
        is_complete=all(part.is_complete for part in parts),
    )


def interval(figure: CorrectedEstimate, scope: Scope, *, confidence: float = 0.95) -> Estimate:
    """The figure with its interval by Student's t; `n` counts labels.

    Differences between people widen the interval. People and evaluators are fixed, so the interval does not
    cover what others would say. There is no interval below FEWEST_LABELS labels, nor if within strata the
    labels are all alike or a linear function of the judge's values, nor for the population with one question.
    """
    sampling = figure.variance(scope)
    total = sampling + figure.variance_between_people()
    reason = _reason_without_interval(figure, sampling)
    if reason:
        return Estimate(value=figure.value, se=None, low=None, high=None, n=figure.labels, reason=reason)
    se = math.sqrt(total)
    value, half = figure.value, student(figure.degrees_of_freedom(scope), confidence) * se
    return Estimate(value=value, se=se, low=value - half, high=value + half, n=figure.labels)


def _reason_without_interval(figure: CorrectedEstimate, variance: float) -> str | None:
    if figure.labels < FEWEST_LABELS:
        return f"too few labels: {figure.labels}, and {FEWEST_LABELS} are needed"
    if not math.isfinite(variance):
        return "1 question"
    # A variance this small, relative to the figure, is 0 apart from rounding errors.
    if not figure.is_complete and figure.variance("these") <= 1e-18 * max(abs(figure.value), 1.0) ** 2:
        # Only rounding keeps the weight from 0 if the labels do not vary within strata.
        if abs(figure.weight) < 1e-9:
            return "people scored every reply of a language alike"
        return "the labels vary only as the evaluators' scores do"
    return None


# Numbers of labels.


def needed_labels(
    half_width: float, *, spread: float, agreement: float, replies: int, floor: float = 0.0
) -> int | None:
    """The number of labels for a 95 % interval of this half-width; None if labels of all replies are too few.

    The residual's standard deviation s is `spread` sqrt(1 - agreement^2), in percentage points, where
    `agreement` is the correlation of people and judge. `floor` is the standard error that labels cannot
    reduce, because it comes from the questions as a sample. n is the smallest with t(n - 2) sqrt(s^2 (1/n -
    1/N) + floor^2) <= half_width, and at least FEWEST_LABELS, without which there is no interval.
    """
    variance = spread**2 * (1 - agreement**2)

    def width(count: int) -> float:
        drawn = variance * (1 / count - 1 / replies)
        return student(count - 2, 0.95) * math.sqrt(max(drawn, 0.0) + floor**2)

    if replies < FEWEST_LABELS or width(replies) > half_width:
        return None
    return bisect_left(range(replies), True, lo=FEWEST_LABELS, key=lambda count: width(count) <= half_width)


def needed_for_margin(margin: float, *, spread: float, agreement: float, replies: int) -> int | None:
    """The number of labels that each of two results needs to show that equal results stay within a margin.

    They show it with probability 0.8. The labels of the two results are drawn independently: n is the
    smallest with (z(0.975) + z(0.8)) sqrt(2 s^2 (1/n - 1/N)) at most the margin, in percentage points. If
    the same replies are labelled in both results, fewer are enough. None with fewer replies than
    FEWEST_LABELS.
    """
    if replies < FEWEST_LABELS:
        return None
    quantiles = float(ndtri(0.975) + ndtri(0.8))
    variance = 2 * spread**2 * (1 - agreement**2)
    return min(
        max(math.ceil(1 / ((margin / quantiles) ** 2 / variance + 1 / replies)), FEWEST_LABELS), replies
    )
