"""Loading of results files. Damaged files and those of another kind are refused."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import msgspec

from equipoise import suites
from equipoise.core import json_io
from equipoise.core.errors import ContradictoryResultsWarning, UserError
from equipoise.core.files import read_bytes, shown
from equipoise.core.types import JSON
from equipoise.results import light, published, schema
from equipoise.results.document import SCHEMA_VERSION, AnsweredBy, ChangedParameter, ScaleBounds
from equipoise.results.kinds import refuse_impossible_cells
from equipoise.results.results import Results, of_json
from equipoise.results.rows import ImpossibleValueError
from equipoise.results.schema import DAMAGE
from equipoise.results.soundness import contradiction

WHY_CONTRADICTORY = (
    "the summary or a run was edited, or another version of Equipoise wrote the file; "
    "`equipoise show` rebuilds it from its journal"
)
ONLY_COMPARE_READS = "another tool wrote it: only compare reads it"
"""The message for results that `compare` can read and other commands cannot."""


def load(path: Path) -> Results:
    """The results in a file of Equipoise or of a published benchmark.

    Transcripts are read from the file when they are used, which raises UserError if the file has changed
    since. Raises UserError that names the file and says what is wrong.
    """
    if path.is_dir():
        raise UserError(f"{path}: is a folder; name the results files in it")
    try:
        data, digest = _read(path)
        metadata = data["metadata"]
        version, suite = metadata["schema_version"], metadata["suite"]
        _ = data["results"]
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except DAMAGE:
        hint = (
            f"; a journal's results are {path.with_suffix('.json').name}" if path.suffix == ".jsonl" else ""
        )
        raise UserError(f"{path}: is not an Equipoise results file{hint}") from None
    if version != SCHEMA_VERSION:
        raise UserError(f"{path}: has schema version {version!r}; this Equipoise reads {SCHEMA_VERSION}")
    if suite not in suites.names():
        raise UserError(f"{path}: there is no suite {suite!r}")
    try:
        _refuse_damaged(data)
        if (problem := schema.first_infinite(data)) is not None:
            raise ImpossibleValueError(problem)
        results = of_json(path, data, digest)
        metrics = results.suite.metrics(results.cells)
        refuse_impossible_cells(results.cells, metrics)
        doubt = contradiction(results.summary, metrics, results.cells, results.rows)
    except DAMAGE as error:
        if isinstance(error, ImpossibleValueError):
            raise UserError(f"{path}: is damaged: {error}") from None
        problem = schema.first_problem(path) or schema.describe(error)
        raise UserError(f"{path}: is damaged: {problem}") from None
    if doubt is None:
        return results
    warnings.warn(f"{shown(path)}: {doubt}: {WHY_CONTRADICTORY}", ContradictoryResultsWarning, stacklevel=2)
    return replace(results, contradiction=f"{doubt}: {WHY_CONTRADICTORY}")


def _read(path: Path) -> tuple[JSON, str]:
    """The JSON of a file in the current format, and its SHA-256. Raises OSError, UserError or DAMAGE."""
    data, digest = light.load(path)
    if not published.is_ours(data):
        data = published.adapt_results(path, json_io.loads(read_bytes(path)))
    return data, digest


class _Needed(TypedDict):
    """The metadata that a comparison cannot do without."""

    subject_model: str
    evaluator_models: list[str]
    runs_expected: int
    runs_completed: int
    response_models: list[AnsweredBy]
    parameters_changed: list[ChangedParameter]
    scale: ScaleBounds


def _refuse_damaged(data: Mapping[str, JSON]) -> None:
    """Raise ValueError or KeyError if a field that a comparison needs is missing or has the wrong type."""
    needed = msgspec.convert(data["metadata"], _Needed)
    msgspec.convert(data["errors"], list[dict[str, JSON]])
    if needed["scale"]["low"] >= needed["scale"]["high"]:
        raise ValueError("metadata.scale")
