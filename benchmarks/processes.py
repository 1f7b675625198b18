"""Runs a command in a process of its own and measures its time and memory."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from serving import ROOT, environment


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessUsage:
    """When a process began and ended (Unix seconds), its CPU seconds and its peak memory in MB.

    CPU includes children that the process has waited for; the peak is that of the largest process.
    """

    began: float
    ended: float
    cpu: float
    peak_mb: float

    @property
    def wall(self) -> float:
        """The seconds from beginning to end."""
        return self.ended - self.began


def spin() -> float:
    """The seconds of a loop of ten million steps, which tells how fast a machine is, and how busy."""
    began = time.perf_counter()
    for _ in range(10_000_000):
        pass
    return time.perf_counter() - began


def measured(command: Sequence[str]) -> ProcessUsage:
    """The usage of a command that runs in the checkout and must succeed."""
    began = time.time()
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, (command, process.returncode)
    return ProcessUsage(
        began=began,
        ended=time.time(),
        cpu=used.ru_utime + used.ru_stime,
        peak_mb=used.ru_maxrss / 1024,
    )
