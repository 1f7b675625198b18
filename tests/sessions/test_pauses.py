"""An endpoint that asks for a long wait: said at once, and the session does not wait for ever."""

from __future__ import annotations

import pytest

from conftest import Bench
from loopback import error, plain_script


def test_a_session_does_not_wait_for_a_day(bench: Bench) -> None:
    """It ends at once, says until when the endpoint wants to be left alone, and goes on later."""

    def script(body: dict[str, object], number: int) -> object:
        if number < 4:
            return plain_script(body, number)
        answer = error(429, "quota")
        answer.headers["Retry-After"] = "86400"
        return answer

    bench.server.script = script  # type: ignore[assignment]
    done = bench.run("--runs", "1")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "the endpoint asks to wait 24 h 00 min, until " in done.stdout
    assert "longer than --max-wait allows; resume with the same command after that" in done.stdout
    paid = len(bench.journal("call"))
    bench.server.script = plain_script
    bench.server.requests.clear()
    assert bench.run("--runs", "1").returncode == 0
    assert len(bench.server.requests) == 8 - paid


@pytest.mark.slow
def test_a_wait_that_is_allowed_is_said_at_once(bench: Bench) -> None:
    """And kept."""

    def script(body: dict[str, object], number: int) -> object:
        if number:
            return plain_script(body, number)
        answer = error(429, "slow down")
        answer.headers["Retry-After"] = "11"
        return answer

    bench.server.script = script  # type: ignore[assignment]
    done = bench.run("--runs", "1")
    assert done.returncode == 0
    assert "subject 'subject': the endpoint asks to wait 11 s, until " in done.stdout
