"""The order in which cases are asked: whatever is done early is a small sample of the whole."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest

from equipoise.core.types import Case
from equipoise.runner.plan import round_robin


def case(area: str, language: str, number: int = 1) -> Case:
    """The case of that number in an area of a language."""
    return Case(id=f"{language}-{area}-q{number}", language=language, area=area)


def cases(**sizes: int) -> list[Case]:
    """So many cases of each area, the same in two languages, language by language as files are read."""
    return [
        case(area, language, number)
        for language in ("aa", "bb")
        for area, size in sizes.items()
        for number in range(1, size + 1)
    ]


def ids(found: list[Case]) -> list[str]:
    """The cases by their ids."""
    return [item.id for item in found]


def test_no_cases_are_no_cases() -> None:
    """There is nothing to put in order."""
    assert round_robin([]) == []


def test_areas_take_turns_in_every_language() -> None:
    """The first case of each area, in one language after the other, then the second of each."""
    assert ids(round_robin(cases(x=2, y=2))) == [
        *("aa-x-q1", "bb-x-q1", "aa-y-q1", "bb-y-q1"),
        *("aa-x-q2", "bb-x-q2", "aa-y-q2", "bb-y-q2"),
    ]


def test_an_area_that_has_no_more_is_passed_over() -> None:
    """The others go on taking turns."""
    found = [item.id for item in round_robin(cases(x=1, y=3, z=2)) if item.language == "aa"]
    assert found == ["aa-x-q1", "aa-y-q1", "aa-z-q1", "aa-y-q2", "aa-z-q2", "aa-y-q3"]


def test_an_area_that_a_language_does_not_have_is_passed_over() -> None:
    """Languages need not have the same areas."""
    given = [case("x", "aa"), case("y", "bb"), case("x", "aa", 2), case("y", "bb", 2)]
    assert ids(round_robin(given)) == ["aa-x-q1", "bb-y-q1", "aa-x-q2", "bb-y-q2"]


def test_one_area_in_one_language_stays_as_it_is() -> None:
    """With nothing to take turns with, the order of the file is kept."""
    given = [case("x", "aa", number) for number in (3, 1, 2)]
    assert round_robin(given) == given


def test_areas_and_languages_come_in_the_order_in_which_they_were_met() -> None:
    """Not in that of the alphabet."""
    given = [case(area, language) for language, area in product(("zz", "aa"), ("y", "x"))]
    assert ids(round_robin(given)) == ["zz-y-q1", "aa-y-q1", "zz-x-q1", "aa-x-q1"]


@pytest.mark.parametrize("seed", range(20))
def test_however_early_one_stops_no_area_is_far_ahead(seed: int) -> None:
    """All cases are there once, each area's in their order, and none two ahead of one that has some left."""
    chance = random.Random(seed)  # noqa: S311 - nothing here is secret
    pairs = list(product("uvwxyz", ("aa", "bb", "cc")))
    given = [
        case(area, language, number)
        for area, language in chance.sample(pairs, chance.randrange(1, len(pairs)))
        for number in range(chance.randrange(1, 6))
    ]
    chance.shuffle(given)
    found = round_robin(given)
    assert sorted(ids(found)) == sorted(ids(given))
    left = Counter((item.area, item.language) for item in given)
    done: Counter[tuple[str, str]] = Counter(dict.fromkeys(left, 0))
    for item in found:
        done[item.area, item.language] += 1
        left[item.area, item.language] -= 1
        behind = min((n for pair, n in done.items() if left[pair]), default=max(done.values()))
        assert max(done.values()) - behind < 2
    for area, language in set(done):
        own = [item for item in given if (item.area, item.language) == (area, language)]
        assert [item for item in found if (item.area, item.language) == (area, language)] == own
