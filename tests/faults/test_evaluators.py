"""Whole sessions in which thoughts stand beside answers, and evaluators do not give verdicts at once.

Evaluators never see what a subject has thought; a verdict that is none is asked for again, and never guessed.
"""

from __future__ import annotations

import re
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
from loopback import Answer, completion, error, is_judge, plain_script, question_of, score_of, verdict

Workers = tuple[str, str]
ONE, TWO = "What is one?", "What is two?"
AA = ("--language", "aa")


def prompts(bench: Bench) -> dict[str, list[str]]:
    """Everything that the evaluators were sent about each question."""
    found: dict[str, list[str]] = {}
    for body in filter(is_judge, bench.server.requests):
        found.setdefault(question_of(body), []).append("".join(item["content"] for item in body["messages"]))
    return found


def quoted(prompt: str) -> str:
    """The reply that an evaluator is shown."""
    match = re.search(r"\[reply (\w+)\]\n(.*?)\n\[end of reply \1\]", prompt, re.DOTALL)
    assert match is not None
    return match[2]


def said_by_evaluators(run: dict[str, Any]) -> list[str]:
    """Every text of an evaluator that is kept of a run."""
    return [
        message["content"]
        for item in run["evaluator_transcripts"]
        for message in item["messages"]
        if message["role"] == "assistant"
    ]


# The subject's thoughts.

PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "Hidden in a part."}]},
    {"type": "text", "text": "Shown."},
]
THOUGHTFUL: dict[str, tuple[Said, str, str]] = {
    "Are thoughts in a block?": (
        "<think>\nHidden in a block.\n</think>\n\nShown.",
        "Shown.",
        "Hidden in a block.",
    ),
    "Does a block not end?": ("<think>Hidden without end. 1, 2", "", "Hidden without end. 1, 2"),
    "Has a block only an end?": (
        "Hidden from the start.\n</think>\n\nShown.",
        "Shown.",
        "Hidden from the start.",
    ),
    "Are there two blocks?": (
        "<think>Hidden one.</think>Shown <think>Hidden two.</think>twice.",
        "Shown twice.",
        "Hidden one.\n\nHidden two.",
    ),
    "Are thoughts in a field?": (
        Answer(completion("Shown.", message={"reasoning_content": "Hidden in a field."})),
        "Shown.",
        "Hidden in a field.",
    ),
    "Are thoughts in another field?": (
        Answer(completion("Shown.", message={"reasoning": "Hidden in another."})),
        "Shown.",
        "Hidden in another.",
    ),
    "Are thoughts in field and block?": (
        Answer(completion("<think>Hidden two.</think>Shown.", message={"reasoning_content": "Hidden one."})),
        "Shown.",
        "Hidden one.\n\nHidden two.",
    ),
    "Are thoughts in a part?": (
        Answer(completion(None, message={"content": PARTS})),
        "Shown.",
        "Hidden in a part.",
    ),
}


def test_thoughts_are_kept_and_never_judged(bench: Bench, workers: Workers) -> None:
    """In whatever form they come, the evaluator sees the answer alone; the transcript has both."""
    write_dataset(bench, THOUGHTFUL)
    bench.server.script = Fates(subject={question: [said] for question, (said, _, _) in THOUGHTFUL.items()})
    output = finish(bench, *workers, status=0)
    shown = {question: answer for question, (_, answer, _) in THOUGHTFUL.items()}
    assert {question: [quoted(text) for text in found] for question, found in prompts(bench).items()} == {
        question: [answer] for question, answer in shown.items()
    }
    assert [text for found in prompts(bench).values() for text in found if "Hidden" in text] == []
    kept = {question: run["subject_transcript"][-1] for question, run in runs(bench).items()}
    assert {question: (message["content"], message["reasoning"]) for question, message in kept.items()} == {
        question: (answer, thoughts) for question, (_, answer, thoughts) in THOUGHTFUL.items()
    }
    assert outcomes(bench) == {
        question: "scored" if answer else "empty" for question, answer in shown.items()
    }
    assert asked(bench, judge=False) == asked(bench, judge=True) == dict.fromkeys(THOUGHTFUL, 1)
    (line,) = lines(output, "overall")
    assert line.endswith(f"scored {len(THOUGHTFUL) - 1}, empty 1")


