"""What the tests of kept journals share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with the example suite, which has a folder of results."""
    # Imported here: this module is loaded before the session that tests has its options.
    import sixth_suite

    from equipoise import suites

    # Published data in the journals are made up, and not those that may have been fetched.
    monkeypatch.delenv("EQUIPOISE_ORIGINAL_DATA", raising=False)
    with sixth_suite.project(tmp_path / "project") as folder:
        suites.add_project(folder)
        yield folder
