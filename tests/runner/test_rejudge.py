"""Judging earlier replies again: which settings are adopted, what is refused, and which calls are copied."""

from __future__ import annotations

import hashlib
import os
import resource
from pathlib import Path
from typing import Any

import pytest
from journals import TEXTS, ask, begin, entries, history_of, keep, record, write

from conftest import ALL_OPTIONS, refusal, resolved
from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.settings import Sampling, Settings
from equipoise.core.types import JSON
from equipoise.results.document import SCHEMA_VERSION
from equipoise.results.journal import FORMAT, Journal
from equipoise.runner import rejudge

METADATA: dict[str, JSON] = {
    "schema_version": SCHEMA_VERSION,
    "suite": "attribution",
    "subject_model": "org/m-1",
    "subject_sampling": {"temperature": 0.7, "top_k": 40},
    "subject_system_prompt": "Be brief.",
    "runs": 3,
    "limit": 2,
    "languages_asked": ["aa", "bb"],
    "data_hash": "d0",
    "started": "2026-01-02T03:04:05+00:00",
    "evaluator_models": ["e1"],
    "rubric_version": "7",
    "rubric_hash": "r0",
    "evaluator_sampling": {"temperature": 0.2},
}
REFUSED = [
    option
    for option in ALL_OPTIONS
    if option.name in {"model", "runs", "limit", "language"} or option.name.startswith("subject_")
]


def save(path: Path, **changes: JSON) -> Path:
    """Earlier results at this path; a change to None leaves the name out."""
    said = {name: value for name, value in {**METADATA, **changes}.items() if value is not ...}
    path.write_bytes(json_io.dumps({"metadata": said, "summary": {}, "results": {}}))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Earlier results, with a journal beside them."""
    write(tmp_path / "m.attribution.jsonl", record("a"), plan=["a-run1"])
    return save(tmp_path / "m.attribution.json")


def adopted(path: Path | None, **given: Any) -> Settings:
    """The settings of a command line that judges these results anew."""
    texts = given if path is None else {"rejudge": str(path), **given}
    return rejudge.adopt_subject_settings(resolved(texts, {}, {}), texts)


def complaint(path: Path, *, suite: str = "attribution", data_hash: str = "d0") -> str:
    """The one line with which results are refused."""
    message = refusal(rejudge.check, path, suite, data_hash)
    assert message.isprintable()
    return message


# What is taken over.


def test_without_earlier_results_nothing_is_taken_over() -> None:
    """The settings are what they were, whatever was given."""
    assert adopted(None, model="m", runs="2") == resolved({"model": "m", "runs": "2"}, {}, {})


def test_everything_that_shaped_the_replies_is_taken_over(path: Path) -> None:
    """Model, sampling, prompt, runs, limit and languages are the earlier ones, all else is the session's."""
    found = adopted(path, evaluator_model=["e2"], evaluator_temperature="0.5", concurrency="3")
    assert (found.model, found.runs, found.limit, found.languages) == ("org/m-1", 3, 2, ("aa", "bb"))
    assert found.subject == Sampling(temperature=0.7, top_k=40, system_prompt="Be brief.")
    assert (found.evaluator_models, found.evaluator) == (("e2",), Sampling(temperature=0.5))
    assert (found.concurrency, found.rejudge) == (3, path)
    assert found.asked_models == ("e2",)


def test_what_was_not_sent_then_is_not_taken_from_the_defaults(tmp_path: Path) -> None:
    """No temperature is not the default one, and no list of languages is all of them."""
    path = save(
        tmp_path / "m.json", subject_sampling={}, subject_system_prompt=None, limit=None, languages_asked=None
    )
    found = adopted(path)
    assert found.subject == Sampling()
    assert (found.limit, found.languages) == (None, ())


def test_the_environment_does_not_change_what_is_taken_over(path: Path) -> None:
    """Only the command line says what a user wants of this session; defaults of a machine give way."""
    given = {"rejudge": str(path)}
    found = resolved(given, {"EQUIPOISE_MODEL": "other", "EQUIPOISE_RUNS": "9"}, {"subject_top_p": "0.5"})
    settled = rejudge.adopt_subject_settings(found, given)
    assert (settled.model, settled.runs, settled.subject.top_p) == ("org/m-1", 3, None)


def test_an_option_that_earlier_results_decide_is_refused_by_name(path: Path) -> None:
    """Also where it says the same: model, sampling, prompts, runs, limit and language have no say."""
    said = {}
    for option in REFUSED:
        one = {"FILE": str(path), "JSON": '{"seed": 7}', "NAME=VALUE": "X-Title=a"}.get(option.metavar, "1")
        value = [one if option.by_line else "aa"] if option.many else one
        said[option.flag] = refusal(adopted, path, **{option.name: value})
    words = "--rejudge takes that from m.attribution.json; leave it out"
    assert said == {option.flag: f"{option.flag}: {words}" for option in REFUSED}
    assert len(said) == 13


