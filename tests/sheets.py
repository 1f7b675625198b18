"""Sheets of labels as spreadsheets show and save them, and what `equipoise review` makes of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from equipoise.cli import main


def run(*arguments: object, status: int = 0) -> Result:
    """The command `equipoise`, on a wide terminal, which ends with this status."""
    done = CliRunner(env={"COLUMNS": "200"}).invoke(main, [*map(str, arguments)])
    assert done.exit_code == status, done.output
    return done


def refusal(*arguments: object) -> str:
    """The one line with which the command is refused."""
    (line,) = run(*arguments, status=4).stderr.splitlines()
    return line


def rows(path: Path) -> list[dict[str, str]]:
    """What a spreadsheet shows."""
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def save(path: Path, table: Sequence[dict[str, str]]) -> Path:
    """A sheet with these rows, as a spreadsheet saves it."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, [*table[0]])
        writer.writeheader()
        writer.writerows(table)
    return path


def save_reviews(path: Path, *reviews: dict[str, Any], model: str, **shared: str) -> Path:
    """A file of reviews of these results, as the page saves it."""
    about = {"suite": "neutrality", "model": model, "started": "2026-03-01T08:00:00+00:00", **shared}
    entries = [{**about, **review} for review in reviews]
    path.write_text(json.dumps({"format": "equipoise-reviews", "version": 1, "reviews": entries}))
    return path


def people(results: Path) -> dict[str, Any]:
    """What was added to the results."""
    added: dict[str, Any] = json.loads(results.read_bytes())["people"]
    return added
