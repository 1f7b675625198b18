"""Runs another program, and ends it with all its children when the process that started this one is gone.

    python -m equipoise.runner.guard COMMAND...

Its standard input is a pipe held by that process: when the process ends, in any way, the pipe closes, and
the program gets SIGTERM, then SIGKILL. Children that outlive the program are ended, too. Interruptions are
passed on. Imports nothing of this package, as each cell of a sweep waits for it.
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
from types import FrameType

import psutil

GRACE = 10.0
"""Seconds between SIGTERM and SIGKILL."""
_SET_CHILD_SUBREAPER = 36
"""An option of prctl(2): orphans among the descendants become children of this process, and can be found."""


def main(command: Sequence[str]) -> int:
    """Run the command; its exit status, as a shell gives it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 - the user's own command

    def pass_on(number: int, frame: FrameType | None) -> None:
        child.send_signal(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, pass_on)
    try:
        _await(child)
    finally:
        end_all(psutil.Process().children(recursive=True))
    status = child.wait()
    return 128 - status if status < 0 else status


def _await(child: subprocess.Popen[bytes]) -> None:
    """Until the child has ended or the pipe has."""
    ended = os.pidfd_open(child.pid) if hasattr(os, "pidfd_open") else None
    watched = [0] if ended is None else [0, ended]
    while child.poll() is None:
        # Without pidfd, as outside of Linux, the child is looked at twice a second.
        ready, _, _ = select.select(watched, [], [], 0.5 if ended is None else None)
        if 0 in ready and not os.read(0, 1024):
            return


def end_all(processes: Sequence[psutil.Process]) -> None:
    """SIGTERM to all of these, and SIGKILL after GRACE seconds."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, left = psutil.wait_procs(processes, timeout=GRACE)
    # What they started meanwhile, too.
    for process in {*left, *psutil.Process().children(recursive=True)}:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=GRACE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
