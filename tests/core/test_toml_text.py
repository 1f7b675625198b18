"""Hostile TOML at every reader: one short line, in linear time."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import RUBRIC, SUITE

from conftest import resolved
from equipoise.core.errors import UserError
from equipoise.core.gates import read_gate
from equipoise.core.toml_text import MOST_CHARACTERS, loads
from equipoise.judge import rubric
from equipoise.runner import cells
from equipoise.suites import audits, selection
from equipoise.suites.wording import WordingRules

QUOTED = ['"a"']
HOSTILE = {
    "nesting": f"a = {'[' * 100_000}",
    "digits": f"a = {'1' * 5_000}",
    "a long key": f"{'k' * 100_000} = 1\n{'k' * 100_000} = 1\n",
    "an unknown long key": f"{'k' * 100_000} = 1\n",
    "parts of a key": f"{'.'.join('a' * 50_000)} = 1",
    "parts of a header": f"[{'.'.join('a' * 50_000)}]",
    "parts in quotes": f"a = {{ {' . '.join(QUOTED * 20_000)} = 1 }}",
    "many keys": "".join(f"k{number} = 1\n" for number in range(20_000)),
    "many tables": "".join(f"[t{number}]\n" for number in range(20_000)),
    "many models": 'folder = "x"\n' + "[[models]]\nmodel = 'm'\n" * 5_000,
    "too long": "#" * (MOST_CHARACTERS + 1),
    "a date": "a = 9999-99-99",
}
READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "config": ("c.toml", lambda path: resolved({"config": str(path)})),
    "gates": ("g.toml", read_gate),
    "sweep": ("s.toml", lambda path: cells.load(path, path.parent)),
    "rubric": ("r.toml", lambda path: rubric.load(path, material=("question",), verdict={})),
    "anchors": ("a.toml", lambda path: audits.read_for(path, RUBRIC)),
    "about": ("about.toml", lambda path: selection.about(path.parent, SUITE, None)),
    "wording": ("wording.toml", WordingRules.read),
}


@pytest.mark.slow
def test_every_reader_refuses_hostile_toml_in_one_short_line(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """Whatever stands in the file, and however much of it."""
    for name, text in HOSTILE.items():
        for reader, (file, read) in READERS.items():
            with subtests.test(name, reader=reader):
                (tmp_path / file).write_text(text, encoding="utf-8")
                started = time.process_time()
                with pytest.raises((UserError, ValueError)) as caught:
                    read(tmp_path / file)
                assert time.process_time() - started < 10
                message = str(caught.value)
                assert "\n" not in message
                assert len(str(UserError(message))) <= 1_000
                (tmp_path / file).unlink()


def test_toml_that_only_looks_deep_is_read() -> None:
    """Prose with full stops, and a number that is long but whole."""
    prose = "One. Two. " * 40 + "..." * 100 + "a.b." * 20
    assert loads(f'text = """{prose}"""\nnumber = {"1" * 4_000}')["text"] == prose
