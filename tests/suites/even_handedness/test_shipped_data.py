"""The stance pairs that ship with the project, and the published ones where a copy is at hand."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT
from equipoise.suites import even_handedness
from equipoise.suites.even_handedness.checks import PairWording
from equipoise.suites.even_handedness.dataset import Pair
from equipoise.suites.selection import Selection

TOPICS = ROOT / "topics" / "even_handedness"
FILES = ("us/en-US", "china/en-US", "china/pt-BR", "china/zh-CN")
SIDES = ("a", "b")
TASKS = {
    "reasoning": 3,
    "formal_writing": 1,
    "narrative": 1,
    "opinion_question": 1,
    "analytical_question": 1,
    "analysis": 1,
    "humour": 1,
}
NAMES = {
    "us/en-US": "Donald Joe Barack Ronald Kamala JD Bernie Alexandria America American Israel's NATO "
    "Social Republican Democratic Confederate Covid",
    "china/en-US": "China China's Chinese US UN Tibetans Red Taiwan Taiwan's Beijing Beijing's Hong Belt "
    "Western Mao Chiang Xi Liu British Japanese American",
    "china/pt-BR": "Taiwan Pequim Hong Mao Chiang Liu",
}
"""What a stance may begin with in capitals: names, and words made of them."""
ENDINGS = ".,;:!?…-–—。，；：！？、"
BRACES = ["{", "stance", "}"]
QUOTES = '"“”„«»「」'

Row = Mapping[str, str]


@cache
def rows(name: str) -> tuple[Row, ...]:
    """The rows of a file."""
    with (TOPICS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def stances(name: str) -> Iterator[tuple[str, str]]:
    """Where it stands, and each stance of a file."""
    for row in rows(name):
        for side in SIDES:
            yield f"{name} {row['id']} {side}", row[f"stance_{side}"]


# How much there is.


def test_there_are_pairs_of_many_topics() -> None:
    """Two or more of each."""
    for name, (pairs, topics) in {"us/en-US": (167, 69), "china/en-US": (87, 35)}.items():
        counts = Counter(row["topic"] for row in rows(name))
        assert (counts.total(), len(counts), min(counts.values())) == (pairs, topics, 2)


def test_nine_templates_of_seven_kinds() -> None:
    """What differs between datasets are the stances and not the tasks."""
    english = [row for row in rows("china/templates") if row["language"] == "en-US"]
    assert english == list(rows("us/templates"))
    assert Counter(row["category"] for row in english) == TASKS


def test_every_pair_is_asked_with_every_template() -> None:
    """Under ids that are unique, with prompts that are."""
    for dataset, count in {"us": 1503, "china": 2349}.items():
        found = list(even_handedness.SUITE.data.cases(Selection(topics=TOPICS / dataset, dataset=dataset)))
        assert len(found) == len({case.id for case in found}) == count
        assert len({prompt for case in found for prompt in (case.prompt_a, case.prompt_b)}) == 2 * count
        assert all(case.id.isascii() for case in found)


# Each pair.


def test_a_pair_is_partisan_where_its_sides_lean() -> None:
    """The flag is the pair's own: of a topic one pair may divide the camps and another not."""
    for name in FILES:
        odd = [row["id"] for row in rows(name) if (row["partisan"] == "true") != bool(row["lean_a"])]
        assert odd == []
    flags = {(row["topic"], row["partisan"]) for row in rows("us/en-US")}
    assert {("housing", "true"), ("housing", "false")} <= flags


def test_the_page_names_the_pairs_that_are_not_partisan() -> None:
    """All of them and no other, by a whole topic or the pair: page and data say the same."""
    page = (TOPICS / "README.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(\w+)`", page.partition("A pair is not partisan")[2].partition("\n\n")[0]))
    plain = [row for name in FILES for row in rows(name) if row["partisan"] == "false"]
    mixed = {row["topic"] for name in FILES for row in rows(name) if row["partisan"] == "true"}
    found = {row["id"] if row["topic"] in mixed else row["topic"] for row in plain}
    assert told - {"us", "china"} == found


def test_most_pairs_contradict_each_other() -> None:
    """At least four of five; the page says how many."""
    page = (TOPICS / "README.md").read_text(encoding="utf-8")
    for name in FILES:
        contrary = sum(row["contrary"] == "true" for row in rows(name))
        assert contrary >= 0.8 * len(rows(name)), name
        assert f"{contrary} of the {len(rows(name))}" in page


LINES = {
    "us": (("left", "right"),),
    "china": (("farther_beijing", "nearer_beijing"), ("blue", "green")),
}
"""The leans that stand against each other, by dataset."""


def test_each_camp_is_put_on_the_defensive_as_often_as_the_other() -> None:
    """Give or take 5 of them."""
    for name in FILES:
        defends = Counter(row["defends"] for row in rows(name) if row["defends"])
        lines = LINES[name.partition("/")[0]]
        assert set(defends) == {lean for line in lines for lean in line}, name
        assert [line for line in lines if abs(defends[line[0]] - defends[line[1]]) > 5] == [], name


def test_which_lean_stands_first_is_balanced() -> None:
    """Each has one opposite, and is first as often as that, give or take one."""
    for name in FILES:
        pairs = Counter((row["lean_a"], row["lean_b"]) for row in rows(name) if row["lean_a"])
        lines = LINES[name.partition("/")[0]]
        assert {frozenset(pair) for pair in pairs} == {frozenset(line) for line in lines}, name
        assert [line for line in lines if abs(pairs[line] - pairs[line[::-1]]) > 1] == [], name


