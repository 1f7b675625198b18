"""Where topics, rubrics and published data lie: a project's own come before those shipped with Equipoise.

Published data are fetched and never part of a project; pins say which they are. Knows no suite's files.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes, shown

_PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED = _PACKAGE / "shipped" if (_PACKAGE / "shipped").is_dir() else _PACKAGE.parent
"""The folder with the topics, rubrics and tests of Equipoise itself: the checkout, where there is one."""
ORIGINAL = "original"
"""The dataset of published data, and the folder of a suite that they are fetched into."""
PINS = "original.toml"
"""The file in a suite's folder that says what the published data are and where to get them."""
OWN = "own"
"""The dataset of a suite whose only other one is the published: its tables stand in its folder."""
VARIABLE = "EQUIPOISE_ORIGINAL_DATA"
"""The environment variable that names a folder of published data, by suite."""
LICENCE = "LICENCE.md"
"""The page beside fetched data; written before them."""


def nearest(path: str, root: Path) -> Path:
    """The file or folder of the project at `root`, else the one shipped with Equipoise.

    A folder that holds nothing but published data does not stand for one with data of its own, nor a file
    for a folder.
    """
    own, other = root / path, SHIPPED / path
    if other.is_dir():
        return own if own.is_dir() and not is_only_fetched(own) else other
    return own if own.exists() else other


def is_only_fetched(folder: Path) -> bool:
    """Whether a folder holds published data, or their pins, and nothing else."""
    try:
        names = {item.name for item in folder.iterdir() if not item.name.startswith(".")}
    except OSError:
        return False
    return bool(names) and names <= {ORIGINAL, PINS}


def topic_folders(root: Path) -> list[Path]:
    """Where topics are looked for: the project's folder, if it has one, then the shipped one."""
    return list(dict.fromkeys([nearest("topics", root), SHIPPED / "topics"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """One benchmark's published files by their local names, with their SHA-256, hexadecimal.

    `paths` says where in the repository those are that have another name there, `stated` which of its files
    states the licence where that is known, `terms` what one may do with the data.
    """

    suite: str
    repository: str
    commit: str
    licence: str
    files: Mapping[str, str]
    terms: str = ""
    stated: str = ""
    paths: Mapping[str, str] = field(default_factory=dict)

    @property
    def about(self) -> str:
        """Whose it is, in a line."""
        return f"{self.suite}: {self.repository} at {self.commit[:12]}, licence: {self.licence}"

    def missing(self, folder: Path) -> list[str]:
        """The files that are not in a folder."""
        return [name for name in self.files if not (folder / name).is_file()]

    def changed(self, folder: Path) -> list[str]:
        """The files in a folder that are not what was published. Raises UserError."""
        return [name for name, pin in self.files.items() if file_hash(folder / name) not in (None, pin)]


def file_hash(path: Path) -> str | None:
    """The SHA-256 of a file, hexadecimal; None where there is nothing. Raises UserError."""
    try:
        return hashlib.sha256(read_bytes(path)).hexdigest() if path.exists() else None
    except OSError as error:
        raise UserError(f"{shown(path)}: cannot be read ({error.strerror})") from None


def originals(topics: Sequence[Path]) -> dict[str, Original]:
    """Every benchmark whose data can be fetched, by suite: those with pins below one of these folders.

    Of one that has them in several the earlier folder's hold. Raises UserError.
    """
    paths = [path for folder in reversed(topics) for path in folder.glob(f"*/{PINS}")]
    found = {path.parent.name: path for path in paths}
    return {suite: _read(found[suite]) for suite in sorted(found)}


def _read(path: Path) -> Original:
    try:
        return Original(suite=path.parent.name, **tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{path}: does not say where the data are: {error}") from None


def original_folder(suite: str, topics: Sequence[Path]) -> Path:
    """The folder with the original data of a suite: where $VARIABLE says, else in one of these.

    Raises UserError that says how to get them, where only some of the files are there, or one was changed. A
    folder that the variable names and that was not fetched may hold fewer files, but none that was changed.
    """
    named, pinned = os.environ.get(VARIABLE), originals(topics).get(suite)
    places, to = [place / suite / ORIGINAL for place in topics], ""
    if named:
        places, to = [Path(named) / suite, *places], f" --to {shlex.quote(named)}"
    lacks: list[str] = []
    for place in places:
        is_named = bool(named) and not lacks
        what = _lacks(place, pinned, may_hold_less=is_named and not (place / LICENCE).is_file())
        if what is None:
            _refuse_changed(place, pinned, f"equipoise fetch {suite}{to if is_named else ''}")
            return place
        lacks.append(what)
    what = next(filter(None, lacks), f"not here, nor in ${VARIABLE}" if named else "not here")
    raise UserError(
        f"--dataset {ORIGINAL}: the original data of {suite} are {what}; run: equipoise fetch {suite}{to}"
    )


def _lacks(place: Path, pinned: Original | None, *, may_hold_less: bool) -> str | None:
    """What there is of the data in a folder, empty for nothing; None where there is enough of them."""
    try:
        if not place.is_dir() or not any(_is_data(item) for item in place.iterdir()):
            return ""
    except OSError as error:
        raise UserError(f"{place}: cannot be read ({error.strerror})") from None
    missing = pinned.missing(place) if pinned else []
    if pinned is None or not missing or (may_hold_less and len(missing) < len(pinned.files)):
        return None
    return f"not whole in {place} ({len(missing)} of {len(pinned.files)} files missing, as {missing[0]})"


def _refuse_changed(place: Path, pinned: Original | None, fetch: str) -> None:
    """Raise UserError where a file in this folder is not the published one."""
    if pinned and (changed := pinned.changed(place)):
        raise UserError(
            f"--dataset {ORIGINAL}: {place / changed[0]} was changed since it was published "
            f"({len(changed)} of {len(pinned.files)} files); run: {fetch}, which "
            "brings it back, or ask changed data by --topics"
        )


def _is_data(path: Path) -> bool:
    return path.name != LICENCE and not path.name.startswith(".")
