"""The calls of batches as files: the lines that others read and write, one phase after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_server import EXPIRED, BatchServer
from fake_client import FakeClient, Project, Ran

from equipoise.core.errors import UserError
from loopback import JUDGE, SUBJECT, Answer, completion, error, is_judge, plain_script

ALL = 2 * 2 * 5
Lines = list[dict[str, Any]]


class Bed:
    """A project whose calls are written to files; its endpoint must not be asked."""

    def __init__(self, folder: Path, server: BatchServer) -> None:
        self.project = Project(folder, FakeClient())
        self.server = server
        self.folder = folder

    def run(self, *answers: str, write: str | None = "calls.jsonl", **options: Any) -> Ran:
        """One session."""
        models = {"model": SUBJECT, "evaluator_model": [JUDGE], "api_base_url": self.server.url}
        files = {"batch_write": write, "batch_read": list(answers) or None}
        return self.project.run(**{**models, "batch": "yes", **files, **options})

    def calls(self, name: str = "calls.jsonl") -> Lines:
        """The lines of a file."""
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    def answer(self, name: str, lines: Lines, script: Callable[[dict[str, Any]], Any]) -> str:
        """Answer lines as `vllm run-batch` does, last ones first."""
        rows = []
        for line in reversed(lines):
            reply = script(line["body"])
            if isinstance(reply, Answer):
                response = {"status_code": reply.status, "request_id": "r", "body": reply.body}
            else:
                response = {"status_code": 200, "request_id": "r", "body": completion(reply)}
            rows.append({"id": "vllm-1", "custom_id": line["custom_id"], "response": response, "error": None})
        (self.folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return name


@pytest.fixture
def bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bed]:
    """A project, and an endpoint that must not be asked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("equipoise.runner.batches.transport.QUIET_SECONDS", 0.02)
    with BatchServer() as server:
        yield Bed(tmp_path, server)
        assert not server.requests
        assert not server.log


def usual(body: dict[str, Any]) -> str:
    """The answer of the scripted server."""
    return plain_script(body, 0)


def test_a_session_by_files_alone(bed: Bed) -> None:
    """The subject's phase is a file, the same however often it is written, then the evaluator's."""
    first = bed.run()
    assert len(first.waiting) == ALL
    assert first.batches == [
        f"have calls.jsonl ({ALL} calls) answered, then give the answers to `equipoise batch read`, "
        "with the same options"
    ]
    assert f"{ALL} of {ALL} runs are still to be done" in first.summary
    lines = bed.calls()
    assert all(list(line) == ["custom_id", "method", "url", "body"] for line in lines)
    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    bed.run(write="again.jsonl")
    assert bed.calls("again.jsonl") == lines
    bed.answer("a.jsonl", lines, usual)
    second = bed.run("a.jsonl", write="next.jsonl")
    assert len(second.waiting) == ALL
    assert {line["body"]["model"] for line in bed.calls("next.jsonl")} == {JUDGE}
    bed.answer("b.jsonl", bed.calls("next.jsonl"), usual)
    last = bed.run("b.jsonl", write=None)
    assert last.is_complete
    assert last.batches == []
    assert not any("give --price" in line for line in last.summary)
    endpoints = bed.project.results()["metadata"]["endpoints"]
    assert endpoints == {"subject": "file", "evaluator": "file"}
    assert len(bed.project.lines("call")) == 2 * ALL


def test_what_has_no_answer_is_written_again(bed: Bed) -> None:
    """Lost, expired and failed lines; a line that fails for good ends its run."""
    bed.run()
    lines = bed.calls()
    fates = iter([error(500, "Oops."), error(400, "Bad request."), None] * ALL)
    bed.answer("a.jsonl", lines[:-2], lambda body: next(fates) or usual(body))
    path = bed.folder / "a.jsonl"
    expired = {"id": "1", "custom_id": lines[-1]["custom_id"], "response": None, "error": EXPIRED}
    path.write_text(path.read_text() + json.dumps(expired) + "\n")
    bed.run("a.jsonl", write="next.jsonl")
    outcomes = [line["record"]["outcome"] for line in bed.project.lines("record")]
    assert outcomes == ["error"] * 6
    models = [line["body"]["model"] for line in bed.calls(f"next.{SUBJECT}.jsonl")]
    assert len(models) == 6 + 2
    assert len(bed.calls(f"next.{JUDGE}.jsonl")) == 6


def test_ignored_answers_are_counted(bed: Bed) -> None:
    """Those of other sessions, doubled ones, and lines that are none."""
    bed.run()
    lines = bed.calls()
    bed.answer("a.jsonl", [*lines, lines[0], {**lines[0], "custom_id": "x"}], usual)
    path = bed.folder / "a.jsonl"
    path.write_text(path.read_text() + "not a line\n")
    ran = bed.run("a.jsonl", write=None)
    assert ran.batches == [
        "answers that were ignored: 1 with another id, 1 duplicate, 1 unreadable "
        f"(a.jsonl:{ALL + 3}: not a JSON object in one line)",
        f"{ALL} calls have no answer yet; `equipoise batch write` writes them",
    ]


