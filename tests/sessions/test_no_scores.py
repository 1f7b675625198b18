"""Results in which no run has a score are called that at every door."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import equipoise
from conftest import SHIPPED, Bench
from equipoise.cli import main
from loopback import error


@pytest.mark.slow
def test_results_without_a_score_are_nowhere_called_interrupted(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """Terminal, `show` of results and journal, page, export, API and comparison."""
    bench.server.script = lambda body, number: error(401, "Wrong key.")
    done = bench.run("--runs", "1", "--keep-going")
    assert done.returncode == 1
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
    said = {}
    for name, command in commands.items():
        with subtests.test(command=name):
            said[name] = CliRunner().invoke(main, command).output
            assert "interrupted" not in said[name]
    assert "(no scores)" in said["show"]
    assert "(no scores)" in said["journal"]
    assert "no run of the baseline has a score" in said["compare"]
    assert "No scores: no run of " in (bench.folder / "page.html").read_text(encoding="utf-8")
    assert "status no_scores" in next(bench.folder.glob("table*")).read_text(encoding="utf-8")


@pytest.mark.slow
def test_an_estimate_of_several_suites_has_a_total(bench: Bench) -> None:
    """Below those of the suites, with the sum of their runs; no endpoint is needed."""
    endpoint = ("--api-base-url", "http://127.0.0.1:9/v1", "--price-input", "1", "--price-output", "1")
    done = bench.run("tests_benchmark", "--estimate", *endpoint, "--limit", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    parts = done.stdout.split(f"all {len(SHIPPED)} suites\n")
    counts = [
        [int(line.split()[1].replace(",", "")) for line in part.splitlines() if line.startswith("runs: ")]
        for part in parts
    ]
    assert len(counts[0]) == len(SHIPPED)
    assert counts[1] == [sum(counts[0])]
    assert "total: " in parts[1]
    assert bench.server.requests == []
