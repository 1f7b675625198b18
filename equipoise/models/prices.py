"""The price of tokens: from the offline list of genai-prices, else as the user gives it. Knows no limits."""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.core.errors import UserError
from equipoise.core.settings import Price, Settings, is_local

NO_TOKENS = {"input": 0, "output": 0}


def cost(model: str, base_url: str, tokens: Mapping[str, int], own: Price | None = None) -> float | None:
    """USD for these tokens (`input`, `output`, `cached`) of a model; None where it has no price.

    `own` is the price of models that are not in the list.
    """
    if is_local(model):
        return 0.0
    listed = _listed(model, base_url, tokens)
    if listed is None and own is not None:
        return (tokens["input"] * own.input + tokens["output"] * own.output) / 1e6
    return listed


def _listed(model: str, base_url: str, tokens: Mapping[str, int]) -> float | None:
    from genai_prices import Usage, calc_price

    # Endpoints have been seen to count more cached tokens than there were tokens at all.
    cached = min(tokens.get("cached", 0), tokens["input"])
    usage = Usage(
        input_tokens=tokens["input"],
        output_tokens=tokens["output"],
        cache_read_tokens=cached or None,
    )
    # By the endpoint's own price first; a proxy's address is unknown, then the model's name decides.
    for address in (base_url, None):
        try:
            return float(calc_price(usage, model, provider_api_url=address).total_price)
        except (LookupError, ValueError):
            continue
    return None


def refuse_unknown(settings: Settings) -> None:
    """Raise UserError where there is a limit of cost, and a model that is asked has no price."""
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
