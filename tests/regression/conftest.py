"""What the tests of kept journals share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A project with the example suite, which has a folder of results."""
    # Imported here: this module is loaded before the session that tests has its options.
    import sixth_suite

    from equipoise import suites

    with sixth_suite.project(tmp_path / "project") as folder:
        suites.add_project(folder)
        yield folder