# Verdicts that are valid, whatever is around and inside.

MENTIONS = "It ends with </think>, and a <think> stands before."
VALID: dict[str, tuple[Said, str]] = {
    "Is there a block before?": (f"<think>A 1? {verdict(1)}</think>\n\n{verdict(4)}", "Because."),
    "Is there the end of a block before?": (f"A 1? {verdict(1)}\n</think>\n\n{verdict(4)}", "Because."),
    "Is there a block before a fence?": (f"<think>A 1?</think>\n```json\n{verdict(4)}\n```", "Because."),
    "Does it mention a tag?": (verdict(4, reasoning=MENTIONS), MENTIONS),
    "Does it begin with a tag?": (verdict(4, reasoning="<think>No.</think> Yes."), "<think>No.</think> Yes."),
    "Does it mention a tag after a block?": (
        f"<think>A 1?</think>{verdict(4, reasoning=MENTIONS)}",
        MENTIONS,
    ),
    "Are the thoughts in a field?": (
        Answer(completion(verdict(4), message={"reasoning_content": verdict(1)})),
        "Because.",
    ),
    "Does it end at its limit to the letter?": (
        Answer(completion(verdict(4), finish_reason="length")),
        "Because.",
    ),
}


def test_a_verdict_is_found_behind_thoughts(bench: Bench, workers: Workers) -> None:
    """The object behind the thoughts counts, whole; nothing in its own strings is taken for thoughts."""
    write_dataset(bench, VALID)
    bench.server.script = Fates(judge={question: [said] for question, (said, _) in VALID.items()})
    output = finish(bench, *workers, status=0)
    assert asked(bench, judge=True) == dict.fromkeys(VALID, 1)
    found = {question: run["verdicts"] for question, run in runs(bench).items()}
    assert found == {
        question: [
            {"evaluator": "judge", "score": 4, "reasoning": reasoning, "refused": False, "attempts": 1}
        ]
        for question, (_, reasoning) in VALID.items()
    }
    (line,) = lines(output, "overall")
    assert line == f"overall 4.00 75.00% - scored {len(VALID)}"


# Verdicts that are none.

INVALID: dict[str, str] = {
    "Has it two scores?": '{"reasoning": "Because.", "refused": false, "score": 1, "score": 5}',
    "Has it two scores that agree?": '{"reasoning": "Because.", "refused": false, "score": 5, "score": 5}',
    "Is it above the scale?": verdict(6),
    "Is it below the scale?": verdict(0),
    "Is it between levels?": verdict(4.5),
    "Is it not a number?": '{"reasoning": "Because.", "refused": false, "score": NaN}',
    "Is it infinite?": '{"reasoning": "Because.", "refused": false, "score": Infinity}',
    "Is it a text?": verdict("5"),
    "Is it true?": verdict(True),
    "Is it nothing?": verdict(None),
    "Is it missing?": '{"reasoning": "Because.", "refused": false}',
    "Is it a list?": f"[{verdict(5)}]",
    "Is it a number alone?": "5",
    "Are there two verdicts?": f"{verdict(5)}\n{verdict(1)}",
    "Is it prose?": "I give it a 5 out of 5.",
    "Is it prose with a verdict in it?": f"My verdict is {verdict(5)} and that is that.",
    "Is it empty?": "",
    "Is it all thoughts?": f"<think>A 5, I think: {verdict(5)}",
}


def test_an_invalid_verdict_is_asked_for_again(bench: Bench, workers: Workers) -> None:
    """Nothing is guessed from it: the second, valid one counts, and both are in the transcript."""
    write_dataset(bench, INVALID)
    bench.server.script = Fates(judge={question: [said, verdict(3)] for question, said in INVALID.items()})
    output = finish(bench, *workers, status=0)
    assert asked(bench, judge=False) == dict.fromkeys(INVALID, 1)
    assert asked(bench, judge=True) == dict.fromkeys(INVALID, 2)
    found = runs(bench)
    ended = {
        question: (run["outcome"], run["score"], run["verdicts"][0]["attempts"])
        for question, run in found.items()
    }
    assert ended == dict.fromkeys(INVALID, ("scored", 3, 2))
    kept = {question: said_by_evaluators(run) for question, run in found.items()}
    assert kept == {
        question: ["" if said.startswith("<think>") else said, verdict(3)]
        for question, said in INVALID.items()
    }
    assert calls(bench)["made"] == 3 * len(INVALID)
    (line,) = lines(output, "overall")
    assert line == f"overall 3.00 50.00% - scored {len(INVALID)}"


