"""`--rejudge`: the replies of earlier results judged again; the subject is asked nothing.

The subject's calls are brought over from the journal beside those results into the new one, where they are
replayed as after an interruption. So the new journal is whole in itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from equipoise import suites
from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.options import OPTIONS
from equipoise.core.settings import Sampling, Settings
from equipoise.core.types import JSON
from equipoise.results import history, journal, store
from equipoise.results.history import History

_NONE = type(None)
_KEPT: Mapping[str, tuple[type, ...]] = {
    "suite": (str,),
    "data_hash": (str,),
    "subject_model": (str,),
    "subject_sampling": (dict,),
    "subject_system_prompt": (str, _NONE),
    "runs": (int,),
    "limit": (int, _NONE),
    "languages_asked": (list, _NONE),
}


_ASKED = ("runs", "limit", "language", "model")
"""Options of every session that say, beside those of the subject, what was asked."""


def adopt(settings: Settings, given: Mapping[str, Any]) -> Settings:
    """The settings with everything that the earlier results decide. Raises UserError.

    `given` holds what the command line says, by the names of options: it must not say otherwise.
    """
    if settings.rejudge is None:
        return settings
    if settings.output and settings.output.resolve() == settings.rejudge.resolve():
        raise UserError(
            "--output: names the results that are to be judged again; name another, or leave it out"
        )
    said = _metadata(settings.rejudge)
    _refuse_other_corpus(settings, said)
    kept = [option for option in suites.options() if not option.is_about_judging and not option.is_local]
    asked = [option for option in OPTIONS if option.name in _ASKED or option.name.startswith("subject_")]
    for option in (*asked, *kept):
        if given.get(option.name) is not None:
            raise UserError(f"{option.flag}: --rejudge takes that from {settings.rejudge.name}; leave it out")
    return replace(
        settings,
        model=said["subject_model"],
        subject=Sampling(**said["subject_sampling"], system_prompt=said["subject_system_prompt"]),
        runs=said["runs"],
        limit=said["limit"],
        languages=tuple(said["languages_asked"] or ()),
        suite_options={
            **settings.suite_options,
            **{option.name: said[option.name] for option in kept if option.name in said},
        },
        output=settings.output or _beside(settings.rejudge, said["suite"]),
    )


def _refuse_other_corpus(settings: Settings, said: Mapping[str, JSON]) -> None:
    """A file is a part of what was asked: without the same content no kept reply would be found."""
    for option in suites.options():
        if not option.is_local or not option.shown:
            continue
        value, earlier = settings.option(option), said.get(option.name)
        if (None if value is None else option.shown(value)) != earlier:
            name = earlier["name"] if earlier else "none"
            raise UserError(f"{option.flag}: the earlier results were asked with {name}; name the same")


def _beside(path: Path, suite: str) -> Path:
    """A name of its own, so that the earlier results stay where they are."""
    stem = path.name.removesuffix(".json").removesuffix(f".{suite}")
    return path.with_name(f"{stem}.rejudged.{suite}.json")


@cache
def _read(path: Path) -> tuple[dict[str, JSON], str]:
    """The metadata, with the rounds that were asked for where not all were, and the digest of the file."""
    try:
        content = path.read_bytes()
        data = json_io.loads(content)
        said = dict(data["metadata"])
        said["runs"] = data["summary"].get("until", {}).get("runs", said.get("runs"))
    except OSError as error:
        raise UserError(f"--rejudge: {path}: cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"--rejudge: {path}: is not an Equipoise results file") from None
    return said, hashlib.sha256(content).hexdigest()


def _metadata(path: Path) -> dict[str, JSON]:
    said, _ = _read(path)
    for name, kind in _KEPT.items():
        if name not in said or not isinstance(said[name], kind):
            raise UserError(f"--rejudge: {path}: does not say {name} as it should")
    if unknown := said["subject_sampling"].keys() - {item.name for item in fields(Sampling)}:
        raise UserError(f"--rejudge: {path}: knows of {min(unknown)!r}, which is not a parameter here")
    return said


def source(path: Path) -> dict[str, JSON]:
    """What the new results say of those whose replies they judge."""
    said, digest = _read(path)
    names = ("started", "evaluator_models", "rubric_version", "rubric_hash")
    return {"results": path.name, "sha256": digest, **{name: said.get(name) for name in names}}


def check(path: Path, suite: str, data_hash: str) -> None:
    """Raise UserError where these results cannot be judged again in this session."""
    said, where = _metadata(path), shown(path)
    if said["suite"] != suite:
        raise UserError(f"--rejudge: {where}: is of the suite {said['suite']}, not {suite}")
    if said["data_hash"] != data_hash:
        raise UserError(
            f"--rejudge: {where}: the questions have changed since; --topics can name the old ones"
        )
    kept = _journal(path)
    if not kept.is_file():
        raise UserError(
            f"--rejudge: {where}: its journal {kept.name} is not beside it; the replies are there"
        )
    if (other := journal.other_format(kept)) is not None:
        raise UserError(f"--rejudge: {shown(kept)}: has format {other}, not {journal.FORMAT}")


def _journal(path: Path) -> Path:
    return store.files(path.parent, path, "", "").journal


def bring_over(path: Path, target: History, runs: Collection[str]) -> None:
    """Append the subject's calls of these runs to the journal `target`, each once however often asked.

    Raises UserError where that cannot be done; what was brought over by then is kept.
    """
    try:
        _bring_over(_journal(path), target, set(runs))
        target.read_on()
    except OSError as error:
        raise UserError(
            f"{shown(target.path)}: the earlier replies cannot be brought over ({error.strerror}); "
            "the same command goes on from here"
        ) from None


def _bring_over(earlier: Path, target: History, wanted: Collection[str]) -> None:
    with target.path.open("ab") as file:
        for entry in history.sound(earlier):
            is_reply = entry["kind"] == "call" and entry["role"] == "subject"
            if is_reply and entry["run"] in wanted and entry["id"] not in target.calls:
                file.write(json_io.dumps(entry))
