"""`equipoise docs`: the documentation in the package, for the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import groupby
from pathlib import Path

import click

from equipoise.cli.output import print_line
from equipoise.core.errors import UserError
from equipoise.core.files import read_text, shown
from equipoise.suites.resources import SHIPPED

_DOCS = SHIPPED / "docs"
_INDEX_ENTRY = re.compile(r"^\| (?P<about>.+) \| \[.*?\]\((?P<file>[\w/-]+\.md)\) \|$")
_HTML_COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE | re.DOTALL)
_PAGES_ELSEWHERE = {"changelog": SHIPPED / "CHANGELOG.md"}
"""Pages whose source is not in docs/, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    section: str
    name: str
    about: str
    path: Path


@click.command()
@click.argument("page", required=False)
@click.option("--path", "is_path", is_flag=True, help="Print the path of the page, or of the folder.")
def docs(page: str | None, is_path: bool) -> None:
    """Show PAGE of the documentation, in a pager on a terminal. Without PAGE, list the pages.

    PAGE is a name from that list, or a path such as docs/ci.md.
    """
    if page is None:
        click.echo(shown(_DOCS)) if is_path else _print_index()
        return
    path = _page_path(page)
    if is_path:
        print_line(shown(path))
    else:
        click.echo_via_pager(_HTML_COMMENT.sub("", read_text(path)))


def _print_index() -> None:
    pages = [*_pages()]
    width = max(len(page.name) for page in pages)
    for section, listed in groupby(pages, key=lambda page: page.section):
        click.echo(section)
        for page in listed:
            click.echo(f"  {page.name:<{width}}  {page.about}")
    click.echo("\n`equipoise docs PAGE` shows a page.")


def _pages() -> Iterator[_Page]:
    """The pages, in the order of the index."""
    section = ""
    for line in read_text(_DOCS / "index.md").splitlines():
        section = line.removeprefix("## ") if line.startswith("## ") else section
        if entry := _INDEX_ENTRY.match(line):
            path = _DOCS / entry["file"]
            yield _Page(
                section=section,
                name=path.stem,
                about=entry["about"],
                path=_PAGES_ELSEWHERE.get(path.stem, path),
            )


def _page_path(name: str) -> Path:
    """The path of the page with this name or path. Raises UserError."""
    pages = {page.name: page.path for page in _pages()}
    stem = Path(name.partition("#")[0]).name.removesuffix(".md").lower()
    if stem not in pages:
        close = get_close_matches(stem, pages, n=1)
        hint = f"did you mean {close[0]}?" if close else "`equipoise docs` lists them"
        raise UserError(f"there is no page {name!r}; {hint}")
    return pages[stem]
