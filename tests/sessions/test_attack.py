"""Attacks of every family: calls are neither lost nor paid twice, no score changes, and no key is found."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from types import ModuleType

import pytest

import conftest
from conftest import ROOT

PARTS = 5
"""How many tests share the families."""


@pytest.fixture
def attack() -> Iterator[ModuleType]:
    """The program that attacks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        # A session in this process may have loaded the project's own module of this name.
        patch.setitem(sys.modules, "conftest", conftest)
        yield import_module("attack")


def falls(attack: ModuleType, family: str, *, is_full: bool) -> list[str]:
    """What falls of a family; it is a failure, too, where nothing was tried."""
    tally = attack.FAMILIES[family](attack.Size(is_full=is_full))
    assert tally.tried > 2
    assert tally.is_harmless == (not tally.fell)
    return list(tally.fell)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(PARTS))
def test_a_sample_of_every_family_holds(attack: ModuleType, subtests: pytest.Subtests, part: int) -> None:
    """Of a fixed seed; each family does no harm of any kind."""
    for family in [*attack.FAMILIES][part::PARTS]:
        with subtests.test(family):
            assert falls(attack, family, is_full=False) == []


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_every_family_holds_at_full_size(attack: ModuleType, subtests: pytest.Subtests) -> None:
    """All attacks that there are."""
    for family in attack.FAMILIES:
        with subtests.test(family):
            assert falls(attack, family, is_full=True) == []


@pytest.mark.slow
def test_a_reader_that_hangs_is_stopped_and_counted(attack: ModuleType) -> None:
    """The kernel ends it, and the next text is read by another process."""
    worker = import_module("attacks.strings").Worker(limit=1)
    backtracks = partial(re.fullmatch, "(a*)*b")
    assert worker.failure(backtracks, "a" * 99) == "took more than 1 s of CPU for 99 characters"
    assert worker.failure(backtracks, None).startswith("TypeError")
    assert worker.failure(backtracks, "ab") == ""
    worker.close()


def test_the_table_tells_what_fell(attack: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """A family that does harm is named with its numbers, and so is what fell; the exit status is 1."""
    harmed = attack.Tally("harmed")
    with harmed.attack("held"):
        pass
    with harmed.attack("fell") as harm:
        harm.lost += 2
    with harmed.attack("raised"):
        raise ZeroDivisionError("no reason")
    families = {"harmed": lambda size: harmed}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attack, "FAMILIES", families)
        assert attack.main(["--sample"]) == 1
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["all", "3", "1", "2", "2", "0", "0", "0"] in lines
    assert ["harmed:", "fell:", "calls", "lost", "2"] in lines
    assert ["harmed:", "raised:", "ZeroDivisionError:", "no", "reason"] in lines
