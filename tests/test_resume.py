"""How a session begins on what it finds: picked up, archived, refused or begun anew."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from journals import SETTINGS as KEPT_SETTINGS
from journals import STARTED, ask, keep, record, write

from equipoise import journal
from equipoise.errors import UserError
from equipoise.journal import Journal, read
from equipoise.records import Outcome
from equipoise.resume import Past, begin, look_back
from equipoise.storage import Files


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the journal of the test is."""
    return tmp_path / "m.neutrality.jsonl"


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
    keep(Journal(path, "s1"), ask("Why?"))
    past = look_back(path)
    assert (past.done, past.failed, past.calls) == ({"a-run1", "c-run1"}, {"b-run1"}, 1)
    assert (past.settings, past.nonce, past.started) == (KEPT_SETTINGS, "n0", STARTED)


def test_a_resumed_session_began_when_it_was_first_begun(path: Path) -> None:
    """The first beginning, which names the archive, stays known however often a session is resumed."""
    write(path, plan=["a-run1"])
    write(path, plan=["a-run1"], session="s2", started="2026-01-09T00:00:00+00:00")
    assert look_back(path).started == STARTED


@pytest.mark.parametrize("content", [b"", b'{"kind":"session","session":"s1","for'], ids=["empty", "cut"])
def test_a_journal_without_a_whole_line_is_an_empty_past(path: Path, content: bytes) -> None:
    """A session that was killed before its first line was written has not begun."""
    path.write_bytes(content)
    past = look_back(path)
    assert (past.is_empty, past.is_complete) == (True, False)
    assert past.cut == (1 if content else 0)


def test_lines_that_were_cut_are_counted(path: Path) -> None:
    """What a crash has cost is known, and the rest of the past as ever."""
    write(path, record("a"), plan=["a-run1", "b-run1"])
    with path.open("ab") as file:
        file.write(b'{"kind":"call","run":"b-ru\n{"kind":"record","run":"b-\n')
    write(path, record("b"), plan=["b-run1"])
    past = look_back(path)
    assert (past.cut, past.done) == (2, {"a-run1", "b-run1"})


@pytest.mark.parametrize("number", [1, journal.FORMAT + 1])
def test_a_journal_of_another_format_is_refused(path: Path, number: int) -> None:
    """Lines of another release are not guessed at: the user is told both formats and the way out."""
    write(path, format=number)
    with pytest.raises(UserError, match=f"format {number}, not {journal.FORMAT}: use --fresh"):
        look_back(path)


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
        log.append_record(record(case), [])
    log.close()


def archived(files: Files) -> dict[str, bytes]:
    """All archived files by name."""
    return {file.name: file.read_bytes() for file in (files.results.parent / "archive").glob("*")}


def test_a_first_session_writes_down_how_it_began(files: Files) -> None:
    """The journal's first line holds plan, settings, a nonce and what else is kept; no word for the user."""
    assert start(files) == ""
    ((_, _, first),) = read(files.journal)
    assert first["kind"] == "session"
    assert (list(first["plan"]), first["settings"], first["suite"]) == (PLAN, SETTINGS, "neutrality")
    assert first["format"] == journal.FORMAT
    assert len(first["nonce"]) >= 32


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


def test_a_session_that_was_cut_in_its_first_line_is_begun(files: Files) -> None:
    """A first line that a crash has cut does not spoil the one that follows."""
    files.journal.parent.mkdir()
    files.journal.write_bytes(b'{"kind":"session","session":"s0","for')
    assert start(files) == "nothing is kept; lines cut short and passed over: 1"
    past = look_back(files.journal)
    assert (past.planned, past.cut) == (set(PLAN), 1)


def test_the_decision_counts_calls_and_lines_that_were_cut(files: Files) -> None:
    """The user learns how many paid calls are kept, and how many lines a crash has cost."""
    start(files)
    log = Journal(files.journal, "s1")
    for text in ("one", "two"):
        keep(log, ask("Why?"), text)
    with files.journal.open("ab") as file:
        file.write(b'{"kind":"call","run":"a-ru')
    decision = start(files)
    assert decision.endswith(", 2 calls are kept; lines cut short and passed over: 1")
    assert look_back(files.journal).planned == set(PLAN)


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
    log.append_record(record("a", "error"), [])
    assert "1 that ended without a score are asked again" in start(files)


COMPLETE = b'{\n  "metadata": {\n    "status": "complete"\n  }\n}\n'


@pytest.mark.parametrize("content", [None, COMPLETE.replace(b"complete", b"running")], ids=["none", "old"])
def test_a_session_whose_results_were_not_written_asks_nothing(files: Files, content: bytes | None) -> None:
    """Everything is in the journal: it goes on from there, and only the results are still to be made."""
    start(files)
    finish(files, "a", "b")
    if content is not None:
        files.results.write_bytes(content)
    assert start(files).startswith("resuming: 2 of 2 runs are done")
    assert archived(files) == {}


def test_a_complete_session_is_archived(files: Files) -> None:
    """Results and journal of a complete session move to archive/ unchanged and a new one samples afresh."""
    start(files)
    finish(files, "a", "b")
    files.results.write_bytes(COMPLETE)
    before, nonce = files.journal.read_bytes(), look_back(files.journal).nonce
    decision = start(files)
    kept = archived(files)
    assert sorted(kept.values()) == sorted([before, COMPLETE])
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


def test_fresh_archives_a_journal_of_another_format(files: Files) -> None:
    """What the user is told to do about a journal of another release can be done: it is kept, unread."""
    files.journal.parent.mkdir()
    write(files.journal, plan=["a-run1"], format=journal.FORMAT + 1)
    before = files.journal.read_bytes()
    with pytest.raises(UserError, match="use --fresh"):
        start(files)
    start(files, fresh=True)
    assert list(archived(files).values()) == [before]
    assert look_back(files.journal).planned == set(PLAN)


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


@pytest.mark.parametrize("fresh", [False, True], ids=["complete", "fresh"])
def test_an_archive_that_cannot_be_is_the_users_to_mend(files: Files, fresh: bool) -> None:
    """A file in the place of the archive's folder is told in one line, and the earlier files stay."""
    start(files)
    if not fresh:
        finish(files, "a", "b")
        files.results.write_text('{"metadata": {"status": "complete"}}')
    before = files.journal.read_bytes()
    (files.results.parent / "archive").write_text("mine")
    with pytest.raises(UserError, match=r"archive: the earlier results cannot be kept there \(.+\); make it"):
        start(files, fresh=fresh)
    assert files.journal.read_bytes() == before
    assert (files.results.parent / "archive").read_text() == "mine"


def test_results_without_a_journal_stay_where_they_cannot_be_archived(files: Files) -> None:
    """They are not written over, and no session begins."""
    files.results.parent.mkdir()
    files.results.write_text("old")
    (files.results.parent / "archive").write_text("mine")
    with pytest.raises(UserError, match="or use another --output"):
        start(files)
    assert files.results.read_text() == "old"
    assert not files.journal.exists()
