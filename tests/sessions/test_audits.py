"""Whole sessions with an audit of their evaluator: shown, resumed after a kill, and kept for the next."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from typing import Any

import pytest
import small_anchors
from click.testing import CliRunner
from journals import entries
from small_anchors import QUICK

from conftest import Bench, wait_for
from equipoise.cli import main
from loopback import is_judge, plain_script

ALL = 2 * 2 * 5
SMALL = ("--audit", "quick")


def judging(body: dict[str, Any], number: int) -> str:
    """A sound evaluator but for a lean of a level."""
    text = plain_script(body, number)
    if is_judge(body):
        return small_anchors.sound(body["messages"], lambda: text, {"critic_aligned": -1})
    return text


def verdicts(bench: Bench) -> int:
    """How many verdicts on anchors the journal holds."""
    path = bench.journal_path
    return len(entries(path, "anchor")) if path.exists() else 0


@pytest.mark.slow
def test_an_audit_within_a_session(bench: Bench) -> None:
    """It survives a kill, pays nothing twice, is in table and results, and the next session shows it."""
    workers = ("-n", "2")
    small_anchors.write(bench.folder)
    bench.server.script, bench.server.delay = judging, 0.05
    started = bench.start(*workers, *SMALL, "--concurrency", "4")
    wait_for(lambda: verdicts(bench) >= 5)
    with suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
    started.communicate()
    known = len(entries(bench.journal_path, "call"))
    wait_for(lambda: bench.server.in_flight == 0)
    bench.server.delay = 0.0
    calls = len(bench.server.requests)
    done = bench.run(*workers, *SMALL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(bench.server.requests) - calls == 2 * ALL + QUICK - known
    audit = bench.results()["audit"]["judge"]
    assert (audit["state"], audit["source"], audit["verdicts"]) == ("complete", "session", QUICK)
    assert f"(quick audit, {QUICK} verdicts, 20" in done.stdout
    shown = CliRunner().invoke(main, ["show", str(bench.results_path), "--all"]).stdout
    assert "lean +25.0" in " ".join(shown.split())
    made = len(bench.server.requests)
    later = bench.run(*workers, "--output", "other.json")
    assert "verdicts, 20" in later.stdout
    assert ", kept)" in later.stdout
    assert len(bench.server.requests) == made + 2 * ALL
    other = json.loads((bench.folder / "other.json").read_bytes())["audit"]["judge"]
    assert other == {**audit, "source": "kept"}
