"""What a crash costs: sessions that are stopped in every way, and taken up again until they are complete.

    python benchmarks/crashes.py

60 runs, 120 calls of 0.2 s, 16 in flight, against a loopback endpoint. For each way of stopping, which
happens after some 50 calls, prints how many lines of the journal were lost, how many calls were made
again, and how the last session ended; without xdist and with -n 2.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CALLS, STOP_AFTER = 120, 50
FULL = 60_000


@dataclass(slots=True)
class Bed:
    """A folder and an endpoint for sessions of one row of the table."""

    port: str
    folder: Path
    workers: str

    @property
    def journal(self) -> Path:
        """The journal of all sessions."""
        return self.folder / "out.jsonl"

    def status(self) -> str | None:
        """The status of the results, None where there are none."""
        path = self.folder / "out.json"
        return str(json.loads(path.read_text())["metadata"]["status"]) if path.exists() else None

    def calls(self) -> int:
        """How many calls have come to the endpoint."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stats") as answer:
            return int(json.load(answer)["calls"])

    def start(self, prepare: Callable[[], None] | None = None) -> subprocess.Popen[bytes]:
        """Begin a session in a process group of its own."""
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "pytest", "-q", "--model", "subject", "--evaluator-model", "judge"),
                *("--api-base-url", f"http://127.0.0.1:{self.port}/v1", "--concurrency", "16"),
                *("--limit", "10", "--runs", "2", f"--output={self.folder}/out.json", "-n", self.workers),
            ],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=prepare,
        )

    def start_and_wait(self) -> subprocess.Popen[bytes]:
        """Begin a session and wait until it is in the middle of its calls."""
        session = self.start()
        while self.calls() < STOP_AFTER and session.poll() is None:
            time.sleep(0.02)
        return session


def kill_all(bed: Bed) -> None:
    """kill -9 of everything"""
    session = bed.start_and_wait()
    os.killpg(session.pid, signal.SIGKILL)
    session.wait()


def kill_controller(bed: Bed) -> None:
    """kill -9 of the controller"""
    session = bed.start_and_wait()
    session.kill()
    session.wait()
    time.sleep(2)


def kill_worker(bed: Bed) -> None:
    """kill -9 of a worker"""
    session = bed.start_and_wait()
    children = Path(f"/proc/{session.pid}/task/{session.pid}/children").read_text().split()
    os.kill(int(children[0]) if children else session.pid, signal.SIGKILL)
    session.wait()


def terminate(bed: Bed) -> None:
    """SIGTERM"""
    session = bed.start_and_wait()
    session.terminate()
    session.wait()


def interrupt(bed: Bed) -> None:
    """SIGINT"""
    session = bed.start_and_wait()
    os.killpg(session.pid, signal.SIGINT)
    session.wait()


def interrupt_twice(bed: Bed) -> None:
    """SIGINT twice"""
    session = bed.start_and_wait()
    os.killpg(session.pid, signal.SIGINT)
    time.sleep(0.05)
    os.killpg(session.pid, signal.SIGINT)
    session.wait()


def fill_disk(bed: Bed) -> None:
    """full disk"""
    bed.start(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (FULL, FULL))).wait()


def cut_line(bed: Bed) -> None:
    """kill -9, and the journal's last line cut"""
    kill_all(bed)
    os.truncate(bed.journal, bed.journal.stat().st_size - 100)


WAYS = (kill_all, kill_controller, kill_worker, terminate, interrupt, interrupt_twice, fill_disk, cut_line)


def measure(way: Callable[[Bed], None], workers: str) -> str:
    """One row: what this way of stopping costs."""
    command = [sys.executable, str(ROOT / "benchmarks" / "server.py"), "0.2"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        bed = Bed(port=server.stdout.readline().strip(), folder=Path(folder), workers=workers)
        way(bed)
        before = bed.journal.read_bytes()
        if bed.status() != "complete":
            bed.start().wait()
        after, made, status = bed.journal.read_bytes(), bed.calls(), bed.status()
        server.stdin.close()
    lost = 0 if after.startswith(before) else before.count(b"\n")
    return f"{lost:>10} {made - CALLS:>12}  {status}"


def main() -> None:
    """Print the table."""
    print(f"{'':<48} lines lost  calls again")
    for way in WAYS:
        for workers in ("0", "2"):
            name = f"{way.__doc__}, -n {workers}"
            print(f"{name:<48} {measure(way, workers)}", flush=True)


if __name__ == "__main__":
    main()
