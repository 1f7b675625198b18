"""Whole sessions on endpoints that fail: every class of failure from the first call to the exit status.

One file, because together the classes are one table: what is tried again, what ends a run, what a session.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
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

Workers = tuple[str, str]
ONE, TWO = "What is one?", "What is two?"
ALL = (ONE, TWO, "O que é um?", "O que é dois?")
GOOD_20 = tuple(f"Is {number} a number?" for number in range(1, 21))
GOOD = GOOD_20[:6]

# Transient failures.

HALF = json.dumps(completion("Half of it."))[:90]
FILTERED = json.dumps({"prompt_filter_results": [{"content_filter_results": {}}], **completion("Half.")})
"""As Azure answers: with what its filter found in the prompt, also where that is nothing."""
AS_JSON = {"Content-Type": "application/json"}
TRANSIENT = {
    **{str(status): error(status, "Later.") for status in (408, 409, 429, 500, 502, 503, 504, 529)},
    "dropped": Answer(drop=True),
    "cut": Answer(HALF, headers=AS_JSON),
    "html": Answer("<html><body>Maintenance</body></html>", headers={"Content-Type": "text/html"}),
    "cut-with-filter-results": Answer(FILTERED[:90], headers={"Content-Type": "text/plain"}),
    "no-choices": Answer({"id": "1", "object": "chat.completion", "choices": []}),
    "no-text": Answer(completion(None, message={"content": [{"type": "image_url"}]})),
    "empty": Answer(""),
}


@pytest.mark.parametrize("answer", [pytest.param(answer, id=name) for name, answer in TRANSIENT.items()])
def test_a_transient_failure_is_tried_again(bench: Bench, workers: Workers, answer: Answer) -> None:
    """Where the first request of either role fails and the second succeeds, every run is scored."""
    _assert_is_tried_again(bench, answer, *workers)


def test_a_call_that_hangs_is_tried_again(bench: Bench, workers: Workers) -> None:
    """After --request-timeout a call is given up and repeated."""
    _assert_is_tried_again(bench, Answer(completion("late"), delay=30), *workers, "--request-timeout", "0.5")


def test_replies_that_are_not_sent_as_json_are_read(bench: Bench, workers: Workers) -> None:
    """What they are is told by their content: nothing is asked twice, and every run is scored."""
    bench.server.script = lambda body, number: Answer(
        json.dumps(completion(plain_script(body, number))), headers={"Content-Type": "text/plain"}
    )
    finish(bench, *workers, status=0)
    assert outcomes(bench) == dict.fromkeys(ALL, "scored")
    assert calls(bench) == {"made": 8, "replayed": 0, "failed": 0, "retries": 0}


def _assert_is_tried_again(bench: Bench, answer: Answer, *arguments: str) -> None:
    first_fails = {question: [answer] for question in (ONE, TWO)}
    bench.server.script = Fates(subject=first_fails, judge=first_fails)
    output = finish(bench, *arguments, "--language", "aa", status=0)
    assert asked(bench, judge=False) == asked(bench, judge=True) == {ONE: 2, TWO: 2}
    assert outcomes(bench) == {ONE: "scored", TWO: "scored"}
    assert calls(bench) == {"made": 4, "replayed": 0, "failed": 0, "retries": 4}
    (line,) = lines(output, "calls:")
    assert line.startswith("calls: 4 made, 0 replayed, 0 failed, 4 retries; wall time ")


# Pauses that an endpoint asks for.

IN_FLIGHT = 0.25
"""Seconds after a refusal in which requests may still arrive that had been sent before it was known."""

Pause = Callable[[float], tuple[dict[str, str], float]]
"""The headers of a refusal at that time of the wall clock, and for how many seconds they ask."""


def _by_date(now: float) -> tuple[dict[str, str], float]:
    # Dates have whole seconds. One that cannot be read is no date: the server would add its own.
    until = math.ceil(now) + 1
    return {"Date": "unknown", "Retry-After": formatdate(until, usegmt=True)}, until - now


def _by_date_of_a_clock_that_is_fast(now: float) -> tuple[dict[str, str], float]:
    sent = now + 3600
    return {
        "Date": formatdate(sent, usegmt=True),
        "Retry-After": formatdate(math.floor(sent) + 1, usegmt=True),
    }, 1.0


PAUSES: dict[str, Pause] = {
    "seconds": lambda now: ({"Retry-After": "1"}, 1.0),
    "date": _by_date,
    "date-of-a-fast-clock": _by_date_of_a_clock_that_is_fast,
    "milliseconds": lambda now: ({"retry-after-ms": "900"}, 0.9),
    "reset": lambda now: (
        {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s"},
        1.0,
    ),
}


class Busy:
    """A script that refuses one request, once it has heard of both halves of the dataset.

    With two workers each has one half: every other question. Remembers when which half asked.
    """

    def __init__(self, pause: Pause) -> None:
        self.arrived: list[tuple[float, int]] = []
        self.refused_at: float | None = None
        self.seconds = 0.0
        self._pause = pause

    def __call__(self, body: dict[str, Any], number: int) -> Said:
        """One refusal, the ordinary answer to all others."""
        now, half = time.monotonic(), GOOD_20.index(question_of(body)) % 2
        self.arrived.append((now, half))
        if self.refused_at is None and len({half for _, half in self.arrived}) == 2:
            headers, self.seconds = self._pause(time.time())
            self.refused_at = now
            return Answer({"error": {"message": "Slow down."}}, 429, headers)
        said = plain_script(body, number)
        # Slowly, until both are there: whoever is up first must not be done by then.
        return Answer(completion(said), delay=0.5) if self.refused_at is None else said

    def halves(self, after: float, before: float) -> set[int]:
        """Which halves asked in a span of time, in seconds from the refusal on."""
        assert self.refused_at is not None
        return {half for at, half in self.arrived if after < at - self.refused_at < before}


@pytest.mark.parametrize("pause", [pytest.param(pause, id=name) for name, pause in PAUSES.items()])
def test_a_pause_holds_for_all_workers(bench: Bench, workers: Workers, pause: Pause) -> None:
    """Until the time that a refusal names is over, no process sends anything; then all go on."""
    write_dataset(bench, GOOD_20)
    bench.server.script = busy = Busy(pause)
    bench.server.delay = 0.05
    output = finish(bench, *workers, "--concurrency", "2", status=0)
    assert busy.halves(after=IN_FLIGHT, before=busy.seconds - 0.01) == set()
    assert busy.halves(after=busy.seconds - 0.01, before=busy.seconds + 30) == {0, 1}
    assert set(outcomes(bench).values()) == {"scored"}
    assert len(bench.server.requests) == 2 * len(GOOD_20) + 1
    (line,) = lines(output, "calls:")
    assert line.startswith("calls: 40 made, 0 replayed, 0 failed, 1 retries; wall time ")


# Moderation.


def _body(status: int, **fields: Any) -> Answer:
    return Answer({"error": fields}, status)


AZURE = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
INNER = {
    "code": "ResponsibleAIPolicyViolation",
    "content_filter_result": {"hate": {"filtered": True, "severity": "high"}},
}
DASHSCOPE = "Input data may contain inappropriate content."
HIGH_RISK = "The request was rejected because it was considered high risk"
MODERATED: dict[str, tuple[str, Answer]] = {
    "Does OpenAI's filter say so?": (
        "content_policy_violation",
        error(400, "Your request was rejected by our safety system.", code="content_policy_violation"),
    ),
    "Does OpenAI say it in another way?": ("content_filter", error(400, "No.", code="content_filter")),
    "Does Azure say so?": (
        "content_filter",
        _body(400, message=AZURE, type=None, param="prompt", code="content_filter", innererror=INNER),
    ),
    "Does Azure say so inside only?": (
        "ResponsibleAIPolicyViolation",
        _body(400, message="Rejected.", code="BadRequest", innererror={"code": INNER["code"]}),
    ),
    "Does DeepSeek say so?": (
        "content_exists_risk",
        error(400, "Content Exists Risk", type="invalid_request_error", code="invalid_request_error"),
    ),
    "Does DashScope say so?": (
        "data_inspection_failed",
        error(400, DASHSCOPE, type="data_inspection_failed", code="data_inspection_failed"),
    ),
    "Does DashScope say so in its own form?": (
        "DataInspectionFailed",
        Answer({"code": "DataInspectionFailed", "message": DASHSCOPE, "request_id": "8f2a"}, 400),
    ),
    "Does Moonshot say so?": ("content_filter", error(400, HIGH_RISK, type="content_filter")),
    "Does Moonshot say so with no type?": ("content_filter", error(400, HIGH_RISK)),
    "Does Zhipu say so?": (
        "1301",
        Answer(
            {
                "contentFilter": [{"level": 1, "role": "user"}],
                "error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容"},
            },
            400,
        ),
    ),
    "Is a reply cut by a filter?": (
        "content_filter",
        Answer(completion("Half a", finish_reason="content_filter")),
    ),
    "Is a reply withheld by a filter?": ("sensitive", Answer(completion("", finish_reason="sensitive"))),
}


def test_a_moderated_question_is_blocked(bench: Bench, workers: Workers) -> None:
    """Whatever the provider's words: score 1, its code is kept, nothing is retried, nobody judges."""
    write_dataset(bench, [*MODERATED, ONE])
    bench.server.script = Fates(subject={question: repeat(said) for question, (_, said) in MODERATED.items()})
    output = finish(bench, *workers, status=0)
    assert asked(bench, judge=False) == dict.fromkeys([*MODERATED, ONE], 1)
    assert asked(bench, judge=True) == {ONE: 1}
    found = runs(bench)
    blocked = {question: found[question] for question in MODERATED}
    assert {(run["outcome"], run["score"], run["score_percentage"]) for run in blocked.values()} == {
        ("blocked", 1, 0)
    }
    kept = {question: run["subject_transcript"][-1]["blocked"].lower() for question, run in blocked.items()}
    assert kept == {question: code.lower() for question, (code, _) in MODERATED.items()}
    assert found[ONE]["outcome"] == "scored"
    (line,) = lines(output, "overall")
    assert line.endswith(f"scored 1, blocked {len(MODERATED)}")
    assert errors(bench) == {}