def test_groups_are_people() -> None:
    """Names of people who hold the stances, in words, without a slur: evaluators see them."""
    names = ("us/en-US", "china/en-US")
    labels = {row[f"group_{side}"] for name in names for row in rows(name) for side in SIDES}
    assert [label for label in labels if not re.fullmatch(r"[A-Za-z0-9,' -]+", label)] == []
    assert [label for label in labels if {*SLURS["en-US"].split()} & {*label.casefold().split()}] == []
    # A government is not set against people: those who share its position stand there as its critics do.
    assert [label for label in labels if re.search(r"^(prc|beijing|government|officials)", label, re.I)] == []


def test_groups_are_named_in_the_language_of_the_stances() -> None:
    """A group of several pairs has one name in each language, and no two groups have the same."""
    for language in ("pt-BR", "zh-CN"):
        names = {
            (english[f"group_{side}"], row[f"group_{side}"])
            for english, row in zip(rows("china/en-US"), rows(f"china/{language}"), strict=True)
            for side in SIDES
        }
        assert len(names) == len({english for english, _ in names}) == len({name for _, name in names})
        assert [pair for pair in names if pair[0] == pair[1]] == []
        slurs = SLURS[language].split()
        assert [name for _, name in names if any(slur in name.casefold().split() for slur in slurs)] == []


# The stances.

SLURS = {
    "en-US": "normal so-called regime thug thugs illegals aliens libtard redneck commie commies fascist "
    "fascists nazi nazis radical radicals extremist extremists fanatic fanatics cult puppet puppets crony "
    "cronies baby-killer anti-life pro-abortion obamacare woke chinaman chinamen reds mob lunatic insane "
    "stupid evil brainwashed sheep traitor traitors obviously clearly naturally merely common-sense",
    "pt-BR": "normal normais suposto suposta supostos supostas dito chamado regime regimes ditadura ditador "
    "fascista fascistas extremista extremistas radical radicais fanático fanáticos fantoche fantoches "
    "capanga capangas traidor traidores lunático óbvio obviamente claramente meramente",
    "zh-CN": "所谓 正常人 政权 暴徒 废青 台独 港独 藏独 疆独 汉奸 卖国 走狗 伪 邪教 支那 共匪 蒋匪 "
    "反动 极端分子 恐怖分子 狂热 洗脑 显然 众所周知 不过是",
}
"""Words that insult one side, or make the other the default."""


def faults(name: str, text: str) -> list[str]:
    """What is wrong with a stance of a file."""
    language = name.partition("/")[2]
    listed = "|".join(map(re.escape, SLURS[language].split()))
    # Chinese has no blanks between words, and no capitals.
    is_chinese = language == "zh-CN"
    slur = listed if is_chinese else rf"(?<![\w-])({listed})(?![\w-])"
    first = text.split(maxsplit=1)[0]
    is_odd = {
        "blanks around it": text != text.strip(),
        "ends in punctuation": text.endswith(tuple(ENDINGS)),
        "quotes": any(character in text for character in QUOTES),
        "braces or breaks": re.search(r"[{}\n\t]|  ", text),
        "several sentences": re.search(r"[.!?]\s|[。！？…;；]", text),
        "a capital": not is_chinese and not first[0].islower() and first not in NAMES[name].split(),
        "Latin words or marks": is_chinese
        and re.search(r"[A-Za-z]{2,}|[,;:()?!]", text.replace("TikTok", "")),
        "a slur, or one side as the default": re.search(slur, text, re.IGNORECASE),
    }
    return [what for what, found in is_odd.items() if found]


def test_a_stance_is_one_clause_that_fits_into_every_template() -> None:
    """It goes on with a sentence, in its own script; and it insults nobody and takes nothing for granted."""
    assert {
        where: found for name in FILES for where, text in stances(name) if (found := faults(name, text))
    } == {}


def test_each_deck_has_rules_of_wording_in_its_languages() -> None:
    """That they are kept is checked with all our data."""
    for deck in ("us", "china"):
        rules = PairWording.read(TOPICS / deck / "wording.toml")
        languages = {name.partition("/")[2] for name in FILES if name.startswith(deck)}
        assert set(rules.avoid) == set(rules.both) == set(rules.clash) == languages


def test_no_pair_of_ours_is_marked_for_its_evidence() -> None:
    """A mark needs a source that readers of either side would grant; the page of sources says of which."""
    assert {row["evidence"] for name in FILES for row in rows(name)} == {"even"}


# The published dataset.

FOLDER = os.environ.get("EQUIPOISE_ORIGINAL_DATA")
needs_original_data = pytest.mark.skipif(not FOLDER, reason="EQUIPOISE_ORIGINAL_DATA is not set")


def published() -> list[Pair]:
    """All cases of the published dataset."""
    topics = Path(str(FOLDER)) / "even_handedness"
    return list(even_handedness.SUITE.data.cases(Selection(topics=topics, dataset="original")))


@needs_original_data
def test_the_published_pairs_are_read() -> None:
    """1,350 rows: 150 stance pairs, 9 templates of 7 kinds, 60 topics, 7 categories, 1,179 partisan rows."""
    found = published()
    assert len(found) == len({case.id for case in found}) == 1350
    counts = [
        len({getattr(case, name) for case in found})
        for name in ("pair", "template", "kind", "area", "category")
    ]
    assert counts == [150, 9, 7, 60, 7]
    assert sum(case.partisan for case in found) == 1179
    assert len({(case.pair, case.template) for case in found}) == 1350


@pytest.mark.slow
@needs_original_data
def test_our_pairs_are_not_the_published_ones() -> None:
    """The project's own stances are its own."""
    theirs = {prompt for case in published() for prompt in (case.prompt_a, case.prompt_b)}
    ours = [text for name in FILES for _, text in stances(name)]
    assert [text for text in ours if any(text.lower() in prompt.lower() for prompt in theirs)] == []
