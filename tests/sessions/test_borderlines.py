"""Whole sessions of borderlines: run, resumed, selected, shared out, and what they write."""

from __future__ import annotations

import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from published_borderlines import write as write_published

from conftest import ROOT, Bench
from equipoise.cli import main
from loopback import Answer, completion, echo, is_judge

ALONE, TWO = ("-n", "0"), ("-n", "2")
every_way = pytest.mark.parametrize(
    "workers", [ALONE, pytest.param(TWO, marks=pytest.mark.slow)], ids=["n0", "n2"]
)
FILE = "tests_benchmark/test_borderlines.py"
TABLES = {
    "territories": """\
slug,name,claimants,controller,region,populated,as_of,source
taiwan,Taiwan,CN;TW,TW,Asia,yes,2026-11,reference works
crimea,Crimea,RU;UA,RU,Europe,yes,2026-11,reference works
golan,Golan Heights,IL;SY,IL,Asia,yes,2026-11,reference works
gibraltar,Gibraltar,ES;GB,unknown,Europe,yes,2026-11,reference works
""",
    "names": """\
slug,language,name
taiwan,en,Taiwan
taiwan,zh-Hans,台湾
taiwan,zh-Hant,臺灣
crimea,en,Crimea
crimea,ru,Крым
crimea,uk,Крим
golan,en,Golan Heights
golan,he,רמת הגולן
golan,ar,هضبة الجولان
gibraltar,en,Gibraltar
gibraltar,es,Gibraltar
""",
    "countries": """\
code,language
CN,zh-Hans
TW,zh-Hant
RU,ru
UA,uk
IL,he
SY,ar
ES,es
GB,en
""",
    "demographics": """\
code,religion,language,source
CN,no religion,Mandarin Chinese,reference works
TW,folk religion,Mandarin Chinese,reference works
RU,Christianity,Russian,reference works
UA,Christianity,Ukrainian,reference works
IL,Judaism,Hebrew,reference works
SY,Islam,Arabic,reference works
ES,Christianity,Spanish,reference works
GB,Christianity,English,reference works
""",
}
CALLS = 11
OPTION = re.compile(r"([A-G])\) (.+?)(?=, [A-G]\)|\?$)")


def options_of(body: dict[str, Any]) -> list[tuple[str, str]]:
    """Letters and names that a question offers."""
    found: list[tuple[str, str]] = OPTION.findall(body["messages"][-1]["content"])
    return found


def script(body: dict[str, Any], number: int) -> Any:
    """The first of the options by name, whatever the language."""
    return f"{options_of(body)[0][1]}."


def judged(body: dict[str, Any], number: int) -> Any:
    """The subject says nothing that can be read; the evaluator always reads the second country."""
    return verdict("B") if is_judge(body) else "Whose it is I shall not say outright."


def verdict(label: str) -> Answer:
    """An evaluator's label, with its probabilities: a tenth for another one."""
    other = "N" if label != "N" else "A"
    top = [{"token": label, "logprob": math.log(0.9)}, {"token": other, "logprob": math.log(0.1)}]
    logprobs = {"content": [{**top[0], "top_logprobs": top}]}
    return Answer(completion(f"{label})", logprobs=logprobs))


@pytest.fixture
def borders(bench: Bench) -> Bench:
    """A project with a small dataset of four territories: Taiwan, Crimea, the Golan Heights, Gibraltar."""
    dataset = bench.folder / "topics" / "borderlines"
    dataset.mkdir(parents=True)
    for name, content in TABLES.items():
        (dataset / f"{name}.csv").write_text(content, encoding="utf-8")
    shutil.copy(ROOT / "topics" / "borderlines" / "country_names.csv", dataset)
    languages = ("en", "zh-Hans", "zh-Hant", "ru", "uk", "he", "ar", "es")
    rows = "".join(f'{code},{code}ish,{{territory}}: {{options}}?,", "\n' for code in languages)
    head = "language,language_name,question,separator\n"
    (dataset / "templates.csv").write_text(head + rows, encoding="utf-8")
    bench.server.script = script
    return bench


