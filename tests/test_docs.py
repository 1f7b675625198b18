"""Documentation of formats and of the Python API: its tables are those of the code, and its examples run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fake_client import Project

from conftest import ROOT
from equipoise.report.export import FORMATS
from equipoise.report.export.table import COLUMNS
from equipoise.results.schema import SHARED

DOCS = ROOT / "docs"
DESCRIBED = ("metadata", "summary", "row", "run", "metric")
"""The parts of the schema that the page on it lists."""


def page(name: str) -> str:
    """A page's text."""
    return (DOCS / name).read_text(encoding="utf-8")


def examples() -> list[str]:
    """The examples of the page on the Python API, in order."""
    return re.findall(r"```python\n(.*?)```", page("python-api.md"), re.DOTALL)


def test_the_page_on_exports_has_every_column() -> None:
    """In order, with its kind and meaning; and every format."""
    rows = [f"| `{column.name}` | {column.kind} | {column.meaning} |" for column in COLUMNS]
    assert "\n".join(rows) in page("exports.md")
    assert [name for name in FORMATS if f"`{name}`" not in page("exports.md")] == []


def test_the_page_on_the_schema_has_every_key() -> None:
    """Each with its description."""
    parts = json.loads(SHARED.read_bytes())["$defs"]
    for part in DESCRIBED:
        rows = [
            f"| `{name}` | {said.get('description', '')} |"
            for name, said in parts[part]["properties"].items()
        ]
        assert "\n".join(rows) in page("results-schema.md"), part


def test_examples_run(project: Project) -> None:
    """One after the other, in a project."""
    for place, example in enumerate(examples()):
        exec(compile(example, f"example {place}", "exec"), {})  # noqa: S102 - our own
    written = {path.name for path in (project.root / "results").glob("*.json")}
    assert written == {f"gpt-x{name}.neutrality.json" for name in ("", "-1", "-2")}


@pytest.mark.slow
def test_examples_have_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A type checker in strict mode finds nothing wrong with any."""
    from mypy import api

    monkeypatch.chdir(ROOT)
    for place, example in enumerate(examples()):
        (tmp_path / f"example_{place}.py").write_text(example, encoding="utf-8")
    found: tuple[str, str, int] = api.run(["--strict", *map(str, sorted(tmp_path.glob("*.py")))])
    assert found[2] == 0, found[0]
