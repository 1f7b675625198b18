"""The journal's lines: whole whatever happens to the file, and what they say."""

from __future__ import annotations

import errno
import json
import os
import resource
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from journals import TEXTS, ask, entries, keep, record

from equipoise.core.errors import CannotKeep, SessionStopped
from equipoise.core.types import Conversation, Message, Reply, Usage
from equipoise.models.redact import Secrets
from equipoise.results.journal import (
    Journal,
    Reader,
    checksum,
    encode,
    one_time_code,
    read,
    relink,
    request_hash,
    scan,
)
from equipoise.results.lines import CallLine, FailedLine
from hostile import replies

CALL = ask("Why?", temperature=1.0, top_p=0.5)
FAILED = {"run": "a-run1", "role": "subject", "model": "m", "retries": 0}
"""What a line on a failed call says beside its message."""


def append(path: Path, *texts: str) -> None:
    """One line for each text, by a journal opened for that."""
    log = Journal(path, "s1")
    for text in texts:
        log.append("failed", **FAILED, message=text)
    log.close()


def lines_of(*texts: str) -> list[bytes]:
    """The bytes of such lines, the first of which begins the file."""
    lines = [b""]
    for text in texts:
        content = {"kind": "failed", "session": "s1", **FAILED, "message": text}
        lines.append(encode(content, checksum(lines[-1])))
    return lines[1:]


def texts(path: Path, position: int = 0) -> list[str]:
    """The texts that can be read back."""
    return [line.entry.message for line in read(path, position) if isinstance(line.entry, FailedLine)]


def damaged(path: Path) -> int:
    """How many lines cannot be read."""
    return sum(line.entry is None for line in scan(path))


# Lines.


def test_a_cut_last_line_is_passed_over_and_the_next_one_stands_alone(path: Path) -> None:
    """A line cut anywhere, in the middle of a character too, costs that line only."""
    one, other = lines_of("one", "香港")
    whole = one + other
    for lost in range(2, len(other)):
        path.write_bytes(whole[:-lost])
        append(path, "three", "four")
        assert (texts(path), damaged(path)) == (["one", "three", "four"], 1), lost


def test_a_last_line_that_lacks_only_its_end_is_whole(path: Path) -> None:
    """A line of which only the newline is missing is read, and what follows does not join it."""
    append(path, "one", "two")
    path.write_bytes(path.read_bytes()[:-1])
    assert texts(path) == ["one", "two"]
    append(path, "three")
    assert (texts(path), damaged(path)) == (["one", "two", "three"], 0)


def test_a_line_that_is_no_entry_is_passed_over(path: Path, subtests: pytest.Subtests) -> None:
    """What is not a JSON object with a kind is damaged, a blank line is not; neither hides another line."""
    kinds = (b'{"text": "no kind"}', b'{"kind": 1}', b'"kind"')
    for line in (b"", b"null", b"[1]", *kinds, b"\xff\xfe", b"[" * 100_000, b'{"kind":"' * 9999):
        with subtests.test(line=line[:30]):
            one, two = lines_of("one", "two")
            path.write_bytes(one + line + b"\n" + two)
            assert texts(path) == ["one", "two"]
            assert damaged(path) == bool(line)


def test_a_hostile_reply_is_one_line_of_its_kind(path: Path) -> None:
    """Each is one line, is read back whole, and leaves the lines around it alone."""
    texts = [text for reply in replies() for text in (reply.text, "In 1931, by subscription.")]
    whole = [Reply(text=text, reasoning=text, finish_reason="stop", usage=Usage(input=1)) for text in texts]
    log = Journal(path, "s1")
    for reply in whole:
        keep(log, CALL, reply)
    lines = path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
    assert [json.loads(line)["reply"]["text"] for line in lines] == texts
    assert all(character >= " " for line in lines for character in line)
    assert [line.entry.reply for line in read(path) if isinstance(line.entry, CallLine)] == whole


def test_a_line_says_where_it_stands(path: Path) -> None:
    """Start and end are bytes of the file: between them is the line, which can be read from there."""
    long = "x" * 100_000
    one, two, three = lines_of("香港", long, "three")
    path.write_bytes(one + b'{"lo\n' + two + b"\n" + three)
    content, lines, reader = path.read_bytes(), list(read(path)), Reader(path)
    assert [content[line.start : line.end] for line in lines] == [one, two, three]
    assert [reader.read(line.start, FailedLine) for line in lines] == [line.entry for line in lines]


def test_whoever_listens_hears_of_every_line_that_was_written(path: Path, disk: list[int]) -> None:
    """As it is read back, with its place, also behind a line that was cut; of that one nothing."""
    heard: list[tuple[int, bytes]] = []
    log = Journal(path, "s1", on_line=lambda start, data, call: heard.append((start, data)))
    log.append("failed", **FAILED, message="香港")
    disk += [7, -1]
    with pytest.raises(CannotKeep):
        log.append("failed", **FAILED, message="lost")
    log.append("failed", **FAILED, message="three")
    assert heard == [(line.start, line.data) for line in read(path)]
    assert texts(path) == ["香港", "three"]