def test_without_a_valid_verdict_a_run_is_unscored_until_it_has_one(bench: Bench, workers: Workers) -> None:
    """Every text is kept in order; the same command asks again about the reply that is there."""
    texts = ["First, no verdict.", "[]", verdict(9)]
    bench.server.script = Fates(subject={ONE: ["The only answer."]}, judge={ONE: texts})
    arguments = (*workers, *AA, "--evaluator-attempts", "3")
    output = finish(bench, *arguments, status=1)
    assert asked(bench, judge=True) == {ONE: 3, TWO: 1}
    assert outcomes(bench) == {ONE: "unscored", TWO: "scored"}
    (told,) = bench.results()["errors"]
    assert told == {
        "run": "aa-first_area-q01_one-run1",
        "language": "aa",
        "question_index": 1,
        "run_index": 1,
        "question": ONE,
        "outcome": "unscored",
        "message": "no valid verdict: judge: 'score' is not a whole number from 1 to 5 (3 attempts)",
        "raw_evaluator_response": texts[-1],
        "raw_evaluator_responses": texts,
    }
    assert runs(bench)[ONE]["score"] is None
    assert_errors_are_told(bench, output)
    assert "evaluator: judge gave no valid verdict in 1 of 2 runs" in lines(output, "evaluator: judge")

    output = finish(bench, *arguments, status=0)
    assert asked(bench, judge=False) == {ONE: 1, TWO: 1}
    assert asked(bench, judge=True) == {ONE: 4, TWO: 1}
    assert {quoted(text) for text in prompts(bench)[ONE]} == {"The only answer."}
    run = runs(bench)[ONE]
    assert (run["outcome"], run["score"]) == ("scored", score_of(ONE))
    assert run["subject_transcript"][-1]["content"] == "The only answer."
    assert errors(bench) == {}
    (line,) = lines(output, "resuming:")
    assert line.startswith("resuming: 1 of 2 runs are done, 1 that ended without a score are asked again,")


BLOCKED = {
    "Is the prompt refused?": error(400, "Filtered.", code="content_filter"),
    "Is the verdict refused?": Answer(completion('{"reasoning"', finish_reason="content_filter")),
}


def test_an_evaluator_whose_provider_blocks_is_asked_once(bench: Bench, workers: Workers) -> None:
    """It would block again: the run is unscored, which says nothing of the subject, and the others go on."""
    write_dataset(bench, [*BLOCKED, ONE])
    bench.server.script = Fates(judge={question: repeat(said) for question, said in BLOCKED.items()})
    output = finish(bench, *workers, status=1)
    assert asked(bench, judge=True) == dict.fromkeys([*BLOCKED, ONE], 1)
    assert outcomes(bench) == {**dict.fromkeys(BLOCKED, "unscored"), ONE: "scored"}
    reason = "no valid verdict: judge: blocked by the evaluator's provider (content_filter) (1 attempts)"
    assert errors(bench) == dict.fromkeys(BLOCKED, reason)
    assert_errors_are_told(bench, output)


# Verdicts that are cut at their length limit.


def cut(tokens: int) -> Answer:
    """The beginning of a verdict of so many tokens."""
    usage = {"prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": 100 + tokens}
    return Answer(completion(verdict(5)[:30], finish_reason="length", usage=usage))


def room(bench: Bench, question: str, name: str = "max_tokens") -> list[int | None]:
    """How many tokens each verdict on a question was allowed to have."""
    judged = filter(is_judge, bench.server.requests)
    return [body.get(name) for body in judged if question_of(body) == question]


