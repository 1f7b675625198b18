"""An endpoint that answers one call twice: no other call gets that answer."""

from __future__ import annotations

import pytest

from conftest import Bench
from strays import StrayServer

pytestmark = pytest.mark.slow


def test_a_second_answer_to_a_call_is_no_other_calls_answer(bench: Bench) -> None:
    """Every run has the reply to its own question; calls that were asked again are counted."""
    bench.write_topics({"aa.txt": "".join(f"Question number {n}?\n" for n in range(36))})
    copies = {number: 0.05 * (number % 20) for number in range(5, 140, 4)}
    with StrayServer(copies, delay=0.1) as server:
        bench.server = server  # type: ignore[assignment]
        done = bench.run("--runs", "2", "--concurrency", "8")
    assert done.returncode == 0, done.stdout + done.stderr
    replies = {
        (item["question"], run["run_index"]): run["subject_transcript"][-1]["content"]
        for item in bench.results()["results"]["aa"]["questions"]
        for run in item["runs"]
    }
    assert len(replies) == 72
    assert {key: text for key, text in replies.items() if text != f"An answer to: {key[0]}"} == {}
    # Two calls precede the first question.
    repeated = len(server.requests) - 2 * 72 - 2
    assert bench.results()["metadata"]["calls"]["repeated"] == repeated
    assert f", {repeated} repeated; " in done.stdout if repeated else ", repeated" not in done.stdout
