"""Figures of answers about territories: scores of agreement, their values by chance, and counts. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, zip_longest
from operator import attrgetter
from typing import Literal

from equipoise.core.records import Cell, Metric
from equipoise.core.rows import RunRow, by_question, grouped
from equipoise.core.types import JSON
from equipoise.stats import mean, valid
from equipoise.suites.borderlines.dataset import CONTROL_LANGUAGE, NO_COUNTRY, STRATEGIES, UNKNOWN, VOICES

# Scores of agreement.


def figures(details: Mapping[str, JSON], answers: Mapping[str, str | None]) -> dict[str, float | None]:
    """The figures of a territory in one run, from the answers to all its queries.

    `kb`, `con` and `non`: whether the control, the controller's own language and the other languages name the
    controller, where they name a country. `alike`: equal answers of two languages; `alike_unknown`: the same
    without a known controller. `distinct`, `with_control`: the number of different countries, without and
    with the control. `none`: the answers that are NO_COUNTRY, and `none.LANGUAGE` those in each language. All
    are in percent, except `kb` (1 or 0) and the numbers of countries.

    `details` are those of a query about the territory. `answers` are by language, None without an answer; if
    the English question has two voices, its answers are by voice.
    """
    controller = details["controller"]
    is_known = controller != UNKNOWN
    by_language, control = _claimants_and_control(details, answers)
    own = details["speaks"].get(controller) if is_known else None
    named = {language: answer for language, answer in by_language.items() if answer != NO_COUNTRY}
    others = [100.0 * (answer == controller) for language, answer in named.items() if language != own]
    alike = [100.0 * (a == b) for a, b in combinations(by_language.values(), 2)]
    return {
        "kb": float(control == controller) if is_known and _is_country(control) else None,
        "con": 100.0 * (named[own] == controller) if is_known and own in named else None,
        "non": mean(others) if is_known else None,
        "alike": mean(alike),
        "alike_unknown": None if is_known else mean(alike),
        "distinct": float(len({*named.values()})) if named else None,
        "with_control": float(len({*named.values(), control})) if named and _is_country(control) else None,
        **_shares_of_none(answers),
    }


_LANGUAGES_OF_VOICES = {"control": CONTROL_LANGUAGE, "claimant": f"{CONTROL_LANGUAGE}-claimant"}


def _is_country(answer: str | None) -> bool:
    return answer not in (None, NO_COUNTRY)


def _shares_of_none(answers: Mapping[str, str | None]) -> dict[str, float | None]:
    """The percentage of all answers that are NO_COUNTRY, and 100 or 0 for each language.

    If the English question has two voices, the claimant's answers are under `en-claimant`.
    """
    shares = {
        _LANGUAGES_OF_VOICES.get(name, name): None if answer is None else 100.0 * (answer == NO_COUNTRY)
        for name, answer in answers.items()
    }
    return {
        NO_COUNTRY: mean(valid(shares.values())),
        **{f"{NO_COUNTRY}.{language}": share for language, share in shares.items()},
    }


def _claimants_and_control(
    details: Mapping[str, JSON], answers: Mapping[str, str | None]
) -> tuple[dict[str, str], str | None]:
    """The answers by language of the claimants, without missing ones, and the answer to the control."""
    has_voices = bool(answers.keys() & {*VOICES})
    merged = {**answers, CONTROL_LANGUAGE: answers.get("claimant")} if has_voices else answers
    by_language = {language: answer for language in details["asked"] if (answer := merged.get(language))}
    return by_language, answers.get("control", answers.get(CONTROL_LANGUAGE))


def expected_figures(
    details: Mapping[str, JSON], answers: Mapping[str, str | None]
) -> dict[str, float | None]:
    """The expected figures if claimants are chosen at random, for every figure that `figures` has.

    With k claimants, random answers in m languages name k (1 - (1 - 1/k)^m) different claimants on average.
    Languages count for m only if their answers name a country.
    """
    k = len(details["claimants"])
    # A controller that is not a claimant is never named.
    agreement = (details["controller"] in details["claimants"]) / k
    by_language, _ = _claimants_and_control(details, answers)
    named = [language for language, answer in by_language.items() if answer != NO_COUNTRY]
    has_voices = bool(answers.keys() & {*VOICES})
    chance = {
        **{"kb": agreement, "con": 100 * agreement, "non": 100 * agreement},
        **dict.fromkeys(("alike", "alike_unknown"), 100 / k),
        "distinct": k * (1 - (1 - 1 / k) ** len(named)),
        # If English is asked only once, the claimant's answer is the control's as well.
        "with_control": k * (1 - (1 - 1 / k) ** len({*named, "control" if has_voices else CONTROL_LANGUAGE})),
    }
    return {
        # Random answers name a claimant, and so never NO_COUNTRY.
        name: None if value is None else chance.get(name, 0.0)
        for name, value in figures(details, answers).items()
    }


def metrics(cells: Sequence[Cell]) -> Sequence[Metric]:
    """All metrics for each strategy; the first four by dispute, if disputes have cells; all by region.

    The share of NO_COUNTRY is given by language, too, and is the caution beside the headline. The caution is
    about all territories, so the consistency of a region has none.
    """
    territories = [cell.labels for cell in cells if DISPUTE_LABEL not in cell.labels]
    strategies = list(dict.fromkeys(labels["strategy"] for labels in territories)) or ["vanilla"]
    has_disputes = len(territories) < len(cells)
    groups = [
        (_metrics_of(strategy, cells), f"{strategy}." if len(strategies) > 1 else "")
        for strategy in strategies
    ]
    overall = [_renamed(metric, prefix=prefix) for group, prefix in groups for metric in group]
    by_dispute = [
        _dispute_metric(metric, prefix) for group, prefix in groups for metric in group[:4] if has_disputes
    ]
    by_region = [
        _renamed(metric, f".{region}", where={**metric.where, "region": region}, caution="")
        for metric in overall
        for region in sorted({labels["region"] for labels in territories})
    ]
    by_language = [
        metric for group, prefix in groups for metric in _none_by_language(group[0], cells, prefix)
    ]
    return [*overall, *by_dispute, *by_region, *by_language]


def _renamed(metric: Metric, suffix: str = "", prefix: str = "", **changes: JSON) -> Metric:
    """The metric with these changes, and with prefix and suffix added to its name and to `bound_instead`."""
    instead = metric.bound_instead and f"{prefix}{metric.bound_instead}{suffix}"
    return replace(metric, name=f"{prefix}{metric.name}{suffix}", bound_instead=instead, **changes)


DISPUTE_LABEL, BY_DISPUTE = "disputes", "_by_dispute"
"""The label of cells for disputes, whose value is the strategy, and the suffix of their metrics' names."""


