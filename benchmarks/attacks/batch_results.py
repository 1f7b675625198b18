"""Results of batches that cannot be read, odd ids, edited files of intents and strange files of answers."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from batch_server import UNREADABLE, BatchServer, Faults
from fake_client import FakeClient, Project, Ran

from attacks.tally import Harm, Size, Tally
from equipoise.core.errors import UserError
from equipoise.models import retry
from loopback import JUDGE, SUBJECT, Answer, completion, error, plain_script

RUNS = "10"
CALLS = 2 * 2 * 2 * int(RUNS)
"""Languages, questions, roles and runs."""
LONGEST = 500
"""No message is longer."""
OFTEN = 6
"""Commands that may be needed to the end."""
Change = Callable[[dict[str, Any]], dict[str, Any]]


class _Bed:
    """A project in this process whose sessions send batches to a server, whose replies do not change."""

    def __init__(self, folder: Path, server: BatchServer) -> None:
        self.project = Project(folder, FakeClient())
        self.server = server

    def run(self, **options: Any) -> Ran:
        usual = {"model": SUBJECT, "evaluator_model": [JUDGE], "api_base_url": self.server.url, "runs": RUNS}
        return self.project.run(**{**usual, "batch": "yes", **options})

    @property
    def intents_path(self) -> Path:
        return self.project.journal_path.with_suffix(".batches")

    def scores(self) -> dict[str, Any]:
        return {line["run"]: line["record"]["score"] for line in self.project.lines("record")}


@contextmanager
def _bed(**settings: Any) -> Iterator[_Bed]:
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        retry.testing(first=0.01, longest=0.02),
        BatchServer(**settings) as server,
    ):
        patch.chdir(folder)
        for name, value in {"sent.LOOKUP_SECONDS": 0.05, "submissions.FIRST_POLL": 0.02}.items():
            patch.setattr(f"equipoise.runner.batches.{name}", value)
        patch.setattr("equipoise.runner.batches.transport.QUIET_SECONDS", 0.02)
        yield _Bed(Path(folder), server)


@cache
def _undisturbed() -> dict[str, Any]:
    with _bed() as bed:
        assert bed.run().is_complete
        return bed.scores()


def _id(key: str, value: object) -> Change:
    return lambda batch: {**batch, key: value} if batch["status"] == "completed" else batch


_IDS: tuple[object, ...] = (
    *("", "x" * 100_000, "a\nb", "\x1b[2J", "\x00" * 1000, "é" * 300, "../../v1/models"),
    *(5, None, [1], {}),
)
LOOKS: Mapping[str, Change] = {
    **{
        f"{key} {str(value)[:10]!r}": _id(key, value)
        for key in ("id", "output_file_id", "error_file_id", "input_file_id", "metadata", "request_counts")
        for value in _IDS
    },
    "the input file": lambda batch: {
        **batch,
        "output_file_id": batch["output_file_id"] and batch["input_file_id"],
    },
    "no file": lambda batch: {**batch, "output_file_id": None, "error_file_id": None},
    "another status": lambda batch: {**batch, "status": "\x1b[2J\n" * 20_000},
    "another batch": lambda batch: {**batch, "metadata": {"equipoise": "0" * 32}},
}


def attack(size: Size) -> Tally:
    """Files and descriptions of batches that say nothing: nothing is paid again, all is read in the end."""
    tally = Tally("results of batches")
    dice = size.dice("results of batches")
    for name in dice.sample([*UNREADABLE], size.of(4, len(UNREADABLE))):
        with tally.attack(name) as harm, _bed() as bed:
            bed.server.faults.download = UNREADABLE[name]
            _ask_and_read(bed, harm)
    for name in dice.sample([*LOOKS], size.of(6, len(LOOKS))):
        with tally.attack(f"a look with {name}") as harm, _bed() as bed:
            bed.server.faults.look = LOOKS[name]
            _ask_and_read(bed, harm)
    for number in range(size.of(4, 40)):
        with tally.attack(f"random bytes, number {number}") as harm, _bed() as bed:
            bed.server.faults.download = _damage(dice)
            _ask_and_read(bed, harm)
    return tally


def _damage(dice: random.Random) -> Callable[[bytes], tuple[int, bytes]]:
    """A file with some of its lines cut, lost, doubled, or of random bytes."""

    def damage(data: bytes) -> tuple[int, bytes]:
        lines = data.splitlines(keepends=True)
        for _ in range(dice.randrange(1, 6)):
            place = dice.randrange(len(lines))
            line = lines[place]
            bad = [line[: dice.randrange(len(line) + 1)] + b"\n", b"", line * 2, dice.randbytes(50) + b"\n"]
            lines[place] = dice.choice(bad)
        return 200, b"".join(lines)

    return damage


def _ask_and_read(bed: _Bed, harm: Harm) -> None:
    """A session on a disturbed server, then the same command on one that is as usual."""
    expected = _undisturbed()
    _check_messages(bed.run(), harm)
    usual = Faults()
    bed.server.faults.download, bed.server.faults.look = usual.download, usual.look
    for _ in range(OFTEN):
        ran = bed.run()
        _check_messages(ran, harm)
        if ran.is_complete:
            break
    harm.expect(ran.is_complete, f"not complete: {ran.stop_reason} {ran.batches}")
    bed.server.conclude()
    harm.twice += sum(count - 1 for count in bed.server.answered.values())
    # Calls of the evaluator may be sent by themselves if there are few.
    harm.twice += bed.server.count(judge=False)
    harm.lost += max(0, CALLS - len(bed.project.lines("call")))
    harm.changed += bed.scores() != expected


def _check_messages(ran: Ran, harm: Harm) -> None:
    messages = [*ran.batches, *ran.notices, *filter(None, [ran.stop_reason])]
    for message in messages:
        harm.expect(message.isprintable() and len(message) <= LONGEST, f"{len(message)} characters")


def edited(size: Size) -> Tally:
    """Files of intents with another value, or a line less or more: refused, and nothing is sent."""
    tally = Tally("edited intents")
    dice = size.dice("edited intents")
    with _bed(looks=10**9) as bed:
        bed.run()
        whole = bed.intents_path.read_bytes()
        lines = whole.splitlines(keepends=True)
        for number in range(size.of(20, 400)):
            place = dice.randrange(len(lines))
            changed = _edit(lines[place], dice)
            text = b"".join([*lines[:place], changed, *lines[place + 1 :]])
            if text == whole or whole.startswith(text):
                # The loss of the last line leaves no trace.
                continue
            with tally.attack(f"line {place} becomes {changed[:80]!r}, number {number}") as harm:
                _refused(bed, text, harm)
    return tally


def _edit(line: bytes, dice: random.Random) -> bytes:
    """Another value in a line, another byte, or a line that is lost or doubled."""
    content = json.loads(line)
    values: list[Any] = [None, 5, -1, 10**30, "x", "", True, [], {}, 1e300]
    changed = {**content, dice.choice([*content]): dice.choice(values)}
    place = dice.randrange(len(line))
    return dice.choice(
        [
            json.dumps(changed, separators=(",", ":")).encode() + b"\n",
            line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :],
            line * 2,
            b"",
        ]
    )


def _refused(bed: _Bed, text: bytes, harm: Harm) -> None:
    log = len(bed.server.log)
    bed.intents_path.write_bytes(text)
    try:
        bed.run()
        harm.expect(False, "taken")
    except UserError as refusal:
        harm.expect(len(str(refusal)) <= LONGEST, "a long message")
    harm.twice += len(bed.server.log) - log


_ROWS: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    "a request": lambda line: line,
    "content alone": lambda line: {"custom_id": line["custom_id"], "content": "x"},
    "no error": lambda line: {"custom_id": line["custom_id"], "response": None, "error": None},
    "no body": lambda line: {"custom_id": line["custom_id"], "response": {"status_code": 200}},
    "a true status": lambda line: {
        "custom_id": line["custom_id"],
        "response": {"status_code": True, "body": completion("x")},
    },
    "a list": lambda line: [line],
    "a long id": lambda line: {"custom_id": "x\n" * 50_000, "response": {"status_code": 200, "body": {}}},
    "an error": lambda line: _row(line, error(500, "\x1b[2J" * 10_000)),
    "another error": lambda line: _row(line, error(400, "\x00\n" * 10_000)),
}


def _row(line: dict[str, Any], answer: Answer | str) -> dict[str, Any]:
    body = completion(answer) if isinstance(answer, str) else answer.body
    status = 200 if isinstance(answer, str) else answer.status
    return {"custom_id": line["custom_id"], "response": {"status_code": status, "body": body}}


def answers(size: Size) -> Tally:
    """Files of answers with lines in other forms before the good ones: these count, the others are named."""
    tally = Tally("files of answers")
    for name in [*_ROWS][:: size.of(3, 1)]:
        with tally.attack(name) as harm, _bed() as bed:
            _answer(bed, _ROWS[name], harm)
    return tally


def _answer(bed: _Bed, strange: Callable[[dict[str, Any]], Any], harm: Harm) -> None:
    bed.run(batch_write="calls.jsonl")
    for phase in range(2):
        path = next(Path().glob("calls*.jsonl"))
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        path.unlink()
        rows = [*map(strange, lines), *(_row(line, plain_script(line["body"], 0)) for line in lines)]
        Path(f"{phase}.answers").write_text("".join(json.dumps(row) + "\n" for row in rows))
        ran = bed.run(batch_read=[f"{phase}.answers"], batch_write="calls.jsonl")
        _check_messages(ran, harm)
        harm.expect(
            any(message.startswith("answers that were ignored") for message in ran.batches), "unnamed"
        )
    harm.expect(ran.is_complete, f"not complete: {ran.stop_reason} {ran.batches}")
    harm.lost += max(0, CALLS - len(bed.project.lines("call")))
    harm.changed += bed.scores() != _undisturbed()
    harm.twice += len(bed.server.requests) + len(bed.server.log)
