"""Whole sessions with thoughts beside answers, and with evaluators that do not give a verdict at once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import repeat
from typing import Any

import pytest

from conftest import Bench
from fates import (
    Fates,
    Said,
    asked,
    assert_errors_are_told,
    errors,
    finish,
    lines,
    outcomes,
    runs,
    stopped_by,
    write_dataset,
)
from loopback import Answer, completion, error, is_judge, plain_script, question_of, verdict


def prompts(bench: Bench) -> dict[str, list[str]]:
    """Everything that the evaluators were sent about each question."""
    texts: dict[str, list[str]] = {}
    for body in filter(is_judge, bench.server.requests):
        texts.setdefault(question_of(body), []).append("".join(item["content"] for item in body["messages"]))
    return texts


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

THOUGHTFUL: dict[str, tuple[Said, str, str]] = {
    "Are thoughts in a block?": (
        "<think>\nHidden in a block.\n</think>\n\nShown.",
        "Shown.",
        "Hidden in a block.",
    ),
    "Does a block not end?": (
        Answer(completion("<think>Hidden without end. 1, 2", finish_reason="length")),
        "",
        "Hidden without end. 1, 2",
    ),
    "Are thoughts in a field?": (
        Answer(completion("Shown.", message={"reasoning_content": "Hidden in a field."})),
        "Shown.",
        "Hidden in a field.",
    ),
}


# Verdicts that are valid, whatever is around and inside; all forms are in tests/models and tests/judge.

MENTIONS = "It ends with </think>, and a <think> stands before."
VALID: dict[str, tuple[Said, str]] = {
    "Is there a block before?": (f"<think>A 1? {verdict(1)}</think>\n\n{verdict(4)}", "Because."),
    "Does it mention a tag after a block?": (
        f"<think>A 1?</think>{verdict(4, reasoning=MENTIONS)}",
        MENTIONS,
    ),
    "Does it end at its limit to the letter?": (
        Answer(completion(verdict(4), finish_reason="length")),
        "Because.",
    ),
}


# Verdicts that are none.

INVALID: dict[str, str] = {
    "Is it above the scale?": verdict(6),
    "Are there two verdicts?": f"{verdict(5)}\n{verdict(1)}",
    "Is it empty?": "",
    "Is it all thoughts?": f"<think>A 5, I think: {verdict(5)}",
    "Does it follow another?": f"A 1? {verdict(1)}\n</think>\n\n{verdict(4)}",
}


UNSCORED: dict[str, list[str]] = {"Is there never a verdict?": ["First, no verdict.", "[]", verdict(9)]}

BLOCKED = {
    "Is the prompt refused?": error(400, "Filtered.", code="content_filter"),
    "Is the verdict refused?": Answer(completion('{"reasoning"', finish_reason="content_filter")),
}


# Verdicts that are cut at their length limit.


def cut(tokens: int) -> Answer:
    """The beginning of a verdict of so many tokens."""
    usage = {"prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": 100 + tokens}
    return Answer(completion(verdict(5)[:30], finish_reason="length", usage=usage))


CUT = {"Is it cut twice?": [cut(300), cut(600)], "Is it always cut?": repeat(cut(100))}
NO_ROOM = {
    "Has OpenAI no more room?": error(
        400,
        "max_tokens is too large: 200. This model supports at most 100 completion tokens, "
        "whereas you provided 200.",
        param="max_tokens",
        code="invalid_value",
    ),
    "Has DashScope no more room?": error(
        400,
        "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 100]",
        code="invalid_parameter_error",
    ),
}
FEW, LIMIT = 3, 100
OPTIONS = ("--evaluator-max-tokens", str(LIMIT), "--evaluator-attempts", str(FEW))
EVERY = (*THOUGHTFUL, *VALID, *INVALID, *UNSCORED, *BLOCKED, *CUT, *NO_ROOM)
LOST = (*UNSCORED, *BLOCKED, "Is it always cut?", *NO_ROOM)
"""Questions whose runs have no verdict in the end."""


def judging() -> dict[str, Iterable[Said]]:
    """What the evaluator says to each question in turn, before the ordinary verdict."""
    return {
        **{question: [text] for question, (text, _) in VALID.items()},
        **{question: [text, verdict(3)] for question, text in INVALID.items()},
        **UNSCORED,
        **{question: repeat(text) for question, text in BLOCKED.items()},
        **CUT,
        **{question: [cut(LIMIT), refusal] for question, refusal in NO_ROOM.items()},
    }


def reasons() -> dict[str, str]:
    """Why each run that is lost has no score."""
    blocked = "blocked by the evaluator's provider (content_filter) (1 attempts)"
    more = "cut at its length limit, which cannot be raised: evaluator 'judge': HTTP 400: "
    return {
        "Is there never a verdict?": "'score' is not a whole number from 1 to 5 (3 attempts)",
        **dict.fromkeys(BLOCKED, blocked),
        "Is it always cut?": "cut at its length limit: not a JSON object (3 attempts)",
        **{
            question: f"{more}{answer.body['error']['message']} (1 attempts)"
            for question, answer in NO_ROOM.items()
        },
    }


@pytest.mark.parametrize(
    "workers", [("-n", "0"), pytest.param(("-n", "2"), marks=pytest.mark.slow)], ids=["n0", "n2"]
)
def test_every_verdict_is_the_evaluators_own_or_none(bench: Bench, workers: tuple[str, str]) -> None:
    """No thought is judged, nothing is guessed, a cut verdict gets twice the room, every text is kept."""
    write_dataset(bench, EVERY)
    subject = {question: [text] for question, (text, _, _) in THOUGHTFUL.items()}
    bench.server.script = Fates(subject=subject, judge=judging())
    output = finish(bench, *workers, *OPTIONS, status=1)
    by_question = runs(bench)
    ends = dict.fromkeys(EVERY, "scored") | dict.fromkeys(LOST, "unscored")
    assert outcomes(bench) == {**ends, "Does a block not end?": "empty"}
    assert asked(bench, judge=False) == dict.fromkeys(EVERY, 1)
    times = {
        **dict.fromkeys(INVALID, 2),
        **dict.fromkeys(NO_ROOM, 2),
        **dict.fromkeys([*UNSCORED, *CUT], FEW),
    }
    assert asked(bench, judge=True) == {**dict.fromkeys(EVERY, 1), **times}

    # The evaluator sees the answer alone; the transcript has both.
    shown = prompts(bench)
    assert {question: [quoted(text) for text in shown[question]] for question in THOUGHTFUL} == {
        question: [answer] for question, (_, answer, _) in THOUGHTFUL.items()
    }
    assert [text for texts in shown.values() for text in texts if "Hidden" in text] == []
    replies = {question: by_question[question]["subject_transcript"][-1] for question in THOUGHTFUL}
    assert {question: (one["content"], one["reasoning"]) for question, one in replies.items()} == {
        question: (answer, thoughts) for question, (_, answer, thoughts) in THOUGHTFUL.items()
    }

    # The object behind the thoughts counts, whole.
    own = {"evaluator": "judge", "score": 4, "refused": False, "lean": "none", "attempts": 1}
    assert {question: by_question[question]["verdicts"] for question in VALID} == {
        question: [{**own, "reasoning": reasoning}] for question, (_, reasoning) in VALID.items()
    }

    # Nothing is guessed of what is none: the second one counts, and both are kept.
    counted = [
        (by_question[question]["score"], by_question[question]["verdicts"][0]["attempts"])
        for question in INVALID
    ]
    assert counted == [(3, 2)] * len(INVALID)
    assert {question: said_by_evaluators(by_question[question]) for question in INVALID} == {
        question: [text, verdict(3)] for question, text in INVALID.items()
    }

    # Room: twice that of the verdict that was cut, in that run alone.
    rooms: dict[str, list[int]] = {}
    for body in filter(is_judge, bench.server.requests):
        rooms.setdefault(question_of(body), []).append(body["max_tokens"])
    grown = {key: [100, 200, 400] if key in CUT else [100, 200] for key in (*CUT, *NO_ROOM)}
    assert {question: room for question, room in rooms.items() if set(room) != {LIMIT}} == grown
    assert by_question["Is it cut twice?"]["verdicts"][0]["attempts"] == FEW

    # Whoever has none says why, and has every text kept in order.
    assert errors(bench) == {
        question: f"no valid verdict: judge: {why}" for question, why in reasons().items()
    }
    raw_texts = {item["question"]: item["raw_evaluator_responses"] for item in bench.results()["errors"]}
    start = verdict(5)[:30]
    assert raw_texts == {
        **UNSCORED,
        **{"Is the prompt refused?": [""], "Is the verdict refused?": ['{"reasoning"']},
        "Is it always cut?": [start] * FEW,
        **{question: [start] for question in NO_ROOM},
    }
    assert all(by_question[question]["score"] is None for question in LOST)
    assert_errors_are_told(bench, output)
    assert stopped_by(output) == []
    assert bench.results()["metadata"]["parameters_changed"] == []
    summary = f"evaluator: judge gave no valid verdict in {len(LOST)} of {len(EVERY)} runs"
    assert summary in lines(output, "evaluator: judge")

    # The same command asks about the replies that are there.
    before = asked(bench, judge=True)
    bench.server.script = plain_script
    output = finish(bench, *workers, *OPTIONS, status=0)
    assert asked(bench, judge=False) == dict.fromkeys(EVERY, 1)
    after = asked(bench, judge=True)
    assert {question: after[question] - before[question] for question in EVERY} == {
        question: int(question in LOST) for question in EVERY
    }
    assert {question: outcomes(bench)[question] for question in LOST} == dict.fromkeys(LOST, "scored")
    assert errors(bench) == {}
    (line,) = lines(output, "resuming:")
    done = f"{len(EVERY) - len(LOST)} of {len(EVERY)} runs are done"
    repeated = "that ended without a score are repeated (any evaluators are asked again, "
    assert line.startswith(f"resuming: {done}, {len(LOST)} {repeated}")
