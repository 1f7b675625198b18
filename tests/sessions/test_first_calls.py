"""Each model is asked once before the first question; what cannot work is one line, and writes nothing."""

from __future__ import annotations

import json

import pytest
from journals import entries

from conftest import ROOT, Bench, wait_for
from equipoise.results import history
from loopback import JUDGE, SUBJECT, Answer, error, is_judge, ready

Workers = tuple[str, str]
NOT_THERE = "The model does not exist."


@pytest.fixture(autouse=True)
def _answers_at_first(bench: Bench) -> None:
    """The server answers what precedes the first question."""
    bench.server.first_script = ready


def test_each_model_is_asked_once_with_what_the_session_sends(bench: Bench, workers: Workers) -> None:
    """Before any question, at the same time; its calls and tokens count in the results."""
    bench.server.first_script = lambda body, number: Answer(error(200, "").body, 500)
    bench.run(*workers, "--subject-temperature", "0.5", "--evaluator-system-prompt", "Be fair.", status=0)
    subject, judge = sorted(bench.server.first_calls, key=is_judge)
    assert (subject["model"], subject["temperature"], judge["model"]) == (SUBJECT, 0.5, JUDGE)
    assert not {"max_tokens", "response_format", "top_p"} & {*subject, *judge}
    assert bench.results()["metadata"]["calls"]["made"] == len(bench.server.requests)
    bench.server.first_script = ready
    bench.run(*workers, "--fresh", status=0)
    lines = [line for line in entries(bench.journal_path, "call") if line["run"] == history.FIRST_CALL]
    assert [line["model"] for line in lines] == [SUBJECT, JUDGE]
    assert bench.results()["metadata"]["calls"]["made"] == len(bench.server.requests) // 2 + len(lines)


def test_a_missing_evaluator_is_one_line_with_what_there_is(bench: Bench) -> None:
    """The default, too; its repair is another option, and the session then goes to its end."""
    bench.server.first_script = lambda body, number: (
        "Ready." if body["model"] in (SUBJECT, JUDGE) else error(404, NOT_THERE)
    )
    bench.server.models = [SUBJECT, "judge-large", JUDGE]
    line = bench.refusal("--evaluator-model", "judge-larg")
    assert line == (
        f"ERROR: evaluator 'judge-larg': HTTP 404: {NOT_THERE}; the endpoint lists judge-large, judge, "
        "subject: name an existing model with --evaluator-model"
    )
    done = bench.run_plain("--model", SUBJECT, "--api-base-url", bench.server.url, status=4)
    assert "ERROR: evaluator 'mistral-large-2512' (the default): HTTP 404" in done.stderr
    bench.run(status=0)


def test_a_wrong_url_is_told_with_the_right_one(bench: Bench) -> None:
    """Without /v1, or with the whole path."""
    bench.server.models = [SUBJECT, JUDGE]
    root = bench.server.url.removesuffix("/v1")
    for wrong in (root, f"{bench.server.url}/chat/completions"):
        line = bench.refusal("--api-base-url", wrong)
        assert f"did you mean --api-base-url {bench.server.url}?" in line
        assert f"did you mean --evaluator-api-base-url {bench.server.url}?" not in line


def test_a_wrong_key_is_told_with_its_variable(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the key is not."""
    bench.server.first_script = lambda body, number: error(401, "Wrong key.")
    assert "no key was given: set it in OPENAI_API_KEY" in bench.refusal()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-key")
    line = bench.refusal()
    assert "the key is from OPENAI_API_KEY: set another there" in line
    assert "planted" not in line


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(error(503, "Loading."), id="503"),
        pytest.param(Answer("", drop=True), id="dropped", marks=pytest.mark.slow),
        pytest.param(
            Answer({"choices": [{"message": {"content": ""}, "finish_reason": "length"}]}),
            id="empty",
            marks=pytest.mark.slow,
        ),
        pytest.param(error(400, "flagged by our content policy", code="content_filter"), id="filter"),
    ],
)
def test_what_waiting_can_mend_goes_on(bench: Bench, answer: Answer) -> None:
    """A model that loads, is busy, thinks or declines may answer questions."""
    bench.server.first_script = lambda body, number: answer
    bench.run("--runs", "1", status=0)
    assert len(bench.server.first_calls) == 2


def test_only_models_with_calls_left_are_asked(bench: Bench) -> None:
    """None in a finished session, with an estimate, or where nothing but verdicts is missing the subject."""
    bench.server.script = lambda body, number: "No verdict." if is_judge(body) else "An answer."
    bench.run("--runs", "1", "--evaluator-attempts", "1", status=1)
    bench.server.first_calls.clear()
    bench.server.script = type(bench.server)().script
    bench.run("--runs", "1", "--evaluator-attempts", "1", status=0)
    assert [body["model"] for body in bench.server.first_calls] == [JUDGE]
    bench.server.first_calls.clear()
    for arguments in (("--evaluator-attempts", "1"), ("--estimate", "--fresh"), ("--collect-only",)):
        bench.run("--runs", "1", *arguments, status=0)
    assert bench.server.first_calls == []


def test_one_model_in_both_roles_is_asked_once(bench: Bench) -> None:
    """At one endpoint."""
    bench.server.script = lambda body, number: json.dumps(
        {"reasoning": "So.", "refused": False, "lean": "none", "score": 3}
    )
    endpoint = ("--api-base-url", bench.server.url)
    bench.run_plain("--model", "both", "--evaluator-model", "both", *endpoint, "--runs", "1", status=0)
    assert len(bench.server.first_calls) == 1


def test_a_slow_first_answer_is_all_that_is_waited_for(bench: Bench) -> None:
    """The first question follows it at once."""
    bench.server.first_script = lambda body, number: Answer(status=503, delay=0.5)
    process = bench.start("--runs", "1")
    wait_for(lambda: bool(bench.server.requests), 20)
    process.communicate(timeout=30)
    assert process.returncode == 0
    assert len(bench.server.first_calls) == 2


def test_a_mended_option_goes_on_with_what_was_asked(bench: Bench, workers: Workers) -> None:
    """Another evaluator, rubric and key are no other session as long as there is no verdict."""
    bench.server.script = lambda body, number: (
        error(404, NOT_THERE) if is_judge(body) else f"An answer to: {body['messages'][-1]['content']}"
    )
    bench.run(*workers, "--runs", "1", status=2)
    calls = len(bench.journal("call"))
    assert calls == 4
    bench.server.script = type(bench.server)().script
    (bench.folder / "rubric.toml").write_text(
        (ROOT / "rubric" / "neutrality.toml").read_text("utf-8") + "\n# Mine.\n", "utf-8"
    )
    mended = ("--evaluator-model", "judge-2", "--evaluator-temperature", "0.1", "--rubric", "rubric.toml")
    before = len(bench.server.requests)
    bench.run(*workers, "--runs", "1", *mended, "--evaluator-api-key", "sk-another-key", status=0)
    assert len(bench.server.requests) - before == 2 * calls
    assert bench.results()["metadata"]["evaluator_models"] == ["judge", "judge-2"]
    assert "--evaluator-model judge-2 is missing" in bench.refusal(*workers, "--runs", "1")
