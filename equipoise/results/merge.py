"""Merges the journals of a suite's shards into one, like that of a single session.

It copies every line of the shards except their session lines, which a new one replaces. It makes no calls,
and does not change the shards' files.
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
from equipoise.results.history import History
from equipoise.results.lines import SessionLine
from equipoise.results.store import ARCHIVE, Files, Lock

_DIFFERS = ("shard", "endpoints")
"""Settings in which shards may differ: each may have its own server."""
_SAME = ("equipoise_version", "git_commit")
"""Versions that the shards must share. Others, such as Python's, affect no figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedShard:
    """One shard and the history of its journal."""

    shard: Shard
    history: History

    @property
    def path(self) -> Path:
        """The journal."""
        return self.history.path

    @property
    def last(self) -> SessionLine:
        """The line of its last session."""
        return self.history.sessions[-1]

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The settings and versions that all shards of one result must share."""
        own = {name: value for name, value in self.history.settings.items() if name not in _DIFFERS}
        return {**own, **{name: self.last.versions.get(name) for name in _SAME}}

    @property
    def command(self) -> str:
        """The command that resumes it."""
        model = self.last.settings["subject_model"]
        words = ("equipoise", "run", self.last.suite, "--model", model)
        output = shown(self.path.with_suffix(".json"))
        return shlex.join((*words, "--shard", str(self.shard), f"--output={output}"))


def find(folders: Iterable[Path]) -> dict[tuple[str, str], list[LoadedShard]]:
    """The shards below these folders, by suite and model, each in the order of its number.

    Other journals are ignored. Raises UserError if there are no shards.
    """
    shards: dict[tuple[str, str], list[LoadedShard]] = defaultdict(list)
    paths = sorted({path for folder in folders for path in _journals(folder)})
    for path in filter(_is_shard, paths):
        shard = _read(path)
        shards[shard.last.suite, shard.last.settings["subject_model"]].append(shard)
    if not shards:
        names = ", ".join(map(shown, folders))
        raise UserError(f"{names}: no journal of a shard (*.jsonl), as sessions with --shard write them")
    return {key: sorted(parts, key=lambda part: part.shard.number) for key, parts in sorted(shards.items())}


def _journals(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise UserError(f"{shown(folder)}: not a folder")
    paths = (path for path in folder.rglob("*.jsonl") if path.is_file() and not path.name.startswith("."))
    return (path for path in paths if ARCHIVE not in path.relative_to(folder).parts)


def _is_shard(path: Path) -> bool:
    """Whether a file is the journal of a shard, by its first line."""
    first = next(journal.read(path), None)
    return first is not None and isinstance(first.entry, SessionLine) and "shard" in first.entry.settings


def _read(path: Path) -> LoadedShard:
    loaded = history.load(path)
    return LoadedShard(shard=Shard.parse(loaded.settings["shard"]), history=loaded)


# Shards that cannot be merged.


def refuse_unfit(parts: Sequence[LoadedShard]) -> None:
    """Raise UserError unless these are all shards of one result, each once, and all runs have ended."""
    _refuse_mismatched(parts)
    _refuse_doubled(parts)
    _refuse_missing(parts)
    _refuse_interrupted(parts)


def _refuse_mismatched(parts: Sequence[LoadedShard]) -> None:
    first = parts[0]
    for part in parts[1:]:
        if part.shard.of != first.shard.of:
            raise UserError(
                f"{shown(part.path)}: is shard {part.shard}, but {shown(first.path)} is {first.shard}; "
                "keep the shards of one result in a folder of their own"
            )
        for name, value in first.settings.items():
            if (other := part.settings.get(name)) != value:
                raise UserError(
                    f"{shown(part.path)}: {name} is {other}, but {value} in {shown(first.path)}; "
                    "all shards of one result need the same data, rubric, settings and version"
                )


def _refuse_doubled(parts: Sequence[LoadedShard]) -> None:
    by_number: dict[int, list[Path]] = defaultdict(list)
    for part in parts:
        by_number[part.shard.number].append(part.path)
    for paths in by_number.values():
        if len(paths) > 1:
            names = " and ".join(map(shown, paths))
            raise UserError(f"{names}: the same shard of one result; keep the one that counts")


def _refuse_missing(parts: Sequence[LoadedShard]) -> None:
    of = parts[0].shard.of
    missing = sorted({*range(1, of + 1)} - {part.shard.number for part in parts})
    if missing:
        names = ", ".join(f"{number}/{of}" for number in missing)
        raise UserError(f"{_title(parts)}: missing shards: {names}; run them, or name their folder, too")


def _refuse_interrupted(parts: Sequence[LoadedShard]) -> None:
    left = {part.shard: len(part.history.missing()) for part in parts}
    names = [f"{shard} ({count:,} runs left)" for shard, count in left.items() if count]
    if names:
        first = next(part for part in parts if left[part.shard])
        raise UserError(
            f"{_title(parts)}: shards to go on with: {', '.join(names)}; give each its own command again, "
            f"{first.shard} with its other options: {first.command}"
        )


def _title(parts: Sequence[LoadedShard]) -> str:
    last = parts[0].last
    return f"{last.suite}, {last.settings['subject_model']}"


# Merging.


def join(parts: Sequence[LoadedShard], files: Files) -> History:
    """Write the merged journal of these shards, and return its history. Raises UserError.

    An earlier merged journal is replaced, but not if a session has added runs to it.
    """
    refuse_unfit(parts)
    files.check()
    _refuse_other_journal(files, parts)
    try:
        with ExitStack() as steps:
            for part in parts:
                # In a read-only folder there can be no lock, and no running session either.
                with suppress(OSError):
                    steps.callback(Lock(Files(results=part.path, journal=part.path)).release)
            _write(parts, files.journal)
    except OSError as error:
        raise UserError(f"{shown(files.journal)}: cannot be written ({error.strerror})") from None
    return history.load(files.journal)


def _refuse_other_journal(files: Files, parts: Collection[LoadedShard]) -> None:
    if files.journal.resolve() in {part.path.resolve() for part in parts}:
        raise UserError(f"{shown(files.journal)}: the journal of a shard; name another file with --output")
    if files.journal.exists():
        lines = (line.entry for line in journal.read(files.journal))
        sessions = [line for line in lines if isinstance(line, SessionLine)]
        if len(sessions) != 1 or not sessions[0].shards:
            raise UserError(
                f"{shown(files.results)}: a session has asked runs of these results itself; "
                "name another file with --output"
            )


def _write(parts: Sequence[LoadedShard], path: Path) -> None:
    lines = (line for part in parts for line in journal.read(part.path))
    with replacing(path) as file:
        written = journal.encode(_first_line(parts), "")
        file.write(written)
        for line in lines:
            if not isinstance(line.entry, SessionLine):
                written = journal.resealed(line.data, journal.checksum(written))
                file.write(written)


def _first_line(parts: Sequence[LoadedShard]) -> dict[str, JSON]:
    """The session line of the merged journal: that of a single session, with `shards` and `nonces`."""
    first, last = parts[0].last, max(parts, key=lambda part: part.last.started).last
    ranks = dict(chain.from_iterable(part.history.plans.ranks.items() for part in parts))
    languages = dict(chain.from_iterable(part.history.planned.items() for part in parts))
    settings = {name: value for name, value in parts[0].history.settings.items() if name != "shard"}
    selections = [part.history.selection for part in parts]
    return {
        "kind": "session",
        "session": secrets.token_hex(4),
        "format": journal.FORMAT,
        "started": min(session.started for part in parts for session in part.history.sessions),
        "nonce": first.nonce,
        "nonces": {session.session: session.nonce for part in parts for session in part.history.sessions},
        "plan": {run: languages[run] for run in sorted(languages, key=ranks.__getitem__)},
        "settings": {**settings, "endpoints": _endpoints(parts)},
        "suite": first.suite,
        "versions": first.versions,
        "data_files": first.data_files,
        "data_notes": first.data_notes,
        "session_settings": last.session_settings,
        "selection": {
            **selections[0],
            "deselected": sum(selection["deselected"] for selection in selections),
        },
        "shards": [part.history.session for part in parts],
    }


def _endpoints(parts: Sequence[LoadedShard]) -> dict[str, str]:
    """The URLs by role; those of several servers are joined, in the order of the shards."""
    endpoints = [part.history.settings["endpoints"] for part in parts]
    return {role: ", ".join(dict.fromkeys(urls[role] for urls in endpoints)) for role in endpoints[0]}
