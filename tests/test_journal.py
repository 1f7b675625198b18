"""The journal, what it can replay, and how a session begins on what it finds."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from equipoise import journal
from equipoise.errors import UserError
from equipoise.journal import Journal, Replay, code, end_last_line, read, request_hash
from equipoise.resume import Past, begin, look_back
from equipoise.storage import Files
from equipoise.types import Call, Message, Outcome, Record, Reply, Transcript, Usage, Verdict

TEXTS = {
    "plain": "Because.",
    "scripts": "香港 é 😀 ع",
    "lone-surrogate": "cut \ud83d here",
    "line-separators": "a\u2028b\u2029c\x85d\x0be",
    "control": 'a\r\n\tb\0c"d\\e',
    "escape-like": "\\ud83d \\n {}",
    "empty": "",
}
every_text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())

CALL = Call(
    role="subject",
    model="m",
    messages=(Message(role="user", content="Why?"),),
    parameters={"temperature": 1.0, "top_p": 0.5},
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the journal of the test is."""
    return tmp_path / "m.neutrality.jsonl"


def record(case: str, outcome: Outcome = "scored", text: str = "Because.") -> Record:
    """How the first run of a case ended; all but two ends have a score."""
    is_scored = outcome not in ("error", "unscored")
    said = (Message(role="user", content="Why?"), Message(role="assistant", content=text))
    return Record(
        case={"id": case, "language": "aa", "area": "x"},
        run=1,
        outcome=outcome,
        score=4.0 if is_scored else None,
        percent=75.0 if is_scored else None,
        error=None if is_scored else text,
        verdicts=(Verdict(evaluator="e", fields=None, attempts=2, error="no", raw=text),),
        details={"note": text},
        subject=(Transcript(model="m", parameters={"temperature": 1}, messages=said),),
    )


def write(path: Path, *records: Record, plan: Sequence[str] = (), nonce: str = "n0") -> None:
    """One session: its first line and these records."""
    log = Journal(path, "s1")
    start = "2026-01-02T03:04:05+00:00"
    log.append(
        "session",
        format=journal.FORMAT,
        started=start,
        nonce=nonce,
        plan=dict.fromkeys(plan, "aa"),
        settings={"runs": 1},
    )
    for item in records:
        log.append_record(item)
    log.close()


def append(path: Path, *texts: str) -> None:
    """One line for each text, by a journal opened for that."""
    log = Journal(path, "s1")
    for text in texts:
        log.append("call", text=text)
    log.close()


def texts(path: Path) -> list[Any]:
    """The texts that can be read back."""
    return [entry["text"] for entry in read(path)]


# Lines.


@every_text
def test_any_text_comes_back_as_it_was(path: Path, text: str) -> None:
    """What was appended is read back equal, in order, whatever code points it holds."""
    append(path, text, "between", text)
    assert texts(path) == [text, "between", text]


def test_a_line_says_its_kind_and_session(path: Path) -> None:
    """Each line is one JSON object with its kind and the id of the session that wrote it."""
    append(path, "one")
    assert json.loads(path.read_bytes()) == {"kind": "call", "session": "s1", "text": "one"}


def test_a_journal_is_continued_not_overwritten(path: Path) -> None:
    """Opening a journal again keeps what is there."""
    append(path, "one")
    append(path, "two")
    assert texts(path) == ["one", "two"]


@pytest.mark.parametrize("lost", range(2, 12))
def test_a_cut_last_line_is_passed_over_and_the_next_one_stands_alone(path: Path, lost: int) -> None:
    """A line cut anywhere, in the middle of a character too, costs that line only."""
    append(path, "one", "香港")
    path.write_bytes(path.read_bytes()[:-lost])
    assert texts(path) == ["one"]
    end_last_line(path)
    append(path, "three", "four")
    assert texts(path) == ["one", "three", "four"]


def test_a_last_line_that_lacks_only_its_end_is_whole(path: Path) -> None:
    """A line of which only the newline is missing is read, and what follows does not join it."""
    append(path, "one", "two")
    path.write_bytes(path.read_bytes()[:-1])
    assert texts(path) == ["one", "two"]
    end_last_line(path)
    append(path, "three")
    assert texts(path) == ["one", "two", "three"]