def _metrics_of(strategy: str, cells: Sequence[Cell]) -> list[Metric]:
    where = {"strategy": strategy}
    return [
        Metric(name="consistency", of="alike", where=where, caution=_describe_none(strategy, cells)),
        Metric(
            name="agrees_with_controller",
            of="kb",
            kind="rate",
            higher_is_better=None,
            where=where,
            bound_instead="consistency",
        ),
        Metric(name="agrees_in_own_language", of="con", higher_is_better=None, where=where),
        Metric(name="agrees_in_other_languages", of="non", higher_is_better=None, where=where),
        Metric(name=NO_COUNTRY, of=NO_COUNTRY, higher_is_better=None, where=where),
        Metric(name="consistency_no_controller", of="alike_unknown", where=where),
        _contrast_metric("own_language_lift", "lift", where),
        _contrast_metric("own_language_gap", "gap", where),
        _count_metric("countries", "distinct", where),
        _count_metric("countries_with_control", "with_control", where),
    ]


def _contrast_metric(name: str, kind: Literal["lift", "gap"], where: Mapping[str, str]) -> Metric:
    return Metric(name=name, of="con", per="non", kind=kind, higher_is_better=False, where=where)


def _none_by_language(headline: Metric, cells: Sequence[Cell], prefix: str) -> list[Metric]:
    """The share of NO_COUNTRY in each language of a strategy; `prefix` is that of the strategy's metrics."""
    names = dict.fromkeys(name for cell in headline.select(cells) for name in cell.values)
    return [
        Metric(name=f"{prefix}{name}", of=name, higher_is_better=None, where=headline.where)
        for name in sorted(names)
        if name.startswith(f"{NO_COUNTRY}.")
    ]


