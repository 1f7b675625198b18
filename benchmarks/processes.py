"""Runs a command in a process of its own and measures what it takes."""

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

    With the workers that it has waited for.
    """

    began: float
    ended: float
    cpu: float
    peak_mb: float

    @property
    def wall(self) -> float:
        """Seconds from its beginning to its end."""
        return self.ended - self.began


def measured(command: Sequence[str]) -> ProcessUsage:
    """What a command takes in the checkout; it has to succeed."""
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
