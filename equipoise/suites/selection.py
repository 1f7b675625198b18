"""The selection of a suite's cases, and the hash of their data."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes
from equipoise.core.options import Option
from equipoise.judge.rubric import Brief, read_about, reading
from equipoise.suites.resources import ORIGINAL, OWN, PINS, SHIPPED

ABOUT = "about.toml"
"""The file in a dataset's folder that says, for the rubric's prompt, what the questions are about."""
DEFAULT_AREA = "general"
"""The area of cases without one."""
INDEX = "index.csv"
"""The table beside question files with the id, area and slug of each line."""
SCRIPTED = "scripted"
"""The folder in a dataset with texts of known lean, which serve to check the suite; models never see it."""
ASKERS, ASKER_NAMES = "askers.csv", "asker_names.csv"
"""The files of asker cues. They have their own hash, because plain questions do not use them."""
FACTS = "facts.toml"
"""The file of key facts, which evaluators are given and models under test never see. It has its own hash."""
WORDING = "wording.toml"
"""The file of wording rules that `equipoise data validate` applies to a dataset; models never see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The criteria by which cases of a suite are selected.

    `topics` is the file or folder of the `dataset`, which is None if a suite has only one. `options` has the
    values of the suite's own options that the user has set. Empty `languages` means all.
    """

    topics: Path
    dataset: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    languages: tuple[str, ...] = ()

    def option(self, option: Option) -> Any:
        """The value of an option, or its default."""
        return self.options.get(option.name, option.default)

    def chosen(self, languages: Iterable[str]) -> list[str]:
        """The selected ones of these languages, in order. Raises UserError if another one is selected."""
        known = [*languages]
        if unknown := [language for language in self.languages if language not in known]:
            there = f"there {'is' if len(known) == 1 else 'are'} {', '.join(known)}"
            raise UserError(f"--language: no {unknown[0]!r} in {self.topics}; {there}")
        return [language for language in known if not self.languages or language in self.languages]


def folder_of(topics: Path) -> Path:
    """The folder of questions; for a file of questions, the folder that contains it."""
    return topics if topics.is_dir() else topics.parent


def shared_file(name: str, topics: Path, suite: str, dataset: str | None) -> Path | None:
    """The path of the file `name` beside the questions; None if there is none.

    A dataset without such a file uses the file of the suite's own dataset.
    """
    folder = folder_of(topics)
    fallbacks = () if dataset in (None, OWN) else (folder.parent, SHIPPED / "topics" / suite)
    paths = (parent / name for parent in (folder, *fallbacks))
    return next((path for path in paths if path.is_file()), None)


def about(topics: Path, suite: str, dataset: str | None) -> Brief | None:
    """The content of ABOUT for these questions (see `shared_file`); None if there is no such file.

    Raises UserError naming file and key.
    """
    path = shared_file(ABOUT, topics, suite, dataset)
    if path is None:
        return None
    with reading(path) as (data, _):
        return read_about(data)


def data_hash(topics: Path, datasets: Collection[str] = ()) -> str:
    """SHA-256 over the names and bytes of a folder's files, or of one file and its index.

    It leaves out Markdown pages; the folders of the suite's other `datasets` and of published data, and their
    pins; and what models never see, or see only with cues (SCRIPTED, WORDING, FACTS, ASKERS, ASKER_NAMES).
    """
    digest = hashlib.sha256()
    for name, content in _contents(topics, datasets):
        digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return digest.hexdigest()


def file_digests(topics: Path, datasets: Collection[str] = ()) -> dict[str, str]:
    """The first 16 digits of the SHA-256 of each file in `data_hash`, by the file's name."""
    return {name: hashlib.sha256(content).hexdigest()[:16] for name, content in _contents(topics, datasets)}


def _contents(topics: Path, datasets: Collection[str]) -> Iterator[tuple[str, bytes]]:
    excluded = {*datasets, ORIGINAL, PINS, SCRIPTED, WORDING, FACTS, ASKERS, ASKER_NAMES}
    for path in _data_files(topics, excluded):
        yield path.relative_to(folder_of(topics)).as_posix(), read_bytes(path)


def _data_files(topics: Path, excluded: Collection[str]) -> list[Path]:
    if topics.is_dir():
        files = (path for path in topics.rglob("*") if path.is_file() and path.suffix != ".md")
        return sorted(path for path in files if path.relative_to(topics).parts[0] not in excluded)
    index = topics.with_name(INDEX)
    return [topics, index] if index.is_file() else [topics]
