"""What a journal gives and what its file has are the same results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from regression import figures

from equipoise.core import json_io
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.results import recover
from equipoise.results.load import load
from equipoise.results.results import Results
from equipoise.suites.resources import SHIPPED


def plain(data: JSON) -> JSON:
    """The data as a file has them."""
    return json_io.loads(json_io.dumps(data))


def row(run: RunRow) -> dict[str, Any]:
    """A run with its conversations, without the prompts of a pair, by which these were split."""
    question = structs.replace(run.question, prompts={})
    conversations = [[item.name, item.messages] for item in (*run.subject, *run.evaluators)]
    data: dict[str, Any] = plain(
        {**structs.asdict(run), "question": question, "conversations": conversations}
    )
    return data


def parts(results: Results) -> dict[str, Any]:
    """All of the results."""
    return {
        "metadata": plain(results.metadata),
        "summary": plain(results.summary),
        "errors": plain(results.errors),
        "sections": plain(results.sections),
        "cells": results.cells,
        "asker cells": results.asker_cells.cells,
        "rows": [*map(row, results.rows)],
        "cued rows": [*map(row, results.cued_rows)],
    }


@pytest.mark.slow
@pytest.mark.parametrize("suite", figures.SUITES)
def test_a_journal_gives_what_its_file_has(suite: str, project: Path) -> None:
    """Every row, figure and section of every kept journal, with its transcripts."""
    figures.prepare(suite, project)
    for name in figures.kept(suite):
        journal = figures.unpack(f"{suite}.{name}.jsonl", project / "results" / f"{name}.jsonl")
        built = recover.recover(journal, None, (project, SHIPPED))
        wanted = parts(built.results)
        assert built.results.path is not None
        assert parts(load(built.results.path)) == wanted, name
