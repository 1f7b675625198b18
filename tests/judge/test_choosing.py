"""How an evaluator chooses a label: what it is asked, and what becomes of its answers."""

from __future__ import annotations

import asyncio
import math
from functools import partial
from string import Template
from typing import Any

import builders
import pytest
from fakes import FakeModel

from equipoise.core.errors import CallFailed
from equipoise.core.records import Choice
from equipoise.core.types import Reply, Token
from equipoise.judge.choice import ChoicePrompt

PROMPT = ChoicePrompt(
    options={"A": "the first", "B": "the second"},
    system=Template("Choose.\n$options"),
    user=Template("[$code]\n$reply\n[end $code]"),
)
NO_LABEL = "I would rather not say."
ASKED = {"logprobs": True, "top_logprobs": 20, "prefill": "(", "max_tokens": 16}


def likely(text: str = "A", blocked: str | None = None, **shares: float) -> Reply:
    """A reply with the probabilities of its first token."""
    top = {name: math.log(share) for name, share in shares.items()}
    return Reply(text=text, tokens=(Token(text=text, top=top),), blocked=blocked)


evaluator = partial(builders.evaluator, attempts=3)


def choose(ask: FakeModel, **options: Any) -> Choice:
    """The choice of one evaluator on the usual material."""
    return asyncio.run(evaluator(ask, **options).choose(PROMPT, reply="Because."))


def test_the_prompt_is_sent_with_what_brings_probabilities() -> None:
    """With the evaluator's own sampling and prompt, and room for thoughts within the user's limit."""
    choose(ask := FakeModel(likely(A=0.9, B=0.1)))
    call = ask.call
    assert (call.role, call.model, call.parameters, call.room) == ("evaluator", "e", ASKED, 8_192)
    assert call.messages == (
        {"role": "system", "content": "Choose.\n(A) the first\n(B) the second"},
        {"role": "user", "content": "[code-e]\nBecause.\n[end code-e]"},
    )
    own: dict[str, Any] = {"max_tokens": 300, "temperature": 0.0, "top_p": 0.5}
    choose(ask := FakeModel("(A)"), **own, system_prompt="Be fair.")
    assert (ask.call.parameters, ask.call.room) == ({**ASKED, **own, "max_tokens": 16}, 300)
    assert ask.call.messages[0]["content"].startswith("Be fair.\n\nChoose.")


# Probabilities.


def test_probabilities_of_tokens_are_the_choice() -> None:
    """As they are, not scaled to one, with the mass that they cover, at whichever attempt."""
    for answers, raw in (
        ([likely(A=0.6, B=0.3, The=0.1)], ()),
        ([NO_LABEL, likely(A=0.6, B=0.3)], (NO_LABEL,)),
    ):
        ask = FakeModel(*answers)
        choice = choose(ask, samples=5)
        assert (choice.evaluator, choice.method, choice.error) == ("e", "logprobs", None)
        assert choice.probabilities == pytest.approx({"A": 0.6, "B": 0.3}, abs=1e-12)
        assert choice.mass == pytest.approx(0.9, abs=1e-12)
        assert (choice.raw, choice.attempts, len(ask.history)) == (raw, len(answers), len(answers))


# Samples.


def test_several_samples_are_drawn_at_temperature_one(subtests: pytest.Subtests) -> None:
    """Those without a label are left out; the first answer counts where no sample has one."""
    for what, answers, samples, expected, rooms in (
        ("one", ["(B)"], 1, {"A": 0, "B": 1}, [16]),
        ("four", ["(A)", "(B)", "(A)", "B", "(b)"], 4, {"A": 0.25, "B": 0.75}, [16] * 5),
        ("two of four", ["(A)", "(B)", NO_LABEL, "(A)", ""], 4, {"A": 0.5, "B": 0.5}, [16] * 5),
        ("none of three", ["(B)", NO_LABEL], 3, {"A": 0, "B": 1}, [16] * 4),
        ("behind a retry", [NO_LABEL, "(A)"], 2, {"A": 1, "B": 0}, [16, 128, 128, 128]),
    ):
        with subtests.test(what):
            ask = FakeModel(*answers)
            choice = choose(ask, samples=samples, temperature=0.0)
            assert (choice.probabilities, choice.method, choice.mass) == (expected, "samples", None)
            drawn = samples if samples > 1 else 0
            temperatures = [0.0] * (len(rooms) - drawn) + [1.0] * drawn
            assert [call.parameters["temperature"] for call in ask.history] == temperatures
            assert ask.rooms == rooms
            assert len({call.messages[1]["content"] for call in ask.history}) == 1