# Where the new results go.


def test_the_new_results_have_a_name_of_their_own_beside_the_old(tmp_path: Path) -> None:
    """The earlier results stay where they are."""
    names = {
        "m.attribution.json": "m.rejudged.attribution.json",
        "mine.json": "mine.rejudged.attribution.json",
        "m-1.5.attribution.json": "m-1.5.rejudged.attribution.json",
        "m.rejudged.attribution.json": "m.rejudged.rejudged.attribution.json",
        "results": "results.rejudged.attribution.json",
    }
    assert {name: adopted(save(tmp_path / name)).output for name in names} == {
        name: tmp_path / expected for name, expected in names.items()
    }


def test_results_are_never_written_over_by_those_that_judge_them_anew(path: Path) -> None:
    """The replies are in the journal beside them."""
    with pytest.raises(UserError, match=r"^--output: names the results to judge again; "):
        adopted(path, output=str(path))


def test_a_name_that_the_user_gives_counts(path: Path, tmp_path: Path) -> None:
    """The results go where --output says."""
    output = tmp_path / "elsewhere" / "new.json"
    assert adopted(path, output=str(output)).output == output


# What cannot be judged again.


NAMES = ("subject_model", "subject_sampling", "subject_system_prompt", "runs", "limit", "languages_asked")
NO_RESULTS = (b"", b"{", b"\xff\xfe", b"[]", b"null", b'"metadata"', b'{"summary":{}}')
BROKEN: list[tuple[str, Any, dict[str, str], str]] = [
    ("gone", None, {}, "cannot be read (No such file or directory)"),
    *(("no results", content, {}, "not an Equipoise results file") for content in NO_RESULTS),
    *((name, {name: ...}, {}, f"its {name} is missing or invalid") for name in (*NAMES, "data_hash")),
    ("without", {"suite": ...}, {}, "its suite is missing or invalid"),
    ("suite", {}, {"suite": "factuality"}, "belongs to the suite attribution, not factuality"),
    (
        "questions",
        {},
        {"data_hash": "d1"},
        "the questions have changed since; use --topics to name the old ones",
    ),
    ("a\nb", {}, {}, "its journal a\\nb.jsonl, which has the replies, is not next to it"),
]
"""What is done to earlier results, what the session is about, and what is said of them."""


