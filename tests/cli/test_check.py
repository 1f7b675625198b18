"""`equipoise check`: what endpoints support, of several behaviours, and what it means for suites."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import equipoise
from equipoise.cli import main
from loopback import JUDGE, Answer, Loopback, any_verdict, completion, error

KEY = "sk-a-key-that-nobody-may-ever-see-1234"
SUITES = ("neutrality", "even_handedness", "chinese_simpleqa")


def top(*pairs: tuple[str, float]) -> dict[str, Any]:
    """The likeliest tokens of one place."""
    return {"token": pairs[0][0], "top_logprobs": [{"token": name, "logprob": log} for name, log in pairs]}


def everything(body: dict[str, Any], number: int) -> Answer:
    """An endpoint that supports all that is asked for."""
    changes: dict[str, Any] = {"message": {"reasoning_content": "Let me see."}}
    text = "Four"
    if "response_format" in body:
        text = '{"weather": "wet"}'
    elif body.get("logprobs"):
        text, changes["logprobs"] = "A", {"content": [top(("A", -0.01), ("B", -5.0))]}
    elif body.get("max_tokens") == 16:
        text, changes["finish_reason"] = "one two three", "length"
    elif body["messages"][0]["role"] == "system":
        text = "Lantern."
    return Answer(
        completion(text, **changes),
        headers={"x-ratelimit-limit-requests": "500", "anthropic-ratelimit-tokens-remaining": "9"},
    )


def nothing(body: dict[str, Any], number: int) -> Answer | str:
    """An endpoint that rejects every parameter, and a system prompt; its answers have no usage."""
    for name in ("response_format", "logprobs", "top_logprobs"):
        if name in body:
            return error(400, f"Unsupported parameter: '{name}' is not supported.", param=name)
    if "max_tokens" in body:
        reason = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
        return error(400, reason, param="max_tokens")
    if body["messages"][0]["role"] == "system":
        return error(400, "The role system is not supported.")
    return Answer(completion("Four", usage=None))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without a project, and lines that stay whole."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")


def check(server: Loopback | None, *arguments: str, suites: Sequence[str] = SUITES) -> Result:
    """The command for two models at the server, or where nothing listens."""
    url = "http://127.0.0.1:9/v1" if server is None else server.url
    options = ("--model", "gpt-4o", "--evaluator-model", JUDGE, "--api-base-url", url, "--api-key", KEY)
    done = CliRunner().invoke(main, ["check", *suites, *options, *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done


def part(done: Result, title: str) -> dict[str, str]:
    """The lines below a title, by their first words."""
    _, _, behind = done.output.partition(f"\n{title}")
    lines = [line for line in behind.split("\n\n")[0].splitlines()[1:] if line.startswith("  ")]
    return {line[2:23].strip(): line[23:] for line in lines}


@pytest.mark.slow
def test_an_endpoint_that_supports_everything(loopback: Loopback) -> None:
    """Each feature is confirmed by what came back; suites grade by it; all is said before a call is made."""
    loopback.script = everything
    done = check(loopback)
    assert done.exit_code == 0, done.output
    assert done.output.startswith("asking 2 models 5 times each: 10 short calls, about 0.00")
    assert len(loopback.requests) == 10
    features = part(done, f"subject: gpt-4o ({loopback.url})")
    assert features.pop("answers").startswith("yes, in ")
    assert features == {
        "JSON by schema": "yes: followed",
        "token probabilities": "yes: 100 % of the probability on the allowed labels",
        "system prompt": "yes: followed",
        "token limit": "yes: kept, and a cut is reported",
        "thoughts": "apart from the answer",
        "token counts": "reported",
        "rate limits": "x-ratelimit-limit-requests: 500, anthropic-ratelimit-tokens-remaining: 9",
        "price": "2.50 USD in, 10.00 USD out for a million tokens",
    }
    assert part(done, "evaluator: judge")["price"] == "unknown: give --price-input and --price-output"
    neutrality = next(line for line in done.output.splitlines() if line.startswith("neutrality: "))
    assert neutrality.startswith("neutrality: 750 runs, 1,500 calls, cost unknown, ")
    assert f"{neutrality}\n  judge: gives verdicts by the schema" in done.output
    assert done.output.count("\n  judge: grades by token probabilities") == 1
    assert "\n  judge: grades by the letter that it writes" in done.output
    total, basis = done.output.splitlines()[-2:]
    assert total.startswith("total: 2,451 runs, ")
    known = r"time: 32 calls in flight, each as long as the first call here \(gpt-4o \d+\.\d s, "
    assert re.match(known, basis), basis
    assert basis.endswith(" and 50 tokens a second (15 to 150); a rate limit may make it longer")
    assert not [*Path.cwd().iterdir()]


def test_an_endpoint_that_supports_nothing(loopback: Loopback) -> None:
    """What is rejected is said with the endpoint's reason, and what suites do instead; that is no failure."""
    loopback.script = nothing
    done = check(loopback, "--price-input", "1", "--price-output", "2")
    assert done.exit_code == 0, done.output
    features = part(done, "evaluator: judge")
    assert features["JSON by schema"].startswith("no: response_format was ")
    assert features["token probabilities"].startswith("no: logprobs was dropped: ")
    assert features["system prompt"] == (
        "no: rejected: evaluator 'judge': HTTP 400: The role system is not supported."
    )
    assert features["token limit"] == "unclear: no cut was reported, as finish reason 'stop'"
    assert "  parameter            max_tokens renamed to max_completion_tokens: " in done.output
    assert (features["thoughts"], features["rate limits"]) == ("none seen", "none in the headers")
    assert features["token counts"].startswith("not reported")
    assert features["price"] == "1.00 USD in, 2.00 USD out for a million tokens"
    assert "judge: gives verdicts without a schema; invalid ones are asked for again" in done.output
    assert "judge: grades by the label that it writes, or by N (--label-samples N): it gives " in done.output
    assert " USD (" in done.output.partition("whole sessions")[2]
    done = check(loopback, "--price-input", "0", "--price-output", "2", suites=())
    assert part(done, "evaluator: judge")["price"] == "0.00 USD in, 2.00 USD out for a million tokens"


