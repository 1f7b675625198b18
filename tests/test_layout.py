"""The architecture as tests: which room may import which, and what a suite consists of."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import get_type_hints

import pytest

from conftest import ROOT
from equipoise import suites
from equipoise.core.types import Case

PACKAGE = ROOT / "equipoise"
ROOMS = [
    "core",
    "stats",
    "models",
    "judge",
    "suites",
    "results",
    "comparison",
    "report",
    "runner",
    "audit",
    "datasets",
    "studies",
    "plugin",
    "cli",
]
"""Each imports only from those before it; neither of the last two from the other."""
FILES = sorted(PACKAGE.rglob("*.py"))
SUITES = sorted(path.parent.name for path in (PACKAGE / "suites").glob("*/__init__.py"))
KNOWN_TO = {
    "openai": {"models/client.py"},
    "ray": {"runner/sweep.py"},
    "pytest": {"core/rootdir.py", "plugin/__init__.py", "plugin/command_line.py", "plugin/ending.py"},
    "xdist": set[str](),
    "orjson": {"core/json_io.py"},
}
"""Libraries that shape a room, and the files that import them."""


def short(path: Path) -> str:
    """The path within the package."""
    return path.relative_to(PACKAGE).as_posix()


def room(path: Path) -> str:
    """The room that a file is in; empty for the package itself."""
    return path.relative_to(PACKAGE).parts[0].removesuffix("__init__.py")


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def content(path: Path) -> tuple[set[str], set[str]]:
    """Every module that a file imports, wherever in the file, in full; and the strings in it."""
    imported: set[str] = set()
    strings: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.add(node.value)
    return imported, strings


def imports(path: Path) -> set[str]:
    """The modules that a file imports."""
    return content(path)[0]


@cache
def modules(path: Path) -> set[str]:
    """The modules of the package that a file imports, as paths within it."""
    names = {name.removeprefix("equipoise.") for name in imports(path) if name.startswith("equipoise.")}
    stems = {name.replace(".", "/") for name in names}
    return {f"{stem}.py" for stem in stems if (PACKAGE / f"{stem}.py").is_file()} | {
        f"{stem}/__init__.py" for stem in stems if (PACKAGE / stem / "__init__.py").is_file()
    }


def test_every_module_is_in_a_room() -> None:
    """Nothing lies loose beside the rooms."""
    assert {room(path) for path in FILES} == {*ROOMS, ""}
    assert [path.name for path in PACKAGE.glob("*.py")] == ["__init__.py"]


@pytest.mark.slow
def test_the_table_for_contributors_has_each_room_and_its_size() -> None:
    """In the order of the rooms, with their lines as they are, to within a seventh."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `(\w+)` \|.+\| ([\d,]+) \|$", text, re.MULTILINE)
    assert [name for name, _ in table] == ROOMS
    lines = Counter(room(path) for path in FILES for _ in path.read_text(encoding="utf-8").splitlines())
    stale = {
        name: lines[name]
        for name, stated in table
        if abs(int(stated.replace(",", "")) - lines[name]) > max(100, lines[name] / 7)
    }
    assert stale == {}


def test_rooms_import_only_from_rooms_before_them() -> None:
    """As they are listed; what a user starts, pytest or the command, knows nothing of the other.

    The Python API, which is the package itself, imports any.
    """
    before = {name: set(ROOMS[: index + 1]) for index, name in enumerate(ROOMS)}
    before["cli"] -= {"plugin"}
    before[""] = set(ROOMS)
    wrong = {
        short(path): late
        for path in FILES
        if (late := {name.split("/")[0] for name in modules(path)} - before.get(room(path), set()))
    }
    assert wrong == {}


def test_imports_make_no_circle() -> None:
    """Modules can be put in an order in which each imports only earlier ones, packages aside."""
    graph = {
        short(path): {name for name in modules(path) if not name.endswith("__init__.py")} for path in FILES
    }
    assert len(list(TopologicalSorter(graph).static_order())) == len(graph)


def test_only_one_file_imports(subtests: pytest.Subtests) -> None:
    """Each of the libraries that shape a room is known to one file."""
    for library, allowed in KNOWN_TO.items():
        with subtests.test(library):
            users = {short(path) for path in FILES if any(n.split(".")[0] == library for n in imports(path))}
            assert users == allowed


def test_a_suite_knows_no_other_and_nobody_knows_a_suite() -> None:
    """A suite's name stands nowhere in the package but in its own part of it."""
    named = re.compile(rf"\b({'|'.join(SUITES)})\b")
    wrong = {}
    for path in FILES:
        others = {*named.findall(path.read_text(encoding="utf-8"))} - set(path.parts)
        if others:
            wrong[short(path)] = others
    assert wrong == {}, "a suite is not called by a word that shared code uses: rename the suite, or the word"


ORDINARY = {
    *("asked", "dataset", "facts", "index", "item", "kind", "language_name", "languages", "method"),
    *("name", "names", "options", "question", "topic"),
}
"""Fields of suites' cases whose names shared code uses in a sense of its own."""


