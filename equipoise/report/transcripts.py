"""Selection of single runs, and their outcomes and conversations as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from equipoise.core.errors import printable
from equipoise.core.figures import format_value
from equipoise.core.records import Cell, Metric
from equipoise.core.rows import RunRow
from equipoise.core.types import Message
from equipoise.judge.facts import FACTS, of_json
from equipoise.judge.rubric import Scale
from equipoise.suites import AnySuite

INDENT = "  "


def select(
    rows: Sequence[RunRow],
    *,
    text: str | None = None,
    outcome: str | None = None,
    lowest: int | None = None,
) -> list[RunRow]:
    """The runs that contain `text` and have this `outcome`; of these, the `lowest` runs by their scores."""
    selected = [
        row
        for row in rows
        if (text is None or text.casefold() in _searchable_text(row))
        and (outcome is None or row.outcome == outcome)
    ]
    if lowest is None:
        return selected
    scored = [(row.percent, index) for index, row in enumerate(selected) if row.percent is not None]
    return [selected[index] for _, index in sorted(scored)[:lowest]]


def lowest_cells(
    rows: Sequence[RunRow], cells: Sequence[Cell], headline: Metric, count: int
) -> dict[str, list[RunRow]]:
    """The runs of the `count` cells with the lowest headline, by a title that states the headline's value.

    For suites whose runs have no score of their own, such as those that compare the answers of several runs.
    """
    runs: dict[str, list[RunRow]] = {}
    for row in rows:
        runs.setdefault(row.question.cluster, []).append(row)
    means: dict[str, tuple[float, list[RunRow]]] = {}
    for cell in headline.select(cells):
        own = [
            row for row in runs.get(cell.cluster, ()) if cell.labels.items() <= row.question.labels.items()
        ]
        values = [value for value in cell.of(headline.of) if value is not None]
        if own and values:
            mean = fmean(values) * headline.percent_factor
            means[f"{cell.cluster}: {headline.name} {mean:.1f} {headline.unit}"] = mean, own
    lowest = sorted(means, key=lambda line: means[line][0])[:count]
    return {line: means[line][1] for line in lowest}


def _searchable_text(row: RunRow) -> str:
    """The names and messages of a run, case-folded, as the text to search."""
    question = row.question
    names = [question.key, question.area, question.text, *question.labels.values()]
    names += [row.asker.tag] if row.asker else []
    names += [value for value in question.details.values() if isinstance(value, str)]
    return " ".join([*names, *(str(message["content"]) for _, message in messages(row))]).casefold()


def describe_level(row: RunRow, suite: AnySuite, scale: Scale) -> str:
    """A phrase on a run's score: its category, or its level on the rubric's scale; empty without either."""
    if row.score is None or suite.judging.level is None:
        return ""
    categories = [name for name, value in suite.judging.categories.items() if value == row.score]
    if categories or suite.judging.categories:
        return "".join(categories).replace("_", " ")
    return f"level {row.score:.3g} of {scale.low:g} to {scale.high:g}"


def lines(row: RunRow, unit: str, level: str = "") -> Iterator[str]:
    """A run's outcome, its conversation with the subject, and the evaluators' answers.

    `level` is a phrase that is added to the score, which is in `unit`.
    """
    shown_unit = "%" if unit == "%" else f" {unit}"
    score = "" if row.percent is None else f", {format_value(row.percent, 1)}{shown_unit}"
    shown_level = f" ({level})" if score and level else ""
    yield f"{row.question.key}{_describe_asker(row)} run {row.number}: {row.outcome}{score}{shown_level}"
    for role, message in messages(row):
        yield f"{role}:"
        for line in str(message["content"] or "(nothing)").splitlines():
            yield f"{INDENT}{printable(line)}"
    yield from map(printable, _fact_lines(row))
    if row.error:
        yield f"error: {printable(row.error)}"
    yield ""


def _fact_lines(row: RunRow) -> Iterator[str]:
    """Each key fact of the question, with how the reply states it according to most evaluators."""
    statements = row.details.get(FACTS, {})
    for fact in of_json(row.question.details.get(FACTS, ())):
        stated = statements.get(fact.id, "")
        words = {"left_out": "left out", "": "not judged", None: "evaluators divided"}
        yield f"{fact.id}, {fact.status}, {words.get(stated, f'stated {stated}')}: {fact.describe()}"


def _describe_asker(row: RunRow) -> str:
    return f", asked as from {row.asker.side} ({row.asker.form})," if row.asker else ""


def messages(row: RunRow) -> Iterator[tuple[str, Message]]:
    """Each message with its speaker: conversations with the subject, then the answers of each evaluator."""
    for conversation in row.subject:
        for message in conversation.messages:
            yield f"{conversation.name} {message['role']}".strip(), message
    for conversation in row.evaluators:
        for message in conversation.replies:
            yield f"evaluator {conversation.name}", message
