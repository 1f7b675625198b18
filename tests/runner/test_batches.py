"""Calls in batches: found again, read once, retried where they fail, and never sent twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from asked import DATASET
from batch_server import NO_FUNDS, ROUNDS, UNREADABLE, BatchServer, Faults
from fake_client import FakeClient, Project, Ran
from journals import ask

from conftest import refusal
from equipoise.core.settings import Endpoint
from equipoise.core.types import Reply
from equipoise.models import retry
from equipoise.models.budget import Budget
from equipoise.models.counters import Counters
from equipoise.models.rate_limit import Limiter
from equipoise.results import history
from equipoise.runner.batches import intents, sent, submissions
from equipoise.runner.batches import transport as phases
from equipoise.runner.batches.endpoint import read_result_line
from equipoise.runner.context import open_context
from equipoise.runner.transport import Request
from loopback import JUDGE, SUBJECT, Answer, error, is_judge

RUNS = 10
ALL = 2 * 2 * RUNS
"""Languages, questions, runs; as many calls in each of the two phases."""
PRICE: dict[str, Any] = {"price_input": "1", "price_output": "10"}


class Bed:
    """A project whose sessions ask a server with batches."""

    def __init__(self, folder: Path, server: BatchServer) -> None:
        self.project = Project(folder, FakeClient())
        self.server = server
        self.live: dict[str, Any] = {}
        self.options: dict[str, Any] = {
            "model": SUBJECT,
            "evaluator_model": [JUDGE],
            "api_base_url": server.url,
            "api_key": "sk-one-0123456789abcdef",
            "runs": str(RUNS),
        }

    def run(self, **options: Any) -> Ran:
        """One session, in batches unless told otherwise."""
        return self.project.run(**{**self.options, "batch": "yes", **options})

    def run_to_end(self, most: int = 8, **options: Any) -> list[Ran]:
        """The same command until nothing waits."""
        ran = []
        for _ in range(most):
            ran.append(self.run(**options))
            if ran[-1].is_complete:
                return ran
        raise AssertionError(f"not complete: {ran[-1].stop_reason} {ran[-1].waiting} {ran[-1].notices}")

    def finish(self, **options: Any) -> list[Ran]:
        """The same command until nothing waits: scores as of ordinary calls, and each call was sent once."""
        ran = self.run_to_end(**options)
        assert self.scores() == self.live
        assert set(self.server.sent.values()) == {1}
        return ran

    def scores(self) -> dict[str, Any]:
        """The score of each run."""
        return {line["run"]: line["record"]["score"] for line in self.project.lines("record")}

    def intents(self) -> intents.Intents:
        """What the file beside the journal says."""
        return intents.load(self.project.journal_path.with_suffix(".batches"))

    def counts(self) -> list[dict[str, int]]:
        """What was counted of each batch that is over."""
        lines = map(json.loads, self.project.journal_path.with_suffix(".batches").read_text().splitlines())
        return [line["counts"] for line in lines if line["kind"] == "over"]

    def batched(self) -> list[str]:
        """The ids of the calls that came in batches."""
        return [line["batch"] for line in self.project.lines("call") if "batch" in line]


@pytest.fixture(scope="module")
def live_scores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The scores of a session without batches."""
    with BatchServer() as server, pytest.MonkeyPatch.context() as patch:
        bed = Bed(tmp_path_factory.mktemp("live"), server)
        patch.chdir(bed.project.root)
        assert bed.run(batch="no").is_complete
        return bed.scores()


