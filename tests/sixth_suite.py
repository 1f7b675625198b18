"""The example of a user's own suite, known to this process for the time of a test, and sessions of it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fake_client import Answer, question

from conftest import ROOT
from equipoise import suites
from equipoise.core.types import Call
from loopback import verdict

EXAMPLE = ROOT / "examples" / "sixth_suite"
NAME = "attribution"
CASES = 12
"""Six questions in two languages."""
FOURS = ("What does rent control do to a city?", "O voto deve ser obrigatório?")
"""The questions whose replies get a 4, which is 75 % of a scale from 1 to 5; all others get a 2, 25 %."""


@contextmanager
def project(folder: Path) -> Iterator[Path]:
    """A copy of the example in this folder, which is the current one until the end."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("results", "__pycache__"))
    module = f"{suites.__name__}.{NAME}"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(suites, "__path__", [*suites.__path__])
        patch.setattr(suites, NAME, None, raising=False)
        yield folder
    for name in [name for name in sys.modules if name == module or name.startswith(f"{module}.")]:
        del sys.modules[name]
    for known in (suites.names, suites.load, suites.options):
        known.cache_clear()


def script(call: Call) -> Answer:
    """Every question gets an answer, and each evaluator gives it the same score."""
    if call.role == "subject":
        return f"Some say so, and others deny it: {question(call)}"
    return verdict(4 if question(call) in FOURS else 2)
