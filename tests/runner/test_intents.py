"""The file of intents: what it recorded is read as it was recorded, or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from equipoise.core.errors import UserError
from equipoise.results import journal
from equipoise.runner.batches import intents
from equipoise.runner.batches.intents import (
    CreatedLine,
    CreatingLine,
    IntentLine,
    OverLine,
    RequestsLine,
    UploadedLine,
)

SPAN: dict[str, Any] = {
    "role": "subject",
    "model": "m",
    "endpoint": "http://x/v1",
    "path": "chat/completions",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with a batch that is over, one that waits, and calls in a file."""
    path = tmp_path / "m.suite.batches"
    file = intents.load(path)
    for name in ("one", "two"):
        calls = tuple(f"{name}-{number}" for number in range(3))
        file.append(IntentLine(intent=name, calls=calls, reserved=30, **{**SPAN, **file.credential("k")}))
        file.append(UploadedLine(intent=name, file=f"file-{name}"))
        file.append(CreatingLine(intent=name))
        file.append(CreatedLine(intent=name, batch=f"batch-{name}", expires=1.9e9))
        if name == "one":
            file.append(OverLine(intent=name, status="completed", counts={"answered": 3}))
    file.append(RequestsLine(calls=("two-0",), role="subject", model="m", file="calls.jsonl"))
    return path


def state(path: Path) -> dict[str, Any]:
    """What the file says."""
    file = intents.load(path)
    return {
        "intents": [(item.state, item.line.calls, item.batch, item.expires) for item in file.by_id.values()],
        "waiting": [item.batch for item in file.waiting],
        "written": {call: line.file for call, line in file.written.items()},
    }


def test_it_is_read_as_it_was_written(path: Path) -> None:
    """And goes on after another process has read it."""
    before = state(path)
    assert before["waiting"] == ["batch-two"]
    assert before["written"] == {"two-0": "calls.jsonl"}
    file = intents.load(path)
    file.append(OverLine(intent="two", status="expired"))
    assert state(path)["waiting"] == []


EDITS: dict[str, Any] = {"null": None, "number": 5, "text": "x", "true": True, "list": [], "many": 10**30}


def test_an_edited_value_is_refused(path: Path) -> None:
    """Of every field of every line; the message is one short line with the file and the line's number."""
    lines = path.read_text().splitlines(keepends=True)
    for index, line in enumerate(lines):
        content = json.loads(line)
        for name, before in content.items():
            for value in (edit for edit in EDITS.values() if edit != before):
                edited = json.dumps({**content, name: value}, separators=(",", ":")) + "\n"
                path.write_text("".join([*lines[:index], edited, *lines[index + 1 :]]))
                with pytest.raises(UserError, match=rf"m\.suite\.batches:{index + 1}: is damaged") as refused:
                    intents.load(path)
                assert len(str(refused.value)) < 500


DAMAGE: dict[str, Callable[[str], str]] = {
    "gone": lambda line: "",
    "doubled": lambda line: line * 2,
    "cut": lambda line: line[: len(line) // 2] + "\n",
    "without its checksum": lambda line: line.partition(',"crc32"')[0] + "}\n",
    "without its end": lambda line: line.replace("}\n", "\n"),
    "garbage": lambda line: "\x00{]\n",
    "a number": lambda line: "1\n",
    "another kind": lambda line: line.replace('"kind":"', '"kind":"x'),
}


def test_a_damaged_line_is_refused(path: Path) -> None:
    """Wherever it is; only the loss of the last line cannot be seen."""
    lines = path.read_text().splitlines(keepends=True)
    for index, line in enumerate(lines):
        for name, damage in DAMAGE.items():
            if (name, index) == ("gone", len(lines) - 1):
                continue
            path.write_text("".join([*lines[:index], damage(line), *lines[index + 1 :]]))
            with pytest.raises(UserError, match="is damaged"):
                intents.load(path)


def test_lines_in_another_order_are_refused(path: Path) -> None:
    """Each names the one before it."""
    lines = path.read_text().splitlines(keepends=True)
    for index in range(len(lines) - 1):
        swapped = [*lines[:index], lines[index + 1], lines[index], *lines[index + 2 :]]
        path.write_text("".join(swapped))
        with pytest.raises(UserError, match="is damaged"):
            intents.load(path)


def test_a_line_that_a_crash_has_cut_is_ignored(path: Path) -> None:
    """What it announces was not done; later lines follow the last whole one."""
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    for length in range(1, len(last) - 2):
        path.write_bytes(whole[: -len(last)] + last[:length])
        assert state(path)["written"] == {}
        file = intents.load(path)
        file.append(OverLine(intent="two", status="expired"))
        assert state(path)["waiting"] == []


def test_a_line_of_another_kind_is_refused(path: Path) -> None:
    """What it announces is not known, so that calls could be sent, and paid for, twice."""
    path.write_bytes(journal.encode({"kind": "later", "intent": "x", "at": "y"}, ""))
    with pytest.raises(UserError, match="is damaged"):
        intents.load(path)