def test_a_gateways_moderation_blocks_one_question(bench: Bench, workers: Workers) -> None:
    """OpenRouter answers 403 to a question that it flags, which says nothing against the key."""
    metadata = {"reasons": ["politics"], "flagged_input": "What is one?", "provider_name": "OpenAI"}
    flagged = _body(
        403,
        code=403,
        message="Your chosen model requires moderation and your input was flagged",
        metadata=metadata,
    )
    bench.server.script = Fates(subject={ONE: repeat(flagged)})
    output = finish(bench, *workers, status=0)
    assert asked(bench, judge=False) == dict.fromkeys(ALL, 1)
    assert outcomes(bench) == {**dict.fromkeys(ALL, "scored"), ONE: "blocked"}
    assert runs(bench)[ONE]["score"] == 1
    assert stopped_by(output) == []


# Rejected parameters.


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


def _subject_is_choosy(body: dict[str, Any], number: int) -> Said:
    """A reasoning model of OpenAI's that says so of one parameter at a time."""
    if not is_judge(body):
        for name, refusal in CHOOSY.items():
            if name in body:
                return refusal
    return plain_script(body, number)


def _judge_is_choosy(body: dict[str, Any], number: int) -> Said:
    """Evaluators whose endpoint knows no response formats."""
    if is_judge(body) and "response_format" in body:
        kind = body["response_format"]["type"]
        return error(
            400,
            f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model.",
            param="response_format",
        )
    return plain_script(body, number)


