"""Workers fetch the records of their runs from the one process that asks."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from journals import record

from conftest import Bench
from equipoise.core import json_io
from equipoise.core.errors import NotNeeded, SessionStopped
from equipoise.core.records import Record
from equipoise.core.types import JSON, Case, Run
from equipoise.plugin import xdist
from equipoise.plugin.xdist import GONE, Records, Server
from loopback import question_of

ALL = 2 * 2 * 5


class FakeSession:
    """Has a record of every run, or raises what it is told; keeps what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.stop_reason: str | None = None
        self.error: Exception | None = None
        self.gate = threading.Event()
        self.gate.set()

    def fetch(self, suite: str, run: str) -> dict[str, JSON]:
        """The line of a record without calls."""
        self.asked.append(run)
        self.gate.wait()
        if self.error is not None:
            raise self.error
        kept = record(run.removesuffix("-run1")).to_json()
        return {"record": kept, "calls": [], "journal": "m.jsonl", "starts": {}}


@pytest.fixture
def session() -> FakeSession:
    """What the server asks."""
    return FakeSession()


@pytest.fixture
def server(session: FakeSession) -> Any:
    """A server that ends with the test."""
    found = Server(session)  # type: ignore[arg-type]
    yield found
    found.close()


def run(name: str) -> Run:
    """The first run of a case."""
    return Run(suite="s", case=Case(id=name, language="aa", area="general"), number=1)


def test_a_record_is_fetched_as_often_as_it_is_asked_for(server: Server, session: FakeSession) -> None:
    """Equal to what was kept, whichever worker asks."""
    workers = [Records(**server.link) for _ in range(3)]
    found: list[Record] = [worker.record(run(name)) for worker in workers for name in ("a", "b")]
    assert [item.id for item in found] == ["a-run1", "b-run1"] * 3
    assert found[0].to_json() == record("a").to_json()


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (SessionStopped("enough"), SessionStopped),
        (NotNeeded("narrow"), NotNeeded),
        (ZeroDivisionError("ours"), RuntimeError),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_raised_there_is_raised_here(
    server: Server, session: FakeSession, error: Exception, raised: type[Exception]
) -> None:
    """The end of a session, a run that is not needed, a defect of ours with its name."""
    session.error, session.stop_reason = error, "because"
    worker = Records(**server.link)
    with pytest.raises(raised, match=str(error)):
        worker.record(run("a"))
    assert worker.stop_reason == "because"


def test_an_interrupted_read_does_not_hand_over_the_record_to_the_next_run(
    server: Server, session: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a time-out interrupts it: the answer that comes late is nobody's."""
    worker = Records(**server.link)
    worker.record(run("a"))

    def interrupted(*arguments: Any) -> bytes:
        session.gate.set()
        raise KeyboardInterrupt

    session.gate.clear()
    monkeypatch.setattr(worker._connection, "recv_bytes", interrupted, raising=False)
    with pytest.raises(KeyboardInterrupt):
        worker.record(run("b"))
    assert worker.record(run("c")).id == "c-run1"


def test_an_answer_to_another_request_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """It carries the number of its request."""
    worker = Records(**server.link)
    worker.record(run("a"))
    monkeypatch.setattr(worker, "_numbers", iter([7, 9]))
    read = json_io.loads

    def renumbered(data: bytes) -> JSON:
        found = read(data)
        return {**found, "id": 8} if "stop" in found else found

    monkeypatch.setattr(xdist.json_io, "loads", renumbered)
    with pytest.raises(RuntimeError, match="the record of request 8 came for request 7"):
        worker.record(run("b"))


def test_only_workers_of_the_session_are_answered(server: Server, session: FakeSession) -> None:
    """Another process without the key gets nothing and disturbs nobody."""
    stranger = Records(server.link["address"], "00" * 32)
    with pytest.raises(Exception, match="digest"):
        stranger.record(run("a"))
    assert session.asked == []
    assert Records(**server.link).record(run("a")).id == "a-run1"


def test_a_worker_whose_controller_is_gone_stops(server: Server) -> None:
    """Neither a traceback nor a call: the session has ended."""
    worker = Records(**server.link)
    worker.record(run("a"))
    server.close()
    with pytest.raises(SessionStopped, match=GONE):
        worker.record(run("b"))
    assert worker.stop_reason == GONE


# Whole sessions.


SHUFFLED = """\
import random
import pytest

def pytest_itemcollected(item):
    item.add_marker(pytest.mark.xdist_group("second" if "second_area" in item.nodeid else "first"))

def pytest_collection_modifyitems(items):
    random.Random(1).shuffle(items)
"""


@pytest.mark.parametrize("dist", ["load", "loadscope", "loadfile", "loadgroup", "worksteal", "no"])
def test_every_way_to_distribute_asks_each_call_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, dist: str
) -> None:
    """All of xdist's own schedulers serve, in any order of tests."""
    (bench.folder / "shuffled.py").write_text(SHUFFLED)
    monkeypatch.setenv("PYTHONPATH", str(bench.folder))
    done = bench.run("-n", "2", "--dist", dist, "-p", "shuffled")
    assert done.returncode == 0, done.stdout
    assert len(bench.server.requests) == 2 * ALL
    assert bench.results()["metadata"]["status"] == "complete"


def test_each_worker_runs_every_test_on_the_same_record(bench: Bench) -> None:
    """--dist each: one call, as many fetches as workers."""
    done = bench.run("--dist", "each", "--tx", "2*popen", "--runs", "1")
    assert done.returncode == 0, done.stdout
    assert "8 passed" in done.stdout
    assert len(bench.server.requests) == 8


