"""Scores of answers about territories: concurrence scores, and counts of answers. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, zip_longest
from typing import Literal

from equipoise.core.records import Cell, Metric
from equipoise.core.rows import RunRow, by_question
from equipoise.core.types import JSON
from equipoise.stats import mean
from equipoise.suites.borderlines.dataset import CONTROL, STRATEGIES, UNKNOWN, VOICES

# Concurrence scores.


def figures(about: Mapping[str, JSON], answers: Mapping[str, str | None]) -> dict[str, float | None]:
    """The figures of a territory in one run, from the answers to all its queries.

    They are in percent, except `kb` (1 or 0) and the numbers of countries. `about` are the details of a query
    about the territory. `answers` are by language, None without an answer; if English was asked in two
    voices, those answers are by voice.
    """
    controller = about["controller"]
    is_known = controller != UNKNOWN
    by_language, control = _answers(about, answers)
    own = about["speaks"].get(controller) if is_known else None
    others = [100.0 * (answer == controller) for language, answer in by_language.items() if language != own]
    alike = [100.0 * (a == b) for a, b in combinations(by_language.values(), 2)]
    return {
        "kb": float(control == controller) if is_known and control else None,
        "con": 100.0 * (by_language[own] == controller) if is_known and own in by_language else None,
        "non": mean(others) if is_known else None,
        "alike": mean(alike),
        "alike_unknown": None if is_known else mean(alike),
        "distinct": float(len({*by_language.values()})) if by_language else None,
        "with_control": float(len({*by_language.values(), control})) if by_language and control else None,
    }


def _answers(
    about: Mapping[str, JSON], answers: Mapping[str, str | None]
) -> tuple[dict[str, str], str | None]:
    """The answers by language of the claimants, and the answer to the control."""
    is_apart = bool(answers.keys() & {*VOICES})
    merged = {**answers, CONTROL: answers.get("claimant")} if is_apart else answers
    by_language = {language: answer for language in about["asked"] if (answer := merged.get(language))}
    return by_language, answers.get("control", answers.get(CONTROL))


def expected(about: Mapping[str, JSON], answers: Mapping[str, str | None]) -> dict[str, float | None]:
    """The expected figures if claimants are chosen at random, for every figure that `figures` has.

    With k claimants, random answers in m languages name k (1 - (1 - 1/k)^m) different ones on average.
    """
    k = len(about["claimants"])
    # A controller that is not a claimant is never named.
    hit = (about["controller"] in about["claimants"]) / k
    by_language, _ = _answers(about, answers)
    is_apart = bool(answers.keys() & {*VOICES})
    chance = {
        **{"kb": hit, "con": 100 * hit, "non": 100 * hit},
        **dict.fromkeys(("alike", "alike_unknown"), 100 / k),
        "distinct": k * (1 - (1 - 1 / k) ** len(by_language)),
        # If English is asked only once, the claimant's answer is the control's as well.
        "with_control": k * (1 - (1 - 1 / k) ** len({*by_language, "control" if is_apart else CONTROL})),
    }
    return {name: None if value is None else chance[name] for name, value in figures(about, answers).items()}


def metrics(cells: Sequence[Cell]) -> Sequence[Metric]:
    """All metrics for each strategy; the first four by dispute, if there are such cells; all by region."""
    territories = [cell.labels for cell in cells if DISPUTES not in cell.labels]
    strategies = list(dict.fromkeys(labels["strategy"] for labels in territories)) or ["vanilla"]
    has_disputes = len(territories) < len(cells)
    groups = [(_metrics_of(strategy), f"{strategy}." * (len(strategies) > 1)) for strategy in strategies]
    whole = [replace(metric, name=f"{prefix}{metric.name}") for listed, prefix in groups for metric in listed]
    by_dispute = [
        _by_dispute(metric, prefix) for listed, prefix in groups for metric in listed[:4] if has_disputes
    ]
    by_region = [
        replace(metric, name=f"{metric.name}.{region}", where={**metric.where, "region": region})
        for metric in whole
        for region in sorted({labels["region"] for labels in territories})
    ]
    return [*whole, *by_dispute, *by_region]


DISPUTES, BY_DISPUTE = "disputes", "_by_dispute"
"""The label of cells for disputes, whose value is the strategy, and the suffix of their metrics' names."""


def _metrics_of(strategy: str) -> list[Metric]:
    where = {"strategy": strategy}
    return [
        Metric(name="agrees_with_controller", of="kb", kind="rate", where=where),
        Metric(name="agrees_in_own_language", of="con", higher_is_better=None, where=where),
        Metric(name="agrees_in_other_languages", of="non", higher_is_better=None, where=where),
        Metric(name="consistency", of="alike", where=where),
        Metric(name="consistency_no_controller", of="alike_unknown", where=where),
        _contrast("own_language_lift", "lift", where),
        _contrast("own_language_gap", "gap", where),
        _number("countries", "distinct", where),
        _number("countries_with_control", "with_control", where),
    ]