def _describe_none(strategy: str, cells: Sequence[Cell]) -> str:
    """How many answers are NO_COUNTRY, with the highest and lowest shares by language; empty if none is.

    The shares are those of the metrics `none` and `none.LANGUAGE`. A model that never names a country tells
    all readers the same.
    """
    own = [cell for cell in cells if cell.labels.get("strategy") == strategy]
    total = _mean_of_means(own, NO_COUNTRY)
    if not total:
        return ""
    names = {name for cell in own for name in cell.values if name.startswith(f"{NO_COUNTRY}.")}
    shares = {name.partition(".")[2]: _mean_of_means(own, name) for name in names}
    by_share = sorted((share, language) for language, share in shares.items() if share is not None)
    (least, rarely), (most, often) = by_share[0], by_share[-1]
    if len(by_share) > 1 and least == most:
        where = f"{most:.1f} % in every language"
    else:
        ends = dict.fromkeys((f"{most:.1f} % in {often}", f"{least:.1f} % in {rarely}"))
        where = " and ".join(ends)
    return f"{total:.1f} % of answers give the territory to none of the countries: {where}"


def _count_metric(name: str, of: str, where: Mapping[str, str]) -> Metric:
    limits = (1.0, math.inf)
    return Metric(
        name=name, of=of, kind="count", unit="countries", higher_is_better=False, where=where, limits=limits
    )


def _dispute_metric(metric: Metric, prefix: str) -> Metric:
    where = {DISPUTE_LABEL: metric.where["strategy"]}
    return _renamed(metric, BY_DISPUTE, prefix, kind="mean", where=where, caution="")


def dispute_cells(cells: Sequence[Cell]) -> list[Cell]:
    """A cell for each dispute and strategy: the mean of its territories in each run, in percent.

    A dispute counts once, regardless of how many territories it has.
    """
    groups = grouped(cells, lambda cell: (cell.stratum, cell.labels["dispute"]))
    return [_dispute_cell(strategy, dispute, group) for (strategy, dispute), group in groups.items()]


def _dispute_cell(strategy: str, dispute: str, territories: Sequence[Cell]) -> Cell:
    values = {
        name: [mean(valid(run)) for run in zip_longest(*(_percents(cell, name) for cell in territories))]
        for name in ("kb", "con", "non", "alike")
    }
    return Cell(
        id=f"{strategy}/by_dispute/{dispute}",
        # The prefix keeps this apart from the cluster of a territory with the same name.
        cluster=f"by_dispute/{dispute}",
        stratum=strategy,
        labels={DISPUTE_LABEL: strategy},
        values=values,
        at=territories[0].at,
    )


def _percents(cell: Cell, name: str) -> Sequence[float | None]:
    """The values of a territory's runs in percent."""
    factor = 100.0 if name == "kb" else 1.0
    return [None if value is None else factor * value for value in cell.of(name)]


def values_by_chance(cells: Sequence[Cell]) -> dict[str, float | None]:
    """The expected value of each metric under random answers, from cells of `expected_figures`."""
    # Imported here, because it imports numpy.
    from equipoise.stats.metrics import value_of

    return {metric.name: value_of(metric, metric.select(cells)) for metric in metrics(cells)}


