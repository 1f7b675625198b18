"""`equipoise report`: from results to a page and to figures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fake_client import Project

import pages
from equipoise.cli import main
from equipoise.report.page import board_page


def run(*arguments: str | Path) -> Result:
    """What comes of the command."""
    return CliRunner().invoke(main, [*map(str, arguments)])


@pytest.mark.slow
def test_a_folder_becomes_a_page(tmp_path: Path) -> None:
    """The command names what it wrote, and what it left out."""
    pages.write(tmp_path / "results" / "a.json", "model-a", questions=3)
    (tmp_path / "results" / "notes.json").write_text("{}")
    made = run("report", tmp_path / "results", "-o", tmp_path / "out" / "page.html")
    assert (made.exit_code, made.stderr) == (0, "")
    warning, named = made.stdout.splitlines()
    assert warning.endswith("notes.json is not an Equipoise results file")
    assert named.endswith("page.html (0.1 MB)")


def test_marks_of_no_run_are_told(tmp_path: Path) -> None:
    """The page is written all the same."""
    result = pages.write(tmp_path / "a.json", "model-a", questions=3)
    about = {"suite": "neutrality", "model": "model-a", "started": "2026-03-01T08:00:00+00:00"}
    mark = {**about, "run": "en-US/none/1", "verdict": "right", "score": None, "note": "", "at": ""}
    marks = {"format": "equipoise-reviews", "version": 1, "reviews": [{**mark, "reviewer": ""}]}
    (tmp_path / "reviews.json").write_text(json.dumps(marks), encoding="utf-8")
    made = run("report", result, "-o", tmp_path / "page.html", "--reviews", tmp_path / "reviews.json")
    assert made.stdout.startswith("warning:   1 reviews match no run of these results\npage: ")


@pytest.mark.slow
def test_many_results_become_a_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the limits, or if asked for, there are no transcripts, and the command says why."""
    for number in range(3):
        pages.write(tmp_path / "results" / f"{number}.json", f"m-{number}", questions=3, seed=number)
    page = tmp_path / "page.html"
    without_transcripts = run("report", tmp_path / "results", "-o", page, "--no-transcripts")
    assert (without_transcripts.exit_code, without_transcripts.stdout) == (0, f"page:      {page} (0.0 MB)\n")
    assert "3 models, 1 suite, 3 sets of results" in page.read_text(encoding="utf-8")
    monkeypatch.setattr(board_page, "MOST_RESULTS", 2)
    limited = run("report", tmp_path / "results", "-o", page)
    assert limited.stdout.endswith(
        ", without transcripts (3 results, more than 2; --transcripts adds them)\n"
    )
    assert 'id="transcripts"' not in page.read_text(encoding="utf-8")
    monkeypatch.setattr(board_page, "MOST_RESULTS", 20)
    monkeypatch.setattr(board_page, "MOST_BYTES", 1_000)
    assert "MB of results, more than 0" in run("report", tmp_path / "results", "-o", page).stdout
    whole = run("report", tmp_path / "results", "-o", page, "--transcripts")
    assert "without" not in whole.stdout
    assert 'id="transcripts"' in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_folder_becomes_figures(tmp_path: Path) -> None:
    """Each as SVG and as PNG."""
    pages.write(tmp_path / "results" / "a.json", "model-a", questions=3)
    drawn = run("report", tmp_path / "results", "--figures", tmp_path / "figures")
    assert drawn.exit_code == 0, drawn.output
    assert drawn.stdout.startswith("7 figures, each as SVG and PNG, in ")
    kinds = sorted(path.suffix for path in (tmp_path / "figures").iterdir())
    assert kinds == [".png"] * 7 + [".svg"] * 7
    assert (tmp_path / "figures" / "neutrality-models.png").read_bytes().startswith(b"\x89PNG")


def test_a_page_draws_its_figures_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--figures`, which writes PNG files, says what to install."""
    result = pages.write(tmp_path / "a.json", "model-a", questions=3)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    drawn = run("report", result, "--figures", tmp_path / "figures")
    assert (drawn.exit_code, drawn.stdout) == (4, "")
    assert drawn.stderr == (
        "ERROR: equipoise report --figures needs the extra 'plots'; run: pip install vl-convert-python\n"
    )
    other = pages.write(tmp_path / "b.json", "model-b", questions=3)
    assert run("report", result, other, "-o", tmp_path / "page.html").exit_code == 0
    assert (tmp_path / "page.html").read_text(encoding="utf-8").count("<figure ") > 2


@pytest.mark.slow
def test_a_session_ends_with_its_page(project: Project, tmp_path: Path) -> None:
    """`--report` writes the page of what the session has, and the summary names it last."""
    ran = project.run(report="out/page.html")
    assert ran.summary[-1].startswith("page: out/page.html (0.")
    html = (tmp_path / "out" / "page.html").read_text(encoding="utf-8")
    assert "<title>Attribution on political questions: subject</title>" in html


def test_a_report_that_cannot_be_written_stops_a_session_before_any_call(project: Project) -> None:
    """As a folder, or under a name of results."""
    Path("taken").mkdir()
    for path, reason in (("taken", "is a folder"), ("results/x.json", "is the name of results")):
        with pytest.raises(Exception, match=f"--report: .*{path}: {reason}"):
            project.run(report=path)
    assert project.client.calls == []
