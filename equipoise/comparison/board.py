"""Tables of many models. Only results that can be compared are in the same table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from equipoise.comparison.entry import AUDIT, CASES, DATA, NO_METRIC, RUBRIC, Entry
from equipoise.comparison.trend import FamilyTrend, change_between, family_trends
from equipoise.core.figures import Difference
from equipoise.core.types import JSON
from equipoise.stats.pairwise import Flags, Ranking, p_values, ranking, told_apart
from equipoise.suites import AnySuite


@dataclass(frozen=True, kw_only=True)
class BoardTable:
    """The latest results of each model, best first. All of them can be compared with each other.

    If neither end of the scale is better, the highest score is first. `earlier` are older results of the same
    models. `reasons` has a phrase for each setting in which the table differs from the first table of its
    suite.
    """

    entries: Sequence[Entry]
    earlier: Sequence[Entry]
    reasons: Sequence[str] = ()

    @property
    def first(self) -> Entry:
        """The first entry. Its settings are those of all entries."""
        return self.entries[0]

    @cached_property
    def scored(self) -> Sequence[Entry]:
        """The entries with a headline figure, which come before those without one."""
        return [item for item in self.entries if item.value is not None]

    @cached_property
    def _differs(self) -> Flags:
        """Whether the models of two rows with a headline figure differ, by Holm's test over all pairs."""
        first, columns = self.first, [item.column for item in self.scored]
        return told_apart(p_values(first.metric or NO_METRIC, first.layout, columns))

    @cached_property
    def ranking(self) -> Ranking:
        """The range of ranks of each model with a headline figure, and the groups of models."""
        return ranking(self._differs)

    def differ(self, row: int, other: int) -> bool:
        """Whether the models of these two rows differ significantly."""
        return bool(self._differs[row, other])

    def alike(self, row: int) -> list[int]:
        """The rows of all models that do not differ significantly from the model in this row."""
        return [other for other, differs in enumerate(self._differs[row]) if not differs and other != row]

    def difference(self, row: int, other: int) -> Difference:
        """How much higher the model of one row scores than that of another, with its own interval."""
        return change_between(self.scored[other], self.scored[row])

    @cached_property
    def trends(self) -> list[FamilyTrend]:
        """The headline figures of each family with several results, oldest release first."""
        return family_trends((*self.entries, *self.earlier))


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The tables of one suite, that with the most models first. `kind` is the kind of all entries."""

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
        digest = item.results.digest
        if digest and (first := by_digest.setdefault(digest, item)) is not item:
            left_out.append(f"{item.file}: has the same results as {first.file}; left out")
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
    return f"{CASES}: the same number, but different ones"


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
