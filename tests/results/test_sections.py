"""What commands add to results outlives the session that writes them again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_client import Project

from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.results import sections

CONTENT = {"finished": "2026-01-01T00:00:00+00:00", "levels": [1, 2], "sheets": [], "agreement": []}
PEOPLE = {**CONTENT, "method": "by hand", "confidence": 0.95}


def test_a_section_stays_as_long_as_the_verdicts_do(project: Project) -> None:
    """The same session again has it, also behind a cut line; another run of a question drops it."""
    project.run(runs="1")
    with project.journal_path.open("ab") as file:
        file.write(b'{"kind":"call",')
    sections.add(project.results_path, "people", PEOPLE)
    project.run(runs="1")
    assert json.loads(project.results_path.read_bytes())["people"] == PEOPLE
    project.run(runs="2")
    assert "people" not in json.loads(project.results_path.read_bytes())


def test_results_without_a_journal_have_it_in_the_file(project: Project) -> None:
    """No journal is made, and the rest of the file stays byte for byte."""
    project.run(runs="1")
    project.journal_path.unlink()
    whole = {**json.loads(project.results_path.read_bytes()), "people": PEOPLE}
    sections.add(project.results_path, "people", PEOPLE)
    assert project.results_path.read_bytes() == json_io.dumps(whole, indent=True)
    assert not project.journal_path.exists()


def test_results_in_use_or_not_writable_are_refused(project: Project, tmp_path: Path) -> None:
    """In one line."""
    project.run(runs="1")
    path = project.results_path
    with sections.locked(path), pytest.raises(UserError, match="is using it"), sections.locked(path):
        pass
    with pytest.raises(UserError, match="cannot be written"):
        sections.add(tmp_path / "none.json", "people", PEOPLE)
