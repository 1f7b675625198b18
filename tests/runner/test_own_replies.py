"""Judging earlier replies again: which settings are adopted, what is refused, and how calls are answered."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
from journals import ask, begin, keep, record, write

from conftest import ALL_OPTIONS, refusal, resolved, write_files
from equipoise.audit.session import SessionAudits
from equipoise.core import json_io
from equipoise.core.errors import CallFailed, UserError
from equipoise.core.settings import Sampling, Settings
from equipoise.core.types import JSON, Call
from equipoise.results.document import SCHEMA_VERSION
from equipoise.results.journal import FORMAT, request_hash
from equipoise.runner import estimate
from equipoise.runner.plan import Plan
from equipoise.runner.replies import adopting, own
from equipoise.runner.replies.own import OwnReplies

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
    metadata = {name: value for name, value in {**METADATA, **changes}.items() if value is not ...}
    path.write_bytes(json_io.dumps({"metadata": metadata, "summary": {}, "results": {}}))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Earlier results, with a journal beside them."""
    write(tmp_path / "m.attribution.jsonl", record("a"), plan=["a-run1"])
    return save(tmp_path / "m.attribution.json")


def adopted(path: Path | None, **options: Any) -> Settings:
    """The settings of a command line that judges these results anew."""
    texts = options if path is None else {"replies": str(path), **options}
    return adopting.adopt(resolved(texts, {}, {}), texts)


def complaint(path: Path, *, suite: str = "attribution", data_hash: str = "d0") -> str:
    """The one line with which results are refused."""
    message = refusal(OwnReplies(path).check, suite, data_hash, None)
    assert message.isprintable()
    return message


# What is taken over.


def test_without_earlier_results_nothing_is_taken_over() -> None:
    """The settings are what they were, whatever was given."""
    assert adopted(None, model="m", runs="2") == resolved({"model": "m", "runs": "2"}, {}, {})


def test_everything_that_shaped_the_replies_is_taken_over(path: Path) -> None:
    """All else is the session's; the defaults of a machine give way to both."""
    options = {"evaluator_model": ["e2"], "evaluator_temperature": "0.5", "concurrency": "3"}
    texts = {"replies": str(path), **options}
    variables = {"EQUIPOISE_MODEL": "other", "EQUIPOISE_RUNS": "9"}
    settings = adopting.adopt(resolved(texts, variables, {"subject_top_p": "0.5"}), texts)
    assert (settings.model, settings.runs) == ("org/m-1", 3)
    assert (settings.limit, settings.languages) == (2, ("aa", "bb"))
    assert settings.subject == Sampling(temperature=0.7, top_k=40, system_prompt="Be brief.")
    assert (settings.evaluator_models, settings.evaluator) == (("e2",), Sampling(temperature=0.5))
    assert (settings.concurrency, settings.replies, settings.asked_models) == (3, path, ("e2",))


def test_what_was_not_sent_then_is_not_taken_from_the_defaults(tmp_path: Path) -> None:
    """No temperature is not the default one, and no list of languages is all of them."""
    unset = dict.fromkeys(("subject_system_prompt", "limit", "languages_asked"))
    settings = adopted(save(tmp_path / "m.json", subject_sampling={}, **unset))
    assert (settings.subject, settings.limit, settings.languages) == (Sampling(), None, ())


def test_an_option_that_earlier_results_decide_is_refused_by_name(path: Path) -> None:
    """Also where it says the same: model, sampling, prompts, runs, limit and language have no say."""
    refusals = {}
    for option in REFUSED:
        one = {"FILE": str(path), "JSON": '{"seed": 7}', "NAME=VALUE": "X-Title=a"}.get(option.metavar, "1")
        value = [one if option.by_line else "aa"] if option.many else one
        refusals[option.flag] = refusal(adopted, path, **{option.name: value})
    words = "--replies takes that from m.attribution.json; leave it out"
    assert refusals == {option.flag: f"{option.flag}: {words}" for option in REFUSED}
    assert len(refusals) == 13


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
    named = tmp_path / "elsewhere" / "new.json"
    assert adopted(save(tmp_path / "mine.json"), output=str(named)).output == named


