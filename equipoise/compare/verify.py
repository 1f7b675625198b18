"""Verifies results against their journal: builds them again from it, and its records from its calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from equipoise.compare.baseline import DAMAGE, Side, brief, load
from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.types import JSON
from equipoise.judge.rubric import Rubric
from equipoise.results import audits, build, journal, replay, store
from equipoise.results.history import History
from equipoise.suites import AnySuite
from equipoise.suites.resources import nearest


def load_verified(path: Path) -> Side:
    """The results in a file, with its `doubt`. Raises UserError."""
    found = load(path, is_whole=True)
    return replace(found, doubt=_doubt(path, found), data=brief(found.data))


def _doubt(path: Path, side: Side) -> str | None:
    """Why results are not verified against their journal, in a few words; None where they are."""
    beside = store.journal_of(path)
    if not beside.is_file():
        return "its journal is not next to it"
    try:
        if journal.other_format(beside) is not None:
            return "its journal is of another version"
        history = History(beside)
        history.refresh()
        if build.verdicts_digest(history.records()) != side.metadata.get("verdicts_sha256"):
            return "it was not made of the verdicts in its journal"
        rubric = side.suite.rubric(nearest(f"rubric/{side.suite.NAME}.toml", Path.cwd()))
        if not _says_the_same(side, rubric, history):
            return "it does not say what its journal says"
        return unlike_calls(side.suite, rubric, history)
    except (OSError, UserError, *DAMAGE):
        return "its journal cannot be read"


def unlike_calls(suite: AnySuite, rubric: Rubric, history: History) -> str | None:
    """Why the records of a journal cannot be told to follow from its calls; None if they do."""
    if history.is_rearranged:
        return "lines of its journal were removed, doubled or moved"
    if rubric.hash != history.settings["rubric_hash"]:
        return f"its verdicts cannot be read again: rubric/{suite.NAME}.toml is another version here"
    try:
        runs = replay.changed(suite, rubric, history)
    except (OSError, UserError) as error:
        return f"its verdicts cannot be read again: {error}"
    if not runs:
        return None
    return f"{len(runs)} runs are not what the calls in its journal come to, such as {runs[0]}"


def _says_the_same(side: Side, rubric: Rubric, history: History) -> bool:
    """Whether results, the suite's own summary and audits come out the same when they are made again."""
    results, summary = _made(side.suite, rubric, history)
    is_same = _agrees(side.data["results"], results)
    # What is not made of single runs alone, such as intervals, may be made otherwise by a later version.
    is_same &= _agrees({name: side.data["summary"].get(name) for name in summary}, summary)
    return is_same & _agrees(_verdicts(side.audits), _verdicts(audits.found(side.suite, history)))


def _made(suite: AnySuite, rubric: Rubric, history: History) -> tuple[Mapping[str, JSON], Mapping[str, JSON]]:
    """Results and the suite's own summary, made again."""
    made = suite.aggregate(history.records(), rubric)
    return json_io.loads(json_io.dumps(made.results)), json_io.loads(json_io.dumps(made.summary))


def _verdicts(found: Mapping[str, JSON]) -> dict[str, JSON]:
    """What evaluators made of anchors; checks, like intervals, may be made otherwise by a later version."""
    return {
        name: audit and {part: audit[part] for part in ("state", "source", "judged")}
        for name, audit in found.items()
    }


def _agrees(said: JSON, made: JSON) -> bool:
    """Whether all that is said was made; a later version may make more."""
    if isinstance(said, dict) and isinstance(made, dict):
        return all(name in made and _agrees(value, made[name]) for name, value in said.items())
    if isinstance(said, list) and isinstance(made, list):
        return len(said) == len(made) and all(map(_agrees, said, made))
    return bool(said == made)