def test_reading_goes_on_where_it_left_off(path: Path) -> None:
    """From the end of any line on, the rest is read; half a line is none until it is whole."""
    append(path, "one", "香港", "three")
    for index, line in enumerate(read(path)):
        assert texts(path, line.end) == ["one", "香港", "three"][index + 1 :]
    assert list(read(path, path.stat().st_size)) == []
    one, whole = lines_of("one", "two")
    for written in range(1, len(whole) - 1):
        path.write_bytes(one + whole[:written])
        (first,) = read(path)
        *_, last = scan(path)
        start, end = last.start, last.end
        assert (start, end, last.entry) == (first.end, first.end, None), written
        path.write_bytes(one + whole)
        assert texts(path, end) == ["two"], written


def test_a_line_is_put_behind_another_one(path: Path) -> None:
    """With the checksums that it would have been written with there."""
    one, two = lines_of("one", "香港")
    before = encode({"kind": "failed", "session": "s1", **FAILED, "message": "香港"}, "")
    assert relink(two, checksum(one)) == two
    assert relink(two, "") == before
    assert relink(before, checksum(one)) == two


def test_no_line_is_read_where_none_starts(path: Path) -> None:
    """A wrong place is an error that names the file and the place; so is that of a line that was cut."""
    append(path, "one", "two")
    path.write_bytes(path.read_bytes() + lines_of("three")[0][:-3])
    _, second = read(path)
    for start in (second.start + 1, second.start - 1, second.end, 10_000):
        with pytest.raises(ValueError, match=rf"{path}: no line starts at byte {start}"):
            Reader(path).read(start, FailedLine)


# Who may read it.


def test_permissions_are_those_of_the_user(tmp_path: Path, path: Path) -> None:
    """A new file has what the user's umask leaves; writing to an older journal changes nothing."""
    for mask in (0o022, 0o077, 0o002):
        before = os.umask(mask)
        try:
            append(tmp_path / oct(mask), "one")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / oct(mask)).stat().st_mode) == 0o666 & ~mask
    append(path, "one")
    path.chmod(0o600)
    append(path, "two")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


