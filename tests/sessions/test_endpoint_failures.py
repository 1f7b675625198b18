"""Whole sessions on endpoints that fail: what is tried again, what ends a run, what a session."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from dataclasses import replace
from itertools import repeat
from typing import Any

import pytest

from conftest import Bench
from fates import (
    Fates,
    Said,
    asked,
    assert_errors_are_told,
    calls,
    errors,
    finish,
    lines,
    outcomes,
    runs,
    stopped_by,
    write_dataset,
)
from loopback import Answer, completion, error, is_judge, plain_script, question_of

ONE, TWO = "What is one?", "What is two?"
ALL = (ONE, TWO, "O que é um?", "O que é dois?")
GOOD = tuple(f"Is {number} a number?" for number in range(1, 7))

# What may pass, what a filter blocks, and what one request always gets; all forms are in tests/models.

HALF = json.dumps(completion("Half of it."))[:90]
AS_JSON = {"Content-Type": "application/json"}
TRANSIENT: dict[str, Answer] = {
    **{f"Is {status} over?": error(status, "Later.") for status in (408, 409, 429, 500, 503)},
    "Is it dropped?": Answer(drop=True),
    "Is it cut?": Answer(HALF, headers=AS_JSON),
    "Is it a page?": Answer("<html><body>Maintenance</body></html>", headers={"Content-Type": "text/html"}),
    "Has it no choices?": Answer({"id": "1", "object": "chat.completion", "choices": []}),
    "Has it no text?": Answer(completion(None, message={"content": [{"type": "image_url"}]})),
}
AZURE = {
    "message": "The response was filtered due to the prompt triggering our content management policy.",
    "code": "content_filter",
    "innererror": {"code": "ResponsibleAIPolicyViolation"},
}
FLAGGED = "Your chosen model requires moderation and your input was flagged"
MODERATED: dict[str, tuple[str, Answer]] = {
    "Does Azure say so?": ("content_filter", Answer({"error": AZURE}, 400)),
    "Does DeepSeek say so?": ("content_exists_risk", error(400, "Content Exists Risk")),
    "Is a reply cut by a filter?": (
        "content_filter",
        Answer(completion("Half a", finish_reason="content_filter")),
    ),
    "Does a gateway say so, with 403?": (
        "moderation",
        Answer({"error": {"code": 403, "message": FLAGGED, "metadata": {"reasons": ["politics"]}}}, 403),
    ),
}
LONG = "This model's maximum context length is 8192 tokens. Please reduce the messages or max_tokens."
REJECTED = {
    "Is it too long?": error(400, LONG, param="max_tokens", code="context_length_exceeded"),
    "Is it too long for a gateway?": Answer("<html>413 Request Entity Too Large</html>", 413),
    "Is it unknown?": error(400, "The stars are not right."),
    "Is it gone?": error(410, "Gone."),
}
BROKEN = {
    "Does it break the server?": error(500, "Internal error at line 12."),
    "Does it make nonsense?": Answer({"id": "1", "choices": []}),
    "Does it say a number?": Answer(completion(None, message={"content": 5})),
}


@pytest.mark.parametrize(
    "workers", [("-n", "0"), pytest.param(("-n", "2"), marks=pytest.mark.slow)], ids=["n0", "n2"]
)
def test_every_failure_has_its_outcome(bench: Bench, workers: tuple[str, str]) -> None:
    """What may pass is asked again, what a filter blocks is a finding, what never passes an error."""
    blocked = {question: answer for question, (_, answer) in MODERATED.items()}
    # Others are answered after them, which shows that it is not the endpoint that is broken.
    write_dataset(bench, [*BROKEN, *TRANSIENT, *GOOD, *blocked, *REJECTED])
    for_ever = {question: repeat(answer) for question, answer in {**blocked, **REJECTED, **BROKEN}.items()}
    once = {question: [answer] for question, answer in TRANSIENT.items()}
    bench.server.script = Fates(subject={**once, **for_ever}, judge=once)
    output = finish(bench, *workers, "--subject-max-tokens", "4096", status=1)

    scored, lost = [*TRANSIENT, *GOOD], [*REJECTED, *BROKEN]
    assert outcomes(bench) == {
        **dict.fromkeys(scored, "scored"),
        **dict.fromkeys(blocked, "blocked"),
        **dict.fromkeys(lost, "error"),
    }
    assert asked(bench, judge=False) == {
        **dict.fromkeys([*GOOD, *blocked, *REJECTED], 1),
        **dict.fromkeys(TRANSIENT, 2),
        **dict.fromkeys(BROKEN, 3),
    }
    assert asked(bench, judge=True) == {**dict.fromkeys(GOOD, 1), **dict.fromkeys(TRANSIENT, 2)}
    assert {body["max_tokens"] for body in bench.server.requests if not is_judge(body)} == {4096}
    retries = 2 * len(TRANSIENT) + 2 * len(BROKEN)
    made = 2 * len(scored) + len(blocked)
    assert calls(bench) == {
        "made": made,
        "replayed": 0,
        "failed": len(lost),
        "retries": retries,
        "repeated": 0,
    }
    (line,) = lines(output, "calls:")
    assert line.startswith(
        f"calls: {made} made, 0 replayed, {len(lost)} failed, {retries} retries; wall time "
    )

    blocked_runs = {question: runs(bench)[question] for question in blocked}
    assert {(run["score"], run["score_percentage"]) for run in blocked_runs.values()} == {(1, 0)}
    codes = {
        question: run["subject_transcript"][-1]["blocked"].lower() for question, run in blocked_runs.items()
    }
    assert codes == {question: code.lower() for question, (code, _) in MODERATED.items()}

    messages = errors(bench)
    for question, answer in REJECTED.items():
        text = (
            answer.body if isinstance(answer.body, str) else answer.body.get("error", answer.body)["message"]
        )
        assert messages.pop(question) == f"subject 'subject': HTTP {answer.status}: {text}"
    broken = "subject 'subject': HTTP 500: Internal error at line 12. (after 2 retries)"
    assert messages["Does it break the server?"] == broken
    assert all(message.endswith("(after 2 retries)") for message in messages.values())
    assert_errors_are_told(bench, output)
    assert stopped_by(output) == []


@pytest.mark.slow
def test_a_call_that_hangs_is_tried_again(bench: Bench) -> None:
    """After --request-timeout a call is given up and repeated."""
    late = {question: [Answer(completion("late"), delay=30)] for question in (ONE, TWO)}
    bench.server.script = Fates(subject=late, judge=late)
    finish(bench, "--language", "aa", "--request-timeout", "0.5", status=0)
    assert asked(bench, judge=False) == asked(bench, judge=True) == {ONE: 2, TWO: 2}
    assert outcomes(bench) == {ONE: "scored", TWO: "scored"}


# What cannot succeed.


def test_an_unscored_run_is_one_line(bench: Bench) -> None:
    """And all that is done is complete but for it."""
    no_verdict = "I would rather not."
    bench.server.script = Fates(judge={ONE: repeat(no_verdict)})
    output = finish(bench, "--evaluator-attempts", "1", status=1)
    assert len([line for line in output.splitlines() if "no valid verdict: judge" in line]) == 1
    assert not re.search("FAILURES|assert|short test summary", output)
    assert re.search(r"=+ 1 unscored, 3 passed in|=+ 3 passed, 1 unscored in", output)
    assert lines(output, "results:")[0].endswith("(complete, 1 unscored)")


# Parameters.


def _unsupported(name: str, advice: str = "") -> Answer:
    message = f"Unsupported parameter: '{name}' is not supported with this model.{advice}"
    return error(400, message, type="invalid_request_error", param=name, code="unsupported_parameter")


RENAMED = _unsupported("max_tokens", " Use 'max_completion_tokens' instead.")
NO_TEMPERATURE = error(
    400,
    "Unsupported value: 'temperature' does not support 1 with this model.",
    type="invalid_request_error",
    param="temperature",
    code="unsupported_value",
)


CHOOSY = {"max_tokens": RENAMED, "temperature": NO_TEMPERATURE, "top_p": _unsupported("top_p")}


def _choosy(body: dict[str, Any], number: int) -> Said:
    """A reasoning model of OpenAI's, and an endpoint of evaluators that knows no response formats."""
    if is_judge(body) and "response_format" in body:
        kind = body["response_format"]["type"]
        reason = f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model."
        return error(400, reason, param="response_format")
    refusals = (refusal for name, refusal in CHOOSY.items() if name in body and not is_judge(body))
    return next(refusals, plain_script(body, number))