@pytest.fixture
def bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, live_scores: dict[str, Any]) -> Iterator[Bed]:
    """A project and a server, whose batches are done at the first look."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sent, "LOOKUP_SECONDS", 0.05)
    monkeypatch.setattr(submissions, "FIRST_POLL", 0.02)
    monkeypatch.setattr(phases, "QUIET_SECONDS", 0.02)
    with retry.testing(first=0.01, longest=0.02), BatchServer() as server:
        opened = Bed(tmp_path, server)
        opened.live = live_scores
        yield opened


def test_two_phases_and_nothing_but_batches(bed: Bed) -> None:
    """Each noted as over, in lines as documented, with a digest of the key."""
    (ran,) = bed.finish()
    assert not bed.server.requests
    assert [batch["request_counts"]["total"] for batch in bed.server.batches.values()] == [ALL, ALL]
    assert sorted(bed.batched()) == sorted(bed.server.sent)
    noted = bed.intents()
    assert [counts["answered"] for counts in bed.counts()] == [ALL, ALL]
    assert not noted.waiting
    assert not ran.waiting
    metadata = bed.project.results()["metadata"]
    assert metadata["calls"]["batched"] == 2 * ALL
    for line in bed.server.lines():
        assert list(line) == ["custom_id", "method", "url", "body"]
        assert len(line["custom_id"]) == 40
        assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
        assert {"model", "messages"} <= line["body"].keys()
    names = [batch["metadata"] for batch in bed.server.batches.values()]
    assert names == [{"equipoise": name} for name in noted.by_id]
    text = bed.project.journal_path.with_suffix(".batches").read_text()
    assert "sk-one" not in text
    assert len({json.loads(line).get("credential") for line in text.splitlines()} - {None}) == 1
    assert ROUNDS >= 100_000


def set_faults(**faults: Any) -> Callable[[Bed], None]:
    """Faults of lines."""

    def prepare(bed: Bed) -> None:
        for name, value in faults.items():
            setattr(bed.server.faults, name, value)

    return prepare


def fail_once(answer: Answer) -> Callable[[dict[str, Any], int], Answer | None]:
    """Every third line fails the first time that it is sent."""
    count = iter(range(10**6))
    return lambda body, times: answer if times == 1 and next(count) % 3 == 0 else None


def before(kind: str, *answers: Answer | None) -> Callable[[Bed], None]:
    """Requests of a kind that are answered in another way, and not carried out."""
    return lambda bed: bed.server.faults.before.setdefault(kind, []).extend(answers)


def after(kind: str, *answers: Answer | None) -> Callable[[Bed], None]:
    """Requests of a kind that are carried out, and answered in another way."""
    return lambda bed: bed.server.faults.after.setdefault(kind, []).extend(answers)


DROP = Answer(drop=True)
FAULTS: dict[str, Callable[[Bed], None]] = {
    "delays": lambda bed: setattr(bed.server, "looks", 2),
    "lost lines": set_faults(lost=0.1),
    "doubled ids": set_faults(doubled=0.3),
    "unknown ids": set_faults(unknown=5),
    "lines with 429": set_faults(fails=fail_once(error(429, "Rate limit reached."))),
    "lines with 500": set_faults(fails=fail_once(error(500, "Internal error."))),
    "expiry with part of the work done": set_faults(done=0.4),
    "429 at upload": before("POST files", error(429, "Slow down."), error(429, "Slow down.")),
    "503 at upload": before("POST files", *[error(503, "Busy.")] * 3),
    "upload without an answer": after("POST files", DROP),
    "429 at creation": before("POST batches", error(429, "Slow down.")),
    "500 at creation": before("POST batches", error(500, "Oops.")),
    "creation not accepted, no answer": before("POST batches", DROP),
    "creation accepted, answer lost": after("POST batches", DROP),
    "creation accepted, 500": after("POST batches", error(500, "Oops.")),
    "creation accepted, answer unreadable": after("POST batches", Answer("<html>")),
    **{
        f"creation accepted, {what} as id": after(
            "POST batches", Answer({"id": name, "input_file_id": "file-1"})
        )
        for what, name in (("nothing", ""), ("a long text", "x" * 10_000), ("escapes", "batch\x1b[2J\n1"))
    },
    "503 at each look": before("GET batches/ID", *[error(503, "Busy.")] * 2),
    "broken downloads": set_faults(broken_downloads=3),
    "503 at download": before("GET files/ID/content", error(503, "Busy.")),
    "too many lines": set_faults(most_lines=25),
    "too much enqueued": set_faults(whole=["token_limit_exceeded"]),
    "file deleted before creation": before("POST batches", error(404, "No such File object: file-1")),
}


QUICK = (
    "lost lines",
    "too much enqueued",
    "expiry with part of the work done",
    "creation not accepted, no answer",
    "creation accepted, answer lost",
    "broken downloads",
    "too many lines",
)


@pytest.mark.parametrize(
    "fault", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in FAULTS]
)
def test_faults_lose_nothing_and_change_nothing(bed: Bed, fault: str) -> None:
    """No line was answered and sent again, none is missing or waits, no batch was created twice."""
    FAULTS[fault](bed)
    ran = bed.run_to_end()
    assert ran[-1].in_batches == 0
    assert bed.scores() == bed.live
    bed.server.conclude()
    assert set(bed.server.answered.values()) == {1}
    assert set(bed.server.sent.values()) == {1} or not fault.startswith("creation accepted")
    assert len(bed.project.lines("call")) == 2 * ALL
    assert len(set(bed.batched())) == len(bed.batched())


def test_files_are_cut_by_bytes(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    """None is larger than an endpoint takes."""
    monkeypatch.setattr(submissions, "MOST_BYTES", 10_000)
    bed.finish()
    files = [batch["input_file_id"] for batch in bed.server.batches.values()]
    sizes = [len(bed.server.files[name]) for name in files]
    assert len(sizes) > 4
    assert max(sizes) <= 10_000


def test_ignored_lines_are_counted_and_told(bed: Bed) -> None:
    """In a notice and in the file of intents."""
    set_faults(unknown=5, doubled=1.0)(bed)
    (ran,) = bed.run_to_end()
    counted = f"{ALL} of {ALL} calls were answered; lines: 5 with another id, {ALL} duplicate"
    assert [notice.partition(": ")[2] for notice in ran.notices] == [counted, counted]
    assert [(counts["unknown"], counts["doubled"]) for counts in bed.counts()] == [(5, ALL)] * 2


def test_a_rejected_parameter_is_left_out_of_the_next_batch(bed: Bed) -> None:
    """As with ordinary calls, and it is recorded."""

    def fails(body: dict[str, Any], times: int) -> Answer | None:
        if "temperature" in body and not is_judge(body):
            return error(400, "Unsupported parameter: 'temperature'.", param="temperature")
        return None

    bed.server.faults.fails = fails
    bed.run_to_end()
    assert not bed.server.requests
    assert len(bed.server.batches) == 3
    assert {line["parameter"] for line in bed.project.lines("learned")} == {"temperature"}


def test_a_line_that_fails_for_good_is_made_by_itself(bed: Bed) -> None:
    """And fails with the same words as ever; a filter's code is a finding."""
    refused = {"aa": error(400, "Bad request."), "bb": error(400, "no", code="content_filter")}

    def fails(body: dict[str, Any], times: int) -> Answer | None:
        question = body["messages"][-1]["content"]
        failures = {"What is one?": refused["aa"], "O que é um?": refused["bb"]}
        return failures.get(question)

    bed.server.faults.fails = fails
    bed.server.script = lambda body, number: fails(body, 1) or "x"
    bed.run()
    outcomes = [line["record"]["outcome"] for line in bed.project.lines("record")]
    assert (outcomes.count("error"), outcomes.count("blocked")) == (RUNS, RUNS)
    assert {body["messages"][-1]["content"] for body in bed.server.requests} == {"What is one?"}


