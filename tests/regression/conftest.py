"""What the tests of kept journals share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sixth_suite

from equipoise import suites


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A project with the example suite, which has a folder of results."""
    with sixth_suite.project(tmp_path / "project") as folder:
        suites.add_project(folder)
        yield folder
