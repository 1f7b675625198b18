"""Sentences with which the page begins: the headline of results, and what else they show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from equipoise.core.types import JSON
from equipoise.report import askers
from equipoise.report.page.names import languages
from equipoise.report.terminal import has_scores
from equipoise.results.results import Results

_OUTCOMES: Mapping[str, str] = {
    "refused": "refused",
    "blocked": "blocked by a filter",
    "truncated": "cut short",
    "empty": "empty",
    "unscored": "left without a score",
    "error": "lost to errors",
    "unknown": "of unknown outcome",
}
"""How a sentence names the outcomes other than scored."""


def about(results: Results, outcomes: Mapping[str, int]) -> Iterator[str]:
    """Sentences on the headline, differences between languages, outcomes, who asks, and the gate.

    `outcomes` has the number of runs by outcome.
    """
    summary, suite = results.summary, results.suite
    if metric := next(iter(summary.get("metrics", {}).values()), None):
        yield _headline(results, metric)
        yield from _by_people(results.people or {}, next(iter(summary["metrics"])))
    if consistency := summary.get("consistency"):
        yield from _languages(consistency)
    yield from _cautions(summary.get("metrics", {}))
    yield from _outcome_sentence(outcomes)
    if (asker := summary.get("asker")) and suite.asked:
        yield from askers.sentences(asker, suite.asked.SCALES)
    if gate := results.sections.get("gate"):
        yield f"The release gate says: {gate['verdict'].upper()}."


def _headline(results: Results, metric: Mapping[str, JSON]) -> str:
    words, unit, model = results.suite.headline, _unit(metric["unit"]), results.model
    if metric["value"] is not None:
        return f"{_capital(words)} is {metric['value']:.1f}{unit}; {_interval(metric)}."
    if not has_scores(results):
        return f"No scores: no run of {model} has one."
    return f"{_capital(words)} of {model} is not known: {metric['reason']}."


def alike(results: Results) -> list[str]:
    """A sentence for each pair of languages whose interval of the difference contains zero."""
    consistency = results.summary.get("consistency")
    return [
        f"Between {first} and {second} no difference can be told from chance ({_gap(pair, unit)})."
        for first, second, pair, unit in _pairs(consistency)
        if not _differs(pair)
    ]


def _cautions(metrics: Mapping[str, Mapping[str, JSON]]) -> Iterator[str]:
    """A sentence for each reason why figures do not prove evenness, on the first figure that has it."""
    by_caution: dict[str, str] = {}
    for name, metric in metrics.items():
        if caution := metric.get("caution"):
            by_caution.setdefault(caution, name)
    for caution, name in by_caution.items():
        yield f"{name} does not show that the model is even: {caution}."


def _by_people(people: Mapping[str, JSON], name: str) -> Iterator[str]:
    """Sentences on the headline as corrected by people's labels, beside the evaluators' own."""
    item = people.get("corrected", {}).get(name)
    if item is None:
        return
    who, unit, these = " and ".join(people["people"]), _unit(item["unit"]), item["these"]
    read = f"as {who} read the replies it is {item['value']:.1f}{unit}"
    sentence = f"The evaluators say {item['judge']:.1f}{unit}; {read}"
    if these["low"] is None:
        yield f"{sentence}, by {item['labels']:,} labels ({these['reason']})."
        return
    limits = f"95 % interval {these['low']:.1f} to {these['high']:.1f} on these replies"
    yield f"{sentence}, by {item['labels']:,} labels of replies drawn at random; {limits}."
    if item["is_larger"]:
        yield "That lies outside the evaluators' own interval: they are too strict, or too mild."


def _languages(consistency: Mapping[str, JSON]) -> Iterator[str]:
    pairs = [*_pairs(consistency)]
    for first, second, pair, unit in pairs:
        if _differs(pair):
            size, ends = abs(pair["value"]), sorted(map(abs, (pair["low"], pair["high"])))
            how = "lower" if pair["value"] < 0 else "higher"
            yield (
                f"Answers in {first} score {size:.1f} {unit} {how} than in {second} on the same questions; "
                f"95 % interval {ends[0]:.1f} to {ends[1]:.1f}."
            )
    if pairs and not any(_differs(pair) for _, _, pair, _ in pairs):
        yield "No difference between languages can be told from chance."


def _pairs(consistency: Mapping[str, JSON] | None) -> Iterator[tuple[str, str, Mapping[str, JSON], str]]:
    """For each pair of languages with a difference: both names, the difference and its unit."""
    if not consistency:
        return
    unit = "points" if consistency["unit"] in ("percentage points", "points") else str(consistency["unit"])
    names = languages(
        dict.fromkeys(pair[side] for pair in consistency["pairs"] for side in ("first", "second"))
    )
    for pair in consistency["pairs"]:
        if pair["value"] is not None:
            yield names[pair["first"]], names[pair["second"]], pair, unit


def _differs(pair: Mapping[str, JSON]) -> bool:
    """Whether the interval excludes zero."""
    return pair["low"] is not None and not pair["low"] <= 0 <= pair["high"]


def _gap(pair: Mapping[str, JSON], unit: str) -> str:
    limits = "" if pair["low"] is None else f"; 95 % interval {pair['low']:+.1f} to {pair['high']:+.1f}"
    return f"{pair['value']:+.1f} {unit}{limits}"


def _outcome_sentence(outcomes: Mapping[str, int]) -> Iterator[str]:
    """A sentence on the runs that are not scored; none if all are."""
    counts = {_OUTCOMES[name]: outcomes[name] for name in _OUTCOMES if outcomes.get(name)}
    if counts:
        (ending, count), *others = counts.items()
        parts = [f"{count:,} {'was' if count == 1 else 'were'} {ending}"]
        parts += [f"{number:,} {name}" for name, number in others]
        listed = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
        yield f"Of {sum(outcomes.values()):,} runs, {listed}."


def _interval(metric: Mapping[str, JSON]) -> str:
    if metric["low"] is None:
        return f"no interval ({metric['reason']})"
    over = f"over {metric['n']:,} {metric.get('clusters', 'questions')}"
    return f"95 % interval {metric['low']:.1f} to {metric['high']:.1f} {over}"


def _unit(unit: str) -> str:
    return " %" if unit == "%" else f" {unit}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
