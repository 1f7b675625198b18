"""Describes the effect of a changed option in a sentence, from the changes of metrics. Pure.

Each function returns an empty text if the option has not changed.
"""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.core.types import JSON

Changes = Mapping[str, Mapping[str, JSON]]
"""Changes by metric: `before` and `after`, the difference `value`, and its interval `low` to `high`."""


def of_passages(before: JSON, after: JSON, changes: Changes) -> str:
    """The gain from passages."""
    if bool(before) == bool(after):
        return ""
    return f"passages {'given' if after else 'left out'}: {_gain(changes)}"


def of_style(before: JSON, after: JSON, changes: Changes) -> str:
    """The gain from the style of the prompt."""
    return "" if before == after else f"prompt style {before}, then {after}: {_gain(changes)}"


def of_confidence(before: JSON, after: JSON, changes: Changes) -> str:
    """The gain from asking for a confidence."""
    if bool(before) == bool(after):
        return ""
    return f"confidence {'asked for' if after else 'not asked for'}: {_gain(changes)}"


def of_format(before: JSON, after: JSON, changes: Changes) -> str:
    """The drop of CO from choices to open answers, in points and in percent, whichever was first."""
    if before == after:
        return ""
    was, now = changes["correct"]["before"], changes["correct"]["after"]
    if was is None or now is None:
        return f"answers {before}, then {after}: no CO in both"
    if before == "open":
        before, after, was, now = after, before, now, was
    share = f", {100 * (was - now) / was:.1f} % of it" if was else ""
    drop = f"CO {was:.2f} % to {now:.2f} %, a drop of {was - now:.2f} pp{share}"
    return f"from {before} to {after} answers: {drop}"


def _gain(changes: Changes) -> str:
    change = changes["f"]
    if change["value"] is None:
        return "no F in both"
    limits = "" if change["low"] is None else f" ({change['low']:+.2f} to {change['high']:+.2f})"
    return f"F {change['value']:+.2f} pp{limits}"
