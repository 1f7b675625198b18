"""Every command that reads results reads those at the ends of every figure's range."""

from __future__ import annotations

from pathlib import Path

import extremes
import pytest
from click.testing import CliRunner

import equipoise
from equipoise.cli import main


@pytest.mark.slow
def test_what_a_session_measures_is_shown_compared_reported_exported_and_valid(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """At the ends of the range of every figure, in every suite."""
    for name in extremes.RECORDS:
        path = str(extremes.write(tmp_path, name))
        assert equipoise.load(path).suite.name == name
        for command in (
            ("show", path),
            ("compare", path, path),
            ("report", path, "-o", str(tmp_path / "page.html")),
            ("export", path, "--to", "csv", "-o", str(tmp_path / f"{name}.csv")),
            ("data", "validate", path),
        ):
            with subtests.test(f"{name}: {command[0]}"):
                done = CliRunner().invoke(main, command)
                assert done.exit_code == 0, done.output
