"""No figure moves: kept journals give what they gave, but for the last bits, which a processor decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from math import isclose
from pathlib import Path

import pytest
from fake_client import FakeClient
from regression import figures, make

from equipoise.core.errors import CallFailed

SHOWN = 12
"""How many differing lines a failure names."""


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


def same(before: str | None, after: str | None) -> bool:
    """Whether two lines say the same: processors add in different orders, so the last two bits may differ."""
    if before is None or after is None or before == after:
        return before == after
    try:
        values = [float(line.rpartition("\t")[2]) for line in (before, after)]
    except ValueError:
        return False
    return isclose(*values, rel_tol=1e-14)


def differences(wanted: Sequence[str], lines: Sequence[str]) -> str:
    """The first lines that are in one only, by their names; empty if there are none."""
    before, after = ({line.rpartition("\t")[0]: line for line in part} for part in (wanted, lines))
    names = [name for name in dict.fromkeys([*before, *after]) if not same(before.get(name), after.get(name))]
    shown = [
        f"- {before.get(name, 'nothing').rstrip()}\n+ {after.get(name, 'nothing').rstrip()}" for name in names
    ]
    return "\n".join([f"{len(names)} figures differ, first", *shown[:SHOWN]]) if names else ""


@pytest.mark.parametrize("suite", figures.SUITES)
def test_kept_journals_give_the_figures_that_they_gave(suite: str, project: Path) -> None:
    """Every figure, interval and n of every journal, and of the first comparison."""
    lines = [*figures.lines(figures.of_suite(suite, project, every=False))]
    wanted = wanted_of(dict.fromkeys(map(part_of, lines)))
    assert (differing := differences(wanted, lines)) == "", differing


@pytest.mark.slow
@pytest.mark.parametrize("suite", figures.SUITES)
def test_comparisons_of_kept_journals_give_what_they_gave(suite: str, project: Path) -> None:
    """All comparisons, gates and rankings as well, and nothing on the list is left out."""
    lines = [*figures.lines(figures.of_suite(suite, project))]
    wanted = wanted_of(part for part in expected() if part.startswith(f"{suite}/"))
    assert (differing := differences(wanted, lines)) == "", differing


@pytest.mark.parametrize("suite", figures.SUITES)
def test_kept_results_give_the_figures_of_their_journal(suite: str, project: Path) -> None:
    """Files of the schema with which the list was written are still read."""
    path = figures.unpack(f"{suite}.panel.json", project / "results" / "panel.json")
    lines = [f"{suite}/panel\t{line}" for line in figures.lines(figures.of_results(path))]
    wanted = wanted_of([f"{suite}/panel"])
    assert (differing := differences(wanted, lines)) == "", differing


def test_published_results_give_the_figures_that_they_gave(tmp_path: Path) -> None:
    """Of a benchmark's own format, old and current."""
    wanted = wanted_of(part for part in expected() if part.startswith("published/"))
    assert (differing := differences(wanted, [*figures.lines(figures.of_published(tmp_path))])) == "", (
        differing
    )


@pytest.mark.slow
def test_a_release_on_several_suites_gets_the_verdict_that_it_got(project: Path) -> None:
    """Each rule of a family, and the comparisons behind it."""
    wanted = wanted_of(part for part in expected() if part.startswith("releases/"))
    assert (differing := differences(wanted, [*figures.lines(figures.of_releases(project))])) == "", differing


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*the rubric judges these as questions on Chinese politics")
@pytest.mark.parametrize("suite", figures.SUITES)
def test_sessions_go_on_with_kept_journals(
    suite: str, project: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """The same command calls nothing for a run that has a score, unless it rests on other results."""
    figures.prepare(suite, project)
    failing = FakeClient(lambda call: CallFailed("this call was not in the journal"))
    monkeypatch.setattr("equipoise.models.client.Client", lambda *endpoint, **options: failing)
    for name in figures.kept(suite):
        figures.restore(suite, name, project / "results")
    maker = make.Maker(suite, project)
    alone = [
        name
        for name, options in maker.commands.items()
        if not {"replies", "baseline"} & {*options} and name not in make.SERVED
    ]
    for name in alone:
        with subtests.test(name):
            maker.run(name)
            path = project / "results" / f"{name}.json"
            prefix = f"{suite}/{name}\trun "
            lines = [f"{suite}/{name}\t{line}" for line in figures.lines(figures.of_results(path))]
            before = [line for line in expected()[f"{suite}/{name}"] if line.startswith(prefix)]
            scored = tuple(line.partition(" score\t")[0] for line in before if is_score(line))
            wanted, scores = ([line for line in part if line.startswith(scored)] for part in (before, lines))
            assert wanted
            assert (differing := differences(wanted, scores)) == "", differing


def is_score(line: str) -> bool:
    """Whether a line has the score of a run."""
    return " score\t" in line and not line.endswith("\tNone\n")
