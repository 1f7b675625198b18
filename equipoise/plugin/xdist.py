"""Support for pytest-xdist: one engine in the controller serves all workers.

A worker has no engine, no client and no journal. Its tests fetch their records over a local socket from the
controller, which makes the calls and writes the journal. Therefore every distribution mode of xdist works,
and no reply is lost when a worker crashes.
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
from equipoise.core.errors import BatchWaiting, NotNeeded, SessionStopped
from equipoise.core.records import Record
from equipoise.core.types import JSON, Run
from equipoise.results import lines
from equipoise.results.index import Calls
from equipoise.results.lines import RecordLine
from equipoise.runner.session import Session

MAX_PATH_BYTES = 70
"""The longest path of a temporary folder in which the socket is created, in bytes."""
CONTROLLER_GONE = "the controller process has ended"
"""The stop reason of a worker whose controller has died."""
_REASONS = {"not_needed": NotNeeded, "waiting": BatchWaiting, "stopped": SessionStopped}
"""The exceptions that an answer may report in place of a record, by the key of their message."""


class WorkerServer:
    """Answers requests for records from the workers, each in its own thread, until `close`.

    `skipped` are the node ids of the tests that the workers will skip.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        # The path of a socket is limited to about 100 bytes.
        folder = tempfile.gettempdir()
        if len(os.fsencode(folder)) > MAX_PATH_BYTES:
            folder = "/tmp"  # noqa: S108
        self._folder = tempfile.TemporaryDirectory(prefix="equipoise-", dir=folder)
        self._key = os.urandom(32)
        self._listener = Listener(str(Path(self._folder.name) / "s"), "AF_UNIX", 128, self._key)
        self._connections: list[Connection[Any, Any]] = []
        self.skipped: set[str] = set()
        threading.Thread(target=self._accept, name="equipoise-accept", daemon=True).start()

    @property
    def link(self) -> dict[str, str]:
        """The address and key for a worker, in a form that xdist can send."""
        return {"address": str(self._listener.address), "key": self._key.hex()}

    def close(self) -> None:
        """Close all connections."""
        self._listener.close()
        for connection in self._connections:
            _shut_down(connection)
        self._folder.cleanup()

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except OSError:
                return
            except Exception:  # noqa: S112 - not one of our workers, or a dead one
                continue
            self._connections.append(connection)
            threading.Thread(
                target=self._serve, args=(connection,), name="equipoise-worker", daemon=True
            ).start()

    def _serve(self, connection: Connection[Any, Any]) -> None:
        # The worker may have died, or the session ended, before the response is sent.
        with suppress(EOFError, OSError), connection:
            while True:
                request = json_io.loads(connection.recv_bytes())
                answer = self._answer(request)
                # The stop reason is read last, as the session may be stopped while the worker waits.
                response = {"id": request["id"], "stop": self._session.stop_reason, **answer}
                connection.send_bytes(json_io.dumps(response))

    def _answer(self, request: dict[str, JSON]) -> dict[str, JSON]:
        if "skipped" in request:
            self.skipped.update(request["skipped"])
            return {}
        try:
            return self._session.fetch(request["suite"], request["run"])
        except (NotNeeded, BatchWaiting, SessionStopped) as error:
            return {next(key for key, kind in _REASONS.items() if isinstance(error, kind)): str(error)}
        except Exception as error:
            return {"defect": f"{type(error).__name__}: {error}"}


def _shut_down(connection: Connection[Any, Any]) -> None:
    """Shut down a connection that another thread may be reading; that thread closes it."""
    with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as duplicate:
        duplicate.shutdown(socket.SHUT_RDWR)


class RecordClient:
    """Fetches the records of a worker's runs from the controller's WorkerServer.

    `stop_reason` says why the session has to end; it is None while the session continues.
    """

    def __init__(self, address: str, key: str) -> None:
        self.stop_reason: str | None = None
        self._address = address
        self._key = bytes.fromhex(key)
        self._connection: Connection[Any, Any] | None = None
        self._request_numbers = itertools.count(1)

    def record(self, run: Run) -> Record:
        """Wait for a run's record. Raises SessionStopped, NotNeeded, or BatchWaiting.

        Raises RuntimeError if the controller has a bug.
        """
        try:
            answer = self._request({"suite": run.suite, "run": run.id})
        except (EOFError, OSError):
            self.stop_reason = CONTROLLER_GONE
            raise SessionStopped(CONTROLLER_GONE) from None
        except BaseException:
            # A timeout, for example, may leave a partial answer, which the next request must not read.
            self.close()
            raise
        self.stop_reason = answer["stop"]
        return _read(answer)

    def skip(self, nodes: Collection[str]) -> None:
        """Report the node ids of tests that will be skipped, and so will not request their records."""
        if nodes:
            with suppress(EOFError, OSError):
                self._request({"skipped": sorted(nodes)})

    def _request(self, request: dict[str, JSON]) -> dict[str, JSON]:
        if self._connection is None:
            self._connection = Client(self._address, "AF_UNIX", self._key)
        number = next(self._request_numbers)
        self._connection.send_bytes(json_io.dumps({"id": number, **request}))
        answer: dict[str, JSON] = json_io.loads(self._connection.recv_bytes())
        if answer["id"] != number:
            raise RuntimeError(f"received the record of request {answer['id']} for request {number}")
        return answer

    def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _read(answer: dict[str, JSON]) -> Record:
    """The record in an answer. Raises the exception that the answer reports instead."""
    for key, kind in {**_REASONS, "defect": RuntimeError}.items():
        if key in answer:
            raise kind(answer[key])
    # The transcripts are read from the journal when needed.
    calls = Calls(Path(answer["journal"]))
    for role, starts in answer["starts"].items():
        for name, start in starts.items():
            calls.put(role, name, start)
    line = lines.decode(answer["line"].encode())
    assert isinstance(line, RecordLine)
    return calls.record(line)


class Distribution:
    """The xdist hooks of the controller. `begin` begins the session, given the node ids of the tests to run.

    `workers` is the number of workers.
    """

    def __init__(self, session: Session, begin: Callable[[Sequence[str]], None], workers: int) -> None:
        self._begin = begin
        self._workers = workers
        self._collected_nodes: list[Any] = []
        self.server = WorkerServer(session)

    def pytest_configure_node(self, node: Any) -> None:
        """Send a worker the address of the server before it starts."""
        node.workerinput["equipoise"] = self.server.link

    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        """Begin the session once all workers have collected, before any test is distributed."""
        self._collected_nodes.append(node)
        if len(self._collected_nodes) == self._workers:
            try:
                self._begin([nodeid for nodeid in ids if nodeid not in self.server.skipped])
            except BaseException:
                # Otherwise the workers would wait for tests, until they are killed.
                for worker in self._collected_nodes:
                    worker.shutdown()
                raise
