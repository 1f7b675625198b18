"""The headlines of results in plain words. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from babel import Locale, UnknownLocaleError

from equipoise.core.types import JSON
from equipoise.suites import AnySuite

_DECLINED = ("refused", "blocked", "truncated", "empty", "unscored", "error")


def about(data: Mapping[str, JSON], suite: AnySuite, ended: Mapping[str, int]) -> Iterator[str]:
    """The headline, what differs between languages, how runs ended, what the gate says."""
    summary = data["summary"]
    if metric := next(iter(summary.get("metrics", {}).values()), None):
        yield _headline(suite, data["metadata"]["subject_model"], metric)
    if consistency := summary.get("consistency"):
        yield from _languages(consistency)
    yield from _ended(ended)
    if gate := data.get("gate"):
        yield f"The release gate says: {gate['verdict'].upper()}."


def _headline(suite: AnySuite, model: str, metric: Mapping[str, JSON]) -> str:
    words, unit = suite.HEADLINE, _unit(metric["unit"])
    if metric["value"] is None:
        return f"{_capital(words)} of {model} is not known: {metric['reason'] or 'no run has a score'}."
    return f"{_capital(words)} is {metric['value']:.1f}{unit}; {_interval(metric)}."


def _languages(found: Mapping[str, JSON]) -> Iterator[str]:
    unit = "points" if found["unit"] in ("percentage points", "points") else str(found["unit"])
    alike = []
    for pair in found["pairs"]:
        first, second = language(pair["first"]), language(pair["second"])
        if pair["value"] is None:
            continue
        if pair["low"] is None or pair["low"] <= 0 <= pair["high"]:
            alike.append((first, second, pair))
            continue
        size, ends = abs(pair["value"]), sorted(map(abs, (pair["low"], pair["high"])))
        how = "lower" if pair["value"] < 0 else "higher"
        yield (
            f"Answers in {first} score {size:.1f} {unit} {how} than in {second} on the same questions; "
            f"95 % interval {ends[0]:.1f} to {ends[1]:.1f}."
        )
    for first, second, pair in alike:
        limits = "" if pair["low"] is None else f"; 95 % interval {pair['low']:+.1f} to {pair['high']:+.1f}"
        yield (
            f"Between {first} and {second} no difference can be told from chance "
            f"({pair['value']:+.1f} {unit}{limits})."
        )


def _ended(ended: Mapping[str, int]) -> Iterator[str]:
    total = sum(ended.values())
    parts = [f"{ended[name]:,} {name}" for name in _DECLINED if ended.get(name)]
    if parts:
        yield f"Of {total:,} runs {_listed(parts)}."


def _listed(parts: list[str]) -> str:
    verb = "was" if parts[-1].startswith("1 ") and len(parts) == 1 else "were"
    words = {"error": "ended in an error"}
    found = [f"{part.replace('error', words['error'])}" for part in parts]
    return f"{verb} {', '.join(found[:-1])} and {found[-1]}" if len(found) > 1 else f"{verb} {found[0]}"


def _interval(metric: Mapping[str, JSON]) -> str:
    if metric["low"] is None:
        return f"no interval ({metric['reason']})"
    over = f"over {metric['n']:,} {metric.get('clusters', 'questions')}"
    return f"95 % interval {metric['low']:.1f} to {metric['high']:.1f} {over}"


def _unit(unit: str) -> str:
    return " %" if unit == "%" else f" {unit}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


@cache
def language(code: str) -> str:
    """The English name of a language, or its code."""
    try:
        name = Locale.parse(code, sep="-").get_display_name("en")
    except (ValueError, UnknownLocaleError):
        return code
    return (name or code).replace("(Simplified, China)", "(China)")