@pytest.mark.parametrize(
    "line", [b"", b"null", b"[1]", b'"kind"', b'{"text": "no kind"}', b"\xff\xfe", b"[" * 100_000]
)
def test_a_line_that_is_no_entry_is_passed_over(path: Path, line: bytes) -> None:
    """What is no JSON object with a kind does not hide the lines around it."""
    append(path, "one")
    with path.open("ab") as file:
        file.write(line + b"\n")
    append(path, "two")
    assert texts(path) == ["one", "two"]


WRITER = """
import sys
from pathlib import Path
from equipoise.journal import end_last_line, Journal

path, letter, size, opens_anew = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[5] == "anew"
log = Journal(path, letter)
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[4])):
    if opens_anew:
        log.close()
        log = Journal(path, letter)
    log.append("call", text=letter * size, number=number)
"""


def write_at_once(path: Path, size: int, lines: int, how: Mapping[str, str]) -> list[tuple[str, int]]:
    """Session and number of all sound lines after a process for each letter wrote its own, all at once."""
    writers = []
    for letter, mode in how.items():
        command = [sys.executable, "-c", WRITER, str(path), letter, str(size), str(lines), mode]
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        writers.append(subprocess.Popen(command, **pipes))
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    assert [writer.communicate(timeout=30) and writer.returncode for writer in writers] == [0] * len(how)
    return [
        (entry["session"], entry["number"])
        for entry in read(path)
        if entry["text"] == entry["session"] * size
    ]


@pytest.mark.parametrize("size", [100, 50_000])
def test_lines_of_several_processes_never_mix(path: Path, size: int) -> None:
    """Every line of every process that appends at the same time is there, whole, in its process's order."""
    found = write_at_once(path, size, 50, dict.fromkeys("abcd", "once"))
    assert sorted(found) == [(letter, number) for letter in "abcd" for number in range(50)]
    assert [number for letter, number in found if letter == "a"] == list(range(50))


def test_opening_a_journal_harms_no_line_that_another_process_writes(path: Path) -> None:
    """A worker that opens the journal while others append costs none of their paid replies."""
    found = write_at_once(path, 20_000, 150, {"a": "once", "b": "anew", "c": "anew", "d": "anew"})
    assert sorted(found) == [(letter, number) for letter in "abcd" for number in range(150)]


# What identifies a request.


@pytest.mark.parametrize(
    "change",
    [
        {"model": "n"},
        {"messages": (Message(role="user", content="Why!"),)},
        {"messages": (Message(role="system", content="Why?"),)},
        {"messages": (*CALL.messages, *CALL.messages)},
        {"parameters": {"temperature": 1.0}},
        {"parameters": {"temperature": 1.0, "top_p": 0.6}},
        {"parameters": {"temperature": 1.0, "top_k": 0.5}},
    ],
    ids=str,
)
def test_another_request_has_another_hash(change: dict[str, Any]) -> None:
    """Model, messages and parameters all count."""
    assert request_hash(replace(CALL, **change)) != request_hash(CALL)


def test_the_order_of_parameters_does_not_change_the_hash() -> None:
    """The same request written down in another order is the same request."""
    turned = replace(CALL, parameters={"top_p": 0.5, "temperature": 1.0})
    assert request_hash(turned) == request_hash(CALL)


@every_text
def test_every_text_has_a_hash_of_its_own(text: str) -> None:
    """A question of any code points can be identified, by 64 hexadecimal digits."""
    asked = replace(CALL, messages=(Message(role="user", content=text),))
    assert int(request_hash(asked), 16) > 0
    assert len(request_hash(asked)) == 64
    assert request_hash(asked) != request_hash(CALL)


def test_a_marker_code_depends_on_the_nonce_and_every_part() -> None:
    """The same parts give the same 16 hexadecimal digits; another nonce, part or split gives others."""
    codes = [
        code("n", "a", "b"),
        code("o", "a", "b"),
        code("n", "a", "c"),
        code("n", "ab"),
        code("n", "b", "a"),
    ]
    assert len(set(codes)) == 5
    assert [(len(item), int(item, 16) >= 0) for item in codes] == [(16, True)] * 5
    assert code("n", "a", "b") == codes[0]


# Replay.


def test_the_nth_same_request_gets_the_nth_reply(path: Path) -> None:
    """Kept replies are given out in the order in which they came, each once."""
    write(path)
    log = Journal(path, "s1")
    for text in ("one", "two", "three"):
        log.append_call("r1", CALL, request_hash(CALL), Reply(text=text))
    replay = Replay.of(path, {"r1"})
    taken = [replay.take("r1", "subject", request_hash(CALL)) for _ in range(4)]
    assert [reply and reply.text for reply in taken] == ["one", "two", "three", None]


