"""Keys planted wherever one can be, and searched in everything that a session writes or shows."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from leaks import leaks

from attacks.sessions import bed, judge_says, subject_says
from attacks.tally import Size, Tally
from conftest import Bench
from loopback import Answer, Loopback, completion, error, verdict

KEY = "sk-planted-subject-Zq81Xw"
OTHER = "sk-planted/judge+Xw52Kt9"
HEADER = "planted-gateway-Rr42Lm77"
KEYS = (KEY, OTHER, HEADER)
LOUD = (
    *("-vv", "--showlocals", "-rA", "--tb=long", "-o", "junit_logging=all", "--max-retries", "1"),
    *("-o", "log_cli=true", "--log-level=DEBUG", "--log-file=debug.log", "--log-file-level=DEBUG"),
    *("--junitxml=junit.xml", "--json-report", "--json-report-file=report.json", "--debug=pytestdebug.log"),
)
"""Everything that makes pytest say and write more."""


def attack(size: Size) -> Tally:
    """Each place of the keys in a session of its own that says as much as it can."""
    tally = Tally("keys")
    scripts = dict(_scripts())
    names = list(scripts) if size.is_full else [*scripts][:: size.of(4, 1)]
    for number, name in enumerate(names):
        with tally.attack(name) as harm, bed(scripts[name], delay=0.0) as bench:
            done = _ask(bench, scripts[name], "-n", "02"[number % 2])
            found = leaks(bench.folder, done.stdout + done.stderr, *KEYS)
            harm.keys += len(found)
            harm.expect(not found, f"{found}"[:500])
            harm.expect(bench.server.requests, "asked nothing")
            harm.expect("INTERNALERROR" not in done.stdout, done.stdout[-800:])
    return tally


def _ask(bench: Bench, script: Any, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A small session with two endpoints: neither key gets to the other one."""
    with Loopback(script) as judge, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        patch.setenv("EQUIPOISE_EVALUATOR_API_KEY", OTHER)
        patch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Gateway-Key: {HEADER}")
        small = ("--runs", "1", "--language", "aa", "--evaluator-api-base-url", judge.url)
        done = bench.run(*small, *LOUD, *arguments)
        assert OTHER not in f"{bench.server.headers}", "the evaluators' key got to the subject's endpoint"
        assert KEY not in f"{judge.headers}", "the subject's key got to the evaluators' endpoint"
        return done


def _scripts() -> Iterator[tuple[str, Any]]:
    both = " ".join(KEYS)
    for name, answer in {
        "in replies": completion(f"My key is {both}."),
        "in thoughts": completion(f"<think>{both}</think>Yes.", message={"reasoning_content": both}),
        "in the model's name": completion("Yes.", model=f"m-{KEY}"),
        "in the finish reason": completion("Yes.", finish_reason=both),
        "in the fingerprint": {**completion("Yes."), "system_fingerprint": KEY, "provider": OTHER},
        "in escapes": completion("\\u0073k-planted-subject-Zq81Xw " + KEY.replace("-", "%2D")),
        "in the content's kind": completion(None, message={"content": [{"type": both}]}),
        "in an odd body": {"odd": both},
        "in choices": {"choices": both},
    }.items():
        yield name, subject_says(Answer(answer))
    yield "in verdicts", judge_says(verdict(3, reasoning=f"Because of {both}."))
    yield "in invalid verdicts", judge_says(f"I will not say {both}.")
    for status in (400, 401, 404, 422, 429, 500, 503):
        yield f"in a message, {status}", subject_says(error(status, f"Incorrect API key: {both}", code=KEY))
    yield "in a page", subject_says(Answer(f"<html>{both}</html>", 500))
    yield "in a parameter's name", subject_says(error(400, f"Unknown {KEY}: temperature is not supported"))
    for status in (301, 307):
        there = {"Location": f"http://{KEY}:{OTHER}@127.0.0.2:9/{HEADER}?k={KEY}"}
        yield f"in a redirect, {status}", subject_says(Answer({}, status, there))
    yield "in an odd redirect", subject_says(Answer({}, 307, {"Location": f"http://[{KEY}/"}))
    yield (
        "in headers",
        subject_says(Answer(completion("Yes."), 200, {"X-Key": both, "Set-Cookie": f"k={KEY}"})),
    )
    for status in (200, 400, 500):
        spoken = Answer(completion("Yes."), status, reason=both)
        yield f"in a reason phrase, {status}", subject_says(spoken)
    yield "in a wait", subject_says(Answer({}, 429, {"Retry-After": KEY}))
    yield "in a charset", subject_says(Answer(both, 500, {"Content-Type": f"text/plain; charset={KEY}"}))
    yield "in an encoding", subject_says(Answer(both, 200, {"Content-Encoding": KEY}))
