"""xdist: one engine for all workers, in the process that the user started.

A worker has no engine, no client and no journal. Its tests fetch their records over a local socket from the
controller, which asks and keeps. So any of xdist's own ways to distribute tests serves, and a worker that
dies costs no call.
"""

from __future__ import annotations

import itertools
import os
import socket
import tempfile
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

from equipoise.core import json_io
from equipoise.core.errors import NotNeeded, SessionStopped
from equipoise.core.records import Record
from equipoise.core.types import JSON, Run
from equipoise.results.history import Calls
from equipoise.runner.session import Session

LONGEST = 70
"""Bytes of the path of a temporary folder in which a socket can be."""
GONE = "the process that asks has ended"
"""Why a worker stops whose controller is no longer there."""


class Server:
    """Answers the workers of a session, each on a thread of its own, until `close`.

    `left_out` are the node ids of the tests that they will skip.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        # The path of a socket may have about 100 bytes.
        folder = tempfile.gettempdir() if len(os.fsencode(tempfile.gettempdir())) <= LONGEST else "/tmp"  # noqa: S108
        self._folder = tempfile.TemporaryDirectory(prefix="equipoise-", dir=folder)
        self._key = os.urandom(32)
        self._listener = Listener(str(Path(self._folder.name) / "s"), "AF_UNIX", 128, self._key)
        self._connections: list[Connection[Any, Any]] = []
        self.left_out: set[str] = set()
        threading.Thread(target=self._accept, name="equipoise-accept", daemon=True).start()

    @property
    def link(self) -> dict[str, str]:
        """What a worker needs to find it, as xdist can send it."""
        return {"address": str(self._listener.address), "key": self._key.hex()}

    def close(self) -> None:
        """Let go of all workers."""
        self._listener.close()
        for connection in self._connections:
            _hang_up(connection)
        self._folder.cleanup()

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except OSError:
                return
            except Exception:  # noqa: S112 - not one of our workers, or one that died meanwhile
                continue
            self._connections.append(connection)
            threading.Thread(
                target=self._serve, args=(connection,), name="equipoise-worker", daemon=True
            ).start()

    def _serve(self, connection: Connection[Any, Any]) -> None:
        # A worker that is gone, and a session that has ended, need no answer.
        with suppress(EOFError, OSError), connection:
            while True:
                asked = json_io.loads(connection.recv_bytes())
                answer = self._answer(asked)
                # Only now: the session may have been stopped while the record was waited for.
                told = {"id": asked["id"], "stop": self._session.stop_reason, **answer}
                connection.send_bytes(json_io.dumps(told))

    def _answer(self, asked: dict[str, JSON]) -> dict[str, JSON]:
        if "leave_out" in asked:
            self.left_out.update(asked["leave_out"])
            return {}
        try:
            return self._session.fetch(asked["suite"], asked["run"])
        except NotNeeded as enough:
            return {"not_needed": str(enough)}
        except SessionStopped as stopped:
            return {"stopped": str(stopped)}
        except Exception as defect:
            return {"defect": f"{type(defect).__name__}: {defect}"}


def _hang_up(connection: Connection[Any, Any]) -> None:
    """End a connection that a thread may be reading: that thread closes it."""
    with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


class Records:
    """A worker's way to the records of its runs; `stop_reason` is why the session has to end, once it has."""

    def __init__(self, address: str, key: str) -> None:
        self.stop_reason: str | None = None
        self._address = address
        self._key = bytes.fromhex(key)
        self._connection: Connection[Any, Any] | None = None
        self._numbers = itertools.count(1)

    def record(self, run: Run) -> Record:
        """Wait for a run's record. Raises SessionStopped, NotNeeded, or RuntimeError for a defect of ours."""
        try:
            answer = self._ask({"suite": run.suite, "run": run.id})
        except (EOFError, OSError):
            self.stop_reason = GONE
            raise SessionStopped(GONE) from None
        except BaseException:
            # A time-out, for one, may have left half an answer, never to be read as another's.
            self.close()
            raise
        self.stop_reason = answer["stop"]
        return _read(answer)

    def leave_out(self, nodes: Collection[str]) -> None:
        """Say which tests will not ask for their records."""
        if nodes:
            with suppress(EOFError, OSError):
                self._ask({"leave_out": sorted(nodes)})

    def _ask(self, what: dict[str, JSON]) -> dict[str, JSON]:
        if self._connection is None:
            self._connection = Client(self._address, "AF_UNIX", self._key)
        number = next(self._numbers)
        self._connection.send_bytes(json_io.dumps({"id": number, **what}))
        answer: dict[str, JSON] = json_io.loads(self._connection.recv_bytes())
        if answer["id"] != number:
            raise RuntimeError(f"the record of request {answer['id']} came for request {number}")
        return answer

    def close(self) -> None:
        """Let go of the connection; the next record is fetched over another one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _read(answer: dict[str, JSON]) -> Record:
    if "not_needed" in answer:
        raise NotNeeded(answer["not_needed"])
    if "stopped" in answer:
        raise SessionStopped(answer["stopped"])
    if "defect" in answer:
        raise RuntimeError(answer["defect"])
    # The transcripts stay in the journal, where they can be read.
    calls = Calls(Path(answer["journal"]))
    for role, starts in answer["starts"].items():
        for name, start in starts.items():
            calls.put(role, name, start)
    return calls.record(answer)


class Distribution:
    """The hooks of the controller. `begin` opens the session for the node ids that all workers collected."""

    def __init__(self, session: Session, begin: Callable[[Sequence[str]], None], workers: int) -> None:
        self._begin = begin
        self._workers = workers
        self._nodes: list[Any] = []
        self.server = Server(session)

    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker where to fetch records, before it starts."""
        node.workerinput["equipoise"] = self.server.link

    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        """Once all have collected, and before any test is handed out, open the session."""
        self._nodes.append(node)
        if len(self._nodes) == self._workers:
            try:
                self._begin([node for node in ids if node not in self.server.left_out])
            except BaseException:
                # Those that wait for tests would be killed after a while.
                for waiting in self._nodes:
                    waiting.shutdown()
                raise
