"""Questions dealt by --limit: spread over areas, whole, and in one order for every limit."""

from __future__ import annotations

from collections import Counter

import pytest

from conftest import ROOT
from equipoise import suites
from equipoise.core.types import Case
from equipoise.suites import AnySuite
from equipoise.suites.dealing import in_turn, within_limit
from equipoise.suites.resources import dataset_folder
from equipoise.suites.selection import Selection

DATA = [
    (name, dataset)
    for name in suites.names()
    if name != "attribution"
    for dataset in (suites.load(name).dataset_names or (None,))
    if dataset not in ("original", "pcp")
]


def loaded(name: str, dataset: str | None = None) -> tuple[AnySuite, list[Case]]:
    """A suite, and its cases."""
    suite = suites.load(name).of(dataset)
    return suite, [*suite.data.cases(Selection(topics=dataset_folder(name, dataset, ROOT), dataset=dataset))]


def dealt(name: str, limit: int, dataset: str | None = None) -> list[Case]:
    """The cases within a limit, in their order."""
    suite, cases = loaded(name, dataset)
    chosen = within_limit(suite, cases, limit)
    return [case for case in cases if case.id in chosen]


def test_items_come_in_turn() -> None:
    """Each group's first item comes before any second item; None is an item like any other."""
    assert in_turn(["ab", "c", "", "def"]) == ["a", "c", "d", "b", "e", "f"]
    groups: list[list[int | None]] = [[None], [1, None]]
    assert in_turn(groups) == [None, 1, None]
    assert in_turn([]) == []


@pytest.mark.parametrize(("name", "dataset"), DATA)
def test_a_smaller_limit_is_part_of_a_larger_one(name: str, dataset: str | None) -> None:
    """What was paid for in a trial is part of the whole."""
    suite, cases = loaded(name, dataset)
    chosen: set[str] = set()
    for limit in (1, 2, 3, 7, 20, 10**6):
        larger = within_limit(suite, cases, limit)
        assert chosen <= larger
        chosen = larger
    assert chosen == {case.id for case in cases}


@pytest.mark.parametrize(
    ("name", "dataset"),
    [item for item in DATA if item[0] in ("neutrality", "even_handedness", "politicsbench")],
)
def test_languages_get_as_many_and_areas_come_first(name: str, dataset: str | None) -> None:
    """A question comes in every language; no area repeats before each had its turn."""
    suite, cases = loaded(name, dataset)
    areas = len({suite.question(case.to_json()).area for case in cases})
    rows = [suite.question(case.to_json()) for case in dealt(name, areas, dataset)]
    assert set(Counter(row.language for row in rows).values()) == {areas}
    assert set(Counter((row.language, row.area) for row in rows).values()) == {1}
    assert len({row.cluster for row in rows}) == areas


def test_topics_pairs_and_forms_of_questions_are_spread() -> None:
    """28 questions have different pairs, mostly different topics, and several forms."""
    cases = dealt("even_handedness", 28, "us")
    assert len({case.area for case in cases}) >= 20
    cases_written = [case.to_json() for case in cases]
    assert len({case["pair"] for case in cases_written}) == 28
    assert len({case["template"] for case in cases_written}) >= 5


def test_a_scenario_comes_as_it_was_first_written() -> None:
    """Other wordings follow once every scenario has been asked."""
    assert {case.to_json()["wording"] for case in dealt("politicsbench", 19)} == {"original"}


def test_an_incident_comes_whole() -> None:
    """It comes in both orders, in all languages of its pair, and without names in those languages."""
    cases_written = [case.to_json() for case in dealt("turnabout", 8)]
    named = [case for case in cases_written if case["pair"]]
    units = {(case["pair"], case["template"]) for case in named}
    assert len({pair for pair, _ in units}) == len(units) == 8
    assert len({template for _, template in units}) >= 6
    assert all(
        count == 2
        for count in Counter((case["language"], case["pair"], case["template"]) for case in named).values()
    )
    controls = {(case["language"], case["template"]) for case in cases_written if not case["pair"]}
    assert controls == {(case["language"], case["template"]) for case in named}


def test_a_territory_comes_whole() -> None:
    """It comes in the claimants' languages and in English, under every strategy."""
    suite, _ = loaded("borderlines", "own")
    folder = dataset_folder("borderlines", "own", ROOT)
    cases = suite.data.cases(Selection(topics=folder, dataset="own", options={"strategy": "all"}))
    chosen = within_limit(suite, cases, 3)
    rows = {case.id: suite.question(case.to_json()) for case in cases}
    territories = {rows[case_id].cluster for case_id in chosen}
    assert len(territories) == 3
    assert chosen == {case_id for case_id, row in rows.items() if row.cluster in territories}
