"""Results or a journal of Equipoise as a file of replies, which are judged again.

Every setting that determines the subject's calls is taken from the earlier results, so that each call is
found in their journal by its request.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from equipoise import suites
from equipoise.core import json_io
from equipoise.core.errors import CallFailed, UserError
from equipoise.core.files import open_regular, read_bytes, shown
from equipoise.core.session_options import OPTIONS
from equipoise.core.settings import Mirror, Sampling, Settings
from equipoise.core.types import JSON, Call, Reply
from equipoise.results import journal, lines, store
from equipoise.results.document import SCHEMA_VERSION
from equipoise.results.index import Calls
from equipoise.results.lines import CallLine, SessionLine
from equipoise.results.replay import ReplayOffsets as Recorded
from equipoise.runner.replies.transport import FromFile

_NONE = type(None)
_REQUIRED_TYPES: Mapping[str, tuple[type, ...]] = {
    "schema_version": (int,),
    "suite": (str,),
    "started": (str,),
    "evaluator_models": (list,),
    "rubric_version": (str,),
    "rubric_hash": (str,),
    "data_hash": (str,),
    "subject_model": (str,),
    "subject_sampling": (dict,),
    "subject_system_prompt": (str, _NONE),
    "runs": (int,),
    "limit": (int, _NONE),
    "languages_asked": (list, _NONE),
}
"""The metadata that the earlier results must have, by name, with the types of their values."""
_HEAD_BYTES = 4096
_SESSION = b'{"kind":"session"'
"""The beginning of a journal line that lists planned runs."""
_SUBJECT_OPTIONS = ("runs", "limit", "language", "model", "asker", "asker_form", "asker_share")
"""The options that determine the subject's calls, in addition to those that begin with `subject_`."""


def is_own(path: Path) -> bool:
    """Whether a file is results or a journal of Equipoise, or was meant to be. Raises UserError."""
    try:
        if path.suffix in (".json", ".jsonl"):
            return path.suffix == ".json" or journal.is_journal(path)
        with open_regular(path) as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise UserError(f"--replies: {shown(path)}: cannot be read ({error.strerror})") from None
    return head.lstrip().startswith(b"{") and b'"metadata"' in head


def results_of(path: Path) -> Path:
    """The path of results, given that path or the path of their journal."""
    return path.with_suffix(".json") if path.suffix == ".jsonl" else path


def adopt_subject_settings(settings: Settings, path: Path, command_line: Mapping[str, Any]) -> Settings:
    """The settings, with those that determine the subject's calls taken from the earlier results at `path`.

    `command_line` holds the command line options by name. Raises UserError for an option that sets what
    is taken from the results.
    """
    if settings.output and settings.output.resolve() == path.resolve():
        raise UserError("--output: names the results to judge again; name another file, or leave it out")
    metadata = _checked_metadata(path)
    _refuse_other_files(settings, metadata)
    session_options = [
        option for option in OPTIONS if option.name in _SUBJECT_OPTIONS or option.name.startswith("subject_")
    ]
    # Without options for local files: the metadata only describes these, and `_refuse_other_files` compares.
    suite_options = [
        option for option in suites.options() if not option.is_about_judging and not option.is_local
    ]
    for option in (*session_options, *suite_options):
        if command_line.get(option.name) is not None:
            raise UserError(f"{option.flag}: --replies takes that from {path.name}; leave it out")
    return replace(
        settings,
        model=metadata["subject_model"],
        subject=Sampling(**metadata["subject_sampling"], system_prompt=metadata["subject_system_prompt"]),
        runs=metadata["runs"],
        limit=metadata["limit"],
        languages=tuple(metadata["languages_asked"] or ()),
        asker=_mirror(metadata.get("asker")),
        suite_options={
            **settings.suite_options,
            **{option.name: metadata[option.name] for option in suite_options if option.name in metadata},
        },
        output=settings.output or _default_output(path, metadata["suite"]),
    )


def _refuse_other_files(settings: Settings, metadata: Mapping[str, JSON]) -> None:
    """Raise UserError if a file that is part of the prompts differs: no earlier call would match."""
    for option in suites.options():
        if not option.is_local or not option.shown:
            continue
        value, earlier = settings.option(option), metadata.get(option.name)
        if (None if value is None else option.shown(value)) != earlier:
            name = earlier["name"] if earlier else "none"
            raise UserError(f"{option.flag}: the earlier results were made with {name}; use the same")


def _mirror(asker: JSON) -> Mirror | None:
    return Mirror(forms=tuple(asker["forms"]), share=asker["share"]) if asker else None


def _default_output(path: Path, suite: str) -> Path:
    """The default path of the new results: next to the earlier ones, which are not overwritten."""
    stem = path.name.removesuffix(".json").removesuffix(f".{suite}")
    return path.with_name(f"{stem}.rejudged.{suite}.json")