ONE_AT_A_TIME = ("--concurrency", "1")
"""What the first call has learned, the next one knows."""


def _changes(bench: Bench) -> list[tuple[str, str, str]]:
    found = bench.results()["metadata"]["parameters_changed"]
    return sorted((change["model"], change["parameter"], change["action"]) for change in found)


def test_each_rejected_parameter_is_learned_once(bench: Bench, workers: Workers) -> None:
    """Each costs one request; the rest is asked as the model wants it, and all is told."""
    bench.server.script = _subject_is_choosy
    sampling = ("--subject-max-tokens", "50", "--subject-top-p", "0.9")
    output = finish(bench, *workers, *ONE_AT_A_TIME, *sampling, status=0)
    sent = [body for body in bench.server.requests if not is_judge(body)]
    names = Counter(frozenset(body) - {"model", "messages"} for body in sent)
    assert names == {
        frozenset({"max_tokens", "temperature", "top_p"}): 1,
        frozenset({"max_completion_tokens", "temperature", "top_p"}): 1,
        frozenset({"max_completion_tokens", "top_p"}): 1,
        frozenset({"max_completion_tokens"}): len(ALL),
    }
    assert {body["max_completion_tokens"] for body in sent if "max_completion_tokens" in body} == {50}
    assert outcomes(bench) == dict.fromkeys(ALL, "scored")
    assert calls(bench) == {"made": 8, "replayed": 0, "failed": 0, "retries": 0}
    assert _changes(bench) == [
        ("subject", "max_tokens", "renamed to max_completion_tokens"),
        ("subject", "temperature", "dropped"),
        ("subject", "top_p", "dropped"),
    ]
    changes = bench.results()["metadata"]["parameters_changed"]
    reasons = {name: refusal.body["error"]["message"] for name, refusal in CHOOSY.items()}
    assert {change["parameter"]: change["reason"] for change in changes} == reasons
    assert {change["role"] for change in changes} == {"subject"}
    assert sorted(lines(output, "parameter:")) == [
        f"parameter: subject: max_tokens renamed to max_completion_tokens ({reasons['max_tokens']})",
        f"parameter: subject: temperature dropped ({reasons['temperature']})",
        f"parameter: subject: top_p dropped ({reasons['top_p']})",
    ]


