"""What a journal holds: replayed, added up and put in order, at once or bit by bit, read or heard of."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from journals import (
    SETTINGS,
    TEXTS,
    USAGE,
    ask,
    begin,
    history_of,
    keep,
    record,
    rewrite,
    said,
    write,
)

from equipoise.core.records import Outcome, Record
from equipoise.core.types import Call, Reply
from equipoise.results.history import History
from equipoise.results.journal import Journal, request_hash

CALL = ask("Why?", temperature=1.0)
JUDGE = ask("Judge.", role="evaluator", model="e")
ENDS: dict[str, Any] = {"endpoint": 0, "lowest": 1, "highest": 9, "last": 5, "refused": 0}


def take(history: History, call: Call = CALL, run: str = "a-run1") -> str | None:
    """The text of the next kept reply of a run to this call."""
    exchange = history.take(run, call.role, request_hash(call))
    return None if exchange is None else exchange.reply.text


def plain(entry: Record | None) -> Record | None:
    """The record with its transcripts in memory, as two records are compared."""
    return entry and replace(entry, subject=tuple(entry.subject), evaluators=tuple(entry.evaluators))


# Nothing, or next to it.


def test_a_journal_without_a_whole_line_holds_nothing(path: Path, subtests: pytest.Subtests) -> None:
    """There is nothing planned, nothing done and nothing to replay."""
    for content in (b"", b'{"kind":"session","for', b"\n\n"):
        with subtests.test(content=content):
            path.write_bytes(content)
            history = history_of(path)
            assert (history.is_empty, history.nonce, history.session) == (True, "", "")
            assert (history.records(), history.missing(), history.totals.calls) == ([], [], {})
            assert (take(history), history.record("a-run1")) == (None, None)


def test_lines_of_an_unknown_kind_are_passed_over(path: Path) -> None:
    """A later release may keep more than this one adds up."""
    log = begin(path, ["a-run1"])
    log.append("wished", what="more")
    log.append_record(record("a"), [])
    assert [entry.id for entry in history_of(path).records()] == ["a-run1"]


# Replies.


def test_the_nth_same_request_gets_the_nth_reply(path: Path) -> None:
    """Of all sessions, in the order in which they came, each once, each request for itself."""
    other = ask("Why not?")
    for session, texts in (("s1", ("one", "uno")), ("s2", ("two", "due"))):
        log = begin(path, session=session)
        for call, text in zip((CALL, other), texts, strict=True):
            keep(log, call, text)
        log.close()
    history = history_of(path)
    replies = [take(history, call) for call in (other, CALL, CALL, other, CALL, other)]
    assert replies == ["uno", "one", "two", "due", None, None]


def test_a_kept_call_is_equal_to_the_first(path: Path) -> None:
    """Every part of it and every field of its reply survive the journal; what it lacks, it still lacks."""
    log = begin(path)
    exchanges = [keep(log, CALL, "")]
    assert exchanges[0].reply == Reply(text="")
    for text in TEXTS.values():
        call = ask("Why?", text, "Really?", temperature=0.5, stop=[text])
        reply = Reply(
            text=text,
            reasoning=text or None,
            finish_reason="length",
            usage=USAGE,
            model="m-1",
            fingerprint="fp",
            latency=0.25,
            retries=3,
            blocked="content_filter",
        )
        exchanges.append(keep(log, call, reply))
    history = history_of(path)
    assert [history.take("a-run1", "subject", request_hash(item.call)) for item in exchanges] == exchanges


def test_a_reply_serves_only_its_own_run_role_and_request(path: Path) -> None:
    """Nothing else is answered from what was kept, and what was kept is still there."""
    keep(begin(path), CALL)
    history = history_of(path)
    assert history.take("b-run1", "subject", request_hash(CALL)) is None
    assert history.take("a-run1", "evaluator", request_hash(CALL)) is None
    assert history.take("a-run1", "subject", request_hash(ask("Why not?"))) is None
    assert take(history) == "Because."


def test_what_is_heard_of_is_not_replayed(path: Path) -> None:
    """A run does not meet its own calls again; what is read on is replayed."""
    keep(begin(path), CALL, "one")
    history = history_of(path)
    log = Journal(path, "s1", on_line=history.add)
    keep(log, CALL, "two")
    assert [take(history), take(history)] == ["one", None]
    keep(Journal(path, "s2"), CALL, "three")
    history.refresh()
    assert [take(history), take(history)] == ["three", None]


def test_verdicts_that_led_nowhere_are_not_replayed(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """After a run without a score the subject's reply is kept, and the evaluator is asked again."""
    every: list[list[Outcome]] = [["unscored"], ["error"], ["unscored", "error", "unscored"]]
    for ends in every:
        with subtests.test(ends=ends):
            history = judged(tmp_path / "-".join(ends), *ends)
            assert (take(history, JUDGE), take(history, CALL)) == (None, "Because.")