ONE_AT_A_TIME = ("--concurrency", "1")
"""What the first call has learned, the next one knows."""


@pytest.mark.slow
def test_each_rejected_parameter_is_learned_once(bench: Bench) -> None:
    """Each costs one request a model; the rest is asked as the model wants it, and all is told."""
    bench.server.script = _choosy
    options = ("--subject-max-tokens", "50", "--subject-top-p", "0.9", "--evaluator-model", "judge-b")
    output = finish(bench, *ONE_AT_A_TIME, *options, status=0)
    sent = [body for body in bench.server.requests if not is_judge(body)]
    names = Counter(frozenset(body) - {"model", "messages"} for body in sent)
    assert names == {
        frozenset({"max_tokens", "temperature", "top_p"}): 1,
        frozenset({"max_completion_tokens", "temperature", "top_p"}): 1,
        frozenset({"max_completion_tokens", "top_p"}): 1,
        frozenset({"max_completion_tokens"}): len(ALL),
    }
    assert {body["max_completion_tokens"] for body in sent if "max_completion_tokens" in body} == {50}
    judged = [body for body in bench.server.requests if is_judge(body)]
    kinds = Counter((body["model"], body.get("response_format", {}).get("type")) for body in judged)
    for model in ("judge", "judge-b"):
        tried = [kinds[model, kind] for kind in ("json_schema", "json_object", None)]
        assert tried == [1, 1, len(ALL)]
        assert len(lines(output, f"parameter: {model}: response_format dropped (Invalid parameter: ")) == 1
    assert outcomes(bench) == dict.fromkeys(ALL, "scored")
    assert calls(bench) == {"made": 12, "replayed": 0, "failed": 0, "retries": 0, "repeated": 0}
    changes = [
        item for item in bench.results()["metadata"]["parameters_changed"] if item["role"] == "subject"
    ]
    reasons = {name: refusal.body["error"]["message"] for name, refusal in CHOOSY.items()}
    assert {change["parameter"]: change["reason"] for change in changes} == reasons
    assert sorted(lines(output, "parameter: subject:")) == [
        f"parameter: subject: max_tokens renamed to max_completion_tokens ({reasons['max_tokens']})",
        f"parameter: subject: temperature dropped ({reasons['temperature']})",
        f"parameter: subject: top_p dropped ({reasons['top_p']})",
    ]


