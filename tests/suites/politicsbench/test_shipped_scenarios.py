"""The shipped scenarios of politicsbench: complete, mirrored, reworded indeed, each in its own script."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

import pytest

from conftest import ROOT
from equipoise.suites.politicsbench.dataset import QUESTIONS, WORDINGS, Scenario, scenarios
from equipoise.suites.politicsbench.scoring import WEIGHTS
from equipoise.suites.selection import Selection

FOLDER = ROOT / "topics" / "politicsbench"
CASES = scenarios(Selection(topics=FOLDER))
BY_ID = {case.id: case for case in CASES}
LANGUAGES = ("en-US", "zh-CN")
SCENARIOS = list(dict.fromkeys(case.scenario for case in CASES))
WORDINGS_IN = {"en-US": WORDINGS, "zh-CN": ("original", "mirror")}
MOST_SHARED = 0.15
with (FOLDER / QUESTIONS).open(encoding="utf-8", newline="") as _file:
    ROWS = list(csv.DictReader(_file))

each_language = pytest.mark.parametrize("language", LANGUAGES)
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
each_scenario = pytest.mark.parametrize("scenario", SCENARIOS)
each_pair = pytest.mark.parametrize(
    ("original", "mirror"),
    [(case, BY_ID[case.id.replace("-original", "-mirror")]) for case in CASES if case.wording == "original"],
    ids=lambda case: case.id,
)
each_paraphrase = pytest.mark.parametrize(
    ("original", "paraphrase"),
    [
        (BY_ID[f"{case.language}-{case.scenario}-original"], case)
        for case in CASES
        if case.wording.startswith("paraphrase")
    ],
    ids=lambda case: case.id,
)


def fives(text: str) -> set[tuple[str, ...]]:
    """All sequences of five words in a text."""
    words = re.findall(r"[\w']+", text.lower())
    return {tuple(words[place : place + 5]) for place in range(len(words) - 4)}


def letters(texts: Sequence[str]) -> int:
    """How long texts are in all, in characters."""
    return sum(map(len, texts))


# What there is.


def test_there_are_twenty_scenarios_in_two_languages() -> None:
    """The same ones in both."""
    assert len(SCENARIOS) == 20
    assert {case.language for case in CASES} == set(LANGUAGES)
    for language in LANGUAGES:
        assert {case.scenario for case in CASES if case.language == language} == set(SCENARIOS)


@each_language
def test_each_scenario_is_there_in_every_wording(language: str) -> None:
    """Four wordings in English, the original and its mirror in Chinese."""
    found = Counter((case.scenario, case.wording) for case in CASES if case.language == language)
    assert found == {(name, wording): 1 for name in SCENARIOS for wording in WORDINGS_IN[language]}


@each_case
def test_a_case_has_four_stages_and_an_id_of_its_own(case: Scenario) -> None:
    """In ASCII; no stage has blanks around it, and none is but a few words."""
    assert len(case.stages) == 4
    assert case.id.isascii()
    assert Counter(item.id for item in CASES)[case.id] == 1
    assert all(stage == stage.strip() for stage in case.stages)
    assert min(map(len, case.stages)) > (150 if case.language == "en-US" else 60)


def test_no_stage_stands_there_twice() -> None:
    """In no other case, nor in the same one."""
    found = Counter(stage for case in CASES for stage in case.stages)
    assert [stage for stage, count in found.items() if count > 1] == []


@each_scenario
def test_a_scenario_has_its_question_and_title_in_both_languages(scenario: str) -> None:
    """One row each; the same question for all wordings, whose subject is the same area."""
    found = [row for row in ROWS if row["scenario"] == scenario]
    assert [row["language"] for row in found] == list(LANGUAGES)
    assert all(row["title"] and row["subject"] and row["question"][-1] in "?？" for row in found)
    mine = [case for case in CASES if case.scenario == scenario]
    assert len({(case.language, case.question) for case in mine}) == 2
    assert len({case.area for case in mine}) == 1
    assert mine[0].area != "general"


def test_there_are_no_rows_for_other_scenarios() -> None:
    """Nor two for one, nor two with the same question or title."""
    assert {row["scenario"] for row in ROWS} == set(SCENARIOS)
    assert len(ROWS) == 40
    for column in ("question", "title"):
        assert len({row[column] for row in ROWS}) == 40


def test_no_area_is_the_name_of_something_else() -> None:
    """Nor is a scenario: `-k` looks for a piece of text, also in suites, wordings and languages."""
    others = ("politicsbench", *WORDINGS, *LANGUAGES, "run1", "run2")
    for word in {*SCENARIOS, *(case.area for case in CASES)}:
        assert [other for other in others if word in other] == []


# From either side.


@each_language
def test_each_side_presses_in_ten_originals(language: str) -> None:
    """And so in ten mirrors."""
    for wording in WORDINGS_IN[language]:
        pressing = [c.pressure for c in CASES if (c.language, c.wording) == (language, wording)]
        assert Counter(pressing) == {"left": 10, "right": 10}


@each_pair
def test_a_mirror_presses_from_the_other_side(original: Scenario, mirror: Scenario) -> None:
    """On the same question, and not with the same words."""
    assert {original.pressure, mirror.pressure} == {"left", "right"}
    assert (original.question, original.area) == (mirror.question, mirror.area)
    assert not set(original.stages) & set(mirror.stages)


@each_scenario
def test_the_side_that_presses_is_the_same_in_both_languages(scenario: str) -> None:
    """And in paraphrases that of the original."""
    mine = [case for case in CASES if case.scenario == scenario]
    assert len({case.pressure for case in mine if case.wording != "mirror"}) == 1
    assert len({case.pressure for case in mine if case.wording == "mirror"}) == 1


@each_language
def test_mirrors_are_as_long_as_originals(language: str) -> None:
    """Within 10 % in all."""
    mine = [case for case in CASES if case.language == language]
    original, mirror = (
        sum(letters(case.stages) for case in mine if case.wording == wording)
        for wording in ("original", "mirror")
    )
    assert mirror == pytest.approx(original, rel=0.1)


@each_language
def test_neither_side_is_given_more_words(language: str) -> None:
    """Cases with pressure from the left and from the right are as long, within 10 %."""
    mine = [case for case in CASES if case.language == language and case.wording in ("original", "mirror")]
    left, right = (
        sum(letters(case.stages) for case in mine if case.pressure == side) for side in ("left", "right")
    )
    assert right == pytest.approx(left, rel=0.1)


# Paraphrases.


@each_paraphrase
def test_a_paraphrase_is_in_other_words(original: Scenario, paraphrase: Scenario) -> None:
    """It shares fewer than 15 % of its sequences of five words with the original."""
    theirs, own = (fives("\n".join(case.stages)) for case in (original, paraphrase))
    assert len(own & theirs) < MOST_SHARED * len(own)


@each_paraphrase
def test_a_paraphrase_is_about_as_long(original: Scenario, paraphrase: Scenario) -> None:
    """It tells the same, within a quarter of the length."""
    assert letters(paraphrase.stages) == pytest.approx(letters(original.stages), rel=0.25)


@each_paraphrase
def test_a_paraphrase_names_the_same_people(original: Scenario, paraphrase: Scenario) -> None:
    """Whoever is named most in the original is there too."""
    text, other = (" ".join(case.stages) for case in (original, paraphrase))
    inside = Counter(re.findall(r"(?<=[a-z,] )[A-Z][a-z]+", text))
    days = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
    people = [name for name, _ in inside.most_common() if name not in days][:1]
    assert people
    assert [name for name in people if name not in other] == []


# What stands in the texts.


@each_case
def test_texts_are_in_their_own_script(case: Scenario) -> None:
    """There is no Latin letter in Chinese stages and questions, and no Chinese one in English ones."""
    unwanted = r"[A-Za-z\uff21-\uff3a\uff41-\uff5a]" if case.language == "zh-CN" else r"[\u3000-\u9fff]"
    assert [hit for text in (*case.stages, case.question) for hit in re.findall(unwanted, text)] == []


@each_case
def test_no_currency_is_named_by_its_sign(case: Scenario) -> None:
    """A sum belongs to no country; nor would it survive a template."""
    text = "".join((*case.stages, case.question))
    assert [sign for sign in text if unicodedata.category(sign) == "Sc"] == []


@each_case
def test_no_dimension_is_named(case: Scenario) -> None:
    """Nobody is told what the judges look for."""
    text = " ".join((*case.stages, case.question)).lower()
    assert [name for name in WEIGHTS if name.replace("_", " ") in text] == []
