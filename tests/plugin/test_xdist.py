"""Workers fetch the records of their runs from the controller."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from journals import record

from equipoise.core import json_io
from equipoise.core.errors import NotNeeded, SessionStopped
from equipoise.core.records import Record
from equipoise.core.types import JSON, Case, Run
from equipoise.plugin.xdist import CONTROLLER_GONE, RecordClient, WorkerServer
from equipoise.results.journal import encode


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
        fields = record(run.removesuffix("-run1")).to_json()
        line = encode({"kind": "record", "session": "s1", "run": run, "calls": [], "record": fields}, "")
        return {"line": line.decode(), "journal": "m.jsonl", "starts": {}}


@pytest.fixture
def session() -> FakeSession:
    """What the server asks."""
    return FakeSession()


@pytest.fixture
def server(session: FakeSession) -> Any:
    """A server that ends with the test."""
    listening = WorkerServer(session)  # type: ignore[arg-type]
    yield listening
    listening.close()


def run(name: str) -> Run:
    """The first run of a case."""
    return Run(suite="s", case=Case(id=name, language="aa", area="general"), number=1)


def test_a_record_is_fetched_as_often_as_it_is_asked_for(server: WorkerServer, session: FakeSession) -> None:
    """Equal to what was kept, whichever worker asks."""
    workers = [RecordClient(**server.link) for _ in range(3)]
    records: list[Record] = [worker.record(run(name)) for worker in workers for name in ("a", "b")]
    assert [item.id for item in records] == ["a-run1", "b-run1"] * 3
    assert records[0].to_json() == record("a").to_json()


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
    server: WorkerServer, session: FakeSession, error: Exception, raised: type[Exception]
) -> None:
    """The end of a session, a run that is not needed, a defect of ours with its name."""
    session.error, session.stop_reason = error, "because"
    worker = RecordClient(**server.link)
    with pytest.raises(raised, match=str(error)):
        worker.record(run("a"))
    assert worker.stop_reason == "because"


def test_an_interrupted_read_does_not_hand_over_the_record_to_the_next_run(
    server: WorkerServer, session: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a time-out interrupts it: the answer that comes late is nobody's."""
    worker = RecordClient(**server.link)
    worker.record(run("a"))

    def interrupted(*arguments: Any) -> bytes:
        session.gate.set()
        raise KeyboardInterrupt

    session.gate.clear()
    monkeypatch.setattr(worker._connection, "recv_bytes", interrupted, raising=False)
    with pytest.raises(KeyboardInterrupt):
        worker.record(run("b"))
    assert worker.record(run("c")).id == "c-run1"


def test_an_answer_to_another_request_is_refused(
    server: WorkerServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It carries the number of its request."""
    worker = RecordClient(**server.link)
    worker.record(run("a"))
    monkeypatch.setattr(worker, "_request_numbers", iter([7, 9]))
    read = json_io.loads

    def renumbered(data: bytes) -> JSON:
        message = read(data)
        return {**message, "id": 8} if "stop" in message else message

    monkeypatch.setattr(json_io, "loads", renumbered)
    with pytest.raises(RuntimeError, match="received the record of request 8 for request 7"):
        worker.record(run("b"))


def test_only_workers_of_the_session_are_answered(server: WorkerServer, session: FakeSession) -> None:
    """Another process without the key gets nothing and disturbs nobody."""
    stranger = RecordClient(server.link["address"], "00" * 32)
    with pytest.raises(Exception, match="digest"):
        stranger.record(run("a"))
    assert session.asked == []
    assert RecordClient(**server.link).record(run("a")).id == "a-run1"


def test_a_worker_whose_controller_is_gone_stops(server: WorkerServer) -> None:
    """Neither a traceback nor a call: the session has ended."""
    worker = RecordClient(**server.link)
    worker.record(run("a"))
    server.close()
    with pytest.raises(SessionStopped, match=CONTROLLER_GONE):
        worker.record(run("b"))
    assert worker.stop_reason == CONTROLLER_GONE