# An account that is empty, an endpoint that is down.


class Purse:
    """A script that answers so many requests and refuses all others; counts what it has answered."""

    def __init__(self, refusal: Answer, answers: int) -> None:
        self.refusal = refusal
        self.left = answers
        self.answered: Counter[tuple[bool, str]] = Counter()

    def __call__(self, body: dict[str, Any], number: int) -> Said:
        """The ordinary answer while there is money."""
        if not self.left:
            return self.refusal
        self.left -= 1
        self.answered[is_judge(body), question_of(body)] += 1
        return plain_script(body, number)


QUOTA = "You exceeded your current quota, please check your plan and billing details."


@pytest.mark.slow
def test_an_empty_account_stops_and_a_full_one_goes_on(bench: Bench) -> None:
    """What was paid for is kept; after topping up, the same command asks exactly what is missing."""
    refusal = error(429, QUOTA, type="insufficient_quota", code="insufficient_quota")
    bench.server.script = purse = Purse(refusal, answers=3)
    output = finish(bench, "--concurrency", "2", status=2)
    assert 4 <= len(bench.server.requests) <= 5
    (reason,) = stopped_by(output)
    assert re.fullmatch(r"(subject 'subject'|evaluator 'judge'): HTTP \d+: (.*)", reason)
    assert reason.endswith(f"HTTP 429: {QUOTA}; top up the account, then run the same command again")
    assert len(bench.journal("call")) == 3

    purse.left = 100
    output = finish(bench, "--concurrency", "2", status=0)
    assert purse.answered == Counter({(judge, question): 1 for judge in (False, True) for question in ALL})
    assert outcomes(bench) == dict.fromkeys(ALL, "scored")
    assert (calls(bench)["made"], calls(bench)["replayed"]) == (5, 3)
    assert len(lines(output, "resuming:")) == 1


