"""Whoever repeats a key, and wherever: it reaches no file, screen or other endpoint, and edits nothing."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from leaks import leaks as found_keys

from conftest import Bench
from fates import Fates
from loopback import (
    Answer,
    Loopback,
    completion,
    error,
    is_judge,
    plain_script,
    question_of,
    score_of,
    verdict,
)

SUBJECT_KEY = "sk-planted-subject-Zq81"
JUDGE_KEY = "sk-planted/judge+Xw52"
SMALL = ("--runs", "1", "--language", "aa")  # two runs
LOUD = (
    *("-vv", "--showlocals", "-rA", "--tb=long", "-o", "junit_logging=all"),
    *("--junitxml=junit.xml", "--json-report", "--json-report-file=report.json", "--debug=pytestdebug.log"),
)
"""Everything that makes pytest say and write more."""


@pytest.fixture
def judge_end() -> Iterator[Loopback]:
    """The evaluators' own endpoint."""
    with Loopback() as server:
        yield server


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key for each endpoint, where keys are best kept."""
    monkeypatch.setenv("OPENAI_API_KEY", SUBJECT_KEY)
    monkeypatch.setenv("EQUIPOISE_EVALUATOR_API_KEY", JUDGE_KEY)


def ask(
    bench: Bench, judge_end: Loopback, *arguments: str, status: int | None = None
) -> subprocess.CompletedProcess[str]:
    """A small session with two endpoints that says and writes as much as it can."""
    return bench.run(*SMALL, "--evaluator-api-base-url", judge_end.url, *LOUD, *arguments, status=status)


def leaks(bench: Bench, done: subprocess.CompletedProcess[str], *keys: str) -> list[str]:
    """Where a key is found: files of the bench, or the screen."""
    return found_keys(bench.folder, done.stdout + done.stderr, *(keys or (SUBJECT_KEY, JUDGE_KEY)))


def key_sent(server: Loopback, number: int) -> str:
    """The key that a request came with."""
    return server.headers[number]["Authorization"].removeprefix("Bearer ")


def wrote_everything(bench: Bench) -> bool:
    """Whether a session has written all the files that are searched."""
    reports = [bench.folder / name for name in ("junit.xml", "report.json", "pytestdebug.log")]
    return all(path.stat().st_size > 0 for path in (*reports, bench.results_path, bench.journal_path))


# Keys as they are given.


def test_a_key_reaches_only_its_endpoint(bench: Bench, judge_end: Loopback) -> None:
    """Although a run fails and everything is shown and logged."""
    judge_end.script = Fates(judge={"What is one?": repeat("No verdict.")})
    done = ask(bench, judge_end, "--evaluator-attempts", "1", status=1)
    assert wrote_everything(bench)
    assert leaks(bench, done) == []
    assert [key_sent(bench.server, number) for number in range(2)] == [SUBJECT_KEY] * 2
    assert [key_sent(judge_end, number) for number in range(2)] == [JUDGE_KEY] * 2
    assert JUDGE_KEY not in f"{bench.server.headers}{bench.server.requests}"
    assert SUBJECT_KEY not in f"{judge_end.headers}{judge_end.requests}"


@pytest.mark.slow
def test_the_value_of_a_configured_header_is_a_secret(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that repeats what it was sent puts it into no file and on no screen."""
    planted = ("planted-gateway-Vq73", "planted-org-Rt52", "planted-project-Mk94")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Gateway-Key: Bearer {planted[0]}\nX-Trace: on")
    monkeypatch.setenv("OPENAI_ORG_ID", planted[1])
    monkeypatch.setenv("OPENAI_PROJECT_ID", planted[2])
    bench.server.script = lambda body, number: error(400, " ".join(bench.server.headers[number].values()))
    done = bench.run("-n", "2", *SMALL, *LOUD, "--keep-going", status=1)
    assert all(value in f"{bench.server.headers}" for value in planted)
    written = [path.read_bytes() for path in bench.folder.rglob("*") if path.is_file()]
    everything = b"".join([*written, done.stdout.encode(), done.stderr.encode()])
    assert [value for value in planted if value.encode() in everything] == []


# Keys that an endpoint repeats.


