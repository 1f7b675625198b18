"""`--rejudge`: judges the replies of earlier results again, without calling the subject.

The subject's calls are copied from the earlier journal into the new one, and replayed from there as in a
resumed session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from equipoise import suites
from equipoise.core import json_io
from equipoise.core.errors import CannotKeep, UserError
from equipoise.core.files import read_bytes, shown
from equipoise.core.session_options import OPTIONS
from equipoise.core.settings import Mirror, Sampling, Settings
from equipoise.core.types import JSON
from equipoise.results import journal, store
from equipoise.results.document import SCHEMA_VERSION
from equipoise.results.history import History
from equipoise.results.journal import Journal
from equipoise.results.lines import CallLine

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
_SUBJECT_OPTIONS = ("runs", "limit", "language", "model", "asker", "asker_form", "asker_share")
"""The options that determine the subject's calls, in addition to those that begin with `subject_`."""


def adopt_subject_settings(settings: Settings, command_line: Mapping[str, Any]) -> Settings:
    """The settings, with those that determine the subject's calls taken from the earlier results.

    `command_line` holds the command line options by name. Raises UserError if one of them sets what is taken
    from the results.
    """
    if settings.rejudge is None:
        return settings
    if settings.output and settings.output.resolve() == settings.rejudge.resolve():
        raise UserError("--output: names the results to judge again; name another file, or leave it out")
    metadata = _checked_metadata(settings.rejudge)
    _refuse_other_files(settings, metadata)
    session_options = [
        option for option in OPTIONS if option.name in _SUBJECT_OPTIONS or option.name.startswith("subject_")
    ]
    # Not those for local files, which the metadata only describe: `_refuse_other_files` compares these.
    suite_options = [
        option for option in suites.options() if not option.is_about_judging and not option.is_local
    ]
    for option in (*session_options, *suite_options):
        if command_line.get(option.name) is not None:
            raise UserError(f"{option.flag}: --rejudge takes that from {settings.rejudge.name}; leave it out")
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
        output=settings.output or _default_output(settings.rejudge, metadata["suite"]),
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
        raise UserError(f"--rejudge: {shown(path)}: cannot be read ({error.strerror})") from None


@lru_cache(maxsize=1)
def _parse_metadata(path: Path, modified: int) -> tuple[dict[str, JSON], str]:
    """As `_read_metadata`, but raises OSError. `modified` is part of the cache's key: files may change."""
    try:
        content = read_bytes(path)
        data = json_io.loads(content)
        metadata = dict(data["metadata"])
        metadata["runs"] = data["summary"].get("until", {}).get("runs", metadata.get("runs"))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"--rejudge: {shown(path)}: not an Equipoise results file") from None
    return metadata, hashlib.sha256(content).hexdigest()


def _checked_metadata(path: Path) -> dict[str, JSON]:
    """The metadata of results. Raises UserError if a required part is missing or of another version."""
    metadata, _ = _read_metadata(path)
    for name, types in _REQUIRED_TYPES.items():
        if name not in metadata or not isinstance(metadata[name], types):
            raise UserError(f"--rejudge: {shown(path)}: its {name} is missing or invalid")
    if (version := metadata["schema_version"]) != SCHEMA_VERSION:
        raise UserError(
            f"--rejudge: {shown(path)}: has schema version {version}; this Equipoise reads {SCHEMA_VERSION}"
        )
    if unknown := metadata["subject_sampling"].keys() - {item.name for item in fields(Sampling)}:
        raise UserError(f"--rejudge: {shown(path)}: has an unknown parameter {min(unknown)!r}")
    return metadata


def reference(path: Path) -> dict[str, JSON]:
    """The metadata of new results that identifies the earlier ones."""
    metadata, digest = _read_metadata(path)
    names = ("started", "evaluator_models", "rubric_version", "rubric_hash")
    return {"results": path.name, "sha256": digest, **{name: metadata[name] for name in names}}


def check(path: Path, suite: str, data_hash: str, cues_hash: str | None = None) -> None:
    """Raise UserError if these results cannot be judged again in this session.

    `data_hash` and `cues_hash` are those of this session; `cues_hash` is None without --asker.
    """
    metadata, results = _checked_metadata(path), shown(path)
    if metadata["suite"] != suite:
        raise UserError(f"--rejudge: {results}: belongs to the suite {metadata['suite']}, not {suite}")
    if metadata["data_hash"] != data_hash:
        raise UserError(
            f"--rejudge: {results}: the questions have changed since; use --topics to name the old ones"
        )
    if metadata.get("asker") and metadata["asker"]["cues_hash"] != cues_hash:
        raise UserError(f"--rejudge: {results}: the sentences about who asks have changed since")
    journal_path = store.journal_of(path)
    if not journal_path.is_file():
        raise UserError(
            f"--rejudge: {results}: its journal {journal_path.name}, which has the replies, is not next to it"
        )
    if (other := journal.other_format(journal_path)) is not None:
        raise UserError(f"--rejudge: {shown(journal_path)}: has format {other}, not {journal.FORMAT}")


def copy_replies(path: Path, target: History, runs: Collection[str]) -> None:
    """Append the subject's calls of these runs to the journal `target`, except for calls that it already has.

    `path` is that of the earlier results. Raises UserError if the journal cannot be written; a second attempt
    copies the rest.
    """
    try:
        _copy_replies(store.journal_of(path), target, set(runs))
        target.refresh()
    except (OSError, CannotKeep) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UserError(
            f"{shown(target.path)}: the earlier replies cannot be copied ({why}); "
            "once that is mended, the same command resumes from here"
        ) from None


def _copy_replies(source: Path, target: History, runs: Collection[str]) -> None:
    with closing(Journal(target.path, target.session)) as log:
        for _, data, line in journal.read(source):
            if not isinstance(line, CallLine) or line.role != "subject":
                continue
            if line.run in runs and line.id not in target.calls:
                log.append_entry(journal.line_content(data))
