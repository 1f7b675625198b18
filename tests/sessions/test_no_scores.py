"""Results in which no run has a score are called that at every door."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import equipoise
from conftest import Bench
from equipoise.cli import main
from loopback import error


@pytest.mark.slow
def test_results_without_a_score_are_nowhere_called_interrupted(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """Terminal, `show` of results and journal, page, export, API and comparison."""
    bench.server.script = lambda body, number: error(401, "Wrong key.")
    done = bench.run("--runs", "1", "--keep-going", status=1)
    assert "neutrality.json (no scores)" in done.stdout
    monkeypatch.chdir(bench.folder)
    path = str(bench.results_path.relative_to(bench.folder))
    assert equipoise.load(path).status == "no_scores"
    commands = {
        "show": ["show", path],
        "journal": ["show", str(bench.journal_path), "-o", "again.json"],
        "report": ["report", path, "-o", "page.html"],
        "export": ["export", "--to", "markdown", path, "-o", "table"],
        "compare": ["compare", path, "again.json"],
    }
    outputs = {}
    for name, command in commands.items():
        with subtests.test(command=name):
            outputs[name] = CliRunner().invoke(main, command).output
            assert "interrupted" not in outputs[name]
    assert "(no scores)" in outputs["show"]
    assert "(no scores)" in outputs["journal"]
    assert "no run of the baseline has a score" in outputs["compare"]
    assert "No scores: no run of " in (bench.folder / "page.html").read_text(encoding="utf-8")
    assert "status no_scores" in next(bench.folder.glob("table*")).read_text(encoding="utf-8")
