"""The client's CPU per call in batches and one by one: whole sessions against a server on loopback.

    python benchmarks/batches.py [--repeat 3]

The full neutrality dataset (750 runs, 1,500 calls), less a session of 20 calls, which is start-up. The
server has a process of its own. The figures are the best of the repetitions: others are slower because the
machine is busy.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile

from processes import measured
from serving import ROOT

SMALL, FULL = ("--runs", "1", "--limit", "10", "-k", "en_US or en-US"), ()
SERVER = """
import sys
sys.path[:0] = [{tests!r}, {root!r}]
import loopback
from batch_server import BatchServer

def script(body, number):
    question = loopback.question_of(body)
    if loopback.is_judge(body):
        return loopback.with_facts(loopback.verdict(3), body)
    return "An answer to: " + question

with BatchServer() as server:
    server.script = script
    print(server.url, flush=True)
    sys.stdin.read()
"""


def cpu(arguments: tuple[str, ...]) -> float:
    """CPU seconds of one session."""
    code = SERVER.format(tests=str(ROOT / "tests"), root=str(ROOT))
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        used = _session(url, folder, arguments)
        server.stdin.close()
    return used


def _session(url: str, folder: str, arguments: tuple[str, ...]) -> float:
    command = (
        *(sys.executable, "-m", "pytest", "-q", "--model", "subject", "--evaluator-model", "judge"),
        *("--api-base-url", url, "--concurrency", "64", f"--output={folder}/out.json", *arguments),
    )
    return measured(command).cpu


def per_call(flags: tuple[str, ...], repeat: int) -> float:
    """Milliseconds of CPU per call, beyond start-up."""
    small, full = (min(cpu((*flags, *size)) for _ in range(repeat)) for size in (SMALL, FULL))
    return (full - small) / (1500 - 20) * 1000


def main() -> None:
    """Print a line for single calls and one for batches."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    for name, flags in {"one by one": (), "in batches": ("--batch", "--batch-wait", "10m")}.items():
        print(f"{name:<12}{per_call(flags, repeat):6.2f} ms of CPU a call", flush=True)


if __name__ == "__main__":
    main()