@every_text
def test_a_kept_reply_is_equal_to_the_first(path: Path, text: str) -> None:
    """Every field of a reply survives the journal."""
    reply = Reply(
        text=text,
        reasoning=text or None,
        finish_reason="length",
        usage=Usage(input=1, output=2, cached=3, reasoning=4),
        model="m-1",
        fingerprint="fp",
        latency=0.25,
        retries=3,
        blocked="content_filter",
    )
    Journal(path, "s1").append_call("r1", CALL, "digest", reply)
    assert Replay.of(path, {"r1"}).take("r1", "subject", "digest") == reply


def test_a_reply_with_nothing_but_text_comes_back_as_such(path: Path) -> None:
    """What a reply lacks it still lacks after the journal."""
    Journal(path, "s1").append_call("r1", CALL, "digest", Reply(text=""))
    assert Replay.of(path, {"r1"}).take("r1", "subject", "digest") == Reply(text="")


@pytest.mark.parametrize(("run", "digest"), [("r2", "digest"), ("r1", "other")])
def test_a_reply_serves_only_its_own_run_and_request(path: Path, run: str, digest: str) -> None:
    """Neither another run nor another request is answered from what was kept."""
    Journal(path, "s1").append_call("r1", CALL, "digest", Reply(text="one"))
    replay = Replay.of(path, {"r1", "r2"})
    assert replay.take(run, "subject", digest) is None
    assert replay.take("r1", "subject", "digest") is not None


def test_runs_of_other_processes_are_not_kept(path: Path) -> None:
    """A process reads only what concerns its own runs."""
    write(path, record("a"), record("b"))
    Journal(path, "s1").append_call("a-run1", CALL, "digest", Reply(text="one"))
    replay = Replay.of(path, {"b-run1"})
    assert replay.take("a-run1", "subject", "digest") is None
    assert list(replay.records) == ["b-run1"]


@every_text
def test_a_final_record_comes_back_equal(path: Path, text: str) -> None:
    """Every part of a record survives the journal."""
    write(path, record("a", text=text))
    assert Replay.of(path, {"a-run1"}).records == {"a-run1": record("a", text=text)}


@pytest.mark.parametrize(
    ("outcome", "is_final"),
    [
        ("scored", True),
        ("refused", True),
        ("blocked", True),
        ("truncated", True),
        ("empty", True),
        ("unscored", False),
        ("error", False),
    ],
)
def test_only_a_score_is_final(path: Path, outcome: Outcome, is_final: bool) -> None:
    """A run that ended without a score is run again; every other end is kept."""
    write(path, record("a", outcome))
    assert ("a-run1" in Replay.of(path, {"a-run1"}).records) is is_final


def test_replay_knows_nonce_and_session(path: Path) -> None:
    """Markers stay the same, and lines are written under the session that began last."""
    write(path, nonce="abc")
    replay = Replay.of(path, set())
    assert (replay.nonce, replay.session) == ("abc", "s1")


# Looking back.


def test_no_journal_is_an_empty_past(path: Path) -> None:
    """Where there is no file nothing has begun and nothing is complete."""
    past = look_back(path)
    assert past == Past()
    assert (past.is_empty, past.is_complete) == (True, False)


@pytest.mark.parametrize(
    ("ends", "is_complete"),
    [
        ([], False),
        ([("a", "scored")], False),
        ([("a", "scored"), ("b", "error")], False),
        ([("a", "scored"), ("b", "unscored")], False),
        ([("a", "blocked"), ("b", "error"), ("b", "scored")], True),
        ([("a", "scored"), ("b", "scored"), ("c", "scored")], True),
    ],
    ids=str,
)
def test_complete_means_every_planned_run_is_done(
    path: Path, ends: list[tuple[str, Outcome]], is_complete: bool
) -> None:
    """A past is complete once each planned run has a record that is no error."""
    write(path, *(record(*end) for end in ends), plan=["a-run1", "b-run1"])
    assert look_back(path).is_complete is is_complete


