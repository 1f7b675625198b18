"""One side of a comparison: loads and checks a results file, and finds what makes two incomparable."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from equipoise import suites
from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes, shown
from equipoise.core.records import Bounds, Cell, Metric
from equipoise.core.rows import RunRow
from equipoise.core.rules import MOST_UNSCORED
from equipoise.core.types import JSON
from equipoise.judge.rubric import Scale
from equipoise.results import answered, askers, light, published, rows, schema, versions
from equipoise.results.askers import NOBODY, Asking
from equipoise.results.history import WITH_UNSCORED
from equipoise.results.rows import ImpossibleValueError
from equipoise.results.schema import DAMAGE
from equipoise.suites import AnySuite
from equipoise.suites.shared_options import DATASET

_MUST_AGREE: Mapping[str, str] = {
    "suite": "suite",
    "data_hash": "data",
    "rubric_hash": "rubric",
    "about": "subject and sides that evaluators are told",
    "scale": "scale",
    "evaluator_models": "evaluators",
    "evaluator_sampling": "evaluators' sampling",
    "evaluator_system_prompt": "evaluators' system prompt",
    "subject_sampling": "subject's sampling",
    "subject_system_prompt": "subject's system prompt",
}
_ANSWERED, _LEARNED = ("role", "model"), ("role", "model", "parameter", "action")
"""What a row says in the metadata's parts `response_models` and `parameters_changed`."""
_SAMPLING = ("temperature", "top_p", "top_k")
"""Without one of these, or with another name for it, replies are drawn in another way."""
ONLY_COMPARED = "an earlier version or another tool wrote it: only compare reads it"
"""Why results that can be compared cannot be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The results of one model on one suite. `file` is the path as it was given, `digest` its SHA-256.

    `doubt` says why they are not verified against their journal, where that was tried. `asked` are the rows
    of runs with a cue, and `asking` what figures are made of those.
    """

    file: str
    digest: str | None
    suite: AnySuite
    data: Mapping[str, JSON]
    rows: Sequence[RunRow]
    cells: Sequence[Cell]
    doubt: str | None = None
    asked: Sequence[RunRow] = ()
    asking: Asking = NOBODY

    @property
    def metadata(self) -> Mapping[str, JSON]:
        """The metadata of the results."""
        found: Mapping[str, JSON] = self.data["metadata"]
        return found

    @property
    def model(self) -> str:
        """The subject model."""
        return str(self.metadata["subject_model"])

    @property
    def runs(self) -> int:
        """How often its cases were run at most."""
        lengths = (len(values) for cell in self.cells for values in cell.values.values())
        return max(lengths, default=0)

    @property
    def until(self) -> Mapping[str, JSON] | None:
        """How `--until` ended it, if it was given."""
        found: Mapping[str, JSON] | None = self.data.get("summary", {}).get("until")
        return found

    @property
    def audits(self) -> Mapping[str, JSON]:
        """The audit of each evaluator; None of one that was not audited."""
        return self.data.get("audit") or {}

    @property
    def metrics(self) -> dict[str, Metric]:
        """The available metrics by name, the headline first."""
        return {metric.name: metric for metric in self.suite.metrics(self.cells)}

    @property
    def scale(self) -> Scale:
        """The scale of its verdicts, without the descriptions."""
        return scale_of(self.metadata)

    def about(self) -> dict[str, JSON]:
        """The fields that identify it in a comparison."""
        names = ("subject_model", "started", "finished", "runs", "status")
        said = {name: self.metadata.get(name) for name in names}
        return {"file": self.file, "sha256": self.digest, "doubt": self.doubt, **said}


def load(path: Path, *, is_whole: bool = False) -> Side:
    """The results in a file, also of a published benchmark. Raises UserError.

    The message names the file and says what is wrong. Unless `is_whole`, its data are only what a comparison
    needs, and the transcripts are never in memory.
    """
    found = _load(path, is_whole=is_whole)
    return found if is_whole else replace(found, data=brief(found.data), rows=(), asked=())


def of_suite(given: Path, suite: str) -> Path | None:
    """The results of a suite at this path: the file itself, or in a folder the one named for the suite.

    None where a folder has none. Raises UserError where it has several.
    """
    if not given.is_dir():
        return given
    own = given / f"{suite}.json"
    found = [own] if own.is_file() else sorted(given.glob(f"*.{suite}.json"))
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise UserError(f"{given}: has several results of {suite} ({names}); name one of them {own.name}")
    return found[0] if found else None


def load_without_transcripts(path: Path) -> Side:
    """The results in a file with empty transcripts. Raises UserError as `load` does."""
    return _load(path, is_whole=False)


