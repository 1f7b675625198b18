"""Tables of many models. Only results that can be compared are in the same table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from equipoise.comparison.entry import AUDIT, CASES, DATA, RUBRIC, Entry
from equipoise.core.types import JSON
from equipoise.stats.pairwise import Pairs, Ranking, all_pairs, ranking
from equipoise.suites import AnySuite

_SEPARATORS = "-_.:@ "
"""Characters that separate the numbers of a version from the name and from each other."""
_MOST_NUMBERS = 6
"""Most numbers in a version."""
_MOST_DIGITS = 8
"""Most digits of one number in a version, enough for a date such as 20260131."""


class ModelDifference(NamedTuple):
    """How much higher one model scores than another on the cases that both were asked, with a 95 % interval.

    `is_apart` says whether the two differ: in a table by Holm's test over all its pairs, in a trend by the
    interval of this pair alone.
    """

    value: float | None
    low: float | None
    high: float | None
    is_apart: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyTrend:
    """Releases of one family, or one model measured several times, oldest first.

    `changes` has for each release its difference from the one before, None for the first.
    """

    family: str
    releases: Sequence[Entry]
    changes: Sequence[ModelDifference | None]


@dataclass(frozen=True, kw_only=True)
class BoardTable:
    """Results that can be compared with each other: the latest of each model, best first.

    Where neither end of the scale is better, the highest score is first. `earlier` are older results of the
    same models. `reasons` has a phrase for each setting in which the table differs from the first table of
    its suite.
    """

    entries: Sequence[Entry]
    earlier: Sequence[Entry]
    reasons: Sequence[str] = ()

    @property
    def first(self) -> Entry:
        """The first entry, for reading the settings that all entries share."""
        return self.entries[0]

    @cached_property
    def scored(self) -> Sequence[Entry]:
        """Entries with a headline figure. They come before those without one."""
        return [item for item in self.entries if item.value is not None]

    @cached_property
    def _pairs(self) -> Pairs | None:
        first = self.first
        if first.metric is None or len(self.scored) < 2:
            return None
        return all_pairs(first.metric, first.layout, [item.column for item in self.scored])

    @cached_property
    def ranking(self) -> Ranking:
        """The range of ranks of each model with a headline figure, and the groups of models."""
        if self._pairs is None:
            # At most one model.
            return Ranking([1] * len(self.scored), [1] * len(self.scored), [1] * len(self.scored))
        return ranking(self._pairs.differs)

    def alike(self, row: int) -> list[int]:
        """The rows of all models that do not differ significantly from the one in this row."""
        if self._pairs is None:
            return []
        is_apart = self._pairs.differs[row].tolist()
        return [other for other in range(len(is_apart)) if not is_apart[other] and other != row]

    def difference(self, above: int, below: int) -> ModelDifference:
        """How much higher the model of one row scores than that of a later one."""
        assert self._pairs is not None, "there is one model only"
        assert above < below, "the later row is compared with the earlier one"
        pairs = self._pairs
        value, low, high = (
            _without_nan(matrix[above, below]) for matrix in (pairs.value, pairs.low, pairs.high)
        )
        # The matrices have the later row minus the earlier one.
        return ModelDifference(*_negated(value, low, high), bool(pairs.differs[above, below]))

    @cached_property
    def trends(self) -> list[FamilyTrend]:
        """The headline figure over time of each family with several results, oldest release first."""
        families: dict[str, list[Entry]] = {}
        for item in (*self.entries, *self.earlier):
            family, _ = split_version(item.model)
            families.setdefault(family, []).append(item)
        return [_trend(name, items) for name, items in sorted(families.items()) if len(items) > 1]


def _without_nan(value: float) -> float | None:
    """The number, with None in place of NaN."""
    return None if math.isnan(value) else float(value)


def _negated(
    value: float | None, low: float | None, high: float | None
) -> tuple[float | None, float | None, float | None]:
    """The negative of a value with its interval, whose bounds change places."""
    # 0.0 - x and not -x, which would make -0.0 of 0.0.
    negative = [None if number is None else 0.0 - number for number in (value, high, low)]
    return negative[0], negative[1], negative[2]


def _trend(name: str, items: Iterable[Entry]) -> FamilyTrend:
    releases = sorted(items, key=lambda item: (split_version(item.model)[1], item.started, item.place))
    changes = [None, *(_change(older, newer) for older, newer in pairwise(releases))]
    return FamilyTrend(family=name, releases=releases, changes=changes)


def _change(older: Entry, newer: Entry) -> ModelDifference:
    """The change of the headline figure, computed as in `comparison.trend.trend`."""
    if newer.metric is None:
        return ModelDifference(None, None, None, is_apart=False)
    pairs = all_pairs(newer.metric, newer.layout, [older.column, newer.column])
    value, low, high = (_without_nan(matrix[0, 1]) for matrix in (pairs.value, pairs.low, pairs.high))
    is_apart = low is not None and high is not None and not low <= 0 <= high
    return ModelDifference(value, low, high, is_apart=is_apart)


def split_version(model: str) -> tuple[str, tuple[int, ...]]:
    """A model's family and version: its name without numbers at the end, and these numbers.

    So `gpt-x-1.5` and `gpt-x-2026-01-31` are of the family `gpt-x`. `qwen3:8b` has no version: `8b` is not a
    number. Releases of one family are sorted by version.
    """
    version: list[int] = []
    while len(version) < _MOST_NUMBERS:
        separator = max(map(model.rfind, _SEPARATORS))
        last = model[separator + 1 :].lower().removeprefix("v")
        if separator < 1 or not (last.isascii() and last.isdigit() and len(last) <= _MOST_DIGITS):
            break
        version.insert(0, int(last))
        model = model[:separator]
    return model, tuple(version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The tables of one suite, the one with the most models first. `kind` is that of its entries."""

    kind: str
    suite: AnySuite
    tables: Sequence[BoardTable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The tables of all suites. `left_out` has a message for each file that repeats another."""

    sections: Sequence[Section]
    left_out: Sequence[str] = ()

    @property
    def models(self) -> list[str]:
        """The name of each model, once."""
        tables = (table for section in self.sections for table in section.tables)
        return list(dict.fromkeys(item.model for table in tables for item in table.entries))


def board(entries: Sequence[Entry]) -> Board:
    """The board of these entries. Two entries are in the same table if they share suite, cases and settings.

    The settings are those in which `compare` requires agreement, the options whose effect it can study, and
    the state of the evaluators' audits.
    """
    by_kind: dict[str, dict[str, list[Entry]]] = {}
    by_digest: dict[str, Entry] = {}
    left_out = []
    for item in entries:
        if item.digest and by_digest.setdefault(item.digest, item) is not item:
            left_out.append(f"{item.file}: has the same results as {by_digest[item.digest].file}; left out")
            continue
        by_kind.setdefault(item.kind, {}).setdefault(item.key, []).append(item)
    return Board(
        sections=[_section(kind, [*by_key.values()]) for kind, by_key in by_kind.items()], left_out=left_out
    )


def _section(kind: str, groups: Sequence[Sequence[Entry]]) -> Section:
    tables = sorted(map(_latest_and_earlier, groups), key=lambda table: -len(table[0]))
    first_table, _ = tables[0]
    first = first_table[0]
    return Section(
        kind=kind,
        suite=first.suite,
        tables=[
            BoardTable(
                entries=entries,
                earlier=earlier,
                reasons=setting_differences(first, entries[0]) if index else (),
            )
            for index, (entries, earlier) in enumerate(tables)
        ],
    )


def _latest_and_earlier(group: Sequence[Entry]) -> tuple[list[Entry], list[Entry]]:
    """The latest results of each model, best first, and all older results."""
    latest: dict[str, Entry] = {}
    for item in sorted(group, key=lambda item: (item.started, item.place)):
        latest[item.model] = item
    sign = 1 if (metric := group[0].metric) and metric.higher_is_better is False else -1
    ranked = sorted(latest.values(), key=lambda item: (item.value is None, sign * (item.value or 0.0)))
    return ranked, [item for item in group if latest[item.model] is not item]


def setting_differences(first: Entry, other: Entry) -> list[str]:
    """Why `other` cannot be in the table of `first`: a phrase for each setting that differs."""
    differences = [
        _setting_difference(name, first.settings.get(name), value)
        for name, value in other.settings.items()
        if first.settings.get(name) != value
    ]
    headlines = [item.metric.name if item.metric else "nothing" for item in (first, other)]
    if headlines[0] != headlines[1]:
        differences.append(f"its headline is {headlines[1]}, there {headlines[0]}")
    return differences


def _setting_difference(name: str, there: JSON, here: JSON) -> str:
    """A phrase about one setting: its value `here`, in this table, and `there`, in the first."""
    if name == CASES:
        return _case_difference(there, here)
    if name in (DATA, RUBRIC):
        return f"other {name}: checksum {_short_checksum(here)}, there {_short_checksum(there)}"
    if name == AUDIT:
        return f"{name}: {here}, there {there}"
    return f"{name}: {_shortened(here)}, there {_shortened(there)}"


def _case_difference(there: JSON, here: JSON) -> str:
    if there["languages"] != here["languages"]:
        languages, others = (", ".join(cases["languages"]) or "none" for cases in (here, there))
        return f"{CASES}: {here['cases']:,} in {languages}, there {there['cases']:,} in {others}"
    if there["cases"] != here["cases"]:
        return f"{CASES}: {here['cases']:,}, there {there['cases']:,}"
    return f"{CASES}: as many, but others"


def _short_checksum(value: JSON) -> str:
    return str(value)[:8] if value else "none"


def _shortened(value: JSON) -> str:
    """A setting's value as text of at most 80 characters."""
    if value in (None, "", [], {}):
        return "none"
    if isinstance(value, Mapping):
        text = ", ".join(f"{name} {item}" for name, item in value.items())
    elif isinstance(value, list):
        text = ", ".join(" ".join(map(str, item)) if isinstance(item, list) else str(item) for item in value)
    else:
        text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