class Outage:
    """A script that answers so many requests, says 500 for two seconds, and a while later answers again."""

    def __init__(self, answers: int) -> None:
        self.left = answers
        self.began: float | None = None
        self.refused = 0

    def __call__(self, body: dict[str, Any], number: int) -> Said:
        """The ordinary answer, unless it is out of order."""
        if self.left:
            self.left -= 1
            return plain_script(body, number)
        now = time.monotonic()
        self.began = self.began or now
        if now - self.began > 2:
            reply = completion(plain_script(body, number))
            return Answer(reply, delay=max(0.05, self.began + 2.5 - now))
        self.refused += 1
        return replace(error(500, "Internal server error."), delay=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("answers", [0, 4], ids=["from-the-start", "in-between"])
def test_an_outage_loses_nothing(bench: Bench, answers: int) -> None:
    """An endpoint that fails on everything alike, and comes back, has cost time only."""
    dataset = GOOD
    write_dataset(bench, dataset)
    bench.server.script = outage = Outage(answers)
    bench.server.delay = 0.05
    output = finish(bench, status=0)
    assert outage.refused > len(dataset)
    assert outcomes(bench) == dict.fromkeys(dataset, "scored")
    made = 2 * len(dataset)
    retries = {"retries": outage.refused, "repeated": 0}
    assert calls(bench) == {"made": made, "replayed": 0, "failed": 0, **retries}
    (line,) = lines(output, "calls:")
    assert line.startswith(f"calls: {made} made, 0 replayed, 0 failed, {outage.refused} retries; wall time ")


# Limits that the user sets.


@pytest.mark.slow
def test_a_case_that_takes_too_long_is_an_error(bench: Bench) -> None:
    """Where the evaluator hangs, --case-timeout ends that run, by name; the others are scored."""
    bench.server.script = Fates(judge={ONE: repeat(Answer(completion("late"), delay=30))})
    output = finish(bench, "--request-timeout", "30", "--case-timeout", "3", status=1)
    assert asked(bench, judge=True) == dict.fromkeys(ALL, 1)
    assert outcomes(bench) == {**dict.fromkeys(ALL, "scored"), ONE: "error"}
    (message,) = errors(bench).values()
    assert message == "the run took longer than --case-timeout 3"
    assert_errors_are_told(bench, output)


@pytest.mark.slow
def test_exhausted_retries_stop_the_session(bench: Bench) -> None:
    """Exit 2 with the call, its last failure and how often it was tried again."""
    bench.server.script = Fates(subject=dict.fromkeys(ALL, repeat(error(503, "Overloaded."))))
    output = finish(bench, "--max-retries", "1", "--concurrency", "2", status=2)
    assert max(asked(bench, judge=False).values()) == 2
    assert asked(bench, judge=True) == {}
    assert "error" in outcomes(bench).values()
    assert stopped_by(output) == ["subject 'subject': HTTP 503: Overloaded. (after 1 retries)"]
    assert bench.results()["metadata"]["status"] == "no_scores"


@pytest.mark.slow
def test_keep_going_records_exhausted_retries(bench: Bench) -> None:
    """With --keep-going such a run is an error and the others are scored."""
    bench.server.script = Fates(subject={ONE: repeat(error(503, "Overloaded."))})
    output = finish(bench, "--max-retries", "1", "--keep-going", status=1)
    assert asked(bench, judge=False) == {**dict.fromkeys(ALL, 1), ONE: 2}
    assert outcomes(bench) == {**dict.fromkeys(ALL, "scored"), ONE: "error"}
    assert errors(bench) == {ONE: "subject 'subject': HTTP 503: Overloaded. (after 1 retries)"}
    assert_errors_are_told(bench, output)
    assert stopped_by(output) == []
    assert bench.results()["metadata"]["status"] == "complete_with_unscored"
    assert lines(output, "results:")[0].endswith("(complete, 1 unscored)")
