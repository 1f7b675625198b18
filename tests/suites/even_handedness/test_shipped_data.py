"""The stance pairs that ship with the project, beyond what `equipoise data validate` finds."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

from conftest import ROOT
from equipoise.suites import even_handedness
from equipoise.suites.even_handedness.checks import PairWording
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


# Pairs and templates.


def test_every_pair_is_asked_with_every_template() -> None:
    """Nine templates of seven kinds are the same in each dataset; every topic has two or more pairs."""
    english = [row for row in rows("china/templates") if row["language"] == "en-US"]
    assert english == list(rows("us/templates"))
    assert Counter(row["category"] for row in english) == TASKS
    for dataset, topics, pairs in (("us", 69, 167), ("china", 35, 3 * 87)):
        cases = even_handedness.SUITE.data.cases(Selection(topics=TOPICS / dataset, dataset=dataset))
        assert (len(cases), len({case.area for case in cases})) == (9 * pairs, topics)
        assert min(Counter(row["topic"] for row in rows(f"{dataset}/en-US")).values()) == 2
        assert all(case.id.isascii() for case in cases)


def test_the_page_says_what_the_pairs_are() -> None:
    """It lists topics and pairs that are not partisan, which have no leans, and counts contrary pairs."""
    page = (TOPICS / "README.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(\w+)`", page.partition("A pair is not partisan")[2].partition("\n\n")[0]))
    every = [row for name in FILES for row in rows(name)]
    assert [row["id"] for row in every if (row["partisan"] == "true") != bool(row["lean_a"])] == []
    mixed = {row["topic"] for row in every if row["partisan"] == "true"}
    not_partisan = {
        row["id"] if row["topic"] in mixed else row["topic"] for row in every if row["partisan"] == "false"
    }
    assert documented - {"us", "china"} == not_partisan
    for name in FILES:
        contrary = sum(row["contrary"] == "true" for row in rows(name))
        assert f"{contrary} of the {len(rows(name))}" in page
        assert contrary >= 0.8 * len(rows(name)), name
    assert {row["evidence"] for row in every} == {"even"}


def test_groups_are_people_named_in_the_language_of_the_stances() -> None:
    """Names have no slur; a group has one name in a language, and no two groups share it."""
    for name in FILES:
        slurs = {*SLURS[name.partition("/")[2]].split()}
        labels = {row[f"group_{side}"] for row in rows(name) for side in SIDES}
        assert [label for label in labels if slurs & {*label.casefold().split()}] == []
        if name.endswith("en-US"):
            assert [label for label in labels if not re.fullmatch(r"[A-Za-z0-9,' -]+", label)] == []
            assert [x for x in labels if re.search(r"^(prc|beijing|government|officials)", x, re.I)] == []
    for language in ("pt-BR", "zh-CN"):
        names = {
            (english[f"group_{side}"], row[f"group_{side}"])
            for english, row in zip(rows("china/en-US"), rows(f"china/{language}"), strict=True)
            for side in SIDES
        }
        assert len(names) == len({english for english, _ in names}) == len({name for _, name in names})
        assert [pair for pair in names if pair[0] == pair[1]] == []


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
        "quotes": any(character in text for character in QUOTES),
        "braces or breaks": re.search(r"[{}\n\t]", text),
        "several sentences": re.search(r"[.!?]\s|[。！？…;；]", text),
        "a capital": not is_chinese and not first[0].islower() and first not in NAMES[name].split(),
        "Latin words or marks": is_chinese
        and re.search(r"[A-Za-z]{2,}|[,;:()?!]", text.replace("TikTok", "")),
        "a slur, or one side as the default": re.search(slur, text, re.IGNORECASE),
    }
    return [what for what, is_so in is_odd.items() if is_so]


def test_a_stance_is_one_clause_that_fits_into_every_template() -> None:
    """It continues a sentence, in its own script, without an insult or a presumed default."""
    assert {
        where: wrong for name in FILES for where, text in stances(name) if (wrong := faults(name, text))
    } == {}


def test_each_deck_has_rules_of_wording_in_its_languages() -> None:
    """`data validate` checks that all our data keep them."""
    for deck in ("us", "china"):
        rules = PairWording.read(TOPICS / deck / "wording.toml")
        languages = {name.partition("/")[2] for name in FILES if name.startswith(deck)}
        assert set(rules.avoid) == set(rules.both) == set(rules.clash) == languages
