"""`equipoise batch`: looks at batches, cancels them, and settles what an endpoint does not say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_server import BatchServer
from click.testing import CliRunner, Result
from fake_client import FakeClient, Project, Ran

from equipoise.cli import main
from equipoise.runner.batches import intents
from loopback import JUDGE, SUBJECT, Answer, completion

KEY = "sk-one-0123456789abcdef"
ALL = 2 * 2 * 10


@pytest.fixture
def server() -> Iterator[BatchServer]:
    """An endpoint whose batches are not done before `finish`."""
    with BatchServer(looks=10**9) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, server: BatchServer, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a batch that waits."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("equipoise.runner.batches.sent.LOOKUP_SECONDS", 0.05)
    return Project(tmp_path, FakeClient())


def run(project: Project, server: BatchServer, **options: Any) -> Ran:
    """One session."""
    models = {"model": SUBJECT, "evaluator_model": [JUDGE]}
    where = {"api_base_url": server.url, "api_key": KEY, "runs": "10"}
    return project.run(**{**models, **where, "batch": "yes", **options})


def batch(*arguments: str) -> Result:
    """What comes of `equipoise batch`."""
    return CliRunner().invoke(main, ["batch", *arguments])


@pytest.mark.slow
def test_status_until_they_are_over(project: Project, server: BatchServer) -> None:
    """Exit status 8 while one is not, then 0: the session's command fetches them."""
    run(project, server)
    done = batch("status")
    where = f"results/subject.attribution.batches: subject subject at {server.url}"
    assert (done.exit_code, " ".join(done.stdout.split())) == (
        8,
        f"{where}: batch_1: in_progress, 0 of {ALL} done",
    )
    server.finish()
    assert batch("status", "results/subject.attribution.json").exit_code == 0
    run(project, server)
    assert batch("status").stdout == "no batches wait\n"


def test_status_without_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits where there are none; a file that there is not is a mistake."""
    monkeypatch.chdir(tmp_path)
    assert batch("status").stdout == "no batches wait\n"
    assert batch("status", "nowhere.json").exit_code == 4


def test_cancelling_loses_nothing_that_is_finished(project: Project, server: BatchServer) -> None:
    """Half of the calls are done: they are read, and the others are made again."""
    run(project, server)
    done = batch("cancel", "results")
    assert (done.exit_code, "batch_1: cancelling" in done.stdout) == (0, True)
    server.finish()
    assert run(project, server, batch="no").is_complete
    assert server.count(judge=False) == ALL / 2
    assert len(project.lines("call")) == 2 * ALL


def test_another_key_is_refused(
    project: Project, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could not see the batches."""
    run(project, server)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-two-0123456789abcdef")
    done = batch("status")
    assert (done.exit_code, "was submitted with another key" in done.stderr) == (4, True)


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [True, False])
def test_what_the_user_settles(project: Project, server: BatchServer, is_there: bool) -> None:
    """The batch is read, or its calls are sent again."""
    faults = server.faults.after if is_there else server.faults.before
    faults["POST batches"] = [Answer(drop=True)]
    server.faults.lists = False
    stopped = str(run(project, server).stop_reason)
    (intent,) = intents.load(project.journal_path.with_suffix(".batches")).waiting
    assert f"equipoise batch settle results/subject.attribution.batches {intent.id} --batch ID" in stopped
    answer = ("--batch", "batch_1") if is_there else ("--none",)
    assert batch("settle", "results/subject.attribution.json", "x", *answer).exit_code == 4
    folder = batch("settle", "results", intent.id, *answer)
    assert (folder.exit_code, "results: is a folder" in folder.stderr) == (4, True)
    assert batch("settle", "results/subject.attribution.json", intent.id).exit_code == 4
    both = ("--batch", "batch_1", "--none")
    assert batch("settle", "results/subject.attribution.json", intent.id, *both).exit_code == 4
    assert batch("settle", "results/subject.attribution.json", intent.id, *answer).exit_code == 0
    server.finish()
    assert run(project, server).is_complete
    assert set(server.sent.values()) == {1}


