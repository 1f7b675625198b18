"""`equipoise docs`: the documentation in the terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conftest import ROOT
from equipoise.cli import main

DOCS = ROOT / "docs"
SHIPPED = ("*.md", "docs/**/*.md", "equipoise/**/*", "examples/**/*", "rubric/**/*", "topics/**/*")
"""What has texts and messages for users."""
TEXTS = (".md", ".py", ".toml", ".txt", ".csv", ".yml", ".html")
NAMED_PAGE = re.compile(rb"equipoise docs ([a-z][\w./#-]*)")


def docs(*arguments: str) -> Result:
    """The command."""
    return CliRunner().invoke(main, ["docs", *arguments])


def test_every_page_is_listed_and_shown() -> None:
    """By the name that stands in the list, with all its text but comments."""
    listed = docs()
    assert listed.exit_code == 0
    names = re.findall(r"^  (\S+)  ", listed.stdout, re.MULTILINE)
    pages = {path.stem: path for path in [*DOCS.glob("*.md"), *(DOCS / "suites").glob("*.md")]}
    assert {*names} == pages.keys() - {"index"}
    for name in names:
        shown, text = docs(name), pages[name].read_text(encoding="utf-8")
        assert shown.exit_code == 0
        assert "<!--" not in shown.stdout.replace("`<!--", "")
        assert shown.stdout.splitlines()[0] == text.splitlines()[0]
    assert "## 1.0.0" in docs("changelog").stdout


def test_a_page_has_the_names_that_links_and_messages_give_it() -> None:
    """A path in the project, a link to a section; of one that does not exist the nearest is named."""
    for name in ("ci", "ci.md", "docs/ci.md", "../ci.md#exit-statuses"):
        assert Path(docs(name, "--path").stdout.strip()).resolve() == DOCS / "ci.md", name
    assert Path(docs("--path").stdout.strip()).resolve() == DOCS
    done = docs("trsut")
    assert (done.exit_code, done.stdout) == (4, "")
    assert done.stderr == "ERROR: there is no page 'trsut'; did you mean trust?\n"
    assert docs("xyzzy").stderr.endswith("; `equipoise docs` lists them\n")


def test_every_page_that_a_text_or_a_message_names_exists(subtests: pytest.Subtests) -> None:
    """Each `equipoise docs PAGE` of the documentation, the code, the questions and the rubrics."""
    files = {path for pattern in SHIPPED for path in ROOT.glob(pattern) if path.suffix in TEXTS}
    named = {(path, page.decode()) for path in files for page in NAMED_PAGE.findall(path.read_bytes())}
    assert {"adding-a-suite", "your-own-questions"} <= {page for _, page in named}
    for path, page in named:
        with subtests.test(path=str(path.relative_to(ROOT)), page=page):
            assert docs(page, "--path").exit_code == 0
