"""Runs another program, and ends it with all its children once the parent of this process has ended.

    python -m equipoise.runner.guard COMMAND...

The parent process holds the other end of this one's standard input, a pipe. When the parent ends in any way,
the pipe closes: then the program gets SIGTERM, and later SIGKILL. Children that outlive the program are ended
as well. SIGINT and SIGTERM are passed on to the program, which gets SIGTERM if this process is killed. This
module imports nothing of the package, to start fast.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from types import FrameType

import psutil

GRACE_SECONDS = 10.0
"""Seconds between SIGTERM and SIGKILL."""
_PIPE = 0
"""The file descriptor of standard input."""
_SET_PARENT_DEATH_SIGNAL = 1
"""An option of prctl(2): the signal that this process gets when its parent has ended."""
_SET_CHILD_SUBREAPER = 36
"""An option of prctl(2): orphaned descendants become children of this process, so it can end them."""


def main(command: Sequence[str]) -> int:
    """Run the command. Returns its exit status as a shell does: 128 + N if signal N has ended it."""
    _set(_SET_CHILD_SUBREAPER, 1)
    child = subprocess.Popen(  # noqa: S603 - the user's own command
        command,
        stdin=subprocess.DEVNULL,
        preexec_fn=partial(_set, _SET_PARENT_DEATH_SIGNAL, signal.SIGTERM),
    )

    def forward(number: int, frame: FrameType | None) -> None:
        child.send_signal(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, forward)
    try:
        _await_end(child)
    finally:
        end_all(psutil.Process().children(recursive=True))
    status = child.wait()
    return 128 - status if status < 0 else status


def _set(option: int, value: int) -> None:
    """Set an option of this process with prctl(2), where there is one (only Linux has it)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _await_end(child: subprocess.Popen[bytes]) -> None:
    """Wait until the child has ended, or the pipe is closed."""
    child_fd = os.pidfd_open(child.pid) if hasattr(os, "pidfd_open") else None
    watched = [_PIPE] if child_fd is None else [_PIPE, child_fd]
    while child.poll() is None:
        # Where there is no pidfd (only Linux has it), poll the child twice a second.
        ready, _, _ = select.select(watched, [], [], 0.5 if child_fd is None else None)
        # A closed pipe counts as ready, and has nothing to read.
        if _PIPE in ready and not os.read(_PIPE, 1024):
            return


def end_all(processes: Sequence[psutil.Process]) -> None:
    """Send SIGTERM to these processes, and SIGKILL after GRACE_SECONDS seconds to those that still run."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, running = psutil.wait_procs(processes, timeout=GRACE_SECONDS)
    # Including children that they have started meanwhile.
    for process in {*running, *psutil.Process().children(recursive=True)}:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(running, timeout=GRACE_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
