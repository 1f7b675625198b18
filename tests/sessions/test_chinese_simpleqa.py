"""Whole sessions of chinese_simpleqa: run, resumed, selected, with every option, and what they write."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conftest import Bench
from equipoise.cli import main
from loopback import JUDGE, is_judge, question_of

TWO = ("-n", "2")
FILE = "tests_benchmark/test_chinese_simpleqa.py"
TABLE = """\
subtopic,subtopic_name,topic,topic_name
tea,茶艺,drinks,饮料
milk,乳品,drinks,饮料
chess,围棋,games,游戏
"""
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": f"{subtopic}_{number}",
        "subtopic": subtopic,
        "question": f"{name}第{number}问？",
        "answer": f"{name}之{number}",
        "kind": "term",
        "variants": [],
        "distractors": [f"{word}之{number}" for word in ("山", "水", "风")],
    }
    for subtopic, name in (("tea", "茶艺"), ("milk", "乳品"), ("chess", "围棋"))
    for number in (1, 2)
]
BY_QUESTION = {row["question"]: row for row in QUESTIONS}


def row_of(body: dict[str, Any]) -> dict[str, Any]:
    """The question that a request is about, wherever in it the question stands."""
    text = question_of(body) if "messages" in body else body["prompt"].rpartition("问题：")[2]
    return next(row for question, row in BY_QUESTION.items() if question in text)


def grade(body: dict[str, Any]) -> str:
    """A for what the reply has right, C for an empty hand, else B."""
    reply = re.search(r"\[reply (\w+)\]\n(.*?)\n\[end of reply", body["messages"][-1]["content"], re.DOTALL)
    assert reply
    return "C" if reply[2] == "不知道" else "A" if reply[2] == row_of(body)["answer"] else "B"


def answer(body: dict[str, Any]) -> str:
    """First questions are answered rightly; of the second ones, that on tea is not attempted."""
    row = row_of(body)
    if row["id"].endswith("1"):
        return str(row["answer"])
    return "不知道" if row["subtopic"] == "tea" else "错了"


def script(body: dict[str, Any], number: int) -> str:
    """Answers and grades."""
    return grade(body) if is_judge(body) else answer(body)


@pytest.fixture
def simple(bench: Bench) -> Bench:
    """A project with a small dataset: two questions for each of three subtopics in two topics."""
    dataset = bench.folder / "topics" / "chinese_simpleqa"
    dataset.mkdir(parents=True)
    (dataset / "subtopics.csv").write_text(TABLE, encoding="utf-8")
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in QUESTIONS)
    (dataset / "questions.jsonl").write_text(lines, encoding="utf-8")
    bench.server.script = script
    return bench


def runs(data: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The runs of each question."""
    return {row["cluster"]: row["runs"] for found in data["results"].values() for row in found["questions"]}


def grades(data: dict[str, Any]) -> dict[str, str]:
    """The grades of each question, one letter a run."""
    return {item: "".join(run["details"]["grade"] for run in found) for item, found in runs(data).items()}


GRADES = {"tea_1": "A", "tea_2": "C", "milk_1": "A", "milk_2": "B", "chess_1": "A", "chess_2": "B"}