def judged(path: Path, *ends: Outcome) -> History:
    """The history of a run that was asked once and judged as often as it ended, in turn."""
    log = begin(path, ["a-run1"])
    subject = keep(log, CALL)
    for number, outcome in enumerate(ends):
        verdict = keep(log, JUDGE, f"verdict {number}")
        log.append_record(record("a", outcome), [subject.id, verdict.id])
    return history_of(path)


def test_verdicts_after_a_run_that_led_nowhere_are_replayed(path: Path) -> None:
    """What a second session paid for before it was interrupted is not asked a third time."""
    log = begin(path)
    keep(log, CALL)
    keep(log, JUDGE, "useless")
    log.append_record(record("a", "unscored"), [])
    keep(begin(path, session="s2"), JUDGE, "of the second session")
    history = history_of(path)
    assert [take(history, JUDGE), take(history, JUDGE)] == ["of the second session", None]
    assert take(history, CALL) == "Because."


def test_an_unscored_run_does_not_touch_another(path: Path) -> None:
    """Verdicts of a run that was interrupted stay, whatever became of the others."""
    log = begin(path)
    for run in ("a-run1", "b-run1"):
        keep(log, JUDGE, run, run=run)
    log.append_record(record("a", "unscored"), [])
    history = history_of(path)
    assert [take(history, JUDGE, run) for run in ("a-run1", "b-run1")] == [None, "b-run1"]


# Records.


def test_a_final_record_comes_back_equal(path: Path) -> None:
    """Every part of a record survives the journal, however the run ended and whatever was said."""
    ends: list[Outcome] = ["scored", "refused", "blocked", "truncated", "empty"]
    records = [record(f"{end}-{name}", end, text) for end in ends for name, text in TEXTS.items()]
    write(path, *records)
    history = history_of(path)
    assert [item.id for item in records if plain(history.record(item.id)) != item] == []


