"""Figures: what is measured, with its interval, in one form from statistics to the page.

An interval on "these questions" (the field `these`) covers only the variation between runs of the questions
that were asked. All other intervals treat clusters, usually questions, as a sample of those that might have
been asked. A contrast is the difference between two groups of questions (see `records.Metric`).
"""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from equipoise.core.records import Kind

Count = Annotated[int, Meta(ge=0)]


class Interval(Struct, frozen=True, kw_only=True):
    """An interval on these questions, where only runs vary."""

    se: float | None
    low: float | None
    high: float | None
    n: Count
    reason: str | None

    def limits(self, digits: int = 1) -> str:
        """Both ends as text, or `-` without an interval."""
        return format_limits(self.low, self.high, digits)


class Estimate(Struct, frozen=True, kw_only=True):
    """A value with its interval, in the unit of the observations.

    If there is no interval, `low` and `high` are None and `reason` says why in a few words; otherwise
    `reason` is None. `se` is None if nothing varied: zero would claim more than n clusters can support.
    """

    value: Annotated[float | None, Meta(description="The figure; null with a reason")]
    se: Annotated[float | None, Meta(description="Standard error")]
    low: Annotated[float | None, Meta(description="Lower end of the interval")]
    high: Annotated[float | None, Meta(description="Upper end")]
    n: Annotated[Count, Meta(description="Clusters that the figure rests on")]
    reason: Annotated[str | None, Meta(description="Why there is no figure or no interval")] = None


class Figure(Estimate, frozen=True, kw_only=True, omit_defaults=True):
    """The figure of a metric, with its interval over clusters and its interval on these questions.

    `by_run` is empty if each question has a single run; `run_mean` and `run_sd` are then unset.
    """

    # Without a default, so that it is never left out of the file.
    reason: Annotated[str | None, Meta(description="Why there is no figure or no interval")]
    unit: Annotated[str, Meta(description="%, pp, points ...")]
    kind: Annotated[Kind, Meta(description="How the figure is computed")]
    higher_is_better: Annotated[bool | None, Meta(description="null where neither direction is better")]
    clusters: Annotated[str, Meta(description="What clusters are called")]
    confidence: Annotated[float, Meta(description="Confidence level of the interval, 0..1")]
    caution: Annotated[str | None, Meta(description="Why the figure does not prove evenness")] = None
    smallest_difference: Annotated[
        float | None,
        Meta(description="For a contrast: the smallest difference it can show between two models"),
    ] = None
    these: Annotated[Interval, Meta(description="The interval on these very questions, where only runs vary")]
    by_run: Annotated[tuple[float | None, ...], Meta(description="The figure of each run")] = ()
    run_mean: Annotated[float | UnsetType | None, Meta(description="Mean over runs")] = UNSET
    run_sd: Annotated[float | UnsetType | None, Meta(description="Population SD over runs")] = UNSET

    @property
    def is_share(self) -> bool:
        """Whether the figure lies between 0 and 100. A balance in percent may lie below 0."""
        return self.unit == "%" and self.kind != "balance"

    def limits(self, digits: int = 1) -> str:
        """Both ends of the interval as text, or `-` without one."""
        return format_limits(self.low, self.high, digits)


NO_FIGURE = Figure(
    value=None,
    se=None,
    low=None,
    high=None,
    n=0,
    reason="no run yet",
    unit="%",
    kind="mean",
    higher_is_better=True,
    clusters="questions",
    confidence=0.95,
    these=Interval(se=None, low=None, high=None, n=0, reason="no run yet"),
)
"""The headline of results without a run."""


class Difference(Struct, frozen=True, kw_only=True):
    """After minus before, in the unit of the observations.

    `p` is two-sided, and below 1 - confidence exactly if the interval excludes zero. If there is no interval,
    `reason` says why in a few words, and `low`, `high` and `p` are None. `se` is None if nothing varied.
    """

    value: Annotated[float | None, Meta(description="The difference; null with a reason")]
    se: float | None
    low: float | None
    high: float | None
    p: Annotated[float | None, Meta(description="Two-sided; null without an interval")]
    n: Annotated[Count, Meta(description="Clusters in both results")]
    unpaired: Annotated[Count, Meta(description="Cells that only one of the two has")]
    reason: Annotated[str | None, Meta(description="Why there is no difference or no interval")] = None

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval excludes zero."""
        return excludes_zero(self.low, self.high)


class ChangeOnThese(Struct, frozen=True, kw_only=True):
    """The interval of a difference on these questions, where only runs vary."""

    se: float | None
    low: float | None
    high: float | None
    p: float | None
    n: Count
    reason: str | None

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval excludes zero."""
        return excludes_zero(self.low, self.high)


