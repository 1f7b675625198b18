"""Whole sessions in processes of their own that need not import pytest, the SDK and scipy anew.

28 quick tests of sessions take 12 s of CPU in all like this, and 52 s in plain processes.

A server process imports once what every session imports, and forks for each: the session has its own
process, folder, environment and output like one from the command line. So have the workers of xdist, which
are forked from the session as it was before it began. It leans on private parts of pytest and execnet: with
EQUIPOISE_PLAIN_SESSIONS=1 in the environment all sessions are plain processes, as in `make nightly`.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn, TextIO

import pytest

PLAIN = bool(os.environ.get("EQUIPOISE_PLAIN_SESSIONS"))
"""Whether sessions are started as users start them."""
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["preloaded"])


def _start_server() -> None:
    """Start the server unless it runs; of the path of this process it learns by the environment alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        forkserver.ensure_running()


def run(arguments: Sequence[str], folder: Path, timeout: float = 300.0) -> subprocess.CompletedProcess[str]:
    """Run pytest with these arguments in this folder, in the present environment.

    Raises `subprocess.TimeoutExpired`, a guard against hanging, after `timeout` seconds.
    """
    with tempfile.TemporaryDirectory() as scratch:
        written = [Path(scratch, "stdout"), Path(scratch, "stderr")]
        for path in written:
            path.touch()
        session = start(arguments, folder, outputs=[*map(str, written)])
        try:
            session.wait(timeout)
        except subprocess.TimeoutExpired:
            session.kill()
            session.wait()
            shown = [path.read_text(encoding="utf-8") for path in written]
            raise subprocess.TimeoutExpired([*arguments], timeout, *shown) from None
        shown = [path.read_text(encoding="utf-8") for path in written]
        return subprocess.CompletedProcess([*arguments], session.returncode or 0, *shown)


def start(
    arguments: Sequence[str],
    folder: Path,
    *,
    outputs: Sequence[str] = (),
    umask: int | None = None,
    preexec_fn: Callable[[], object] | None = None,
) -> Started:
    """Begin a session, the leader of a group of its own.

    `preexec_fn` is called in its process before it begins; it must be something to be pickled. Without
    `outputs`, paths of files, what is printed is read from `stdout`, until the last process ends.
    """
    begin = _plain if PLAIN else _Forked
    return begin(arguments, folder, outputs, umask, preexec_fn)


def _plain(
    arguments: Sequence[str],
    folder: Path,
    outputs: Sequence[str],
    umask: int | None,
    preexec_fn: Callable[[], object] | None,
) -> Started:
    """A session as from the command line."""
    with ExitStack() as files:
        written = [files.enter_context(open(path, "a", encoding="utf-8")) for path in outputs]
        stdout, stderr = written or (subprocess.PIPE, subprocess.STDOUT)
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            text=True,
            encoding="utf-8",
            start_new_session=True,
            umask=-1 if umask is None else umask,
            preexec_fn=preexec_fn,
        )


