"""`equipoise batch`: looks at batches, cancels them, and settles what an endpoint does not say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from batch_server import BatchServer
from click.testing import CliRunner, Result
from fake_client import FakeClient, Project, Ran

from equipoise.cli import main
from equipoise.results import intents
from loopback import JUDGE, SUBJECT, Answer

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
    monkeypatch.setattr("equipoise.runner.submissions.LOOKUP_SECONDS", 0.05)
    return Project(tmp_path, FakeClient())


def run(project: Project, server: BatchServer, **options: str) -> Ran:
    """One session."""
    models = {"model": SUBJECT, "evaluator_model": [JUDGE]}
    where = {"api_base_url": server.url, "api_key": KEY, "runs": "10"}
    return project.run(**{**models, **where, "batch": "yes", **options})


def batch(*arguments: str) -> Result:
    """What comes of `equipoise batch`."""
    return CliRunner().invoke(main, ["batch", *arguments])


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
