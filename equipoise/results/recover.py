"""Rebuilds the results JSON from a journal, however its session ended, without an endpoint."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from equipoise import suites
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.judge.rubric import Rubric
from equipoise.results import build, journal
from equipoise.results.document import Sections
from equipoise.results.history import History
from equipoise.results.lines import SessionLine
from equipoise.results.results import Results
from equipoise.results.schema import DAMAGE
from equipoise.results.store import Files, Lock
from equipoise.suites import AnySuite

FurtherSections = Callable[[Results], Sections]
"""Returns sections that are made from the results, such as the comparison."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """The results of a journal, written to their path, and warnings for the user."""

    results: Results
    warnings: tuple[str, ...]


def _no_sections(results: Results) -> Sections:
    """No further sections."""
    return {}


def recover(path: Path, output: Path | None, roots: tuple[Path, ...]) -> Recovered:
    """Write the results JSON of a journal, beside it if no `output` is given. Raises UserError.

    The rubric is looked up in `roots`, in order. If none has it, the error names the last one's path.
    """
    try:
        return _recover(path, output, roots)
    except OSError as error:
        raise UserError(f"{error.filename}: cannot be used ({error.strerror})") from None


def _recover(path: Path, output: Path | None, roots: tuple[Path, ...]) -> Recovered:
    first = _first_session(path)
    suite = suites.load(first.suite).of(first.settings.get("dataset"))
    files = Files(results=output or path.with_name(f"{path.name.removesuffix('.jsonl')}.json"), journal=path)
    files.check()
    with ExitStack() as steps:
        # In a read-only folder there can be no lock, and no running session either.
        with suppress(OSError):
            steps.callback(Lock(files).release)
        history = History(path)
        history.refresh()
        return write_results(suite, history, files, roots)


def write_results(
    suite: AnySuite,
    history: History,
    files: Files,
    roots: tuple[Path, ...],
    further: FurtherSections = _no_sections,
) -> Recovered:
    """Write the results JSON of this history, with `further` sections. Raises UserError."""
    rubric = _rubric(suite, history, roots)
    try:
        results = build.build(suite, rubric, history, files.results)
        results = replace(results, sections={**results.sections, **further(results)})
        # Fails for damaged lines, before anything is written.
        suite.tabled(results.summary)
        results = results.save()
    except DAMAGE as error:
        # The suite's own parts of lines are not checked when the journal is read.
        raise UserError(f"{shown(history.path)}: a line is not a valid journal line ({error!r})") from error
    return Recovered(results=results, warnings=_warnings(rubric, history))


def _first_session(path: Path) -> SessionLine:
    if not _is_file(path):
        raise UserError(f"{path}: no such journal; journals end in .jsonl and are beside the results")
    if (other := journal.other_format(path)) is not None:
        raise UserError(f"{path}: the journal has format {other}, not {journal.FORMAT}")
    lines = (line.entry for line in journal.read(path))
    first = next((line for line in lines if isinstance(line, SessionLine)), None)
    if first is None:
        raise UserError(f"{path}: not an Equipoise journal: no line starts a session")
    if first.suite not in suites.names():
        raise UserError(f"{path}: there is no suite {first.suite!r}")
    return first


def _is_file(path: Path) -> bool:
    """Whether this is a file; False also if its name is too long or its folder cannot be read."""
    try:
        return path.is_file()
    except OSError:
        return False


def _rubric(suite: AnySuite, history: History, roots: tuple[Path, ...]) -> Rubric:
    """The rubric of these results; only its scale if the rubric is part of the data."""
    if scale := suite.judging.scale_in_data:
        settings = history.settings
        return Rubric(version=settings["rubric_version"], hash=settings["rubric_hash"], scale=scale)
    paths = [root / "rubric" / f"{suite.name}.toml" for root in roots]
    rubric: Rubric = suite.judging.rubric(next((path for path in paths if path.is_file()), paths[-1]))
    return rubric


def _warnings(rubric: Rubric, history: History) -> tuple[str, ...]:
    warnings = []
    if history.damage:
        warnings.append(history.damage)
    if rubric.hash != history.sessions[-1].settings["rubric_hash"]:
        warnings.append("the rubric has changed since: figures that use its scale use the new one")
    return tuple(warnings)