REVERSED = """\
def pytest_collection_modifyitems(items):
    items.reverse()
"""


def test_a_run_that_is_asked_for_before_its_turn_goes_first(
    bench: Bench, workers: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In whatever order tests are run, the one that waits does not wait for all others."""
    (bench.folder / "in_reverse.py").write_text(REVERSED)
    monkeypatch.setenv("PYTHONPATH", str(bench.folder))
    bench.write_topics({"aa.txt": "".join(f"Question {n}?\n" for n in range(40))})
    bench.server.delay = 0.02
    done = bench.run(*workers, "-p", "in_reverse", "--runs", "1", "--concurrency", "2")
    assert done.returncode == 0, done.stdout
    order = list(dict.fromkeys(map(question_of, bench.server.requests)))
    assert len(bench.server.requests) == 80
    assert order.index("Question 39?") < 12


LOOKS = """\
import pathlib, sys

def pytest_sessionfinish(session):
    if hasattr(session.config, "workerinput"):
        found = {"openai", "numpy", "scipy", "aiohttp"} & set(sys.modules)
        pathlib.Path(session.config.workerinput["workerid"]).write_text(" ".join(sorted(found)))
"""


def test_workers_import_neither_client_nor_statistics(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have no engine: what asking and measuring needs is loaded once, where it is done."""
    (bench.folder / "imports_told.py").write_text(LOOKS)
    monkeypatch.setenv("PYTHONPATH", str(bench.folder))
    assert bench.run("-n", "2", "-p", "imports_told").returncode == 0
    assert [(bench.folder / name).read_text() for name in ("gw0", "gw1")] == ["", ""]


DYING = """\
import os, pathlib

def pytest_runtest_teardown(item):
    told = pathlib.Path("has_died")
    if "first_area-q01_one-run2" in item.nodeid and not told.exists():
        told.write_text("")
        os._exit(9)
"""


@pytest.mark.parametrize("restarts", [(), ("--max-worker-restart", "0")], ids=["replaced", "not_replaced"])
def test_a_worker_that_dies_costs_no_call(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, restarts: tuple[str, ...]
) -> None:
    """xdist fails its test; the record stands in the results all the same."""
    (bench.folder / "dying.py").write_text(DYING)
    monkeypatch.setenv("PYTHONPATH", str(bench.folder))
    done = bench.run("-n", "1", "-p", "dying", *restarts)
    assert done.returncode != 0
    asked = len(bench.server.requests)
    assert asked == 2 * ALL
    if not restarts:
        assert bench.results()["metadata"]["status"] == "complete"
    assert bench.run("-n", "1", *restarts).returncode == 0
    assert len(bench.server.requests) == 2 * ALL


ALL_DYING = """\
import os

def pytest_runtest_teardown():
    if "PYTEST_XDIST_WORKER" in os.environ:
        os._exit(9)
"""


def test_where_all_workers_are_dead_what_is_in_flight_is_saved(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine needs no worker: every call that was begun is kept, and none is made again."""
    (bench.folder / "all_dying.py").write_text(ALL_DYING)
    monkeypatch.setenv("PYTHONPATH", str(bench.folder))
    bench.server.delay = 0.2
    done = bench.run("-n", "2", "--concurrency", "3", "--max-worker-restart", "0", "-p", "all_dying")
    assert done.returncode != 0
    begun = len(bench.server.requests)
    assert 0 < begun == len(bench.journal("call")) < 2 * ALL, done.stdout
    assert bench.results()["metadata"]["runs_completed"] == len(bench.journal("record")) > 0
    bench.server.delay = 0.0
    assert bench.run("-n", "2").returncode == 0
    assert len(bench.server.requests) == 2 * ALL


def test_workers_end_with_a_killed_controller(bench: Bench) -> None:
    """Within two seconds; what was in flight is asked again by the same command, and nothing else."""
    bench.server.delay = 0.2
    process = bench.start("-n", "2", "--concurrency", "4")
    while len(bench.server.requests) < 12 and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    asked = len(bench.server.requests)
    # The workers write to the same pipe: its end comes when the last of them is gone.
    process.communicate(timeout=2)
    assert len(bench.server.requests) <= asked + 4
    bench.server.delay = 0.0
    assert bench.run("-n", "2").returncode == 0
    assert 2 * ALL <= len(bench.server.requests) <= 2 * ALL + 4


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--tx", "ssh=elsewhere", "--dist", "load"), "--tx ssh=elsewhere: workers fetch their records"),
        (("--looponfail",), "--looponfail: would ask again"),
    ],
    ids=["remote", "looponfail"],
)
def test_ways_that_cannot_work_are_refused(bench: Bench, arguments: tuple[str, ...], says: str) -> None:
    """One line, before anything is asked."""
    assert says in bench.refusal(*arguments)


AGAIN = """

def pytest_runtest_protocol(item, nextitem):
    from _pytest.runner import runtestprotocol

    runtestprotocol(item, nextitem=nextitem, log=False)
    item._initrequest()
"""


def test_reruns_get_the_same_record(bench: Bench, workers: tuple[str, str]) -> None:
    """A test that is run again, as plugins do with those that failed, asks nothing anew."""
    conftest = bench.folder / "conftest.py"
    conftest.write_text(conftest.read_text(encoding="utf-8") + AGAIN, encoding="utf-8")
    done = bench.run(*workers, "--runs", "1")
    assert done.returncode == 0, done.stdout
    assert len(bench.server.requests) == 8


def test_a_temporary_folder_with_a_long_path_does_no_harm(
    bench: Bench, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path of a socket may be about 100 bytes long; another folder is taken then."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    assert bench.run("-n", "1", "--runs", "1").returncode == 0
