"""The price of tokens: from the offline list of genai-prices, or from the user's options."""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.core.errors import UserError
from equipoise.core.settings import Discounted, Price, Settings, is_local

NO_TOKENS = {"input": 0, "output": 0}
_BATCH_CONTEXT = {"processing": "batch"}
"""Context of genai-prices for calls in batches."""


def cost(
    model: str, base_url: str, tokens: Mapping[str, int], user_price: Price | Discounted | None = None
) -> float | None:
    """The cost in USD of a model's tokens (`input`, `output`, `cached`); None if the model has no price.

    `user_price` is for models that are not in the list. If it is Discounted, the tokens are of calls in
    batches: they cost the listed batch price, or else the usual price less the discount.
    """
    if isinstance(user_price, Discounted):
        return _cost_in_batches(model, base_url, tokens, user_price)
    if is_local(model):
        return 0.0
    listed = _listed_cost(model, base_url, tokens)
    if listed is None and user_price is not None:
        return (tokens["input"] * user_price["input"] + tokens["output"] * user_price["output"]) / 1e6
    return listed


def _cost_in_batches(
    model: str, base_url: str, tokens: Mapping[str, int], user_price: Discounted
) -> float | None:
    usual = cost(model, base_url, tokens, user_price.price)
    listed = _listed_cost(model, base_url, tokens, _BATCH_CONTEXT)
    # The list returns the usual price for a model without a batch price: only a lower one is a batch price.
    if usual is None or (listed is not None and listed < usual):
        return listed
    return usual * (1 - user_price.percent / 100)


def _listed_cost(
    model: str, base_url: str, tokens: Mapping[str, int], context: Mapping[str, str] | None = None
) -> float | None:
    """The cost by the list of genai-prices; None if the model is not in the list."""
    from genai_prices import Usage, calc_price

    # Some endpoints report more cached tokens than input tokens.
    cached = min(tokens.get("cached", 0), tokens["input"])
    usage = Usage(
        input_tokens=tokens["input"],
        output_tokens=tokens["output"],
        cache_read_tokens=cached or None,
    )
    # The endpoint's own price comes first; if its address is unknown (a proxy), the model's name decides.
    for address in (base_url, None):
        try:
            price = calc_price(usage, model, provider_api_url=address, price_context=context)
            return float(price.total_price)
        except (LookupError, ValueError):
            continue
    return None


def is_listed(model: str, base_url: str) -> bool:
    """Whether a model has a listed price, so that the user's is not used."""
    return _listed_cost(model, base_url, NO_TOKENS) is not None


def refuse_unknown(settings: Settings) -> None:
    """Raise UserError if there is a cost limit and a model that will be called has no price."""
    if settings.max_cost is None:
        return
    for number, model in enumerate(settings.models):
        if model not in settings.asked_models:
            continue
        if cost(model, settings.base_url(number), NO_TOKENS, settings.price) is None:
            raise UserError(
                f"--max-cost: the price of {model!r} is not known; "
                "give it with --price-input and --price-output (USD for a million tokens)"
            )