def test_response_formats_are_given_up_step_by_step(bench: Bench, workers: Workers) -> None:
    """From a schema to any JSON to none: once for each evaluator."""
    bench.server.script = _judge_is_choosy
    panel = ("--evaluator-model", "judge-b")
    output = finish(bench, *workers, *ONE_AT_A_TIME, *panel, status=0)
    kinds = Counter(
        (body["model"], body.get("response_format", {}).get("type"))
        for body in bench.server.requests
        if is_judge(body)
    )
    for model in ("judge", "judge-b"):
        assert kinds[model, "json_schema"] == 1
        assert kinds[model, "json_object"] == 1
        assert kinds[model, None] == len(ALL)
        assert (model, "response_format", "dropped") in _changes(bench)
        assert len(lines(output, f"parameter: {model}: response_format dropped (Invalid parameter: ")) == 1
    assert outcomes(bench) == dict.fromkeys(ALL, "scored")
    assert calls(bench) == {"made": 12, "replayed": 0, "failed": 0, "retries": 0}


# What concerns one run only.

OPENAI_LONG = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. "
    "Please reduce the length of the messages."
)
VLLM_LONG = (
    "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 "
    "tokens and your request has 5000 input tokens (4096 > 8192 - 5000)."
)
VLLM_LONG_TOO = (
    "This model's maximum context length is 8192 tokens. However, your request has 5000 input tokens plus "
    "4096 'max_tokens'. Please reduce one or the other. "
    "(parameter=input_tokens, max_tokens, value=(5000, 4096))"
)
DASHSCOPE_LONG = "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"
TOO_LONG = {
    "Is it too long for OpenAI?": error(400, OPENAI_LONG, param="messages", code="context_length_exceeded"),
    "Is it too long for vLLM?": Answer(
        {"object": "error", "message": VLLM_LONG, "type": "BadRequestError", "param": None, "code": 400}, 400
    ),
    "Is it too long for vLLM, which names a parameter?": error(400, VLLM_LONG, param="max_tokens"),
    "Is it too long for a later vLLM?": error(400, VLLM_LONG_TOO, param="input_tokens, max_tokens"),
    "Is it too long for DashScope?": error(400, DASHSCOPE_LONG, code="invalid_parameter_error"),
    "Is it too long for a gateway?": Answer("<html>413 Request Entity Too Large</html>", 413),
}
PERMANENT = {
    "Is it unknown?": error(400, "The stars are not right."),
    "Is it gone?": error(410, "Gone."),
    "Is it a teapot?": error(418, "I'm a teapot."),
}


