"""Stratified samples. Knows no suites, records or files."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def stratified(items: Sequence[T], strata: Callable[[T], tuple[str, ...]], n: int, seed: int) -> list[T]:
    """`n` items, each stratum in proportion, in an order that says nothing of strata; all if there are fewer.

    A systematic sample: items are ordered by stratum, at random within, and every k-th is taken from a random
    start (Cochran 1977, Sampling Techniques, chapter 8), so that strata may outnumber the sample. The same
    seed gives the same sample.
    """
    chance = random.Random(seed)  # noqa: S311 - a sample that can be drawn again needs no secret
    shuffled = list(items)
    chance.shuffle(shuffled)
    if n >= len(shuffled):
        return shuffled
    ordered = sorted(shuffled, key=strata)
    step = len(ordered) / n
    start = chance.random() * step
    sample = [ordered[int(start + index * step)] for index in range(n)]
    chance.shuffle(sample)
    return sample