def test_tries_in_batches_count_across_sessions(bed: Bed) -> None:
    """A call that has failed in two batches is made by itself, even if a session ended between them."""
    bed.server.looks = 2
    bed.server.faults.fails = lambda body, times: (
        error(500, "Internal error.") if body["messages"][-1]["content"].startswith("What") else None
    )
    ran = bed.run_to_end(batch_wait="0")
    assert len(ran) > 2
    assert bed.scores() == bed.live
    assert sorted(bed.server.sent.values()) == [*[1] * 60, *[2] * 20]
    assert len(bed.server.requests) == 20


def test_few_calls_are_made_one_by_one(bed: Bed) -> None:
    """No batch for fewer than 20."""
    assert bed.run(runs="4").is_complete
    assert not bed.server.batches
    assert len(bed.server.requests) == 32


def test_batches_of_one_role(bed: Bed) -> None:
    """The other role's calls are made as they come."""
    assert bed.run(batch="evaluator").is_complete
    assert bed.scores() == bed.live
    assert bed.server.count(judge=False) == ALL
    assert {line["body"]["model"] for line in bed.server.lines()} == {JUDGE}


@pytest.mark.slow
def test_an_endpoint_without_batches_is_asked_call_by_call(bed: Bed) -> None:
    """And the user is told."""
    bed.server.faults.unsupported = True
    ran = bed.run()
    assert ran.is_complete
    assert bed.scores() == bed.live
    assert any(
        "has no batches (HTTP 404: Not Found): its calls are made one by one" in n for n in ran.notices
    )
    assert bed.server.log == ["POST files"]