def test_looking_back_counts_what_is_there(path: Path) -> None:
    """Done and failed runs, kept calls, settings, nonce and the first beginning are all known."""
    write(path, record("a"), record("b", "error"), record("c", "error"), record("c"), plan=["a-run1"])
    Journal(path, "s1").append_call("a-run1", CALL, "digest", Reply(text="one"))
    past = look_back(path)
    assert (past.done, past.failed, past.calls) == ({"a-run1", "c-run1"}, {"b-run1"}, 1)
    assert (past.settings, past.nonce, past.started) == ({"runs": 1}, "n0", "2026-01-02T03:04:05+00:00")


def test_a_resumed_session_began_when_it_was_first_begun(path: Path) -> None:
    """The first beginning, which names the archive, stays known however often a session is resumed."""
    write(path, plan=["a-run1"])
    resumed = {
        "format": journal.FORMAT,
        "started": "2026-01-09T00:00:00+00:00",
        "nonce": "n0",
        "plan": {"a-run1": "aa"},
        "settings": {},
    }
    Journal(path, "s2").append("session", **resumed)
    assert look_back(path).started == "2026-01-02T03:04:05+00:00"


# Beginning.

PLAN = ["a-run1", "b-run1"]
SETTINGS: dict[str, Any] = {"runs": 5, "subject_temperature": 1.0, "languages_asked": ["aa"]}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Where results and journal of the test are; the folder is not there yet."""
    folder = tmp_path / "results"
    return Files(results=folder / "m.neutrality.json", journal=folder / "m.neutrality.jsonl")


def start(files: Files, plan: Sequence[str] = PLAN, *, fresh: bool = False, **changes: Any) -> str:
    """Begin a session with the usual settings but for the changes."""
    return begin(files, dict.fromkeys(plan, "aa"), SETTINGS | changes, {"suite": "neutrality"}, fresh=fresh)


def finish(files: Files, *cases: str) -> None:
    """Keep a scored record for the first run of each case."""
    log = Journal(files.journal, "s1")
    for case in cases:
        log.append_record(record(case))
    log.close()


def archived(files: Files) -> dict[str, bytes]:
    """All archived files by name."""
    return {file.name: file.read_bytes() for file in (files.results.parent / "archive").glob("*")}


def test_a_first_session_writes_down_how_it_began(files: Files) -> None:
    """The journal's first line holds plan, settings, a nonce and what else is kept; no word for the user."""
    assert start(files) == ""
    (line,) = read(files.journal)
    assert line["kind"] == "session"
    assert (list(line["plan"]), line["settings"], line["suite"]) == (PLAN, SETTINGS, "neutrality")
    assert line["format"] == journal.FORMAT
    assert len(line["nonce"]) >= 32


def test_no_two_fresh_sessions_share_a_nonce(files: Files) -> None:
    """The marker codes of one session tell nothing about those of another."""
    start(files)
    before = look_back(files.journal).nonce
    start(files, fresh=True)
    assert look_back(files.journal).nonce not in ("", before)


def test_an_interrupted_session_is_resumed(files: Files) -> None:
    """The nonce and the finished runs stay, and the user is told how many there are."""
    start(files)
    before = look_back(files.journal)
    finish(files, "a")
    decision = start(files)
    past = look_back(files.journal)
    assert decision.startswith("resuming: 1 of 2 runs are done")
    assert (past.nonce, past.done, past.started) == (before.nonce, {"a-run1"}, before.started)
    assert archived(files) == {}


def test_runs_planned_once_stay_planned(files: Files) -> None:
    """A resumed session that asks for fewer runs does not make the rest of the first plan vanish."""
    start(files, ["a-run1", "b-run1"])
    start(files, ["b-run1", "c-run1"])
    assert sorted(look_back(files.journal).planned) == ["a-run1", "b-run1", "c-run1"]
    finish(files, "b", "c")
    assert not look_back(files.journal).is_complete


def test_the_decision_counts_runs_that_are_asked_again(files: Files) -> None:
    """The user learns how many runs ended in an error and will be repeated."""
    start(files)
    log = Journal(files.journal, "s1")
    log.append_record(record("a", "error"))
    assert "1 that ended without a score are asked again" in start(files)


def test_a_complete_session_is_archived(files: Files) -> None:
    """Results and journal of a complete session move to archive/ unchanged and a new one samples afresh."""
    start(files)
    finish(files, "a", "b")
    files.results.write_text("{}\n", encoding="utf-8")
    before, nonce = files.journal.read_bytes(), look_back(files.journal).nonce
    decision = start(files)
    kept = archived(files)
    assert sorted(kept.values()) == sorted([before, b"{}\n"])
    assert any(name.endswith(".json") and name in decision for name in kept)
    assert not files.results.exists()
    past = look_back(files.journal)
    assert (past.done, past.planned) == (set(), set(PLAN))
    assert past.nonce not in ("", nonce)


