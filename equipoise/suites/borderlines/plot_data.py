"""Plots of BorderLines: the countries named as owners of territories, by language. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from equipoise.core.records import Cell
from equipoise.core.rows import RunRow, by_question, grouped
from equipoise.core.types import JSON
from equipoise.suites.borderlines.dataset import NO_COUNTRY, UNKNOWN
from equipoise.suites.borderlines.scoring import rows_by_strategy
from equipoise.suites.plots import Plot

MOST_TERRITORIES = 40
"""The maximum number of territories in the matrix."""
Runs = Sequence[RunRow]
"""The runs of one query."""


def plots(summary: Mapping[str, JSON], rows: Sequence[RunRow], cells: Sequence[Cell]) -> Sequence[Plot]:
    """The country named by territory and language, and how often the controller is named, by language.

    With several strategies, only the first is shown, as in the table.
    """
    by_strategy = rows_by_strategy(rows) or {"": []}
    strategy, first_rows = next(iter(by_strategy.items()))
    shares, note = summary["by_language"], ""
    if len(by_strategy) > 1:
        shares, note = shares[strategy], f" Strategy: {strategy}."
    return _matrix(by_question(first_rows), note), _controller_by_language(shares, note.strip())


def _matrix(queries: Sequence[Runs], note: str) -> Plot:
    by_territory = grouped(queries, lambda runs: runs[0].question.cluster)
    shown = sorted(
        by_territory, key=lambda name: -len({_most_frequent(runs) for runs in by_territory[name]} - {None})
    )
    left_out = (
        ""
        if len(shown) <= MOST_TERRITORIES
        else f" The {MOST_TERRITORIES} territories with the most different answers."
    )
    return Plot(
        name="territories",
        title="The country named for each territory, by language",
        kind="matrix",
        rows=[_cell(name, runs) for name in shown[:MOST_TERRITORIES] for runs in by_territory[name]],
        unit="share",
        low=0.0,
        high=1.0,
        note="The text is the most frequent answer: none says that no country owns the territory. The shade "
        "is the share of the answers with a country that name the one in control; there is no shade where no "
        f"single country is in control. English is the control, too.{left_out}{note}",
    )


def _cell(territory: str, runs: Runs) -> dict[str, JSON]:
    query, answers = runs[0].question, _answers(runs)
    controller, voice = query.details["controller"], query.details["voice"]
    countries = [answer for answer in answers if answer != NO_COUNTRY]
    is_known = countries and controller != UNKNOWN
    return {
        "row": territory,
        "column": f"{query.language}-{voice}" if voice else query.language,
        "value": countries.count(controller) / len(countries) if is_known else None,
        "text": _most_frequent(runs) or "-",
    }


def _answers(runs: Runs) -> list[str]:
    return [row.details["answer"] for row in runs if row.details["answer"]]


def _most_frequent(runs: Runs) -> str | None:
    """The most frequent answer; None if there is no answer."""
    answers = Counter(_answers(runs))
    return answers.most_common(1)[0][0] if answers else None


def _controller_by_language(by_language: Mapping[str, JSON], note: str) -> Plot:
    return Plot(
        name="control-by-language",
        title="How often the country in control is named, by language",
        kind="intervals",
        rows=[
            {"name": language, "value": row["controller"], "low": row["low"], "high": row["high"]}
            for language, row in sorted(by_language.items(), key=lambda item: item[1]["controller"] or 0.0)
            if row["controller"] is not None
        ],
        low=0.0,
        high=100.0,
        note=note,
    )
