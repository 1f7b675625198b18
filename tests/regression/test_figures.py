"""No figure moves: kept journals give what they gave when they were written, to the last digit."""

from __future__ import annotations

import base64
import gzip
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from difflib import unified_diff
from functools import cache
from html import unescape
from itertools import groupby, islice
from pathlib import Path

import pytest
import sixth_suite
from regression import figures, make

import equipoise
from conftest import ROOT
from equipoise import suites
from equipoise.core import json_io
from equipoise.core.errors import CallFailed
from equipoise.core.types import Call, Reply

GOLDEN = ROOT / "tests" / "golden"
SLOW = pytest.mark.slow
SHOWN = 12
"""How many differing lines a failure names."""
FORMAT_4 = ("attribution",)
"""Suites whose questions and rubric are still those of the journals of format 4."""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A project with the example suite, which has a folder of results."""
    with sixth_suite.project(tmp_path / "project") as folder:
        suites.add_project(folder)
        yield folder


@cache
def expected() -> Mapping[str, Sequence[str]]:
    """The lines of the kept list, by the journal or the pair of journals that they are of."""
    return {part: [*lines] for part, lines in groupby(figures.read_list(), part_of)}


def part_of(line: str) -> str:
    """The journal, or the pair of journals, that a line is of."""
    return line.partition("\t")[0]


def wanted_of(parts: Iterable[str]) -> list[str]:
    """The kept lines of these."""
    return [line for part in parts for line in expected()[part]]


def differences(wanted: Sequence[str], lines: Sequence[str]) -> str:
    """The first lines that are in one only, by their names; empty if there are none."""
    before, after = ({line.rpartition("\t")[0]: line for line in part} for part in (wanted, lines))
    found = [name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name)]
    shown = [
        f"- {before.get(name, 'nothing').rstrip()}\n+ {after.get(name, 'nothing').rstrip()}" for name in found
    ]
    return "\n".join([f"{len(found)} figures differ, first", *shown[:SHOWN]]) if found else ""


@pytest.mark.parametrize("suite", figures.SUITES)
def test_kept_journals_give_the_figures_that_they_gave(suite: str, project: Path) -> None:
    """Every figure, interval and n of every journal, and of the first comparison."""
    lines = [*figures.lines(figures.of_suite(suite, project, every=False))]
    wanted = wanted_of(dict.fromkeys(map(part_of, lines)))
    assert (said := differences(wanted, lines)) == "", said


@pytest.mark.slow
@pytest.mark.parametrize("suite", figures.SUITES)
def test_comparisons_of_kept_journals_give_what_they_gave(suite: str, project: Path) -> None:
    """All comparisons, gates and rankings as well, and nothing on the list is left out."""
    lines = [*figures.lines(figures.of_suite(suite, project))]
    wanted = wanted_of(part for part in expected() if part.startswith(f"{suite}/"))
    assert (said := differences(wanted, lines)) == "", said


@pytest.mark.parametrize("suite", figures.SUITES)
def test_kept_results_give_the_figures_of_their_journal(suite: str, project: Path) -> None:
    """Files of the schema with which the list was written are still read."""
    path = figures.unpack(f"{suite}.panel.json", project / "results" / "panel.json")
    lines = [f"{suite}/panel\t{line}" for line in figures.lines(figures.of_results(path))]
    wanted = wanted_of([f"{suite}/panel"])
    assert (said := differences(wanted, lines)) == "", said


def test_published_results_give_the_figures_that_they_gave(tmp_path: Path) -> None:
    """Of a benchmark's own format, old and current."""
    wanted = wanted_of(part for part in expected() if part.startswith("published/"))
    assert (said := differences(wanted, [*figures.lines(figures.of_published(tmp_path))])) == "", said