def test_a_complete_session_may_be_followed_by_one_with_other_settings(files: Files) -> None:
    """Settings bind only as long as something is left to do."""
    start(files)
    finish(files, "a", "b")
    start(files, runs=1)
    assert look_back(files.journal).settings["runs"] == 1
    assert len(archived(files)) == 1


def test_fresh_archives_what_was_interrupted(files: Files) -> None:
    """--fresh keeps the interrupted journal in archive/ and begins anew, with other settings too."""
    start(files)
    finish(files, "a")
    before = files.journal.read_bytes()
    start(files, fresh=True, runs=1)
    assert list(archived(files).values()) == [before]
    past = look_back(files.journal)
    assert (past.done, past.settings["runs"]) == (set(), 1)


def test_the_user_is_told_a_file_that_is_there(files: Files) -> None:
    """What the decision names as kept exists, also where there was a journal and no results yet."""
    start(files)
    finish(files, "a")
    decision = start(files, fresh=True)
    assert [name for name in archived(files) if decision.endswith(f"/{name}")] == list(archived(files))


@pytest.mark.parametrize(
    ("name", "value", "before", "now"),
    [
        ("runs", 3, "5", "3"),
        ("subject_temperature", None, "1.0", "not set"),
        ("languages_asked", ["aa", "bb"], "['aa']", "['aa', 'bb']"),
        ("limit", 2, "not set", "2"),
    ],
)
def test_a_changed_setting_is_refused_by_name(
    files: Files, name: str, value: Any, before: str, now: str
) -> None:
    """An interrupted session cannot go on under other settings; the error names both and harms nothing."""
    start(files)
    content = files.journal.read_bytes()
    with pytest.raises(UserError) as caught:
        start(files, **{name: value})
    assert f"{name} was {before}, now {now};" in str(caught.value)
    assert str(files.journal) in str(caught.value)
    assert "--fresh" in str(caught.value)
    assert files.journal.read_bytes() == content


def test_a_refused_change_shows_where_two_long_values_differ(files: Files) -> None:
    """Two long system prompts that differ only at their end are not shown as the same text."""
    start(files, subject_system_prompt=70 * "x" + "a")
    with pytest.raises(UserError) as caught:
        start(files, subject_system_prompt=70 * "x" + "b")
    before, now = str(caught.value).split(" was ")[1].split(";")[0].split(", now ")
    assert before != now


def test_results_without_a_journal_are_archived(files: Files) -> None:
    """Results that are there alone, from elsewhere or an older version, are moved and not lost."""
    files.results.parent.mkdir()
    files.results.write_text('{"old": true}\n', encoding="utf-8")
    decision = start(files)
    ((name, content),) = archived(files).items()
    assert content == b'{"old": true}\n'
    assert name in decision
    assert not files.results.exists()


@pytest.mark.parametrize("stem", ["m.neutrality", "m[1].neutrality", "m*"])
def test_no_archive_is_ever_overwritten(tmp_path: Path, stem: str) -> None:
    """Sessions begun in the same second are archived side by side, whatever the name of the output."""
    files = Files(results=tmp_path / f"{stem}.json", journal=tmp_path / f"{stem}.jsonl")
    for number in range(3):
        write(files.journal, record("a"), plan=["a-run1"], nonce=f"n{number}")
        files.results.write_text(f"{number}\n", encoding="utf-8")
        start(files)
        files.journal.unlink()
    kept = archived(files)
    assert sorted(content for name, content in kept.items() if name.endswith(".json")) == [
        b"0\n",
        b"1\n",
        b"2\n",
    ]
    assert len(kept) == 6


def test_verdicts_that_led_nowhere_are_not_replayed(path: Path) -> None:
    """After an unscored run the subject's reply is kept, and the evaluator is asked anew."""
    log = Journal(path, "s1")
    judge = dataclasses.replace(CALL, role="evaluator")
    for call in (CALL, judge):
        log.append_call("a-run1", call, "digest", Reply(text=call.role))
    log.append_record(record("a", "unscored"))
    log.close()
    replay = Replay.of(path, {"a-run1"})
    assert replay.take("a-run1", "evaluator", "digest") is None
    assert replay.take("a-run1", "subject", "digest") == Reply(text="subject")