@pytest.mark.slow
def test_a_wrong_key(loopback: Loopback) -> None:
    """Exit status 4, with what to do; the key is masked though the endpoint repeats it."""
    loopback.script = lambda body, number: error(401, f"Incorrect API key provided: {KEY}.")
    done = check(loopback)
    assert done.exit_code == 4
    assert "HTTP 401: Incorrect API key provided: " in done.output
    assert "the key is from --api-key: set another there" in done.output
    assert "  gpt-4o: cannot be asked, as it does not answer\n" in done.output
    assert "  judge: cannot judge, as it does not answer\n" in done.output
    assert KEY not in done.output + done.stderr
    assert KEY not in check(loopback, "--json").output
    assert len(loopback.requests) == 4


def test_one_model_that_does_not_answer(loopback: Loopback) -> None:
    """Exit status 1, also where the first model answers."""
    loopback.script = lambda body, number: error(400, "Broken.") if body["model"] == JUDGE else "Four"
    done = check(loopback, "--max-retries", "0", suites=("neutrality",))
    assert "  judge: cannot judge, as it does not answer\n" in done.output
    assert (done.exit_code, "gpt-4o: cannot be asked" in done.output) == (1, False)


@pytest.mark.slow
def test_nothing_listens() -> None:
    """Exit status 1 within seconds; what a session would cost is said all the same."""
    done = check(None)
    assert done.exit_code == 1
    assert "nothing answers at http://127.0.0.1:9/v1: start it, or name another" in done.output
    assert "neutrality: 750 runs, 1,500 calls, cost unknown, time unknown" in done.output


def test_answers_that_are_no_answers(loopback: Loopback) -> None:
    """Whatever comes back, there is a report and no exception."""
    strange = [
        Answer("<html>", headers={"content-type": "text/html"}),
        Answer({"choices": []}),
        Answer([]),
        Answer(completion(None)),
        Answer(completion("\x1b[2J", logprobs={"content": [{"token": 1, "top_logprobs": 3}]})),
    ]
    for answer in strange:
        loopback.script = lambda body, number, answer=answer: answer  # type: ignore[misc]
        done = check(loopback, "--max-retries", "0", suites=("neutrality",))
        assert done.exit_code in (0, 1), done.output
        assert "\x1b[2J" not in done.output


