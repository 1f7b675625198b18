"""Whole sessions of chinese_simpleqa: examples that are continued, and passages that come with questions."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import Bench
from loopback import JUDGE, is_judge

TWO = ("-n", "2")
FILE = ("tests_benchmark/test_chinese_simpleqa.py", "-k", "tcm")
"""Two questions, tcm_1 and tcm_2."""
TEXT = "1929年2月，《废止旧医以扫除医事卫生之障碍案》的提案人是余云岫。"
"""What answers the first one."""


def script(body: dict[str, Any], number: int) -> str:
    """The answer to the first question; it is graded as right there alone."""
    if not is_judge(body):
        return "余云岫"
    return "A" if "1929年2月" in json.dumps(body["messages"], ensure_ascii=False) else "B"


@pytest.fixture
def simple(bench: Bench) -> Bench:
    """A project with our own questions."""
    bench.use_real_topics()
    bench.server.script = script
    return bench


@pytest.fixture
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a text, outside the project."""
    folder = tmp_path_factory.mktemp("private_place") / "encyclopaedia"
    folder.mkdir()
    (folder / "tea.txt").write_text(f"{TEXT}\n", encoding="utf-8")
    return folder


def runs(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The run of each question."""
    rows = [row for part in data["results"].values() for row in part["questions"]]
    return {row["cluster"]: row["runs"][0] for row in rows}


def test_examples_are_continued(simple: Bench) -> None:
    """By the endpoint for plain completions, to the end of the line; evaluators judge as ever."""
    simple.server.continuation = lambda body: "余云岫"
    simple.run(*FILE, "--prompt-style", "few_shot", status=0)
    assert (len(simple.server.texts), simple.server.count(judge=False)) == (2, 0)
    assert all(body["prompt"].endswith("？\n答案：") for body in simple.server.texts)
    assert {(tuple(body["stop"]), body["max_tokens"]) for body in simple.server.texts} == {(("\n",), 64)}
    grades = {item: run["details"]["grade"] for item, run in runs(simple.results("chinese_simpleqa")).items()}
    assert grades == {"tcm_1": "A", "tcm_2": "B"}


@pytest.mark.slow
def test_passages_come_from_a_folder_that_nobody_learns_of(simple: Bench, corpus: Path) -> None:
    """They are in the transcript; the results name the corpus by its name and digest, and no path."""
    simple.run("--retrieval", str(corpus), *FILE, status=0)
    data = simple.results("chinese_simpleqa")
    retrieval = data["metadata"]["retrieval"]
    assert (set(retrieval), retrieval["name"], len(retrieval["sha256"])) == (
        {"name", "sha256"},
        "encyclopaedia",
        64,
    )
    first = runs(data)["tcm_1"]
    assert first["details"]["passages"] == ["tea.txt#1"]
    assert f"[1] {TEXT}" in "".join(message["content"] for message in first["subject_transcript"])
    for path in (simple.folder / "results").iterdir():
        content = path.read_text(encoding="utf-8")
        assert "private_place" not in content, path.name
        assert str(simple.folder) not in content, path.name


@pytest.mark.slow
def test_a_users_own_function_finds_passages(simple: Bench) -> None:
    """It is named in the metadata, and what it gave is what is shown."""
    code = "async def find(question, count):\n    return [{'id': 'mine', 'text': f'{count}: {question}'}]\n"
    (simple.folder / "my_search.py").write_text(code, encoding="utf-8")
    simple.run(*FILE, "--retrieval=topics", "--retriever", "my_search:find", "--limit", "1", status=0)
    data = simple.results("chinese_simpleqa")
    assert data["metadata"]["retriever"] == "my_search:find"
    assert [run["details"]["passages"] for run in runs(data).values()] == [["mine"]]
    assert "[1] 3: " in simple.server.requests[0]["messages"][-1]["content"]


def judged_anew(bench: Bench, *options: str, status: int) -> subprocess.CompletedProcess[str]:
    """A session that is told of no subject."""
    endpoint = ("--api-base-url", bench.server.url, "--evaluator-model", JUDGE)
    return bench.run_plain(FILE[0], *endpoint, *options, status=status)


@pytest.mark.slow
def test_replies_to_passages_are_judged_anew(simple: Bench, corpus: Path) -> None:
    """With the same corpus, named again, the subject is asked nothing; another or none is refused by name."""
    simple.run(*FILE, f"--retrieval={corpus}", "--output=first.json", status=0)
    first = simple.folder / "first.json"
    before = simple.server.count(judge=False)
    judged_anew(simple, *TWO, f"--rejudge={first}", f"--retrieval={corpus}", "--output=again.json", status=0)
    assert simple.server.count(judge=False) == before
    for path in (first, simple.folder / "again.json"):
        assert json.loads(path.read_bytes())["summary"]["metrics"]["correct"]["value"] == 50
    refused = judged_anew(simple, f"--rejudge={first}", status=4)
    assert "--retrieval: the earlier results were made with encyclopaedia; use the same" in refused.stderr
    (corpus / "b.txt").write_text("还有一段。", encoding="utf-8")
    judged_anew(simple, f"--rejudge={first}", f"--retrieval={corpus}", status=4)
