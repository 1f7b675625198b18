"""Checks that the parts of a project's own suite have the same name: package, test, mark, rubric and data.

Reads the files as text, because a half-renamed suite may fail to import.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import read_text

_SUITE = re.compile(r"""\bSuite\([^()]*?\bname=["'](\w+)["']""")
_MARK = re.compile(r"""\bmark\.suite\(\s*["'](\w+)["']""")
_FUNCTION = re.compile(r"^def test_(\w+)\(", re.MULTILINE)
_TESTPATH = re.compile(r"\btest_(\w+)\.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A part of a suite: its name, and the instruction for renaming it, with `{}` for the new name."""

    name: str
    change: str


def require_consistent_names(
    root: Path, tests: str, others: Collection[str], *, with_data: bool = False
) -> None:
    """Raise UserError, in one line that says what to rename, if the names of a suite's parts differ.

    `tests` is the project's folder of tests, `others` are the names of suites that are not the project's.
    Rubric and data count only `with_data`, because a suite may get both by options.
    """
    packages = sorted(path.parent.name for path in (root / "suites").glob("*/__init__.py"))
    for package in packages:
        known = {*others, *packages} - {package}
        code = [*_code(root, tests, package, known)]
        data = [*_data(root, package, known)]
        if len({part.name for part in (code + data if with_data else code)}) > 1:
            raise UserError(_message(package, code + data))


def _message(package: str, parts: Sequence[_Part]) -> str:
    changes = [part.change.replace("{}", package) for part in parts if part.name != package]
    others = {part.name for part in parts[1:]}
    either = f"; or {parts[0].change.replace('{}', others.pop())}" if len(others) == 1 else ""
    return f"suite {package!r} is half renamed: {'; '.join(changes)}{either}"


def _code(root: Path, tests: str, package: str, known: Collection[str]) -> Iterator[_Part]:
    """The package, its SUITE, its test file, and the mark and function in that file."""
    yield _Part(name=package, change=f"rename suites/{package} to suites/{{}}")
    module = f"suites/{package}/__init__.py"
    for name in _SUITE.findall(read_text(root / module))[:1]:
        yield _Part(name=name, change=f'in {module} write name="{{}}"')
    files = (path.stem.removeprefix("test_") for path in (root / tests).glob("test_*.py"))
    test = _own(package, files, known)
    if test is None:
        return
    file = f"{tests}/test_{test}.py"
    yield _Part(name=test, change=f"rename {file} to {tests}/test_{{}}.py")
    text = read_text(root / file)
    for pattern, change in ((_MARK, 'mark.suite("{}")'), (_FUNCTION, "def test_{}")):
        if (name := _own(package, pattern.findall(text), known)) is not None:
            yield _Part(name=name, change=f"in {file} write {change}")
    yield from _settings(root, tests, known)


def _settings(root: Path, tests: str, known: Collection[str]) -> Iterator[_Part]:
    """Tests that pytest.ini names and that do not exist."""
    path = root / "pytest.ini"
    for name in _TESTPATH.findall(read_text(path)) if path.is_file() else ():
        if name not in known and not (root / tests / f"test_{name}.py").is_file():
            yield _Part(name=name, change=f"in pytest.ini write {tests}/test_{{}}.py")


def _data(root: Path, package: str, known: Collection[str]) -> Iterator[_Part]:
    rubrics = (path.stem for path in (root / "rubric").glob("*.toml"))
    if (name := _own(package, rubrics, known)) is not None:
        yield _Part(name=name, change=f"rename rubric/{name}.toml to rubric/{{}}.toml")
    topics = (path.name for path in (root / "topics").glob("*/"))
    if (name := _own(package, topics, known)) is not None:
        yield _Part(name=name, change=f"rename topics/{name} to topics/{{}}")


def _own(package: str, names: Iterator[str] | Sequence[str], known: Collection[str]) -> str | None:
    """The package's name if it is among these names, else the only name that no other suite has."""
    left = sorted({*names} - {*known})
    return package if package in left else left[0] if len(left) == 1 else None
