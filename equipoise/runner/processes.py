"""Runs the processes of a cell: its session, and its server if it starts one. Each has a guard process."""

from __future__ import annotations

import secrets
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import psutil

from equipoise.core.errors import EquipoiseError, UserError
from equipoise.core.files import shown
from equipoise.results import store
from equipoise.results.store import Files
from equipoise.runner.cells import Server, SweepCell
from equipoise.runner.guard import GRACE_SECONDS

INTERRUPTED = 2
"""The exit status of a session that was stopped, and of a cell whose server failed."""
_LOCKED_SECONDS = 60.0
"""Seconds that a restarted cell waits for the lock of its earlier session, whose Ray worker was lost."""
_POLL_SECONDS = 0.2
_LAST_BYTES = 2000
"""How much of the end of a server's log is read to find its last line."""
_MARK = "EQUIPOISE_GUARDED"
"""The environment variable by which the processes of a guard are found if the guard is killed."""
_SESSION = "from equipoise.cli import main; main()"
"""The program of a session's process: the command `equipoise`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellEnd:
    """The end of a cell: its exit status, its duration, and the reason if its session did not run."""

    status: int
    reason: str = ""
    seconds: float = 0.0


class ServerFailed(EquipoiseError):  # noqa: N818 - it names an event of the domain, not a defect
    """The server of a cell has ended, or did not answer in time."""


def run(
    cell: SweepCell, root: Path, variables: Mapping[str, str], stop: threading.Event | None = None
) -> CellEnd:
    """Run a cell's session, with its server, in the folder `root`, and wait for its end.

    The session is interrupted when `stop` is set, and by a KeyboardInterrupt. Its finished runs are then in
    its journal.
    """
    begun, stop = time.monotonic(), stop or threading.Event()
    try:
        cell.folder.mkdir(parents=True, exist_ok=True)
        _await_lock(cell.files, stop)
        with _server(cell, root, variables, stop) as arguments:
            command = [sys.executable, "-c", _SESSION, "run", cell.suite, *arguments]
            with _guarded_process(command, root, cell.environment(variables), cell.log) as session:
                status = _wait(session, stop)
    except (ServerFailed, UserError) as error:
        return CellEnd(status=INTERRUPTED, reason=str(error), seconds=time.monotonic() - begun)
    seconds = time.monotonic() - begun
    if status < 0:
        return CellEnd(status=INTERRUPTED, reason=f"its guard was killed (signal {-status})", seconds=seconds)
    return CellEnd(status=status, seconds=seconds)


def _await_lock(files: Files, stop: threading.Event) -> None:
    """Wait until no other session has a lock on these files.

    Raises UserError if the files are still locked after _LOCKED_SECONDS, or when `stop` is set.
    """
    deadline = time.monotonic() + _LOCKED_SECONDS
    while True:
        try:
            store.lock(files).release()
            return
        except UserError:
            if time.monotonic() > deadline or stop.wait(_POLL_SECONDS):
                raise


# Guards.


@contextmanager
def _guarded_process(
    command: Sequence[str], folder: Path, variables: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command during the block, in a guard process, which also ends the command if this process ends.

    The command's output is appended to `log`. Yields the guard, which has the command's exit status.
    """
    guard, mark = [sys.executable, "-m", "equipoise.runner.guard", *command], secrets.token_hex(8)
    with log.open("ab") as output:
        process = subprocess.Popen(  # noqa: S603 - the sweep's own session, or the user's command
            guard,
            cwd=folder,
            env={**variables, _MARK: mark},
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Not in the terminal's group: the sweep receives Ctrl-C and passes it on.
            start_new_session=True,
        )
    assert process.stdin is not None
    try:
        yield process
    finally:
        process.stdin.close()
        _await_end(process)
        if process.returncode == -signal.SIGKILL:
            _end_marked(mark)


def _end_marked(mark: str) -> None:
    """End all processes with this mark in their environment, which a killed guard has left behind."""
    processes = [process for process in psutil.process_iter() if _is_marked(process, mark)]
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        _, processes = psutil.wait_procs(processes, timeout=GRACE_SECONDS)


def _is_marked(process: psutil.Process, mark: str) -> bool:
    # The environment of other users' processes, and of those that have ended, cannot be read.
    with suppress(psutil.Error, OSError):
        return process.environ().get(_MARK) == mark
    return False


def _await_end(process: subprocess.Popen[bytes]) -> None:
    """Wait even if interrupted: the next process may need the port or the GPU of this one."""
    while process.poll() is None:
        with suppress(KeyboardInterrupt, subprocess.TimeoutExpired):
            process.wait(_POLL_SECONDS)


def _wait(session: subprocess.Popen[bytes], stop: threading.Event) -> int:
    """Wait for the session, passing interruptions on to it. Returns its exit status."""
    is_interrupted = False
    while True:
        try:
            with suppress(subprocess.TimeoutExpired):
                return session.wait(_POLL_SECONDS)
            if stop.is_set() and not is_interrupted:
                is_interrupted = True
                session.send_signal(signal.SIGINT)
        except KeyboardInterrupt:
            session.send_signal(signal.SIGINT)


# Servers.


@contextmanager
def _server(
    cell: SweepCell, root: Path, variables: Mapping[str, str], stop: threading.Event
) -> Iterator[list[str]]:
    """Run the cell's server, if it has one, during the block. Yields the arguments of its session.

    Raises ServerFailed.
    """
    if cell.server is None:
        yield cell.arguments()
        return
    port = _free_port()
    with _guarded_process(_server_command(cell, port), root, variables, cell.server_log) as process:
        _await_ready(cell, cell.server, process, port, stop)
        arguments = cell.arguments()
        if "api_base_url" not in cell.options:
            arguments.append(f"--api-base-url=http://127.0.0.1:{port}/v1")
        yield arguments


def _server_command(cell: SweepCell, port: int) -> list[str]:
    """The server's command, split as by a shell before the values are filled in."""
    assert cell.server is not None
    values = {"{model}": cell.model, "{port}": str(port)}
    words = shlex.split(cell.server.command)
    for name, value in values.items():
        words = [word.replace(name, value) for word in words]
    return words


def _free_port() -> int:
    with socket.socket() as any_free:
        any_free.bind(("127.0.0.1", 0))
        port: int = any_free.getsockname()[1]
        return port


def _await_ready(
    cell: SweepCell, server: Server, process: subprocess.Popen[bytes], port: int, stop: threading.Event
) -> None:
    """Wait until the server answers with success.

    Raises ServerFailed if the server ends, if its timeout is over, or when `stop` is set.
    """
    url, deadline = f"http://127.0.0.1:{port}{server.ready}", time.monotonic() + server.timeout
    # Without the environment's proxies, as the server is on this machine.
    opener = build_opener(ProxyHandler({}))
    while True:
        with suppress(URLError, OSError, ValueError), opener.open(url, timeout=5):
            return
        if process.poll() is not None:
            last_line = _last_line(cell.server_log)
            raise ServerFailed(f"the server ended with status {process.returncode}: {last_line}")
        if time.monotonic() > deadline or stop.is_set():
            why = "interrupted" if stop.is_set() else f"no answer to {server.ready} in {server.timeout:g} s"
            raise ServerFailed(f"the server: {why}; its log is {shown(cell.server_log)}")
        time.sleep(_POLL_SECONDS)


def _last_line(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _LAST_BYTES))
        lines = file.read().decode("utf-8", "replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "it printed nothing")