def _load(path: Path, *, is_whole: bool) -> Side:
    if path.is_dir():
        raise UserError(f"{path}: is a folder; name the results files in it")
    try:
        data, digest = _read(path, is_whole=is_whole)
        metadata = data["metadata"]
        version, suite, _ = metadata["schema_version"], metadata["suite"], data["results"]
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except DAMAGE:
        hint = (
            f"; a journal's results are {path.with_suffix('.json').name}" if path.suffix == ".jsonl" else ""
        )
        raise UserError(f"{path}: is not an Equipoise results file{hint}") from None
    if version not in versions.READABLE:
        known = ", ".join(map(str, versions.READABLE))
        raise UserError(f"{path}: has schema version {version!r}; this Equipoise reads {known}")
    if suite not in suites.names():
        raise UserError(f"{path}: there is no suite {suite!r}")
    try:
        _refuse_damaged(data)
        found = side(shown(path), data, digest, is_whole=True)
        _refuse_odd_cells(found)
        return found
    except DAMAGE as error:
        if isinstance(error, ImpossibleValueError):
            raise UserError(f"{path}: is damaged: {error}") from None
        problem = schema.first_problem(path) or schema.in_words(error)
        raise UserError(f"{path}: is damaged: {problem}") from None


def _read(path: Path, *, is_whole: bool) -> tuple[JSON, str]:
    """The JSON of a file in the current format, and its SHA-256. Raises OSError, UserError or DAMAGE."""
    if not is_whole:
        data, digest = light.load(path)
        if published.is_ours(data):
            return published.adapted(path, data), digest
    content = read_bytes(path)
    return published.adapted(path, json_io.loads(content)), hashlib.sha256(content).hexdigest()


def _refuse_damaged(data: Mapping[str, JSON]) -> None:
    """Raise ValueError if a part that a comparison needs is missing or has the wrong type."""
    metadata = data["metadata"]
    kinds = {"subject_model": str, "runs_expected": int, "runs_completed": int, "evaluator_models": list}
    for name, kind in kinds.items():
        if not isinstance(metadata[name], kind):
            raise ValueError(f"metadata.{name}")
    rows = (data["errors"], metadata["response_models"], metadata["parameters_changed"])
    if not all(isinstance(row, list) and all(isinstance(item, dict) for item in row) for row in rows):
        raise ValueError("errors, response_models and parameters_changed are lists of objects")
    for name, parts in (("response_models", _ANSWERED), ("parameters_changed", _LEARNED)):
        if not all(isinstance(row[part], str) for row in metadata[name] for part in parts):
            raise ValueError(f"metadata.{name}")
    if not all(map(answered.is_row, metadata["response_models"])):
        raise ValueError("metadata.response_models")
    if not all(isinstance(name, str) for name in metadata["evaluator_models"]):
        raise ValueError("metadata.evaluator_models")
    scale = metadata["scale"]
    if not (
        isinstance(scale["low"], int) and isinstance(scale["high"], int) and scale["low"] < scale["high"]
    ):
        raise ValueError("metadata.scale")


def _refuse_odd_cells(found: Side) -> None:
    """Raise ImpossibleValueError for values that no session can have measured."""
    places = {(cell.cluster, cell.stratum) for cell in found.cells}
    if len(places) < len(found.cells):
        raise ImpossibleValueError("a question stands there twice in a language")
    bounds = _bounds(found.suite.metrics(found.cells))
    for cell in found.cells:
        for name, values in cell.values.items():
            low, high = bounds.get(name, (-math.inf, math.inf))
            numbers = [number for number in values if number is not None]
            if not all(low <= number <= high for number in numbers):
                raise ImpossibleValueError(f"{cell.id}: {name} is not within {low:g} and {high:g}")


def _bounds(metrics: Sequence[Metric]) -> dict[str, Bounds]:
    """The bounds of each value that metrics are made of; the widest where several use it."""
    found: dict[str, Bounds] = {}
    for metric in metrics:
        for name in filter(None, (metric.of, metric.per)):
            low, high = found.get(name, metric.bounds)
            found[name] = min(low, metric.bounds[0]), max(high, metric.bounds[1])
    return found


def side(file: str, data: Mapping[str, JSON], digest: str | None = None, *, is_whole: bool = False) -> Side:
    """The side that results JSON makes, of this session or of a file."""
    suite = suites.load(data["metadata"]["suite"]).of(data["metadata"].get("dataset"))
    runs = rows.of_json(data["results"])
    kept = data if is_whole else brief(data)
    asked = rows.of_askers(data)
    return Side(
        file=file,
        digest=digest,
        suite=suite,
        data=kept,
        # A comparison reads cells alone.
        rows=runs if is_whole else (),
        cells=suite.combine(runs),
        asked=asked if is_whole else (),
        asking=askers.of(suite, data, runs, asked),
    )


def brief(data: Mapping[str, JSON]) -> dict[str, JSON]:
    """What a comparison needs beside the cells: no transcripts."""
    until = data.get("summary", {}).get("until")
    parts = {name: data[name] for name in ("metadata", "errors")}
    return {**parts, "summary": {"until": until}, "audit": data.get("audit"), "people": data.get("people")}


def scale_of(metadata: Mapping[str, JSON]) -> Scale:
    """The scale that results were scored on."""
    found = metadata["scale"]
    return Scale(low=found["low"], high=found["high"], levels={})


