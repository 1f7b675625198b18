"""Locates topics, rubrics and published data: a project's own first, then those shipped with Equipoise.

Published data are fetched and never part of a project; pins identify them.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core import toml_text
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes, shown

_PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED = _PACKAGE / "shipped" if (_PACKAGE / "shipped").is_dir() else _PACKAGE.parent
"""The folder with the topics, rubrics and tests of Equipoise: the checkout, or else inside the package."""
ORIGINAL = "original"
"""The name of the dataset of published data, and of their folder in the folder of a suite or dataset."""
PINS = "original.toml"
"""The file in a suite's or a dataset's folder that pins published data: repository, commit and digests."""
OWN = "own"
"""The name of a suite's own dataset, if the published dataset is the only other one."""
DATA_VARIABLE = "EQUIPOISE_ORIGINAL_DATA"
"""The environment variable that names a folder of published data: `fetch NAME` fills its folder NAME."""
LICENCE = "LICENCE.md"
"""The licence page beside fetched data; it is written before the data."""


def nearest(path: str, root: Path) -> Path:
    """The project's file or folder below `root`, or else the one shipped with Equipoise, if there is one.

    Neither a folder that contains only published data nor a file replaces a shipped folder.
    """
    own, shipped = root / path, SHIPPED / path
    if shipped.is_dir():
        return own if own.is_dir() and not is_only_fetched(own) else shipped
    return own if own.exists() or not shipped.exists() else shipped


def is_only_fetched(folder: Path) -> bool:
    """Whether a folder contains nothing but published data, or their pins."""
    try:
        names = {item.name for item in folder.iterdir() if not item.name.startswith(".")}
    except OSError:
        return False
    return bool(names) and names <= {ORIGINAL, PINS}