def test_a_run_without_a_score_is_run_again(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """It has ended for the session that it ended in; for the next it has not."""
    ends: list[Outcome] = ["unscored", "error"]
    for end in ends:
        with subtests.test(end=end):
            path = tmp_path / end
            write(path, record("a", end), plan=["a-run1"])
            assert history_of(path).has_ended("a-run1")
            write(path, plan=["a-run1"], session="s2")
            history = history_of(path)
            assert (history.has_ended("a-run1"), history.record("a-run1")) == (False, None)
            assert (history.pending(history.planned), history.missing()) == (["a-run1"], [])
            assert [entry.outcome for entry in history.records()] == [end]


def test_a_scored_record_after_an_unscored_one_is_final(path: Path) -> None:
    """The second attempt's score counts, with the verdict that led to it, and nothing is left to replay."""
    history = judged(path, "unscored", "scored", "error")
    (entry,) = history.records()
    assert plain(entry) == plain(history.record("a-run1"))
    assert (entry.outcome, entry.score) == ("scored", 4.0)
    assert said(entry.evaluators) == [["Judge.", "verdict 1"]]
    assert (take(history, CALL), take(history, JUDGE)) == (None, None)


def test_records_stand_in_the_order_of_the_plan(path: Path) -> None:
    """Not in that in which runs ended; what nobody planned is left out, and what is missing is named."""
    write(path, record("c"), record("x"), record("a"), plan=["a-run1", "b-run1", "c-run1", "d-run1"])
    history = history_of(path)
    assert [entry.id for entry in history.records()] == ["a-run1", "c-run1"]
    assert history.missing() == ["b-run1", "d-run1"]


def test_the_runs_of_a_case_share_what_is_known_of_it(path: Path) -> None:
    """A question is held once in memory, however many runs it has."""
    write(path, *(record("a", run=n) for n in (1, 2, 3)), plan=[f"a-run{n}" for n in (1, 2, 3)])
    cases = [entry.case for entry in history_of(path).records()]
    assert cases == [record("a").case] * 3
    assert len({id(case) for case in cases}) == 1


def test_complete_means_that_every_planned_run_has_a_score(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Whatever else is in the journal, and whether or not the session goes on."""
    a, b, b_error = record("a"), record("b"), record("b", "error")
    tried_again = (record("a", "blocked"), record("b", "unscored"), record("b", "refused"))
    every: list[tuple[Sequence[Record], bool, str]] = [
        ([], True, "running"),
        ([], False, "no_scores"),
        ([a], False, "interrupted"),
        ([a, b], False, "complete"),
        ([a, b], True, "complete"),
        ([a, b_error], False, "complete_with_unscored"),
        ([b_error, record("a", "unscored")], False, "no_scores"),
        ([a, b_error], True, "running"),
        (tried_again, False, "complete"),
        ([a, record("x")], False, "interrupted"),
        ([a, b, record("x", "error")], False, "complete"),
    ]
    for number, (ended, is_running, status) in enumerate(every):
        with subtests.test(ended=[(item.id, item.outcome) for item in ended], is_running=is_running):
            write(tmp_path / str(number), *ended, plan=["a-run1", "b-run1"])
            assert history_of(tmp_path / str(number)).status(is_running=is_running) == status


# Transcripts.


def test_transcripts_are_those_of_the_record_by_role_in_its_order(path: Path) -> None:
    """Whoever else asked the same, and whichever came first."""
    log = begin(path, ["a-run1"])
    subject = keep(log, CALL, "Because.")
    first, _, third = (keep(log, JUDGE, text) for text in ("first", "second", "third"))
    log.append_record(record("a"), [third.id, subject.id, first.id])
    (entry,) = history_of(path).records()
    assert said(entry.subject) == [["Why?", "Because."]]
    assert said(entry.evaluators) == [["Judge.", "third"], ["Judge.", "first"]]
    assert entry.evaluators[0].name == "e"


def test_transcripts_are_a_sequence(path: Path) -> None:
    """They can be counted, gone through again, picked and cut as a tuple can."""
    log = begin(path, ["a-run1"])
    log.append_record(record("a"), [keep(log, CALL, text).id for text in "abc"])
    (entry,) = history_of(path).records()
    three = entry.subject
    assert len(three) == 3
    for _ in range(2):
        assert said(three) == [["Why?", text] for text in "abc"]
    assert said([three[0], three[-1]]) == [["Why?", "a"], ["Why?", "c"]]
    assert said(three[1:]) == [["Why?", "b"], ["Why?", "c"]]
    with pytest.raises(IndexError):
        three[3]


def test_what_was_said_is_not_held_in_memory(path: Path) -> None:
    """Replies, records and transcripts are read from the file at the moment they are wanted."""
    log = begin(path, ["a-run1"])
    log.append_record(record("a", text="one"), [keep(log, CALL, "one").id])
    keep(log, CALL, "one", run="b-run1")
    history = history_of(path)
    rewrite(path, b'"text":"one"', b'"text":"two"')
    rewrite(path, b'"note":"one"', b'"note":"two"')
    (entry,) = history.records()
    assert (said(entry.subject), entry.details["note"]) == ([["Why?", "two"]], "two")
    assert take(history, run="b-run1") == "two"
    rewrite(path, b'"text":"two"', b'"text":"six"')
    assert said(entry.subject) == [["Why?", "six"]]


# Two sessions.


def test_two_sessions_add_up_to_one(path: Path) -> None:
    """Plans are joined, the order of the larger first, and a run that both planned is planned once."""
    write(path, record("b"), plan=["a-run1", "b-run1"], session="s1")
    write(path, record("c"), plan=["b-run1", "c-run1"], session="s2", nonce="n1")
    history = history_of(path)
    assert [line.session for line in history.sessions] == ["s1", "s2"]
    assert (history.session, history.nonce) == ("s2", "n1")
    assert list(history.planned) == ["a-run1", "b-run1", "c-run1"]
    assert [entry.id for entry in history.records()] == ["b-run1", "c-run1"]
    assert history.missing() == ["a-run1"]


def test_what_was_selected_is_what_any_session_selected(path: Path) -> None:
    """Expressions are joined, and only what no session has planned is left out."""
    for session, keyword, plan in (("s1", "a", ["a-run1"]), ("s2", "b", ["b-run1"])):
        selection = {"keyword": keyword, "mark": None, "deselected": 2}
        write(path, plan=plan, session=session, selection=selection, settings={**SETTINGS, "runs": len(plan)})
    assert history_of(path).selection == {"keyword": "(a) or (b)", "mark": None, "deselected": 1}


# Bit by bit.


def sums(history: History) -> dict[str, Any]:
    """Everything that is known, as plain data."""
    records = history.records()
    return {
        "sessions": [line.session for line in history.sessions],
        "records": [entry.to_json() for entry in records],
        "said": [said([*entry.subject, *entry.evaluators]) for entry in records],
        "planned": history.planned,
        "unscored": history.unscored,
        "looks": {number: look.is_enough for number, look in history.plans.looks.items()},
        "totals": history.totals,
        "learned": history.learned,
        "limits": history.limits,
        "damaged": history.damaged,
    }


def full(path: Path, history: History | None = None) -> None:
    """A journal with a line of every kind, two sessions and a cut line, which a history may listen to."""
    log = begin(path, ["a-run1", "b-run1"])
    log.close()
    if history is not None:
        history.refresh()
        log = Journal(path, "s1", on_line=history.add)
    else:
        log = Journal(path, "s1")
    subject = keep(log, CALL, Reply(text=TEXTS["scripts"], usage=USAGE, retries=1))
    log.append("failed", run="b-run1", role="subject", model="m", retries=1, message="HTTP 500")
    verdict = keep(log, JUDGE, Reply(text="{}", model="e-1"))
    log.append("learned", role="subject", model="m", parameter="top_k", action="dropped", reason="unknown")
    log.append("limit", event="cut", endpoint=0, before=8, after=4)
    log.append_record(record("a"), [subject.id, verdict.id])
    log.append_record(record("b", "unscored"), [])
    log.append("look", round=1, is_enough=False)
    log.close()


def test_reading_on_after_every_byte_adds_up_to_the_same(path: Path, tmp_path: Path) -> None:
    """A journal that is read while it grows, also in the middle of a line, counts nothing twice or not."""
    full(path)
    with path.open("ab") as file:
        file.write(b'{"kind":"record","run":"b-ru')
    write(path, record("b"), plan=["b-run1"], session="s2")
    content = path.read_bytes()
    growing = tmp_path / "growing.jsonl"
    growing.touch()
    history = History(growing)
    with growing.open("ab", buffering=0) as file:
        for start in range(0, len(content), 7):
            file.write(content[start : start + 7])
            history.refresh()
    history.refresh()
    assert sums(history) == sums(history_of(path))
    assert history.damaged == 1


def test_what_was_heard_adds_up_to_what_is_read(path: Path) -> None:
    """Whoever writes need not read again: nothing is missing, and reading on counts nothing twice."""
    path.touch()
    history = History(path)
    full(path, history)
    read = sums(history_of(path))
    assert sums(history) == read
    history.refresh()
    assert sums(history) == read


def test_a_part_stays_as_it_was(path: Path) -> None:
    """What is heard later changes nothing of it; of some runs only, it has theirs and all that was spent."""
    full(path)
    history = history_of(path)
    whole, part = history.snapshot(), history.snapshot(["b-run1"])
    # A deep copy, as the sums are the history's own dictionaries and lists.
    before, spent = deepcopy(sums(whole)), part.totals.calls.total()
    log = Journal(path, "s2", on_line=history.add)
    log.append_record(record("b"), [keep(log, CALL).id])
    log.append_call("b-run1", CALL, request_hash(CALL), Reply(text="No."), "batched-1")
    log.append("limit", event="end", **ENDS)
    assert (sums(whole), whole.status(is_running=False)) == (before, "complete_with_unscored")
    assert history.status(is_running=False) == "complete"
    assert [entry.outcome for entry in part.records()] == ["unscored"]
    assert (part.totals.calls.total(), history.totals.calls.total()) == (spent, spent + 2)
