"""Whole sessions in batches: what to type on the first and on the second day.

Sessions that are killed in between are among the attacks, in benchmarks/attacks/batches.py.
"""

from __future__ import annotations

import json
import os
import signal
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import small_anchors
from batch_server import BatchServer
from small_anchors import QUICK

import equipoise
from conftest import Bench, is_orderly, wait_for
from equipoise.core.errors import BatchWaiting
from loopback import JUDGE, SUBJECT, any_verdict

ALL = 2 * 2 * 5
"""Languages, questions, runs of the small dataset; as many calls in each phase."""


@pytest.fixture
def server() -> Iterator[BatchServer]:
    """An endpoint whose batches are not done before `finish`."""
    with BatchServer(looks=10**9) as server:
        yield server


@pytest.fixture
def bench(tmp_path: Path, server: BatchServer) -> Bench:
    """A project folder to run sessions in."""
    return Bench(tmp_path, server)


def batched(bench: Bench) -> list[str]:
    """The ids of the calls in the journal that came in batches."""
    return [line["batch"] for line in bench.journal("call") if "batch" in line]


def test_first_and_second_day(bench: Bench, server: BatchServer, workers: tuple[str, str]) -> None:
    """Exit status 8 and skipped cases while batches wait, also in JUnit; the same command goes on."""
    command = ("--batch", *workers, "--junitxml=report.xml", "tests_benchmark/test_neutrality.py")
    first = bench.run(*command, status=8)
    assert (
        f"{ALL} calls wait in 1 batch at {server.url} (batch_1: in_progress, 0 of {ALL} done)" in first.stdout
    )
    assert f"{ALL} skipped" in first.stdout
    assert "run the same command again by" in first.stdout
    skipped = ET.parse(bench.folder / "report.xml").iter("skipped")
    reasons = [item.get("message") for item in skipped]
    assert reasons == ["waiting for batch"] * ALL + [f"{ALL} runs are still to be done: waiting for batch"]
    server.finish()
    second = bench.run(*command, status=0)
    assert f"{2 * ALL} made" in second.stdout
    assert sorted(batched(bench)) == sorted(server.sent)
    assert set(server.sent.values()) == {1}
    assert not server.requests


@pytest.mark.slow
def test_python_says_that_batches_wait(
    bench: Bench, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`equipoise.run` raises BatchWaiting with what is where."""
    monkeypatch.chdir(bench.folder)
    options: dict[str, Any] = {"model": SUBJECT, "evaluator_model": JUDGE, "api_base_url": server.url}
    wait = rf"^waiting for batch \(0 of {ALL} runs\): {ALL} calls wait in 1 batch at "
    with pytest.raises(BatchWaiting, match=wait):
        equipoise.run("neutrality", batch=True, **options)


@pytest.mark.slow
def test_verdicts_of_a_panel_and_of_its_audit_are_in_batches_too(bench: Bench, server: BatchServer) -> None:
    """They wait, and are found again, with the session's own calls; a batch has calls of one model."""
    small_anchors.write(bench.folder)
    command = ("--batch", "--audit", "quick", "--evaluator-model", "judge-2")
    bench.run(*command, status=8)
    server.finish()
    bench.run(*command, status=0)
    for audit in bench.results()["audit"].values():
        assert (audit["state"], audit["verdicts"]) == ("complete", QUICK)
    made = bench.results()["metadata"]["calls"]["batched"]
    assert len(batched(bench)) == made == 3 * ALL + 2 * QUICK
    assert set(server.sent.values()) == {1}
    files = [server.files[batch["input_file_id"]].splitlines() for batch in server.batches.values()]
    models = [{json.loads(line)["body"]["model"] for line in file} for file in files]
    assert sorted(map(sorted, models)) == sorted(map(list, models))
    assert set().union(*models) == {SUBJECT, JUDGE, "judge-2"}
    assert not server.requests


@pytest.mark.slow
def test_judging_again_in_batches(bench: Bench, server: BatchServer) -> None:
    """--rejudge sends the evaluator's calls alone; a role that is none is refused."""
    refused = bench.run("--batch=nobody")
    assert (refused.returncode, "argument --batch" in refused.stderr) == (4, True)
    server.finish()
    bench.run("--batch", status=0)
    sent = len(server.lines())
    earlier = ("--rejudge", "results/subject.neutrality.json")
    judge = ("--evaluator-model", JUDGE, "--api-base-url", server.url)
    bench.run_plain("--batch", *earlier, *judge, status=0)
    assert {line["body"]["model"] for line in server.lines()[sent:]} == {JUDGE}


@pytest.mark.slow
def test_the_estimate_is_at_batch_price(bench: Bench, server: BatchServer) -> None:
    """The usual one less the discount, for the roles in batches."""
    price = ("--estimate", "--price-input", "1", "--price-output", "10")

    def total(*options: str) -> float:
        text = bench.run(*price, *options).stdout
        return float(text.partition("total:")[2].split()[0])

    assert total("--batch", "--batch-discount", "20") == pytest.approx(total() * 0.8, abs=0.011)
    assert not server.log


@pytest.mark.slow
def test_an_interruption_while_it_waits(bench: Bench, server: BatchServer) -> None:
    """It ends at once with status 2, and says what waits; the same command goes on."""
    process = bench.start("--batch", "--batch-wait=10m")
    wait_for(lambda: "GET batches/ID" in server.log)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=40)
    assert process.returncode == 2, output
    assert f"{ALL} calls wait in 1 batch at {server.url}" in output
    assert is_orderly(output)
    server.finish()
    bench.run("--batch", status=0)
    assert set(server.sent.values()) == {1}


@pytest.mark.slow
def test_two_suites_in_a_shard(bench: Bench, server: BatchServer) -> None:
    """Each has batches of its own beside its journal."""
    bench.use_real_topics()
    server.finish()
    server.script = any_verdict
    files = ("tests_benchmark/test_neutrality.py", "tests_benchmark/test_even_handedness.py")
    bench.run("--batch", "--shard", "1/2", "--limit", "16", "--runs", "1", *files, status=0)
    assert len(list((bench.folder / "results" / "shards").glob("*.batches"))) == 2
    assert set(server.sent.values()) == {1}
