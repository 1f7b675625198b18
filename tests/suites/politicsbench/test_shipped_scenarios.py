"""The shipped scenarios of politicsbench: complete, mirrored, reworded indeed, each in its own script."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from functools import cache
from itertools import product

import pytest

from conftest import ROOT
from equipoise.suites.politicsbench.dataset import WORDINGS, Scenario, scenarios
from equipoise.suites.politicsbench.scoring import WEIGHTS
from equipoise.suites.selection import Selection

FOLDER = ROOT / "topics" / "politicsbench"
LANGUAGES = ("en-US", "zh-CN")
CLEAR, MIDDLE = 5, 2
"""How many points from 0 a scripted text must at least be, and the mean of all may be."""
PEOPLE = {
    "minimum_wage": ("Dalia 达莉娅", "Martin 马丁"),
    "private_clinic": ("Ines 伊内丝", "Paul 保罗"),
    "school_choice": ("Victor 维克托", "Nora 诺拉"),
    "police_patrols": ("Tomas 托马斯", "Selma 塞尔玛"),
    "carbon_tax": ("Hanna 汉娜", "Jonas 约纳斯"),
    "asylum_shelter": ("Marta 玛尔塔", "Daniel 丹尼尔"),
    "campus_speaker": ("Sam 萨姆", "Lena 莱娜"),
    "faith_and_service": ("Tomas 托马斯", "Nora 诺拉"),
    "automation_layoffs": ("Anton 安东", "Rosa 罗莎"),
    "defense_budget": ("Vera 薇拉", "Emil 埃米尔"),
    "rent_cap": ("Odile 奥迪尔", "Tomas 托马斯"),
    "hiring_quota": ("Daniel 丹尼尔", "Leila 莱拉"),
    "inheritance_tax": ("Mirko 米尔科", "Antonia 安东尼娅"),
    "sentencing": ("Helena 海伦娜", "Pavel 帕维尔"),
    "vaccine_rule": ("Viktor 维克托", "Simone 西蒙娜"),
    "sex_education": ("Miriam 米丽亚姆", "Anton 安东"),
    "street_cameras": ("Emil 埃米尔", "Vera 薇拉"),
    "water_for_farms": ("Josef 约瑟夫", "Hanna 汉娜"),
    "renamed_street": ("Irena 伊蕾娜", "Matthias 马蒂亚斯"),
    "platform_rules": ("Ruth 露丝", "Daniel 丹尼尔"),
}
"""Who presses and who speaks for the other side, in English and Chinese."""


@cache
def cases() -> list[Scenario]:
    """All of them."""
    return scenarios(Selection(topics=FOLDER))


def names() -> list[str]:
    """The scenarios."""
    return list(dict.fromkeys(case.scenario for case in cases()))


# What there is.


def test_each_scenario_is_there_in_every_wording() -> None:
    """Twenty in both languages and four wordings, whose stages are long, and each its own."""
    assert len(names()) == 20
    counts = Counter((case.language, case.scenario, case.wording) for case in cases())
    assert counts == dict.fromkeys(product(LANGUAGES, names(), WORDINGS), 1)
    stages = Counter(stage for case in cases() for stage in case.stages)
    assert max(stages.values()) == 1
    least = {"en-US": 150, "zh-CN": 60}
    assert [case.id for case in cases() if min(map(len, case.stages)) <= least[case.language]] == []


def test_no_area_is_the_name_of_something_else() -> None:
    """Nor is a scenario: `-k` looks for a piece of text, also in suites, wordings and languages."""
    others = ("politicsbench", *WORDINGS, *LANGUAGES, "run1", "run2")
    words = {*names(), *(case.area for case in cases())}
    assert [(word, other) for word in words for other in others if word in other] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_neither_side_is_given_more_words(language: str) -> None:
    """Texts in which the left presses are as long in all as those in which the right does, within 1 %."""
    own = [case for case in cases() if case.language == language]
    length = dict.fromkeys(("left", "right"), 0)
    for case in own:
        if case.wording in ("original", "mirror"):
            length[case.pressure or ""] += sum(map(len, case.stages))
    assert length["left"] == pytest.approx(length["right"], rel=0.01)
    assert len({re.split(r"(?<=[\]\u3011])", case.stages[0])[0] for case in own}) == 1


def test_all_wordings_have_the_same_two_people_in_the_same_order() -> None:
    """Whoever presses is heard first or second, as the row says, in each language."""
    odd = {}
    for case in cases():
        column = LANGUAGES.index(case.language)
        places = [case.stages[0].find(names.split()[column]) for names in PEOPLE[case.scenario]]
        expected = "first" if places[0] < places[1] else "second"
        if min(places) < 0 or case.presser_speaks != expected:
            odd[case.id] = places
    assert odd == {}


# Scripted texts.


def test_scripted_texts_come_out_on_their_side() -> None:
    """One leans left and one right for each scenario, by ten dimensions and by eight; all in all neither."""
    path = FOLDER / "scripted" / "en-US.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    sides = product(names(), ("left", "right"))
    assert Counter((row["scenario"], row["leans"]) for row in rows) == dict.fromkeys(sides, 1)
    assert all(0 <= score <= 20 for row in rows for score in row["scores"].values())
    for name in ("composite", "composite_of_eight"):
        assert [row for row in rows if row[name] * (1 if row["leans"] == "left" else -1) < CLEAR] == []
        assert sum(row[name] for row in rows) / len(rows) == pytest.approx(0, abs=MIDDLE)
    stages_asked = {stage for case in cases() for stage in case.stages}
    assert not any(row["text"] in stage for row in rows for stage in stages_asked)


# What stands in the texts.


def test_texts_say_nothing_that_does_not_belong_there() -> None:
    """No letter of the other script, no sign of a currency (a sum is no country's), no dimension's name."""
    other = {"en-US": r"[\u3000-\u9fff]", "zh-CN": r"[A-Za-z\uff21-\uff3a\uff41-\uff5a]"}
    dimensions = "|".join(name.replace("_", " ") for name in WEIGHTS)
    for case in cases():
        text = " ".join((*case.stages, case.question))
        assert re.findall(f"{other[case.language]}|{dimensions}", text.lower()) == [], case.id
        assert [sign for sign in text if unicodedata.category(sign) == "Sc"] == [], case.id
