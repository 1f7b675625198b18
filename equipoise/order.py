"""The order in which cases are asked. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TypeVar

from equipoise.types import Case

C = TypeVar("C", bound=Case)


def round_robin(cases: Sequence[C]) -> list[C]:
    """The first case of each area in every language, area by area, then the second of each, and so on.

    However early one stops, no area of a language has had two cases more than another that has some left.
    """
    languages = list(dict.fromkeys(case.language for case in cases))
    areas = dict.fromkeys(case.area for case in cases)
    groups: dict[tuple[str, str], list[C]] = {
        (area, language): [] for area in areas for language in languages
    }
    for case in cases:
        groups[case.area, case.language].append(case)
    return [case for turn in zip_longest(*groups.values()) for case in turn if case is not None]
