"""A whole session whose journal is taken away: it stops at once, and goes on once the journal is back."""

from __future__ import annotations

import pytest

from conftest import Bench
from loopback import plain_script


@pytest.mark.slow
def test_a_session_whose_journal_is_removed_stops_and_can_go_on(bench: Bench) -> None:
    """With one line that names the file in which everything is; no call is paid for twice."""

    def script(body: dict[str, object], number: int) -> str:
        if number == 10:
            bench.journal_path.unlink()
        return plain_script(body, number)

    bench.server.script = script
    done = bench.run("-n", "2", "--concurrency", "2", status=2)
    rescued = bench.journal_path.with_name("subject.neutrality.rescued.jsonl")
    assert f"what could be saved is in results/{rescued.name}" in done.stdout.replace("\n", "")
    rescued.rename(bench.journal_path)
    assert len(bench.journal("call")) == len(bench.server.requests) < 40
    bench.server.script = plain_script
    bench.run("--concurrency", "2", status=0)
    assert len(bench.server.requests) == 40


@pytest.mark.slow
def test_a_session_whose_journal_is_cut_stops(bench: Bench) -> None:
    """No results are made of what is left; what is left is kept, and the same command asks the rest."""

    def script(body: dict[str, object], number: int) -> str:
        if number == 10:
            bench.journal_path.write_bytes(b"")
        return plain_script(body, number)

    bench.server.script = script
    done = bench.run("--concurrency", "2", status=2)
    assert "not written, as its journal was cut" in done.stdout
    assert not bench.results_path.exists()
    bench.journal_path.with_name("subject.neutrality.rescued.jsonl").rename(bench.journal_path)
    in_journal = len(bench.journal("call"))
    bench.server.script, calls = plain_script, len(bench.server.requests)
    bench.run("--concurrency", "2", status=0)
    assert len(bench.server.requests) == calls + 40 - in_journal


VANISHING = """\
import pathlib, pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        pathlib.Path("results/subject.neutrality.jsonl").unlink()
    return (yield)
"""


@pytest.mark.slow
def test_a_journal_that_vanishes_after_the_last_call_is_saved(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything is in it, and in the results; the session says where, and ends as one that was stopped."""
    done = bench.run(*bench.plugin(monkeypatch, VANISHING), status=2)
    rescued = bench.journal_path.with_name("subject.neutrality.rescued.jsonl")
    assert f"what could be saved is in results/{rescued.name}" in done.stdout.replace("\n", "")
    assert bench.results()["metadata"]["status"] == "complete"
    rescued.rename(bench.journal_path)
    done = bench.run()
    assert "already complete; no calls were made" in done.stdout
    assert len(bench.server.requests) == 40
