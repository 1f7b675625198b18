"""What a journal can replay: each kept reply once, to its own run and request, and every final record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from journals import USAGE, ask, begin, every_text, keep, record, rewrite, said, write

from equipoise.journal import Journal, request_hash
from equipoise.records import Outcome, Record
from equipoise.replay import Replay
from equipoise.types import Call, Reply, Role

CALL = ask("Why?", temperature=1.0)
JUDGE = ask("Judge.", role="evaluator", model="e")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the journal of the test is."""
    return tmp_path / "m.neutrality.jsonl"


def take(replay: Replay, call: Call = CALL, run: str = "a-run1") -> str | None:
    """The text of the next kept reply of a run to this call."""
    found = replay.take(run, call.role, request_hash(call))
    return None if found is None else found.reply.text


def plain(found: Record | None) -> Record | None:
    """The record with its transcripts in memory, as two records are compared."""
    return found and replace(found, subject=tuple(found.subject), evaluators=tuple(found.evaluators))


# Calls.


def test_the_nth_same_request_gets_the_nth_reply(path: Path) -> None:
    """Kept replies are given out in the order in which they came, each once."""
    log = begin(path)
    for text in ("one", "two", "three"):
        keep(log, CALL, text)
    replay = Replay(path, {"a-run1"})
    assert [take(replay) for _ in range(5)] == ["one", "two", "three", None, None]


def test_requests_are_counted_each_for_itself(path: Path) -> None:
    """The first of another request is its first, however many there were of this one."""
    log, other = begin(path), ask("Why not?")
    for call, text in ((CALL, "one"), (other, "uno"), (CALL, "two"), (other, "due")):
        keep(log, call, text)
    replay = Replay(path, {"a-run1"})
    found = [take(replay, call) for call in (other, CALL, CALL, other)]
    assert found == ["uno", "one", "two", "due"]


@every_text
def test_a_kept_call_is_equal_to_the_first(path: Path, text: str) -> None:
    """Every part of the call and every field of its reply survive the journal."""
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
    kept = keep(begin(path), call, reply)
    assert Replay(path, {"a-run1"}).take("a-run1", "subject", request_hash(call)) == kept


def test_a_reply_with_nothing_but_text_comes_back_as_such(path: Path) -> None:
    """What a reply lacks it still lacks after the journal."""
    kept = keep(begin(path), CALL, "")
    found = Replay(path, {"a-run1"}).take("a-run1", "subject", request_hash(CALL))
    assert found == kept
    assert found.reply == Reply(text="")


@pytest.mark.parametrize(
    ("run", "role", "digest"),
    [
        ("b-run1", "subject", request_hash(CALL)),
        ("a-run1", "evaluator", request_hash(CALL)),
        ("a-run1", "subject", request_hash(ask("Why not?"))),
    ],
    ids=["another_run", "another_role", "another_request"],
)
def test_a_reply_serves_only_its_own_run_and_request(path: Path, run: str, role: Role, digest: str) -> None:
    """Nothing else is answered from what was kept, and what was kept is still there."""
    keep(begin(path), CALL)
    replay = Replay(path, {"a-run1", "b-run1"})
    assert replay.take(run, role, digest) is None
    assert take(replay) == "Because."


def test_runs_of_other_processes_are_not_replayed(path: Path) -> None:
    """A process knows only what concerns its own runs, calls and records alike."""
    log = begin(path)
    for run in ("a-run1", "b-run1", "c-run1"):
        keep(log, CALL, run, run=run)
    log.append_record(record("c"), [])
    replay = Replay(path, {"b-run1"})
    assert [take(replay, run=run) for run in ("a-run1", "b-run1", "c-run1")] == [None, "b-run1", None]
    assert replay.record("c-run1") is None


def test_calls_behind_a_line_that_was_cut_are_replayed(path: Path) -> None:
    """A paid reply that stands behind half a line is found and read from where it stands."""
    log = begin(path)
    keep(log, CALL, "one")
    with path.open("ab") as file:
        file.write(b'{"kind":"call","run":"a-run1","reply":{"te')
    keep(log, CALL, "two")
    replay = Replay(path, {"a-run1"})
    assert [take(replay) for _ in range(3)] == ["one", "two", None]


def test_what_is_appended_later_is_not_replayed(path: Path) -> None:
    """A replay is of what was there when it was made: a run does not meet its own calls again."""
    log = begin(path)
    keep(log, CALL, "one")
    replay = Replay(path, {"a-run1"})
    keep(log, CALL, "two")
    assert [take(replay), take(replay)] == ["one", None]


def test_an_empty_journal_replays_nothing(path: Path) -> None:
    """There is neither a session nor a call nor a record, and that is no error."""
    Journal(path, "s1").close()
    replay = Replay(path, {"a-run1"})
    assert (replay.nonce, replay.session) == ("", "")
    assert (take(replay), replay.record("a-run1")) == (None, None)


# Records.


@every_text
@pytest.mark.parametrize("outcome", ["scored", "refused", "blocked", "truncated", "empty"])
def test_a_final_record_comes_back_equal(path: Path, outcome: Outcome, text: str) -> None:
    """Every part of a record survives the journal."""
    write(path, record("a", outcome, text=text))
    assert plain(Replay(path, {"a-run1"}).record("a-run1")) == record("a", outcome, text=text)


