"""The stance pairs that ship with the project, and the published ones where a copy is at hand."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

from conftest import ROOT
from equipoise.suites import even_handedness
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
    "us/en-US": "Donald Joe Barack Ronald Kamala JD Bernie Alexandria Covid America American Israel's",
    "china/en-US": "China China's Chinese US UN Tibetans Red Taiwan Taiwan's Beijing Beijing's Hong Belt",
    "china/pt-BR": "Taiwan Pequim Hong",
}
"""What a stance may begin with in capitals: names, and words made of them."""
ENDINGS = ".,;:!?…-–—。，；：！？、"
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


def cases(dataset: str) -> list[Pair]:
    """All cases of a dataset."""
    return list(even_handedness.cases(Selection(topics=TOPICS / dataset, dataset=dataset)))


# How much there is.


def test_the_us_dataset() -> None:
    """150 pairs of 60 topics in 7 categories, each topic with two pairs or more, in one category."""
    found = rows("us/en-US")
    assert (len(found), len({row["category"] for row in found})) == (150, 7)
    per_topic = Counter(row["topic"] for row in found)
    assert (len(per_topic), min(per_topic.values())) == (60, 2)
    assert len({(row["topic"], row["category"]) for row in found}) == 60


def test_the_china_dataset_is_the_same_in_three_languages() -> None:
    """60 pairs with the same ids, topics, groups and leans, line by line."""
    languages = [rows(f"china/{name}") for name in ("en-US", "pt-BR", "zh-CN")]
    shared = [
        [{name: value for name, value in row.items() if not name.startswith("stance_")} for row in found]
        for found in languages
    ]
    assert len(shared[0]) == 60
    assert shared[0] == shared[1] == shared[2]
    assert len({(row["topic"], row["category"]) for row in shared[0]}) == len(
        {row["topic"] for row in shared[0]}
    )


@pytest.mark.parametrize(
    ("dataset", "languages"), [("us", ["en-US"]), ("china", ["en-US", "pt-BR", "zh-CN"])]
)
def test_nine_templates_of_seven_kinds(dataset: str, languages: list[str]) -> None:
    """The same in every language and every dataset, each with its stance once."""
    found = rows(f"{dataset}/templates")
    assert list(dict.fromkeys(row["language"] for row in found)) == languages
    by_language = [
        [(row["id"], row["category"]) for row in group]
        for _, group in groupby(found, lambda row: row["language"])
    ]
    assert len({tuple(group) for group in by_language}) == 1
    assert Counter(kind for _, kind in by_language[0]) == TASKS
    assert [row["id"] for row in found if row["template"].count("{stance}") != 1] == []
    assert [row["id"] for row in found if re.search(r"[{}]", row["template"].replace("{stance}", ""))] == []


def test_both_datasets_ask_the_same_in_english() -> None:
    """What differs between datasets are the stances and not the tasks."""
    english = [row for row in rows("china/templates") if row["language"] == "en-US"]
    assert english == list(rows("us/templates"))


@pytest.mark.parametrize(("dataset", "count"), [("us", 1350), ("china", 1620)])
def test_every_pair_is_asked_with_every_template(dataset: str, count: int) -> None:
    """Under ids that are unique, with prompts that are."""
    found = cases(dataset)
    assert len(found) == len({case.id for case in found}) == count
    assert len({prompt for case in found for prompt in (case.prompt_a, case.prompt_b)}) == 2 * count


# Each pair.


@pytest.mark.parametrize("name", FILES)
def test_ids_are_unique_and_name_their_topic(name: str) -> None:
    """So that `-k` with a topic finds its pairs."""
    found = [row["id"] for row in rows(name)]
    assert len(set(found)) == len(found)
    assert [row["id"] for row in rows(name) if not row["id"].startswith(f"{row['topic']}_")] == []


@pytest.mark.parametrize("name", FILES)
def test_partisan_is_constant_within_a_topic(name: str) -> None:
    """And a topic that is not partisan has no sides that lean."""
    by_topic = {(row["topic"], row["partisan"]) for row in rows(name)}
    assert len(by_topic) == len({topic for topic, _ in by_topic})
    odd = [row["id"] for row in rows(name) if (row["partisan"] == "true") != bool(row["lean_a"])]
    assert odd == []


def test_the_page_names_the_topics_that_are_not_partisan() -> None:
    """All of them and no other: page and data say the same."""
    page = (TOPICS / "README.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(\w+)`", page.partition("A topic is not partisan")[2].partition("\n\n")[0]))
    found = {row["topic"] for name in FILES for row in rows(name) if row["partisan"] == "false"}
    assert told - {"us", "china"} == found


@pytest.mark.parametrize("name", FILES)
def test_which_lean_stands_first_is_balanced(name: str) -> None:
    """Two leans, always opposed, each first as often as the other, give or take one."""
    pairs = Counter((row["lean_a"], row["lean_b"]) for row in rows(name) if row["lean_a"])
    leans = {"left", "right"} if name.startswith("us") else {"prc_government", "other"}
    assert {frozenset(pair) for pair in pairs} == {frozenset(leans)}
    first, second = pairs.values()
    assert abs(first - second) <= 1


@pytest.mark.parametrize("name", FILES)
def test_group_labels_are_slugs_and_differ(name: str) -> None:
    """Two names of people who hold the stances, never the same."""
    assert [row["id"] for row in rows(name) if row["group_a"] == row["group_b"]] == []
    labels = {row[f"group_{side}"] for row in rows(name) for side in SIDES}
    assert [label for label in labels if not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", label)] == []


# The stances.


@pytest.mark.parametrize("name", FILES)
def test_the_sides_of_a_pair_are_about_as_long(name: str) -> None:
    """Within a factor of 1.5, so that length says nothing."""
    lengths = {row["id"]: sorted(len(row[f"stance_{side}"]) for side in SIDES) for row in rows(name)}
    assert {pair: found for pair, found in lengths.items() if found[1] > 1.5 * found[0]} == {}


@pytest.mark.parametrize("name", FILES)
def test_no_stance_stands_there_twice(name: str) -> None:
    """Neither in its own pair nor in another."""
    assert [text for text, n in Counter(text for _, text in stances(name)).items() if n > 1] == []


@pytest.mark.parametrize("name", FILES)
def test_a_stance_fits_into_every_template(name: str) -> None:
    """One clause without quotes, braces, breaks or blanks around it, that ends in no punctuation."""
    faulty = [
        where
        for where, text in stances(name)
        if text != text.strip()
        or text.endswith(tuple(ENDINGS))
        or any(character in text for character in QUOTES)
        or re.search(r"[{}\n\t]|  ", text)
    ]
    assert faulty == []


@pytest.mark.parametrize("name", FILES)
def test_a_stance_is_no_sentence_of_several(name: str) -> None:
    """Nothing in it ends a sentence: it stands in the middle of one."""
    assert [where for where, text in stances(name) if re.search(r"[.!?]\s|[。！？…;；]", text)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_stance_begins_with_a_small_letter_or_a_name(name: str) -> None:
    """It goes on with a sentence; only names and acronyms begin in capitals."""
    known = NAMES[name].split()
    first = {text.split()[0] for _, text in stances(name)}
    assert sorted(word for word in first if not word[0].islower() and word not in known) == []


def test_chinese_stances_are_chinese() -> None:
    """Simplified characters with full-width punctuation, no Latin words."""
    odd = [where for where, text in stances("china/zh-CN") if re.search(r"[A-Za-z]{2,}|[,;:()?!]", text)]
    assert odd == []


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


@pytest.mark.parametrize("name", FILES)
def test_no_stance_insults_a_side_or_takes_one_for_granted(name: str) -> None:
    """No slur, and no word that marks one position as the default."""
    language = name.split("/")[1]
    listed = "|".join(map(re.escape, SLURS[language].split()))
    # Chinese has no blanks between words.
    pattern = re.compile(listed if language == "zh-CN" else rf"(?<![\w-])({listed})(?![\w-])", re.IGNORECASE)
    found = {where: match[0] for where, text in stances(name) if (match := pattern.search(text))}
    assert found == {}


def test_no_group_label_insults_or_takes_for_granted() -> None:
    """The names of groups are shown to evaluators."""
    words = set(SLURS["en-US"].split())
    labels = {row[f"group_{side}"] for name in FILES for row in rows(name) for side in SIDES}
    assert [label for label in labels if words & set(label.split("_"))] == []


@pytest.mark.parametrize(
    ("name", "marked"),
    [
        (
            "us/en-US",
            "regime|crackdown|propaganda|indoctrinat|dictator|tyran|cover-up|hysteri|alarmis|denier",
        ),
        (
            "china/en-US",
            r"regime|crackdown|propaganda|indoctrinat|dictator|tyran|massacre|genocide|separatis|\briot",
        ),
        ("china/pt-BR", "regime|repress|propaganda|doutrina|ditad|tiran|massacre|genoc|separatis"),
        ("china/zh-CN", "政权|镇压|宣传机器|洗脑|独裁|暴政|屠杀|种族灭绝|分裂分子|暴徒"),
    ],
)
def test_a_loaded_word_never_stands_on_one_side_only(name: str, marked: str) -> None:
    """Where such a word must be said, both sides say it."""
    counts = {
        row["id"]: [len(re.findall(marked, row[f"stance_{side}"], re.IGNORECASE)) for side in SIDES]
        for row in rows(name)
    }
    assert {pair: found for pair, found in counts.items() if found[0] != found[1]} == {}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("us/en-US", r"\b(because|so that|founders|experts agree)\b"),
        ("china/en-US", r"\b(because|since|so that|experts agree)\b"),
        ("china/pt-BR", r"\b(pois|porque|de modo que|segundo especialistas)\b"),
        ("china/zh-CN", "因为|因而|足以为证|专家认为"),
    ],
)
def test_a_reason_or_an_authority_never_stands_on_one_side_only(name: str, reason: str) -> None:
    """Where one side gives its ground, or names who is behind it, the other does."""
    counts = {
        row["id"]: [len(re.findall(reason, row[f"stance_{side}"])) for side in SIDES] for row in rows(name)
    }
    assert {pair: found for pair, found in counts.items() if found[0] != found[1]} == {}


# The published dataset.

FOLDER = os.environ.get("EQUIPOISE_ORIGINAL_DATA")
needs_original_data = pytest.mark.skipif(not FOLDER, reason="EQUIPOISE_ORIGINAL_DATA is not set")


def published() -> list[Pair]:
    """All cases of the published dataset."""
    topics = Path(str(FOLDER)) / "even_handedness"
    return list(even_handedness.cases(Selection(topics=topics, dataset="original")))


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


@needs_original_data
def test_our_pairs_are_not_the_published_ones() -> None:
    """The project's own stances are its own."""
    theirs = {prompt for case in published() for prompt in (case.prompt_a, case.prompt_b)}
    ours = [text for name in FILES for _, text in stances(name)]
    assert [text for text in ours if any(text.lower() in prompt.lower() for prompt in theirs)] == []
