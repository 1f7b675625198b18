"""Where the published data of the benchmarks lie, and which they are: fetched, never part of the project."""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise import home as shipped
from equipoise.errors import UserError

DECK = shipped.FETCHED
"""The deck of published data, and the folder in a suite's own that they are fetched into."""
PINS = shipped.PINS
"""The file in a suite's folder that says what they are and where to get them."""
OWN = "own"
"""The deck of a suite that has no other of ours: its tables stand in its folder."""
FOLDER = "EQUIPOISE_ORIGINAL_DATA"
LICENCE = "LICENCE.md"
"""The page beside fetched data; put there first."""


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


def known(topics: Sequence[Path]) -> dict[str, Original]:
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


def home(suite: str, topics: Sequence[Path]) -> Path:
    """The folder with the original data of a suite: where $FOLDER says, else in one of these folders.

    Raises UserError that says how to get them, also where only some of the files are there. A folder that the
    variable names and that was not fetched may hold what its owner chose.
    """
    named, pinned = os.environ.get(FOLDER), known(topics).get(suite)
    places = [(place / suite / DECK, pinned) for place in topics]
    if named:
        own = Path(named) / suite
        places.insert(0, (own, pinned if (own / LICENCE).is_file() else None))
    lacks = {place: _lacks(place, which) for place, which in places}
    found = next((place for place, what in lacks.items() if what is None), None)
    if found is None:
        what = next(filter(None, lacks.values()), f"not here, nor in ${FOLDER}" if named else "not here")
        how = f"run: equipoise fetch {suite}" + (f" --to {shlex.quote(named)}" if named else "")
        raise UserError(f"--dataset {DECK}: the original data of {suite} are {what}; {how}")
    return found


def _lacks(place: Path, pinned: Original | None) -> str | None:
    """What there is of the data in a folder, empty for nothing; None where they are whole."""
    try:
        if not place.is_dir() or not any(_is_data(item) for item in place.iterdir()):
            return ""
    except OSError as error:
        raise UserError(f"{place}: cannot be read ({error.strerror})") from None
    if pinned is None or not (missing := pinned.missing(place)):
        return None
    return f"not whole in {place} ({len(missing)} of {len(pinned.files)} files missing, as {missing[0]})"


def _is_data(path: Path) -> bool:
    return path.name != LICENCE and not path.name.startswith(".")