def test_what_cannot_be_judged_again_is_named(
    path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """In one line, by checking and by adopting, as the user would type it; whole results pass."""
    rejudge.check(path, "attribution", "d0")
    for name, content, about, message in BROKEN:
        with subtests.test(name, content=content):
            file = path.with_name(f"{name}.json")
            if isinstance(content, bytes):
                file.write_bytes(content)
            elif content is not None:
                save(file, **content)
            shown = str(file).replace("\n", "\\n")
            assert complaint(file, **about) == f"--rejudge: {shown}: {message}"
    with pytest.raises(UserError, match=r"^--rejudge: .*never.json: cannot be read \(No such file"):
        adopted(path.with_name("never.json"))
    assert complaint(path.parent) == f"--rejudge: {path.parent}: cannot be read (Is a directory)"
    write(path.with_name("old.jsonl"), format=2)
    monkeypatch.chdir(path.parent)
    assert complaint(path.with_name("gone.json")).startswith("--rejudge: gone.json: cannot be read")
    assert complaint(save(path.with_name("none.json"), runs=...)).startswith("--rejudge: none.json: its runs")
    later = f"--rejudge: later.json: has schema version {SCHEMA_VERSION + 1}; this Equipoise reads 1"
    assert complaint(save(path.with_name("later.json"), schema_version=SCHEMA_VERSION + 1)) == later
    old = f"--rejudge: old.jsonl: has format 2, not {FORMAT}"
    assert complaint(save(path.with_name("old.json"))) == old


# What the new results say of the old.


def test_the_source_is_named_with_its_check_sum(path: Path) -> None:
    """And with when it was begun, who judged, and by which rubric."""
    assert rejudge.reference(path) == {
        "results": "m.attribution.json",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "started": "2026-01-02T03:04:05+00:00",
        "evaluator_models": ["e1"],
        "rubric_version": "7",
        "rubric_hash": "r0",
    }


def test_results_that_change_are_read_again(path: Path) -> None:
    """A notebook may judge the same file twice, and run the earlier session again in between."""
    before = rejudge.reference(path)
    save(path, rubric_version="8")
    os.utime(path, ns=(0, 0))
    after = rejudge.reference(path)
    assert (before["rubric_version"], after["rubric_version"]) == ("7", "8")
    assert after["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest() != before["sha256"]


# Bringing calls over.


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """The journal of a session that is to judge anew and has just begun."""
    path = tmp_path / "m.rejudged.attribution.jsonl"
    begin(path, ["a-run1", "b-run1"], session="s2").close()
    return path


def calls(path: Path) -> list[dict[str, JSON]]:
    """What the journal says of calls."""
    return entries(path, "call")


def earlier(path: Path) -> None:
    """A journal with subject's and evaluator's calls of three runs, and all else that journals have."""
    log = begin(path.with_suffix(".jsonl"), ["a-run1", "b-run1", "c-run1"], session="s1")
    for name in "abc":
        made = [
            keep(log, ask(f"Why {name}?"), f"Because {name}.", run=f"{name}-run1"),
            keep(log, ask("Judge.", role="evaluator", model="e"), "{}", run=f"{name}-run1"),
        ]
        log.append("failed", run="a-run1", role="subject", model="m", retries=2, message="Down.")
        log.append_record(record(name), [item.id for item in made])
    log.close()


def test_only_the_subjects_calls_of_the_wanted_runs_are_brought_over(path: Path, target: Path) -> None:
    """Unchanged and in order, with nothing of evaluators, records, failures or other runs."""
    earlier(path)
    rejudge.copy_replies(path, history_of(target), ["b-run1", "a-run1", "z-run1"])
    theirs = calls(path.with_suffix(".jsonl"))
    assert [entry["role"] for entry in theirs] == ["subject", "evaluator"] * 3
    assert calls(target) == [theirs[0], theirs[2]]
    assert [entry["kind"] for entry in entries(target)] == ["session", "call", "call"]


def test_bringing_over_twice_adds_nothing(path: Path, target: Path) -> None:
    """As when a session is resumed; runs that are wanted only then are added."""
    earlier(path)
    rejudge.copy_replies(path, history_of(target), ["a-run1"])
    before = target.read_bytes()
    rejudge.copy_replies(path, history_of(target), ["a-run1"])
    assert target.read_bytes() == before
    rejudge.copy_replies(path, history_of(target), ["a-run1", "c-run1"])
    assert [entry["run"] for entry in calls(target)] == ["a-run1", "c-run1"]


def test_no_wanted_run_brings_nothing_over(path: Path, target: Path) -> None:
    """The new journal is as it was, and the old one always."""
    earlier(path)
    before = [file.read_bytes() for file in (target, path.with_suffix(".jsonl"))]
    rejudge.copy_replies(path, history_of(target), [])
    assert [file.read_bytes() for file in (target, path.with_suffix(".jsonl"))] == before


def test_whatever_was_said_is_brought_over_as_it_was(path: Path, target: Path) -> None:
    """Line by line readable, and counted as asked in the earlier session."""
    log = begin(path.with_suffix(".jsonl"), ["a-run1"])
    for text in TEXTS.values():
        keep(log, ask(text, seed=1), text)
    log.close()
    rejudge.copy_replies(path, history_of(target), ["a-run1"])
    found = [(entry["messages"][0]["content"], entry["reply"]["text"]) for entry in calls(target)]
    assert found == [(text, text) for text in TEXTS.values()]
    assert history_of(target).totals.calls == {"s1": len(TEXTS)}


def test_a_damaged_line_is_passed_over(path: Path, target: Path) -> None:
    """What cannot be read is not copied; the subject is then not asked for it either."""
    earlier(path)
    journal = path.with_suffix(".jsonl")
    journal.write_bytes(journal.read_bytes().replace(b'Because a."', b"Because a."))
    rejudge.copy_replies(path, history_of(target), ["a-run1", "b-run1"])
    assert [entry["run"] for entry in calls(target)] == ["b-run1"]


def test_each_line_says_what_it_said(path: Path, target: Path) -> None:
    """And the history that is handed over can replay it."""
    earlier(path)
    history = history_of(target)
    rejudge.copy_replies(path, history, ["a-run1"])
    assert calls(target)[-1] in calls(path.with_suffix(".jsonl"))
    found = history.take("a-run1", "subject", calls(target)[0]["request"])
    assert found is not None
    assert found.reply.text == "Because a."


def test_a_disk_that_is_full_while_calls_are_brought_over_is_told(path: Path, target: Path) -> None:
    """In one line; once there is room the same call brings over what is missing."""
    earlier(path)
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (target.stat().st_size + 100, usual[1]))
    try:
        with pytest.raises(
            UserError, match=r"jsonl: the earlier replies cannot be copied \(.+\); once that is mended, the"
        ):
            rejudge.copy_replies(path, history_of(target), ["a-run1", "b-run1"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    Journal(target, "s2").append("written", files={})
    rejudge.copy_replies(path, history_of(target), ["a-run1", "b-run1"])
    assert [entry["run"] for entry in calls(target)] == ["a-run1", "b-run1"]


def test_a_journal_that_is_gone_by_then_is_told(path: Path, target: Path) -> None:
    """The earlier journal may be moved after the check: no traceback."""
    path.with_suffix(".jsonl").unlink()
    with pytest.raises(UserError, match="cannot be copied"):
        rejudge.copy_replies(path, history_of(target), ["a-run1"])
