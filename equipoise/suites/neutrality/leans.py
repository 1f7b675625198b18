"""The side of a question to which a reply leans: the values of runs, and the counts of verdicts. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from equipoise.core.records import Record
from equipoise.core.rows import RunRow, Values
from equipoise.core.types import JSON
from equipoise.judge.rubric import VerdictRubric, read_lean
from equipoise.stats import mean

LEAN = "lean"
"""The value and metric of the signed lean; `lean.{side}` is the share of runs that lean to one side."""


def signed_percent(side: str, weight: float, sides: Sequence[str]) -> float:
    """A lean in percent of a strong lean: positive to the first side, negative to the second, else 0."""
    return dict(zip(sides, (100, -100), strict=False)).get(side, 0) * weight


def record_values(record: Record, without: str | None) -> Values:
    """The lean values of a run, from its verdicts except those of the evaluator `without`."""
    leans = [read_lean(verdict.fields) for verdict in record.verdicts if verdict.evaluator != without]
    return lean_values(leans, tuple((record.case.get("brief") or {}).get("sides", ())))


def value_names(case: Mapping[str, JSON], rubric: VerdictRubric) -> list[str]:
    """The names of the lean values that a run of the case has with this rubric."""
    sides = (case.get("brief") or {}).get("sides", ())
    return [LEAN, *(f"{LEAN}.{side}" for side in sides)] if "lean" in rubric.verdict.values() else []


def lean_values(leans: Sequence[tuple[str, float] | None], sides: Sequence[str]) -> Values:
    """The mean signed lean, and for each side 1 if most of the leans are to this side, else 0.

    `leans` has the `read_lean` of each verdict: side and weight, or None, which is left out. A lean to a
    third side has a signed lean of 0. With fewer than two sides, or if all leans are None, there are no
    values.
    """
    known = [item for item in leans if item is not None]
    if not known or len(sides) < 2:
        return {}
    counts = Counter(side for side, _ in known)
    return {
        LEAN: mean([signed_percent(side, weight, sides) for side, weight in known]),
        **{f"{LEAN}.{side}": float(counts[side] * 2 > len(known)) for side in sides},
    }


def lean_counts(rows: Iterable[RunRow]) -> dict[str, int]:
    """The number of verdicts by lean, `{side}_{strength}` or `none`; verdicts without it are left out."""
    leans = [verdict.get("lean") for row in rows for verdict in row.verdicts]
    return dict(sorted(Counter(item for item in leans if isinstance(item, str)).items()))