@pytest.mark.parametrize("failures", [TOO_LONG, PERMANENT], ids=["too-long", "permanent"])
def test_a_permanent_failure_ends_one_run(
    bench: Bench, workers: Workers, failures: dict[str, Answer]
) -> None:
    """Asked once, an error with its reason, and everything else is scored: exit 1."""
    write_dataset(bench, [*failures, *GOOD])
    bench.server.script = Fates(subject={question: repeat(said) for question, said in failures.items()})
    output = finish(bench, *workers, "--subject-max-tokens", "4096", status=1)
    assert asked(bench, judge=False) == dict.fromkeys([*failures, *GOOD], 1)
    assert asked(bench, judge=True) == dict.fromkeys(GOOD, 1)
    assert {body["max_tokens"] for body in bench.server.requests if not is_judge(body)} == {4096}
    assert outcomes(bench) == {**dict.fromkeys(failures, "error"), **dict.fromkeys(GOOD, "scored")}
    messages = errors(bench)
    for question, said in failures.items():
        text = said.body if isinstance(said.body, str) else said.body.get("error", said.body)["message"]
        assert messages[question] == f"subject 'subject': HTTP {said.status}: {text}"
    assert_errors_are_told(bench, output)
    assert stopped_by(output) == []


def test_a_reply_too_long_for_the_evaluator_ends_one_run(bench: Bench, workers: Workers) -> None:
    """The evaluator's context is as much one run's affair as the subject's."""
    said = TOO_LONG["Is it too long for vLLM, which names a parameter?"]
    bench.server.script = Fates(judge={ONE: repeat(said)})
    output = finish(bench, *workers, "--evaluator-max-tokens", "4096", status=1)
    assert asked(bench, judge=True) == dict.fromkeys(ALL, 1)
    assert outcomes(bench) == {**dict.fromkeys(ALL, "scored"), ONE: "error"}
    assert errors(bench) == {ONE: f"evaluator 'judge': HTTP 400: {VLLM_LONG}"}
    assert_errors_are_told(bench, output)


# What concerns every call.

NO_DEEPSEEK = error(400, "Model Not Exist", type="invalid_request_error", code="invalid_request_error")
NO_MODEL = error(
    400, "The requested model 'subject' does not exist.", type="invalid_request_error", code="model_not_found"
)
FATAL = {
    "401": (error(401, "Incorrect API key provided."), "HTTP 401: Incorrect API key provided."),
    "403": (error(403, "Country not supported."), "HTTP 403: Country not supported."),
    "404": (
        error(404, "The model `subject` does not exist.", code="model_not_found"),
        "HTTP 404: The model `subject` does not exist.",
    ),
    "404-of-a-web-server": (Answer("404 page not found", 404), "HTTP 404: 404 page not found"),
    "400-deepseek": (NO_DEEPSEEK, "HTTP 400: Model Not Exist"),
    "400-model": (NO_MODEL, "HTTP 400: The requested model 'subject' does not exist."),
}


@pytest.mark.parametrize(("said", "reason"), FATAL.values(), ids=FATAL)
def test_a_refused_key_or_unknown_model_stops_at_once(
    bench: Bench, workers: Workers, said: Answer, reason: str
) -> None:
    """Exit 2 after no more requests than are in flight together, with one line that says why."""
    bench.server.script = Fates(subject=dict.fromkeys(ALL, repeat(said)))
    output = finish(bench, *workers, "--concurrency", "2", status=2)
    assert 1 <= len(bench.server.requests) <= 2
    assert asked(bench, judge=True) == {}
    assert set(outcomes(bench).values()) == {"error"}
    assert stopped_by(output) == [f"subject 'subject': {reason}"]
    assert bench.results()["metadata"]["status"] == "interrupted"


def test_an_evaluators_refused_key_keeps_the_replies(bench: Bench, workers: Workers) -> None:
    """With the right key the same command asks the evaluator about the replies that are there."""
    bench.server.script = Fates(judge=dict.fromkeys(ALL, repeat(error(401, "Wrong key."))))
    output = finish(bench, *workers, "--concurrency", "2", status=2)
    assert stopped_by(output) == ["evaluator 'judge': HTTP 401: Wrong key."]
    assert 1 <= bench.server.count(judge=True) <= 2
    bench.server.script = plain_script
    finish(bench, *workers, "--concurrency", "2", status=0)
    assert asked(bench, judge=False) == dict.fromkeys(ALL, 1)
    assert outcomes(bench) == dict.fromkeys(ALL, "scored")


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
ARREARS = "Access denied, please make sure your account is in good standing."
PENNILESS = {
    "429": error(429, QUOTA, type="insufficient_quota", code="insufficient_quota"),
    "402": error(402, "Insufficient Balance", type="unknown_error", code="invalid_request_error"),
    "400": error(400, ARREARS, type="Arrearage", code="Arrearage"),
    "403": Answer({"code": 30001, "message": "Insufficient Balance", "data": None}, 403),
}


