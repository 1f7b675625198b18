"""A journal added up: what was planned, asked, spent and scored, read at once or bit by bit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from journals import USAGE, ask, begin, keep, record, rewrite, said, write

from equipoise.budget import prompt_tokens
from equipoise.journal import Journal
from equipoise.ledger import Ledger
from equipoise.records import Outcome
from equipoise.types import Reply, Usage

CALL = ask("Why?")
JUDGE = ask("Judge.", role="evaluator", model="e")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the journal of the test is."""
    return tmp_path / "m.neutrality.jsonl"


def ledger_of(path: Path) -> Ledger:
    """The whole journal, added up."""
    ledger = Ledger(path)
    ledger.read_on()
    return ledger


def sums(ledger: Ledger) -> dict[str, Any]:
    """Everything that was added up, as plain data."""
    return {
        "sessions": [entry["session"] for entry in ledger.sessions],
        "records": {run: found.to_json() for run, found in ledger.records.items()},
        "said": {run: said([*found.subject, *found.evaluators]) for run, found in ledger.records.items()},
        "planned": ledger.planned,
        "calls": dict(ledger.calls),
        "failed": ledger.failed,
        "retries": ledger.retries,
        "tokens": {key: dict(found) for key, found in ledger.tokens.items()},
        "seen": dict(ledger.seen),
        "learned": ledger.learned,
        "limits": ledger.limits,
        "estimated": dict(ledger.estimated),
    }


# Nothing, or next to it.


@pytest.mark.parametrize("content", [b"", b'{"kind":"session","for', b"\n\n"], ids=["empty", "cut", "blank"])
def test_a_journal_without_a_whole_line_adds_up_to_nothing(path: Path, content: bytes) -> None:
    """There is nothing planned and nothing done, and nothing of it counts as read."""
    path.write_bytes(content)
    ledger = ledger_of(path)
    assert (ledger.sessions, ledger.in_order(), ledger.missing()) == ([], [], [])
    assert (ledger.calls.total(), ledger.failed, ledger.position) == (0, 0, 0)


def test_lines_of_an_unknown_kind_are_passed_over(path: Path) -> None:
    """A later release may keep more than this one adds up."""
    log = begin(path, ["a-run1"])
    log.append("wished", what="more")
    log.append_record(record("a"), [])
    assert list(ledger_of(path).records) == ["a-run1"]


# Records.


def test_records_stand_in_the_order_of_the_plan(path: Path) -> None:
    """Not in that in which runs ended; what nobody planned is left out, and what is missing is named."""
    write(path, record("c"), record("x"), record("a"), plan=["a-run1", "b-run1", "c-run1", "d-run1"])
    ledger = ledger_of(path)
    assert [found.id for found in ledger.in_order()] == ["a-run1", "c-run1"]
    assert ledger.missing() == ["b-run1", "d-run1"]


def test_a_later_record_takes_the_place_of_an_earlier_one(path: Path) -> None:
    """A run that was unscored and is then scored counts as scored, with what was said the second time."""
    log = begin(path, ["a-run1"])
    log.append_record(record("a", "unscored"), [keep(log, JUDGE, "No verdict.").id])
    log.append_record(record("a"), [keep(log, JUDGE, "{}").id])
    (found,) = ledger_of(path).in_order()
    assert (found.outcome, found.score) == ("scored", 4.0)
    assert said(found.evaluators) == [["Judge.", "{}"]]


def test_records_have_their_conversations(path: Path) -> None:
    """What was said in a run is that of its own calls, whoever else asked the same."""
    log = begin(path, ["a-run1", "b-run1"])
    for case, text in (("a", "one"), ("b", "two")):
        run = f"{case}-run1"
        calls = [keep(log, CALL, text, run=run), keep(log, JUDGE, f"judged {text}", run=run)]
        log.append_record(record(case), [call.id for call in calls])
    found = ledger_of(path).in_order()
    assert [said(item.subject) for item in found] == [[["Why?", "one"]], [["Why?", "two"]]]
    assert [said(item.evaluators) for item in found] == [[["Judge.", f"judged {n}"]] for n in ("one", "two")]


def test_a_record_whose_calls_are_not_there_counts(path: Path) -> None:
    """Lost lines cost what was said, not the score."""
    log = begin(path, ["a-run1"])
    log.append_record(record("a"), ["lost-1", "lost-2"])
    ledger = ledger_of(path)
    (found,) = ledger.in_order()
    assert (found.score, list(found.subject), list(found.evaluators)) == (4.0, [], [])
    assert ledger.status(is_running=False) == "complete"


def test_the_runs_of_a_case_share_what_is_known_of_it(path: Path) -> None:
    """A question is held once in memory, however many runs it has."""
    write(path, *(record("a", run=n) for n in (1, 2, 3)), plan=[f"a-run{n}" for n in (1, 2, 3)])
    cases = [found.case for found in ledger_of(path).in_order()]
    assert cases == [record("a").case] * 3
    assert len({id(case) for case in cases}) == 1