def test_a_status_that_is_true_is_no_status() -> None:
    """True is an integer in Python: a line with it does not say how the call ended."""
    for text, status in (("true", None), ("200", 200)):
        line = f'{{"custom_id": "a", "response": {{"status_code": {text}, "body": {{}}}}}}'
        result_line = read_result_line(line.encode())
        assert (result_line and result_line.status) == status


# Where it stops and asks.


def test_where_it_cannot_know_it_stops_and_sends_nothing_again(bed: Bed) -> None:
    """A creation without an answer at an endpoint without a list."""
    after("POST batches", DROP)(bed)
    bed.server.faults.lists = False
    for _ in range(2):
        ran = bed.run()
        assert ran.stop_reason is not None
        assert "may have been created" in ran.stop_reason
        assert "equipoise batch settle results/subject.attribution.batches" in ran.stop_reason
    assert len(bed.server.batches) == 1
    (intent,) = bed.intents().waiting
    file = bed.intents()
    file.append(intents.CreatedLine(intent=intent.id, batch="batch_1"))
    bed.run_to_end()
    assert set(bed.server.sent.values()) == {1}


def test_a_list_that_names_no_files_does_not_show_that_a_batch_is_missing(bed: Bed) -> None:
    """The calls of a batch whose creation was not answered would be sent, and paid for, twice."""
    after("POST batches", DROP)(bed)
    bed.server.faults.lists_files = False
    ran = bed.run()
    assert "the list of batches names no files" in str(ran.stop_reason)
    assert set(bed.server.sent.values()) == {1}


def test_an_expiry_time_in_milliseconds_is_ignored(bed: Bed) -> None:
    """It is no time that a message could show; how many calls are done is."""
    bed.server.looks, bed.server.faults.expires_at = 2, 1_900_000_000_000
    done = {"total": ALL, "completed": 3, "failed": 2}
    bed.server.faults.look = lambda batch: {**batch, "request_counts": done}
    (line,) = bed.run().batches
    assert "(batch_1: in_progress, 5 of 40 done); run the same command again within a day" in line
    bed.server.faults.look = lambda batch: batch
    bed.finish()


def test_results_that_are_gone_are_not_paid_for_again(bed: Bed) -> None:
    """The endpoint has deleted the file: it stops until the user has decided."""
    before("GET files/ID/content", *[error(404, "No such File object: file-2")] * 2)(bed)
    for _ in range(2):
        ran = bed.run()
        assert ran.stop_reason is not None
        assert "may have been paid for, so they are not sent again" in ran.stop_reason
    assert len(bed.server.batches) == 1


