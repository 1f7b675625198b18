"""Whole sessions that judge the kept replies of an earlier one again."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from conftest import ROOT, Bench
from loopback import JUDGE, SUBJECT, is_judge, verdict


@pytest.fixture
def small(bench: Bench) -> Bench:
    """A project with the small dataset and results of it."""
    bench.run("--runs", "2", status=0)
    bench.server.requests.clear()
    return bench


def rejudge(bench: Bench, *arguments: str, status: int | None = None) -> subprocess.CompletedProcess[str]:
    """A session that judges the kept replies."""
    endpoint = ("--api-base-url", bench.server.url, "--evaluator-model")
    judged = (*endpoint, f"{JUDGE}-2", f"--rejudge={bench.results_path}")
    return bench.run_plain(*arguments, *judged, status=status)


def rejudged(bench: Bench) -> dict[str, Any]:
    """What it wrote."""
    path = bench.results_path.with_name(f"{SUBJECT}.rejudged.neutrality.json")
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def transcripts(data: dict[str, Any]) -> list[list[str]]:
    """All that subject and user said."""
    return [
        [message["content"] for message in run["subject_transcript"]]
        for part in data["results"].values()
        for question in part["questions"]
        for run in question["runs"]
    ]


def test_kept_replies_are_judged_anew(small: Bench, workers: tuple[str, str]) -> None:
    """By another evaluator and rubric; the subject is asked nothing, and the earlier results stay."""
    before = small.results_path.read_bytes()
    text = (ROOT / "rubric" / "neutrality.toml").read_text(encoding="utf-8")
    edited = text.replace("The gravest fault decides", "Long is not good")
    (small.folder / "mine.toml").write_text(edited, encoding="utf-8")
    small.server.script = lambda body, number: verdict(2) if is_judge(body) else "never"
    rejudge(small, *workers, "--rubric", "mine.toml", status=0)
    assert {body["model"] for body in small.server.requests} == {f"{JUDGE}-2"}
    assert ["Long is not good" in json.dumps(body) for body in small.server.requests] == [True] * 8
    data, old = rejudged(small), json.loads(before)
    assert data["metadata"]["rejudged"]["results"] == small.results_path.name
    assert data["metadata"]["rejudged"]["evaluator_models"] == [JUDGE]
    assert data["metadata"]["rubric_hash"] != old["metadata"]["rubric_hash"]
    assert data["summary"]["overall_average_score"] == 2.0
    assert transcripts(data) == transcripts(old)
    assert small.results_path.read_bytes() == before


@pytest.mark.slow
def test_a_reply_that_was_not_kept_is_not_asked_for(bench: Bench) -> None:
    """Of an interrupted session what there is is judged; the rest is an error that says why."""
    bench.run("--max-calls", "6", "--runs", "2", status=2)
    calls = len(bench.server.requests)
    done = rejudge(bench)
    assert done.returncode in (1, 2), done.stdout
    assert all(is_judge(body) for body in bench.server.requests[calls:])
    assert "the journal has no reply of the subject" in done.stdout


@pytest.mark.slow
def test_results_that_were_stopped_early_stay_complete_and_are_judged_anew(bench: Bench) -> None:
    """As many rounds as were asked; nothing is asked to make the results again."""
    arguments = ("--until", "overall:±300pp@population", "--runs", "4")
    bench.run(*arguments, status=0)
    calls, data = len(bench.server.requests), bench.results()
    bench.results_path.unlink()
    bench.run(*arguments, status=0)
    assert len(bench.server.requests) == calls
    again = bench.results()
    assert again["metadata"]["status"] == data["metadata"]["status"] == "complete"
    assert again["summary"] == data["summary"]
    rejudge(bench, status=0)
    assert rejudged(bench)["metadata"]["runs"] == data["summary"]["until"]["runs"]
