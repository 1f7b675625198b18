"""A session of 3,000 short questions: how near the calls come to the ideal time, and the CPU of collection.

    python benchmarks/facts.py

Against the loopback endpoint of throughput.py (250 ms, 64 in flight): wall time of the calls, with results
written, over the ideal, and the CPU that collecting 3,000 questions adds to collecting one, without the cache
of pytest, which has all tests that were ever run in a checkout. Fails if collection adds too much or one
process is too slow; run it on an idle machine.
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
MAX_ADDED = 0.3
"""The CPU seconds that collecting the questions may add."""
MAX_OVER_IDEAL = 1.3
"""The limit of wall time over the ideal, in one process; with workers it depends on the machine's cores."""
FILE = "tests_benchmark/test_chinese_simpleqa.py"


def collection_seconds(topics: Path, limit: int, repeat: int = 7) -> float:
    """The CPU seconds of `--collect-only`, the best of the repetitions."""
    command = (
        *(sys.executable, "-m", "pytest", FILE, "-q", "--collect-only", "--model", "subject"),
        *("-p", "no:cacheprovider", f"--topics={topics}", "--limit", str(limit)),
    )
    return min(measured(command).cpu for _ in range(repeat))


def main() -> None:
    """Print both figures; fail if collection adds too much, or one process is too slow."""
    throughput.LATENCY = LATENCY
    ideal = math.ceil(QUESTIONS / CONCURRENCY) * 2 * LATENCY
    with tempfile.TemporaryDirectory() as folder:
        topics = Path(folder) / "questions.jsonl"
        rows = ({"id": f"q{n}", "question": f"Question {n}?", "answer": str(n)} for n in range(QUESTIONS))
        topics.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        added = collection_seconds(topics, QUESTIONS) - collection_seconds(topics, 1)
        print(f"collecting {QUESTIONS:,} questions adds {added:.2f} s of CPU")
        assert added < MAX_ADDED, f"collecting adds {added:.2f} s, and may add {MAX_ADDED} s"
        for name, flags in (("no xdist", ()), ("-n 2", ("-n", "2"))):
            usage = min(
                (measure(FILE, f"--topics={topics}", *flags, evaluator="grader") for _ in range(2)),
                key=lambda usage: usage.asking,
            )
            # Each model is also asked once before the first question.
            assert usage.calls == 2 * QUESTIONS + 2, usage
            print(
                f"{name:<8} {usage.calls:,} calls in {usage.asking:.2f} s, {usage.asking / ideal:.2f} of the "
                f"ideal {ideal:.2f} s; {usage.cpu / usage.calls * 1000:.2f} ms of CPU a call"
            )
            assert flags or usage.asking < MAX_OVER_IDEAL * ideal, f"more than {MAX_OVER_IDEAL} of the ideal"


if __name__ == "__main__":
    main()