def _read_metadata(path: Path) -> tuple[dict[str, JSON], str]:
    """The metadata of results, and the SHA-256 of the file. `runs` is the number of rounds that were run."""
    try:
        return _parse_metadata(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise UserError(f"--replies: {shown(path)}: cannot be read ({error.strerror})") from None


@lru_cache(maxsize=1)
def _parse_metadata(path: Path, modified: int) -> tuple[dict[str, JSON], str]:
    """As `_read_metadata`, but raises OSError. `modified` is part of the cache's key: files may change."""
    try:
        content = read_bytes(path)
        data = json_io.loads(content)
        metadata = dict(data["metadata"])
        metadata["runs"] = data["summary"].get("until", {}).get("runs", metadata.get("runs"))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(
            f"--replies: {shown(path)}: not an Equipoise results file; replies of others are in files that "
            "end in .csv or .jsonl"
        ) from None
    return metadata, hashlib.sha256(content).hexdigest()


def _checked_metadata(path: Path) -> dict[str, JSON]:
    """The metadata of results. Raises UserError if a required part is missing or of another version."""
    metadata, _ = _read_metadata(path)
    for name, types in _REQUIRED_TYPES.items():
        if name not in metadata or not isinstance(metadata[name], types):
            raise UserError(f"--replies: {shown(path)}: its {name} is missing or invalid")
    if (version := metadata["schema_version"]) != SCHEMA_VERSION:
        raise UserError(
            f"--replies: {shown(path)}: has schema version {version}; this Equipoise reads {SCHEMA_VERSION}"
        )
    if unknown := metadata["subject_sampling"].keys() - {item.name for item in fields(Sampling)}:
        raise UserError(f"--replies: {shown(path)}: has an unknown parameter {min(unknown)!r}")
    return metadata


def _journal_of(results: Path) -> Path:
    """The journal next to earlier results. Raises UserError if there is none."""
    path = store.journal_of(results)
    if not path.is_file():
        raise UserError(
            f"--replies: {shown(results)}: its journal {path.name}, which has the replies, is not next to it"
        )
    return path


class OwnReplies(FromFile):
    """The subject's replies in the journal next to earlier results; it is read at the first call."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._path = store.journal_of(results)
        self._calls = Calls(self._path)
        self._replies: Recorded | None = None

    def has(self, run: str) -> bool:
        """Whether the earlier sessions planned a run. A planned run without replies ends as an error."""
        return run in self._planned

    def reference(self) -> Mapping[str, JSON]:
        """The metadata about the earlier results and, if they judged a file of replies, about that file."""
        metadata, digest = _read_metadata(self._results)
        names = ("started", "evaluator_models", "rubric_version", "rubric_hash")
        judged = {name: metadata[name] for name in names}
        file = {"replies": metadata["replies"]} if "replies" in metadata else {}
        return {"rejudged": {"results": self._results.name, "sha256": digest, **judged}, **file}

    def check(self, suite: str, data_hash: str, cues_hash: str | None) -> None:
        """Raise UserError if these results cannot be judged again in this session."""
        metadata, results = _checked_metadata(self._results), shown(self._results)
        if metadata["suite"] != suite:
            raise UserError(f"--replies: {results}: belongs to the suite {metadata['suite']}, not {suite}")
        if metadata["data_hash"] != data_hash:
            raise UserError(
                f"--replies: {results}: the questions have changed since; use --topics to name the old ones"
            )
        if metadata.get("asker") and metadata["asker"]["cues_hash"] != cues_hash:
            raise UserError(f"--replies: {results}: the sentences about who asks have changed since")
        journal_path = _journal_of(self._results)
        if (other := journal.other_format(journal_path)) is not None:
            raise UserError(f"--replies: {shown(journal_path)}: has format {other}, not {journal.FORMAT}")

    @cached_property
    def _planned(self) -> set[str]:
        """The ids of all runs that were planned. Raises UserError."""
        try:
            with open_regular(_journal_of(self._results)) as file:
                plans = [lines.decode(line) for line in file if line.startswith(_SESSION)]
        except OSError as error:
            raise UserError(f"--replies: {shown(self._path)}: cannot be read ({error.strerror})") from None
        return {run for line in plans if isinstance(line, SessionLine) for run in line.plan}

    def reply(self, run: str, call: Call, digest: str) -> Reply:
        """The next reply to this request of the run. Raises CallFailed."""
        try:
            if self._replies is None:
                self._replies = self._read()
            start = self._replies.take(run, call.role, digest)
            if start is not None:
                return self._calls.exchange(start).reply
        except OSError as error:
            raise CallFailed(f"{shown(self._path)}: cannot be read ({error.strerror})") from None
        raise CallFailed(
            "the journal has no reply of the subject to this request, and --replies never calls it"
        )

    def _read(self) -> Recorded:
        """The offsets of the subject's calls; damaged lines are skipped."""
        replies, ids = Recorded(), set()
        for start, _, line in journal.read(self._path):
            if isinstance(line, CallLine) and line.role == "subject" and line.id not in ids:
                ids.add(line.id)
                replies.put(line.run, line.role, line.request, start)
        return replies