def topic_folders(root: Path) -> list[Path]:
    """Folders of topics in search order: the project's, if any, then the shipped one."""
    return list(dict.fromkeys([nearest("topics", root), SHIPPED / "topics"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """A benchmark's published files: `files` maps local names to SHA-256 digests (hexadecimal).

    `name` is the name of a suite or of one of its datasets, as `data fetch` takes it; `folder` is the folder
    in topics with the pins. `paths` maps local names to paths in the repository, if these differ. `stated` is
    the file that states the licence, if known, and `terms` are the terms of use. `defects` are the known
    defects of the files and how they are handled, in sentences.
    """

    name: str
    folder: str
    repository: str
    commit: str
    licence: str
    files: Mapping[str, str]
    terms: str = ""
    stated: str = ""
    defects: Sequence[str] = ()
    paths: Mapping[str, str] = field(default_factory=dict)

    @property
    def dataset(self) -> str:
        """The name of the dataset."""
        return ORIGINAL if self.folder == self.name else self.name

    @property
    def about(self) -> str:
        """One line on the source and licence."""
        return f"{self.name}: {self.repository} at {self.commit[:12]}, licence: {self.licence}"

    def missing(self, folder: Path) -> list[str]:
        """The files that a folder lacks."""
        return [name for name in self.files if not (folder / name).is_file()]

    def changed(self, folder: Path) -> list[str]:
        """The files in a folder that differ from the published ones. Raises UserError."""
        return [name for name, pin in self.files.items() if file_hash(folder / name) not in (None, pin)]


def file_hash(path: Path) -> str | None:
    """The SHA-256 of a file, hexadecimal; None if it does not exist. Raises UserError."""
    try:
        return hashlib.sha256(read_bytes(path)).hexdigest() if path.exists() else None
    except OSError as error:
        raise UserError(f"{shown(path)}: cannot be read ({error.strerror})") from None


def contents_hash(paths: Iterable[Path]) -> str:
    """The SHA-256 over the contents of files, hexadecimal. Raises OSError."""
    return hashlib.sha256(b"\0".join(map(read_bytes, paths))).hexdigest()


def originals(topics: Sequence[Path]) -> dict[str, Original]:
    """Published data by name, from the pins of suites and datasets below these folders.

    Earlier folders take precedence. Raises UserError.
    """
    paths = {
        path.parent.name: (path, path.parent.relative_to(folder).as_posix())
        for folder in reversed(topics)
        for pattern in ("*", "*/*")
        for path in folder.glob(f"{pattern}/{PINS}")
    }
    return {name: _read_pins(*paths[name]) for name in sorted(paths)}


def _read_pins(path: Path, folder: str) -> Original:
    try:
        return Original(name=path.parent.name, folder=folder, **toml_text.loads(read_bytes(path).decode()))
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{path}: not a valid list of pins: {error}") from None


def known_defects(suite: str, folder: Path, root: Path) -> Sequence[str]:
    """The defects of a suite's published data, if this folder has some of its files, and all are unchanged.

    The pins below `root` take precedence over the shipped ones. Raises UserError.
    """
    paths = (topics / "topics" / suite / PINS for topics in (root, SHIPPED))
    path = next((path for path in paths if path.is_file()), None)
    original = None if path is None else _read_pins(path, suite)
    if original is None or not original.defects:
        return ()
    has_some = len(original.missing(folder)) < len(original.files)
    return original.defects if has_some and not original.changed(folder) else ()


def dataset_folder(suite: str, dataset: str | None, root: Path) -> Path:
    """The folder of a suite's dataset, by default its own: the project's below `root`, or the shipped one.

    Raises UserError if the dataset is published data that are missing or changed.
    """
    topics = [root / "topics", SHIPPED / "topics"]
    if dataset == ORIGINAL:
        return original_folder(suite, topics)
    if dataset in (None, OWN):
        return nearest(f"topics/{suite}", root)
    if any((folder / suite / dataset / PINS).is_file() for folder in topics):
        return original_folder(dataset, topics)
    return nearest(f"topics/{suite}/{dataset}", root)


def original_folder(name: str, topics: Sequence[Path]) -> Path:
    """The folder with published data: in the folder that DATA_VARIABLE names, or else below one of `topics`.

    Raises UserError, with the command that fetches them, if files are missing or changed. A folder named by
    DATA_VARIABLE that was not fetched may have fewer files, but no changed ones.
    """
    original, named_folder = originals(topics).get(name), os.environ.get(DATA_VARIABLE)
    path, command = Path(original.folder if original else name) / ORIGINAL, f"equipoise data fetch {name}"
    candidates = [(folder / path, command, False) for folder in topics]
    if named_folder:
        command += f" --to {shlex.quote(named_folder)}"
        candidates.insert(0, (Path(named_folder) / name, command, True))
    faults: list[str] = []
    for folder, fetch, is_named in candidates:
        if not _has_data(folder):
            continue
        was_fetched = (folder / LICENCE).is_file()
        fault = _incompleteness(folder, original, allows_missing=is_named and not was_fetched)
        if fault is None:
            _refuse_changed(folder, original, fetch)
            return folder
        faults.append(fault)
    faults.append(f"missing, also in ${DATA_VARIABLE}" if named_folder else "missing")
    dataset = original.dataset if original else ORIGINAL
    raise UserError(f"--dataset {dataset}: the original data of {name} are {faults[0]}; run: {command}")


def _has_data(folder: Path) -> bool:
    try:
        names = [item.name for item in folder.iterdir()] if folder.is_dir() else []
    except OSError as error:
        raise UserError(f"{folder}: cannot be read ({error.strerror})") from None
    return any(name != LICENCE and not name.startswith(".") for name in names)


def _incompleteness(folder: Path, original: Original | None, *, allows_missing: bool) -> str | None:
    """A phrase on the files that a folder lacks; None if the folder may be used."""
    missing = original.missing(folder) if original else []
    if original is None or not missing or (allows_missing and len(missing) < len(original.files)):
        return None
    counts = f"{len(missing)} of {len(original.files)} files missing"
    return f"incomplete in {folder} ({counts}, such as {missing[0]})"


def _refuse_changed(folder: Path, original: Original | None, fetch: str) -> None:
    """Raise UserError if a file in this folder differs from the published one. `fetch` is a command."""
    if original and (changed := original.changed(folder)):
        raise UserError(
            f"--dataset {original.dataset}: {folder / changed[0]} differs from the published file "
            f"({len(changed)} of {len(original.files)} files); run: {fetch}, which "
            "restores it, or use changed data with --topics"
        )