@pytest.mark.slow
def test_status_names_written_files(project: Project, server: BatchServer) -> None:
    """Until their answers are read; a file that was written later counts for the calls in it."""
    run(project, server, batch_write="calls.jsonl")
    done = batch("status")
    text = " ".join(done.stdout.split())
    assert f"subject {SUBJECT}: no answer was read to {ALL} calls in calls.jsonl" in text
    assert done.exit_code == 8
    lines = [json.loads(line) for line in Path("calls.jsonl").read_text().splitlines()]
    response = {"status_code": 200, "body": completion("An answer.")}
    rows = [{"custom_id": line["custom_id"], "response": response} for line in lines[:-1]]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run(project, server, batch_read=["a.jsonl"], batch_write="next.jsonl")
    text = " ".join(batch("status").stdout.split())
    assert "calls.jsonl" not in text
    assert f"subject {SUBJECT}: no answer was read to 1 calls in next.{SUBJECT}.jsonl" in text
    assert f"evaluator {JUDGE}: no answer was read to {ALL - 1} calls in next.{JUDGE}.jsonl" in text
    run(project, server, batch="no")
    assert batch("status").stdout == "no batches wait\n"
    assert not server.log


def test_settling_needs_the_batch_of_the_intent(project: Project, server: BatchServer) -> None:
    """An id that is none, one that the endpoint does not have, and that of another session are refused."""
    server.faults.after["POST batches"] = [Answer(drop=True)]
    server.faults.lists = False
    run(project, server)
    (intent,) = intents.load(project.journal_path.with_suffix(".batches")).waiting
    server.batches["batch_9"] = {
        **server.batches["batch_1"],
        "id": "batch_9",
        "input_file_id": "file-9",
        "metadata": {"equipoise": "0" * 32},
    }
    refusals = {
        "": "not the id of a batch",
        "a\nb": "not the id of a batch",
        "x" * 300: "not the id of a batch",
        "batch_5": "cannot be read: HTTP 404",
        "batch_9": "it is another batch, that of the file file-9",
    }
    for name, why in refusals.items():
        done = batch("settle", "results/subject.attribution.json", intent.id, "--batch", name)
        assert (done.exit_code, why in " ".join(done.stderr.split())) == (4, True), done.stderr
    assert batch("settle", "results/subject.attribution.json", intent.id, "--batch", "batch_1").exit_code == 0
    server.finish()
    assert run(project, server).is_complete
    assert set(server.sent.values()) == {1}


def test_calls_as_files(tmp_path: Path, server: BatchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """`write` and `read` are sessions with the same options; arguments go to pytest."""
    handed: list[list[str]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.execv", lambda path, command: handed.append(command))
    (tmp_path / "a.jsonl").write_text("")
    assert batch("write", "attribution", "--model", "m", "-k", "one", "-o", "calls.jsonl").exit_code == 0
    assert handed[0][-5:] == ["m", "-k", "one", "--batch-write=calls.jsonl", "--batch"]
    assert batch("read", "a.jsonl", "attribution", "--batch=subject", "-o", "next.jsonl").exit_code == 0
    assert handed[1][-3:] == ["--batch=subject", "--batch-read=a.jsonl", "--batch-write=next.jsonl"]
    assert batch("read", "nowhere.jsonl", "attribution").exit_code == 4
    (tmp_path / "b.jsonl").write_text("")
    (tmp_path / "attribution").write_text("")
    assert batch("read", "a.jsonl", "b.jsonl", "attribution", "--runs", "2", "-o", "n").exit_code == 0
    assert handed[2][-6:] == [
        *("--runs", "2", "--batch-read=a.jsonl", "--batch-read=b.jsonl", "--batch-write=n", "--batch")
    ]
    assert "name the suite" in batch("read", "a.jsonl", "b.jsonl").stderr