@pytest.mark.parametrize(
    ("ends", "is_running", "status"),
    [
        ([], True, "running"),
        ([], False, "interrupted"),
        ([("a", "scored")], False, "interrupted"),
        ([("a", "scored"), ("b", "scored")], False, "complete"),
        ([("a", "scored"), ("b", "scored")], True, "complete"),
        ([("a", "scored"), ("b", "error")], False, "interrupted"),
        ([("a", "scored"), ("b", "unscored")], True, "running"),
        ([("a", "blocked"), ("b", "unscored"), ("b", "refused")], False, "complete"),
        ([("a", "scored"), ("x", "scored")], False, "interrupted"),
        ([("a", "scored"), ("b", "scored"), ("x", "error")], False, "complete"),
    ],
    ids=str,
)
def test_complete_means_that_every_planned_run_has_a_score(
    path: Path, ends: Sequence[tuple[str, Outcome]], is_running: bool, status: str
) -> None:
    """Whatever else is in the journal, and whether or not the session goes on."""
    write(path, *(record(*end) for end in ends), plan=["a-run1", "b-run1"])
    assert ledger_of(path).status(is_running=is_running) == status


# Calls.


def test_calls_are_counted_by_the_session_that_made_them(path: Path) -> None:
    """What an earlier session has paid for is told from what this one has."""
    first = begin(path, session="s1")
    for _ in range(3):
        keep(first, CALL)
    keep(begin(path, session="s2"), CALL)
    assert ledger_of(path).calls == {"s1": 3, "s2": 1}


def test_failed_calls_and_retries_are_counted(path: Path) -> None:
    """A call without a reply is counted as failed; how often all were repeated is summed."""
    log = begin(path)
    for retries in (0, 2, 3):
        keep(log, CALL, Reply(text="", retries=retries))
    for _ in range(2):
        log.append("failed", run="a-run1", role="subject", model="m", retries=4, message="HTTP 500")
    ledger = ledger_of(path)
    assert (ledger.calls.total(), ledger.failed, ledger.retries) == (3, 2, 13)


def test_tokens_are_summed_by_role_and_model(path: Path) -> None:
    """All four kinds; a model that is subject and evaluator has two sums."""
    log = begin(path)
    for call in (CALL, CALL, ask("Judge.", role="evaluator"), JUDGE):
        keep(log, call, Reply(text="", usage=USAGE))
    one = USAGE.to_json()
    assert ledger_of(path).tokens == {
        ("subject", "m"): {kind: 2 * n for kind, n in one.items()},
        ("evaluator", "m"): one,
        ("evaluator", "e"): one,
    }


def test_tokens_that_no_endpoint_has_counted_are_estimated(path: Path) -> None:
    """They are in the sums, and it is told how many calls they are of; a rejected prompt has none."""
    log = begin(path)
    for call, reply in (
        (CALL, Reply(text="x" * 30)),
        (CALL, Reply(text="x" * 30, usage=USAGE)),
        (CALL, Reply(text="", blocked="content_filter")),
        (JUDGE, Reply(text="x" * 60)),
        (JUDGE, Reply(text="x" * 30, reasoning="y" * 30)),
    ):
        keep(log, call, reply)
    ledger = ledger_of(path)
    assert {role: n for role, n in ledger.estimated.items() if n} == {"subject": 1, "evaluator": 2}
    subject, evaluator = ledger.tokens["subject", "m"], ledger.tokens["evaluator", "e"]
    assert (subject["input"], subject["output"]) == (USAGE.input + prompt_tokens(CALL), USAGE.output + 10)
    assert (evaluator["input"], evaluator["output"]) == (2 * prompt_tokens(JUDGE), 40)


def test_a_count_that_cannot_be_right_is_not_believed_in_any_journal(path: Path) -> None:
    """Journals of earlier versions have zeros where an endpoint's count could not be read."""
    log = begin(path)
    for usage in (Usage(), Usage(input=100), Usage(output=20)):
        keep(log, CALL, Reply(text="x" * 30, usage=usage))
    ledger = ledger_of(path)
    assert ledger.estimated["subject"] == 3
    assert ledger.tokens["subject", "m"]["input"] == 3 * prompt_tokens(CALL)
    assert ledger.tokens["subject", "m"]["output"] == 30


def test_what_endpoints_say_of_themselves_is_counted(path: Path) -> None:
    """Calls by role, model, and the model, fingerprint and provider that the endpoint named."""
    log = begin(path)
    for model, fingerprint, provider in (
        ("m-1", "f1", "p1"),
        ("m-1", "f1", "p1"),
        ("m-1", "f2", "p1"),
        ("m-1", "f2", "p2"),
        (None, None, None),
    ):
        keep(log, CALL, Reply(text="", model=model, fingerprint=fingerprint, provider=provider))
    assert ledger_of(path).seen == {
        ("subject", "m", "m-1", "f1", "p1"): 2,
        ("subject", "m", "m-1", "f2", "p1"): 1,
        ("subject", "m", "m-1", "f2", "p2"): 1,
        ("subject", "m", None, None, None): 1,
    }