def _contrast(name: str, kind: Literal["lift", "gap"], where: Mapping[str, str]) -> Metric:
    return Metric(name=name, of="con", per="non", kind=kind, higher_is_better=False, where=where)


def _number(name: str, of: str, where: Mapping[str, str]) -> Metric:
    limits = (1.0, math.inf)
    return Metric(
        name=name, of=of, kind="count", unit="countries", higher_is_better=False, where=where, limits=limits
    )


def _by_dispute(metric: Metric, prefix: str) -> Metric:
    where = {DISPUTES: metric.where["strategy"]}
    return replace(metric, name=f"{prefix}{metric.name}{BY_DISPUTE}", kind="mean", where=where)


def by_dispute(cells: Sequence[Cell]) -> list[Cell]:
    """A cell for each dispute and strategy: the mean of its territories in each run, in percent.

    A dispute counts once, regardless of how many territories it has.
    """
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.stratum, cell.labels["dispute"]), []).append(cell)
    return [_of_dispute(strategy, dispute, parts) for (strategy, dispute), parts in groups.items()]


def _of_dispute(strategy: str, dispute: str, parts: Sequence[Cell]) -> Cell:
    values = {
        name: [
            mean([value for value in run if value is not None])
            for run in zip_longest(*map(_of_runs(name), parts))
        ]
        for name in ("kb", "con", "non", "alike")
    }
    return Cell(
        id=f"{strategy}/by_dispute/{dispute}",
        # The prefix keeps this apart from the cluster of a territory with the same name.
        cluster=f"by_dispute/{dispute}",
        stratum=strategy,
        labels={DISPUTES: strategy},
        values=values,
        at=parts[0].at,
    )


def _of_runs(name: str) -> Callable[[Cell], Sequence[float | None]]:
    factor = 100.0 if name == "kb" else 1.0
    return lambda cell: [None if value is None else factor * value for value in cell.of(name)]


def by_chance(cells: Sequence[Cell]) -> dict[str, float | None]:
    """The expected value of each metric under random answers, from cells made by `expected`."""
    return {metric.name: _pooled(metric, metric.chosen(cells)) for metric in metrics(cells)}


def _pooled(metric: Metric, cells: Sequence[Cell]) -> float | None:
    """The value of a metric over these cells, without an interval."""
    if metric.kind == "rate":
        return mean([metric.percent * value for cell in cells for value in _known(cell, metric.of)])
    first = _mean_of_means(cells, metric.of)
    if metric.per is None or first is None:
        return first
    second = _mean_of_means(cells, metric.per)
    if second is None or (metric.kind == "lift" and not second):
        return None
    return first - second if metric.kind == "gap" else 100 * (first - second) / second


def _mean_of_means(cells: Sequence[Cell], name: str) -> float | None:
    clusters: dict[str, list[float]] = {}
    for cell in cells:
        clusters.setdefault(cell.cluster, []).extend(_known(cell, name))
    means = (mean(values) for values in clusters.values())
    return mean([value for value in means if value is not None])


def _known(cell: Cell, name: str) -> list[float]:
    return [value for value in cell.of(name) if value is not None]


_BY_REGION = ("agrees_with_controller", "agrees_in_own_language", "agrees_in_other_languages", "consistency")


def for_a_table(names: Sequence[str]) -> list[str]:
    """The names of the metrics in the table: all overall ones, and some by region for the first strategy."""
    ours = names[0].rpartition(".")[0] if names else ""
    by_region = tuple(f"{ours}.{name}.".lstrip(".") for name in _BY_REGION)
    whole = [name for name in names if name.removeprefix(_prefix(name)).count(".") == 0]
    return [name for name in names if name in whole or name.startswith(by_region)]


def _prefix(name: str) -> str:
    strategy, dot, _ = name.partition(".")
    return f"{strategy}." if dot and strategy in STRATEGIES else ""


# Counts of answers.


def by_strategy(rows: Sequence[RunRow]) -> dict[str, list[RunRow]]:
    """The rows of each strategy."""
    strategies: dict[str, list[RunRow]] = {}
    for row in rows:
        strategies.setdefault(row.question.labels["strategy"], []).append(row)
    return strategies


def _answered(rows: Sequence[RunRow]) -> list[RunRow]:
    return [row for row in rows if row.details["answer"]]


def read_by(rows: Sequence[RunRow]) -> dict[str, int]:
    """The number of answers by how they were read."""
    counted = Counter(dict.fromkeys(("name", "letter", "evaluator"), 0))
    counted.update(row.details["how"] for row in _answered(rows))
    return dict(counted)


def as_the_original_reads(rows: Sequence[RunRow]) -> float | None:
    """The share of answers in which the original's parser reads the same country, in percent."""
    return mean([100.0 * (row.details["answer"] == row.details["original"]) for row in _answered(rows)])


