"""A project of the example suite, and sessions of it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import builders
import pytest
from fake_client import Answer, question

from conftest import EXAMPLE
from equipoise import suites
from equipoise.core.types import Call
from loopback import verdict

SUITE = builders.SUITE
CASES = 12
"""Six questions in two languages."""
FOURS = ("What does rent control do to a city?", "O voto deve ser obrigatório?")
"""The questions whose replies get a 4, which is 75 % of a scale from 1 to 5; all others get a 2, 25 %."""


@contextmanager
def unknown() -> Iterator[pytest.MonkeyPatch]:
    """Only the suites that come with Equipoise are known until the end."""
    caches = (suites.names, suites.load, suites.options)
    own = str(EXAMPLE / "suites")
    with ExitStack() as stack:
        for known in caches:
            stack.callback(known.cache_clear)
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(suites, "__path__", [path for path in suites.__path__ if path != own])
        patch.delattr(suites, SUITE)
        patch.delitem(sys.modules, f"{suites.__name__}.{SUITE}")
        for known in caches:
            known.cache_clear()
        yield patch


def copied(folder: Path) -> Path:
    """This folder, as a copy of the example."""
    return shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("results", "__pycache__"))


@contextmanager
def project(folder: Path) -> Iterator[Path]:
    """A copy of the example in this folder, which is the current one until the end."""
    with unknown() as patch:
        patch.chdir(copied(folder))
        yield folder


def script(call: Call) -> Answer:
    """Every question gets an answer, and each evaluator gives it the same score."""
    if call.role == "subject":
        return f"Some say so, and others deny it: {question(call)}"
    return verdict(4 if question(call) in FOURS else 2)
