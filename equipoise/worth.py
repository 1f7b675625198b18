"""What a summary says its figures are worth, as lines for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from equipoise.types import JSON


def lines(summary: Mapping[str, JSON]) -> Iterator[str]:
    """Where the variance lies, how languages differ, how the panel agrees, how long it took to be precise."""
    if until := summary.get("until"):
        yield _until(until)
    if summary["variance"]["share"]:
        yield from _variance(summary["variance"])
    if summary["consistency"]:
        yield from _languages(summary["consistency"])
    if panel := summary.get("panel"):
        yield from _panel(panel)


def _until(until: Mapping[str, JSON]) -> str:
    last = until["looks"][-1]
    state = "reached" if until["is_reached"] else "not reached"
    width = "no interval" if last["half_width"] is None else f"±{last['half_width']:.2f} pp"
    return f"until:     {until['rule']} {state} after {until['runs']} runs of each question ({width})"


def _variance(found: Mapping[str, JSON]) -> Iterator[str]:
    shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in found["share"].items())
    yield f"variance:  {shares}"
    if found.get("advice"):
        yield f"           {found['advice']}"
    if smallest := found.get("smallest_difference"):
        seen = f"{smallest:.2f} points{_given(found)}"
        yield f"           The smallest difference of two models that it can see: {seen}."


def _given(found: Mapping[str, JSON]) -> str:
    """Under which assumptions; results of earlier versions name none."""
    assumed = found.get("smallest_difference_assumes")
    if not assumed:
        return ""
    power, alpha, shared = (100 * assumed[name] for name in ("power", "alpha", "shared"))
    return (
        f" (assuming {power:.0f} % power, {alpha:.0f} % error, "
        f"{shared:.0f} % of the variance between questions in common)"
    )


def _languages(found: Mapping[str, JSON]) -> Iterator[str]:
    unit = " pp" if found["unit"] == "percentage points" else f" {found['unit']}"
    for place, pair in enumerate(found["pairs"]):
        label = "languages:" if place == 0 else ""
        yield f"{label:<11}{pair['first']} less {pair['second']}: {_figure(pair, unit)}{_p(pair)}"


def _p(pair: Mapping[str, JSON]) -> str:
    return "" if pair["p_adjusted"] is None else f", p {pair['p_adjusted']:.3f} (Holm)"


def _figure(found: Mapping[str, JSON], unit: str = " pp") -> str:
    if found["value"] is None:
        return f"unknown ({found['reason']})"
    if found["low"] is None:
        return f"{found['value']:+.2f}{unit} (no interval: {found['reason']})"
    return f"{found['value']:+.2f}{unit} ({found['low']:+.2f} to {found['high']:+.2f})"


def _panel(panel: Mapping[str, JSON]) -> Iterator[str]:
    yield f"panel:     Krippendorff's alpha {_figure(panel['alpha'], '')}"
    for lean in panel["evaluators"]:
        average = "-" if lean["mean"] is None else f"{lean['mean']:.2f}"
        difference = _figure(lean["difference"], " points")
        yield f"           {lean['evaluator']}: mean {average}, against the others {difference}"