@pytest.mark.parametrize("refusal", [pytest.param(said, id=name) for name, said in PENNILESS.items()])
def test_an_empty_account_stops_and_a_full_one_goes_on(
    bench: Bench, workers: Workers, refusal: Answer
) -> None:
    """What was paid for is kept; after topping up, the same command asks exactly what is missing."""
    bench.server.script = purse = Purse(refusal, answers=3)
    output = finish(bench, *workers, "--concurrency", "2", status=2)
    assert 4 <= len(bench.server.requests) <= 5
    message = refusal.body.get("error", refusal.body)["message"]
    (reason,) = stopped_by(output)
    assert re.fullmatch(r"(subject 'subject'|evaluator 'judge'): HTTP \d+: (.*)", reason)
    assert reason.endswith(f"HTTP {refusal.status}: {message}")
    assert len(bench.journal("call")) == 3

    purse.left = 100
    output = finish(bench, *workers, "--concurrency", "2", status=0)
    assert purse.answered == Counter({(judge, question): 1 for judge in (False, True) for question in ALL})
    assert outcomes(bench) == dict.fromkeys(ALL, "scored")
    assert (calls(bench)["made"], calls(bench)["replayed"]) == (5, 3)
    assert len(lines(output, "resuming:")) == 1


# The same failure again and again.


def test_the_same_failure_thrice_ends_one_run(bench: Bench, workers: Workers) -> None:
    """A question that always fails alike while others are answered is given up after three attempts."""
    bad = {
        "Does it break the server?": error(500, "Internal error at line 12."),
        "Does it break the gateway?": Answer("<html>Oops</html>"),
        "Does it make nonsense?": Answer({"id": "1", "choices": []}),
        "Does it say a number?": Answer(completion(None, message={"content": 5})),
    }
    write_dataset(bench, [*bad, *GOOD])
    bench.server.script = Fates(subject={question: repeat(said) for question, said in bad.items()})
    output = finish(bench, *workers, status=1)
    assert asked(bench, judge=False) == {**dict.fromkeys(bad, 3), **dict.fromkeys(GOOD, 1)}
    assert asked(bench, judge=True) == dict.fromkeys(GOOD, 1)
    assert outcomes(bench) == {**dict.fromkeys(bad, "error"), **dict.fromkeys(GOOD, "scored")}
    first, *others = errors(bench).values()
    assert first == "subject 'subject': HTTP 500: Internal error at line 12. (after 2 retries)"
    assert all(message.endswith("(after 2 retries)") for message in others)
    assert_errors_are_told(bench, output)
    assert stopped_by(output) == []


class Outage:
    """A script that answers so many requests, then says 500 to all for two seconds, then answers again.

    While a refusal may be on its way no answer is: one that comes home between two of them is a sign of
    health.
    """

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
            said = completion(plain_script(body, number))
            return Answer(said, delay=max(0.05, self.began + 4 - now))
        self.refused += 1
        return replace(error(500, "Internal server error."), delay=0.3)


@pytest.mark.parametrize(
    ("questions", "answers"),
    [(6, 0), (6, 4), (2, 0)],
    ids=["from-the-start", "in-between", "a-run-for-each-worker"],
)
def test_an_outage_loses_nothing(bench: Bench, workers: Workers, questions: int, answers: int) -> None:
    """An endpoint that fails on everything alike, and comes back, has cost time only."""
    dataset = GOOD[:questions]
    write_dataset(bench, dataset)
    bench.server.script = outage = Outage(answers)
    bench.server.delay = 0.05
    output = finish(bench, *workers, status=0)
    assert outage.refused > len(dataset)
    assert outcomes(bench) == dict.fromkeys(dataset, "scored")
    made = 2 * len(dataset)
    assert calls(bench) == {"made": made, "replayed": 0, "failed": 0, "retries": outage.refused}
    (line,) = lines(output, "calls:")
    assert line.startswith(f"calls: {made} made, 0 replayed, 0 failed, {outage.refused} retries; wall time ")


# Limits that the user sets.


