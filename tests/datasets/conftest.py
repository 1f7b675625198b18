"""The project and the endpoint of tests of translation."""

from __future__ import annotations

from pathlib import Path

import pytest
from interpreter import ENGLISH, script

from loopback import Loopback


@pytest.fixture
def english(folder: Path) -> Path:
    """The current folder, with a question file in English."""
    (folder / "en.txt").write_text(ENGLISH, encoding="utf-8")
    return folder


@pytest.fixture
def server(loopback: Loopback, english: Path) -> Loopback:
    """The endpoint, and the question file."""
    loopback.script = script
    return loopback
