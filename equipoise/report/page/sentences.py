"""The headlines of results in plain words. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from babel import Locale, UnknownLocaleError

from equipoise.core.types import JSON
from equipoise.suites import AnySuite

_ENDED: Mapping[str, str] = {
    "refused": "refused",
    "blocked": "blocked by a filter",
    "truncated": "cut short",
    "empty": "empty",
    "unscored": "left without a score",
    "error": "lost to errors",
    "unknown": "of unknown outcome",
}


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
    words, unit = suite.headline, _unit(metric["unit"])
    if metric["value"] is None:
        return f"{_capital(words)} of {model} is not known: {metric['reason'] or 'no run has a score'}."
    return f"{_capital(words)} is {metric['value']:.1f}{unit}; {_interval(metric)}."


def _languages(found: Mapping[str, JSON]) -> Iterator[str]:
    unit = "points" if found["unit"] in ("percentage points", "points") else str(found["unit"])
    alike = []
    named = names(dict.fromkeys(pair[side] for pair in found["pairs"] for side in ("first", "second")))
    for pair in found["pairs"]:
        first, second = named[pair["first"]], named[pair["second"]]
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
    counts = {_ENDED[name]: ended[name] for name in _ENDED if ended.get(name)}
    if counts:
        (first, many), *rest = counts.items()
        parts = [f"{many:,} {'was' if many == 1 else 'were'} {first}", *(f"{n:,} {how}" for how, n in rest)]
        listed = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
        yield f"Of {sum(ended.values()):,} runs, {listed}."


def _interval(metric: Mapping[str, JSON]) -> str:
    if metric["low"] is None:
        return f"no interval ({metric['reason']})"
    over = f"over {metric['n']:,} {metric.get('clusters', 'questions')}"
    return f"95 % interval {metric['low']:.1f} to {metric['high']:.1f} {over}"


def _unit(unit: str) -> str:
    return " %" if unit == "%" else f" {unit}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def names(codes: Iterable[str]) -> dict[str, str]:
    """The English names of languages by code; with their countries where two would have the same."""
    found = {code: _locale(code) for code in codes}
    short = {code: (locale and locale.get_language_name("en")) or code for code, locale in found.items()}
    if len(set(short.values())) == len(short):
        return short
    return {code: (locale and locale.get_display_name("en")) or code for code, locale in found.items()}


def _locale(code: str) -> Locale | None:
    try:
        return Locale.parse(code, sep="-")
    except (ValueError, UnknownLocaleError):
        return None
