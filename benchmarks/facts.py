"""Do 3,000 short questions keep the engine at its ceiling, and what does it cost to collect them?

    python benchmarks/facts.py

Against the loopback endpoint of throughput.py (250 ms, 64 in flight): wall time of the asking over the ideal
one, results written, and the CPU that collecting 3,000 questions adds to collecting one, without the cache of
pytest, which remembers all tests that a checkout ever saw. Fails where
collecting adds too much or one process is too slow; run it on a machine that does nothing else.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from pathlib import Path

import throughput
from processes import measured
from throughput import CONCURRENCY, measure

QUESTIONS = 3000
LATENCY = 0.25
MOST_ADDED = 0.3
"""CPU seconds that collecting them may add."""
MOST_OVER_IDEAL = 1.3
"""Asking over the ideal, in one process; with workers the machine's cores decide."""
FILE = "tests_benchmark/test_chinese_simpleqa.py"


def collecting(topics: Path, limit: int, repeat: int = 7) -> float:
    """CPU seconds of `--collect-only`, the best of the repetitions."""
    command = (
        *(sys.executable, "-m", "pytest", FILE, "-q", "--collect-only", "--model", "subject"),
        *("-p", "no:cacheprovider", f"--topics={topics}", "--limit", str(limit)),
    )
    return min(measured(command).cpu for _ in range(repeat))


def main() -> None:
    """Print both; fail where collecting adds too much, or one process does not keep the engine busy."""
    throughput.LATENCY = LATENCY
    ideal = math.ceil(QUESTIONS / CONCURRENCY) * 2 * LATENCY
    with tempfile.TemporaryDirectory() as folder:
        topics = Path(folder) / "questions.jsonl"
        rows = ({"id": f"q{n}", "question": f"Question {n}?", "answer": str(n)} for n in range(QUESTIONS))
        topics.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        added = collecting(topics, QUESTIONS) - collecting(topics, 1)
        print(f"collecting {QUESTIONS:,} questions adds {added:.2f} s of CPU")
        assert added < MOST_ADDED, f"collecting adds {added:.2f} s, and may add {MOST_ADDED} s"
        for name, flags in (("no xdist", ()), ("-n 2", ("-n", "2"))):
            found = min(
                (measure(FILE, f"--topics={topics}", *flags, evaluator="grader") for _ in range(2)),
                key=lambda m: m.asking,
            )
            assert found.calls == 2 * QUESTIONS, found
            print(
                f"{name:<8} {found.calls:,} calls in {found.asking:.2f} s, {found.asking / ideal:.2f} of the "
                f"ideal {ideal:.2f} s; {found.cpu / found.calls * 1000:.2f} ms of CPU a call"
            )
            assert flags or found.asking < MOST_OVER_IDEAL * ideal, (
                f"more than {MOST_OVER_IDEAL} of the ideal"
            )


if __name__ == "__main__":
    main()
