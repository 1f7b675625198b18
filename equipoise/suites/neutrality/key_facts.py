"""Key facts in replies: the values of runs, their details, and the counts of verdicts. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from equipoise.core.records import Record, Verdict
from equipoise.core.rows import RunRow, Values
from equipoise.core.types import JSON
from equipoise.judge.facts import FACTS, STATEMENTS, KeyFact
from equipoise.judge.rubric import VerdictRubric
from equipoise.stats import mean

WRONG_FACTS = "wrong_facts"
"""The value that is 1 if a fact is stated wrong, and the metric of the share of such runs."""
Statements = Mapping[str, str]
"""How each fact is stated, by its id."""


def record_values(record: Record, without: str | None) -> Values:
    """The values of a run, from its verdicts except those of the evaluator `without`."""
    settled = [fact["id"] for fact in record.case.get(FACTS, ()) if fact["status"] == "settled"]
    return _values(_statements(record, without), settled)


def value_names(case: Mapping[str, JSON], rubric: VerdictRubric) -> list[str]:
    """The names of the values that a run of the case has with this rubric."""
    facts = case.get(FACTS, ())
    if not facts or rubric.facts_prompt is None:
        return []
    return [FACTS, WRONG_FACTS] if any(fact["status"] == "settled" for fact in facts) else [WRONG_FACTS]


def _values(statements: Sequence[Statements], settled: Sequence[str]) -> Values:
    """The percentage of settled facts stated right, and 1 if most verdicts find a fact stated wrong, else 0.

    The percentage is the mean over verdicts. Without verdicts on facts there are no values, and without
    settled facts there is no percentage.
    """
    if not statements:
        return {}
    is_right = [float(item[name] == "right") for item in statements for name in settled]
    wrong = sum("wrong" in item.values() for item in statements)
    share = mean(is_right)
    return {
        **({} if share is None else {FACTS: 100 * share}),
        WRONG_FACTS: float(2 * wrong > len(statements)),
    }


def _statements(record: Record, without: str | None) -> list[Statements]:
    """What each verdict says of the facts. A blocked run, which is not judged, leaves all of them out."""
    if record.outcome == "blocked":
        return [record.details[FACTS]] if FACTS in record.details else []
    fields = [item.fields for item in record.verdicts if item.evaluator != without]
    return [item[FACTS] for item in fields if item is not None and FACTS in item]


def details(facts: Sequence[KeyFact], verdicts: Sequence[Verdict]) -> dict[str, JSON]:
    """The details of a run: what most of its valid verdicts say of each fact, None if they are divided."""
    if not facts:
        return {}
    statements = [item.fields[FACTS] for item in verdicts if item.fields is not None]
    return {FACTS: {fact.id: _majority(item[fact.id] for item in statements) for fact in facts}}


def blocked_details(facts: Sequence[KeyFact]) -> dict[str, JSON]:
    """The details of a run that was blocked: it leaves all facts out."""
    return {FACTS: dict.fromkeys((fact.id for fact in facts), "left_out")} if facts else {}


def _majority(words: Iterable[str]) -> str | None:
    counts = Counter(words)
    return next((word for word, count in counts.items() if 2 * count > counts.total()), None)


def fact_counts(rows: Iterable[RunRow]) -> dict[str, int]:
    """The number of facts that verdicts find right, wrong and left out; empty without verdicts on facts."""
    verdicts = [verdict.get(FACTS) for row in rows for verdict in row.verdicts]
    counts = Counter(word for item in verdicts if isinstance(item, dict) for word in item.values())
    return {word: counts[word] for word in STATEMENTS} if counts else {}
