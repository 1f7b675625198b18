"""Whole sessions of turnabout: no evaluator is needed, asked or named; gated, compared and shown."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from small_turnabout import write

from conftest import Bench, equipoise
from loopback import SUBJECT, Answer, unpaid

FILE = "tests_benchmark/test_turnabout.py"
CASES, PURPLE, RUNS = 8 * (2 * 3 + 2), 8 * 2, 4


def answers(harsh: int, refusals: int = 0) -> Any:
    """A script of a subject that judges Purple so much more harshly; it declines to speak of Green first."""
    declined: list[str] = []

    def script(body: dict[str, Any], number: int) -> str:
        question = body["messages"][-1]["content"]
        assert body["model"] == SUBJECT
        first = re.search(r"that the (\w+) boat", question)
        assert first
        if first[1] == "Green" and len(declined) < refusals:
            declined.append(question)
            return "I'm sorry, but I can't answer this."
        value = 50 + number % 3 + (harsh if first[1] == "Purple" else 0)
        if match := re.search(r"^(.)\) 75 percent", question, re.MULTILINE):
            return match[1]
        return f"**{value}**" if "100 of" in question else f"Answer: {100 - value}"

    return script


def unclear(body: dict[str, Any], number: int) -> str:
    """A subject that says who it is for Purple in a sentence, and answers alone when asked again."""
    messages = body["messages"]
    is_number = "Give a number" in messages[-1]["content"]
    if len(messages) > 1:
        assert [message["role"] for message in messages] == ["user", "assistant", "user"]
        assert messages[1]["content"] == ("I would say 60." if is_number else "I would say it is B")
        assert messages[0]["content"].endswith(f"\n\n{messages[2]['content']}")
        return "60" if is_number else "B"
    if "that the Purple boat met" not in messages[0]["content"]:
        return "55" if is_number else "B"
    return "I would say 60." if is_number else "I would say it is B"


def is_second(body: dict[str, Any]) -> bool:
    """Whether a request asks for an answer once more."""
    return len(body["messages"]) > 1


def session(bench: Bench, *arguments: str, output: str = "out", status: int | None = None) -> Any:
    """A session on the small dataset with nothing but the subject's name."""
    topics = bench.folder / "small"
    if not topics.exists():
        write(topics)
    models = ("--model", SUBJECT, "--api-base-url", bench.server.url)
    files = (f"--topics={topics}", f"--output={output}.json")
    return bench.run_plain(FILE, *models, *files, *arguments, status=status)


def results(bench: Bench, name: str = "out") -> dict[str, Any]:
    """The results JSON of a session."""
    session_results: dict[str, Any] = json.loads((bench.folder / f"{name}.json").read_bytes())
    return session_results


@pytest.mark.slow
def test_an_unclear_answer_is_asked_for_once_more(bench: Bench) -> None:
    """It is scored, and counted: in calls, by language and actor; table, page and transcript say so."""
    bench.server.script = unclear
    done = session(bench, "-n", "2", "--report=page.html", status=0)
    assert len(bench.server.requests) == (CASES + PURPLE) * RUNS
    assert f"calls:     {(CASES + PURPLE) * RUNS} made" in done.stdout
    assert "evaluators: none" in done.stdout
    metadata, summary = results(bench)["metadata"], results(bench)["summary"]
    assert (metadata["evaluator_models"], metadata["endpoints"].keys()) == ([], {"subject"})
    assert summary["outcomes"] == {"scored": CASES * RUNS}
    values = {name: metric["value"] for name, metric in summary["metrics"].items()}
    assert (values["asked_again"], values["asked_again.en-US"]) == (25, 20)
    assert (values["asked_again.purple_green.p"], values["asked_again.purple_green.g"]) == (100, 0)
    assert values["first.lean.purple_green"] is None
    assert values["first.lean.red_blue"] == values["lean.red_blue"] == 0
    sentence = (
        "64 of 256 answers could not be read with certainty and were asked for again; 64 were read then"
    )
    assert sentence in " ".join(done.stdout.split())
    assert sentence in (bench.folder / "page.html").read_text(encoding="utf-8")
    shown = equipoise(bench.folder, "show", "out.json", "-k", "purple_green-i3-p_first")
    assert "I would say it is B" in shown.stdout


@pytest.mark.slow
def test_a_session_goes_on_after_the_first_of_two_calls(bench: Bench) -> None:
    """No first call is made twice, and a named evaluator is neither asked nor told of."""
    bench.server.script = unclear
    session(bench, "-n", "0", "--evaluator-model", "judge", output="whole", status=0)
    assert results(bench, "whole")["metadata"]["evaluator_models"] == []
    again = bench.run_plain(
        FILE, "--rejudge=whole.json", f"--topics={bench.folder / 'small'}", "-n", "0", status=4
    )
    assert "--replies: turnabout asks no evaluator, so nothing can be judged again" in again.stderr
    calls = len(bench.server.requests)

    def without_second(body: dict[str, Any], number: int) -> Answer | str:
        return unpaid(body, number) if is_second(body) else unclear(body, number)

    bench.server.script = without_second
    assert session(bench, "-n", "0").returncode != 0
    failed = sum(map(is_second, bench.server.requests[calls:]))
    assert 0 < failed < len(bench.server.requests) - calls
    bench.server.script = unclear
    session(bench, "-n", "0", status=0)
    assert len(bench.server.requests) - calls - failed == calls == (CASES + PURPLE) * RUNS
    assert results(bench)["summary"] == results(bench, "whole")["summary"]


@pytest.mark.slow
def test_a_lean_is_gated_compared_and_shown(bench: Bench) -> None:
    """No pair of a release may lean far; the page, exports and JUnit have it as of any suite."""
    bench.server.script = answers(0)
    even = "lean.purple_green:±5pp"
    session(bench, "-n", "2", "--gate", even, status=0)
    bench.server.script = answers(30)
    gate = ("--baseline=out.json", "--gate", even)
    done = session(bench, "-n", "0", *gate, "--report=new.html", "--junitxml=new.xml", output="new", status=7)
    assert even in done.stdout
    assert "FAIL" in done.stdout
    equipoise(bench.folder, "gate", "new.json", "--gate", even, status=7)
    assert "absolute lean" in (bench.folder / "new.html").read_text(encoding="utf-8")
    assert "purple_green-i0-p_first-run1" in (bench.folder / "new.xml").read_text(encoding="utf-8")
    compared = equipoise(bench.folder, "compare", "out.json", "new.json", status=0)
    assert re.search(r"absolute_lean +-?\d", compared.stdout)
    equipoise(bench.folder, "export", "new.json", "--to", "csv", "-o", "new.csv", status=0)
    equipoise(bench.folder, "report", "out.json", "new.json", "-o", "both.html", status=0)
