"""A suite of a user's own: the example, in a project of its own and as an installed package."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sixth_suite

import forked
from conftest import PYTEST, Bench, checked, equipoise
from loopback import JUDGE, SUBJECT

RESULTS = Path("results") / "subject.attribution.json"


@pytest.fixture
def project(bench: Bench, tmp_path: Path) -> Path:
    """The example beside a server that answers."""
    return sixth_suite.copied(tmp_path / "own")


def run(
    bench: Bench, folder: Path, *arguments: str, status: int | None = None
) -> subprocess.CompletedProcess[str]:
    """A session in that folder."""
    models = ("--model", SUBJECT, "--evaluator-model", JUDGE, "--api-base-url", bench.server.url)
    return checked(forked.run([*PYTEST[3:], *models, *arguments], folder), status)


@pytest.mark.slow
def test_a_project_s_own_suite_is_gated_and_compared(bench: Bench, project: Path) -> None:
    """Found without installing it, validated, selected by area and by its option, gated, compared."""
    assert equipoise(project, "data", "validate", status=0).stdout == "no findings in 3 files\n"
    run(bench, project, "-n", "2", status=0)
    data = json.loads((project / RESULTS).read_text())
    assert (data["metadata"]["suite"], data["metadata"]["status"]) == ("attribution", "complete")
    assert (data["metadata"]["length"], len(data["summary"]["metrics"])) == ("any", 3)
    part = ("-n", "2", "-k", "housing", "--length", "short", "--output=results/short.json")
    calls = len(bench.server.requests)
    gate = (f"--baseline={RESULTS}", "--gate", "overall:-100pp@population", "--allow-mismatch")
    gated = run(bench, project, *part, *gate)
    assert gated.returncode in (0, 6), gated.stdout + gated.stderr
    assert "length differs: any, now short" in gated.stdout
    assert len(bench.server.requests) == calls + 4
    first = bench.server.requests[calls]["messages"][0]["content"]
    assert first in ("Answer in three sentences at most.", "Responda em no máximo três frases.")
    compared = equipoise(project, "compare", str(RESULTS), "results/short.json", "--allow-mismatch", status=0)
    assert "overall" in compared.stdout
    # As the commands do, the Python API knows the project's suites in a process of its own.
    code = f"import equipoise; print(equipoise.load({str(RESULTS)!r}).suite.name)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False
    )
    assert loaded.stdout.strip() == sixth_suite.SUITE, loaded.stderr


@pytest.mark.slow
def test_an_installed_suite_is_found_by_its_entry_point(
    bench: Bench, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From whatever package; its test, data and rubric stand in the project."""
    site = tmp_path / "site"
    shutil.move(project / "suites" / "attribution", site / "their_attribution")
    about = site / "their_attribution-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-attribution\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[equipoise.suites]\nattribution = their_attribution\n")
    assert run(bench, project).returncode != 0
    monkeypatch.setenv("PYTHONPATH", str(site))
    run(bench, project, "--limit", "1", status=0)
    assert json.loads((project / RESULTS).read_text())["metadata"]["runs_completed"] == 2


@pytest.mark.slow
def test_a_suite_that_exits_at_import_ends_no_session(
    bench: Bench, project: Path, subtests: pytest.Subtests
) -> None:
    """Another suite is run; the suite itself is one line and exit status 4, as is an option of its own."""
    broken = project / "suites" / "our_exit"
    broken.mkdir()
    (broken / "__init__.py").write_text("import sys\n\nsys.exit(0)\n")
    test = project / "tests_benchmark" / "test_attribution.py"
    own_test = test.read_text().replace("attribution", "our_exit")
    test.with_name("test_our_exit.py").write_text(own_test)
    for name, arguments, status in (
        ("another", ["tests_benchmark/test_attribution.py", "--limit", "1"], 0),
        ("itself", ["tests_benchmark/test_our_exit.py"], 4),
        ("all", ["tests_benchmark"], 4),
        ("its option", ["tests_benchmark/test_our_exit.py", "--its-option=1"], 4),
    ):
        with subtests.test(name):
            done = run(bench, project, "-n", "0", *arguments, status=status)
            assert ("suite 'our_exit': cannot be imported: " in done.stderr) == (status == 4)
