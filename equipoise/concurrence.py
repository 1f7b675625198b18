"""Concurrence scores: do answers about a territory agree with its controller, and with each other? Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from equipoise.disputes import CONTROL, STRATEGIES, UNKNOWN, VOICES
from equipoise.records import Cell, Metric
from equipoise.stats import mean
from equipoise.types import JSON


def figures(about: Mapping[str, JSON], answers: Mapping[str, str | None]) -> dict[str, float | None]:
    """What one run of all queries of a territory says, in percent, but for `kb` (1 or 0) and `distinct`.

    `about` is what the results say of the territory, `answers` go by language; None where there was none.
    Those of the control and of a claimant who was asked in English beside it go by voice.
    """
    controller = about["controller"]
    is_known = controller != UNKNOWN
    said, control = _said(about, answers)
    own = about["speaks"].get(controller) if is_known else None
    others = [100.0 * (answer == controller) for language, answer in said.items() if language != own]
    alike = [100.0 * (a == b) for a, b in combinations(said.values(), 2)]
    return {
        "kb": float(control == controller) if is_known and control else None,
        "con": 100.0 * (said[own] == controller) if is_known and own in said else None,
        "non": mean(others) if is_known else None,
        "alike": mean(alike),
        "alike_unknown": None if is_known else mean(alike),
        "distinct": float(len(set(said.values()))) if said else None,
    }


def _said(about: Mapping[str, JSON], answers: Mapping[str, str | None]) -> tuple[dict[str, str], str | None]:
    """What was answered in the languages of the claimants, and in the control."""
    is_apart = bool(answers.keys() & {*VOICES})
    told = {**answers, CONTROL: answers.get("claimant")} if is_apart else answers
    said = {language: answer for language in about["asked"] if (answer := told.get(language))}
    return said, answers.get("control", answers.get(CONTROL))


def expected(about: Mapping[str, JSON], answers: Mapping[str, str | None]) -> dict[str, float | None]:
    """What picking one of the claimants by chance gives on average, wherever `figures` has a figure.

    Of k claimants in m languages k (1 - (1 - 1/k)^m) different ones are named.
    """
    k = len(about["claimants"])
    # A controller that is no claimant is never named.
    hit = (about["controller"] in about["claimants"]) / k
    said, _ = _said(about, answers)
    chance = {
        **{"kb": hit, "con": 100 * hit, "non": 100 * hit},
        **dict.fromkeys(("alike", "alike_unknown"), 100 / k),
        "distinct": k * (1 - (1 - 1 / k) ** len(said)),
    }
    return {name: None if value is None else chance[name] for name, value in figures(about, answers).items()}


def metrics(cells: Sequence[Cell]) -> Sequence[Metric]:
    """All figures for each strategy, then each of them by region."""
    strategies = list(dict.fromkeys(cell.labels["strategy"] for cell in cells)) or ["vanilla"]
    found = [metric for strategy in strategies for metric in _of(strategy, len(strategies) > 1)]
    regions = sorted({cell.labels["region"] for cell in cells})
    by_region = [
        replace(metric, name=f"{metric.name}.{region}", where={**metric.where, "region": region})
        for metric in found
        for region in regions
    ]
    return [*found, *by_region]


def _of(strategy: str, has_others: bool) -> list[Metric]:
    where = {"strategy": strategy}
    prefix = f"{strategy}." if has_others else ""
    return [
        Metric(name=f"{prefix}kb", of="kb", kind="rate", where=where),
        Metric(name=f"{prefix}con", of="con", higher_is_better=None, where=where),
        Metric(name=f"{prefix}non", of="non", higher_is_better=None, where=where),
        Metric(name=f"{prefix}consistency", of="alike", where=where),
        Metric(name=f"{prefix}consistency_unknown", of="alike_unknown", where=where),
        Metric(name=f"{prefix}delta", of="con", per="non", kind="lift", higher_is_better=False, where=where),
        Metric(
            name=f"{prefix}delta_absolute",
            of="con",
            per="non",
            kind="gap",
            higher_is_better=False,
            where=where,
        ),
        Metric(
            name=f"{prefix}countries",
            of="distinct",
            kind="count",
            unit="countries",
            higher_is_better=False,
            where=where,
        ),
    ]


def by_chance(cells: Sequence[Cell]) -> dict[str, float | None]:
    """What picking a country by chance gets on average, by metric, of cells whose values are `expected`."""
    return {
        metric.name: _together(metric, [cell for cell in cells if metric.chooses(cell)])
        for metric in metrics(cells)
    }


def _together(metric: Metric, cells: Sequence[Cell]) -> float | None:
    """The figure without an interval."""
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
    means = (mean(_known(cell, name)) for cell in cells)
    return mean([value for value in means if value is not None])


def _known(cell: Cell, name: str) -> list[float]:
    return [value for value in cell.of(name) if value is not None]


_BY_REGION = ("kb", "con", "non", "consistency")


def for_a_table(names: Sequence[str]) -> list[str]:
    """The metrics that a table has room for: all as a whole, and of the first strategy some by region."""
    ours = names[0].rpartition(".")[0] if names else ""
    by_region = tuple(f"{ours}.{name}.".lstrip(".") for name in _BY_REGION)
    whole = [name for name in names if name.removeprefix(_prefix(name)).count(".") == 0]
    return [name for name in names if name in whole or name.startswith(by_region)]


def _prefix(name: str) -> str:
    strategy, dot, _ = name.partition(".")
    return f"{strategy}." if dot and strategy in STRATEGIES else ""
