"""The guard of a session's process leaves nothing behind when its own parent has ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import is_gone, wait_for

PROGRAM = """
trap 'sleep 60 >&- 2>&- & echo $! > late; exit 0' TERM
echo ready
while :; do sleep 0.05; done
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux makes orphans children of the guard")
def test_a_child_that_is_started_at_the_end_is_ended_too(tmp_path: Path) -> None:
    """A program that starts one when it gets SIGTERM, and is then gone, leaves it to the guard."""
    command = (sys.executable, "-m", "equipoise.runner.guard", "sh", "-c", PROGRAM)
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as guard:
        assert guard.stdout is not None
        assert guard.stdout.readline() == "ready\n"
        guard.communicate(timeout=30)
    assert guard.returncode == 0
    child = int((tmp_path / "late").read_text())
    wait_for(lambda: is_gone(child), seconds=10)