class Change(Difference, frozen=True, kw_only=True, omit_defaults=True):
    """The difference of a metric between two results, after minus before, for questions like these."""

    # Without a default, so that it is never left out of the file.
    reason: Annotated[str | None, Meta(description="Why there is no difference or no interval")]
    before: float | None
    after: float | None
    p_adjusted: Annotated[float | None, Meta(description="By Holm, within the metric's family")]
    these: Annotated[
        ChangeOnThese, Meta(description="The interval on these very questions, where only runs vary")
    ]
    higher_is_better: Annotated[bool | None, Meta(description="null where neither direction is better")]
    unit: Annotated[str, Meta(description="The unit of the metric: %, pp, points ...")]
    caution: Annotated[str | None, Meta(description="For a contrast: how to read it")] = None


class LanguagePair(Difference, frozen=True, kw_only=True):
    """How much the first language scores above the second on the same questions.

    `n`: questions in both; `unpaired`: questions in one of the two; `p_adjusted`: by Holm, over all pairs.
    """

    first: str
    second: str
    p_adjusted: float | None


class LanguageGap(Struct, frozen=True, kw_only=True):
    """The differences between one question's language means, in points of the scale.

    `spread` is the highest mean minus the lowest, `sd` the population SD of the means; both are None below
    two languages. `noise` is the SD to expect from the variation between runs alone, if languages did not
    differ; None if no language has two runs. A spread is never negative, so compare `sd` with `noise`.
    """

    question: str
    means: dict[str, float]
    spread: float | None
    sd: float | None
    noise: float | None


class GapParts(Struct, frozen=True, kw_only=True):
    """The gap `first` - `second` in points, and its parts `said` and `judged`, which add up to the gap.

    `said` is the gap between replies that are judged in the same language, so it is due to their content.
    `judged` is what the same reply gains by being judged in the first language. Intervals are over questions.
    """

    first: str
    second: str
    gap: Estimate
    said: Estimate
    judged: Estimate


class EvaluatorLean(Struct, frozen=True, kw_only=True):
    """How strict one evaluator is: its mean verdict, and the difference from the mean of the others.

    Both average within questions first, then over questions, in points of the scale. `mean` covers all units
    that the evaluator scored. `difference` covers those that another evaluator scored too; `units` is their
    number. A unit is one reply.
    """

    evaluator: str
    mean: float | None
    difference: Estimate
    units: Count


def format_value(value: float | None, digits: int = 2, unit: str = "") -> str:
    """A value with its unit as text, or `-` without one."""
    return "-" if value is None else f"{value:.{digits}f}{unit}"


class StudyDesign(Struct, frozen=True, kw_only=True):
    """The number of questions, languages, runs of each, and evaluators of every reply."""

    questions: Annotated[int, Meta(ge=1)]
    languages: Annotated[int, Meta(ge=1)]
    runs: Annotated[int, Meta(ge=1)]
    evaluators: Annotated[int, Meta(ge=1)]

    def __post_init__(self) -> None:
        if min(self.questions, self.languages, self.runs, self.evaluators) < 1:
            raise ValueError(f"a design has at least one of each: {self!r}")


def excludes_zero(low: float | None, high: float | None) -> bool:
    """Whether zero lies outside these ends of an interval; False without one."""
    return low is not None and high is not None and not low <= 0 <= high


def format_limits(low: float | None, high: float | None, digits: int = 1, sign: str = "") -> str:
    """Both ends of an interval as text, or `-` without one. With `sign="+"` both numbers are signed."""
    return "-" if low is None or high is None else f"{low:{sign}.{digits}f} to {high:{sign}.{digits}f}"
