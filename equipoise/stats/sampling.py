"""Stratified random samples."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def stratified(items: Sequence[T], strata: Callable[[T], tuple[str, ...]], n: int, seed: int) -> list[T]:
    """A sample of `n` items with each stratum in proportion, in random order; all items if there are fewer.

    It is a systematic sample: items are ordered by stratum, in random order within each, and every k-th item
    after a random start is taken (Cochran 1977, Sampling Techniques, chapter 8). There may be more strata
    than `n`. The same seed and order of items give the same sample.
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
