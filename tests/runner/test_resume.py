"""How a session begins on what it finds: gone on from, refused, or archived where --fresh says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from journals import entries, record, write

from conftest import refusal
from equipoise.core.errors import UserError
from equipoise.results import journal
from equipoise.results.history import History, load
from equipoise.results.journal import Journal
from equipoise.results.store import Files
from equipoise.runner.resume import ALREADY_COMPLETE, begin

PLAN = ["a-run1", "b-run1"]
SETTINGS: dict[str, Any] = {"runs": 5, "subject_temperature": 1.0, "languages_asked": ["aa"]}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Where results and journal of the test are; the folder is not there yet."""
    folder = tmp_path / "results"
    return Files(results=folder / "m.attribution.json", journal=folder / "m.attribution.jsonl")


def start(files: Files, plan: Sequence[str] = PLAN, *, fresh: bool = False, **changes: Any) -> str:
    """Begin a session with the usual settings but for the changes."""
    past = History(files.journal) if fresh else load(files.journal)
    about = {"suite": "attribution", "selection": {"keyword": None, "mark": None, "deselected": 0}}
    return begin(files, past, dict.fromkeys(plan, "aa"), SETTINGS | changes, about, fresh=fresh)


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
    (first,) = entries(files.journal)
    assert first["kind"] == "session"
    assert (list(first["plan"]), first["settings"], first["suite"]) == (PLAN, SETTINGS, "attribution")
    assert first["format"] == journal.FORMAT
    assert len(first["nonce"]) >= 32


def test_no_two_fresh_sessions_share_a_nonce(files: Files) -> None:
    """The marker codes of one session tell nothing about those of another, and stay when it is resumed."""
    start(files)
    before = load(files.journal).nonce
    assert start(files).startswith("resuming: 0 of 2 runs are done")
    assert load(files.journal).nonce == before != ""
    start(files, fresh=True)
    assert load(files.journal).nonce not in ("", before)


def test_another_port_of_this_machine_is_told_and_kept(files: Files) -> None:
    """The server may have been restarted, or be another one; both URLs are in the metadata."""
    urls = [f"http://localhost:{port}/v1" for port in (4000, 4001)]
    first, second = ({"subject": url, "evaluator": "https://api.example.org/v1"} for url in urls)
    start(files, endpoints=first)
    finish(files, "a")
    message = start(files, endpoints=second)
    assert f"; --api-base-url was {urls[0]}, now {urls[1]}" in message
    endpoints = {"subject": ", ".join(urls), "evaluator": "https://api.example.org/v1"}
    assert load(files.journal).settings["endpoints"] == endpoints
    assert "--api-base-url" not in start(files, endpoints=second)


def test_a_refusal_names_endpoints_with_their_ports(files: Files) -> None:
    """Of the one that differs in more than its port on this machine; no other is named."""
    start(files, endpoints={"subject": "http://localhost:4000/v1", "evaluator": "http://localhost:4000/v1"})
    finish(files, "a")
    elsewhere = {"subject": "http://localhost:4001/v1", "evaluator": "http://10.0.0.7:4001/v1"}
    with pytest.raises(UserError) as caught:
        start(files, endpoints=elsewhere)
    assert "now http://10.0.0.7:4001/v1" in str(caught.value)


def test_runs_planned_once_stay_planned(files: Files) -> None:
    """A resumed session that asks for fewer runs does not make the rest of the first plan vanish."""
    start(files, ["a-run1", "b-run1"])
    start(files, ["b-run1", "c-run1"])
    assert sorted(load(files.journal).planned) == ["a-run1", "b-run1", "c-run1"]
    finish(files, "b", "c")
    assert start(files, ["b-run1", "c-run1"]) == ALREADY_COMPLETE
    assert start(files).startswith("resuming: 1 of 2 runs are done")


def test_changed_options_are_refused_in_one_line(files: Files) -> None:
    """However much is done; the line names them, and what can be done."""
    start(files)
    content = files.journal.read_bytes()
    assert refusal(start, files, subject_temperature=None, evaluator_models=["j2"]) == (
        f"{files.journal}: cannot be resumed with other options: --subject-temperature was 1.0, now not set. "
        "Give the same options as before; or --fresh, which archives the journal and asks everything "
        "again; or another --output"
    )
    finish(files, "a", "b")
    with pytest.raises(UserError, match=r"--subject-temperature was 1\.0, now 0\.5\. .* --fresh"):
        start(files, subject_temperature=0.5)
    assert "--evaluator-model j2 is new" in refusal(start, files, evaluator_models=["j2"])
    assert files.journal.read_bytes().startswith(content)
    # The intervals of --until allow for a number of looks.
    start(files, fresh=True, until="overall:5")
    with pytest.raises(UserError, match="--runs was 5, now 10"):
        start(files, until="overall:5", runs=10)


def test_who_asks_is_drawn_again_by_the_same_seed(files: Files) -> None:
    """With another seed, or with other sentences, the runs already made would be of other people."""
    asker = {"forms": ["stated"], "share": 1.0, "cues_hash": "0", "seed": 1}
    start(files, asker=asker)
    for name in ("cues_hash", "seed"):
        changed = {**asker, name: "other"}
        assert "--asker: the sentences about who asks have changed" in refusal(start, files, asker=changed)
    start(files, asker=asker)


@pytest.mark.parametrize("number", [0, journal.FORMAT + 1])
def test_a_journal_of_another_format_is_refused_and_archived_by_fresh(files: Files, number: int) -> None:
    """Lines of another release are not guessed at: the user is told both formats, and what can be done."""
    files.journal.parent.mkdir()
    write(files.journal, plan=["a-run1"], format=number)
    before = files.journal.read_bytes()
    with pytest.raises(UserError, match=f"format {number}, not {journal.FORMAT}: use --fresh"):
        start(files)
    start(files, fresh=True)
    assert list(archived(files).values()) == [before]
    assert list(load(files.journal).planned) == PLAN


def test_results_without_a_journal_are_archived_by_fresh_alone(files: Files) -> None:
    """Results that are there alone, from elsewhere or an older version, are moved and not lost."""
    files.results.parent.mkdir()
    files.results.write_text('{"old": true}\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"m\.attribution\.jsonl of these results is missing, .* --fresh"):
        start(files)
    assert not files.journal.exists()
    decision = start(files, fresh=True)
    ((name, content),) = archived(files).items()
    assert content == b'{"old": true}\n'
    assert name in decision
    assert not files.results.exists()


@pytest.mark.parametrize("has_journal", [False, True])
def test_an_archive_that_cannot_be_is_the_users_to_mend(files: Files, has_journal: bool) -> None:
    """A file in the place of the archive's folder is told in one line, and the earlier files stay."""
    files.results.parent.mkdir()
    if has_journal:
        start(files)
        finish(files, "a", "b")
    files.results.write_text('{"metadata": {"status": "complete"}}')
    (files.results.parent / "archive").write_text("mine")
    before = {path.name: path.read_bytes() for path in files.results.parent.iterdir()}
    with pytest.raises(UserError, match=r"archive: the earlier results cannot be archived there .+; make it"):
        start(files, fresh=True)
    assert {path.name: path.read_bytes() for path in files.results.parent.iterdir()} == before