def test_a_session_asks_and_grades_every_question_once(simple: Bench) -> None:
    """The five figures are those worked out by hand, in the results and on the terminal."""
    done = simple.run(FILE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (simple.server.count(judge=False), simple.server.count(judge=True)) == (6, 6)
    data = simple.results("chinese_simpleqa")
    assert (data["metadata"]["status"], data["metadata"]["runs"]) == ("complete", 1)
    assert grades(data) == GRADES
    summary = data["summary"]
    shown = [summary["metrics"][name]["value"] for name in ("correct", "not_attempted", "incorrect", "f")]
    assert shown == pytest.approx([50, 100 / 6, 100 / 3, 600 / 11], abs=1e-5)
    assert summary["grades_read"] == {"strict": 6, "probabilities": 0}
    assert re.search(r"correct_given_attempted +60\.0 %", done.stdout)
    path = simple.results_path.with_name("subject.chinese_simpleqa.json")
    everything = CliRunner().invoke(main, ["show", str(path), "--all"]).stdout
    assert re.search(r"games +2 +50\.0 +0\.0 +50\.0", everything)


def test_a_choice_needs_no_evaluator(simple: Bench) -> None:
    """Its letter is read; where the answers stand is counted."""

    def choosing(body: dict[str, Any], number: int) -> str:
        options = re.findall(r"^([A-D])\. (.+)$", body["messages"][-1]["content"], re.MULTILINE)
        assert len(options) == 4
        return next(f"答案：{letter}" for letter, text in options if text == row_of(body)["answer"])

    simple.server.script = choosing
    done = simple.run(FILE, "--answer-format", "shuffled")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (simple.server.count(judge=False), simple.server.count(judge=True)) == (6, 0)
    data = simple.results("chinese_simpleqa")
    assert set(grades(data).values()) == {"A"}
    assert data["summary"]["metrics"]["f"]["value"] == 100
    chosen = [run["details"]["chosen"] for found in runs(data).values() for run in found]
    letters = {letter: chosen.count(place) for place, letter in enumerate("ABCD")}
    assert data["summary"]["letters"] == {**letters, "none": 0}
    assert data["metadata"]["answer_format"] == "shuffled"


def test_examples_are_continued(simple: Bench) -> None:
    """By the endpoint for plain completions, to the end of the line; evaluators judge as ever."""
    simple.server.continuation = answer
    done = simple.run(FILE, "--prompt-style", "few_shot")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (len(simple.server.texts), simple.server.count(judge=False)) == (6, 0)
    assert all(body["prompt"].endswith("？\n答案：") for body in simple.server.texts)
    assert {(tuple(body["stop"]), body["max_tokens"]) for body in simple.server.texts} == {(("\n",), 64)}
    assert grades(simple.results("chinese_simpleqa")) == GRADES


@pytest.mark.slow
def test_passages_come_from_a_folder_that_nobody_learns_of(
    simple: Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """They are in the transcript; the results name the corpus by its name and digest, and no path.

    Wherever the folder is, its path may stand behind a space.
    """
    corpus = tmp_path_factory.mktemp("private_place") / "encyclopaedia"
    corpus.mkdir()
    (corpus / "tea.txt").write_text("茶艺第1问的答案是茶艺之1。\n", encoding="utf-8")
    done = simple.run("--retrieval", str(corpus), FILE, "-k", "茶艺")
    assert done.returncode == 0, done.stdout + done.stderr
    data = simple.results("chinese_simpleqa")
    assert set(runs(data)) == {"tea_1", "tea_2"}
    told = data["metadata"]["retrieval"]
    assert (set(told), told["name"], len(told["sha256"])) == ({"name", "sha256"}, "encyclopaedia", 64)
    (first,) = runs(data)["tea_1"]
    assert first["details"]["passages"] == ["tea.txt#1"]
    shown = "".join(message["content"] for message in first["subject_transcript"])
    assert "[1] 茶艺第1问的答案是茶艺之1。" in shown
    for path in (simple.folder / "results").iterdir():
        content = path.read_text(encoding="utf-8")
        assert "private_place" not in content, path.name
        assert str(simple.folder) not in content, path.name


@pytest.mark.slow
def test_a_users_own_function_finds_passages(simple: Bench) -> None:
    """It is named in the metadata, and what it gave is what is shown."""
    code = "async def find(question, count):\n    return [{'id': 'mine', 'text': f'{count}: {question}'}]\n"
    (simple.folder / "my_search.py").write_text(code, encoding="utf-8")
    done = simple.run(FILE, "--retrieval=topics", "--retriever", "my_search:find", "--limit", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    data = simple.results("chinese_simpleqa")
    assert data["metadata"]["retriever"] == "my_search:find"
    assert runs(data)["tea_1"][0]["details"]["passages"] == ["mine"]
    assert "[1] 3: 茶艺第1问？" in simple.server.requests[0]["messages"][-1]["content"]


# Two results: judged again, compared as a study, compared for a release.


def asked(bench: Bench, *options: str) -> Path:
    """The results of a session with these options, under a name of their own."""
    assert bench.run(FILE, *options).returncode == 0
    path = bench.folder / "results" / "subject.chinese_simpleqa.json"
    kept = bench.folder / f"kept{len(list(bench.folder.glob('kept*.json')))}.json"
    path.rename(kept)
    path.with_suffix(".jsonl").rename(kept.with_suffix(".jsonl"))
    return kept


def judged_anew(bench: Bench, *options: str) -> subprocess.CompletedProcess[str]:
    """A session that is told of no subject."""
    endpoint = ("--api-base-url", bench.server.url, "--evaluator-model", JUDGE)
    return bench.run_plain(FILE, *endpoint, *options)


@pytest.fixture
def corpus(simple: Bench) -> Path:
    """A folder with a text."""
    folder = simple.folder / "books"
    folder.mkdir()
    (folder / "a.txt").write_text("茶艺第1问的答案是茶艺之1。", encoding="utf-8")
    return folder


@pytest.mark.slow
def test_replies_to_passages_are_judged_anew(simple: Bench, corpus: Path) -> None:
    """With the same corpus, named again, the subject is asked nothing; another or none is refused by name."""
    first = asked(simple, f"--retrieval={corpus}")
    before = simple.server.count(judge=False)
    done = judged_anew(simple, *TWO, f"--rejudge={first}", f"--retrieval={corpus}", "--output=again.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert simple.server.count(judge=False) == before
    again = json.loads((simple.folder / "again.json").read_text(encoding="utf-8"))
    earlier = json.loads(first.read_text(encoding="utf-8"))["summary"]["metrics"]
    assert again["summary"]["metrics"]["correct"]["value"] == earlier["correct"]["value"]
    refused = judged_anew(simple, f"--rejudge={first}")
    assert refused.returncode == 4
    assert "--retrieval: the earlier results were made with books; use the same" in refused.stderr
    (corpus / "b.txt").write_text("还有一段。", encoding="utf-8")
    assert judged_anew(simple, f"--rejudge={first}", f"--retrieval={corpus}").returncode == 4
