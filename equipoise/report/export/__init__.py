"""Results in other formats: tables of runs, model cards, registries, log viewers.

Data that a format cannot hold are reported, never dropped silently.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

from equipoise.core.errors import UserError
from equipoise.core.files import shown, write_text
from equipoise.core.quantities import counted
from equipoise.report.export import every_eval_ever, inspect
from equipoise.report.export.every_eval_ever import Publisher as Publisher
from equipoise.results import light, table
from equipoise.results.find import find_results
from equipoise.results.load import load
from equipoise.results.results import Results
from equipoise.results.schema import reading
from equipoise.results.store import refuse_replacing
from equipoise.results.table import TableRun

Format = Literal["csv", "parquet", "jsonl", "markdown", "every_eval_ever", "inspect"]
FORMATS: tuple[Format, ...] = get_args(Format)
FOLDERS = {"every_eval_ever": Path("every_eval_ever"), "inspect": Path("logs")}
"""Default output folders of the formats that write several files."""
NOTES = ("left out: ", "skipped: ", "warning: ")
"""Prefixes of lines about data that were not written, and of warnings."""


def export(
    paths: Sequence[Path], to: Format, output: Path | None = None, publisher: Publisher | None = None
) -> Iterator[str]:
    """Write results in a format. Yields lines on what was written and what was left out. Raises UserError."""
    if to == "inspect":
        inspect.require()
    if output is not None:
        refuse_replacing("--output", output)
    files, skipped = find_results(paths)
    with reading(*files):
        if to in ("csv", "parquet", "jsonl"):
            yield from _write_table(files, to, output or Path(f"runs.{to}"))
        elif to == "markdown":
            yield from _write_markdown(files, output)
        elif to == "inspect":
            yield from _write_logs(files, output or FOLDERS[to])
        else:
            yield from _write_registry(files, output or FOLDERS[to], publisher or Publisher())
        if to not in ("csv", "parquet", "jsonl") and any(map(_has_asker_runs, files)):
            yield "left out: runs with an asker cue, and figures about them"
    yield from skipped


def _write_table(files: Sequence[Path], to: table.Suffix, output: Path) -> Iterator[str]:
    rows = table.write(_runs(files), to, output)
    yield f"{shown(output)}: {counted(rows, 'run')} of {counted(len(files), 'file')}"
    cued = _runs(files, is_cued=True)
    if first := next(cued, None):
        askers_output = output.with_name(f"{output.stem}.askers{output.suffix}")
        rows = table.write(chain([first], cued), to, askers_output)
        yield f"{shown(askers_output)}: {counted(rows, 'run')} with an asker cue"
    yield "left out: figures, and conversations with evaluators"


def _runs(files: Sequence[Path], *, is_cued: bool = False) -> Iterator[TableRun]:
    """The runs in all files, with transcripts. Files are loaded one at a time."""
    for results in map(load, files):
        yield from (replace(results, rows=results.cued_rows) if is_cued else results).table_runs()


def _has_asker_runs(file: Path) -> bool:
    data, _ = light.load(file)
    return "askers" in data


def _write_markdown(files: Sequence[Path], output: Path | None) -> Iterator[str]:
    text = "\n".join(line for results in map(load, files) for line in markdown(results))
    if output is None:
        yield text
        return
    write_text(output, text)
    yield f"{shown(output)}: {counted(len(files), 'table')}"
    yield "left out: single runs"


def markdown(results: Results) -> Iterator[str]:
    """The suite's own table for a model card, and a line on data, rubric and versions."""
    # Imported here: wcwidth is slow to import.
    from equipoise.report.layout import markdown_cell, markdown_table

    metadata = results.metadata
    yield f"### {markdown_cell(results.model)}: {markdown_cell(results.suite.name)}\n"
    yield f"{markdown_table(results.table)}\n"
    about = {
        "status": results.status,
        "runs": f"{metadata['runs_completed']} of {metadata['runs_expected']}",
        "evaluators": ", ".join(metadata["evaluator_models"]),
        "dataset": metadata.get("dataset"),
        "data": _short_digest(metadata.get("data_hash")),
        "rubric": metadata.get("rubric_version"),
        "asked": str(metadata.get("started"))[:10],
        "Equipoise": metadata.get("equipoise_version"),
    }
    details = (f"{name} {markdown_cell(str(value))}" for name, value in about.items() if value)
    yield f"{'; '.join(details)}.\n"


def _short_digest(digest: str | None) -> str | None:
    return digest and digest[:12]


def _write_logs(files: Sequence[Path], folder: Path) -> Iterator[str]:
    for file in files:
        try:
            yield shown(inspect.write(load(file), folder))
        except OSError as error:
            raise UserError(f"--output: {shown(folder)}: cannot be written to ({error.strerror})") from None
        # The import of Inspect leaves reference cycles that keep the first results in memory.
        gc.collect()
    yield "left out: prompts of evaluators, variance, consistency, comparison and gate"


def _write_registry(files: Sequence[Path], folder: Path, publisher: Publisher) -> Iterator[str]:
    for results in map(load, files):
        try:
            written = every_eval_ever.write(results, folder, publisher)
        except OSError as error:
            raise UserError(f"--output: {shown(folder)}: cannot be written to ({error.strerror})") from None
        yield f"{shown(written.path)} and its runs ({written.lines:,})"
        if written.unscored:
            yield f"left out: {counted(written.unscored, 'run')} without a score, which the format requires"
        if written.without_value:
            yield f"left out: figures without a value: {', '.join(written.without_value)}"
        if "/" not in results.model and publisher.developer == every_eval_ever.UNKNOWN:
            yield f"warning: {results.model}: whose model is it? Name its --developer"
    yield "left out: conversations with evaluators, variance, consistency, comparison and gate"
