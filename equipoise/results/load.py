"""Loading of results files. Damaged files and those of another kind are refused."""

from __future__ import annotations

import hashlib
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
from equipoise.results import light, published, rows, schema
from equipoise.results.document import SCHEMA_VERSION, AnsweredBy, ChangedParameter, ScaleBounds
from equipoise.results.kinds import refuse_impossible_cells
from equipoise.results.results import Results, of_json
from equipoise.results.rows import ImpossibleValueError, ObjectReader
from equipoise.results.schema import DAMAGE
from equipoise.results.soundness import contradiction, refuse_infinite

WHY_CONTRADICTORY = (
    "one of them was edited, or another version wrote it; `equipoise show` makes it again from its journal"
)
ONLY_COMPARE_READS = "another tool wrote it: only compare reads it"
"""Message for results that `compare` can read and other commands cannot."""


def load(path: Path) -> Results:
    """The results in a file of Equipoise or of a published benchmark.

    Raises UserError that names the file and says what is wrong.
    """
    return _load(path, has_transcripts=True)


def load_lazily(path: Path) -> Results:
    """As `load`, but transcripts are read from the file when the first of them is asked for.

    That raises UserError if the file has changed since it was loaded.
    """
    transcripts = _Transcripts(path)
    results = _load(path, has_transcripts=False, reader=transcripts)
    transcripts.digest = results.digest
    return results


class _Transcripts:
    """Reads a file of results again, once, and returns the runs in it with their transcripts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.digest: str | None = None
        self._data: JSON = None

    def __call__(self, pointer: str) -> Mapping[str, JSON]:
        if self._data is None:
            self._data = self._read()
        run: Mapping[str, JSON] = rows.value_at(self._data, pointer)
        return run

    def _read(self) -> JSON:
        try:
            data, digest = _read(self._path, has_transcripts=True)
        except OSError as error:
            raise UserError(f"{self._path}: cannot be read ({error.strerror})") from None
        if digest != self.digest:
            raise UserError(f"{self._path}: has changed since it was loaded; load it again")
        return data


def load_without_transcripts(path: Path) -> Results:
    """The results in a file, with empty transcripts: those of the file are not read. Raises UserError."""
    return _load(path, has_transcripts=False)


def _load(path: Path, *, has_transcripts: bool, reader: ObjectReader | None = None) -> Results:
    if path.is_dir():
        raise UserError(f"{path}: is a folder; name the results files in it")
    try:
        data, digest = _read(path, has_transcripts=has_transcripts)
        metadata = data["metadata"]
        version, suite, _ = metadata["schema_version"], metadata["suite"], data["results"]
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
        results = of_json(path, data, digest, reader)
        refuse_infinite(data)
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
    warnings.warn(f"{shown(path)}: {doubt}: {WHY_CONTRADICTORY}", ContradictoryResultsWarning, stacklevel=3)
    return replace(results, contradiction=f"{doubt}: {WHY_CONTRADICTORY}")


def _read(path: Path, *, has_transcripts: bool) -> tuple[JSON, str]:
    """The JSON of a file in the current format, and its SHA-256. Raises OSError, UserError or DAMAGE."""
    if not has_transcripts:
        data, digest = light.load(path)
        # Results of a published benchmark are adapted from the whole file, below.
        if published.is_ours(data):
            return data, digest
    content = read_bytes(path)
    return published.adapt_results(path, json_io.loads(content)), hashlib.sha256(content).hexdigest()


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