# A disk that is full.


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many bytes each coming write takes, where that is less than all; below 0 it fails."""
    takes: list[int] = []
    really = os.write

    def write(file: int, data: bytes) -> int:
        room = takes.pop(0) if takes else len(data)
        if room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return really(file, data[:room])

    monkeypatch.setattr(os, "write", write)
    yield takes
    monkeypatch.undo()


def test_a_line_that_the_disk_has_no_room_for_cannot_be_kept(path: Path, disk: list[int]) -> None:
    """The error ends the session and says in one line which journal and why, without a folder."""
    log = Journal(path, "s1")
    disk += [-1]
    with pytest.raises(CannotKeep) as caught:
        log.append("failed", **FAILED, message="lost")
    assert str(caught.value) == "m.attribution.jsonl: cannot be written to (No space left on device)"
    assert isinstance(caught.value, SessionStopped)
    assert path.read_bytes() == b""


def test_a_line_that_is_cut_again_and_again_harms_no_other(path: Path, disk: list[int]) -> None:
    """Several failures in a row, also right behind the newline that was to end the first, cost no line."""
    log = Journal(path, "s1")
    disk += [5, -1, -1, 1, -1, 30, -1]
    for _ in range(4):
        with pytest.raises(CannotKeep):
            log.append("failed", **FAILED, message="lost")
    assert disk == []
    log.append("failed", **FAILED, message="one")
    assert texts(path) == ["one"]


def test_a_line_that_is_taken_in_parts_is_one_line(path: Path, disk: list[int]) -> None:
    """Where the system takes a few bytes at a time, all of them are written, once."""
    log = Journal(path, "s1")
    disk += [1, 2, 3]
    log.append("failed", **FAILED, message="one")
    log.append("failed", **FAILED, message="two")
    assert path.read_bytes() == b"".join(lines_of("one", "two"))


def test_the_largest_file_that_the_system_allows(path: Path) -> None:
    """At a real limit the lines before it are kept, the user is told, and later lines follow a cut one."""
    log, room = Journal(path, "s1"), 1000 // len(lines_of("0" * 100)[0])
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, usual[1]))
    try:
        for number in range(room):
            log.append("failed", **FAILED, message=f"{number:0100d}")
        with pytest.raises(CannotKeep, match=rf"^{path.name}: cannot be written to \(File too large\)$"):
            log.append("failed", **FAILED, message="0" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    log.append("failed", **FAILED, message="after")
    *numbers, last = texts(path)
    assert [int(text) for text in numbers] == list(range(room))
    assert (last, damaged(path)) == ("after", 1)
    assert all(line.follows for line in scan(path))


# What lines say.


def test_a_call_is_kept_with_all_that_was_asked(path: Path) -> None:
    """Messages and parameters stand in the line beside the reply: it can be read without anything else."""
    call = replace(ask("Why?", "Because.", "Really?", role="evaluator", model="e", seed=1), is_stretched=True)
    exchange = Journal(path, "s1").append_call(
        "a-run1", call, "digest", Reply(text="Yes.", usage=Usage(input=1))
    )
    (entry,) = entries(path)
    assert entry == {
        "kind": "call",
        "session": "s1",
        "run": "a-run1",
        "id": exchange.id,
        "role": "evaluator",
        "model": "e",
        "request": "digest",
        "parameters": {"seed": 1},
        "messages": [
            {"role": "user", "content": "Why?"},
            {"role": "assistant", "content": "Because."},
            {"role": "user", "content": "Really?"},
        ],
        "reply": {
            "text": "Yes.",
            "usage": {"input": 1, "output": 0, "cached": 0, "reasoning": 0},
            "latency": 0.0,
            "retries": 0,
            "repeats": 0,
        },
    }
    assert exchange.call is call


def test_what_endpoints_said_is_masked_and_structure_is_not(path: Path) -> None:
    """Names of fields, ids and models stay as they are, even where they are the key."""
    log = Journal(path, "secret", Secrets(["secret"]))
    log.append("failed", run="secret", role="subject", model="secret", retries=0, message="no secret")
    log.append("learned", role="subject", model="m", parameter="secret", action="dropped", reason="a secret")
    failed, learned = entries(path)
    assert [failed[name] for name in ("session", "run", "model", "message")] == [*["secret"] * 3, "no ****"]
    assert (learned["parameter"], learned["reason"]) == ("secret", "a ****")
    # Whoever shows the record that is returned shows no key.
    appended = log.append_record(record("a", "error", "no secret"), [])
    *_, entry = entries(path)
    assert appended.error == entry["record"]["error"] == "no ****"


def test_no_two_calls_share_an_id(path: Path) -> None:
    """Ids are unique over all sessions of a journal."""
    for session in ("s1", "s2"):
        log = Journal(path, session)
        for _ in range(3):
            log.append_call("a-run1", CALL, "digest", Reply(text=""))
    assert len({entry["id"] for entry in entries(path)}) == 6


def test_a_record_is_kept_with_the_ids_of_its_calls(path: Path) -> None:
    """What was said stands in the calls alone: the record only names them."""
    spoken = Conversation(name="m", parameters={}, messages=(Message(role="user", content="unmistakable"),))
    full = replace(record("a"), subject=(spoken,), evaluators=(spoken,))
    Journal(path, "s1").append_record(full, ["w-1", "w-2"])
    (entry,) = entries(path)
    assert (entry["run"], entry["calls"]) == ("a-run1", ["w-1", "w-2"])
    assert entry["record"] == record("a").to_json()
    assert b"unmistakable" not in path.read_bytes()


# What identifies a request.


def test_another_request_has_another_hash() -> None:
    """Model, messages of any text and parameters count; the order of parameters does not."""
    changes: list[dict[str, Any]] = [
        {"model": "n"},
        {"messages": (Message(role="system", content="Why?"),)},
        {"messages": (*CALL.messages, *CALL.messages)},
        *({"messages": (Message(role="user", content=text),)} for text in ("Why!", *TEXTS.values())),
        {"parameters": {"temperature": 1.0}},
        {"parameters": {"temperature": 1.0, "top_p": 0.6}},
        {"parameters": {"temperature": 1.0, "top_k": 0.5}},
    ]
    hashes = [request_hash(replace(CALL, **change)) for change in ({}, *changes)]
    assert len({*hashes}) == len(hashes)
    assert [(len(digest), int(digest, 16) > 0) for digest in hashes] == [(64, True)] * len(hashes)
    turned = replace(CALL, parameters={"top_p": 0.5, "temperature": 1.0})
    assert request_hash(turned) == request_hash(CALL)


def test_a_marker_code_depends_on_the_nonce_and_every_part() -> None:
    """The same parts give the same 16 hexadecimal digits; another nonce, part or split gives others."""
    codes = [
        one_time_code("n", "a", "b"),
        one_time_code("o", "a", "b"),
        one_time_code("n", "a", "c"),
        one_time_code("n", "ab"),
        one_time_code("n", "b", "a"),
    ]
    assert len(set(codes)) == 5
    assert [(len(item), int(item, 16) >= 0) for item in codes] == [(16, True)] * 5
    assert one_time_code("n", "a", "b") == codes[0]
