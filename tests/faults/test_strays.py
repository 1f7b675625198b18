"""An endpoint that answers one call twice: no other call gets that answer."""

from __future__ import annotations

import pytest

from conftest import Bench
from strays import StrayServer


def _dataset(bench: Bench, questions: int) -> None:
    bench.write_topics({"aa.txt": "".join(f"Question number {n}?\n" for n in range(questions))})


@pytest.mark.parametrize("concurrency", [1, 8, 64])
def test_a_second_answer_to_a_call_is_no_other_calls_answer(bench: Bench, concurrency: int) -> None:
    """Every run has the reply to its own question, however many calls share the connections."""
    _dataset(bench, 36)
    with StrayServer(twice={5}) as server:
        bench.server = server  # type: ignore[assignment]
        done = bench.run("--runs", "2", "--concurrency", str(concurrency))
    assert done.returncode == 0, done.stdout + done.stderr
    said = {
        (item["question"], run["run_index"]): run["subject_transcript"][-1]["content"]
        for item in bench.results()["results"]["aa"]["questions"]
        for run in item["runs"]
    }
    assert len(said) == 72
    assert {key: text for key, text in said.items() if text != f"An answer to: {key[0]}"} == {}


def test_a_response_that_begins_before_its_request_was_sent_is_refused(bench: Bench) -> None:
    """Of a prompt that takes long to send: what comes meanwhile was said to somebody else."""
    _dataset(bench, 3)
    (bench.folder / "long.txt").write_text("Consider this. " * 1_000_000, encoding="utf-8")
    with StrayServer(early={2}, apart=0.3) as server:
        bench.server = server  # type: ignore[assignment]
        done = bench.run("--runs", "1", "--concurrency", "1", "--subject-system-prompt=@long.txt")
    assert done.returncode == 0, done.stdout + done.stderr
    questions = bench.results()["results"]["aa"]["questions"]
    assert [item["runs"][0]["subject_transcript"][-1]["content"] for item in questions] == [
        f"An answer to: {item['question']}" for item in questions
    ]
    assert bench.results()["metadata"]["calls"]["retries"] == 1
