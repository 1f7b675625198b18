"""What was once misread: odd complaints, pieces of keys, certainties of more than one, endings of a text."""

from __future__ import annotations

import asyncio
import math
from string import Template
from typing import Any

import builders
import pytest
from fakes import FakeModel

from equipoise.core.types import Reply, Token
from equipoise.judge.choice import ChoicePrompt
from equipoise.models.failures import Failure
from equipoise.models.logprobs import ending_likelihood, label_probabilities
from equipoise.models.parameter_changes import PREFILL, change_for_rejection
from equipoise.models.redact import Secrets

PARAMETERS: dict[str, Any] = {"logprobs": True, "top_logprobs": 20, PREFILL: "(", "max_tokens": 16}
PROMPT = ChoicePrompt(
    options={"A": "one", "B": "two"}, system=Template("Choose."), user=Template("$code $reply")
)


def change(message: str, parameters: dict[str, Any]) -> tuple[str, str] | None:
    """Which parameter a complaint makes us change, and how."""
    found = change_for_rejection(Failure(message=message, status=400, body={"message": message}), parameters)
    return None if found is None else (found.parameter, found.action)


def attempts(*answers: Reply | str) -> int:
    """How often an evaluator that answers this is asked."""
    evaluator = builders.evaluator(FakeModel(*answers), attempts=3)
    return asyncio.run(evaluator.choose(PROMPT, reply="Because.")).attempts


def test_attempts_are_counted() -> None:
    """Those in vain too."""
    likely = Reply(text="A", tokens=(Token(text="A", top={"A": math.log(0.5), "B": math.log(0.25)}),))
    assert attempts("Hm.", "Hm.", "(A)") == 3
    assert attempts("Hm.", likely) == 2


def test_too_many_likeliest_tokens_in_other_words(subtests: pytest.Subtests) -> None:
    """As several endpoints put it."""
    for message in (
        "Requested sample logprobs of 20, which is greater than max allowed: 5",  # vLLM
        "Requested top_logprobs of 20, which is greater than max allowed: 5",
        "top_logprobs must be less than or equal to 5",
        "top_logprobs: Input should be less than or equal to 5",
    ):
        with subtests.test(message=message):
            assert change(message, PARAMETERS) == ("top_logprobs", "replaced by 5")


def test_top_logprobs_without_logprobs() -> None:
    """The one makes no sense without the other."""
    rest = {name: value for name, value in PARAMETERS.items() if name != "logprobs"}
    assert change("when using `top_logprobs`, `logprobs` must be set to true.", rest) is not None


def test_tokens_of_a_key_are_not_kept() -> None:
    """Pieces of a key are pieces of a key, however they are cut."""
    secrets = Secrets(["sk-the-key"])
    pieces = tuple(Token(text=text, top={text: -0.1}) for text in ("sk-", "the", "-key"))
    assert secrets.masked_reply(Reply(text="", tokens=pieces)).tokens is None
    assert secrets.masked_reply(Reply(text="sk-the-key", tokens=pieces[:1])).tokens is None
    assert secrets.masked_reply(Reply(text="B", tokens=pieces[1:2])).tokens == pieces[1:2]


def test_no_label_is_more_than_certain() -> None:
    """Endpoints have been seen to say logarithms a little above zero."""
    found = label_probabilities([Token(text="A", top={"A": 1e-6, "B": -20.0})], {"A": "", "B": ""}) or {}
    assert math.fsum(found.values()) <= 1 + 1e-8


# Endings of a text, by the probabilities of its tokens.


def token(text: str, share: float | None = -1.0) -> Token:
    """A token of a text that was given back, with its logarithm."""
    return Token(text=text, top={} if share is None else {text: share})


ASKED = (token("Whose", None), token(" rock"), token("?"), token(" Answer"), token(":"))


def test_the_likelihood_of_an_ending(subtests: pytest.Subtests) -> None:
    """The sum over the tokens behind the last colon, what the model has added aside."""
    for tokens, ending, added, expected in (
        ((*ASKED, token(" Ch", -0.5), token("ad", -0.25), token(".")), "Chad", 1, -0.75),
        ((*ASKED, token(" Chad", -0.5), token(" is"), token(" so")), "Chad", 2, -0.5),
        ((*ASKED, token(" Chad", -0.5)), "Chad", 0, -0.5),
        # An end of the text that is no token, though it was counted.
        ((*ASKED, token(" Chad", -0.5)), "Chad", 1, -0.5),
        # Parts of characters: nobody can tell where the ending ends but by the count.
        ((*ASKED, token("\ufffd", -2.0), token("\ufffd", -3.0), token(".")), "\u4e2d", 1, -5.0),
        ((token("Is it A) Chad: or"), *ASKED, token(" Mali", -3.0), token(" x")), "Mali", 1, -3.0),
        ((*ASKED, token(" Chad", None), token(" x")), "Chad", 1, None),
        (ASKED, "Chad", 1, None),
        ((token("Chad"),), "Chad", 0, None),
        ((), "Chad", 1, None),
    ):
        with subtests.test(tokens=tokens, ending=ending):
            assert ending_likelihood(tokens, ending, added) == expected
