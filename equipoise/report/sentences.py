"""The answer in sentences: what results say, and whether a candidate differs from its baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from equipoise.core.figures import Change, ChangeOnThese, Difference, Figure, LanguagePair
from equipoise.core.outcomes import APPEARANCES
from equipoise.core.quantities import first_few
from equipoise.core.settings import is_local
from equipoise.report import askers
from equipoise.report.page.names import languages
from equipoise.results.results import Results

if TYPE_CHECKING:
    from equipoise.results.document import (
        ComparisonFigures,
        LanguageConsistency,
        PeopleScores,
    )

CARE = "Read it with care"
"""How the sentence on what makes figures weak begins."""
_FEW = 10
"""Fewer questions than this make a figure weak, whatever its interval."""
_MOST_NAMED = 3
"""Maximum number of figures that a sentence lists."""


def about(results: Results) -> Iterator[str]:
    """What results say in sentences, and what makes their figures weak in the last one."""
    yield from findings(results)
    if clauses := weaknesses(results):
        yield f"{CARE}: {'; '.join(clauses)}."


def findings(results: Results) -> Iterator[str]:
    """Sentences on the headline, differences between languages, outcomes, who asks, and the gate."""
    summary, suite = results.summary, results.suite
    if metrics := summary.get("metrics", {}):
        name, figure = next(iter(metrics.items()))
        yield _headline(results, figure)
        if results.people:
            yield from _by_people(results.people, name)
    if consistency := summary.get("consistency"):
        yield from _languages(consistency)
    yield from _leans(results, metrics)
    yield from _cautions(metrics)
    yield from _outcome_sentence(results.outcomes)
    if (asker := summary.get("asker")) and suite.asked:
        yield from askers.sentences(asker, suite.asked.SCALES)
    if gate := results.sections.get("gate"):
        yield f"The release gate says: {gate['verdict'].upper()}."


def weaknesses(results: Results) -> list[str]:
    """A clause on each thing that makes the figures weak; one on the built-in model replaces all others."""
    return [*_weaknesses(results)] if results.summary.get("metrics") else []


def _weaknesses(results: Results) -> Iterator[str]:
    metadata, suite = results.metadata, results.suite
    evaluators = metadata["evaluator_models"]
    roles = {"answered": [results.model], "judged": evaluators}
    if built_in := [verb for verb, models in roles.items() if any(map(is_local, models))]:
        yield f"the built-in model {' and '.join(built_in)}, so the figures mean nothing"
        return
    if evaluators == [results.model]:
        yield "the only evaluator is the model itself"
    if suite.audit and (untried := [name for name in evaluators if not results.audits.get(name)]):
        verb = "was" if len(untried) == 1 else "were"
        yield f"{', '.join(untried)} {verb} not tried as evaluator (--audit)"
    yield from _narrowness(results)


def _narrowness(results: Results) -> Iterator[str]:
    """A clause on few questions, and on a selection of one area or one language."""
    metadata, headline = results.metadata, next(iter(results.summary["metrics"].values()))
    if headline.n < _FEW:
        yield f"it rests on fewer than {_FEW} {headline.clusters} ({headline.n})"
    is_part = metadata["limit"] is not None or metadata["selection"]["deselected"] > 0
    areas = {cell.labels.get("area") for cell in results.cells}
    if is_part and len(areas) == 1 and None not in areas:
        yield "all are of one area"
    if metadata["languages_asked"] and len(metadata["languages"]) == 1:
        yield "only one language was asked"


def _headline(results: Results, figure: Figure) -> str:
    words, unit, model = results.suite.about.headline, _unit(figure.unit), results.model
    if figure.value is not None:
        caution = f"; {figure.caution}" if figure.caution else ""
        return f"{model}: {words} is {figure.value:.1f}{unit}; {_interval(figure)}{caution}."
    if not results.has_scores:
        return f"No scores: no run of {model} has one."
    return f"{model}: {words} is not known: {figure.reason}."


def alike(results: Results) -> list[str]:
    """A sentence for each pair of languages whose interval of the difference contains zero."""
    consistency = results.summary.get("consistency")
    return [
        f"Chance alone can explain the difference between {first} and {second} ({_gap(pair, unit)})."
        for first, second, pair, unit in _pairs(consistency)
        if not pair.excludes_zero
    ]


def _leans(results: Results, metrics: Mapping[str, Figure]) -> Iterator[str]:
    """A sentence on the sides that runs lean to; none if no run leans to a side."""
    shares = {
        metric.toward: value
        for metric in results.definitions.values()
        if metric.toward and not metric.where and metric.name in metrics
        if (value := metrics[metric.name].value) is not None
    }
    if any(shares.values()):
        phrases = [f"to {side} in {share:.1f} %" for side, share in shares.items()]
        yield f"Runs lean {joined(phrases)}."


def _cautions(metrics: Mapping[str, Figure]) -> Iterator[str]:
    """A sentence for each reason why figures do not prove evenness, on the first figure that has it.

    Left out are the cautions of the headline, which has a sentence of its own, of contrasts, which say
    nothing of a single model, and of breakdowns that repeat the caution of the whole figure.
    """
    by_caution: dict[str, str] = {}
    for name, figure in [*metrics.items()][1:]:
        if figure.kind == "contrast" or not (caution := figure.caution):
            continue
        if not any(caution in other for other in by_caution):
            by_caution[caution] = name
    for caution, name in by_caution.items():
        yield f"{name} does not show that the model is even: {caution}."


def contrasts(results: Results) -> Iterator[str]:
    """A sentence on each contrast: how it is to be read, and the smallest difference that it can show."""
    for name, figure in results.summary.get("metrics", {}).items():
        if figure.kind == "contrast":
            clause = ""
            if smallest := figure.smallest_difference:
                clause = f"; the smallest that can be shown here is {smallest:.1f}{_unit(figure.unit)}"
            yield f"{name} does not show that the model is even: {figure.caution}{clause}."


def _by_people(people: PeopleScores, name: str) -> Iterator[str]:
    """Sentences on the headline as corrected by people's labels, beside the evaluators' own."""
    item = people.get("corrected", {}).get(name)
    if item is None:
        return
    who, unit, these = " and ".join(people["people"]), _unit(item["unit"]), item["these"]
    read = f"as {who} read the replies it is {item['value']:.1f}{unit}"
    sentence = f"The evaluators say {item['judge']:.1f}{unit}; {read}"
    if these.low is None:
        yield f"{sentence}, by {item['labels']:,} labels ({these.reason})."
        return
    limits = f"95 % interval {these.low:.1f} to {these.high:.1f} on these replies"
    yield f"{sentence}, by {item['labels']:,} labels of replies drawn at random; {limits}."
    if item["is_larger"]:
        yield "That lies outside the evaluators' own interval: they are too strict, or too mild."


def _languages(consistency: LanguageConsistency) -> Iterator[str]:
    pairs = [*_pairs(consistency)]
    for first, second, pair, unit in pairs:
        if pair.excludes_zero:
            value = pair.value or 0.0
            low, high = sorted((abs(pair.low or 0.0), abs(pair.high or 0.0)))
            how = f"{abs(value):.1f} {unit} {'lower' if value < 0 else 'higher'}"
            yield (
                f"Answers in {first} score {how} than in {second} on the same questions; "
                f"95 % interval {low:.1f} to {high:.1f}."
            )
    if pairs and not any(pair.excludes_zero for _, _, pair, _ in pairs):
        yield "Chance alone can explain the differences between the languages."


def _pairs(consistency: LanguageConsistency | None) -> Iterator[tuple[str, str, LanguagePair, str]]:
    """For each pair of languages with a difference: both names, the difference and its unit."""
    if not consistency:
        return
    unit = "points" if consistency["unit"] in ("percentage points", "points") else str(consistency["unit"])
    pairs = consistency["pairs"]
    names = languages(dict.fromkeys(code for pair in pairs for code in (pair.first, pair.second)))
    for pair in pairs:
        if pair.value is not None:
            yield names[pair.first], names[pair.second], pair, unit


def _gap(pair: LanguagePair, unit: str) -> str:
    limits = "" if pair.low is None else f"; 95 % interval {pair.low:+.1f} to {pair.high:+.1f}"
    return f"{pair.value:+.1f} {unit}{limits}"


def _outcome_sentence(outcomes: Mapping[str, int]) -> Iterator[str]:
    """A sentence on the runs that are not scored; none if all are."""
    counts = {
        appearance.words: outcomes[name]
        for name, appearance in APPEARANCES.items()
        if appearance.words and outcomes.get(name)
    }
    if counts:
        (ending, count), *others = counts.items()
        parts = [f"{count:,} {'was' if count == 1 else 'were'} {ending}"]
        parts += [f"{number:,} {name}" for name, number in others]
        yield f"Of {sum(outcomes.values()):,} runs, {joined(parts)}."


def joined(phrases: Sequence[str]) -> str:
    """The phrases as a list in a sentence, such as `a, b and c`."""
    return " and ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1])))


def _interval(figure: Figure) -> str:
    if figure.low is None:
        return f"no interval ({figure.reason})"
    return f"95 % interval {figure.limits()} over {figure.n:,} {figure.clusters}"


def _unit(unit: str) -> str:
    return " %" if unit == "%" else f" {unit}"


# Comparisons.


def of_comparison(comparison: ComparisonFigures, older: str, newer: str) -> Iterator[str]:
    """Whether a candidate differs from its baseline in the headline, by how much, and in which other figures.

    `older` and `newer` are the names of the baseline and the candidate in the sentences.
    """
    for name, headline in [*comparison["metrics"].items()][:1]:
        yield _on_headline(name, headline, comparison["clusters"], older, newer)
        others = {other: change for other, change in comparison["metrics"].items() if other != name}
        yield from _on_others(others)


def _on_headline(name: str, change: Change, clusters: str, older: str, newer: str) -> str:
    if change.value is None:
        return f"How far {newer} and {older} differ in {name} is not known: {change.reason}."
    size = f"{abs(change.value):.1f} {unit_of_difference(change.unit)}"
    way = "lower" if change.value < 0 else "higher"
    like_these, on_these = limits_of_size(change, change.value), limits_of_size(change.these, change.value)
    if differs_constantly(change):
        return f"{newer} scores {size} {way} than {older} in {name} on the same {clusters} ({like_these})."
    if change.excludes_zero:
        return f"{newer} scores {size} {way} than {older} in {name} ({like_these} for {clusters} like these)."
    if change.these.excludes_zero:
        elsewhere = f"for other {clusters} like them it may be chance ({like_these})"
        difference = f"{newer} scores {size} {way} than {older} in {name} ({on_these})"
        return f"On these {clusters} {difference}; {elsewhere}."
    if not change.value and change.low is None:
        return f"{newer} and {older} do not differ in {name} ({like_these})."
    if change.low is None:
        return f"{newer} and {older} differ by {size} in {name}, which may be chance ({like_these})."
    return (
        f"{newer} and {older} cannot be told apart in {name}: they differ by {size} "
        f"({like_these} for {clusters} like these)."
    )


def _on_others(changes: Mapping[str, Change]) -> Iterator[str]:
    """How many of the other figures differ by more than chance, and the first of them."""
    tested = [name for name, change in changes.items() if change.p_adjusted is not None]
    apart = {name: changes[name] for name in tested if is_significant(changes[name])}
    if not tested:
        return
    if not apart:
        yield f"None of the other figures with an interval ({len(tested):,}) differs by more than chance."
        return
    named = first_few([f"{name} {change.value:+.1f}" for name, change in apart.items()], _MOST_NAMED)
    verb = "differs" if len(apart) == 1 else "differ"
    yield (
        f"Of {len(tested):,} other figures {len(apart):,} {verb} by more than chance (p < 0.05 after Holm): "
        f"{named}."
    )


def differs_constantly(change: Difference) -> bool:
    """Whether every question differs by the same amount, so that a gate decides by the observed value."""
    # Imported here, because it imports numpy.
    from equipoise.comparison.gate.ruling import is_constant

    return change.low is None and bool(change.value) and is_constant(change, "population")


def is_significant(change: Change) -> bool:
    """Whether a difference for questions like these is beyond chance, after Holm's correction."""
    return change.p_adjusted is not None and change.p_adjusted < 0.05


def unit_of_difference(unit: str) -> str:
    """The unit of a difference in prose: points for percentages."""
    return "points" if unit in ("%", "pp") else unit


def limits_of_size(change: Difference | ChangeOnThese, value: float) -> str:
    """The interval of the size of a difference, whose ends are positive if they have the sign of `value`."""
    if change.low is None or change.high is None:
        return f"no interval: {change.reason}"
    low, high = (change.low, change.high) if value >= 0 else (-change.high, -change.low)
    return f"95 % interval {low:.1f} to {high:.1f}"
