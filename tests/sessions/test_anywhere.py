"""A suite run from an empty folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from loopback import JUDGE, SUBJECT, Loopback


@pytest.mark.slow
def test_results_are_written_to_the_folder_of_the_command(loopback: Loopback, tmp_path: Path) -> None:
    """And nothing else but pytest's cache; the questions are the package's."""
    command = str(Path(sys.executable).with_name("equipoise"))
    models = ("--model", SUBJECT, "--evaluator-model", JUDGE, "--api-base-url", loopback.url)
    part = ("--runs", "1", "-k", "hong_kong and q21", "-n", "2")
    done = subprocess.run(
        [command, "run", "neutrality", *models, *part],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"results", ".pytest_cache"}
    assert (tmp_path / "results" / f"{SUBJECT}.neutrality.json").is_file()
