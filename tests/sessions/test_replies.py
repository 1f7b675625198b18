"""Whole sessions that judge replies of a file: no subject is called, and no key of one is needed."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from leaks import leaks

import forked
from conftest import PYTEST, Bench, typed
from loopback import JUDGE, is_judge, verdict

HEAD = ("id", "language", "run", "reply", "outcome", "model")
ROWS = (
    ("aa-first_area-q01_one", "", "1", 'One, they say:\n"it is one".', "", "my-app"),
    ("aa-first_area-q01_one", "", "2", "One.", "", "my-app"),
    ("q02_two", "aa", "1", "", "blocked", "my-app"),
    ("q01_one", "bb", "1", "Um; dois?", "truncated", "my-app"),
)


def write(bench: Bench, *rows: tuple[str, ...], name: str = "answers.csv") -> Path:
    """A file as a spreadsheet saves it, in the project."""
    text = io.StringIO()
    csv.writer(text, delimiter=";").writerows((HEAD, *rows))
    path = bench.folder / name
    path.write_text(text.getvalue(), encoding="utf-8-sig")
    return path


def judge(bench: Bench, *arguments: str, status: int | None = 0) -> subprocess.CompletedProcess[str]:
    """A session that judges a file, and ends with this exit status."""
    evaluator = ("--evaluator-model", JUDGE, "--evaluator-api-base-url", bench.server.url)
    return bench.run_plain("--replies=answers.csv", *evaluator, *arguments, status=status)


def results(bench: Bench, name: str = "my-app.neutrality.json") -> dict[str, Any]:
    """What a session wrote."""
    data: dict[str, Any] = json.loads((bench.folder / "results" / name).read_text(encoding="utf-8"))
    return data


def test_a_file_is_judged_without_a_subject(
    bench: Bench, workers: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results, terminal, page and the page of several models say which file it was, and of how many runs."""
    write(bench, *ROWS)
    done = judge(bench, *workers, "--report", "page.html")
    assert len(bench.server.requests) == 3
    assert all(is_judge(body) for body in bench.server.requests)
    assert "replies of answers.csv" in done.stdout
    assert "the replies are those in answers.csv: 4 of 20 runs" in " ".join(done.stdout.split())
    data = results(bench)
    assert data["metadata"]["subject_model"] == "my-app"
    assert data["summary"]["outcomes"] == {"scored": 2, "blocked": 1, "truncated": 1}
    (run, _) = data["results"]["aa"]["questions"][0]["runs"]
    assert [message["content"] for message in run["subject_transcript"]] == ["What is one?", ROWS[0][3]]
    page = (bench.folder / "page.html").read_text(encoding="utf-8")
    assert "the replies are those in answers.csv: 4 of 20 runs" in page
    digest = data["metadata"]["replies"]["sha256"]
    assert digest in page
    monkeypatch.chdir(bench.folder)
    typed("report", "results", "-o", "board.html")
    board = (bench.folder / "board.html").read_text(encoding="utf-8")
    assert f"replies from answers.csv (4 of 20 runs; SHA-256 {digest})" in board


def test_the_gate_works_on_replies_of_a_file(bench: Bench) -> None:
    """Two releases of an application are compared; the file is named beside the verdict."""
    write(bench, *ROWS)
    judge(bench, "--output", "before.json")
    write(bench, *ROWS[:2])
    bench.server.script = lambda body, number: verdict(1)
    rule = ("--baseline", "before.json", "--gate", "overall:-2pp", "--gate-inconclusive", "fail")
    done = judge(bench, *rule, "--allow-mismatch", "--output", "after.json", status=7)
    text = " ".join(done.stdout.split())
    for side, runs in (("baseline", 4), ("candidate", 2)):
        assert f"caution: in the {side}, the replies are those in answers.csv: {runs} of 20 runs" in text


def test_panels_and_audits_work_on_replies_of_a_file(bench: Bench) -> None:
    """No evaluator is told apart by where the replies come from."""
    write(bench, *ROWS)
    done = judge(bench, "--evaluator-model", f"{JUDGE}-2", "--audit", "quick", "--limit", "1")
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert {body["model"] for body in bench.server.requests} == {JUDGE, f"{JUDGE}-2"}
    assert {*results(bench)["audit"]} == {JUDGE, f"{JUDGE}-2"}


def test_a_live_model_is_compared_with_replies_of_a_file(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How these were made is not known, which is told and no reason to refuse."""
    write(bench, *ROWS)
    judge(bench, "--output", "file.json")
    bench.run("--runs", "1")
    monkeypatch.chdir(bench.folder)
    done = typed("compare", bench.results_path, "file.json")
    assert "how they were made is not known" in " ".join(done.stdout.split())


def test_each_model_of_a_file_has_results_of_its_own(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --model, which would name one; a comparison of all ends the command."""
    write(bench, *ROWS[:2], *((*row[:5], "other") for row in ROWS[:2]))
    monkeypatch.chdir(bench.folder)
    monkeypatch.setattr(
        "equipoise.cli.several_models.subprocess.run",
        lambda command, check: forked.run(command[len(PYTEST[:3]) :], bench.folder),
    )
    evaluator = ("--evaluator-model", JUDGE, "--evaluator-api-base-url", bench.server.url)
    done = typed("run", "neutrality", "--replies", "answers.csv", *evaluator)
    headings = [line for line in done.stdout.splitlines() if line.startswith("== ")]
    assert headings == ["== my-app", "== other", "== neutrality: my-app and other"]
    names = [results(bench, f"{name}.neutrality.json")["metadata"] for name in ("my-app", "other")]
    assert [data["subject_model"] for data in names] == ["my-app", "other"]


@pytest.mark.slow
def test_a_key_in_a_reply_reaches_no_file(bench: Bench) -> None:
    """It is masked in journal, results and page, as in replies of an endpoint."""
    key = "sk-proj-0123456789abcdefghij"
    write(bench, (*ROWS[1][:3], f"One, says {key}.", "", ""))
    done = judge(bench, "--evaluator-api-key", key, "--report", "page.html")
    assert leaks(bench.folder, done.stdout + done.stderr, key) == ["answers.csv"]
