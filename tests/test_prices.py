"""What tokens cost."""

from __future__ import annotations

import pytest

from equipoise.prices import cost

TOKENS = {"input": 1_000_000, "output": 0, "cached": 0}


def test_the_built_in_model_is_free() -> None:
    """Nothing is paid for a local model."""
    assert cost("local", "http://127.0.0.1:1/v1", TOKENS) == 0
    assert cost("local:x.gguf", "http://127.0.0.1:1/v1", TOKENS) == 0


@pytest.mark.parametrize("base_url", ["https://api.openai.com/v1", "http://localhost:4000"])
def test_a_known_model_has_a_price(base_url: str) -> None:
    """By the provider's address, and behind a proxy by the model's name."""
    price = cost("gpt-4o", base_url, TOKENS)
    assert price is not None
    assert price > 0


def test_an_unknown_model_has_none() -> None:
    """No price is not a price of zero."""
    assert cost("nobody-knows-this-model", "http://localhost:4000", TOKENS) is None