def test_results_are_never_written_over_by_those_that_judge_them_anew(path: Path) -> None:
    """The replies are in the journal beside them."""
    with pytest.raises(UserError, match=r"^--output: names the results to judge again; "):
        adopted(path, output=str(path))


# What cannot be judged again.


NAMES = ("subject_model", "subject_sampling", "subject_system_prompt", "runs", "limit", "languages_asked")
NO_RESULTS = (b"", b"{", b"\xff\xfe", b"[]", b"null", b'"metadata"', b'{"summary":{}}')
OTHERS = "replies of others are in files that end in .csv or .jsonl"
BROKEN: list[tuple[str, Any, dict[str, str], str]] = [
    ("gone", None, {}, "cannot be read (No such file or directory)"),
    *(("no results", content, {}, f"not an Equipoise results file; {OTHERS}") for content in NO_RESULTS),
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
    OwnReplies(path).check("attribution", "d0", None)
    for name, content, about, message in BROKEN:
        with subtests.test(name, content=content):
            file = path.with_name(f"{name}.json")
            if isinstance(content, bytes):
                file.write_bytes(content)
            elif content is not None:
                save(file, **content)
            shown = str(file).replace("\n", "\\n")
            assert complaint(file, **about) == f"--replies: {shown}: {message}"
    with pytest.raises(UserError, match=r"^--replies: .*never.json: cannot be read \(No such file"):
        adopted(path.with_name("never.json"))
    assert complaint(path.parent) == f"--replies: {path.parent}: cannot be read (Is a directory)"
    write(path.with_name("old.jsonl"), format=2)
    monkeypatch.chdir(path.parent)
    assert complaint(path.with_name("gone.json")).startswith("--replies: gone.json: cannot be read")
    assert complaint(save(path.with_name("none.json"), runs=...)).startswith("--replies: none.json: its runs")
    later = f"--replies: later.json: has schema version {SCHEMA_VERSION + 1}; this Equipoise reads 1"
    assert complaint(save(path.with_name("later.json"), schema_version=SCHEMA_VERSION + 1)) == later
    old = f"--replies: old.jsonl: has format 2, not {FORMAT}"
    assert complaint(save(path.with_name("old.json"))) == old


# What the new results say of the old.


def test_the_source_is_named_with_its_check_sum(path: Path) -> None:
    """And with when it was begun, who judged, and by which rubric."""
    rejudged = {
        "results": "m.attribution.json",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "started": "2026-01-02T03:04:05+00:00",
        "evaluator_models": ["e1"],
        "rubric_version": "7",
        "rubric_hash": "r0",
    }
    assert OwnReplies(path).reference() == {"rejudged": rejudged}
    file = {"name": "answers.csv", "sha256": "f0"}
    assert OwnReplies(save(path, replies=file)).reference()["replies"] == file


def test_results_that_change_are_read_again(path: Path) -> None:
    """A notebook may judge the same file twice, and run the earlier session again in between."""
    before = OwnReplies(path).reference()
    save(path, rubric_version="8")
    os.utime(path, ns=(0, 0))
    after = OwnReplies(path).reference()
    assert (before["rejudged"]["rubric_version"], after["rejudged"]["rubric_version"]) == ("7", "8")
    digests = [item["rejudged"]["sha256"] for item in (before, after)]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digests[1] != digests[0]


# Answering calls.


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


def reply(replies: OwnReplies, call: Call, run: str = "a-run1") -> str:
    """The text with which a call is answered."""
    return replies.reply(run, call, request_hash(call)).text


NO_REPLY = "the journal has no reply of the subject to this request, and --replies never calls it"


def no_reply(replies: OwnReplies, call: Call, run: str = "a-run1") -> str:
    """Why a call is not answered."""
    with pytest.raises(CallFailed) as caught:
        reply(replies, call, run)
    return str(caught.value)


def test_the_subjects_calls_are_answered_by_run_and_request(path: Path) -> None:
    """Also of runs that ended with a score; never with a reply of an evaluator, another run or request."""
    earlier(path)
    before = path.with_suffix(".jsonl").read_bytes()
    replies = OwnReplies(path)
    assert [reply(replies, ask(f"Why {name}?"), f"{name}-run1") for name in "ba"] == [
        "Because b.",
        "Because a.",
    ]
    assert no_reply(replies, ask("Why c?", seed=1), "c-run1") == NO_REPLY
    assert no_reply(replies, ask("Why c?"), "z-run1") == NO_REPLY
    assert no_reply(replies, ask("Judge.", role="evaluator", model="e"), "c-run1") == NO_REPLY
    assert path.with_suffix(".jsonl").read_bytes() == before


def test_a_repeated_request_gets_the_replies_in_their_order(path: Path) -> None:
    """Each once."""
    log = begin(path.with_suffix(".jsonl"), ["a-run1"])
    for text in ("One.", "Two."):
        keep(log, ask("Again?"), text)
    log.close()
    replies = OwnReplies(path)
    assert [reply(replies, ask("Again?")) for _ in range(2)] == ["One.", "Two."]
    assert no_reply(replies, ask("Again?")) == NO_REPLY


def test_a_doubled_line_is_one_reply(path: Path) -> None:
    """A call that stands twice in the journal, under one id, was made once."""
    earlier(path)
    journal = path.with_suffix(".jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(line for line in lines for _ in range(2)))
    replies = OwnReplies(path)
    assert reply(replies, ask("Why a?")) == "Because a."
    assert no_reply(replies, ask("Why a?")) == NO_REPLY


def test_a_damaged_line_is_passed_over(path: Path) -> None:
    """What cannot be read is no reply; the subject is then not asked for it either."""
    earlier(path)
    journal = path.with_suffix(".jsonl")
    journal.write_bytes(journal.read_bytes().replace(b'Because a."', b"Because a."))
    replies = OwnReplies(path)
    assert no_reply(replies, ask("Why a?")) == NO_REPLY
    assert reply(replies, ask("Why b?"), "b-run1") == "Because b."


def test_a_journal_that_is_gone_by_then_is_told(path: Path) -> None:
    """The earlier journal may be moved after the check: no traceback."""
    path.with_suffix(".jsonl").unlink()
    assert "m.attribution.jsonl: cannot be read (No such file" in no_reply(OwnReplies(path), ask("Why a?"))


def test_a_journal_stands_for_its_results(path: Path) -> None:
    """As both lie beside each other; a file of JSON Lines that is no journal does not."""
    journal = path.with_suffix(".jsonl")
    assert (own.is_own(path), own.is_own(journal)) == (True, True)
    assert adopted(journal).replies == path
    rows = path.with_name("rows.jsonl")
    rows.write_text('{"id": "a", "reply": "Because."}\n', encoding="utf-8")
    assert not own.is_own(rows)


def test_an_estimate_leaves_the_subject_out(tmp_path: Path) -> None:
    """Its replies are there: the panel alone is asked, each at its own price."""
    suite, questions = "neutrality", {"aa.txt": "Why?\nWho?\n", "bb.txt": "Warum?\nWer?\n"}
    write_files(tmp_path / "topics" / suite, questions)
    path = save(tmp_path / "m.json", suite=suite)
    runs = [f"{language}-general-q0{number}-run1" for language in ("aa", "bb") for number in (1, 2)]
    begin(tmp_path / "m.jsonl", runs, suite=suite).close()
    options = {"replies": str(path), "evaluator_model": ["local", "gpt-4o"], "api_base_url": "http://x/v1"}
    planned = Plan(resolved(options), tmp_path, SessionAudits(tmp_path))
    lines = [*estimate.of_session(planned, suite, runs).lines()]
    assert lines[0] == "runs:      4 to do"
    assert not any(line.startswith("subject:") for line in lines)
    assert lines[1] == "evaluator: local: 4 calls, 0.00 USD (0.00 to 0.00)"
    assert lines[4].startswith("evaluator: gpt-4o: 4 calls, 0.0")
    assert lines[-1].removeprefix("total:").strip().startswith(lines[4].split("calls, ")[1])
