"""Arbitrary journals, whatever has damaged them: what is whole in them, or a UserError, nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from builders import RUBRIC, SUITE, audit, check
from click.testing import CliRunner
from fuzzing import any_json, modest, mutated, places, thorough, user_errors
from hypothesis import given
from hypothesis import strategies as st
from journals import SETTINGS, STARTED, USAGE, ask, begin, keep, record, sealed

import schemas
from equipoise.cli import main
from equipoise.core import json_io
from equipoise.core.records import Outcome
from equipoise.core.types import JSON, Reply
from equipoise.results import audits, history, journal, store
from equipoise.results.history import History
from equipoise.results.journal import Journal
from equipoise.results.store import Files
from equipoise.runner import estimate, resume


@pytest.fixture(autouse=True, scope="module")
def results_of_damaged_journals() -> Iterator[None]:
    """They are written as they come, and need not follow the schema."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(store, "write_json", schemas.unchecked)
        yield


AUDIT = ("audit", "anchor", "kept_audit")
VERDICT = {"reasoning": "Because.", "refused": False, "score": 3}


@pytest.fixture(scope="module")
def real_journal(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What two sessions leave, with every kind of line: the same bytes at all times."""
    path = tmp_path_factory.mktemp("real") / f"m.{SUITE}.jsonl"
    runs = ("a-run1", "b-run1", "c-run1", "a-run2", "d-run1")
    settings = {**SETTINGS, "rubric_hash": RUBRIC.hash}
    for session in ("s1", "s2"):
        log = begin(path, runs, session=session, suite=SUITE, settings=settings)
        _append_all(log, runs[:3] if session == "s1" else runs[2:4])
        log.close()
    content = path.read_bytes()
    kinds = {json.loads(line)["kind"] for line in content.splitlines()}
    assert kinds == {"session", "call", "failed", "learned", "limit", "record", *AUDIT}
    return content


def _append_all(log: Journal, runs: Sequence[str]) -> None:
    """Whatever can happen in a session: some runs end well, the last one without a score."""
    log.append("learned", role="subject", model="m", parameter="top_p", action="dropped", reason="No.")
    whole = Reply(
        text="Because.", reasoning="Hm.", finish_reason="stop", usage=USAGE, model="m-1", latency=0.5
    )
    cut = {"second": 0.5, "status": 429, "pause": 1.0, "before": 8, "after": 4, "sustained": 7}
    log.append("limit", event="cut", endpoint=0, **cut)
    for run in runs:
        call = ask("Why?", temperature=1.0, top_p=0.5)
        judged = ask("Judge.", role="evaluator", model="e", response_format={"type": "json_object"})
        calls = [keep(log, call, whole, run=run).id, keep(log, judged, json.dumps(VERDICT), run=run).id]
        outcome: Outcome = "unscored" if run == runs[-1] else "scored"
        log.append_record(record(run.split("-")[0], outcome, run=int(run[-1])), calls)
    _append_audit(log)
    log.append("failed", run="d-run1", role="subject", model="m", retries=3, message="HTTP 503: Busy.")
    ended = {"lowest": 4, "highest": 8, "last": 6, "refused": 1}
    log.append("limit", event="end", endpoint=0, **ended)


def _append_audit(log: Journal) -> None:
    """A verdict on an anchor of two, and what is kept of an audit like it."""
    log.append("audit", extent="quick", anchors_hash="a0", order=[["good", "bad"]], anchors={"aa-q1-good": 1})
    judged = ask("Judge.", "{}", "Again.", role="evaluator", model="e")
    row = {"topic": "q1", "language": "aa", "kind": "good", "repeat": 0, "low": 75.0, "high": 100.0}
    content = {"at": STARTED, "judged": [{**row, "score": 75.0, "host": None}], "seen": [["m-1", None, None]]}
    name = audits.verdict_name("e", "aa-q1-good", 0)
    calls = [keep(log, judged, json.dumps(VERDICT), run=name).id]
    log.append("anchor", run=name, evaluator="e", calls=calls, **content)
    about = {"topic": "q1", "language": "aa", "kind": "good", "host": None, "aspect": "score"}
    log.append("kept_audit", evaluator="e", audit=audit(check(), judged=[{**about, "scores": [75.0]}]))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the journal of an example is."""
    return tmp_path_factory.mktemp("journal") / f"m.{SUITE}.jsonl"


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """A journal with lines cut, flipped, glued, swapped, repeated, lost, or of other content."""
    lines = whole.splitlines(keepends=True)
    for _ in range(draw(st.integers(1, 4))):
        index = draw(st.integers(0, len(lines) - 1))
        other = draw(st.integers(0, len(lines) - 1))
        lines[index : index + 1] = draw(_damage(lines[index], lines[other]))
        lines = lines or [b"\n"]
    # With the right checksums, what lines say is all that can be wrong with them.
    content = sealed(lines) if draw(st.booleans()) else b"".join(lines)
    return content[: draw(st.none() | st.integers(0, 4 * len(whole)))]


@st.composite
def _damage(draw: st.DrawFn, line: bytes, other: bytes) -> list[bytes]:
    """What becomes of a line."""
    at = draw(st.integers(0, len(line)))
    match draw(
        st.sampled_from(("cut", "flip", "glue", "swap", "repeat", "lose", "insert", "change", "change"))
    ):
        case "cut":
            return [line[:at] + b"\n"]
        case "flip":
            flipped = bytes(byte ^ (1 << at % 8) for byte in line[at : at + 1])
            return [line[:at] + flipped + line[at + 1 :]]
        case "glue":
            return [line[:at] + other]
        case "swap":
            return [other]
        case "repeat":
            return [line, line]
        case "insert":
            return [line, draw(st.binary(max_size=30)) + b"\n"]
        case "change":
            with suppress(ValueError):
                changed = draw(mutated(json.loads(line)))
                return [json_io.dumps(changed)]
    return []


def journal_bytes(real: bytes) -> st.SearchStrategy[bytes]:
    """The content of a journal, more or less."""
    loose_line = st.fixed_dictionaries(
        {"kind": st.sampled_from(("session", "call", "failed", "learned", "limit", "record"))},
        optional=dict.fromkeys(("run", "session", "format", "plan", "reply", "record", "id"), any_json),
    ).map(json_io.dumps)
    pieces = (b'{"kind":"', b"call", b'"}', b"\n", b"{}", b"\x00", b'{"kind":"}\n', b'{"kind":1}\n', b"\xff")
    garbage = st.lists(st.sampled_from(pieces) | st.binary(max_size=9), max_size=9).map(b"".join)
    return st.one_of(damaged(real), damaged(real), st.lists(loose_line, max_size=4).map(b"".join), garbage)


@modest
@given(data=st.data())
def test_a_damaged_journal_can_be_read(data: st.DataObject, path: Path, real_journal: bytes) -> None:
    """Whole, from any line on, by kinds, line by line and counted: each says the same."""
    path.write_bytes(data.draw(journal_bytes(real_journal)))
    lines, reader = list(journal.read(path)), journal.Reader(path)
    for index, line in enumerate(lines):
        assert reader.read(line.start, type(line.entry)) == line.entry
        assert list(journal.read(path, line.end)) == lines[index + 1 :]
    assert len(list(journal.scan(path))) >= len(lines)


@modest
@given(data=st.data())
def test_a_damaged_journal_can_be_looked_back_on(
    data: st.DataObject, path: Path, real_journal: bytes
) -> None:
    """A session goes on from whole records and whole calls alone, or the user is told that it cannot."""
    path.write_bytes(data.draw(journal_bytes(real_journal)))
    with user_errors():
        past = history.load(path)
        for call in calls_of(real_journal):
            ended = past.record(call["run"])
            assert (ended is not None) == past.has_ended(call["run"])
            taken = past.take(call["run"], call["role"], call["request"])
            assert taken is None or isinstance(taken.reply.text, str)
        resume.require_resumable(
            past, {"runs": 1}, Files(results=path.with_suffix(".json"), journal=path), {}
        )
        assert set(past.pending(past.planned)) <= past.planned.keys()
    estimate.samples([path], SUITE)


def calls_of(content: bytes) -> list[dict[str, Any]]:
    """The lines of calls in an undamaged journal."""
    lines = map(json.loads, content.splitlines())
    return [line for line in lines if line["kind"] == "call"]


@pytest.mark.slow
@modest
@given(data=st.data())
def test_a_damaged_journal_can_be_added_up(data: st.DataObject, path: Path, real_journal: bytes) -> None:
    """In one go or in two, the sums are the same."""
    content = data.draw(journal_bytes(real_journal))
    path.write_bytes(content)
    with user_errors():
        whole, parts = History(path), History(path)
        whole.refresh()
        path.write_bytes(content[: content.rfind(b"\n", 0, len(content) // 2) + 1])
        parts.refresh()
        path.write_bytes(content)
        parts.refresh()
        assert (parts.planned, parts.totals, parts.damaged) == (whole.planned, whole.totals, whole.damaged)
        assert [item.to_json() for item in parts.records()] == [item.to_json() for item in whole.records()]
        assert whole.status(is_running=False) in ("interrupted", "complete")


def recover(path: Path) -> None:
    """Make results of a journal by the command: exit 0 and a file that can be read, or exit 4 and a line."""
    path.with_suffix(".json").unlink(missing_ok=True)
    done = CliRunner().invoke(main, ["show", str(path)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in (0, 4)
    if done.exit_code == 0:
        results = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        assert {"metadata", "summary", "results", "errors"} <= set(results)
    else:
        assert done.stderr.startswith("ERROR: ")
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
@thorough
@given(data=st.data())
def test_a_damaged_journal_can_be_recovered(data: st.DataObject, path: Path, real_journal: bytes) -> None:
    """Whatever is damaged, there are results or a reason."""
    path.write_bytes(data.draw(journal_bytes(real_journal)))
    recover(path)


LEFT_OUT = "left out"


def variants(line: JSON) -> Iterator[JSON]:
    """The line with each of its parts, however deep, left out or of another kind."""
    for number, _ in enumerate(places([line])):
        for other in (LEFT_OUT, None, -1, "?", [], {}, ["?"], {"?": 1}):
            copy = [json.loads(json.dumps(line))]
            container, key = list(places(copy))[number]
            if other != LEFT_OUT:
                container[key] = other
                yield copy[0]
            elif container is not copy:
                del container[key]
                yield copy[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["session", "call", "failed", "learned", "limit", "record", *AUDIT])
def test_a_line_may_lack_or_mistake_any_of_its_parts(kind: str, path: Path, real_journal: bytes) -> None:
    """Such a line is not as it was written: it is passed over, and nobody who reads is surprised."""
    lines = [json.loads(line) for line in real_journal.splitlines()]
    if kind == "kept_audit":
        # It is shown only where the journal has no audit of its own.
        lines = [line for line in lines if line["kind"] != "audit"]
    for index in [n for n, line in enumerate(lines) if line["kind"] == kind][:2]:
        for variant in variants(lines[index]):
            changed = [*lines[:index], variant, *lines[index + 1 :]]
            path.write_bytes(sealed(map(json_io.dumps, changed)))
            try:
                with user_errors():
                    loaded = history.load(path)
                    for run in lines[0]["plan"]:
                        loaded.record(run)
                estimate.samples([path], SUITE)
                recover(path)
            except Exception as error:
                error.add_note(f"with this line: {json.dumps(variant)}")
                raise
