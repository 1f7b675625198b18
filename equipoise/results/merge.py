"""Merges the journals of a suite's shards into a journal like that of a single session.

Every line of the shards is copied except their session lines, which a new one replaces. No calls are made,
and the shards' files are not changed.
"""

from __future__ import annotations

import secrets
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import replacing, shown
from equipoise.core.types import JSON, Shard
from equipoise.results import history, journal
from equipoise.results.history import History, combine_endpoints
from equipoise.results.lines import SessionLine
from equipoise.results.store import ARCHIVE, Files, Lock

_DIFFERING_SETTINGS = ("shard", "endpoints")
"""Settings in which shards may differ: each may have its own server."""
_SHARED_VERSIONS = ("equipoise_version", "git_commit")
"""Versions that the shards must share. Others, such as Python's, affect no figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedShard:
    """A shard: its `id`, such as 1/3, and the history of its journal."""

    id: Shard
    history: History

    @property
    def path(self) -> Path:
        """The path of its journal."""
        return self.history.path

    @property
    def last(self) -> SessionLine:
        """The line of its last session."""
        return self.history.sessions[-1]

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The settings and versions that all shards of one result must share."""
        items = self.history.settings.items()
        shared = {name: value for name, value in items if name not in _DIFFERING_SETTINGS}
        return {**shared, **{name: self.last.versions.get(name) for name in _SHARED_VERSIONS}}

    @property
    def command(self) -> str:
        """The command that resumes it."""
        model = self.last.settings["subject_model"]
        words = ("equipoise", "run", self.last.suite, "--model", model)
        output = shown(self.path.with_suffix(".json"))
        return shlex.join((*words, "--shard", str(self.id), f"--output={output}"))


def find(folders: Iterable[Path]) -> dict[tuple[str, str], list[LoadedShard]]:
    """The shards below these folders, by suite and model, each in the order of its number.

    Other journals are ignored. Raises UserError if there are no shards.
    """
    by_suite_and_model: dict[tuple[str, str], list[LoadedShard]] = defaultdict(list)
    paths = sorted({path for folder in folders for path in _journals(folder)})
    for path in filter(_is_shard, paths):
        shard = _load(path)
        by_suite_and_model[shard.last.suite, shard.last.settings["subject_model"]].append(shard)
    if not by_suite_and_model:
        names = ", ".join(map(shown, folders))
        raise UserError(f"{names}: no journal of a shard (*.jsonl), as sessions with --shard write them")
    return {
        key: sorted(shards, key=lambda shard: shard.id.number)
        for key, shards in sorted(by_suite_and_model.items())
    }


