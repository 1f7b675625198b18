"""Whole sessions of turnabout: no evaluator is needed, asked or named; gated, compared and shown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from small_turnabout import HEAD, ROWS, write

from conftest import Bench, equipoise, on_the_built_in_model
from loopback import SUBJECT, Answer, unpaid

FILE = "tests_benchmark/test_turnabout.py"
ALONE, TWO = ("-n", "0"), ("-n", "2")
every_way = pytest.mark.parametrize(
    "workers", [ALONE, pytest.param(TWO, marks=pytest.mark.slow)], ids=["n0", "n2"]
)
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


def session(bench: Bench, *arguments: str, output: str = "out") -> Any:
    """A session on the small dataset with nothing but the subject's name."""
    topics = bench.folder / "small"
    if not topics.exists():
        write(topics)
    models = ("--model", SUBJECT, "--api-base-url", bench.server.url)
    return bench.run_plain(FILE, *models, f"--topics={topics}", f"--output={output}.json", *arguments)


def results(bench: Bench, name: str = "out") -> dict[str, Any]:
    """The results JSON of a session."""
    found: dict[str, Any] = json.loads((bench.folder / f"{name}.json").read_bytes())
    return found


@pytest.mark.slow
@every_way
def test_a_session_needs_no_evaluator(bench: Bench, workers: tuple[str, ...]) -> None:
    """Each case is one call; answers in whatever form are figures, a refusal is counted and named."""
    bench.server.script = answers(12, refusals=1)
    done = session(bench, *workers)
    assert done.returncode == 1, done.stdout + done.stderr
    assert len(bench.server.requests) == CASES * RUNS
    data = results(bench)
    metadata, summary = data["metadata"], data["summary"]
    assert (metadata["evaluator_models"], metadata["endpoints"].keys()) == ([], {"subject"})
    assert (metadata["evaluator_sampling"], metadata["tokens"]["evaluator"]["input"]) == ({}, 0)
    assert summary["outcomes"] == {"scored": CASES * RUNS - 1, "refused": 1}
    metrics = summary["metrics"]
    # A quarter is answered with a letter, the same whoever is first.
    assert metrics["lean.purple_green"]["value"] == pytest.approx(9, abs=1.5)
    assert metrics["refused.purple_green.g"]["value"] > 0
    for text in ("absolute_lean", "Of 256 runs, 1 was refused.", "evaluators: none"):
        assert text in done.stdout


@pytest.mark.slow
@every_way
def test_an_unclear_answer_is_asked_for_once_more(bench: Bench, workers: tuple[str, ...]) -> None:
    """It is scored, and counted: in calls, by language and actor; table, page and transcript say so."""
    bench.server.script = unclear
    done = session(bench, *workers, "--report=page.html")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(bench.server.requests) == (CASES + PURPLE) * RUNS
    assert f"calls:     {(CASES + PURPLE) * RUNS} made" in done.stdout
    summary = results(bench)["summary"]
    assert summary["outcomes"] == {"scored": CASES * RUNS}
    values = {name: metric["value"] for name, metric in summary["metrics"].items()}
    assert (values["asked_again"], values["asked_again.en-US"]) == (25, 20)
    assert (values["asked_again.purple_green.p"], values["asked_again.purple_green.g"]) == (100, 0)
    assert values["first.lean.purple_green"] is None
    assert values["first.lean.red_blue"] == values["lean.red_blue"] == 0
    said = "64 of 256 answers could not be read with certainty and were asked for again; 64 were read then"
    assert said in " ".join(done.stdout.split())
    assert said in (bench.folder / "page.html").read_text(encoding="utf-8")
    shown = equipoise(bench.folder, "show", "out.json", "-k", "purple_green-i3-p_first")
    assert "I would say it is B" in shown.stdout