def test_keys_of_a_suite_stand_in_its_package_alone() -> None:
    """What a case has beyond the fields of all cases is its suite's: no other room reads it by name."""
    every = [
        suites.load(name).of(dataset)
        for name in SUITES
        for dataset in (None, *suites.load(name).dataset_names)
    ]
    types = [get_type_hints(suite.evaluate)["case"] for suite in every]
    shared = {field.name for field in fields(Case)} | ORDINARY
    keys = {field.name for kind in types for field in fields(kind)} - shared
    assert len(keys) > len(SUITES)
    wrong = {
        short(path): used for path in FILES if not {*path.parts} & {*SUITES} and (used := keys & texts(path))
    }
    assert wrong == {}


def texts(path: Path) -> set[str]:
    """The strings in a file."""
    return content(path)[1]


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_has_all_its_files(name: str) -> None:
    """One name everywhere: data, rubric, benchmark test, unit test and a row in the README."""
    expected = (f"topics/{name}", f"rubric/{name}.toml", f"tests_benchmark/test_{name}.py")
    assert [path for path in expected if not (ROOT / path).exists()] == []
    assert [path for path in (ROOT / "tests" / "suites").rglob("test_*.py") if name in path.as_posix()]
    assert f"`{name}`" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_start_up_does_not_load_what_it_does_not_use() -> None:
    """Neither the plugin nor what suites say of their options loads a client, prices or statistics."""
    heavy = ("openai", "aiohttp", "pydantic", "genai_prices", "numpy", "scipy", "xllamacpp")
    load = "import sys; from equipoise import plugin, suites; suites.options()"
    script = f"{load}; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_prompts_live_outside_the_code() -> None:
    """Source files hold no text in another script: questions and prompts are data."""
    for path in FILES:
        assert all(ord(character) < 0x2E80 for character in path.read_text(encoding="utf-8")), path


PARALLEL = {
    "Sampling": "generation parameters, as the file has them and as settings",
}
"""Names of more than one type, and the one thing that they name."""
_ALIAS = re.compile(r"_?[A-Z]\w*[a-z]\w*")


def types(path: Path) -> Iterator[str]:
    """The names of the classes and type aliases of a module."""
    for node in tree(path).body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if _ALIAS.fullmatch(name):
                    yield name


def test_no_two_types_share_a_name() -> None:
    """A name of a class or type alias means one thing in the whole package."""
    files_of: dict[str, list[str]] = {}
    for path in FILES:
        for name in types(path):
            files_of.setdefault(name, []).append(short(path))
    shared = {name: paths for name, paths in files_of.items() if len(paths) > 1}
    assert shared.keys() == PARALLEL.keys(), shared


VAGUE = {"found", "said", "told", "kept", "place", "seen", "asked", "given"}
"""Names that say nothing of what they hold, where its type has a name: rows, a path, a match, an index."""


def local_names(path: Path) -> Iterator[tuple[int, str]]:
    """The parameters and variables of a file's functions, each with its line."""
    for function in ast.walk(tree(path)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for node in ast.walk(function):
                match node:
                    case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                        yield node.lineno, name


def test_locals_are_named_by_what_they_hold() -> None:
    """No parameter or variable of a function has one of the vague names, in tests neither."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in (*FILES, *sorted((ROOT / "tests").rglob("*.py")))
        for line, name in sorted({*local_names(path)})
        if name in VAGUE
    ]
    assert wrong == []


UNTYPED = re.compile(r"\[str, (?:JSON|Any)\]")
MAY_BE_UNTYPED = {
    "comparison/entry.py": "the settings by which results are alike",
    "comparison/gate/until.py": "the content of a line of the journal",
    "comparison/panels.py": "rows that a suite makes",
    "report/check.py": "what a suite's data have",
    "report/comparison.py": "rows that a suite makes",
    "report/export/every_eval_ever.py": "JSON of another format",
    "report/export/inspect.py": "JSON of another format",
    "report/page/data.py": "rows of plots",
    "report/page/figures.py": "rows of plots",
    "studies/people/labelling.py": "a file that people send",
}
"""Modules of the rooms that read results in which a mapping has no type, and what it is."""


def test_readers_of_results_know_their_types() -> None:
    """Figures, metadata and sections are read by their types, which mypy checks."""
    rooms = ("comparison", "report", "studies")
    untyped = {
        short(path) for path in FILES if room(path) in rooms and UNTYPED.search(path.read_text("utf-8"))
    }
    assert untyped == MAY_BE_UNTYPED.keys()


@pytest.mark.slow
def test_benchmarks_import_what_exists() -> None:
    """Nobody else imports them, so a name that is gone would show only when a figure is wanted."""
    names = ", ".join(sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py")))
    command = [sys.executable, "-c", f"import {names}"]
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("benchmarks", "tests"))
    imported = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True)
    assert imported.returncode == 0, imported.stderr
