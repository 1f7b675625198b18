"""Calls of a journal, read again when they are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from journals import TEXTS, USAGE, ask, begin, keep, record, rewrite, said

from equipoise.journal import Journal, read, request_hash
from equipoise.kept import Calls, KeptTranscripts, exchange
from equipoise.records import Record
from equipoise.types import Exchange, Reply, Transcript

CALL = ask("Why?", temperature=1.0)
JUDGE = ask("Judge.", role="evaluator", model="e")


@pytest.fixture
def log(tmp_path: Path) -> Journal:
    """The journal of a session that has begun."""
    return begin(tmp_path / "m.neutrality.jsonl")


def calls_of(path: Path) -> Calls:
    """Where all calls of a journal stand."""
    calls = Calls(path)
    for line in read(path, kinds=("call",)):
        calls.add(line)
    return calls


def recorded(log: Journal, *calls: Exchange) -> Record:
    """The record that names these calls, as it is read back."""
    log.append_record(record("a"), [call.id for call in calls])
    (line,) = read(log.path, kinds=("record",))
    return calls_of(log.path).record(line.entry)


# Calls.


def test_a_call_is_read_by_its_id(log: Journal) -> None:
    """Each id gives its own call, whatever the order in which they are asked for."""
    kept = [keep(log, ask(text), text) for text in TEXTS.values()]
    calls = calls_of(log.path)
    assert [calls.exchange(item.id) for item in reversed(kept)] == kept[::-1]


def test_a_line_becomes_the_call_that_it_was_made_of(log: Journal) -> None:
    """Role, model, messages, parameters and every field of the reply come back."""
    reply = Reply(text="Because.", reasoning="Hm.", usage=USAGE, model="m-1", latency=1.5, retries=2)
    kept = keep(log, ask("a", "b", "c", role="evaluator", model="e", top_p=0.5, stop=["x"]), reply)
    (line,) = read(log.path, kinds=("call",))
    assert exchange(line.entry) == kept
    assert isinstance(exchange(line.entry).call.messages, tuple)


def test_a_call_behind_a_line_that_was_cut_is_read(log: Journal) -> None:
    """The place of a call is where it begins, not where its line does."""
    with log.path.open("ab") as file:
        file.write(b'{"kind":"call","id":"lost","mess')
    kept = keep(log, CALL)
    assert calls_of(log.path).exchange(kept.id) == kept


# Records.


def test_a_record_has_what_its_line_says(log: Journal) -> None:
    """Everything but the transcripts stands in the line."""
    found = recorded(log)
    assert found.to_json() == record("a").to_json()
    assert (list(found.subject), list(found.evaluators)) == ([], [])


def test_transcripts_are_told_apart_by_role(log: Journal) -> None:
    """What the subject said and what evaluators said are two lists, each in the order of the calls."""
    found = recorded(
        log,
        keep(log, CALL, "Because."),
        keep(log, JUDGE, "No verdict."),
        keep(log, JUDGE, "{}"),
    )
    assert said(found.subject) == [["Why?", "Because."]]
    assert said(found.evaluators) == [["Judge.", "No verdict."], ["Judge.", "{}"]]


def test_transcripts_are_in_the_order_of_the_record(log: Journal) -> None:
    """The record says in which order its calls are shown, not the file."""
    first, second = keep(log, JUDGE, "first"), keep(log, JUDGE, "second")
    assert said(recorded(log, second, first).evaluators) == [["Judge.", "second"], ["Judge.", "first"]]


def test_a_conversation_of_several_turns_is_one_transcript(log: Journal) -> None:
    """The turns are put together, and every reply keeps its particulars."""
    turns = [
        keep(log, ask("a"), Reply(text="b", reasoning="first", usage=USAGE)),
        keep(log, ask("a", "b", "c"), Reply(text="d", reasoning="second")),
    ]
    (found,) = recorded(log, *turns).subject
    assert said([found]) == [["a", "b", "c", "d"]]
    assert [message.get("reasoning") for message in found.messages] == [None, "first", None, "second"]
    assert found.messages[1]["usage"] == USAGE.to_json()


@pytest.mark.parametrize("calls", [["lost-1"], ["lost-1", "lost-2"]], ids=["one", "two"])
def test_calls_that_are_not_there_are_left_out(log: Journal, calls: Sequence[str]) -> None:
    """A record whose calls were lost with their lines is read, without what they said."""
    known = keep(log, CALL)
    log.append_record(record("a"), [*calls, known.id])
    (line,) = read(log.path, kinds=("record",))
    found = calls_of(log.path).record(line.entry)
    assert said(found.subject) == [["Why?", "Because."]]
    assert len(found.evaluators) == 0


# Reading again.


@pytest.fixture
def three(log: Journal) -> Sequence[Transcript]:
    """The transcripts of three separate calls, that say a, b and c."""
    return recorded(log, *(keep(log, CALL, text) for text in "abc")).subject


def last_words(found: Sequence[Transcript]) -> str:
    """What was said last in each."""
    return "".join(item.messages[-1]["content"] for item in found)


def test_transcripts_are_a_sequence(three: Sequence[Transcript]) -> None:
    """They can be counted, gone through, picked, cut and searched as a tuple can."""
    assert isinstance(three, KeptTranscripts)
    assert len(three) == 3
    assert last_words(three) == last_words(three) == "abc"
    assert last_words([three[0], three[-1]]) == "ac"
    assert last_words(three[1:]) == "bc"
    assert last_words(list(reversed(three))) == "cba"
    assert three[1] in three
    assert three.index(three[2]) == 2
    with pytest.raises(IndexError):
        three[3]


def test_transcripts_are_true_where_there_are_any(log: Journal, three: Sequence[Transcript]) -> None:
    """Whoever asks whether anything was said is answered as by a tuple."""
    assert three
    assert not KeptTranscripts(calls_of(log.path), [], "subject")


def test_transcripts_are_read_whenever_they_are_looked_at(log: Journal, three: Sequence[Transcript]) -> None:
    """Nothing is held in memory: what stands in the file at that moment is what is seen."""
    assert last_words(three) == "abc"
    rewrite(log.path, b'{"text":"b"', b'{"text":"B"')
    assert last_words(three) == "aBc"


def test_transcripts_of_a_file_that_is_gone_say_so(log: Journal, three: Sequence[Transcript]) -> None:
    """A journal that was taken away is an error and no empty conversation."""
    log.path.unlink()
    with pytest.raises(FileNotFoundError):
        list(three)


def test_a_call_may_be_asked_for_while_others_are_added(log: Journal) -> None:
    """Places that are known stay right as the journal grows."""
    calls, kept = Calls(log.path), []
    position = 0
    for text in "abc":
        kept.append(keep(log, ask(text), text))
        for line in read(log.path, position):
            position = line.end
            if line.entry["kind"] == "call":
                calls.add(line)
        assert [calls.exchange(item.id) for item in kept] == kept


def test_parameters_and_messages_are_what_was_hashed(log: Journal) -> None:
    """A call that was read back is the same request as before."""
    call = ask("a", "b", "c", temperature=1.0, response_format={"type": "json_schema"})
    kept = keep(log, call)
    (line,) = read(log.path, kinds=("call",))
    found = calls_of(log.path).exchange(kept.id)
    assert request_hash(found.call) == line.entry["request"] == request_hash(call)
