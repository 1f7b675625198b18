"""Whatever reads or shows text that others have written takes linear time, and none of it is forgotten."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from types import CodeType

import pytest
import readers
from readers import ELSEWHERE, MORE_UNITS, MOST, READERS, UNITS, Reader

from conftest import ROOT

PACKAGE = ROOT / "equipoise"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_linear_time(name: str) -> None:
    """At most 48 times as long for 256 kB as for a sixteenth of it."""
    assert _superlinear(READERS[name], UNITS, 2**18) == {}


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_linear_time_for_more_and_longer_texts(name: str) -> None:
    """The same for a megabyte, and with everything else that is repeated."""
    assert _superlinear(READERS[name], {**UNITS, **MORE_UNITS}, 2**20) == {}


def _superlinear(read: Reader, units: Mapping[str, str], size: int) -> dict[str, float]:
    """By what the text repeats: how many times as long the reader takes for 16 times as much."""
    read("What is loaded, and cached, is not counted.")
    growths = {name: readers.growth(read, unit, size) for name, unit in units.items()}
    return {name: round(times, 1) for name, times in growths.items() if times > MOST}


def test_a_quadratic_reader_is_noticed() -> None:
    """Soon, however long it would take for the whole text."""
    size = 2**20
    assert readers.growth(lambda text: [text[n:].count("?") for n in range(len(text))], "?", size) > MOST
    assert readers.growth(lambda text: [mark == "?" for mark in text], "?", size) < MOST


@pytest.mark.slow
def test_every_function_with_a_regular_expression_is_measured() -> None:
    """It is reached by a reader of the list, or named with the reason why its texts are our own."""
    called: set[CodeType] = set()
    before = sys.gettrace()
    sys.settrace(lambda frame, *_: called.add(frame.f_code))
    try:
        for read in READERS.values():
            for text in _SHORT:
                read(text)
    finally:
        sys.settrace(before)
    reached = {
        (Path(code.co_filename).relative_to(PACKAGE).as_posix(), code.co_qualname)
        for code in called
        if code.co_filename.startswith(str(PACKAGE))
    }
    expected = set(_with_regular_expressions())
    missing = {f"{path}:{name}" for path, name in expected - reached}
    unknown = {item for item in missing if not any(fnmatch(item, f"{pattern}*") for pattern in ELSEWHERE)}
    assert unknown == set(), "list a reader of it in tests/readers.py"


_SHORT = (
    "It is 1 234 or 1,949. A dispute: B) no?",
    '{"label": "A", "confidence": "9 %"}',
    "<think>a\\u0041</think>b",
)
"""Texts that reach what hostile ones need not."""


def _with_regular_expressions() -> Iterator[tuple[str, str]]:
    """Every function and method that uses a pattern, by the path of its module and its name."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = dict(_functions(tree))
        patterns = {name for name, used in functions.items() if _is_cached(used) and _mentions(used)}
        for node in tree.body:
            if isinstance(node, ast.Assign) and _mentions(node, patterns):
                patterns |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)} - {"re"}
        for name, function in functions.items():
            if not _is_cached(function) and any(_mentions(part, patterns) for part in function.body):
                yield path.relative_to(PACKAGE).as_posix(), name


def _functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    for node in tree.body:
        if isinstance(node, Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            methods = (part for part in node.body if isinstance(part, Function))
            yield from ((f"{node.name}.{method.name}", method) for method in methods)


def _is_cached(function: Function) -> bool:
    """Whether it compiles a pattern once: what calls it uses the pattern."""
    return any("cache" in ast.unparse(decorator) for decorator in function.decorator_list)


def _mentions(node: ast.AST, patterns: Collection[str] = ()) -> bool:
    return any(_is_pattern(part, patterns) for part in ast.walk(node))


def _is_pattern(node: ast.AST, patterns: Collection[str]) -> bool:
    """Whether it is a function of `re`, or the name of a pattern."""
    match node:
        case ast.Name(id=name):
            return name in patterns
        case ast.Attribute(value=ast.Name(id="re"), attr=name):
            return name not in ("Pattern", "Match")
    return False
