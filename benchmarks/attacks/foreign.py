"""Files of others: suites that raise, results edited, sheets of labels moved apart.

What has to hold: whatever stands in a file, it is read or refused in one short line, and a row of labels
whose cells do not belong together is not used.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import sixth_suite
from click.testing import CliRunner

import pages
from attacks.tally import Size, Tally
from equipoise import suites
from equipoise.cli import main

LONGEST = 1_000
"""Characters of any message."""
NAMES = ("constructor", "__proto__", "toString", "half a \ud83d", "x" * 100_000)
FIGURES = (1e999, -1e999, 1e300)
SOURCES: Mapping[str, str] = {
    "exits with 0": "import sys\nsys.exit(0)\n",
    "exits with text": "import sys\nsys.exit('x' * 100_000)\n",
    "raises": "raise ValueError('x\\n' * 100_000)\n",
    "ends pytest": "import pytest\npytest.exit('enough', 0)\n",
    "no syntax": "def f(:\n",
    "recursion": "def f():\n    f()\n\nf()\n",
    "no module": "import a_module_that_is_missing\n",
}


def attack(size: Size) -> Tally:
    """Every hostile file at every reader."""
    tally = Tally("files of others")
    with TemporaryDirectory() as folder:
        _results(tally, Path(folder))
        _sheets(tally, Path(folder), size)
    for name, source in SOURCES.items():
        _suite(tally, name, source)
    return tally


def _results(tally: Tally, folder: Path) -> None:
    data = json.loads(pages.write(folder / "sound.json", "model-a").read_bytes())
    for name in NAMES:
        _shown(tally, folder, f"model {name[:20]!r}", {**data["metadata"], "subject_model": name}, data)
    for figure in FIGURES:
        summary = json.loads(json.dumps(data["summary"]))
        next(iter(summary["metrics"].values()))["value"] = figure
        _shown(tally, folder, f"figure {figure}", data["metadata"], {**data, "summary": summary})


def _shown(tally: Tally, folder: Path, name: str, metadata: object, data: Mapping[str, object]) -> None:
    path = folder / "r.json"
    path.write_text(json.dumps({**data, "metadata": metadata}).replace("Infinity", "1e999"), encoding="utf-8")
    for command in (
        ["show", str(path)],
        ["report", str(path), "-o", str(folder / "page.html")],
        ["compare", str(path), str(folder / "sound.json"), "--allow-mismatch"],
        ["export", str(path), "--to", "csv", "-o", str(folder / "x.csv")],
    ):
        with tally.attack(f"{name}: {command[0]}") as harm:
            done = CliRunner().invoke(main, command)
            harm.expect(done.exception is None or isinstance(done.exception, SystemExit), "is a traceback")
            harm.expect(done.exit_code in (0, 4), f"ends with {done.exit_code}")


def _sheets(tally: Tally, folder: Path, size: Size) -> None:
    """Random columns of a sheet are shuffled among random rows."""
    results = pages.write(folder / "m.json", "model-a")
    chance = random.Random(size.seed)  # noqa: S311 - not a secret
    CliRunner().invoke(main, ["review", "sample", str(results), "-n", "30", "-o", str(folder / "s.csv")])
    text = (folder / "s.csv").read_text(encoding="utf-8-sig")
    table = [{**row, "score": "4"} for row in csv.DictReader(io.StringIO(text, newline=""))]
    replies = {row["id"]: row["reply"] for row in table}
    for number in range(size.of(10, 200)):
        with tally.attack(f"sheet {number}") as harm:
            moved = chance.choice((["id"], ["reply"], ["draw"], ["id", "draw"], ["id", "reply"]))
            order = chance.sample(range(len(table)), len(table))
            apart = [
                {**row, **{column: table[other][column] for column in moved}}
                for row, other in zip(table, order, strict=True)
            ]
            with (folder / "p.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, [*table[0]])
                writer.writeheader()
                writer.writerows(apart)
            done = CliRunner().invoke(main, ["review", "agree", str(results), str(folder / "p.csv")])
            harm.expect(not isinstance(done.exception, Exception), "is a traceback")
            used = 0 if done.exit_code else json.loads(results.read_bytes())["people"]["sheets"][0]["scores"]
            fit = sum(_fits(row, table, replies) for row in apart)
            harm.expect(used <= fit, f"{used} rows used, {fit} fit")


def _fits(row: Mapping[str, str], table: list[dict[str, str]], replies: Mapping[str, str]) -> bool:
    """Whether the id, the reply and the draw of a row are of one row of the sheet as it was drawn."""
    draws = {one["id"]: one["draw"] for one in table}
    return replies[row["id"]] == row["reply"] and draws[row["id"]] == row["draw"]


def _suite(tally: Tally, name: str, source: str) -> None:
    with tally.attack(f"a suite that {name}") as harm, TemporaryDirectory() as folder:
        with sixth_suite.project(Path(folder) / "own") as project, mock.patch.object(suites, "__path__"):
            package = project / "suites" / "broken"
            package.mkdir()
            (package / "__init__.py").write_text(source, encoding="utf-8")
            suites.__path__ = [str(project / "suites")]
            suites.names.cache_clear()
            reasons = suites.unloadable()
            harm.expect("broken" in reasons, "is loaded")
            line = str(reasons.get("broken", ""))
            harm.expect(line.startswith("suite 'broken': ") and len(line) <= LONGEST, "is no short line")
            harm.expect("attribution" in suites.loadable(), "stops another suite")
        suites.names.cache_clear()
