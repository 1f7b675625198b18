"""What a board of many models takes: its size, CPU and memory, and how soon a browser paints it.

    python benchmarks/boards.py [--models 300] [--keep FOLDER]

One session of each suite with one run of each case, against the scripted loopback endpoint; then results of
as many models as asked for, whose runs are drawn from those of the session, the better ones more often the
abler the model, without transcripts and long
details. One model in ten has another evaluator, and five names make a family.
`equipoise report` of all of them is measured, start-up included, and its page opened in Chromium, five times,
without a window. Fails above 3 MB, 500 MB of memory, or a median of 1 second to the first contentful paint.
With --keep the files stay in a folder, and are not made again where they are there.
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
from dataclasses import asdict
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from processes import measured
from serving import ROOT, environment, serving

from equipoise import suites
from equipoise.core import json_io
from equipoise.results import rows, store
from equipoise.stats.metrics import measure as figure

MOST_MB, MOST_MEMORY, MOST_SECONDS = 3.0, 500.0, 1.0
COMMAND = (sys.executable, "-c", "from equipoise.cli import main; main()")
TIMES, MOST_DETAILS = 5, 2_000


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
    return {**data, "results": rows.without_transcripts(data["results"])}


def of_model(base: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The same results of another model."""
    chance = random.Random(number)  # noqa: S311 - made-up results need no secret
    skill = chance.random()
    results = {
        language: {**part, "questions": [*drawn(part["questions"], skill, chance)]}
        for language, part in base["results"].items()
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
    known = {**asdict(figure(metric, cells)), "unit": metric.unit}
    return {
        **base,
        "metadata": metadata,
        "summary": {"metrics": {metric.name: known}},
        "results": results,
        "audit": {},
        "errors": [],
    }


def drawn(questions: list[dict[str, Any]], skill: float, chance: random.Random) -> Iterator[dict[str, Any]]:
    """The questions, with runs of any of them."""
    every = sorted(
        (run for question in questions for run in question["runs"]),
        key=lambda run: run["score_percentage"] or 0.0,
    )
    for question in questions:
        place = len(every) * chance.betavariate(1 + 2 * skill, 3 - 2 * skill)
        run = every[min(int(place), len(every) - 1)]
        yield {**question, "runs": [{**run, "details": small(run["details"])}]}


def small(details: dict[str, Any]) -> dict[str, Any]:
    """Without what evaluators said, which is most of the details of some suites."""
    return details if len(json_io.dumps(details)) < MOST_DETAILS else {}


def make(folder: Path, models: int) -> None:
    """Write the results of so many models on every suite."""
    bases = folder / "bases"
    bases.mkdir(parents=True, exist_ok=True)
    (folder / "results").mkdir(exist_ok=True)
    for suite in suites.names():
        base = None
        for number in range(models):
            path = folder / "results" / f"{number:03d}.{suite}.json"
            if not path.exists():
                base = base or session(suite, bases / f"{suite}.json")
                store.write_json(path, of_model(base, number))


def first_paint(page: Path) -> list[float]:
    """Seconds from the navigation to the first contentful paint, of several browsers."""
    script = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    found = []
    with sync_playwright() as play:
        for _ in range(TIMES):
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            opened = browser.new_page(viewport={"width": 1280, "height": 900})
            opened.goto(page.resolve().as_uri())
            opened.locator("html.ready").wait_for(state="attached")
            opened.wait_for_function(f"{script} > 0")
            found.append(opened.evaluate(script) / 1000)
            browser.close()
    return found


def main() -> None:
    """Make, measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=300)
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.make:
        make(given.make, given.models)
        return
    with ExitStack() as steps:
        folder = given.keep or Path(steps.enter_context(tempfile.TemporaryDirectory()))
        # In a process of its own, whose memory would otherwise count as the least of its children's.
        subprocess.run([sys.executable, __file__, f"--make={folder}", f"--models={given.models}"], check=True)
        files = [*(folder / "results").glob("*.json")]
        page = folder / "board.html"
        made = measured([*COMMAND, "report", str(folder / "results"), "-o", str(page), "--no-transcripts"])
        size, paint = page.stat().st_size / 1e6, first_paint(page)
        print(
            json.dumps(
                {
                    "results": len(files),
                    "mb_of_results": round(sum(file.stat().st_size for file in files) / 1e6),
                    "mb_of_page": round(size, 2),
                    "seconds": round(made.wall, 1),
                    "cpu_seconds": round(made.cpu, 1),
                    "peak_mb": round(made.peak_mb),
                    "first_paint_seconds": [round(seconds, 2) for seconds in paint],
                }
            )
        )
        assert size < MOST_MB
        assert made.peak_mb < MOST_MEMORY
        assert statistics.median(paint) < MOST_SECONDS


if __name__ == "__main__":
    main()
