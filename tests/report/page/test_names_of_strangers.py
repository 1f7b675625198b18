"""The page of results whose models and languages have names that every JavaScript object has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_client import Project

from equipoise.report.page import page

HALF = "half a \ud83d"


@pytest.mark.parametrize("name", ["constructor", "toString", "__proto__", "__lookupGetter__", HALF])
def test_a_page_of_strange_names_is_written(project: Project, name: str) -> None:
    """Alone, and in one plot with another model; as a language, too."""
    one, two = Path("one.json"), Path("two.json")
    if name != HALF:
        project.write_questions(2, **{name: "What is", "bb": "O que é"})
    project.run(model="half" if name == HALF else name, runs="2", output=str(one))
    data = json.loads(one.read_bytes())
    # No session has half a character in a name; a file that was edited may.
    data["metadata"]["subject_model"] = name
    one.write_text(json.dumps(data), encoding="utf-8")
    project.run(model="other", runs="2", output=str(two))
    for paths in ([one], [one, two]):
        page.write(Path("page.html"), paths)
        html = Path("page.html").read_text(encoding="utf-8")
        assert ("Mean score by language" in html) == (len(paths) == 2)
        assert 'href="#result=attribution/' in html
