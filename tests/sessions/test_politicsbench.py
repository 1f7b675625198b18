"""Whole sessions of politicsbench, whose conversations take several calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conftest import Bench
from loopback import JUDGE, SUBJECT, any_verdict

CASE = ("tests_benchmark/test_politicsbench.py", "-n", "2", "-k", "en-US-minimum_wage-original")
CALLS = {SUBJECT: 6, JUDGE: 12}


def script(body: dict[str, Any], number: int) -> str:
    """No reply of the subject is like another."""
    return f"Reply {number}." if body["model"] == SUBJECT else any_verdict(body, number)


@pytest.mark.slow
def test_an_interrupted_conversation_goes_on(bench: Bench) -> None:
    """From the replies that are kept: nothing is asked twice, and each stage follows those before it."""
    bench.use_real_topics()
    bench.server.script = script
    assert bench.run(*CASE, "--max-calls", "8").returncode == 2
    assert bench.results("politicsbench")["metadata"]["status"] != "complete"
    done = bench.run(*CASE)
    assert done.returncode == 0, done.stdout + done.stderr
    requests = [json.dumps([body["model"], body["messages"]]) for body in bench.server.requests]
    assert len({*requests}) == len(requests) == sum(CALLS.values())
    data = bench.results("politicsbench")
    assert data["metadata"]["status"] == "complete"
    [row] = data["results"]["en-US"]["questions"]
    messages = row["runs"][0]["subject_transcript"]
    replies = [message["content"] for message in messages if message["role"] == "assistant"]
    assert len({*replies}) == CALLS[SUBJECT]
    longest = max((body["messages"] for body in bench.server.requests), key=len)
    history = [message["content"] for message in longest if message["role"] == "assistant"]
    assert (len(history), [text for text in replies if text in history]) == (4, history)
