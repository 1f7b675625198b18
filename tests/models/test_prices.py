"""What tokens cost."""

from __future__ import annotations

import pytest

from equipoise.core.settings import Discounted, Price
from equipoise.models.prices import cost

TOKENS = {"input": 1_000_000, "output": 0, "cached": 0}


def test_the_built_in_model_is_free() -> None:
    """Nothing is paid for a local model."""
    assert cost("local", "http://127.0.0.1:1/v1", TOKENS) == 0
    assert cost("local:x.gguf", "http://127.0.0.1:1/v1", TOKENS) == 0


def test_a_known_model_has_a_price(subtests: pytest.Subtests) -> None:
    """By the provider's address, and behind a proxy by the model's name."""
    for base_url in ("https://api.openai.com/v1", "http://localhost:4000"):
        with subtests.test(base_url=base_url):
            price = cost("gpt-4o", base_url, TOKENS)
            assert price is not None
            assert price > 0


def test_an_unknown_model_has_none() -> None:
    """No price is not a price of zero."""
    assert cost("nobody-knows-this-model", "http://localhost:4000", TOKENS) is None


def test_no_tokens_tell_whether_there_is_a_price(subtests: pytest.Subtests) -> None:
    """Nothing costs nothing where there is a price, and is not known where there is none."""
    for tokens in ({"input": 0, "output": 0}, {"input": 0, "output": 0, "cached": 0}):
        with subtests.test(tokens=tokens):
            assert cost("gpt-4o", "http://localhost:4000", tokens) == 0
            assert cost("nobody-knows-this-model", "http://localhost:4000", tokens) is None


def test_output_and_input_are_priced_apart() -> None:
    """A model's output costs more than its input, and both together cost the sum."""
    one, other = {"input": 10**6, "output": 0}, {"input": 0, "output": 10**6}
    prices = [
        cost("gpt-4o", "https://api.openai.com/v1", used) for used in (one, other, one | {"output": 10**6})
    ]
    assert None not in prices
    first, second, both = (price or 0.0 for price in prices)
    assert 0 < first < second
    assert both == pytest.approx(first + second)


def test_input_from_a_cache_costs_less() -> None:
    """Tokens that the provider had already are part of the input, at a lower price."""
    found = [
        cost("gpt-4o", "https://api.openai.com/v1", {**TOKENS, "cached": cached})
        for cached in (0, TOKENS["input"])
    ]
    assert found[0]
    assert found[1]
    assert found[1] < found[0]


def test_more_cached_input_than_input_is_all_of_it() -> None:
    """Some endpoints count more tokens from the cache than there were: such a reply has a price too."""
    found = [cost("gpt-4o", "https://api.openai.com/v1", {**TOKENS, "cached": n * 10**6}) for n in (1, 5)]
    assert found[0] == found[1] is not None


OWN = Price(input=3.0, output=15.0)


def test_what_the_user_says_is_the_price_of_an_unknown_model(subtests: pytest.Subtests) -> None:
    """USD for a million tokens, input and output apart; cached input has the price of input."""
    for used, expected in (
        ((1_000_000, 0), 3.0),
        ((0, 1_000_000), 15.0),
        ((1_000, 2_000), 0.033),
        ((0, 0), 0.0),
    ):
        with subtests.test(used=used):
            tokens = {"input": used[0], "output": used[1], "cached": used[0]}
            found = cost("nobody-knows-this-model", "http://localhost:4000", tokens, OWN)
            assert found == pytest.approx(expected)


def test_what_the_user_says_does_not_change_a_price_that_is_known(subtests: pytest.Subtests) -> None:
    """The list comes first, and a built-in model stays free."""
    for model in ("gpt-4o", "local", "local:x.gguf"):
        with subtests.test(model=model):
            url = "https://api.openai.com/v1"
            assert cost(model, url, TOKENS, OWN) == cost(model, url, TOKENS)


def test_a_price_of_zero_is_a_price() -> None:
    """A user whose endpoint is free may say so."""
    assert cost("nobody-knows-this-model", "http://x", TOKENS, Price(input=0.0, output=0.0)) == 0


def test_batches_have_the_listed_price_or_the_discount(subtests: pytest.Subtests) -> None:
    """Where the list has a batch price the discount does not matter; a model that nobody knows has none."""
    own, url = Price(input=2.0, output=10.0), "https://api.openai.com/v1"
    usual = cost("gpt-5-mini", url, TOKENS)
    assert usual is not None
    for percent in (0.0, 80.0):
        with subtests.test(percent=percent):
            less = Discounted(price=own, percent=percent)
            assert cost("gpt-5-mini", url, TOKENS, less) == pytest.approx(usual / 2)
            given = cost("nobody-knows-this-model", url, TOKENS, less)
            assert given == pytest.approx(2.0 * (1 - percent / 100))
    assert cost("local", url, TOKENS, Discounted(price=own, percent=50.0)) == 0
    assert cost("nobody-knows-this-model", url, TOKENS, Discounted(price=None, percent=50.0)) is None
