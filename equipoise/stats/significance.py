"""Student's one-sample t test and Wilcoxon's signed-rank test, for values with rounding errors."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from equipoise.stats import mean

Alternative = Literal["two-sided", "greater"]
TOLERANCE = 1e-9
"""Values count as equal if they differ by at most this times the largest value, or times 1 if that is larger.
True differences, such as those between means of whole numbers, must be larger."""
MOST_ENUMERATED = 13
"""The maximum number of differences for which scipy's signed-rank test is exact even with ties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TTest:
    """A two-sided t test of whether a mean is 0; `sd` is the sample SD. All but `n` may be None."""

    n: int
    mean: float | None
    sd: float | None
    t: float | None
    p: float | None

    @property
    def effect_size(self) -> float | None:
        """The mean in units of the SD (Cohen's d, or dz for paired differences); None without a test."""
        if self.t is None or self.mean is None or self.sd is None:
            return None
        return self.mean / self.sd


def t_test(values: Sequence[float]) -> TTest:
    """The test of the mean. `t` and `p` are None unless values differ by more than rounding."""
    sd = sample_sd(values)
    if sd is None or sd <= _rounding_error(values):
        return TTest(n=len(values), mean=mean(values), sd=sd, t=None, p=None)
    # Imported here: scipy.stats is slow to import.
    from scipy.stats import ttest_1samp  # scipy has no types

    test = ttest_1samp(values, 0.0)
    return TTest(n=len(values), mean=mean(values), sd=sd, t=float(test.statistic), p=float(test.pvalue))


def sample_sd(values: Sequence[float]) -> float | None:
    """Sample standard deviation (divisor n - 1); None for fewer than two values."""
    return statistics.stdev(values) if len(values) > 1 else None


def _rounding_error(values: Sequence[float]) -> float:
    """The maximum rounding error of values of this size."""
    return TOLERANCE * max([1.0, *map(abs, values)])


def rounded_differences(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """First minus second, pair by pair, with rounding errors removed so that equal differences tie.

    Magnitudes that are equal apart from rounding all become the smallest of them.
    """
    differences = [a - b for a, b in zip(first, second, strict=True)]
    tolerance = _rounding_error([*first, *second])
    # The new magnitude for each old one, such as {0.0: 0.0, 1e-16: 0.0, 0.5: 0.5, 0.5000000000000001: 0.5}.
    magnitudes = {0.0: 0.0}
    for magnitude in sorted(map(abs, differences)):
        last = next(reversed(magnitudes))
        magnitudes[magnitude] = magnitudes[last] if magnitude - last <= tolerance else magnitude
    return [math.copysign(magnitudes[abs(value)], value) for value in differences]


def signed_rank_p(differences: Sequence[float], alternative: Alternative = "two-sided") -> float | None:
    """The p value of Wilcoxon's test without differences of 0; None if all are 0.

    As in scipy, it is exact for up to 13 differences, and for up to 50 without ties and zeros; otherwise it
    is the normal approximation.
    """
    if not any(differences):
        return None
    if len(differences) <= MOST_ENUMERATED:
        return _exact_signed_rank_p([value for value in differences if value], alternative)
    from scipy.stats import wilcoxon

    return float(wilcoxon(differences, zero_method="wilcox", alternative=alternative).pvalue)


def _exact_signed_rank_p(differences: Sequence[float], alternative: Alternative) -> float:
    """The exact p value, by counting how many of the 2^n combinations of signs give each sum of ranks.

    scipy enumerates the combinations, which takes seconds.
    """
    sizes = [abs(value) for value in differences]
    # Doubled, so that the mean ranks of ties are whole numbers.
    ranks = [
        sum(other < size for other in sizes) + sum(other <= size for other in sizes) + 1 for size in sizes
    ]
    ways = Counter({0: 1})
    for rank in ranks:
        ways += Counter({total + rank: count for total, count in ways.items()})
    positive = sum(rank for rank, value in zip(ranks, differences, strict=True) if value > 0)
    upper = sum(count for total, count in ways.items() if total >= positive) / ways.total()
    lower = sum(count for total, count in ways.items() if total <= positive) / ways.total()
    return upper if alternative == "greater" else min(1.0, 2 * min(upper, lower))
