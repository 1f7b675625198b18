"""Checks a single rubric or about.toml, with the same reader as a session."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from equipoise import suites
from equipoise.core.errors import UserError
from equipoise.core.types import JSON
from equipoise.judge.rubric import read_about, reading
from equipoise.suites.resources import SHIPPED
from equipoise.suites.selection import ABOUT

_LEAST_LIKENESS = 0.2
"""The minimum likeness of a rubric to that of its suite. Other TOML files have less."""


def check(path: Path) -> str | None:
    """The warning about a rubric, if there is one.

    Raises UserError naming file and key for a fault, or if the file is neither rubric nor about.toml.
    """
    with reading(path) as (data, _):
        if path.name == ABOUT or (data and data.keys() <= {"subject", "sides"}):
            read_about(data)
            return None
    if _is_of_command(path):
        return None
    suite = path.stem if path.stem in suites.loadable() else _likeliest_suite(path, data)
    try:
        nearest = suites.load(suite)
        return suites.scale_warning(nearest, nearest.judging.rubric(path))
    except UserError as error:
        raise UserError(f"{error} (read as a rubric of {suite})") from None


def _is_of_command(path: Path) -> bool:
    """Whether a file has the prompts of a command such as `data translate`. The command reads them itself."""
    return path.stem not in suites.loadable() and (SHIPPED / "rubric" / path.name).is_file()


def _likeliest_suite(path: Path, data: JSON) -> str:
    """The suite whose rubric shares most keys with the data. Raises UserError if none shares enough."""
    keys = frozenset(_keys(data))
    likeness = {name: len(keys & own) / len(keys | own) for name, own in _rubrics(Path.cwd()).items()}
    name = max(likeness, key=likeness.__getitem__)
    if likeness[name] < _LEAST_LIKENESS:
        raise UserError(
            f"{path}: is neither a rubric, such as `equipoise init --rubric` writes, nor {ABOUT}; name "
            "its folder of data instead"
        )
    return name


@cache
def _rubrics(root: Path) -> dict[str, frozenset[str]]:
    """The keys of each suite's rubric, which is that of the project `root` or else the shipped one."""
    rubrics: dict[str, frozenset[str]] = {}
    for name in suites.loadable():
        path = suites.rubric_path(suites.load(name), None, root)
        if path.is_file():
            with reading(path) as (data, _):
                rubrics[name] = frozenset(_keys(data))
    return rubrics


def _keys(data: JSON, prefix: str = "") -> Iterator[str]:
    """The keys of nested tables, joined by dots."""
    for key, value in data.items() if isinstance(data, dict) else ():
        yield prefix + key
        yield from _keys(value, f"{prefix}{key}.")