def mismatches(before: Mapping[str, JSON], after: Mapping[str, JSON], *, is_study: bool = False) -> list[str]:
    """Why two results' metadata say that they are not comparable, each in a few words.

    In a study the options may differ whose effect a suite tells.
    """
    labels = must_agree(after["suite"], is_study=is_study)
    if before.get("data_hash") == after.get("data_hash"):
        # The same data may have had another name.
        labels.pop(DATASET.name, None)
    return [
        f"{name} differs: {_shown(before.get(key))}, now {_shown(after.get(key))}"
        for key, name in labels.items()
        if setting(key, before) != setting(key, after)
    ]


def must_agree(suite: str, *, is_study: bool = False) -> dict[str, str]:
    """The keys of metadata in which results of a suite must agree to be compared, and what each is called."""
    bearing = ("must",) if is_study else ("must", "study")
    options = suites.load(suite).options if suite in suites.names() else ()
    return {**_MUST_AGREE, **{item.name: item.label for item in options if item.comparable in bearing}}


def sent_otherwise(before: Mapping[str, JSON], after: Mapping[str, JSON]) -> list[str]:
    """Which sampling parameters an endpoint changed for one of two results only, each in a few words.

    This is known only when a session has asked: its settings are those of the baseline all the same.
    """
    older, newer = sampling_changed(before), sampling_changed(after)
    return [
        f"sampling as sent differs: {who}'s {parameter} was {action} "
        f"in the {'candidate' if (who, parameter, action) in newer else 'baseline'} only"
        for who, parameter, action in sorted(older ^ newer)
    ]


def sampling_changed(metadata: Mapping[str, JSON]) -> set[tuple[str, str, str]]:
    """Whose sampling parameters an endpoint changed, and how: role and model, parameter, action."""
    return {
        # Subjects have different names where releases are compared, evaluators have the same.
        ("subject" if row["role"] == "subject" else f"{row['role']} {row['model']}", *_change(row))
        for row in metadata.get("parameters_changed", ())
        if row["parameter"] in _SAMPLING
    }


def _change(row: Mapping[str, JSON]) -> tuple[str, str]:
    return str(row["parameter"]), str(row["action"])


def setting(key: str, metadata: Mapping[str, JSON]) -> JSON:
    """The value of one of these keys, with evaluators sorted: their order does not matter."""
    value = metadata.get(key)
    return sorted(value) if key == "evaluator_models" and value else value


def unknown_cells(before: Sequence[Cell], after: Sequence[Cell]) -> list[str]:
    """Why a baseline cannot be restricted to the candidate's cells, in a few words: it lacks some."""
    known = {cell.id for cell in before}
    lone = [cell.id for cell in after if cell.id not in known]
    more = f" and {len(lone) - 1} more" if len(lone) > 1 else ""
    return [f"only the candidate has {lone[0]}{more}"] if lone else []


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCounts:
    """How many runs were planned, how many were not done, and how many of those done have no score."""

    planned: int
    left: int
    unscored: int

    @property
    def missing(self) -> int:
        """Runs without a score, done or not."""
        return self.left + self.unscored


def runs_of(data: Mapping[str, JSON]) -> RunCounts:
    """The runs of results."""
    planned, completed = data["metadata"]["runs_expected"], data["metadata"]["runs_completed"]
    return RunCounts(planned=planned, left=planned - completed, unscored=len(data["errors"]))


def is_unfit(data: Mapping[str, JSON], most: float = MOST_UNSCORED) -> str | None:
    """Why results cannot be a baseline for any candidate, in a few words.

    If all runs are done, `most` percent of them may have no score.
    """
    metadata, runs = data["metadata"], runs_of(data)
    status = metadata.get("status")
    if status == "complete":
        return None
    if runs.planned == runs.left + runs.unscored:
        return "no run of the baseline has a score"
    # Earlier versions called it interrupted whatever the reason.
    is_done = status in (WITH_UNSCORED, "interrupted") and not runs.left
    if not (is_done and runs.missing):
        return f"the baseline is {status}: not every run has a score"
    if 100 * runs.missing <= most * runs.planned:
        return None
    lacking = f"{runs.missing} of {runs.planned} runs of the baseline have no score"
    return f"{lacking}, more than unscored:{most:g}% allows"


def _shown(value: JSON) -> str:
    text = f"{value}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def changes(before: Mapping[str, JSON], after: Mapping[str, JSON]) -> list[str]:
    """What a reader should know although it keeps no two results apart: who answered, and how."""
    found = [*_recomputed(before, after), *answered.between(before, after)]
    learned = [
        {
            (row["role"], *_change(row))
            for row in side.get("parameters_changed", ())
            if row["parameter"] not in _SAMPLING
        }
        for side in (before, after)
    ]
    found += [
        f"{role}: {parameter} was {action} in one of the two only"
        for role, parameter, action in sorted(learned[0] ^ learned[1])
    ]
    return found


def _recomputed(before: Mapping[str, JSON], after: Mapping[str, JSON]) -> list[str]:
    """Which of the two were not written here; published averages were rounded at each of three steps."""
    return [
        f"the {words}'s figures are recomputed from the runs that the {benchmark} wrote: "
        "within 0.12 points of the averages in its file"
        for words, side in (("baseline", before), ("candidate", after))
        if (benchmark := side.get("recomputed_from"))
    ]
