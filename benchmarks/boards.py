"""The page of many models: its size, the CPU and memory to make it, and how soon a browser paints it.

    python benchmarks/boards.py [--models 300] [--keep FOLDER]

Runs one session of each suite with one run of each case, against the scripted loopback endpoint, and makes
results of --models models from it: their runs are drawn from those of the session, better runs more often for
abler models, without transcripts and long details. One model in ten has another evaluator, and five names
make a family. `equipoise report` of all results is measured, start-up included, and its page opened in
headless Chromium, five times. Fails above 3 MB, 500 MB of memory, or a median of 1 second to the first
contentful paint. With --keep the files stay in a folder, and files that exist are used again.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from processes import measured
from serving import ROOT, environment, serving

from equipoise import suites
from equipoise.core import json_io
from equipoise.results import rows, store
from equipoise.results.summary import figure

MAX_PAGE_MB, MAX_MEMORY_MB, MAX_PAINT_SECONDS = 3.0, 500.0, 1.0
COMMAND = (sys.executable, "-c", "from equipoise.cli import main; main()")
PAINTS, MAX_DETAILS_BYTES = 5, 2_000


def session(suite: str, output: Path) -> dict[str, Any]:
    """The results of one session of a suite, without transcripts."""
    if not output.exists():
        with serving("0.0", "--scripted", "recovering") as endpoint:
            subprocess.run(
                (
                    *(*COMMAND, "run", suite, "--model", "model-a", "--evaluator-model", "judge"),
                    *("--api-base-url", endpoint.url, "--runs", "1", "--concurrency", "64"),
                    f"--output={output}",
                ),
                cwd=ROOT,
                env=environment(),
                stdout=subprocess.DEVNULL,
                check=False,  # replies without a verdict end a session with 1
            )
    data: dict[str, Any] = json_io.loads(output.read_bytes())
    for run in (
        run for part in data["results"].values() for item in part["questions"] for run in item["runs"]
    ):
        run |= {"subject_transcript": [], "evaluator_transcripts": []}
    return data


def model_results(base: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Results of another model, drawn from the results `base`."""
    chance = random.Random(number)  # noqa: S311 - made-up results need no secret
    skill = chance.random()
    results = {
        language: {**section, "questions": [*drawn_questions(section["questions"], skill, chance)]}
        for language, section in base["results"].items()
    }
    metadata = {
        **base["metadata"],
        "subject_model": f"lab-m{number // 5:02d}-{number % 5 + 1}",
        "started": f"2026-{number % 5 + 1:02d}-01T00:00:00+00:00",
        "evaluator_models": ["another-judge" if number % 10 == 9 else "judge"],
    }
    suite = suites.load(metadata["suite"]).of(metadata.get("dataset"))
    cells = suite.combine(rows.of_json(results))
    metric = suite.metrics(cells)[0]
    return {
        **base,
        "metadata": metadata,
        "summary": {"metrics": {metric.name: figure(metric, cells, suite.about.clusters)}},
        "results": results,
        "audit": {},
        "errors": [],
    }


def drawn_questions(
    questions: list[dict[str, Any]], skill: float, chance: random.Random
) -> Iterator[dict[str, Any]]:
    """The questions, each with a run of any question; a higher skill (0 to 1) draws better runs."""
    runs = sorted(
        (run for question in questions for run in question["runs"]),
        key=lambda run: run["score_percentage"] or 0.0,
    )
    for question in questions:
        rank = len(runs) * chance.betavariate(1 + 2 * skill, 3 - 2 * skill)
        run = runs[min(int(rank), len(runs) - 1)]
        yield {**question, "runs": [{**run, "details": short_details(run["details"])}]}


def short_details(details: dict[str, Any]) -> dict[str, Any]:
    """The details, or none if they are long: some suites' include the answers of evaluators."""
    return details if len(json_io.dumps(details)) < MAX_DETAILS_BYTES else {}


def make(folder: Path, models: int) -> None:
    """Write the results of this number of models on every suite."""
    bases = folder / "bases"
    bases.mkdir(parents=True, exist_ok=True)
    (folder / "results").mkdir(exist_ok=True)
    for suite in suites.names():
        base = None
        for number in range(models):
            path = folder / "results" / f"{number:03d}.{suite}.json"
            if not path.exists():
                base = base or session(suite, bases / f"{suite}.json")
                store.write_json(path, model_results(base, number))


def first_paints(file: Path) -> list[float]:
    """Seconds from the navigation to the first contentful paint, in PAINTS browsers."""
    script = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    seconds = []
    with sync_playwright() as playwright:
        for _ in range(PAINTS):
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(file.resolve().as_uri())
            page.locator("html.ready").wait_for(state="attached")
            page.wait_for_function(f"{script} > 0")
            seconds.append(page.evaluate(script) / 1000)
            browser.close()
    return seconds


def main() -> None:
    """Make, measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=300)
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        make(arguments.make, arguments.models)
        return
    with ExitStack() as stack:
        folder = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        # Not in this process: a forked child's peak memory is never less than its parent's.
        subprocess.run(
            [sys.executable, __file__, f"--make={folder}", f"--models={arguments.models}"], check=True
        )
        files = [*(folder / "results").glob("*.json")]
        page = folder / "board.html"
        usage = measured([*COMMAND, "report", str(folder / "results"), "-o", str(page), "--no-transcripts"])
        size, paints = page.stat().st_size / 1e6, first_paints(page)
        print(
            json.dumps(
                {
                    "results": len(files),
                    "mb_of_results": round(sum(file.stat().st_size for file in files) / 1e6),
                    "mb_of_page": round(size, 2),
                    "seconds": round(usage.wall, 1),
                    "cpu_seconds": round(usage.cpu, 1),
                    "peak_mb": round(usage.peak_mb),
                    "first_paint_seconds": [round(seconds, 2) for seconds in paints],
                }
            )
        )
        assert size < MAX_PAGE_MB
        assert usage.peak_mb < MAX_MEMORY_MB
        assert statistics.median(paints) < MAX_PAINT_SECONDS


if __name__ == "__main__":
    main()
