"""Whole sessions of each suite on our own data: interrupted, resumed and run again."""

from __future__ import annotations

import json

import pytest

from conftest import SHIPPED, Bench
from loopback import any_verdict


@pytest.mark.parametrize("suite", SHIPPED)
def test_a_stopped_session_goes_on_and_pays_once(bench: Bench, workers: tuple[str, str], suite: str) -> None:
    """After a limit of calls the same command asks what is missing, and then nothing."""
    bench.use_real_topics()
    bench.server.script = any_verdict
    command = (f"tests_benchmark/test_{suite}.py", *workers, "--limit", "1", "--runs", "1")
    bench.run(*command, "--max-calls", "3", status=2)
    assert bench.results(suite)["metadata"]["status"] in ("interrupted", "no_scores")
    bench.run(*command, status=0)
    metadata = bench.results(suite)["metadata"]
    assert (metadata["status"], metadata["suite"]) == ("complete", suite)
    requests = [json.dumps([body["model"], body["messages"]]) for body in bench.server.requests]
    assert len(requests) == len({*requests}) == metadata["calls"]["made"] + metadata["calls"]["replayed"]
    assert "already complete; no calls were made" in bench.run(*command).stdout
    assert len(bench.server.requests) == len(requests)
