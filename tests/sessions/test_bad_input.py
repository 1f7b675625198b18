"""What cannot work is refused before anything is spent: exit 4, one line, no call, no file."""

from __future__ import annotations

import subprocess

import pytest

from conftest import Bench


def refusal(bench: Bench, *arguments: str) -> str:
    """The one line of a session that does not even make the folder of results."""
    line = bench.refusal(*arguments)
    assert not (bench.folder / "results").exists()
    return line


def test_a_bad_value_on_the_command_line(bench: Bench) -> None:
    """The line names the option and the value."""
    assert "--runs: '1.5' is not a whole number from 1 up" in refusal(bench, "--runs=1.5")


@pytest.mark.slow
def test_too_few_open_files(bench: Bench) -> None:
    """The line has the limit that the shell has set, and what the session needs."""
    limited = ("sh", "-c", 'ulimit -n 40; exec "$@"', "sh", *bench.command("-n", "4"))
    done = subprocess.run(limited, cwd=bench.folder, capture_output=True, text=True, check=False)
    assert (done.returncode, bench.server.requests) == (4, []), done.stdout + done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith(
        "ERROR: at most 40 files may be open (ulimit -n), and --concurrency 32 with 4 workers"
    )