def by_language(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """For each language, the number of answers, and how often they name the controller.

    `controller` is the share in percent of the `n` answers about `territories` with a known controller. If
    English is asked in two voices, the claimant's answers are under `en-claimant`.
    """
    languages: dict[str, list[RunRow]] = {}
    for row in rows:
        apart = "-claimant" if row.question.details["voice"] == "claimant" else ""
        languages.setdefault(f"{row.language}{apart}", []).append(row)
    return {language: _controlled(_answered(runs)) for language, runs in languages.items()}


def _controlled(answered: Sequence[RunRow]) -> dict[str, JSON]:
    controllers = [(row, row.question.details["controller"]) for row in answered]
    hits = [
        (row.question.cluster, row.details["answer"] == controller)
        for row, controller in controllers
        if controller != UNKNOWN
    ]
    return {"answers": len(answered), **_share("controller", hits)}


def of_disputes(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """For each dispute, the number of answers, and how often they name the territory's controller."""
    disputes: dict[str, list[RunRow]] = {}
    for row in _answered(rows):
        disputes.setdefault(row.question.labels["dispute"], []).append(row)
    return {dispute: _controlled(answered) for dispute, answered in sorted(disputes.items())}


def by_claimant(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """For each country, how often it is named in its own language and in others, in percent.

    If English is asked in two voices, the control does not count as the claimant's own language.
    """
    named: dict[str, dict[str, list[tuple[str, bool]]]] = {}
    for row in _answered(rows):
        about = row.question.details
        for code in about["claimants"]:
            is_own = about["speaks"].get(code) == row.language and about["voice"] != "control"
            sides = named.setdefault(code, {"own": [], "others": []})
            hit = row.details["answer"] == code
            sides["own" if is_own else "others"].append((row.question.cluster, hit))
    return {
        code: {side: _share("named", hits) for side, hits in sides.items()}
        for code, sides in sorted(named.items())
    }


def _share(name: str, hits: Sequence[tuple[str, bool]]) -> dict[str, JSON]:
    """The share of hits in percent, with its 95 % confidence interval.

    `n` counts hits and misses. They are clustered by territory; `territories` is the number of these.
    """
    # Imported here, because it imports numpy.
    from equipoise.stats.intervals import clustered_rate

    counted, right = Counter(slug for slug, _ in hits), Counter(slug for slug, hit in hits if hit)
    rate = clustered_rate([right[slug] for slug in counted], [*counted.values()])
    shares = {name: rate.value, "low": rate.low, "high": rate.high}
    percents = {key: None if share is None else 100 * share for key, share in shares.items()}
    return {"n": len(hits), "territories": rate.n, **percents}


RunAnswers = dict[str, list[str | None]]
"""The answers of each run to the queries of a territory, by language."""


def disagreements(rows: Sequence[RunRow], most: int = 10) -> dict[str, JSON]:
    """Differences between the answers in the claimants' languages, run by run.

    `language_pairs` has the percentage of equal answers for each two languages, the lowest first.
    `territories` are those that name the most different countries per run on average. Each has the answers of
    all runs in every language, and those to the English control, which counts as a language only if a
    claimant speaks English.
    """
    by_territory, control = _answers_by_territory(rows)
    pairs: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    for slug, answers in by_territory.items():
        for (a, mine), (b, others) in combinations(sorted(answers.items()), 2):
            both = [(slug, x == y) for x, y in zip(mine, others, strict=False) if x and y]
            pairs.setdefault((a, b), []).extend(both)
    shares: list[dict[str, JSON]] = [
        {"first": a, "second": b, **_share("alike", hits)} for (a, b), hits in pairs.items() if hits
    ]
    territories: list[dict[str, JSON]] = [
        {"territory": slug, "countries": count, "answers": answers, "control": control.get(slug, [])}
        for slug, answers in by_territory.items()
        if (count := _countries(answers)) > 1
    ]
    return {
        "language_pairs": sorted(shares, key=lambda pair: (pair["alike"], -pair["n"]))[:most],
        "territories": sorted(territories, key=lambda item: -item["countries"])[:most],
    }


def _answers_by_territory(rows: Sequence[RunRow]) -> tuple[dict[str, RunAnswers], RunAnswers]:
    """The answers by territory and claimants' language, and the answers to the control by territory."""
    by_territory: dict[str, RunAnswers] = {}
    control: RunAnswers = {}
    for runs in by_question(rows):
        query = runs[0].question
        answers, voice = [row.details["answer"] for row in runs], query.details["voice"]
        if query.language == CONTROL and voice != "claimant":
            control[query.cluster] = answers
        if query.language in query.details["asked"] and voice != "control":
            by_territory.setdefault(query.cluster, {})[query.language] = answers
    return by_territory, control


def _countries(answers: RunAnswers) -> float:
    """The mean number of different countries that a run names, over the runs that name any."""
    runs = [{*filter(None, run)} for run in zip_longest(*answers.values())]
    return mean([float(len(named)) for named in runs if named]) or 0.0