def _journals(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise UserError(f"{shown(folder)}: not a folder")
    paths = (path for path in folder.rglob("*.jsonl") if path.is_file() and not path.name.startswith("."))
    return (path for path in paths if ARCHIVE not in path.relative_to(folder).parts)


def _is_shard(path: Path) -> bool:
    """Whether a file is the journal of a shard, by its first line."""
    first = next(journal.read(path), None)
    return first is not None and isinstance(first.entry, SessionLine) and "shard" in first.entry.settings


def _load(path: Path) -> LoadedShard:
    shard_history = history.load(path)
    ids = dict.fromkeys(str(session.settings.get("shard")) for session in shard_history.sessions)
    if len(ids) > 1 or shard_history.selection["deselected"] < 0:
        names = f"those of {' and '.join(ids)}" if len(ids) > 1 else "that of a shard and another one"
        raise UserError(f"{shown(path)}: is several journals in one file, {names}; give each its own file")
    return LoadedShard(id=Shard.parse(shard_history.settings["shard"]), history=shard_history)


# Shards that cannot be merged.


def refuse_unfit(shards: Sequence[LoadedShard]) -> None:
    """Raise UserError unless these are all shards of one result, each once, and all runs have ended."""
    _refuse_mismatched(shards)
    _refuse_duplicate(shards)
    _refuse_missing(shards)
    _refuse_interrupted(shards)


def _refuse_mismatched(shards: Sequence[LoadedShard]) -> None:
    first = shards[0]
    for shard in shards[1:]:
        if shard.id.of != first.id.of:
            raise UserError(
                f"{shown(shard.path)}: is shard {shard.id}, but {shown(first.path)} is {first.id}; "
                "keep the shards of one result in a folder of their own"
            )
        for name, value in first.settings.items():
            if (other := shard.settings.get(name)) != value:
                raise UserError(
                    f"{shown(shard.path)}: {name} is {other}, but {value} in {shown(first.path)}; "
                    "all shards of one result need the same data, rubric, settings and version"
                )


def _refuse_duplicate(shards: Sequence[LoadedShard]) -> None:
    by_number: dict[int, list[Path]] = defaultdict(list)
    for shard in shards:
        by_number[shard.id.number].append(shard.path)
    for paths in by_number.values():
        if len(paths) > 1:
            names = " and ".join(map(shown, paths))
            raise UserError(f"{names}: the same shard of one result; keep the one that counts")


def _refuse_missing(shards: Sequence[LoadedShard]) -> None:
    count = shards[0].id.of
    missing = sorted({*range(1, count + 1)} - {shard.id.number for shard in shards})
    if missing:
        names = ", ".join(f"{number}/{count}" for number in missing)
        raise UserError(f"{_title(shards)}: missing shards: {names}; run them, or name their folder, too")


def _refuse_interrupted(shards: Sequence[LoadedShard]) -> None:
    missing_runs = {shard.id: len(shard.history.missing()) for shard in shards}
    names = [f"{number} ({count:,} runs left)" for number, count in missing_runs.items() if count]
    if names:
        first = next(shard for shard in shards if missing_runs[shard.id])
        raise UserError(
            f"{_title(shards)}: unfinished shards: {', '.join(names)}; run the command of each again, "
            f"for {first.id} with its other options: {first.command}"
        )


def _title(shards: Sequence[LoadedShard]) -> str:
    """The suite and model of the shards."""
    session = shards[0].last
    return f"{session.suite}, {session.settings['subject_model']}"


# Merging.


def join(shards: Sequence[LoadedShard], files: Files) -> History:
    """Write the merged journal of these shards, and return its history. Raises UserError.

    An earlier merged journal is replaced, but not if a session has added runs to it.
    """
    refuse_unfit(shards)
    files.check()
    _refuse_other_journal(files, shards)
    try:
        with ExitStack() as steps:
            for shard in shards:
                # In a read-only folder there can be no lock, and no running session either.
                with suppress(OSError):
                    steps.callback(Lock(Files(results=shard.path, journal=shard.path)).release)
            _write(shards, files.journal)
    except OSError as error:
        raise UserError(f"{shown(files.journal)}: cannot be written ({error.strerror})") from None
    return history.load(files.journal)


def _refuse_other_journal(files: Files, shards: Collection[LoadedShard]) -> None:
    if files.journal.resolve() in {shard.path.resolve() for shard in shards}:
        raise UserError(f"{shown(files.journal)}: the journal of a shard; name another file with --output")
    if files.journal.exists():
        lines = (line.entry for line in journal.read(files.journal))
        sessions = [line for line in lines if isinstance(line, SessionLine)]
        if len(sessions) != 1 or not sessions[0].shards:
            raise UserError(
                f"{shown(files.results)}: a session has added runs to these results; "
                "name another file with --output"
            )


def _write(shards: Sequence[LoadedShard], path: Path) -> None:
    lines = (line for shard in shards for line in journal.read(shard.path))
    with replacing(path) as file:
        last_line = journal.encode(_session_entry(shards), "")
        file.write(last_line)
        for line in lines:
            if not isinstance(line.entry, SessionLine):
                last_line = journal.relink(line.data, journal.checksum(last_line))
                file.write(last_line)


def _session_entry(shards: Sequence[LoadedShard]) -> dict[str, JSON]:
    """The session line of the merged journal: like that of a single session, with `shards` and `nonces`."""
    first, last = shards[0].last, max(shards, key=lambda shard: shard.last.started).last
    ranks = dict(chain.from_iterable(shard.history.plans.ranks.items() for shard in shards))
    languages = dict(chain.from_iterable(shard.history.planned.items() for shard in shards))
    settings = {name: value for name, value in shards[0].history.settings.items() if name != "shard"}
    selections = [shard.history.selection for shard in shards]
    all_endpoints = [shard.history.settings["endpoints"] for shard in shards]
    file_roles = sorted({role for shard in shards for role in shard.history.file_roles})
    return {
        "kind": "session",
        "session": secrets.token_hex(4),
        "format": journal.FORMAT,
        "started": min(session.started for shard in shards for session in shard.history.sessions),
        "nonce": first.nonce,
        "nonces": {session.session: session.nonce for shard in shards for session in shard.history.sessions},
        "plan": {run: languages[run] for run in sorted(languages, key=ranks.__getitem__)},
        "settings": {**settings, "endpoints": combine_endpoints(all_endpoints)},
        "suite": first.suite,
        "versions": first.versions,
        "data_files": first.data_files,
        "data_notes": first.data_notes,
        "session_settings": last.session_settings,
        "selection": {
            **selections[0],
            "deselected": sum(selection["deselected"] for selection in selections),
        },
        "shards": [shard.history.session for shard in shards],
        **({"file_roles": file_roles} if file_roles else {}),
    }