LOOKS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "no file yet": lambda batch: {**batch, "output_file_id": None},
    "no file and no counts": lambda batch: {**batch, "output_file_id": None, "request_counts": None},
    "the input file": lambda batch: {**batch, "output_file_id": batch["input_file_id"]},
    "a file of errors alone": lambda batch: {
        **batch,
        "output_file_id": None,
        "error_file_id": batch["output_file_id"] and "file-0",
    },
    "failed with answers": lambda batch: {**batch, "status": "failed", "output_file_id": None},
    "as another batch": lambda batch: {**batch, "metadata": {"equipoise": "0" * 32}},
    "another input file": lambda batch: {**batch, "metadata": None, "input_file_id": "file-99"},
    "a control character in an id": lambda batch: {**batch, "error_file_id": "file\x002\n"},
    "a long id": lambda batch: {**batch, "error_file_id": "f" * 100_000},
    "an empty id": lambda batch: {**batch, "id": ""},
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", [*UNREADABLE, *LOOKS])
def test_results_that_cannot_be_read_are_not_paid_for_again(bed: Bed, damage: str) -> None:
    """The user is told which batch it is; nothing is sent again, and they are read later."""
    if damage in UNREADABLE:
        bed.server.faults.download = UNREADABLE[damage]
    else:
        over, bed.server.files["file-0"] = LOOKS[damage], b""
        bed.server.faults.look = lambda batch: over(batch) if batch["status"] == "completed" else batch
    ran = bed.run()
    assert (ran.stop_reason, ran.is_complete, bool(ran.waiting)) == (None, False, True)
    assert all(len(message) <= 500 for message in ran.batches)
    assert bed.server.url in ran.batches[0]
    if damage in UNREADABLE:
        assert "file-2" in ran.batches[0]
        assert "batch_1" in ran.batches[0]
    assert set(bed.server.sent.values()) == {1}
    assert not bed.server.count(judge=False)
    bed.server.faults = Faults()
    bed.finish()
    assert not bed.server.count(judge=False)
    assert bed.server.log.count("GET files/ID/content") > 3 or damage in LOOKS


def test_no_message_is_long(bed: Bed) -> None:
    """Whatever an endpoint puts into ids, states and errors, it is cut, and escaped."""
    noise = "\x1b[2J\n\x00" * 30_000
    long_id = {"id": "b" * 256, "input_file_id": "f" * 256, "output_file_id": "o" * 256}
    looks: list[dict[str, Any]] = [
        {"status": noise},
        {**long_id, "status": "in_progress"},
        {**long_id, "status": "completed", "request_counts": {"completed": 10**400}},
        {"status": "failed", "errors": {"data": [{"message": noise, "code": noise}]}, "output_file_id": None},
    ]
    messages = []
    for changes in looks:
        bed.server.faults.look = lambda batch, changes=changes: {**batch, **changes}  # type: ignore[misc]
        ran = bed.run()
        messages += [*ran.batches, *ran.notices, *filter(None, [ran.stop_reason])]
    assert len(messages) >= len(looks)
    assert all(message.isprintable() and len(message) <= 500 for message in messages), messages


@pytest.mark.parametrize("has_files", [False, True])
def test_an_expired_batch_is_sent_again(bed: Bed, has_files: bool) -> None:
    """The endpoint says that it has done none of its calls: these have a try more than others that fail."""
    faults, none = bed.server.faults, {"total": ALL, "completed": 0, "failed": 0}

    def look(batch: dict[str, Any]) -> dict[str, Any]:
        faults.done = None
        is_bare = batch["id"] == "batch_1" and not has_files
        return {**batch, "error_file_id": None, "request_counts": none} if is_bare else batch

    faults.done, faults.look = 0.0, look
    faults.fails = lambda body, times: error(500, "Oops.") if times == 2 else None
    bed.run_to_end()
    assert bed.scores() == bed.live
    assert sorted(set(bed.server.sent.values())) == [1, 3]
    assert not bed.server.requests


@pytest.mark.slow
def test_batches_that_end_at_once_without_an_answer_stop_the_session(bed: Bed) -> None:
    """They would be sent for ever; the same command goes on once the endpoint answers."""
    bed.server.faults.done = 0.0
    ran = bed.run()
    assert "batch_3 is expired, as others were, and has no answer" in str(ran.stop_reason)
    assert set(bed.server.sent.values()) == {3}
    bed.server.faults.done = None
    bed.run_to_end()
    assert bed.scores() == bed.live