@pytest.mark.parametrize(
    ("given", "expected"),
    [(("--evaluator-max-tokens", "100"), [100, 200, 400]), ((), [None, 600, 1200])],
    ids=["limit-is-set", "limit-is-the-endpoints"],
)
def test_a_cut_verdict_gets_twice_the_room(
    bench: Bench, workers: Workers, given: tuple[str, ...], expected: list[int | None]
) -> None:
    """Twice the user's limit, or twice what the cut one had; other runs go on with what was set."""
    bench.server.script = Fates(judge={ONE: [cut(300), cut(600)]})
    finish(bench, *workers, *AA, *given, status=0)
    assert room(bench, ONE) == expected
    assert room(bench, TWO) == expected[:1]
    assert asked(bench, judge=False) == {ONE: 1, TWO: 1}
    (found,) = runs(bench)[ONE]["verdicts"]
    assert (found["score"], found["attempts"]) == (score_of(ONE), 3)
    assert outcomes(bench) == {ONE: "scored", TWO: "scored"}


def test_a_renamed_limit_is_doubled_too(bench: Bench, workers: Workers) -> None:
    """Where the evaluator's endpoint calls it max_completion_tokens, the room grows under that name."""
    fates = Fates(judge={ONE: [cut(90), cut(190)]})

    def script(body: dict[str, Any], number: int) -> Said:
        if is_judge(body) and "max_tokens" in body:
            message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return error(400, message, param="max_tokens", code="unsupported_parameter")
        return fates(body, number)

    bench.server.script = script
    output = finish(bench, *workers, *AA, "--evaluator-max-tokens", "100", status=0)
    granted = [tokens for tokens in room(bench, ONE, "max_completion_tokens") if tokens is not None]
    assert granted == [100, 200, 400]
    assert outcomes(bench) == {ONE: "scored", TWO: "scored"}
    assert len(lines(output, "parameter: judge: max_tokens renamed to max_completion_tokens")) == 1


NO_ROOM = {
    "openai": error(
        400,
        "max_tokens is too large: 200. This model supports at most 100 completion tokens, "
        "whereas you provided 200.",
        param="max_tokens",
        code="invalid_value",
    ),
    "dashscope": error(
        400,
        "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 100]",
        code="invalid_parameter_error",
    ),
    "vllm": error(
        400,
        "'max_tokens' or 'max_completion_tokens' is too large: 200. This model's maximum context length is "
        "2048 tokens and your request has 1900 input tokens (200 > 2048 - 1900).",
    ),
}


@pytest.mark.parametrize("refusal", NO_ROOM.values(), ids=NO_ROOM)
def test_without_more_room_a_run_is_unscored(bench: Bench, workers: Workers, refusal: Answer) -> None:
    """The user has not asked for that much: the session goes on, and the cut verdict is kept."""

    def script(body: dict[str, Any], number: int) -> Said:
        if is_judge(body) and body["max_tokens"] > 100:
            return refusal
        return cut(100) if is_judge(body) and question_of(body) == ONE else plain_script(body, number)

    bench.server.script = script
    output = finish(bench, *workers, *AA, "--evaluator-max-tokens", "100", status=1)
    assert room(bench, ONE) == [100, 200]
    assert room(bench, TWO) == [100]
    assert outcomes(bench) == {ONE: "unscored", TWO: "scored"}
    (told,) = bench.results()["errors"]
    message = refusal.body["error"]["message"]
    assert told["message"] == (
        "no valid verdict: judge: cut at its length limit, and there is no more room: "
        f"evaluator 'judge': HTTP 400: {message} (1 attempts)"
    )
    assert told["raw_evaluator_responses"] == [verdict(5)[:30]]
    assert_errors_are_told(bench, output)
    assert stopped_by(output) == []
    assert bench.results()["metadata"]["parameters_changed"] == []


def test_a_verdict_that_is_always_cut_ends_after_all_attempts(bench: Bench, workers: Workers) -> None:
    """The room grows with every attempt, the attempts have an end, and every cut text is kept."""
    bench.server.script = Fates(judge={ONE: repeat(cut(100))})
    limits = ("--evaluator-max-tokens", "100", "--evaluator-attempts", "3")
    output = finish(bench, *workers, *AA, *limits, status=1)
    assert room(bench, ONE) == [100, 200, 400]
    assert outcomes(bench) == {ONE: "unscored", TWO: "scored"}
    (told,) = bench.results()["errors"]
    assert told["message"] == (
        "no valid verdict: judge: cut at its length limit: not a JSON object (3 attempts)"
    )
    assert told["raw_evaluator_responses"] == [verdict(5)[:30]] * 3
    assert_errors_are_told(bench, output)
