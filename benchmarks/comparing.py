"""Time and memory of `equipoise compare`, or of `equipoise report`, on two results.

    python benchmarks/comparing.py [--runs 5] [--repeat 3] [--report] [--keep FOLDER]

Makes two results of neutrality's 150 cases, with --runs runs of each, simulated scores and replies of a usual
length, and the journals to verify them against. Runs the command on both results, start-up included, and
prints wall and CPU time of the quickest of --repeat times (the others are slower because the machine is busy)
and the peak memory. With 5 runs of each case it fails if a comparison takes 2 seconds of CPU or more. With
--keep the files stay in a folder, and files that exist are used again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from processes import measured

from equipoise import suites
from equipoise.core.records import Record
from equipoise.core.settings import Sampling
from equipoise.core.types import Call, Exchange, Reply, Usage
from equipoise.judge.judge import Evaluator, Panel
from equipoise.models.model import Subject
from equipoise.results import build, journal, store
from equipoise.results.history import History
from equipoise.results.journal import FORMAT, Journal
from equipoise.suites.neutrality.dataset import Question
from equipoise.suites.selection import Selection

ROOT = Path(__file__).resolve().parent.parent
SEEDS = (1, 2)
USUAL_RUNS = 5
MAX_CPU_SECONDS = 2.0
REPLY = "A balanced answer that names its sources. " * 40
SUITE = suites.load("neutrality")
RUBRIC = SUITE.judging.rubric(ROOT / "rubric" / "neutrality.toml")
CASES: list[Question] = [
    replace(case, facts=()) for case in SUITE.data.cases(Selection(topics=ROOT / "topics" / "neutrality"))
]
"""Without key facts, of which a verdict would have to say how the reply states each."""


def results_path(folder: Path, seed: int) -> Path:
    """The path of the results that are made with this seed."""
    return folder / f"{seed}.neutrality.json"


def make(path: Path, seed: int, runs: int) -> None:
    """Write the results of a session whose scores are drawn with this seed, unless the file exists."""
    if path.exists():
        return
    plan = {f"{case.id}-run{run}": case.language for run in range(1, runs + 1) for case in CASES}
    history = History(path.with_suffix(".jsonl"))
    with closing(Journal(history.path, "s")) as log:
        log.append("session", format=FORMAT, suite="neutrality", nonce="n", **session(plan, seed, runs))
        asyncio.run(ask_all(log, random.Random(seed), runs))  # noqa: S311 - not a secret
    history.refresh()
    store.write_json(path, build.build(SUITE, RUBRIC, history).to_json())


async def ask_all(log: Journal, chance: random.Random, runs: int) -> None:
    """Append every run of every case to the journal."""
    for run in range(1, runs + 1):
        for case in CASES:
            score = min(5, max(1, round(chance.gauss(3.5, 0.9))))
            await ask_one(log, case, run, score)


async def ask_one(log: Journal, case: Question, run: int, score: int) -> None:
    """Append one run, evaluated as in a session, by an evaluator that gives this score."""
    name, exchanges = f"{case.id}-run{run}", list[Exchange]()

    async def ask(call: Call) -> Reply:
        text = REPLY
        if call.role == "evaluator":
            verdict = {"reasoning": "Because it is.", "refused": False, "lean": "none", "score": score}
            text = json.dumps(verdict)
        reply = Reply(text=text, usage=Usage(input=100, output=600), finish_reason="stop", latency=1.5)
        exchanges.append(log.append_call(name, call, journal.request_hash(call), reply))
        return reply

    code = journal.one_time_code("n", name, "e")
    evaluator = Evaluator("e", Sampling(), ask, attempts=5, code=lambda model: code)
    scored = await SUITE.evaluate(
        case, RUBRIC, Subject("m", Sampling(), ask), Panel([evaluator], keeps_going=False)
    )
    record = Record(
        case=case.to_json(),
        run=run,
        outcome=scored.outcome,
        score=scored.value,
        percent=scored.percent,
        verdicts=scored.verdicts,
        details=scored.details,
    )
    log.append_record(record, [exchange.id for exchange in exchanges])


def session(plan: dict[str, str], seed: int, runs: int) -> dict[str, object]:
    """The fields of a session's line in the journal."""
    defaults: dict[str, object] = {}
    for role in ("subject", "evaluator"):
        defaults |= {f"{role}_sampling": {}, f"{role}_system_prompt": None}
    return {
        "started": f"2026-01-0{seed}T03:04:05+00:00",
        "plan": plan,
        "settings": {
            **defaults,
            "subject_model": "m",
            "evaluator_models": ["e"],
            "endpoints": {"subject": "x", "evaluator": "x"},
            "runs": runs,
            "limit": None,
            "languages_asked": None,
            "data_hash": "0",
            "rubric_version": RUBRIC.version,
            "rubric_hash": RUBRIC.hash,
        },
        "selection": {"keyword": None, "mark": None, "deselected": 0},
        "versions": {},
        "data_notes": [],
        "session_settings": {
            "concurrency": 32,
            "evaluator_attempts": 5,
            "keep_going": False,
            "price_per_million": None,
        },
    }


def compare(folder: Path, runs: int, repeat: int, *, makes_page: bool) -> None:
    """Make the missing files in the folder, measure, and print."""
    for seed in SEEDS:
        # Not in this process: a forked child's peak memory is never less than its parent's.
        subprocess.run(
            [sys.executable, __file__, f"--make={folder}", f"--seed={seed}", f"--runs={runs}"], check=True
        )
    files = [results_path(folder, seed) for seed in SEEDS]
    size = sum(path.stat().st_size for path in files) / 1e6
    name, options = ("report", ["-o", str(folder / "report.html")]) if makes_page else ("compare", [])
    command = [str(Path(sys.executable).with_name("equipoise")), name, *map(str, files), *options]
    usages = [measured(command) for _ in range(repeat)]
    quickest = min(usages, key=lambda usage: usage.wall)
    print(
        f"{name} two results of {len(CASES) * runs:,} runs ({size:,.1f} MB): "
        f"{quickest.wall:.2f} s, {quickest.cpu:.2f} s of CPU, "
        f"{max(usage.peak_mb for usage in usages):,.0f} MB of memory"
    )
    is_usual = runs == USUAL_RUNS and not makes_page
    assert not is_usual or quickest.cpu < MAX_CPU_SECONDS, (
        f"{quickest.cpu:.2f} s of CPU: a comparison takes less than {MAX_CPU_SECONDS:g} s"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=USUAL_RUNS)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        make(results_path(arguments.make, arguments.seed), arguments.seed, arguments.runs)
        return
    with ExitStack() as stack:
        folder = (arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        compare(folder, arguments.runs, arguments.repeat, makes_page=arguments.report)


if __name__ == "__main__":
    main()