OTHER_FORMS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "content alone": (
        lambda row: {"custom_id": row["custom_id"], "content": "x"},
        "a.jsonl:1: has no `response`",
    ),
    "the body alone": (lambda row: completion("x"), "a.jsonl:1: has no `custom_id` and no `response`"),
    "a text as response": (
        lambda row: {"custom_id": row["custom_id"], "response": "x"},
        "a.jsonl:1: has no status_code and body in `response`",
    ),
    "the requests": (lambda row: row, "a.jsonl:1: a request, as `equipoise batch write` writes it"),
    "a list": (lambda row: [row], "a.jsonl:1: not a JSON object"),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", OTHER_FORMS)
def test_lines_in_another_form_are_named(bed: Bed, form: str) -> None:
    """Alone in a file they are refused; beside answers they are counted, and the first one is named."""
    change, why = OTHER_FORMS[form]
    bed.run()
    lines = bed.calls()
    other = "".join(json.dumps(change(line)) + "\n" for line in lines)
    (bed.folder / "a.jsonl").write_text(other)
    with pytest.raises(UserError) as refused:
        bed.run("a.jsonl")
    assert str(refused.value).startswith("--batch-read: a.jsonl: has no line with a custom_id and a response")
    assert why in str(refused.value)
    answered = bed.answer("b.jsonl", lines[:1], usual)
    (bed.folder / "a.jsonl").write_text(other + (bed.folder / answered).read_text())
    ran = bed.run("a.jsonl", write=None)
    assert ran.batches[0].startswith(f"answers that were ignored: {ALL} unreadable ({why}")


def test_of_doubled_answers_the_good_one_counts(bed: Bed) -> None:
    """Whichever comes first, in one file or in two."""
    bed.run()
    lines = bed.calls()
    bed.answer("bad.jsonl", lines, lambda body: error(400, "Bad request."))
    bed.answer("good.jsonl", lines, usual)
    bed.run("bad.jsonl", "good.jsonl", write="next.jsonl")
    assert len(bed.calls("next.jsonl")) == ALL
    assert not bed.project.lines("record")


def test_other_options_do_not_archive_what_is_in_files(bed: Bed) -> None:
    """The answers would have other ids; with the options as before they are read."""
    bed.run()
    bed.answer("a.jsonl", bed.calls(), usual)
    for options in ({"evaluator_model": ["other"]}, {"subject_temperature": "0.5"}):
        for answers in ([], ["a.jsonl"]):
            with pytest.raises(UserError) as refused:
                bed.run(*answers, write="other.jsonl", **options)
            assert "cannot be resumed with other options" in str(refused.value)
            assert "the answers to the requests in calls.jsonl" in str(refused.value)
    with pytest.raises(UserError, match="cannot be resumed with other options"):
        bed.run(write=None, batch="no", evaluator_model=["other"])
    assert not (bed.folder / "results" / "archive").exists()
    ran = bed.run("a.jsonl", write="next.jsonl")
    assert len(bed.project.lines("call")) == ALL
    assert not any("ignored" in message for message in ran.batches)
    assert len(bed.calls("next.jsonl")) == ALL


def test_each_model_of_a_panel_has_a_file(bed: Bed) -> None:
    """One model a file, as `vllm run-batch` needs it."""
    panel: dict[str, Any] = {"evaluator_model": [JUDGE, "judge-2"]}
    bed.run(**panel)
    bed.answer("a.jsonl", bed.calls(), usual)
    bed.run("a.jsonl", **panel)
    for model in panel["evaluator_model"]:
        assert {line["body"]["model"] for line in bed.calls(f"calls.{model}.jsonl")} == {model}
    answers = [
        bed.answer(f"{model}.answers", bed.calls(f"calls.{model}.jsonl"), usual)
        for model in panel["evaluator_model"]
    ]
    assert bed.run(*answers, write=None, **panel).is_complete


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"answers": ["nowhere.jsonl"]}, "--batch-read: nowhere.jsonl: cannot be read"),
        ({"answers": ["topics/attribution/questions.csv"]}, "has no line with a custom_id and a response"),
        ({"write": "nowhere/calls.jsonl"}, "there is no such folder"),
        ({"batch": "no"}, "are for calls in batches; add --batch"),
    ],
)
def test_bad_files_are_refused(bed: Bed, options: dict[str, Any], why: str) -> None:
    """In one line, before anything else."""
    answers = options.pop("answers", [])
    with pytest.raises(UserError, match=why):
        bed.run(*answers, **options)


def test_the_judge_is_asked_as_ever_with_files_of_one_role(bed: Bed) -> None:
    """--batch=subject writes the subject's calls alone."""
    bed.run(batch="subject")
    bed.answer("a.jsonl", bed.calls(), usual)
    assert bed.run("a.jsonl", batch="subject").is_complete
    assert all(map(is_judge, bed.server.requests))
    bed.server.requests.clear()
