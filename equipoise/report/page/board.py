"""The board: data for the part of a page that shows many models side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from equipoise.comparison import board as boards
from equipoise.comparison.board import Section, Table, Trend
from equipoise.comparison.entry import Entry
from equipoise.report.page import standings
from equipoise.report.page.axis import Axis, axis
from equipoise.report.page.names import title
from equipoise.stats.pairwise import Ranking

OPEN_TRENDS = 12
"""Maximum number of trends shown without a click."""
_UNSCORED = ("refused", "blocked", "truncated", "empty", "unscored", "error", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """One model in a table. `alike` is a hex number with a bit for each row not told apart from it."""

    entry: Entry
    ranks: str
    rank: int | None
    group: int | None
    alike: str

    @property
    def missing(self) -> int:
        """The number of runs that are still to be done."""
        expected, done = (self.entry.metadata[name] or 0 for name in ("runs_expected", "runs_completed"))
        return int(expected - done)

    @property
    def unscored(self) -> str:
        """Counts of the outcomes without a plain score, in a phrase."""
        ended = self.entry.outcomes
        return ", ".join(f"{name} {ended[name]:,}" for name in _UNSCORED if ended.get(name))


@dataclass(frozen=True, kw_only=True)
class View:
    """One table of the board. `name` is its id in the page."""

    name: str
    table: Table
    title: str

    @cached_property
    def axis(self) -> Axis:
        """The axis of the intervals of its headlines."""
        return axis(item.headline for item in (*self.table.entries, *self.table.earlier))

    @cached_property
    def rows(self) -> list[BoardRow]:
        """The rows of its models, best first, those without a score last."""
        scored, ranking = len(self.table.scored), self.table.ranking
        return [
            _row(item, self.table, n, ranking) if n < scored else _unranked(item)
            for n, item in enumerate(self.table.entries)
        ]

    @property
    def is_ranked(self) -> bool:
        """Whether at least two models have a score."""
        return len(self.table.scored) > 1

    @property
    def has_best(self) -> bool:
        """Whether an end of the scale is the better one."""
        metric = self.table.first.metric
        return metric is None or metric.higher_is_better is not None

    @property
    def trends(self) -> Sequence[Trend]:
        """Its families with several releases."""
        return self.table.trends

    @property
    def unit(self) -> str:
        """The unit as it follows a figure, with a space."""
        metric = self.table.first.metric
        return " %" if metric is None or metric.unit == "%" else f" {metric.unit}"

    @property
    def differences(self) -> list[str]:
        """Sentences on which models can be told apart."""
        return [*standings.differences(self.table)]

    @property
    def judges(self) -> str:
        """A sentence on its evaluators and their audits."""
        return standings.judges(self.table)

    @property
    def asked(self) -> str:
        """A sentence on what its models were asked."""
        return standings.asked(self.table)

    @property
    def citation(self) -> str:
        """The text to cite the table."""
        return standings.citation(self.table)


def _row(item: Entry, table: Table, row: int, ranking: Ranking) -> BoardRow:
    best, worst = ranking.best[row], ranking.worst[row]
    return BoardRow(
        entry=item,
        ranks=str(best) if best == worst else f"{best}\u2013{worst}",
        rank=row + 1,
        group=ranking.group[row],
        alike=f"{sum(1 << other for other in table.alike(row)):x}",
    )


def _unranked(item: Entry) -> BoardRow:
    return BoardRow(entry=item, ranks="-", rank=None, group=None, alike="0")


@dataclass(frozen=True, kw_only=True)
class SuiteBoard:
    """All tables of one suite."""

    section: Section
    views: Sequence[View]

    @property
    def title(self) -> str:
        """The title of the suite."""
        return title(self.section.suite)

    @property
    def main(self) -> View:
        """The table with the most models."""
        return self.views[0]

    @cached_property
    def by_model(self) -> Mapping[str, BoardRow]:
        """The rows of its main table."""
        return {row.entry.model: row for row in self.main.rows}


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A board with its views by suite."""

    board: boards.Board
    parts: Sequence[SuiteBoard]

    @property
    def title(self) -> str:
        """Its models, or their number if there are more than three."""
        return standings.in_short(self.board.models)

    @property
    def lead(self) -> str:
        """A line on its content."""
        return standings.lead(self.board)

    @property
    def has_several(self) -> bool:
        """Whether any table has at least two models with a score."""
        return any(view.is_ranked for part in self.parts for view in part.views)

    @property
    def is_flat(self) -> bool:
        """Whether each suite has a single result, so that one table of all suites is enough."""
        tables = [table for section in self.board.sections for table in section.tables]
        is_alone = all(len(table.entries) == 1 and not table.earlier for table in tables)
        return is_alone and len(tables) == len(self.parts)

    @property
    def models(self) -> list[str]:
        """The models of all main tables, by name, if they are in several suites."""
        names = {item.model for part in self.parts for item in part.main.table.entries}
        return sorted(names) if len(self.parts) > 1 and len(names) > 1 else []


def shown(entries: Sequence[Entry]) -> Shown:
    """The board of these results."""
    board = boards.board(entries)
    parts = [
        SuiteBoard(
            section=section,
            views=[
                View(name=f"board-{number}-{index}", table=table, title=_title(section, index))
                for index, table in enumerate(section.tables)
            ],
        )
        for number, section in enumerate(board.sections)
    ]
    return Shown(board=board, parts=parts)


def _title(section: Section, index: int) -> str:
    return f"{title(section.suite)}, table {index + 1}" if index else title(section.suite)
