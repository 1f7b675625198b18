"""Verification of results: they are rebuilt from their journal's records, and the records from its calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.judge.rubric import Rubric
from equipoise.results import askers, audits, build, journal, light, reevaluation, rows, store
from equipoise.results.document import Audit, LanguageResult
from equipoise.results.history import History
from equipoise.results.load import load
from equipoise.results.results import Results
from equipoise.results.schema import DAMAGE
from equipoise.suites import AnySuite, rubric_path


def load_verified(path: Path) -> Results:
    """The results in a file, after verification: `doubt` is set if it failed. Raises UserError."""
    # Rows are dropped: together with the journal's they would take too much memory.
    results = load(path).without_rows()
    return replace(results, doubt=_why_unverified(path, results))


def _why_unverified(path: Path, side: Results) -> str | None:
    """Why results are not verified, in a few words; None if they are."""
    journal_path = store.journal_of(path)
    if not journal_path.is_file():
        return "its journal is not next to it"
    try:
        if journal.other_format(journal_path) is not None:
            return "its journal is of another version"
        history = History(journal_path)
        history.refresh()
        plain, cued = askers.split_history(history)
        records = plain.records()
        if build.verdicts_digest(records) != side.metadata.get("verdicts_sha256"):
            return "it was not made of the verdicts in its journal"
        rubric = side.suite.judging.rubric(rubric_path(side.suite, side.metadata.get("dataset"), Path.cwd()))
        # To save memory, records become rows one by one, and rows are freed before the calls are read.
        rebuilt = rows.of_records(side.suite, build.draining(records), rubric.scale)
        summary = side.suite.summary(rebuilt, rubric.scale)
        # Only the suite's own keys are compared: a later version may compute intervals differently.
        stated = {name: side.summary.get(name) for name in summary}
        agrees = _agrees(stated, _as_in_file(summary))
        agrees &= _agrees(_verdicts(side.audits), _verdicts(audits.by_evaluator(side.suite, history)))
        if cued is not None:
            agrees &= _askers_agree(path, side, cued, rebuilt, rubric)
        if not agrees or not _results_agree(path, rows.to_json(side.suite, rebuilt, rubric.scale)):
            return "it does not say what its journal says"
        del rebuilt
        return why_unlike_calls(side.suite, rubric, history)
    except (OSError, UserError, *DAMAGE):
        return "its journal cannot be read"


def _askers_agree(path: Path, side: Results, cued: History, plain: Sequence[RunRow], rubric: Rubric) -> bool:
    """Whether the section `askers` of a file agrees with the journal's runs with an asker cue."""
    rebuilt = askers.rows_of(side.suite, plain, cued.records(), rubric.scale)
    data = rows.to_json(side.suite, rebuilt, rubric.scale, has_means=False)
    section = _in_file(path).get("askers")
    return section is not None and _agrees(section["results"], _as_in_file(data))


def _results_agree(path: Path, rebuilt: Mapping[str, LanguageResult]) -> bool:
    """Whether the section `results` of a file agrees with what was built from the journal."""
    if light.has_same_results(path, rebuilt):
        return True
    results = _in_file(path)["results"]
    return results.keys() == rebuilt.keys() and _agrees(results, _as_in_file(rebuilt))


def _in_file(path: Path) -> JSON:
    """The JSON of a results file."""
    return json_io.loads(read_bytes(path))


def why_unlike_calls(suite: AnySuite, rubric: Rubric, history: History) -> str | None:
    """Why the records of a journal do not verifiably follow from its calls; None if they do."""
    if history.is_rearranged:
        return "lines of its journal were removed, doubled or moved"
    if rubric.hash != history.settings["rubric_hash"]:
        return f"its verdicts cannot be read again: rubric/{suite.name}.toml is another version here"
    try:
        runs = reevaluation.find_changed_runs(suite, rubric, history)
    except (OSError, UserError) as error:
        return f"its verdicts cannot be read again: {error}"
    if not runs:
        return None
    return f"{len(runs)} runs are not what the calls in its journal come to, such as {runs[0]}"


def _as_in_file(data: JSON) -> JSON:
    """The data as they would be read from a file, where for example tuples become lists."""
    return json_io.loads(json_io.dumps(data))


def _verdicts(figures: Mapping[str, Audit | None]) -> JSON:
    """The verdicts of audits on anchors. Checks are left out: a later version may compute different ones."""
    return {
        name: audit and [audit["state"], audit["source"], audit["judged"]] for name, audit in figures.items()
    }


def _agrees(stated: JSON, rebuilt: JSON) -> bool:
    """Whether rebuilt data have everything that a file states. A later version may rebuild more."""
    if isinstance(stated, dict) and isinstance(rebuilt, dict):
        return all(name in rebuilt and _agrees(value, rebuilt[name]) for name, value in stated.items())
    if isinstance(stated, list) and isinstance(rebuilt, list):
        return len(stated) == len(rebuilt) and all(map(_agrees, stated, rebuilt))
    return bool(stated == rebuilt)
