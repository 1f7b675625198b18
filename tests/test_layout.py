"""The architecture as tests: who may import whom, and what a suite consists of."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "equipoise"
LAYERS: tuple[set[str], ...] = (
    {"", "types", "records", "errors", "jsonbytes", "rules", "home"},
    {"parsers", "option", "suite_options", "options"},
    {"settings", "topics", "textfiles", "tables", "pairs", "disputes", "published_disputes", "rubric"}
    | {"choices"}
    | {
        "handedness",
        "agreeing",
        "concurrence",
        "border_results",
        "naming_answers",
        "denying",
        "originals",
        "fetching",
        "facts",
        "factuality",
        "retrieving",
        "constructing",
        "stats",
    }
    | {"signals", "dispute_prompts", "politics", "scenarios", "scenario_prompts", "scenario_scores"}
    | {
        "scenario_cells",
        "scenario_results",
        "facts",
        "factuality",
        "fact_prompts",
        "fact_results",
        "retrieving",
    }
    | {"storage", "transcripts", "order", "thoughts", "retry_after"}
    | {
        "failures",
        "retrying",
        "secret",
        "bodies",
        "connections",
        "client",
        "pace",
        "limiter",
        "board",
        "budget",
    }
    | {"journal", "history", "prices", "provenance", "statusline", "table", "asking", "office"}
    | {"header", "worth", "comparing", "github", "measures"}
    | {"foreign_results", "converting", "tidiness", "likeness", "material", "deck_checks"},
    {"models", "evaluators", "no_remarks"},
    {"suites", "naming"},
    {"uncertainty", "baseline", "compare", "deciding", "gate", "release", "rejudge", "robustness"}
    | {"validating"},
    {"engine", "one_run", "results", "resume", "estimate", "recover", "rounds"},
    {"local"},
    {"catalogue"},
    {"workshop", "translations", "translating"}
    | {"building", "building_prompts", "building_stages", "building_sheets"},
    {"session"},
    {"progress", "distribution", "display", "asked"},
    {"plugin", "cli", "cli_data", "cli_checks"},
)
FILES = sorted(PACKAGE.rglob("*.py"))
SUITES = sorted(path.stem for path in (PACKAGE / "suites").glob("*.py") if path.stem != "__init__")


def module_of(path: Path) -> str:
    """The top-level module of the package that a file belongs to; empty for the package itself."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imports(path: Path) -> set[str]:
    """Every module that a file imports, wherever in the file, in full."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def ours(path: Path) -> set[str]:
    """The modules of the package that a file imports."""
    names = {name.split(".")[1] for name in imports(path) if name.startswith("equipoise.")}
    return {name for name in names if (PACKAGE / f"{name}.py").exists() or (PACKAGE / name).is_dir()}


def layer(module: str) -> int:
    """The number of the layer that a module is in."""
    found = [number for number, names in enumerate(LAYERS) if module in names]
    assert found, f"{module} is in no layer: add it to LAYERS"
    return found[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    """A module imports only from its own layer and the layers below."""
    above = {name for name in ours(path) if layer(name) > layer(module_of(path))}
    assert not above


def test_imports_make_no_circle() -> None:
    """The modules can be put in an order in which each imports only earlier ones."""
    graph: dict[str, set[str]] = {}
    for path in FILES:
        graph.setdefault(module_of(path), set()).update(ours(path) - {module_of(path)})
    assert len(list(TopologicalSorter(graph).static_order())) == len(graph)


@pytest.mark.parametrize(
    ("package", "allowed"),
    [("openai", {"client"}), ("pytest", {"plugin"}), ("xdist", set()), ("orjson", {"jsonbytes"})],
)
def test_only_one_file_imports(package: str, allowed: set[str]) -> None:
    """Each of the libraries that shape a layer is known to one file."""
    users = {module_of(path) for path in FILES if any(n.split(".")[0] == package for n in imports(path))}
    assert users == allowed


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_knows_no_engine_and_no_other_suite(name: str) -> None:
    """A suite asks and judges through the models it is given, and nothing else."""
    found = imports(PACKAGE / "suites" / f"{name}.py")
    forbidden = {"openai", "pytest", "equipoise.engine", "equipoise.results"}
    forbidden |= {f"equipoise.suites.{other}" for other in SUITES if other != name}
    assert not found & forbidden


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_has_all_its_files(name: str) -> None:
    """One name everywhere: data, rubric, benchmark test, unit test and a row in the README."""
    expected = (f"topics/{name}", f"rubric/{name}.toml", f"tests_benchmark/test_{name}.py")
    assert [path for path in (*expected, f"tests/suites/test_{name}.py") if not (ROOT / path).exists()] == []
    assert f"`{name}`" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_start_up_does_not_load_what_it_does_not_use() -> None:
    """Importing the plugin loads no client, no price list and no statistics."""
    heavy = ("openai", "aiohttp", "pydantic", "genai_prices", "numpy", "scipy", "xllamacpp")
    script = f"import sys, equipoise.plugin; print([n for n in {heavy!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_prompts_live_outside_the_code(path: Path) -> None:
    """Source files hold no text in another script: questions and prompts are data."""
    assert all(ord(character) < 0x2E80 for character in path.read_text(encoding="utf-8"))
