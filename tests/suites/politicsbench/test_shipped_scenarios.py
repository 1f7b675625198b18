"""The shipped scenarios of politicsbench: complete, mirrored, reworded indeed, each in its own script."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

import pytest

from conftest import ROOT
from equipoise.suites import politicsbench
from equipoise.suites.politicsbench.dataset import QUESTIONS, WORDINGS, Scenario, scenarios
from equipoise.suites.politicsbench.scoring import WEIGHTS
from equipoise.suites.selection import Selection, data_hash

FOLDER = ROOT / "topics" / "politicsbench"
LANGUAGES = ("en-US", "zh-CN")
WORDINGS_IN = {"en-US": WORDINGS, "zh-CN": ("original", "mirror")}
MOST_SHARED = 0.15
FIRST_EDITION = "d0c98e6ee1af827f2cd518568e4a1176313f47d717c9481dd055220ebab33c19"
DAYS = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}


@cache
def cases() -> list[Scenario]:
    """All of them."""
    return scenarios(Selection(topics=FOLDER))


def names() -> list[str]:
    """The scenarios."""
    return list(dict.fromkeys(case.scenario for case in cases()))


def beside_originals(*wordings: str) -> Iterator[tuple[Scenario, Scenario]]:
    """Each case of these wordings behind the original that it belongs to."""
    by_id = {case.id: case for case in cases()}
    for case in cases():
        if case.wording in wordings:
            yield by_id[f"{case.language}-{case.scenario}-original"], case


def fives(text: str) -> set[tuple[str, ...]]:
    """All sequences of five words in a text."""
    words = re.findall(r"[\w']+", text.lower())
    return {tuple(words[place : place + 5]) for place in range(len(words) - 4)}


def letters(texts: Sequence[str]) -> int:
    """How long texts are in all, in characters."""
    return sum(map(len, texts))


# What there is.


def test_the_first_edition_is_kept_as_it_was() -> None:
    """Byte for byte, so that earlier results are of the same data."""
    assert data_hash(FOLDER / "own-v1", politicsbench.DATASETS) == FIRST_EDITION
    assert len(scenarios(Selection(topics=FOLDER / "own-v1"))) == 120


def test_each_scenario_is_there_in_every_wording() -> None:
    """Twenty in both languages: four wordings in English, the original and its mirror in Chinese."""
    assert len(names()) == 20
    found = Counter((case.language, case.scenario, case.wording) for case in cases())
    assert found == {
        (language, name, wording): 1
        for language, wordings in WORDINGS_IN.items()
        for name in names()
        for wording in wordings
    }


def test_a_case_has_four_stages_and_an_id_of_its_own() -> None:
    """In ASCII; no stage has blanks around it, none is but a few words, none is there twice."""
    least = {"en-US": 150, "zh-CN": 60}
    stages = Counter(stage for case in cases() for stage in case.stages)
    odd = [
        case.id
        for case in cases()
        if len(case.stages) != 4
        or not case.id.isascii()
        or any(stage != stage.strip() or stages[stage] > 1 for stage in case.stages)
        or min(map(len, case.stages)) <= least[case.language]
    ]
    assert odd == []
    assert len({case.id for case in cases()}) == len(cases())


def test_a_scenario_has_its_question_and_title_in_both_languages() -> None:
    """One row each and no others; the same question for all wordings, whose subject is the same area."""
    with (FOLDER / QUESTIONS).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert Counter((row["scenario"], row["language"]) for row in rows) == {
        (name, language): 1 for name in names() for language in LANGUAGES
    }
    assert all(row["title"] and row["subject"] and row["question"][-1] in "?？" for row in rows)
    for column in ("question", "title"):
        assert len({row[column] for row in rows}) == 40
    assert len({(case.scenario, case.language, case.question) for case in cases()}) == 40
    areas = {(case.scenario, case.area) for case in cases()}
    assert len(areas) == 20
    assert "general" not in {area for _, area in areas}


def test_no_area_is_the_name_of_something_else() -> None:
    """Nor is a scenario: `-k` looks for a piece of text, also in suites, wordings and languages."""
    others = ("politicsbench", *WORDINGS, *LANGUAGES, "run1", "run2")
    words = {*names(), *(case.area for case in cases())}
    assert [(word, other) for word in words for other in others if word in other] == []


# From either side.


def test_each_side_presses_in_ten_scenarios_of_each_wording() -> None:
    """The same ones in both languages and in paraphrases; in a mirror the other side."""
    for language, wordings in WORDINGS_IN.items():
        for wording in wordings:
            pressing = [c.pressure for c in cases() if (c.language, c.wording) == (language, wording)]
            assert Counter(pressing) == {"left": 10, "right": 10}, (language, wording)
    sides = {(case.scenario, case.wording == "mirror", case.pressure) for case in cases()}
    assert len(sides) == 40


def test_a_mirror_presses_from_the_other_side() -> None:
    """On the same question, and not with the same words."""
    odd = [
        mirror.id
        for original, mirror in beside_originals("mirror")
        if {original.pressure, mirror.pressure} != {"left", "right"}
        or (original.question, original.area) != (mirror.question, mirror.area)
        or set(original.stages) & set(mirror.stages)
    ]
    assert odd == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_neither_side_is_given_more_words(language: str) -> None:
    """Mirrors are as long as originals in all, and left as right, within 10 %."""
    mine = [case for case in cases() if case.language == language and case.wording in ("original", "mirror")]
    original, left = (
        [sum(letters(case.stages) for case in mine if is_so(case) == side) for side in (True, False)]
        for is_so in (lambda case: case.wording == "original", lambda case: case.pressure == "left")
    )
    assert original[0] == pytest.approx(original[1], rel=0.1)
    assert left[0] == pytest.approx(left[1], rel=0.1)


# Paraphrases.


def test_a_paraphrase_tells_the_same_in_other_words() -> None:
    """It shares under 15 % of its sequences of five words, and is as long within a quarter."""
    odd = {}
    for original, paraphrase in beside_originals("paraphrase_a", "paraphrase_b"):
        theirs, own = (fives("\n".join(case.stages)) for case in (original, paraphrase))
        shared = len(own & theirs) / len(own)
        length = letters(paraphrase.stages) / letters(original.stages)
        if shared >= MOST_SHARED or not 0.75 <= length <= 1.25:
            odd[paraphrase.id] = (shared, length)
    assert odd == {}


def test_a_paraphrase_names_the_same_people() -> None:
    """Whoever is named most in the original is there too."""
    odd = {}
    for original, paraphrase in beside_originals("paraphrase_a", "paraphrase_b"):
        text, other = (" ".join(case.stages) for case in (original, paraphrase))
        inside = Counter(re.findall(r"(?<=[a-z,] )[A-Z][a-z]+", text))
        people = [name for name, _ in inside.most_common() if name not in DAYS][:1]
        if not people or people[0] not in other:
            odd[paraphrase.id] = people
    assert odd == {}


# What stands in the texts.


def test_texts_say_nothing_that_does_not_belong_there() -> None:
    """No letter of the other script, no sign of a currency (a sum is no country's), no dimension's name."""
    other = {"en-US": r"[\u3000-\u9fff]", "zh-CN": r"[A-Za-z\uff21-\uff3a\uff41-\uff5a]"}
    dimensions = [name.replace("_", " ") for name in WEIGHTS]
    odd = {}
    for case in cases():
        text = " ".join((*case.stages, case.question))
        found = [
            *re.findall(other[case.language], text),
            *(sign for sign in text if unicodedata.category(sign) == "Sc"),
            *(name for name in dimensions if name in text.lower()),
        ]
        if found:
            odd[case.id] = found
    assert odd == {}
