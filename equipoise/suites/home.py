"""What came with Equipoise: its topics and rubrics, which a project's own go before."""

from __future__ import annotations

from pathlib import Path

HOME = Path(__file__).resolve().parents[2]
FETCHED = "original"
"""The folder in a suite's own that published data are fetched into."""
PINS = "original.toml"
"""The file beside it that says what they are."""


def nearest(path: str, root: Path) -> Path:
    """The file or folder of the project at `root`, else the one that came with Equipoise.

    A folder that holds nothing but published data does not stand for one with data of its own, nor a file
    for a folder.
    """
    here, ours = root / path, HOME / path
    if ours.is_dir():
        return here if here.is_dir() and not is_only_fetched(here) else ours
    return here if here.exists() else ours


def is_only_fetched(folder: Path) -> bool:
    """Whether a folder holds published data, or their pins, and nothing else."""
    try:
        names = {item.name for item in folder.iterdir() if not item.name.startswith(".")}
    except OSError:
        return False
    return bool(names) and names <= {FETCHED, PINS}


def topic_folders(root: Path) -> list[Path]:
    """Where topics are looked for: the project's folder where it has one, then the one that came with us."""
    return list(dict.fromkeys([nearest("topics", root), HOME / "topics"]))
