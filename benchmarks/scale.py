"""Does a run cost the same however many there are? Collects, and replays a journal that is all but complete.

    python benchmarks/scale.py [--most 75000]

For 7,500 and 75,000 runs of the project's questions: the CPU of `--collect-only`, and of a session that
finds every run but one in its journal, by run; and the memory of the process. Fails where a run of the
larger number costs more than half as much again as one of the smaller.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.records import Record, Verdict
from equipoise.core.types import Call, Message, Reply, Usage
from equipoise.results import journal
from equipoise.results.journal import Journal

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = 150
MOST_GROWTH = 1.5
REPLY = Reply(
    text="A balanced answer that names its sources. " * 40,
    finish_reason="stop",
    usage=Usage(input=400, output=300),
    model="bench-1",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """CPU seconds and peak megabytes of one process."""

    cpu: float
    peak_mb: float


def session(port: str, output: Path, *arguments: str) -> Used:
    """Run pytest to its end."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    client = subprocess.Popen(
        [
            *(sys.executable, "-m", "pytest", "-q", "--model", "subject", "--evaluator-model", "judge"),
            *("--api-base-url", f"http://127.0.0.1:{port}/v1", f"--output={output}", *arguments),
            # Else pytest would hold the names of all tests that were ever run in this checkout.
            *("-o", f"cache_dir={output.parent}/cache"),
        ],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(client.pid, 0)
    client.returncode = os.waitstatus_to_exitcode(status)
    assert client.returncode in (0, 2), client.args
    return Used(cpu=used.ru_utime + used.ru_stime, peak_mb=used.ru_maxrss / 1024)


def fill(path: Path) -> None:
    """Write calls and records of every planned run but the last into a journal that has a session."""
    plan = next(line.entry["plan"] for line in journal.read(path, kinds=("session",)))
    log = Journal(path, "bench")
    for run in list(plan)[:-1]:
        case, _, number = run.rpartition("-run")
        asked = Message(role="user", content="Why? " * 20)
        judged = Message(role="user", content="Judge this. " * 200)
        question = Call(role="subject", model="subject", messages=(asked,), parameters={})
        judging = Call(role="evaluator", model="judge", messages=(judged,), parameters={})
        calls = [log.append_call(run, call, "0" * 64, REPLY) for call in (question, judging)]
        log.append_record(_record(case, int(number), plan[run]), [call.id for call in calls])
    log.close()


def _record(case: str, number: int, language: str) -> Record:
    details = {"id": case, "language": language, "area": "area", "item": case, "index": 1, "question": "Why?"}
    verdict = Verdict(
        evaluator="judge", fields={"score": 4, "reasoning": "Fair. " * 30, "refused": False}, attempts=1
    )
    return Record(case=details, run=number, outcome="scored", score=4, percent=75, verdicts=(verdict,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Milliseconds of CPU by run to collect and to replay; peak and journal in megabytes."""

    runs: int
    collecting: float
    replaying: float
    peak: float
    journal: float

    def __str__(self) -> str:
        return (
            f"{self.runs:>7,} {self.collecting:11.2f} ms {self.replaying:11.2f} ms "
            f"{self.peak:8.0f} MB {self.journal:8.0f} MB"
        )


def measure(port: str, runs: int) -> Row:
    """One row of the table."""
    repeats = ("--runs", str(runs // QUESTIONS))
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "out.json")
        collecting = session(port, output, *repeats, "--collect-only")
        session(port, output, *repeats, "--max-calls", "1", "--concurrency", "1")
        fill(output.with_suffix(".jsonl"))
        replaying = session(port, output, *repeats)
        size = output.with_suffix(".jsonl").stat().st_size / 1e6
    return Row(
        runs=runs,
        collecting=collecting.cpu / runs * 1000,
        replaying=replaying.cpu / runs * 1000,
        peak=replaying.peak_mb,
        journal=size,
    )


def main() -> None:
    """Print the table; fail where it is not linear."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, default=75_000)
    most = parser.parse_args().most
    command = [sys.executable, str(ROOT / "benchmarks" / "server.py"), "0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        print("   runs  to collect     to replay  peak memory   journal")
        rows = []
        for runs in (most // 10, most):
            rows.append(measure(port, runs))
            print(rows[-1], flush=True)
        server.stdin.close()
    smaller, larger = rows
    assert larger.collecting <= MOST_GROWTH * smaller.collecting
    assert larger.replaying <= MOST_GROWTH * smaller.replaying


if __name__ == "__main__":
    main()