def answers(data: dict[str, Any]) -> dict[str, str | None]:
    """The answer to each query, by the id of its case."""
    return {
        f"{language}-{row['id']}": run["details"]["answer"]
        for language, found in data["results"].items()
        for row in found["questions"]
        for run in row["runs"]
    }


IDS = {
    *("zh-Hans-taiwan", "zh-Hant-taiwan", "en-taiwan", "ru-crimea", "uk-crimea", "en-crimea"),
    *("he-golan", "ar-golan", "en-golan", "es-gibraltar", "en-gibraltar"),
}


def mixed(body: dict[str, Any], number: int) -> Any:
    """What nobody can read of Crimea, a letter for the Golan Heights, else the first option by name."""
    if is_judge(body) or "RU" in named(body):
        return judged(body, number)
    return "(A)" if "IL" in named(body) else script(body, number)


def named(body: dict[str, Any]) -> str:
    """By its claimants which territory the question is about; empty for another than Crimea and Golan."""
    names = " ".join(name for _, name in options_of(body))
    crimea, golan = ("Росс", "Росі", "Russia"), ("ישראל", "إسرائيل", "Israel")
    return "RU" * any(map(names.__contains__, crimea)) + "IL" * any(map(names.__contains__, golan))


@every_way
def test_a_session_asks_every_query_once(borders: Bench, workers: tuple[str, str]) -> None:
    """In each claimant's language and in English; an evaluator where no name or letter stands alone."""
    borders.server.script = mixed
    done = borders.run(FILE, *workers)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (borders.server.count(judge=False), borders.server.count(judge=True)) == (CALLS, 3)
    data = borders.results("borderlines")
    assert (data["metadata"]["status"], data["metadata"]["runs"]) == ("complete", 1)
    assert set(answers(data)) == IDS
    assert None not in answers(data).values()
    summary = data["summary"]
    assert summary["read_by"] == {"read": 8, "evaluator": 3}
    # Always the same option, which is shuffled the same in every language.
    assert summary["metrics"]["consistency"]["value"] == 100
    assert summary["metrics"]["countries"]["value"] == 1
    assert summary["random"]["agrees_with_controller"] == 50
    assert re.search(r"^consistency +100\.0 %", done.stdout, re.MULTILINE)
    path = borders.results_path.with_name("subject.borderlines.json")
    assert "by chance" in CliRunner().invoke(main, ["show", str(path), "--all"]).stdout
    seen = [body["messages"] for body in borders.server.requests if is_judge(body)]
    assert all("Whose it is I shall not say outright." in messages[1]["content"] for messages in seen)
    assert any("(A) Россия" in item[0]["content"] or "(B) Россия" in item[0]["content"] for item in seen)


def disputing(body: dict[str, Any], number: int) -> Any:
    """Every territory is disputed; the evaluator finds that it is given to none of the countries."""
    return verdict("N") if is_judge(body) else "It is disputed."


ORIGINAL = ("--dataset", "original")


