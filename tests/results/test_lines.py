"""One line of a journal: which bytes are one, what it then holds, and what is passed over."""

from __future__ import annotations

import json

import pytest
from journals import ask, record

from equipoise.core import json_io
from equipoise.core.types import JSON, Exchange, Reply
from equipoise.results.lines import CallLine, OtherLine, RecordLine, decode

CALL = ask("Why?", temperature=1.0)
ENTRY: dict[str, JSON] = {
    "kind": "call",
    "session": "s1",
    "run": "a-run1",
    "id": "s1-1",
    "role": "subject",
    "model": "m",
    "request": "0",
    "parameters": CALL.parameters,
    "messages": CALL.messages,
    "reply": {"text": "Because.", "retries": 0},
}


def line(**changes: JSON) -> bytes:
    """The bytes of a call with these parts changed."""
    return json_io.dumps({**ENTRY, **changes})


def test_a_call_is_read_as_it_was_made() -> None:
    """What a later version adds is passed over; digests are made of how a score is written: 4 is not 4.0."""
    call = decode(line())
    assert isinstance(call, CallLine)
    assert call.exchange == Exchange(id="s1-1", call=CALL, reply=Reply(text="Because."))
    assert decode(line(more={"deep": [1]}, reply={**ENTRY["reply"], "more": 1})) == decode(line())
    assert decode(b'{"kind":"wished","what":"more"}') == OtherLine(kind="wished")
    for score in (4, 4.0, None):
        content = {**record("a").to_json(), "score": score}
        entry = {"kind": "record", "session": "s", "run": "a-run1", "calls": [], "record": content}
        read = decode(json_io.dumps(entry))
        assert isinstance(read, RecordLine)
        assert repr(read.record.score) == repr(score)


DEEP = '{"x":' * 100_000 + "1" + "}" * 100_000
HOSTILE = {
    "nested deeply": line(parameters="?").replace(b'"?"', DEEP.encode()),
    "nested deeply where nothing is read": line(more="?").replace(b'"?"', DEEP.encode()),
    "a number without end": line(reply={"text": "", "retries": "?"}).replace(b'"?"', b"9" * 10_000),
    "not a number": line(reply={"text": "", "retries": "?"}).replace(b'"?"', b"NaN"),
    "a number beyond all": line(reply={"text": "", "latency": "?"}).replace(b'"?"', b"1e999x"),
    "a name twice": line()[:-2] + b',"run":5}',
    "two kinds": line()[:-2] + b',"kind":"record"}',
    "a kind that is a list": line(kind=["call"]),
    "a list": b'["kind"]',
    "a text": b'"kind"',
    "an invalid byte": line().replace(b"Because", b"Beca\xffse"),
    "nothing": b"",
}


def test_a_hostile_line_is_no_line(subtests: pytest.Subtests) -> None:
    """Nothing is raised, whatever it is made of, or which part is of another kind or missing."""
    for name, data in HOSTILE.items():
        with subtests.test(name):
            assert decode(data) is None
    for name in ENTRY:
        for value in (None, 5, ["?"]):
            assert decode(line(**{name: value})) is None, (name, value)
        assert decode(json.dumps({**ENTRY, name: None}).replace(f'"{name}"', '"?"', 1).encode()) is None
