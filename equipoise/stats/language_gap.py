"""Splits the gap between two languages' scores into what replies say and how they are judged.

Replies in either language are judged as they are and in translation.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations

from equipoise.core.figures import Estimate, GapParts
from equipoise.stats import Observation
from equipoise.stats.intervals import clustered_mean

ScoresByLanguage = Mapping[tuple[str, str], float]
"""One question's scores by pairs (language of the reply, language in which it was judged)."""


def split_gaps(
    questions: Sequence[ScoresByLanguage], languages: Sequence[str], targets: Collection[str]
) -> list[GapParts]:
    """The split gaps of all pairs of `languages` of which at least one is a target of translations.

    Each question is split by Kitagawa's decomposition of a difference (1955, J. American Statistical
    Association 50, 1168-1194). The part `said` is the mean over the languages of the pair that are in
    `targets`. Questions that lack one of the pair's scores are left out. The intervals are Student's t over
    questions (`clustered_mean`).
    """
    return [
        _split_gap(questions, first, second, [name for name in (first, second) if name in targets])
        for first, second in combinations(languages, 2)
        if first in targets or second in targets
    ]


def _split_gap(
    questions: Iterable[ScoresByLanguage],
    first: str,
    second: str,
    shared_languages: Collection[str],
) -> GapParts:
    cells = {(reply, judged) for reply in (first, second) for judged in (reply, *shared_languages)}
    gaps, contents = [], []
    for scores in questions:
        if cells <= scores.keys():
            gaps.append(scores[first, first] - scores[second, second])
            contents.append(
                math.fsum(scores[first, name] - scores[second, name] for name in shared_languages)
                / len(shared_languages)
            )
    judging_gains = [gap - content for gap, content in zip(gaps, contents, strict=True)]
    total, content, judging = (_mean(values) for values in (gaps, contents, judging_gains))
    return GapParts(first=first, second=second, gap=total, said=content, judged=judging)


def _mean(values: Iterable[float]) -> Estimate:
    sample = [Observation(cluster=str(n), stratum="", value=value) for n, value in enumerate(values)]
    return clustered_mean(sample)
