"""What tokens cost."""

from __future__ import annotations

import pytest

from equipoise.core.settings import Discounted, Price
from equipoise.models.prices import cost

TOKENS = {"input": 1_000_000, "output": 0, "cached": 0}
OPENAI, PROXY = "https://api.openai.com/v1", "http://localhost:4000"
UNKNOWN = "nobody-knows-this-model"
OWN = Price(input=3.0, output=15.0)


def paid(**tokens: int) -> float:
    """What so many tokens of a model that has a price cost."""
    dollars = cost("gpt-4o", OPENAI, {**TOKENS, "input": 0, **tokens})
    assert dollars is not None
    return dollars


def test_whether_there_is_a_price() -> None:
    """By address, or behind a proxy by name; none is not zero, also where nothing was spent."""
    assert [cost(model, PROXY, TOKENS) for model in ("local", "local:x.gguf", UNKNOWN)] == [0, 0, None]
    assert all((cost("gpt-4o", url, TOKENS) or 0) > 0 for url in (OPENAI, PROXY))
    for tokens in ({"input": 0, "output": 0}, {"input": 0, "output": 0, "cached": 0}):
        assert [cost(model, PROXY, tokens) for model in ("gpt-4o", UNKNOWN)] == [0, None]


def test_output_input_and_cached_input_are_priced_apart() -> None:
    """Output costs more than input, cached input less, however much of it is counted."""
    first, second, both = paid(input=10**6), paid(output=10**6), paid(input=10**6, output=10**6)
    assert 0 < first < second
    assert both == pytest.approx(first + second)
    cached = [paid(input=10**6, cached=number * 10**6) for number in (1, 5)]
    assert 0 < cached[0] == cached[1] < first


def test_what_the_user_says_is_the_price_of_an_unknown_model() -> None:
    """USD for a million tokens, zero included; a price that is known stays as it is."""
    for (used, written), expected in {
        (10**6, 0): 3.0,
        (0, 10**6): 15.0,
        (1_000, 2_000): 0.033,
        (0, 0): 0.0,
    }.items():
        tokens = {"input": used, "output": written, "cached": used}
        assert cost(UNKNOWN, PROXY, tokens, OWN) == pytest.approx(expected)
    assert cost(UNKNOWN, PROXY, TOKENS, Price(input=0.0, output=0.0)) == 0
    for model in ("gpt-4o", "local", "local:x.gguf"):
        assert cost(model, OPENAI, TOKENS, OWN) == cost(model, OPENAI, TOKENS)


def test_batches_have_the_listed_price_or_the_discount(subtests: pytest.Subtests) -> None:
    """Where the list has a batch price the discount does not matter; a model that nobody knows has none."""
    usual = cost("gpt-5-mini", OPENAI, TOKENS)
    assert usual is not None
    for percent in (0.0, 80.0):
        with subtests.test(percent=percent):
            less = Discounted(price=OWN, percent=percent)
            assert cost("gpt-5-mini", OPENAI, TOKENS, less) == pytest.approx(usual / 2)
            assert cost(UNKNOWN, OPENAI, TOKENS, less) == pytest.approx(3.0 * (1 - percent / 100))
    assert cost("local", OPENAI, TOKENS, Discounted(price=OWN, percent=50.0)) == 0
    assert cost(UNKNOWN, OPENAI, TOKENS, Discounted(price=None, percent=50.0)) is None