def test_what_several_processes_learned_is_kept_once(path: Path) -> None:
    """Each step with a parameter of a model in a role, as the first process put it."""
    log = begin(path)
    for role, parameter, reason in (
        ("subject", "top_k", "a"),
        ("subject", "top_k", "b"),
        ("evaluator", "top_k", "c"),
    ):
        log.append("learned", role=role, model="m", parameter=parameter, action="dropped", reason=reason)
    assert [entry["reason"] for entry in ledger_of(path).learned.values()] == ["a", "c"]


def test_limits_are_kept_in_order(path: Path) -> None:
    """Every time that an endpoint refused calls is there, as it was written."""
    log = begin(path)
    for before, after in ((8, 4), (4, 2)):
        log.append("limit", event="cut", before=before, after=after)
    assert [(entry["before"], entry["after"]) for entry in ledger_of(path).limits] == [(8, 4), (4, 2)]


# Two sessions.


def test_two_sessions_add_up_to_one(path: Path) -> None:
    """Plans are joined, the order of the first first, and a run that both planned is planned once."""
    write(path, record("b"), plan=["a-run1", "b-run1"], session="s1")
    write(path, record("c"), plan=["b-run1", "c-run1"], session="s2")
    ledger = ledger_of(path)
    assert [entry["session"] for entry in ledger.sessions] == ["s1", "s2"]
    assert list(ledger.planned) == ["a-run1", "b-run1", "c-run1"]
    assert [found.id for found in ledger.in_order()] == ["b-run1", "c-run1"]
    assert ledger.missing() == ["a-run1"]


def test_a_second_session_completes_what_a_first_one_began(path: Path) -> None:
    """Calls of both are in the records that the second wrote."""
    first = begin(path, ["a-run1"], session="s1")
    subject = keep(first, CALL, "Because.")
    first.close()
    second = begin(path, ["a-run1"], session="s2")
    verdict = keep(second, JUDGE, "{}")
    second.append_record(record("a"), [subject.id, verdict.id])
    ledger = ledger_of(path)
    (found,) = ledger.in_order()
    assert (said(found.subject), said(found.evaluators)) == ([["Why?", "Because."]], [["Judge.", "{}"]])
    assert ledger.calls == {"s1": 1, "s2": 1}
    assert ledger.status(is_running=False) == "complete"


# Bit by bit.


def full(path: Path) -> None:
    """A journal with a line of every kind, two sessions, a cut line and one that stands behind it."""
    log = begin(path, ["a-run1", "b-run1"])
    subject = keep(log, CALL, Reply(text="香港", usage=USAGE, retries=1))
    log.append("failed", run="b-run1", role="subject", model="m", retries=1, message="HTTP 500")
    with path.open("ab") as file:
        file.write(b'{"kind":"record","run":"b-ru')
    verdict = keep(log, JUDGE, Reply(text="{}", model="e-1"))
    log.append("learned", role="subject", model="m", parameter="top_k", action="dropped", reason="unknown")
    log.append("limit", event="cut", before=8, after=4)
    log.append_record(record("a"), [subject.id, verdict.id])
    write(path, record("b", "unscored"), record("b"), plan=["b-run1"], session="s2")


def test_reading_on_after_every_byte_adds_up_to_the_same(path: Path, tmp_path: Path) -> None:
    """A journal that is read while it grows, also in the middle of a line, counts nothing twice or not."""
    full(path)
    content = path.read_bytes()
    growing = tmp_path / "growing.jsonl"
    growing.touch()
    ledger = Ledger(growing)
    with growing.open("ab", buffering=0) as file:
        for start in range(0, len(content), 7):
            file.write(content[start : start + 7])
            ledger.read_on()
    assert sums(ledger) == sums(ledger_of(path))
    assert content[ledger.position :].strip() == b""


def test_reading_on_where_nothing_was_added_changes_nothing(path: Path) -> None:
    """One may look as often as one likes."""
    full(path)
    ledger = ledger_of(path)
    before = sums(ledger)
    ledger.read_on()
    ledger.read_on()
    assert sums(ledger) == before
    assert before["failed"] == 1


def test_what_was_said_is_not_held_in_memory(path: Path) -> None:
    """Transcripts are read from the file at the moment they are wanted."""
    log = begin(path, ["a-run1"])
    log.append_record(record("a"), [keep(log, CALL, "one").id])
    ledger = ledger_of(path)
    rewrite(path, b'"text":"one"', b'"text":"two"')
    assert said(ledger.in_order()[0].subject) == [["Why?", "two"]]


def test_two_ledgers_share_nothing(tmp_path: Path) -> None:
    """What one journal adds up to is not found in another's sums."""
    for name in ("one", "two"):
        write(tmp_path / name, record(name), plan=[f"{name}-run1"])
    ledgers = [ledger_of(tmp_path / name) for name in ("one", "two")]
    assert [list(ledger.records) for ledger in ledgers] == [["one-run1"], ["two-run1"]]
    assert not Journal(tmp_path / "three", "s1").path.read_bytes()
    assert sums(ledger_of(tmp_path / "three"))["records"] == {}