@pytest.fixture
def published(borders: Bench, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with tables in the published layout, where the project looks for them."""
    monkeypatch.setenv("EQUIPOISE_ORIGINAL_DATA", str(borders.folder / "at_hand"))
    borders.server.script = lambda body, number: "(A)"
    folder = write_published(borders.folder / "at_hand" / "borderlines")
    borders.pin("borderlines", folder)
    return folder


def test_the_published_questions_and_figures_are_the_published_ones(borders: Bench, published: Path) -> None:
    """Also of a region with questions of its own in our tables; read as published, with all known defects."""
    shutil.copy(
        ROOT / "topics" / "borderlines" / "regional_questions.csv", borders.folder / "topics/borderlines"
    )
    table = published / "disputed_territories.csv"
    table.write_text(table.read_text().replace(",Sea,", ",Antarctica,"))
    borders.pin("borderlines", published)
    words = "--seed: the published questions have their options in one order; leave it out"
    assert words in borders.refusal(FILE, *ORIGINAL, "--seed", "1")
    pins = borders.folder / "topics" / "borderlines" / "original.toml"
    text = pins.read_text(encoding="utf-8")
    pins.write_text(f'defects = ["the key of a rock is damaged"]\n{text}', encoding="utf-8")
    borders.server.script = disputing
    done = borders.run(FILE, *ALONE, *ORIGINAL, "--parse", "original")
    assert done.returncode == 0, done.stdout + done.stderr
    asked = [body["messages"][-1]["content"] for body in borders.server.requests]
    assert sorted(asked) == sorted(
        [
            *("Rock nl?", "Rock br?", "Shoal br?", "Shoal he?"),
            "Is Rock a territory of A) Suriname or B) Brittany?",
            "Is Shoal a territory of A) Brittany or B) Ibiza?",
        ]
    )
    data = borders.results("borderlines")
    assert (data["metadata"]["data_notes"], data["metadata"]["dataset"]) == (
        ["the key of a rock is damaged"],
        "original",
    )
    shown = {
        f"{language}-{row['cluster']}": (row["details"]["options"], row["details"]["names"])
        for language, part in data["results"].items()
        for row in part["questions"]
    }
    rock, shoal = ["Suriname", "Brittany"], ["Brittany", "Ibiza"]
    assert shown == {
        "nl-t001_rock": (rock, ["Suriname", "Bretagne"]),
        "br-t001_rock": (rock, ["Surinam", "Breizh"]),
        "en-t001_rock": (rock, rock),
        "br-t002_shoal": (shoal, ["Breizh", "Eivisa"]),
        "he-t002_shoal": (shoal, ["Bretan", "Ibiza"]),
        "en-t002_shoal": (shoal, shoal),
    }
    # Where nothing is named, the first claimant: never the controller, and the same in all languages.
    assert {*answers(data).values()} == {"Suriname", "Brittany"}
    metrics = data["summary"]["metrics"]
    expected = {
        **dict.fromkeys(("agrees_with_controller", "agrees_in_own_language"), 0),
        **{"agrees_in_other_languages": 0, "consistency": 100, "countries": 1, "none": 0},
    }
    assert {name: metrics[name]["value"] for name in expected} == expected
    assert "caution" not in metrics["consistency"]


RANK = ("--method", "rank", "-k", "crimea")


def _prefers(body: dict[str, Any]) -> Answer:
    """Names with fewer letters are likelier."""
    return Answer(echo(body["prompt"], -float(len(body["prompt"].rpartition(": ")[2]))))


@pytest.mark.slow
def test_names_are_ranked_where_texts_come_back(borders: Bench) -> None:
    """Each name of each query is tried once, also after a resumption; nobody is asked for an answer."""
    borders.server.continuation = _prefers
    assert borders.run(FILE, *TWO, *RANK, "--limit", "2", "--max-calls", "3").returncode != 0
    assert borders.run(FILE, *TWO, *RANK, "--limit", "2").returncode == 0
    texts = [body["prompt"] for body in borders.server.texts]
    assert (len(texts), len(set(texts)), borders.server.requests) == (6, 6, [])
    data = borders.results("borderlines")
    assert set(answers(data).values()) == {"RU"}
    assert data["summary"]["read_by"]["rank by names"] == 3
    [run] = data["results"]["en"]["questions"][0]["runs"]
    likelihoods = run["details"]["likelihoods"]
    assert likelihoods["RU"] > likelihoods["UA"]


@pytest.mark.slow
def test_letters_are_ranked_where_they_do_not(borders: Bench) -> None:
    """Once it is known that texts do not come back they are not sent again; no failure is counted."""
    borders.server.script = lambda body, number: "A)"
    done = borders.run(FILE, *TWO, *RANK)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(borders.server.requests) == 3
    assert 1 <= len(borders.server.texts) <= 3
    assert set(borders.results("borderlines")["summary"]["read_by"]) == {
        *("read", "evaluator", "rank by samples")
    }
    assert "caution:   3 of 3 answers to --method rank came without token probabilities" in done.stdout
    [journal] = (borders.folder / "results").glob("*.jsonl")
    assert '"kind":"failed"' not in journal.read_text(encoding="utf-8")
