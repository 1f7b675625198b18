"""What tokens cost, from the price list of genai-prices, offline."""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.settings import is_local


def cost(model: str, base_url: str, tokens: Mapping[str, int]) -> float | None:
    """USD for these tokens (`input`, `output`, `cached`) of a model; None where it has no price."""
    if is_local(model):
        return 0.0
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=tokens["input"],
        output_tokens=tokens["output"],
        cache_read_tokens=tokens.get("cached", 0) or None,
    )
    # By the endpoint's own price first; a proxy's address is unknown, then the model's name decides.
    for address in (base_url, None):
        try:
            return float(calc_price(usage, model, provider_api_url=address).total_price)
        except (LookupError, ValueError):
            continue
    return None