def test_of_doubled_lines_the_good_one_counts(bed: Bed) -> None:
    """Whichever comes first, in whichever file."""

    def with_errors(data: bytes) -> tuple[int, bytes]:
        bad = error(500, "Oops.").body
        rows = [json.loads(line) for line in data.splitlines()]
        doubles = [{**row, "response": {"status_code": 500, "body": bad}} for row in rows]
        half = len(rows) // 2
        every = [*doubles[:half], *rows, *doubles[half:]]
        return 200, "".join(json.dumps(row) + "\n" for row in every).encode()

    bed.server.faults.download = with_errors
    bed.finish()
    assert not bed.server.requests


def test_a_batch_that_fails_as_a_whole_stops_the_session(bed: Bed) -> None:
    """None of its calls was made: the same command sends them again once the cause is gone."""
    set_faults(whole=["model_not_found"])(bed)
    ran = bed.run()
    assert "failed, and none of its calls was made: The batch was refused." in str(ran.stop_reason)
    bed.finish()


def test_low_funds_stop_the_session(bed: Bed) -> None:
    """At creation, and in the middle of a batch; what is done stays, the rest is sent once there is money."""
    before("POST batches", NO_FUNDS)(bed)
    assert "top up the account" in str(bed.run().stop_reason)
    number = iter(range(ALL))
    bed.server.faults.fails = lambda body, times: NO_FUNDS if next(number, 0) >= ALL // 2 else None
    assert "top it up" in str(bed.run().stop_reason)
    assert len(bed.project.lines("call")) == ALL // 2
    bed.server.faults.fails = lambda body, times: None
    bed.run_to_end()
    assert bed.scores() == bed.live
    assert set(bed.server.answered.values()) == {1}


def test_other_batches_of_the_account_are_left_alone(bed: Bed) -> None:
    """Those of a second client, with files and metadata of its own, a hundred of them before ours."""
    bed.server.faults.after["POST batches"] = [DROP]
    bed.server.looks = 99
    other = {"status": "in_progress", "metadata": {"mine": "1"}, "input_file_id": "file-x", "endpoint": "/v1"}
    bed.run()
    for number in range(150):
        bed.server.batches[f"other_{number}"] = {**other, "id": f"other_{number}"}
    with suppress(FileNotFoundError):
        # As if killed before the answer was looked for.
        path = bed.project.journal_path.with_suffix(".batches")
        path.write_text("".join(line for line in path.open() if '"created"' not in line))
    bed.server.finish()
    bed.finish()
    assert {batch["status"] for name, batch in bed.server.batches.items() if "other" in name} == {
        "in_progress"
    }


# Refusals.


def test_another_key_is_refused(bed: Bed) -> None:
    """While calls wait; nothing is asked. So are other options."""
    bed.server.looks = 99
    bed.run()
    log = len(bed.server.log)
    assert "with another key than that of the subject (--api-key)" in refusal(
        bed.run, api_key="sk-two-fedcba98765432"
    )
    assert "cannot be resumed with other options" in refusal(bed.run, subject_temperature="0.5")
    assert len(bed.server.log) == log
    assert not bed.server.requests


def test_an_edited_intent_is_refused(bed: Bed) -> None:
    """In one line, before any request: its calls would be sent, and paid for, twice."""
    bed.server.looks = 99
    bed.run()
    path = bed.project.journal_path.with_suffix(".batches")
    text, log = path.read_text(), len(bed.server.log)
    path.write_text(text.replace('"reserved":0', '"reserved":5'))
    assert "subject.attribution.batches:1: is damaged" in refusal(bed.run)
    assert len(bed.server.log) == log
    path.write_text(text)
    bed.server.finish()
    bed.finish()


