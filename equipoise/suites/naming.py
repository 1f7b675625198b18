"""Checks that all parts of a project's own suite have its name: package, test, mark, rubric and data.

Reads the files as text, because a half-renamed suite may fail to import.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import read_text

# In each of these patterns, the first group is the name.
_SUITE = re.compile(r"""\bSuite\([^()]*?\bname=["'](\w+)["']""")
_MARK = re.compile(r"""\bmark\.suite\(\s*["'](\w+)["']""")
_FUNCTION = re.compile(r"^def test_(\w+)\(", re.MULTILINE)
_TESTPATH = re.compile(r"\btest_(\w+)\.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A part of a suite: its name, and the instruction for renaming it, with `{}` for the new name."""

    name: str
    instruction: str


def require_consistent_names(
    root: Path, tests: str, others: Collection[str], *, with_data: bool = False
) -> None:
    """Raise UserError, in one line that says what to rename, if the names of a suite's parts differ.

    `tests` is the project's folder of tests, and `others` are the names of suites outside the project. Rubric
    and data count only if `with_data` is set, because options may take them from elsewhere.
    """
    packages = sorted(path.parent.name for path in (root / "suites").glob("*/__init__.py"))
    for package in packages:
        other_suites = {*others, *packages} - {package}
        code = [*_code_parts(root, tests, package, other_suites)]
        data = [*_data_parts(root, package, other_suites)]
        if len({part.name for part in (code + data if with_data else code)}) > 1:
            raise UserError(_message(package, code + data))


def _message(package: str, parts: Sequence[_Part]) -> str:
    instructions = [part.instruction.replace("{}", package) for part in parts if part.name != package]
    package_part, *other_parts = parts
    names = {part.name for part in other_parts}
    # If all other parts agree, renaming the package is the alternative.
    alternative = f"; or {package_part.instruction.replace('{}', names.pop())}" if len(names) == 1 else ""
    return f"suite {package!r} is half renamed: {'; '.join(instructions)}{alternative}"


def _code_parts(root: Path, tests: str, package: str, other_suites: Collection[str]) -> Iterator[_Part]:
    """The package, its SUITE, its test file, the mark and function in that file, and pytest.ini."""
    yield _Part(name=package, instruction=f"rename suites/{package} to suites/{{}}")
    module = f"suites/{package}/__init__.py"
    for name in _SUITE.findall(read_text(root / module))[:1]:
        yield _Part(name=name, instruction=f'in {module} write name="{{}}"')
    files = (path.stem.removeprefix("test_") for path in (root / tests).glob("test_*.py"))
    test = _name_for(package, files, other_suites)
    if test is None:
        return
    file = f"{tests}/test_{test}.py"
    yield _Part(name=test, instruction=f"rename {file} to {tests}/test_{{}}.py")
    text = read_text(root / file)
    for pattern, code in ((_MARK, 'mark.suite("{}")'), (_FUNCTION, "def test_{}")):
        if (name := _name_for(package, pattern.findall(text), other_suites)) is not None:
            yield _Part(name=name, instruction=f"in {file} write {code}")
    yield from _missing_test_files(root, tests, other_suites)


def _missing_test_files(root: Path, tests: str, other_suites: Collection[str]) -> Iterator[_Part]:
    """The test files in pytest.ini that do not exist."""
    path = root / "pytest.ini"
    for name in _TESTPATH.findall(read_text(path)) if path.is_file() else ():
        if name not in other_suites and not (root / tests / f"test_{name}.py").is_file():
            yield _Part(name=name, instruction=f"in pytest.ini write {tests}/test_{{}}.py")


def _data_parts(root: Path, package: str, other_suites: Collection[str]) -> Iterator[_Part]:
    rubrics = (path.stem for path in (root / "rubric").glob("*.toml"))
    if (name := _name_for(package, rubrics, other_suites)) is not None:
        yield _Part(name=name, instruction=f"rename rubric/{name}.toml to rubric/{{}}.toml")
    topics = (path.name for path in (root / "topics").glob("*/"))
    if (name := _name_for(package, topics, other_suites)) is not None:
        yield _Part(name=name, instruction=f"rename topics/{name} to topics/{{}}")


def _name_for(
    package: str, names: Iterator[str] | Sequence[str], other_suites: Collection[str]
) -> str | None:
    """The package's name if it is among `names`, else the only one of them that no other suite has."""
    candidates = sorted({*names} - {*other_suites})
    return package if package in candidates else candidates[0] if len(candidates) == 1 else None
