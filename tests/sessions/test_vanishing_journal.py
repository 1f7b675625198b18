"""A whole session whose journal is taken away: it stops at once, and goes on once the journal is back."""

from __future__ import annotations

import pytest

from conftest import Bench
from loopback import plain_script


def test_a_session_whose_journal_is_removed_stops_and_can_go_on(
    bench: Bench, workers: tuple[str, str]
) -> None:
    """With one line that names the file in which everything is; no call is paid for twice."""

    def script(body: dict[str, object], number: int) -> str:
        if number == 10:
            bench.journal_path.unlink()
        return plain_script(body, number)

    bench.server.script = script
    done = bench.run(*workers, "--concurrency", "2")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    rescued = bench.journal_path.with_name("subject.neutrality.rescued.jsonl")
    assert f"what could be saved is in results/{rescued.name}" in done.stdout.replace("\n", "")
    rescued.rename(bench.journal_path)
    assert len(bench.journal("call")) == len(bench.server.requests) < 40
    bench.server.script = plain_script
    done = bench.run("--concurrency", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(bench.server.requests) == 40


@pytest.mark.slow
def test_a_session_whose_journal_is_cut_stops(bench: Bench) -> None:
    """No results are made of what is left, and what is left is kept."""

    def script(body: dict[str, object], number: int) -> str:
        if number == 10:
            bench.journal_path.write_bytes(b"")
        return plain_script(body, number)

    bench.server.script = script
    done = bench.run("--concurrency", "2")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "not written, as its journal was cut" in done.stdout
    assert not bench.results_path.exists()