def test_without_the_option_calls_in_batches_are_not_made_again(bed: Bed) -> None:
    """They are read as soon as they are there; the others are made one by one."""
    bed.server.looks = 2
    bed.run()
    assert len(bed.run(batch="no", batch_wait="60s").records) == ALL
    assert bed.scores() == bed.live
    assert len(bed.server.batches) == 1
    assert len(bed.server.requests) == bed.server.count(judge=True) == ALL


@pytest.mark.parametrize("kind", ["POST files", "POST batches", "GET batches/ID", "GET files/ID/content"])
def test_a_key_that_an_endpoint_quotes_is_masked(bed: Bed, kind: str) -> None:
    """In what the user is told, and in all files."""
    key = bed.options["api_key"]
    before(kind, error(401, f"Incorrect API key provided: {key}."))(bed)
    ran = bed.run()
    assert "Incorrect API key provided: ****" in str(ran.stop_reason)
    files = [path for path in (bed.project.root / "results").iterdir() if path.is_file()]
    assert len(files) >= 3
    assert not any(key in path.read_text() for path in files)


# Money.


def test_batches_cost_half(bed: Bed) -> None:
    """The given price less the discount; ordinary calls beside them cost what they cost."""
    bed.run_to_end(**PRICE)
    usual = ALL * (100 * 1 + 20 * 10) / 1e6
    about = bed.project.results()["metadata"]
    assert about["cost_usd"] == {"subject": pytest.approx(usual / 2), "evaluator": pytest.approx(usual / 2)}
    assert about["batch_discount"] == 50


