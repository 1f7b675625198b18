"""What it costs to compare two results files of 750 runs, start-up included.

    python benchmarks/comparing.py [--repeat 3]

Makes two results of the neutrality questions with simulated scores and replies of a usual length, and runs
`equipoise compare` on them. Prints the best wall time and CPU time; on a busy machine the rest is noise.
Fails where the best wall time is not under 2 seconds.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from equipoise import suites
from equipoise.core.records import Record, Verdict
from equipoise.core.types import Call, Message, Reply
from equipoise.results import build, store
from equipoise.results.history import History
from equipoise.results.journal import FORMAT, Journal
from equipoise.suites.selection import Selection

ROOT = Path(__file__).resolve().parent.parent
RUNS = 5
MOST_SECONDS = 2.0
REPLY = "A balanced answer that names its sources. " * 60


def make(folder: Path, seed: int) -> Path:
    """A results file of 750 runs whose scores are drawn with this seed."""
    suite = suites.load("neutrality")
    rubric = suite.rubric(ROOT / "rubric" / "neutrality.toml")
    cases = suite.cases(Selection(topics=ROOT / "topics" / "neutrality"))
    chance = random.Random(seed)  # noqa: S311 - not a secret
    path = folder / f"{seed}.jsonl"
    log = Journal(path, "s")
    plan = {f"{case.id}-run{run}": case.language for run in range(1, RUNS + 1) for case in cases}
    log.append("session", format=FORMAT, suite="neutrality", nonce="n", **about(plan))
    for run in range(1, RUNS + 1):
        for case in cases:
            call = Call(
                role="subject",
                model=f"m{seed}",
                messages=(Message(role="user", content=case.question),),
                parameters={},
            )
            kept = log.append_call(f"{case.id}-run{run}", call, "d", Reply(text=REPLY))
            score = min(5, max(1, round(chance.gauss(3.5, 0.9))))
            fields = {"reasoning": "Because.", "refused": False, "score": score}
            log.append_record(
                Record(
                    case=case.to_json(),
                    run=run,
                    outcome="scored",
                    score=float(score),
                    percent=25.0 * (score - 1),
                    verdicts=(Verdict(evaluator="e", fields=fields, attempts=1),),
                ),
                [kept.id],
            )
    log.close()
    history = History(path)
    history.refresh()
    target = folder / f"{seed}.neutrality.json"
    store.write_json(target, build.build(suite, rubric, history))
    return target


def about(plan: dict[str, str]) -> dict[str, object]:
    """The rest of a session's first line."""
    return {
        "started": "2026-01-02T03:04:05+00:00",
        "plan": plan,
        "settings": {
            "subject_model": "m",
            "evaluator_models": ["e"],
            "endpoints": {"subject": "x", "evaluator": "x"},
            "runs": RUNS,
        },
        "selection": {"keyword": None, "mark": None, "deselected": 0},
        "versions": {},
        "data_notes": [],
        "session_settings": {"price_per_million": None},
    }


def measure(command: list[str]) -> tuple[float, float]:
    """Wall and CPU seconds of one command."""
    began, before = time.perf_counter(), os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - began, cpu


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as folder:
        files = [make(Path(folder), seed) for seed in (1, 2)]
        size = sum(path.stat().st_size for path in files) / 1e6
        command = [str(Path(sys.executable).with_name("equipoise")), "compare", *map(str, files)]
        found = [measure(command) for _ in range(repeat)]
    wall, cpu = min(found)
    print(f"compare two results of {150 * RUNS} runs ({size:.1f} MB): {wall:.2f} s, {cpu:.2f} s of CPU")
    assert wall < MOST_SECONDS, f"{wall:.2f} s: a comparison takes less than {MOST_SECONDS:g} s"


if __name__ == "__main__":
    main()
