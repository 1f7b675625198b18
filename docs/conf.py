"""The site that `make docs` builds from the pages in this folder, which are plain Markdown.

The build adds what a code host cannot show: the navigation, which is the list of pages in index.md, and what a
comment `<!-- site: ... -->` in a page names.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

import equipoise

project = "Equipoise"
author = copyright = "The Equipoise developers"  # noqa: A001 - the name that Sphinx reads
release = version = equipoise.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
myst_heading_anchors = 4
autodoc_typehints = "description"
autodoc_member_order = "bysource"
# Types of the standard library and of modules that are not public have no page here.
nitpick_ignore_regex = [("py:.*", r"(?!equipoise\.[a-z]+$).*")]

html_theme = "furo"
html_title = f"Equipoise {release}"
html_copy_source = False
html_show_sphinx = False

ADDED = {
    "api": "```{eval-rst}\n.. automodule:: equipoise\n   :members: load, compare, gate, run, UserError, EquipoiseError\n```",
    "changelog": "```{include} ../CHANGELOG.md\n:start-line: 1\n```",
}
"""What stands on the site in place of a comment."""


def complete(app: Sphinx, page: str, source: list[str]) -> None:
    """Put what only the site has into the text of a page."""
    source[0] = re.sub(r"<!-- site: (\w+) -->", lambda found: ADDED[found[1]], source[0])
    if page == "index":
        source[0] += "".join(map(_navigation, re.split(r"^## ", source[0], flags=re.MULTILINE)[1:]))


def _navigation(section: str) -> str:
    caption, _, text = section.partition("\n")
    pages = re.findall(r"\]\(([\w/-]+)\.md\)", text)
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", complete)