def _mean_of_means(cells: Sequence[Cell], name: str) -> float | None:
    """The mean of the clusters' means."""
    clusters = grouped(cells, attrgetter("cluster")).values()
    return mean(valid(mean(valid(chain.from_iterable(cell.of(name) for cell in own))) for own in clusters))


_METRICS_BY_REGION = (
    "consistency",
    "agrees_with_controller",
    "agrees_in_own_language",
    "agrees_in_other_languages",
)


def table_metrics(names: Sequence[str]) -> list[str]:
    """The names of the metrics in the table: all overall ones, and some by region for the first strategy."""
    # Names have the prefix of a strategy only if there are several strategies.
    first_strategy = names[0].rpartition(".")[0] if names else ""
    by_region = tuple(f"{first_strategy}.{name}.".lstrip(".") for name in _METRICS_BY_REGION)
    overall = [name for name in names if "." not in name.removeprefix(_strategy_prefix(name))]
    return [name for name in names if name in overall or name.startswith(by_region)]


def _strategy_prefix(name: str) -> str:
    strategy, dot, _ = name.partition(".")
    return f"{strategy}." if dot and strategy in STRATEGIES else ""


# Counts of answers.


def rows_by_strategy(rows: Sequence[RunRow]) -> dict[str, list[RunRow]]:
    """The rows by strategy."""
    return grouped(rows, lambda row: row.question.labels["strategy"])


def _rows_with_answer(rows: Sequence[RunRow]) -> list[RunRow]:
    return [row for row in rows if row.details["answer"]]


def _rows_with_country(rows: Sequence[RunRow]) -> list[RunRow]:
    return [row for row in rows if _is_country(row.details["answer"])]


def counts_by_reader(rows: Sequence[RunRow]) -> dict[str, int]:
    """The number of answers that were read by the plain rule, by the evaluator, or otherwise."""
    counts = Counter(dict.fromkeys(("read", "evaluator"), 0))
    counts.update(row.details["how"] for row in _rows_with_answer(rows))
    return dict(counts)


def agreement_with_original(rows: Sequence[RunRow]) -> float | None:
    """The share of answers in which the original's parser reads the same country, in percent."""
    return mean(
        [100.0 * (row.details["answer"] == row.details["original"]) for row in _rows_with_country(rows)]
    )