@pytest.mark.slow
def test_a_session_goes_on_after_the_first_of_two_calls(bench: Bench) -> None:
    """What was said is in the journal: no first call is made twice, and the results are the same."""
    bench.server.script = unclear
    assert session(bench, "-n", "0", output="whole").returncode == 0
    asked = len(bench.server.requests)

    def without_second(body: dict[str, Any], number: int) -> Answer | str:
        return unpaid(body, number) if is_second(body) else unclear(body, number)

    bench.server.script = without_second
    assert session(bench, "-n", "0").returncode != 0
    failed = sum(map(is_second, bench.server.requests[asked:]))
    assert 0 < failed < len(bench.server.requests) - asked
    bench.server.script = unclear
    done = session(bench, "-n", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(bench.server.requests) - asked - failed == asked == (CASES + PURPLE) * RUNS
    assert results(bench)["summary"] == results(bench, "whole")["summary"]


@pytest.mark.slow
def test_who_asks_is_said_before_both_calls(bench: Bench) -> None:
    """Once in a conversation, at its beginning; the estimate counts each run once."""
    write(bench.folder / "small", askers=HEAD + ROWS)
    options = ("-n", "0", "--runs", "1", "--asker", "mirror", "--language", "zz")
    done = session(bench, *options, "--estimate")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "runs:      56 to do" in done.stdout
    assert "56 (56 to 112) calls" in done.stdout
    assert bench.server.requests == []

    def said(body: dict[str, Any], number: int) -> str:
        first, *rest = body["messages"]
        assert not any("I am with the" in message["content"] for message in rest)
        plain = (
            first["content"].partition("\n\n")[2] if "I am with the" in first["content"] else first["content"]
        )
        return unclear({**body, "messages": [{**first, "content": plain}, *rest]}, number)

    bench.server.script = said
    done = session(bench, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(map(is_second, bench.server.requests)) == 8 * 3
    assert len(bench.server.requests) == 56 + 8 * 3


@pytest.mark.slow
def test_an_evaluator_that_is_named_is_not_asked(bench: Bench) -> None:
    """Nor told in the results: as where other suites of a session need one. Nothing can be judged again."""
    bench.server.script = answers(0)
    done = session(bench, "-n", "0", "--evaluator-model", "judge", "--runs", "1", "--limit", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert results(bench)["metadata"]["evaluator_models"] == []
    assert {request["model"] for request in bench.server.requests} == {SUBJECT}
    again = bench.run_plain(FILE, "--rejudge=out.json", f"--topics={bench.folder / 'small'}", "-n", "0")
    assert again.returncode == 4
    assert "--replies: turnabout asks no evaluator, so nothing can be judged again" in again.stderr


@pytest.mark.slow
def test_pairs_and_templates_are_selected(bench: Bench) -> None:
    """By option or by keyword, with the anonymous control; the same command goes on with what is missing."""
    bench.server.script = answers(0)
    done = session(bench, "-n", "0", "--runs", "1", "--pairs", "red_blue", "--limit", "4")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(bench.server.requests) == 4 * 3
    assert session(bench, "-n", "0", "--runs", "1", "--pairs", "red_blue").returncode == 0
    assert len(bench.server.requests) == 8 * 3
    assert session(bench, "-n", "0", "--runs", "1", "-k", "red_blue", output="k").returncode == 0
    # Controls of the other language have no pair of that name.
    assert len(bench.server.requests) == 8 * 6
    wrong = session(bench, "-n", "0", "--pairs", "reds", output="w")
    assert wrong.returncode == 4
    assert "--pairs: there is no 'reds'; there are purple_green, red_blue" in wrong.stderr


@pytest.mark.slow
def test_a_lean_is_gated_compared_and_shown(bench: Bench) -> None:
    """No pair of a release may lean far; the page, exports and JUnit have it as of any suite."""
    bench.server.script = answers(0)
    even = "lean.purple_green:±5pp"
    done = session(bench, "-n", "2", "--gate", even)
    assert done.returncode == 0, done.stdout + done.stderr
    bench.server.script = answers(30)
    gate = ("--baseline=out.json", "--gate", even)
    asked = len(bench.server.requests)
    for rule in ("absolute_lean:+2pp", "absolute_lean:±2pp"):
        wrong = session(bench, "-n", "0", *gate, "--gate", rule, output="wrong")
        assert wrong.returncode == 4
        instead = f"has no interval to decide by; bound the lean of each pair: {even}"
        assert f"--gate {rule}: absolute_lean {instead}" in wrong.stderr
    assert len(bench.server.requests) == asked
    done = session(bench, "-n", "0", *gate, "--report=new.html", "--junitxml=new.xml", output="new")
    assert done.returncode == 7, done.stdout + done.stderr
    assert even in done.stdout
    assert "FAIL" in done.stdout
    gated = equipoise(bench.folder, "gate", "new.json", "--gate", even)
    assert gated.returncode == 7, gated.stdout + gated.stderr
    wrong = equipoise(
        bench.folder, "compare", "out.json", "new.json", "--gate", "absolute_lean.en-US:+2pp@population"
    )
    assert wrong.returncode == 4
    assert "bound the lean of each pair: lean.purple_green:±5pp" in wrong.stderr
    assert "absolute lean" in (bench.folder / "new.html").read_text(encoding="utf-8")
    assert "purple_green-i0-p_first-run1" in (bench.folder / "new.xml").read_text(encoding="utf-8")
    compared = equipoise(bench.folder, "compare", "out.json", "new.json")
    assert compared.returncode == 0, compared.stderr
    assert re.search(r"absolute_lean +-?\d", compared.stdout)
    exported = equipoise(bench.folder, "export", "new.json", "--to", "csv", "-o", "new.csv")
    assert exported.returncode == 0, exported.stderr
    reported = equipoise(bench.folder, "report", "out.json", "new.json", "-o", "both.html")
    assert reported.returncode == 0, reported.stderr


@pytest.mark.slow
def test_one_incident_has_no_figures_that_it_cannot_have(bench: Bench) -> None:
    """Its model has scores, although no headline; the page says what was asked, and how often."""
    bench.server.script = answers(5)
    done = session(bench, "-n", "0", "--limit", "1", "--report=one.html")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "+2.00" not in done.stdout
    page = (bench.folder / "one.html").read_text(encoding="utf-8")
    assert "Without a score" not in page
    assert "no templates" not in page
    assert "no pair has answers in both halves of the templates" in page
    assert re.search(r"Asked: \d cases", page)


@pytest.mark.slow
def test_the_built_in_model_is_asked(tmp_path: Path) -> None:
    """On our own data, in every language, without a key or a network."""
    data = on_the_built_in_model(tmp_path, FILE, "--pairs", "china_taiwan", "--runs", "1")
    assert data["metadata"]["languages"] == ["en-US", "zh-CN", "zh-TW"]
    assert sum(data["summary"]["outcomes"].values()) == 3 * 3
