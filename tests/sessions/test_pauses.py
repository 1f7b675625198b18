"""An endpoint that asks for a long wait: said at once, and the session does not wait for ever."""

from __future__ import annotations

import os
import signal
import time

import pytest

from conftest import Bench, wait_for
from loopback import error, plain_script


@pytest.mark.slow
def test_a_session_does_not_wait_for_a_day(bench: Bench) -> None:
    """It ends at once, says until when the endpoint wants to be left alone, and goes on later."""

    def script(body: dict[str, object], number: int) -> object:
        if number < 4:
            return plain_script(body, number)
        answer = error(429, "quota")
        answer.headers["Retry-After"] = "86400"
        return answer

    bench.server.script = script  # type: ignore[assignment]
    done = bench.run("--runs", "1", status=2)
    assert "the endpoint asks to wait 24 h 00 min, until " in done.stdout
    assert "longer than --max-wait allows; resume with the same command after that" in done.stdout
    paid = len(bench.journal("call"))
    bench.server.script = plain_script
    bench.server.requests.clear()
    bench.run("--runs", "1", status=0)
    assert len(bench.server.requests) == 8 - paid


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "workers"), [("--request-timeout", ("-n", "0")), ("--case-timeout", ("-n", "2"))]
)
def test_a_session_that_was_stopped_reads_what_came_meanwhile(
    bench: Bench, limit: str, workers: tuple[str, str]
) -> None:
    """SIGSTOP for longer than a limit: each call is asked once, and every run has a score."""
    bench.server.delay = 0.6
    process = bench.start(*workers, "--runs", "1", limit, "2")
    wait_for(lambda: len(bench.server.requests) >= 4)
    os.killpg(process.pid, signal.SIGSTOP)
    wait_for(lambda: bench.server.in_flight == 0)
    time.sleep(3.0)
    os.killpg(process.pid, signal.SIGCONT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert len(bench.server.requests) == 8