def repeating(server: Loopback, status: int, wanted: str) -> Callable[[dict[str, Any], int], Any]:
    """A script whose answer to one question is an error that holds the caller's key, in body and headers."""

    def script(body: dict[str, Any], number: int) -> Any:
        if question_of(body) != wanted:
            return plain_script(body, number)
        key = key_sent(server, number)
        answer = error(status, f"Wrong: Bearer {key}.", type=key, code=key, metadata={key: [key]})
        answer.headers = {"X-Key": key, "X-Request-Id": key, "WWW-Authenticate": f"Bearer {key}"}
        return answer

    return script


@pytest.mark.slow
def test_an_error_that_repeats_a_key_shows_a_mask(bench: Bench, judge_end: Loopback) -> None:
    """Of the subject's endpoint and of the evaluators', tried again or not, and with everything logged."""
    bench.server.script = repeating(bench.server, 400, "What is one?")
    judge_end.script = repeating(judge_end, 500, "What is two?")
    logged = ("--log-level=DEBUG", "--log-file=log.txt")
    done = ask(bench, judge_end, *logged, "--max-retries", "1", "--keep-going", status=1)
    assert wrote_everything(bench)
    assert leaks(bench, done) == []
    shown = "Wrong: Bearer ****."
    assert shown in done.stdout
    assert [shown in entry["message"] for entry in bench.journal("failed")] == [True, True]
    assert [shown in item["message"] for item in bench.results()["errors"]] == [True, True]


@pytest.mark.slow
def test_a_body_that_nests_too_deep_shows_no_key(bench: Bench) -> None:
    """Where even the parser gives up, the user is told so, and no traceback goes through what holds keys."""
    deep = "[" * 200_000 + "]" * 200_000
    bench.server.script = lambda body, number: Answer(
        deep, 200, {"Content-Type": "application/json", "X-Key": key_sent(bench.server, number)}
    )
    done = bench.run("-n", "2", *SMALL, *LOUD, "--max-retries", "0", "--keep-going", status=1)
    assert leaks(bench, done) == []
    assert {item["outcome"] for item in bench.results()["errors"]} == {"error"}


# Keys that a model repeats.