class _Forked:
    """A session in a fork of the server."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        outputs: Sequence[str],
        umask: int | None,
        preexec_fn: Callable[[], object] | None,
    ) -> None:
        _start_server()
        reader, writer = _FORKS.Pipe(duplex=False)
        self.arguments = [*arguments]
        self._process = _FORKS.Process(
            target=_session,
            args=(self.arguments, str(folder), dict(os.environ), outputs, writer, umask, preexec_fn),
        )
        self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid
        writer.close()
        self.stdout: TextIO = os.fdopen(os.dup(reader.fileno()), encoding="utf-8")
        reader.close()
        self._shown: list[str] = []
        self._reading: threading.Thread | None = None

    @property
    def returncode(self) -> int | None:
        """The exit status, or the signal that it died of, negated; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """The exit status, if there is one."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the session's own process, not for its workers. Raises TimeoutExpired."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.arguments, timeout or 0.0)
        return self.returncode

    def communicate(self, *, timeout: float | None = None) -> tuple[str, None]:
        """What it still prints, once it and all its workers have ended. Raises TimeoutExpired."""
        if self._reading is None:
            self._reading = threading.Thread(
                target=lambda: self._shown.append(self.stdout.read()), daemon=True
            )
            self._reading.start()
        self._reading.join(timeout)
        if self._reading.is_alive():
            raise subprocess.TimeoutExpired(self.arguments, timeout or 0.0)
        self.wait(timeout)
        return "".join(self._shown), None

    def send_signal(self, number: int) -> None:
        """Send a signal to the session's own process, if it still runs."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """kill -9 of the session's own process."""
        self.send_signal(signal.SIGKILL)


Started = subprocess.Popen[str] | _Forked
"""A session that has begun."""


def _session(
    arguments: list[str],
    folder: str,
    environment: Mapping[str, str],
    outputs: Sequence[str],
    writer: Connection[Any, Any],
    umask: int | None,
    preexec_fn: Callable[[], object] | None,
) -> None:
    """What a session is from the command line, in a fork of the server."""
    os.setsid()
    for number, path in zip((1, 2), outputs, strict=False):
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND), number)
    if not outputs:
        os.dup2(writer.fileno(), 1)
        os.dup2(writer.fileno(), 2)
    writer.close()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    if umask is not None:
        os.umask(umask)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if preexec_fn is not None:
        preexec_fn()
    _reset_signals()
    sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in environment
    added = [entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path = [folder, *added, *_interpreters_path()]
    sys.argv = ["pytest", *arguments]
    sys.stdout.reconfigure(line_buffering="PYTHONUNBUFFERED" in environment)  # type: ignore[union-attr]
    try:
        from _pytest.assertion.rewrite import AssertionRewritingHook

        # The SDK brings anyio along, which is a plugin too, and pytest would warn that it came too early.
        AssertionRewritingHook._warn_already_imported = lambda *_: None  # type: ignore[method-assign]
        if {"-n", "--tx"} & {*arguments}:
            _fork_workers()
        raise SystemExit(pytest.console_main())
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()


def _reset_signals() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _interpreters_path() -> list[str]:
    """The path that an interpreter begins with: without what the tests' own pytest has added to it."""
    prefixes = (sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parent.parent))
    tests = str(Path(__file__).resolve().parent)
    return [entry for entry in sys.path if entry.startswith(prefixes) and not entry.startswith(tests)]


# The workers of xdist.


def _fork_workers() -> None:
    """Have execnet fork its workers from a process that is as this one is now, instead of starting them."""
    from execnet import gateway_base, gateway_io

    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        _fork_on_request(theirs)
    theirs.close()
    plain = [sys.executable, "-u", "-c", gateway_io.popen_bootstrapline]
    start = gateway_io.Popen2IOMaster.__init__

    def fork(io: Any, args: Sequence[str], execmodel: Any) -> None:
        if [*args] != plain:
            start(io, args, execmodel)
            return
        io.popen = worker = _Worker(ours)
        gateway_base.Popen2IO.__init__(io, worker.stdin, worker.stdout, execmodel)

    gateway_io.Popen2IOMaster.__init__ = fork  # type: ignore[method-assign,assignment]


class _Worker:
    """A worker, of which the session is not the parent: what execnet needs of `subprocess.Popen`."""

    def __init__(self, line: socket.socket) -> None:
        (theirs_in, ours_in), (ours_out, theirs_out) = os.pipe(), os.pipe()
        socket.send_fds(line, [b"fork"], [theirs_in, theirs_out])
        os.close(theirs_in)
        os.close(theirs_out)
        self.stdin, self.stdout = os.fdopen(ours_in, "wb"), os.fdopen(ours_out, "rb")
        self.pid = int.from_bytes(line.recv(4), "big")

    def wait(self) -> int:
        """Wait for its end."""
        try:
            process = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return 0
        select.select([process], [], [])
        os.close(process)
        return 0

    def kill(self) -> None:
        """kill -9, if it still runs."""
        os.kill(self.pid, signal.SIGKILL)


def _fork_on_request(line: socket.socket) -> NoReturn:
    """Fork a worker for each pair of descriptors that comes, until the session has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        _, streams, _, _ = socket.recv_fds(line, 4, 2)
        if not streams:
            os._exit(0)
        if (pid := os.fork()) == 0:
            line.close()
            _work(*streams)
        for stream in streams:
            os.close(stream)
        line.sendall(pid.to_bytes(4, "big"))


def _work(stdin: int, stdout: int) -> NoReturn:
    """What `python -c` does with the line that execnet starts a worker with."""
    _reset_signals()
    for number, stream in enumerate((stdin, stdout)):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = os.fdopen(0, "r", closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.argv = ["-c"]
    try:
        exec(eval(sys.stdin.readline()), {"__name__": "__main__"})  # noqa: S102, S307
    finally:
        atexit._run_exitfuncs()
        sys.stderr.flush()
        os._exit(0)
