"""The site that `make docs` builds from the pages in this folder, which are plain Markdown.

The build adds what a code host cannot show: the navigation, which is made of the tables in index.md; what a
comment `<!-- site: ... -->` in a page names; copies, in `texts/`, of the pages elsewhere in the project
that pages link to; and for language models `llms.txt`, an index of the pages, which stand beside it as
Markdown.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

import equipoise
from equipoise.results import schema
from equipoise.results.document import Figure, LanguageResult, Metadata, QuestionResult, Summary
from equipoise.results.table import COLUMNS

project = "Equipoise"
author = copyright = "The Equipoise developers"
release = version = equipoise.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.githubpages"]
exclude_patterns = ["_build"]
myst_heading_anchors = 4
smartquotes = False
autodoc_typehints = "description"
autodoc_member_order = "bysource"
# Types of the standard library, and of modules that are not public, have no page here.
nitpick_ignore_regex = [("py:.*", r"(?!equipoise\.[a-z]+$).*")]

html_theme = "furo"
html_title = f"Equipoise {release}"
html_copy_source = False
html_show_sphinx = False

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent


def keys(*parts: type) -> str:
    """A table of the keys of these parts of a results file, each with its description."""
    known = schema.results_schema()["$defs"]
    rows = [
        f"| `{key}` | {known[part.__name__]['properties'][key]['description']} |"
        for part in parts
        for key in schema.key_types(part)
    ]
    return "\n".join(["| key | what it is |", "|---|---|", *rows])


ADDED = {
    "api": "```{eval-rst}\n.. currentmodule:: equipoise\n\n"
    + "".join(f".. autofunction:: {name}\n" for name in ("load", "compare", "gate", "run"))
    + "".join(f".. autoexception:: {name}\n" for name in ("EquipoiseError", "UserError"))
    + "```",
    "columns": "\n".join(
        [
            "| column | kind | what it holds |",
            "|---|---|---|",
            *(f"| `{column.name}` | {column.kind} | {column.meaning} |" for column in COLUMNS),
        ]
    ),
    "metadata": keys(Metadata),
    "metrics": keys(Summary, Figure),
    "questions": keys(LanguageResult, QuestionResult),
    "changelog": "```{include} ../CHANGELOG.md\n:start-line: 1\n```",
}
"""What stands on the site in place of a comment."""
COPIES = {
    path: DOCS / "texts" / path.relative_to(ROOT).as_posix().lower().replace("/", "-")
    for pattern in ("topics/*/*.md", "rubric/*/*.md", "examples/*/*.md", "benchmarks/*.md")
    for path in sorted(ROOT.glob(pattern))
    if path.name != "CANARY.md"
}
PAGES = {**COPIES, ROOT / "README.md": DOCS / "index.md", ROOT / "CHANGELOG.md": DOCS / "changelog.md"}
"""The page of the site that stands for one elsewhere in the project."""
LINK = re.compile(r"(?<=\]\()(?P<path>[\w./-]+)(?P<anchor>#[\w-]+)?(?=\))")


def complete(app: Sphinx, name: str, source: list[str]) -> None:
    """Put what only the site has into the text of a page, and have its links stay on the site."""
    page = DOCS / f"{name}.md"
    origin = next((path for path, copy in COPIES.items() if copy == page), page)
    text = LINK.sub(lambda found: _link(found, origin, page), source[0])
    text = re.sub(r"<!-- site: (\w+) -->", lambda found: ADDED[found[1]], text)
    markdown = Path(app.outdir) / f"{name}.md"
    markdown.parent.mkdir(parents=True, exist_ok=True)
    markdown.write_text(text, encoding="utf-8")
    if name == "index":
        (Path(app.outdir) / "llms.txt").write_text(index_for_models(text), encoding="utf-8")
        text += "".join(map(_navigation, re.split(r"^## ", text, flags=re.MULTILINE)[1:]))
    source[0] = text


def changelog(app: Sphinx, path: Path, name: str, source: list[str]) -> None:
    """The same for a file that a page includes."""
    source[0] = LINK.sub(lambda found: _link(found, ROOT / "CHANGELOG.md", DOCS / f"{name}.md"), source[0])


def index_for_models(index: str) -> str:
    """The text of `llms.txt` (llmstxt.org): what the project is, then each page with what it is for."""
    title, about, *_ = index.split("\n\n")
    lines = [title, "", f"> {' '.join(about.split())}"]
    for section in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        rows = re.findall(r"^\| (.+) \| (\[.+\]\(.+\.md\)) \|$", section, re.MULTILINE)
        lines += ["", f"## {section.partition(chr(10))[0]}", "", *(f"- {link}: {aim}" for aim, link in rows)]
    return "\n".join([*lines, ""])


def _link(found: re.Match[str], origin: Path, page: Path) -> str:
    target = Path(os.path.normpath(origin.parent / found["path"]))
    return os.path.relpath(PAGES.get(target, target), page.parent) + (found["anchor"] or "")


def _navigation(section: str) -> str:
    caption, _, text = section.partition("\n")
    pages = re.findall(r"\]\(([\w/-]+)\.md\)", text)
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    for path, copy in COPIES.items():
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(f"---\norphan: true\n---\n\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    app.connect("source-read", complete)
    app.connect("include-read", changelog)