def test_calls_that_fail_in_a_batch_cost_nothing(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was set aside for them is given back, and of others what was not needed."""
    amounts: list[int] = []
    monkeypatch.setattr(Budget, "commit", lambda budget, amount: amounts.append(amount))
    set_faults(fails=fail_once(error(500, "Internal error.")))(bed)
    bed.run_to_end(**PRICE, max_cost="1000", subject_max_tokens="20", evaluator_max_tokens="20")
    assert sum(amounts) == len(bed.batched()) * (100 * 1 + 20 * 10) * 1000 / 2


@pytest.mark.slow
def test_a_cost_limit_holds_across_restarts(bed: Bed) -> None:
    """What earlier sessions have spent, and what waits, counts; a batch is cut to what is left."""
    bed.project.write_topics()
    bed.server.looks = 2
    limit = 1.5 * ALL * (100 * 1 + 20 * 10) / 1e6 / 2
    options = {**PRICE, "max_cost": f"{limit:.6f}", "subject_max_tokens": "20", "evaluator_max_tokens": "20"}
    ran = [bed.run(**options) for _ in range(8)]
    assert any("--max-cost" in str(item.stop_reason) for item in ran)
    about = bed.project.results()["metadata"]
    assert 0 < sum(about["cost_usd"].values()) <= limit
    assert set(bed.server.sent.values()) == {1}


def test_without_a_bound_one_call_comes_first(bed: Bed) -> None:
    """It shows how long replies are; the rest is a batch."""
    bed.run_to_end(**PRICE, max_cost="1000")
    assert [is_judge(body) for body in bed.server.requests] == [False, True]
    assert len(bed.server.lines()) == 2 * ALL - 2


@pytest.mark.parametrize("most", [30, ALL])
def test_call_limits_count_lines(bed: Bed, most: int) -> None:
    """A batch is cut to them, and none is sent once they are used up."""
    ran = bed.run(max_calls=str(most))
    assert f"--max-calls {most} is used up: requests sent: {most}" in str(ran.stop_reason)
    assert len(bed.server.lines()) == most


# Parts and repeats.


@pytest.mark.slow
def test_more_runs_are_sent_while_others_wait(bed: Bed) -> None:
    """Each call is in one batch."""
    bed.server.looks = 4
    bed.run()
    bed.run(runs=str(2 * RUNS))
    bed.run_to_end(runs=str(2 * RUNS))
    assert set(bed.server.sent.values()) == {1}
    assert len(bed.scores()) == 2 * ALL


def test_a_part_of_the_runs_leaves_the_results_of_the_others(bed: Bed) -> None:
    """Of a batch that has more calls than are wanted now; they are read when they are."""
    bed.server.looks = 2
    bed.run()
    wanted = {**bed.options, "batch": "yes", "batch_wait": "60s"}
    part = bed.project.run(lambda run: run.case.language == "aa", **wanted)
    assert len(part.records) == ALL / 2
    bed.run_to_end()
    assert len(bed.scores()) == ALL
    assert set(bed.server.sent.values()) == {1}


@pytest.mark.slow
def test_runs_without_a_score_are_asked_again(bed: Bed) -> None:
    """Not answered by the batch that has their old verdicts."""
    good = bed.server.script
    bed.server.script = lambda body, number: "no verdict" if is_judge(body) else good(body, number)
    bed.run(keep_going=True)
    assert set(bed.scores().values()) == {None}
    bed.server.script = good
    bed.run_to_end()
    assert None not in list(bed.scores().values())[-ALL:]


def test_fresh_archives_the_intents(bed: Bed) -> None:
    """With journal and results; the new session has calls of its own."""
    bed.server.looks = 99
    bed.run()
    bed.server.finish()
    ran = bed.run(fresh=True)
    assert ran.is_complete
    assert [path.suffix for path in sorted((bed.project.root / "results" / "archive").iterdir())] == [
        ".batches",
        ".json",
        ".jsonl",
    ]
    assert set(bed.server.sent.values()) == {1}


@pytest.mark.slow
def test_rounds_are_batches(bed: Bed) -> None:
    """--until opens a round once the one before it is there."""
    bed.project.write_questions(12, aa="What is", bb="O que é")
    bed.server.looks = 2
    most = 20
    for _ in range(most):
        ran = bed.run(until="overall:+-40pp", runs="3")
        if ran.is_complete or not ran.waiting:
            break
    assert ran.is_complete
    assert set(bed.server.sent.values()) == {1}


def test_those_who_ask_are_in_the_same_batches(bed: Bed) -> None:
    """Plain runs and those of either side, each call once."""
    bed.project.write_topics(DATASET)
    ran = bed.run(batch_wait="60s", asker="mirror")
    assert ran.is_complete
    assert [batch["request_counts"]["total"] for batch in bed.server.batches.values()] == [3 * ALL, 3 * ALL]
    assert set(bed.server.sent.values()) == {1}


async def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until this is true."""
    while not condition():  # noqa: ASYNC110 - what is waited for sets no event
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("is_cancelled_early", [True, False])
async def test_a_cancelled_call_no_longer_counts_as_in_batches(bed: Bed, is_cancelled_early: bool) -> None:
    """Whether it is cancelled while its batch is created, or when it is in one."""
    bed.server.looks = 10**6
    counters, journal = Counters(2), history.History(bed.project.root / "x.jsonl")
    endpoint = Endpoint(base_url=bed.server.url, api_key="none")
    context = open_context(
        bed.project.session(**bed.options, batch="yes", batch_wait="60s").settings,
        endpoint=lambda role, model: endpoint,
        limiter=Limiter(8),
        counters=counters,
        logs=lambda: [],
        suspend=lambda: None,
    )

    async def never() -> Reply:
        raise AssertionError("the call is sent by itself")

    transport = context.transports["subject"]
    transport.open(journal)
    requests = [
        Request(run=f"run{number}", call=ask("?", model=SUBJECT), digest="d", history=journal, send=never)
        for number in range(30)
    ]
    tasks = [asyncio.create_task(transport.answer(request)) for request in requests]
    await wait_until(lambda: transport.is_sending if is_cancelled_early else counters.in_batches > 0)
    tasks[0].cancel()
    await asyncio.wait(tasks[:1])
    await wait_until(lambda: counters.in_batches > 0)
    assert counters.in_batches == 29
    transport.stop()
    await asyncio.wait(tasks)
    await transport.close()
    await context.client.close()
