"""Whole sessions of politicsbench: run, resumed, selected, with its own defaults, and what they write."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections import Counter
from typing import Any

import pytest

from conftest import Bench
from equipoise.suites import politicsbench as suite
from equipoise.suites.politicsbench.scoring import WEIGHTS
from loopback import SUBJECT, is_judge

FILE = "tests_benchmark/test_politicsbench.py"
JUDGES = ("judge-a", "judge-b", "judge-c")
USUAL = suite.DEFAULTS["evaluator_model"]
QUESTIONS = """\
scenario,language,subject,title,question
rent_cap,en-US,housing,A cap on rents,What of rents?
night_bus,en-US,transport,The night bus,What of buses?
"""
SCENARIOS = [
    {
        "scenario": name,
        "wording": wording,
        "pressure": pressure,
        "stages": [f"{name}, {wording}, stage {number}?" for number in range(1, 5)],
    }
    for name, wording, pressure in (
        ("rent_cap", "original", "left"),
        ("rent_cap", "mirror", "right"),
        ("night_bus", "original", "right"),
    )
]
IDS = {f"en-US-{row['scenario']}-{row['wording']}" for row in SCENARIOS}
CALLS_OF_SUBJECT, CALLS_OF_JUDGE = 6, 12


def judges(body: dict[str, Any]) -> bool:
    """Whether a request is for a judge, one of ours or of the usual ones."""
    return is_judge(body) or body["model"] in USUAL


def asks_for_dimensions(body: dict[str, Any]) -> bool:
    """Whether a judge is to give the ten dimensions, and not commitment."""
    return "egalitarianism" in body["messages"][0]["content"]


def quoted(body: dict[str, Any]) -> tuple[str, str]:
    """Situation and text, as a judge is shown them."""
    found = re.findall(
        r"\[(situation|text) (\w+)\]\n(.*?)\n\[end of \1 \2\]", body["messages"][1]["content"], re.DOTALL
    )
    (_, _, situation), (_, _, text) = found
    return situation, text


def verdict(body: dict[str, Any]) -> str:
    """As far to the left as the situation decides, whoever judges."""
    if not asks_for_dimensions(body):
        return json.dumps({"reasoning": "So.", "commitment": 4})
    lean = hashlib.sha256(quoted(body)[0].encode()).digest()[0] % 9 - 4
    scores = {name: 10 + lean if weight > 0 else 10 - lean for name, weight in WEIGHTS.items()}
    return json.dumps({"reasoning": "Thus.", **scores})


def script(body: dict[str, Any], number: int) -> Any:
    """No reply of the subject is like another."""
    return verdict(body) if judges(body) else f"Reply {number}."


@pytest.fixture
def stage(bench: Bench) -> Bench:
    """A project with a small dataset: a scenario with its mirror, and another."""
    dataset = bench.folder / "topics" / "politicsbench"
    dataset.mkdir(parents=True)
    (dataset / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
    lines = "".join(json.dumps(row) + "\n" for row in SCENARIOS)
    (dataset / "en-US.jsonl").write_text(lines, encoding="utf-8")
    bench.server.script = script
    return bench


def play(bench: Bench, *arguments: str, judges: tuple[str, ...] = JUDGES) -> subprocess.CompletedProcess[str]:
    """Run a session with these judges; with none, those that are usual."""
    panel = [word for judge in judges for word in ("--evaluator-model", judge)]
    return bench.run_plain(FILE, "--model", SUBJECT, "--api-base-url", bench.server.url, *panel, *arguments)


def rows(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The questions by the id of their case, of all languages."""
    return {
        f"{language}-{row['id']}": row
        for language, part in data["results"].items()
        for row in part["questions"]
    }


def refuse_repeats(bench: Bench) -> None:
    """Nothing may be asked twice but the direct question, which a mirror shares with its original."""
    codes = re.compile(r"\[((?:end of )?(?:situation|text)) \w+\]")
    asked = Counter(
        codes.sub(r"[\1]", json.dumps([body["model"], body["messages"]])) for body in bench.server.requests
    )
    [(twice, count)] = [item for item in asked.items() if item[1] > 1]
    assert (json.loads(twice)[0], "What of rents?" in twice, count) == (SUBJECT, True, 2)


def refuse_broken_conversations(data: dict[str, Any], bench: Bench) -> None:
    """Every conversation must go on with the replies that are kept of it, and judges see those."""
    shown = {quoted(body)[1] for body in bench.server.requests if judges(body)}
    for row in rows(data).values():
        [run] = row["runs"]
        messages = run["subject_transcript"]
        replies = [message["content"] for message in messages if message["role"] == "assistant"]
        assert len(replies) == CALLS_OF_SUBJECT
        assert set(replies) <= shown
        [longest] = [
            body["messages"]
            for body in bench.server.requests
            if not judges(body)
            and len(body["messages"]) == 9
            and row["details"]["stages"][0] in str(body["messages"])
        ]
        told = [message["content"] for message in longest if message["role"] == "assistant"]
        assert [text for text in replies if text in told] == told
        assert len(told) == 4


@pytest.mark.slow
def test_an_interrupted_conversation_goes_on(stage: Bench) -> None:
    """From the replies that are kept: nothing is asked twice."""
    workers = ("-n", "2")
    assert play(stage, *workers, "--max-calls", "30").returncode == 2
    assert stage.results("politicsbench")["metadata"]["status"] != "complete"
    assert play(stage, *workers).returncode == 0
    assert len(stage.server.requests) == len(IDS) * (CALLS_OF_SUBJECT + 3 * CALLS_OF_JUDGE)
    refuse_repeats(stage)
    data = stage.results("politicsbench")
    assert data["metadata"]["status"] == "complete"
    assert set(rows(data)) == IDS
    refuse_broken_conversations(data, stage)