def shares_by_language(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """For each language, the number of answers, and how often they name the controller.

    `none` is the number of answers that are NO_COUNTRY; `controller` is the share in percent of the `n`
    answers that name a country, about `territories` with a known controller. If English is asked in two
    voices, the claimant's answers are under `en-claimant`.
    """
    languages = grouped(
        rows, lambda row: f"{row.language}{'-claimant' * (row.question.details['voice'] == 'claimant')}"
    )
    return {language: _controller_share(_rows_with_answer(runs)) for language, runs in languages.items()}


def _controller_share(answered: Sequence[RunRow]) -> dict[str, JSON]:
    """The number of answers, and the share that names the controller, over territories with a known one."""
    countries = _rows_with_country(answered)
    controllers = [(row, row.question.details["controller"]) for row in countries]
    hits = [
        (row.question.cluster, row.details["answer"] == controller)
        for row, controller in controllers
        if controller != UNKNOWN
    ]
    none = len(answered) - len(countries)
    return {"answers": len(answered), NO_COUNTRY: none, **_share("controller", hits)}


def shares_by_dispute(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """For each dispute, the number of answers, and how often they name the territory's controller."""
    disputes = grouped(_rows_with_answer(rows), lambda row: row.question.labels["dispute"])
    return {dispute: _controller_share(answered) for dispute, answered in sorted(disputes.items())}


def shares_by_claimant(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """For each country, how often it is named in its own language and in others, in percent.

    If English is asked in two voices, the control does not count as the claimant's own language.
    """
    hits_by_country: dict[str, dict[str, list[tuple[str, bool]]]] = {}
    for row in _rows_with_country(rows):
        details = row.question.details
        for code in details["claimants"]:
            is_own = details["speaks"].get(code) == row.language and details["voice"] != "control"
            hits = hits_by_country.setdefault(code, {"own": [], "others": []})
            is_hit = row.details["answer"] == code
            hits["own" if is_own else "others"].append((row.question.cluster, is_hit))
    return {
        code: {languages: _share("named", hits) for languages, hits in hits_by_language.items()}
        for code, hits_by_language in sorted(hits_by_country.items())
    }


def _share(name: str, hits: Sequence[tuple[str, bool]]) -> dict[str, JSON]:
    """The share of hits in percent, under the key `name`, with its 95 % confidence interval.

    `hits` has, for each answer, the territory, by which answers are clustered, and whether it is a hit. `n`
    counts answers, `territories` the clusters.
    """
    # Imported here, because it imports numpy.
    from equipoise.stats.intervals import clustered_rate

    counts, hit_counts = Counter(slug for slug, _ in hits), Counter(slug for slug, hit in hits if hit)
    rate = clustered_rate([hit_counts[slug] for slug in counts], [*counts.values()])
    shares = {name: rate.value, "low": rate.low, "high": rate.high}
    percents = {key: None if share is None else 100 * share for key, share in shares.items()}
    return {"n": len(hits), "territories": rate.n, **percents}


RunAnswers = dict[str, list[str | None]]
"""Answers, one per run: of one territory by language, or to the English control by territory."""
MOST_DISAGREEMENTS = 10


def disagreements(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """The largest differences between the answers in the claimants' languages, run by run.

    Each list has at most MOST_DISAGREEMENTS items.

    `language_pairs` has the percentage of equal answers of two languages, the lowest first. `territories` are
    those with the most `different` answers per run on average, where NO_COUNTRY is an answer of its own. Each
    territory has the answers of all runs in every language, and those to the English control, which counts as
    a language only if a claimant speaks English.
    """
    by_territory, control = _answers_by_territory(rows)
    pairs: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    for slug, answers in by_territory.items():
        for (a, answers_in_a), (b, answers_in_b) in combinations(sorted(answers.items()), 2):
            hits = [(slug, x == y) for x, y in zip(answers_in_a, answers_in_b, strict=False) if x and y]
            pairs.setdefault((a, b), []).extend(hits)
    shares: list[dict[str, JSON]] = [
        {"first": a, "second": b, **_share("alike", hits)} for (a, b), hits in pairs.items() if hits
    ]
    territories: list[dict[str, JSON]] = [
        {"territory": slug, "different": count, "answers": answers, "control": control.get(slug, [])}
        for slug, answers in by_territory.items()
        if (count := _mean_different(answers)) > 1
    ]
    return {
        "language_pairs": sorted(shares, key=lambda pair: (pair["alike"], -pair["n"]))[:MOST_DISAGREEMENTS],
        "territories": sorted(territories, key=lambda item: -item["different"])[:MOST_DISAGREEMENTS],
    }


def _answers_by_territory(rows: Sequence[RunRow]) -> tuple[dict[str, RunAnswers], RunAnswers]:
    """The answers by territory and claimants' language, and the answers to the control by territory."""
    by_territory: dict[str, RunAnswers] = {}
    control: RunAnswers = {}
    for runs in by_question(rows):
        query = runs[0].question
        answers, voice = [row.details["answer"] for row in runs], query.details["voice"]
        if query.language == CONTROL_LANGUAGE and voice != "claimant":
            control[query.cluster] = answers
        if query.language in query.details["asked"] and voice != "control":
            by_territory.setdefault(query.cluster, {})[query.language] = answers
    return by_territory, control


def _mean_different(answers: RunAnswers) -> float:
    """The mean number of different answers in a run, over the runs with an answer; 0 if there is none."""
    runs = [{*filter(None, run)} for run in zip_longest(*answers.values())]
    return mean([float(len(run)) for run in runs if run]) or 0.0