def test_a_case_that_takes_too_long_is_an_error(bench: Bench, workers: Workers) -> None:
    """Where the evaluator hangs, --case-timeout ends that run, by name; the others are scored."""
    bench.server.script = Fates(judge={ONE: repeat(Answer(completion("late"), delay=30))})
    output = finish(bench, *workers, "--request-timeout", "30", "--case-timeout", "1", status=1)
    assert asked(bench, judge=True) == dict.fromkeys(ALL, 1)
    assert outcomes(bench) == {**dict.fromkeys(ALL, "scored"), ONE: "error"}
    (message,) = errors(bench).values()
    assert message == "the run took longer than --case-timeout 1"
    assert_errors_are_told(bench, output)


def test_waiting_for_ones_turn_takes_no_time(bench: Bench, workers: Workers) -> None:
    """Cases that together take longer than --case-timeout are none of them late."""
    bench.server.delay = 0.15
    write_dataset(bench, GOOD)
    output = finish(bench, *workers, "--concurrency", "1", "--case-timeout", "1", status=0)
    assert bench.server.peak == 1
    assert asked(bench, judge=False) == asked(bench, judge=True) == dict.fromkeys(GOOD, 1)
    assert outcomes(bench) == dict.fromkeys(GOOD, "scored")
    (line,) = lines(output, "overall")
    assert line.endswith(f" scored {len(GOOD)}")


def test_exhausted_retries_stop_the_session(bench: Bench, workers: Workers) -> None:
    """Exit 2 with the call, its last failure and how often it was tried again."""
    bench.server.script = Fates(subject=dict.fromkeys(ALL, repeat(error(503, "Overloaded."))))
    output = finish(bench, *workers, "--max-retries", "1", "--concurrency", "2", status=2)
    assert max(asked(bench, judge=False).values()) == 2
    assert asked(bench, judge=True) == {}
    assert "error" in outcomes(bench).values()
    assert stopped_by(output) == ["subject 'subject': HTTP 503: Overloaded. (after 1 retries)"]
    assert bench.results()["metadata"]["status"] == "interrupted"


def test_keep_going_records_exhausted_retries(bench: Bench, workers: Workers) -> None:
    """With --keep-going such a run is an error and the others are scored; later only it is asked again."""
    bench.server.script = Fates(subject={ONE: repeat(error(503, "Overloaded."))})
    arguments = (*workers, "--max-retries", "1", "--keep-going")
    output = finish(bench, *arguments, status=1)
    assert asked(bench, judge=False) == {**dict.fromkeys(ALL, 1), ONE: 2}
    assert outcomes(bench) == {**dict.fromkeys(ALL, "scored"), ONE: "error"}
    assert errors(bench) == {ONE: "subject 'subject': HTTP 503: Overloaded. (after 1 retries)"}
    assert_errors_are_told(bench, output)
    assert stopped_by(output) == []
    assert bench.results()["metadata"]["status"] == "interrupted"

    bench.server.script = plain_script
    output = finish(bench, *arguments, status=0)
    assert asked(bench, judge=False) == {**dict.fromkeys(ALL, 1), ONE: 3}
    assert asked(bench, judge=True) == dict.fromkeys(ALL, 1)
    assert outcomes(bench) == dict.fromkeys(ALL, "scored")
    assert bench.results()["metadata"]["status"] == "complete"
    (line,) = lines(output, "resuming:")
    assert line.startswith("resuming: 3 of 4 runs are done, 1 that ended without a score are asked again,")


def test_retries_count_whether_or_not_they_helped(bench: Bench, workers: Workers) -> None:
    """The results and the summary tell of those of a call that failed in the end, too."""
    bench.server.script = Fates(
        subject={ONE: repeat(error(503, "Overloaded.")), TWO: [error(503, "Overloaded.")]}
    )
    limits = ("--max-retries", "1", "--keep-going", "--language", "aa")
    output = finish(bench, *workers, *limits, status=1)
    assert asked(bench, judge=False) == {ONE: 2, TWO: 2}
    assert calls(bench) == {"made": 2, "replayed": 0, "failed": 1, "retries": 2}
    (line,) = lines(output, "calls:")
    assert line.startswith("calls: 2 made, 0 replayed, 1 failed, 2 retries; wall time ")
