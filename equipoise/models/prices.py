"""The price of tokens: from the offline list of genai-prices, or from the user's options."""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.core.errors import UserError
from equipoise.core.settings import Discounted, Price, Settings, is_local

NO_TOKENS = {"input": 0, "output": 0}
_IN_BATCHES = {"processing": "batch"}
"""Context of genai-prices for calls in batches."""


def cost(
    model: str, base_url: str, tokens: Mapping[str, int], own: Price | Discounted | None = None
) -> float | None:
    """The cost in USD of a model's tokens (`input`, `output`, `cached`); None if it has no price.

    `own` is the user's price, for models that are not in the list. `Discounted` asks for the cost in batches:
    by the listed batch price, or else by the usual price less the discount.
    """
    if isinstance(own, Discounted):
        return _cost_in_batches(model, base_url, tokens, own)
    if is_local(model):
        return 0.0
    listed = _listed(model, base_url, tokens)
    if listed is None and own is not None:
        return (tokens["input"] * own.input + tokens["output"] * own.output) / 1e6
    return listed


def _cost_in_batches(model: str, base_url: str, tokens: Mapping[str, int], own: Discounted) -> float | None:
    usual, listed = cost(model, base_url, tokens, own.price), _listed(model, base_url, tokens, _IN_BATCHES)
    # The list returns the usual price for a model without a batch price: only a lower one is a batch price.
    if usual is None or (listed is not None and listed < usual):
        return listed
    return usual * (1 - own.percent / 100)


def _listed(
    model: str, base_url: str, tokens: Mapping[str, int], context: Mapping[str, str] | None = None
) -> float | None:
    """The cost by the list; None if the model is not in it."""
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


def refuse_unknown(settings: Settings) -> None:
    """Raise UserError if there is a cost limit and a model that will be called has no price."""
    if settings.max_cost is None:
        return
    for number, model in enumerate(settings.models):
        if model not in settings.asked_models:
            continue
        base_url = settings.endpoint("evaluator" if number else "subject").base_url
        if cost(model, base_url, NO_TOKENS, settings.price) is None:
            raise UserError(
                f"--max-cost: the price of {model!r} is not known; "
                "give it with --price-input and --price-output (USD for a million tokens)"
            )