@pytest.mark.parametrize("outcome", ["unscored", "error"])
def test_a_run_without_a_score_is_run_again(path: Path, outcome: Outcome) -> None:
    """Where there is no score there is no final record."""
    write(path, record("a", outcome))
    assert Replay(path, {"a-run1"}).record("a-run1") is None


def test_a_run_that_is_not_known_has_no_record(path: Path) -> None:
    """Asking for a run that never ended is no error."""
    write(path, record("a"))
    assert Replay(path, {"a-run1", "b-run1"}).record("b-run1") is None


def test_a_record_has_the_conversations_of_its_calls(path: Path) -> None:
    """Subject and evaluator are told apart, and only the calls that led to the record are shown."""
    log = begin(path)
    calls = [keep(log, CALL, "Because."), keep(log, JUDGE, "{}")]
    keep(log, CALL, "of another attempt")
    log.append_record(record("a"), [call.id for call in calls])
    found = Replay(path, {"a-run1"}).record("a-run1")
    assert found is not None
    assert said(found.subject) == [["Why?", "Because."]]
    assert said(found.evaluators) == [["Judge.", "{}"]]
    assert found.evaluators[0].model == "e"


def test_a_record_whose_calls_are_not_there_is_a_record_all_the_same(path: Path) -> None:
    """A call whose line was lost is missing from the conversations; the score is not."""
    log = begin(path)
    known = keep(log, CALL)
    log.append_record(record("a"), ["lost-1", known.id, "lost-2"])
    found = Replay(path, {"a-run1"}).record("a-run1")
    assert found is not None
    assert found.score == 4.0
    assert (said(found.subject), said(found.evaluators)) == ([["Why?", "Because."]], [])


# Which calls a record ends.


def judged(path: Path, *ends: Outcome) -> Replay:
    """The replay of a run that was asked once and judged as often as it ended, in turn."""
    log = begin(path)
    subject = keep(log, CALL)
    for number, outcome in enumerate(ends):
        verdict = keep(log, JUDGE, f"verdict {number}")
        log.append_record(record("a", outcome), [subject.id, verdict.id])
    return Replay(path, {"a-run1"})


@pytest.mark.parametrize("ends", [["unscored"], ["error"], ["unscored", "error", "unscored"]], ids=str)
def test_verdicts_that_led_nowhere_are_not_replayed(path: Path, ends: Sequence[Outcome]) -> None:
    """After a run without a score the subject's reply is kept, and the evaluator is asked anew."""
    replay = judged(path, *ends)
    assert (take(replay, JUDGE), take(replay, CALL)) == (None, "Because.")


def test_verdicts_after_a_run_that_led_nowhere_are_replayed(path: Path) -> None:
    """What a second session paid for before it was interrupted is not asked a third time."""
    log = begin(path)
    keep(log, CALL)
    keep(log, JUDGE, "useless")
    log.append_record(record("a", "unscored"), [])
    keep(begin(path, session="s2"), JUDGE, "of the second session")
    replay = Replay(path, {"a-run1"})
    assert [take(replay, JUDGE), take(replay, JUDGE)] == ["of the second session", None]
    assert take(replay, CALL) == "Because."


def test_a_scored_record_after_an_unscored_one_is_final(path: Path) -> None:
    """The second attempt's score counts, with the verdict that led to it, and nothing is left to replay."""
    replay = judged(path, "unscored", "scored")
    found = replay.record("a-run1")
    assert found is not None
    assert (found.outcome, found.score) == ("scored", 4.0)
    assert said(found.evaluators) == [["Judge.", "verdict 1"]]
    assert (take(replay, CALL), take(replay, JUDGE)) == (None, None)


def test_an_unscored_run_does_not_touch_another(path: Path) -> None:
    """Verdicts of a run that was interrupted stay, whatever became of the others."""
    log = begin(path)
    for run in ("a-run1", "b-run1"):
        keep(log, JUDGE, run, run=run)
    log.append_record(record("a", "unscored"), [])
    replay = Replay(path, {"a-run1", "b-run1"})
    assert [take(replay, JUDGE, run) for run in ("a-run1", "b-run1")] == [None, "b-run1"]


# Sessions.


def test_the_last_session_writes_on(path: Path) -> None:
    """The second of two sessions says under which name lines are written, and with which nonce."""
    write(path, session="s1", nonce="abc")
    assert (Replay(path, set()).nonce, Replay(path, set()).session) == ("abc", "s1")
    write(path, session="s2", nonce="abc")
    assert (Replay(path, set()).nonce, Replay(path, set()).session) == ("abc", "s2")


def test_calls_of_all_sessions_are_replayed(path: Path) -> None:
    """What either of two interrupted sessions paid for is given out, the older first."""
    for session, text in (("s1", "one"), ("s2", "two")):
        log = begin(path, session=session)
        keep(log, CALL, text)
        log.close()
    replay = Replay(path, {"a-run1"})
    assert [take(replay) for _ in range(3)] == ["one", "two", None]


def test_a_long_journal_is_not_held_in_memory(path: Path) -> None:
    """Of a megabyte of replies a replay holds the places only: it reads them when they are wanted."""
    log = begin(path)
    for number in range(100):
        keep(log, CALL, f"{number} {'x' * 10_000}")
    replay = Replay(path, {"a-run1"})
    # The same bytes but for the letters: what is read now was not read before.
    rewrite(path, b"xxxxxxxxxx", b"yyyyyyyyyy")
    assert path.stat().st_size > 1_000_000
    assert take(replay) == f"0 {'y' * 10_000}"