@pytest.mark.slow
def test_json_has_all_of_it(loopback: Loopback) -> None:
    """One object on standard output; the announcement goes to standard error."""
    loopback.script = everything
    done = check(loopback, "--json")
    data = json.loads(done.stdout)
    assert "asking 2 models" in done.stderr
    subject, judge = data["models"]
    assert (subject["model"], subject["roles"], judge["roles"]) == ("gpt-4o", ["subject"], ["evaluator"])
    assert subject["schema"] == {"state": "yes", "seen": "followed"}
    assert (subject["calls"], subject["usage"]["input"], subject["error"]) == (5, 500, None)
    assert subject["price_per_million"] == {"input": 2.5, "output": 10.0}
    neutrality = data["suites"][0]
    assert (neutrality["suite"], neutrality["runs"], neutrality["cost_usd"]) == ("neutrality", 750, None)
    assert neutrality["calls"]["value"] == 1500
    total = data["total"]
    assert total["runs"] == sum(suite["runs"] for suite in data["suites"])
    parts = sum(suite["seconds"]["value"] for suite in data["suites"])
    assert total["seconds"]["value"] == pytest.approx(parts)
    assert neutrality["models"] == {"judge": "gives verdicts by the schema"}


def test_the_time_rests_on_the_first_call(loopback: Loopback) -> None:
    """As many calls in flight as the session allows, each as long as that one, and 50 tokens a second."""
    loopback.script = everything
    data = json.loads(check(loopback, "--json", suites=("neutrality",)).stdout)
    subject, judge = (model["latency"] for model in data["models"])
    seconds = data["suites"][0]["seconds"]
    calls = 750 * (subject + judge)
    assert seconds["value"] == pytest.approx((calls + (600_000 + 187_500) / 50) / 32)
    assert seconds["low"] == pytest.approx((calls + (225_000 + 75_000) / 150) / 32)
    assert seconds["high"] == pytest.approx((calls + (1_500_000 + 450_000) / 15) / 32)


def test_settings_are_those_of_a_session(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    """From pytest.ini and the environment, with an endpoint and a key of the evaluators' own."""
    loopback.script = everything
    Path("pytest.ini").write_text(f"[pytest]\nequipoise_api_base_url = {loopback.url}\n")
    monkeypatch.setenv("EQUIPOISE_MODEL", "mine")
    with Loopback(everything) as other:
        monkeypatch.setenv("EQUIPOISE_EVALUATOR_API_BASE_URL", other.url)
        monkeypatch.setenv("EQUIPOISE_EVALUATOR_API_KEY", KEY)
        done = CliRunner().invoke(
            main, ["check", "neutrality", "--evaluator-model", "mine", "--subject-temperature", "0.3"]
        )
        assert done.exit_code == 0, done.output
        assert (len(loopback.requests), len(other.requests)) == (5, 5)
        assert {body["temperature"] for body in loopback.requests} == {0.3}
        assert {headers["Authorization"] for headers in other.headers} == {f"Bearer {KEY}"}
        assert KEY not in str(loopback.headers)


@pytest.mark.slow
def test_earlier_sessions_take_nothing_from_a_whole_one() -> None:
    """Not even one that a session with these options could not resume."""
    with Loopback(any_verdict) as server:
        equipoise.run(
            "neutrality",
            model="gpt-4o",
            evaluator_model="other",
            api_base_url=server.url,
            limit=1,
            runs=1,
            language="en-US",
        )
    done = check(None)
    assert "neutrality: 750 runs, 1,500 " in done.output
    assert "cannot be resumed" not in done.output


def test_limits_and_models_are_those_of_a_session(loopback: Loopback) -> None:
    """Three questions in each of three languages, of two runs; one model in both roles is asked once."""
    done = check(None, "--limit", "3", "--runs", "2", "--max-retries", "0", suites=("neutrality",))
    assert "neutrality: 18 runs, 36 calls" in done.output
    loopback.script = everything
    options = ("--model", "m", "--evaluator-model", "m", "--api-base-url", loopback.url)
    done = CliRunner().invoke(main, ["check", "neutrality", *options])
    assert "subject and evaluator: m (" in done.output
    assert len(loopback.requests) == 5
