"""What people see of who asks: lines, transcripts, tables, the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from asked import DATASET, swayed
from fake_client import Project
from msgspec.structs import replace
from playwright.sync_api import expect

import equipoise
from browser import CHROMIUM, chromium, opened
from conftest import typed
from equipoise.core.figures import Interval
from equipoise.report.askers import lines, sentences
from equipoise.report.page import page
from equipoise.results.load import load
from equipoise.suites.neutrality import askers


@pytest.fixture
def results(project: Project) -> Path:
    """The results of a session in which both sides ask."""
    project.write_topics(DATASET)
    project.client.script = swayed
    project.run(asker="mirror", asker_form="both", runs="2")
    return project.results_path


def command(*arguments: str) -> str:
    """What a command prints."""
    return typed(*arguments).output


def test_a_transcript_shows_the_cue(results: Path) -> None:
    """It is found by who asks; the lowest runs are plain ones."""
    shown = command("show", str(results), "-k", "asker_critics_implied")
    assert shown.count("asked as from critics (implied), run ") == 8
    assert "I am with critics." in shown
    assert shown.endswith("8 of 40 runs\n")
    assert command("show", str(results), "--lowest", "50").endswith("8 of 8 runs\n")


def test_scripts_get_the_figures_and_the_runs(results: Path) -> None:
    """Apart from all others."""
    loaded = equipoise.load(results)
    assert loaded.asker["asker.sycophancy"].value == 75
    assert "asker.sycophancy" not in loaded.metrics
    assert len(loaded.rows) == 8
    runs = loaded.cued_rows
    assert len(runs) == 32
    assert all(run.subject[0].messages[0]["content"].startswith(run.asker.text) for run in runs if run.asker)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian: chromium)")
def test_the_page_shows_the_runs(results: Path, tmp_path: Path) -> None:
    """Runs of either side are among the transcripts, and in no other list."""
    made = tmp_path / "page.html"
    page.write(made, [results])
    with chromium() as browser, opened(browser, made, "#models") as window:
        tab = window.page
        assert tab.locator("#models .questions tbody tr").count() == 2
        window.see("#transcripts")
        expect(tab.locator("#count")).to_have_text("40 of 40 runs")
        tab.get_by_label("Asked as from").select_option(label="state implied")
        expect(tab.locator("#count")).to_have_text("8 of 40 runs")
        window.see("#lowest")
        expect(tab.locator("#lowest-runs > li")).to_have_count(4)
        assert window.complaints == []


def test_a_rubric_that_asks_for_no_lean_has_figures_of_the_score_alone(project: Project) -> None:
    """And no sentence about what cannot be told."""
    project.write_topics(DATASET)
    project.client.script = lambda call: swayed(call).replace('"lean"', '"other"')
    project.run(asker="mirror", runs="2")
    figures = load(project.results_path).summary["asker"]
    assert figures["metrics"]["asker.score.shift.state"].value == -50
    assert "asker.shift.state" not in figures["metrics"]
    assert [*sentences(figures, askers.SCALES)] == []
    assert "asker.score.asymmetry" in command("show", str(project.results_path), "--all")


def test_each_interval_stands_below_its_scope(results: Path) -> None:
    """That on these questions first, as the head of the table says, then that for questions like them."""
    figures = load(results).summary["asker"]
    name = "asker.asymmetry"
    these = Interval(se=1.0, low=1.0, high=2.0, n=8, reason=None)
    figure = replace(figures["metrics"][name], value=1.5, low=-3.0, high=4.0, n=2, these=these)
    _, head, row, *_ = lines({**figures, "metrics": {name: figure}}, None)
    assert re.split(r" {2,}", head.strip()) == ["figure", "95 % these", "95 % population", "n"]
    assert re.split(r" {2,}", row) == [name, "+1.5 pp", "+1.0 to +2.0", "-3.0 to +4.0", "2"]


def test_a_difference_without_an_interval_is_not_called_chance(results: Path) -> None:
    """It is told as it is, with the reason."""
    figures = load(results).summary["asker"]
    name = "asker.asymmetry"
    bare = replace(figures["metrics"][name], low=None, high=None, reason="one question")
    shown = [*sentences({**figures, "metrics": {**figures["metrics"], name: bare}}, askers.SCALES)]
    assert re.fullmatch(r"The two differ by [+-]\d+\.\d points; no interval \(one question\)\.", shown[1])
    assert not any("Chance" in sentence for sentence in shown)


def test_a_session_writes_the_page_that_its_file_gives(project: Project) -> None:
    """From what it has in memory, with who asks; nothing is read back."""
    project.write_topics(DATASET)
    project.client.script = swayed
    project.run(asker="mirror", runs="2", report=str(project.root / "own.html"))
    page.write(project.root / "read.html", [project.results_path])
    own, again = (
        re.sub(r"Page made [^<]*", "", (project.root / name).read_text(encoding="utf-8"))
        for name in ("own.html", "read.html")
    )
    assert own == again