# Answers without a label.


def test_after_the_last_attempt_there_is_no_choice(subtests: pytest.Subtests) -> None:
    """No probabilities, and every answer as it was."""
    for attempts in (1, 3):
        with subtests.test(attempts=attempts):
            ask = FakeModel(*[f"Hm {n}." for n in range(9)])
            assert choose(ask, attempts=attempts, samples=4) == Choice(
                evaluator="e",
                probabilities=None,
                attempts=attempts,
                error="an answer without a label",
                raw=tuple(f"Hm {n}." for n in range(attempts)),
            )
            assert len(ask.history) == attempts


def test_probabilities_that_sum_to_more_than_one_are_no_choice() -> None:
    """Nor a grade, nor is the answer read instead: of such an endpoint nothing is known."""
    error = "token probabilities that sum to 3.00, more than 1"
    ask = FakeModel(likely(A=1.0, B=1.0, C=1.0))
    assert choose(ask) == Choice(evaluator="e", probabilities=None, attempts=1, error=error, raw=("A",))
    assert len(ask.history) == 1
    ask = FakeModel("Hm.", likely(A=1.0, B=1.0, C=1.0))
    verdict = asyncio.run(evaluator(ask).grade(PROMPT, reply="Because."))
    assert (verdict.fields, verdict.attempts, verdict.error) == (None, 2, error)


def test_a_blocked_answer_is_not_asked_for_again(subtests: pytest.Subtests) -> None:
    """The filter would say the same again; what it cut is not read for probabilities."""
    for what, reply in {
        "": Reply(text="", blocked="filter"),
        "cut": likely("The", blocked="filter", A=0.6, B=0.3),
    }.items():
        with subtests.test(what):
            ask = FakeModel(reply)
            choice = choose(ask)
            assert (choice.probabilities, choice.error) == (None, "blocked (filter)")
            assert (choice.raw, choice.attempts, len(ask.history)) == ((reply.text,), 1, 1)


def test_the_users_limit_is_never_exceeded(subtests: pytest.Subtests) -> None:
    """--evaluator-max-tokens is the most for any attempt and sample; no more is sent than is needed."""
    for most, rooms in (
        (10, [10, 10, 10]),
        (16, [16, 16, 16]),
        (100, [16, 100, 100]),
        (5000, [16, 128, 1024]),
    ):
        with subtests.test(most=most):
            ask = FakeModel(NO_LABEL)
            choose(ask, max_tokens=most)
            assert ask.rooms == rooms
            assert not any(call.is_stretched for call in ask.history)
    choose(ask := FakeModel("(A)"), max_tokens=10, samples=2)
    assert ask.rooms == [10, 10, 10]


def test_an_evaluator_that_fails_raises() -> None:
    """A call that brings no reply is no choice, nor a sample without a label."""
    for answers in ([CallFailed("down")], ["(B)", CallFailed("down")]):
        with pytest.raises(CallFailed, match="down"):
            choose(FakeModel(*answers), samples=2)


# Panels.


def test_a_panel_gives_every_choice_in_order() -> None:
    """Whoever is first home; of an evaluator that fails it has the error, and no probabilities."""
    asks = (FakeModel("(A)", delay=0.02), FakeModel(CallFailed("down")), FakeModel("(B)"))
    choices = asyncio.run(builders.panel(*asks, attempts=3).choose(PROMPT, reply="Because."))
    assert [item.evaluator for item in choices] == ["e1", "e2", "e3"]
    assert [item.probabilities for item in choices] == [{"A": 1, "B": 0}, None, {"A": 0, "B": 1}]
    assert choices[1] == Choice(evaluator="e2", probabilities=None, attempts=0, error="down")