class FailingClient:
    """Fails every call."""

    async def complete(self, call: Call, slot: AbstractAsyncContextManager[None]) -> Reply:
        """Fail. Raises CallFailed."""
        async with slot:
            raise CallFailed("this call was not in the journal")

    async def close(self) -> None:
        """There is nothing to close."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*the rubric judges these as questions on Chinese politics")
@pytest.mark.parametrize("suite", figures.SUITES)
def test_sessions_go_on_with_kept_journals(
    suite: str, project: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """The same command calls nothing for a run that has a score, in a journal of format 4 as well.

    But for sessions that rest on other results, which are known by their digest.
    """
    monkeypatch.setattr("equipoise.models.client.Client", lambda *endpoint, **options: FailingClient())
    for name in figures.kept(suite):
        figures.restore(suite, name, project / "results")
    maker = make.Maker(suite, project)
    alone = [name for name, options in maker.commands.items() if not {"rejudge", "baseline"} & {*options}]
    for name in (*alone, *(["format_4"] if suite in FORMAT_4 else [])):
        with subtests.test(name):
            maker.run(name)
            path = project / "results" / f"{name}.json"
            prefix = f"{suite}/{name}\trun "
            lines = [f"{suite}/{name}\t{line}" for line in figures.lines(figures.of_results(path))]
            before = [line for line in expected()[f"{suite}/{name}"] if line.startswith(prefix)]
            scored = tuple(line.partition(" score\t")[0] for line in before if is_score(line))
            wanted, found = ([line for line in part if line.startswith(scored)] for part in (before, lines))
            assert wanted
            assert (said := differences(wanted, found)) == "", said


def is_score(line: str) -> bool:
    """Whether a line has the score of a run."""
    return " score\t" in line and not line.endswith("\tNone\n")


@pytest.mark.parametrize("suite", figures.SUITES)
def test_the_terminal_says_what_it_said(suite: str, project: Path) -> None:
    """Of a panel's results. EQUIPOISE_UPDATE_GOLDEN=1 writes the golden file anew."""
    path = figures.restore(suite, "panel", project / "results")
    refuse_changed(GOLDEN / f"{suite}.terminal.txt", figures.printed("show", str(path)))


@pytest.mark.parametrize(
    "suite", [*figures.SUITES[:1], *(pytest.param(s, marks=SLOW) for s in figures.SUITES[1:])]
)
def test_the_page_says_what_it_said(suite: str, project: Path) -> None:
    """The same of what a reader sees of the page, and of its list of transcripts."""
    path = figures.restore(suite, "panel", project / "results")
    figures.printed("report", str(path), "-o", "page.html")
    page = page_text((project / "page.html").read_text(encoding="utf-8"))
    refuse_changed(GOLDEN / f"{suite}.page.txt", page)


_DATE = r"\d{4}-\d\d-\d\d(?: \d\d:\d\d UTC)?"


def refuse_changed(golden: Path, text: str) -> None:
    """Raise AssertionError that shows where a text, date and version aside, is not that of a golden file."""
    text = re.sub(rf"{_DATE}( to {_DATE})?", "DATE", text)
    for before in ("Equipoise", "version"):
        text = text.replace(f"{before} {equipoise.__version__}", f"{before} VERSION")
    if os.environ.get("EQUIPOISE_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    wanted = golden.read_text(encoding="utf-8")
    changed = unified_diff(wanted.splitlines(), text.splitlines(), golden.name, "now", lineterm="", n=1)
    assert text == wanted, "\n".join(islice(changed, 40))


def page_text(html: str) -> str:
    """The texts of a page, figures aside, whose values are in tables, and its list of transcripts."""
    body = re.sub(r"<(script|style|svg)\b.*?</\1>", "", html, flags=re.S)
    texts = (text.strip() for text in unescape(re.sub(r"<[^>]*>", "\n", body)).splitlines())
    index = re.search(r'id="index">([^<]*)<', html)
    assert index
    columns = json_io.loads(gzip.decompress(base64.b64decode(index[1])))["columns"]
    # Where transcripts lie is a matter of their size.
    told = {name: values for name, values in columns.items() if name not in ("chunk", "line")}
    rows = zip(*([name, *values] for name, values in told.items()), strict=True)
    return "\n".join([*filter(None, texts), *(" | ".join(map(str, row)) for row in rows), ""])