@pytest.mark.slow
def test_a_key_that_models_repeat_is_masked_where_it_is_written(
    bench: Bench, judge_end: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every text, and in a verdict, which counts; keys on the command line are shown nowhere."""
    for name in ("OPENAI_API_KEY", "EQUIPOISE_EVALUATOR_API_KEY"):
        monkeypatch.delenv(name)
    keys = ("--api-key", SUBJECT_KEY, "--evaluator-api-key", JUDGE_KEY)

    def script(body: dict[str, Any], number: int) -> Answer:
        both = f"{key_sent(bench.server, number)} and {JUDGE_KEY}"
        message = {"reasoning_content": f"I was called with {both}."}
        data = completion(f"My key is {both}.", model=both, message=message, finish_reason=both)
        return Answer({**data, "system_fingerprint": both, "id": both})

    bench.server.script = script
    escaped = "".join(f"\\u{ord(character):04x}" for character in JUDGE_KEY)
    shapes = [JUDGE_KEY.replace("/", "\\/"), escaped]
    texts = [verdict(3).replace("Because.", f"Because of {shape}.") for shape in shapes]
    judge_end.script = lambda body, number: texts[number % 2]
    done = ask(bench, judge_end, *keys, "-n", "2", status=0)
    assert wrote_everything(bench)
    assert leaks(bench, done) == []
    assert [key_sent(bench.server, 0), key_sent(judge_end, 0)] == [SUBJECT_KEY, JUDGE_KEY]
    prompts = [body["messages"][-1]["content"] for body in judge_end.requests]
    assert len(prompts) == 2
    assert all(f"My key is **** and {JUDGE_KEY}." in text for text in prompts)
    assert SUBJECT_KEY not in json.dumps(judge_end.requests)
    assert set(bench.scores().values()) == {3}
    for question in bench.results()["results"]["aa"]["questions"]:
        (run,) = question["runs"]
        reply = run["subject_transcript"][-1]
        assert (reply["content"], reply["model"]) == ("My key is **** and ****.", "**** and ****")
        assert reply["reasoning"] == "I was called with **** and ****."
        assert run["verdicts"][0]["reasoning"] == "Because of ****."


@pytest.mark.slow
def test_a_mask_does_not_change_what_is_resumed(bench: Bench, judge_end: Loopback) -> None:
    """A reply that was masked is replayed as it was kept, with a key of another name as well."""
    bench.server.script = lambda body, number: f"My key is {key_sent(bench.server, number)}."
    judge_end.script = lambda body, number: error(401, "Wrong key.")
    ask(bench, judge_end, status=2)
    judge_end.script = lambda body, number: verdict(score_of(question_of(body)))
    calls = len(bench.server.requests)
    done = ask(bench, judge_end, "-n", "2", status=0)
    assert (calls, len(bench.server.requests)) == (2, 2)
    assert leaks(bench, done) == []


LONG = "sk-planted/Kd8+aQ2_xV7-Lm4Zr9Tn6Bw1Ye3=="
KEYS = ("secret", "reasoning", LONG)


def saying(key: str) -> Callable[[dict[str, Any], int], str]:
    """A script in which the subject and the evaluator repeat the key in every way."""
    basic = base64.b64encode(f"user:{key}".encode()).decode()
    speech = f"The secretary gave the secret speech. Bearer {key}; Basic {basic}; ?key={quote(key, safe='')}."

    def script(body: dict[str, Any], number: int) -> str:
        if not is_judge(body):
            return f"{speech} And {question_of(body)}"
        return verdict(score_of(question_of(body)), reasoning=f"My reasoning: {speech}")

    return script


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS[1:], ids=["field", "long"])
def test_a_key_edits_no_reply_before_it_is_judged(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Scores are what they are without; in files and on the screen the key is masked, and nothing else."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.delenv("EQUIPOISE_EVALUATOR_API_KEY")
    bench.server.script = saying(key)
    done = bench.run(*SMALL, *LOUD, status=0)
    questions = {1: "What is one?", 2: "What is two?"}
    assert bench.scores() == {("aa", number, 1): score_of(text) for number, text in questions.items()}
    reply = saying(key)({"model": "subject", "messages": [{"content": ""}]}, 0)
    prompts = [body["messages"][-1]["content"] for body in bench.server.requests if is_judge(body)]
    assert [reply in text for text in prompts] == [True, True]
    (run,) = bench.results()["results"]["aa"]["questions"][0]["runs"]
    shown = run["subject_transcript"][-1]["content"]
    secret, reasoning = ("****" if key == word else word for word in KEYS[:2])
    assert shown.startswith(f"The secretary gave the {secret} speech. Bearer ****; Basic ")
    assert run["verdicts"][0]["reasoning"].startswith(f"My {reasoning}: The secretary gave the {secret}")
    if key == LONG:
        assert wrote_everything(bench)
        assert leaks(bench, done, key) == []


@pytest.mark.slow
def test_what_was_judged_of_a_masked_reply_is_not_paid_for_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between verdict and record, a session finds both replies, although the first is now masked."""
    monkeypatch.setenv("OPENAI_API_KEY", LONG)
    monkeypatch.delenv("EQUIPOISE_EVALUATOR_API_KEY")
    bench.server.script = saying(LONG)
    bench.run(*SMALL, status=0)
    scores, calls = bench.scores(), len(bench.server.requests)
    lines = bench.journal_path.read_bytes().splitlines(keepends=True)
    bench.journal_path.write_bytes(b"".join(line for line in lines if b'{"kind":"record"' not in line))
    bench.results_path.unlink()
    bench.run(*SMALL, status=0)
    assert (len(bench.server.requests), bench.scores()) == (calls, scores)


# Names of models.


@pytest.mark.slow
def test_a_models_name_does_not_lead_out_of_the_results_folder(bench: Bench) -> None:
    """A session with a model of such a name ends well and leaves its files in results/ alone."""
    name = "../../etc/a b:c\\d"

    def strangers() -> set[Path]:
        homes = (bench.folder / "results", bench.folder / ".pytest_cache")
        paths = {*bench.folder.parent.iterdir(), *bench.folder.rglob("*")}
        return {path for path in paths if not any(path.is_relative_to(home) for home in homes)}

    before = {path for path in strangers() if "__pycache__" not in path.parts}
    bench.run(f"--model={name}", *SMALL, "--limit", "1", status=0)
    assert {path for path in strangers() if "__pycache__" not in path.parts} == before
    visible = [path for path in (bench.folder / "results").iterdir() if not path.name.startswith(".")]
    assert sorted(path.suffix for path in visible) == [".json", ".jsonl"]
    assert all(path.is_file() for path in visible)
    (results,) = (path for path in visible if path.suffix == ".json")
    assert json.loads(results.read_bytes())["metadata"]["subject_model"] == name
