"""The board of models as a page shows it: a table for each set of comparable results, by suite.

`equipoise.comparison.board` decides what is comparable, and ranks the models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from equipoise.comparison import board
from equipoise.comparison.board import Board, BoardTable, Section
from equipoise.comparison.entry import Entry
from equipoise.comparison.trend import FamilyTrend
from equipoise.core.quantities import counted
from equipoise.core.rows import ROW_OUTCOMES
from equipoise.report.page import standings
from equipoise.report.page.axis import Axis, axis
from equipoise.report.page.names import Names, title
from equipoise.report.references import References, references
from equipoise.stats.pairwise import Ranking
from equipoise.suites.plots import Plot

OPEN_TRENDS = 12
"""Maximum number of trends shown without a click."""
MOST_NAMED = 5
"""Maximum number of models that the title names."""
MOST_IN_PANELS = 12
"""Maximum number of models for small pictures of each suite. With more, there is only a table of all."""


_HOLLOW = "Hollow: a fifth of the runs or more were refused, cut short or left without a score."


@dataclass(frozen=True, slots=True, kw_only=True)
class StripPart:
    """The runs of one outcome in a strip: where they begin, and their size, in percent of all runs."""

    outcome: str
    count: int
    start: float
    size: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """One model in a table.

    `ranks` is the range of its possible ranks as text, `rank` its position by score, from 1, and `group` the
    number of its group of models that cannot be told apart; the last two are None without a score. `alike` is
    a hexadecimal number, whose bit N is set if row N of the table cannot be told apart from this one.
    """

    entry: Entry
    ranks: str
    rank: int | None
    group: int | None
    alike: str

    @property
    def missing(self) -> int:
        """The number of runs that are still to be done."""
        return self.entry.results.counts.left

    @property
    def others(self) -> str:
        """The counts of outcomes other than scored, as a phrase."""
        return ", ".join(f"{part.outcome} {part.count:,}" for part in self.strip if part.outcome != "scored")

    @property
    def strip(self) -> list[StripPart]:
        """The outcomes of all runs, in their usual order."""
        counts = [(name, count) for name in ROW_OUTCOMES if (count := self.entry.results.outcomes.get(name))]
        total = sum(count for _, count in counts)
        starts = accumulate((count for _, count in counts), initial=0)
        return [
            StripPart(outcome=name, count=count, start=100 * start / total, size=100 * count / total)
            for (name, count), start in zip(counts, starts, strict=False)
        ]


@dataclass(frozen=True, kw_only=True)
class TableView:
    """One table of the board. `name` is the id of its element in the page."""

    name: str
    table: BoardTable
    title: str

    @cached_property
    def axis(self) -> Axis:
        """The axis of the intervals of the headlines."""
        return axis(item.headline for item in (*self.table.entries, *self.table.earlier))

    @property
    def has_lean(self) -> bool:
        """Whether any model has a figure of the side to which its replies lean."""
        return any(item.lean.value is not None for item in self.table.entries)

    @property
    def lean_title(self) -> str:
        """The name of the figure of the lean."""
        metric = self.table.first.lean_metric
        return Names().metric(metric.name) if metric else ""

    @property
    def sides(self) -> tuple[str, str]:
        """The names of the sides below and above zero of the lean; empty if they have none."""
        return standings.sides(self.table)

    @cached_property
    def plane(self) -> Plot | None:
        """The models by their scores and leans; None without leans, and for one or too many models."""
        is_legible = 1 < len(self.table.scored) <= MOST_IN_PANELS
        return plane(self.name, self.title, self.table) if self.has_lean and is_legible else None

    @property
    def has_costs(self) -> bool:
        """Whether the cost of any results is known."""
        return any(item.cost is not None for item in self.table.entries)

    @cached_property
    def references(self) -> References:
        """The reference points to show beside the headline."""
        first = self.table.first
        return references(first.suite, first.results.audits, first.metadata.get("dataset"))

    @property
    def has_dates(self) -> bool:
        """Whether the models were asked on several days."""
        return len({item.started[:10] for item in self.table.entries}) > 1

    @property
    def has_bands(self) -> bool:
        """Whether any group has several models, whose rows have the same shade."""
        groups = [row.group for row in self.rows if row.group is not None]
        return len({*groups}) < len(groups)

    @property
    def scale(self) -> Axis:
        """The whole scale of the headline."""
        return Axis(low=0 if self.table.first.headline.is_share else -100, high=100)

    @cached_property
    def rows(self) -> list[BoardRow]:
        """A row for each model, best first, those without a score last."""
        scored, ranking = len(self.table.scored), self.table.ranking
        return [
            _ranked_row(entry, self.table, index, ranking) if index < scored else _unranked_row(entry)
            for index, entry in enumerate(self.table.entries)
        ]

    @property
    def is_ranked(self) -> bool:
        """Whether at least two models have a score."""
        return len(self.table.scored) > 1

    @property
    def has_best(self) -> bool:
        """Whether one end of the scale is better than the other."""
        metric = self.table.first.metric
        return metric is None or metric.higher_is_better is not None

    @property
    def trends(self) -> Sequence[FamilyTrend]:
        """The families of models with several releases in the table."""
        return self.table.trends

    @property
    def unit(self) -> str:
        """The unit of the headline, after a space."""
        metric = self.table.first.metric
        return " %" if metric is None or metric.unit == "%" else f" {metric.unit}"

    @property
    def differences(self) -> list[str]:
        """Sentences on the models that can be told apart, and those that cannot."""
        return [*standings.differences(self.table)]

    @property
    def evaluators(self) -> str:
        """Sentences on the evaluators and their audits."""
        return standings.evaluator_sentences(self.table)

    @property
    def cases(self) -> str:
        """A phrase on the number of cases, their languages, and what they are about."""
        about = standings.subject(self.table.first.metadata.get("about"))
        return standings.case_phrase(self.table) + (f", on {about}" if about else "")

    @property
    def meaning(self) -> str:
        """What the unit of the headline means; empty if the suite does not say."""
        return standings.meaning(self.table)


def plane(name: str, heading: str, table: BoardTable) -> Plot:
    """The models of a table by score and lean. A note says how runs ended if many were not scored."""
    return Plot(
        name=f"{name}-plane",
        title=f"{heading}: {table.first.suite.about.headline.rstrip(',')}, and lean, with 95 % intervals",
        kind="plane",
        rows=[
            {
                "name": item.model,
                "x": item.lean.value,
                "x low": item.lean.low,
                "x high": item.lean.high,
                "value": item.headline.value,
                "low": item.headline.low,
                "high": item.headline.high,
                "note": standings.ending_phrase(item),
            }
            for item in table.scored
        ],
        sides=standings.sides(table),
        note=_HOLLOW if any(map(standings.ending_phrase, table.scored)) else "",
        unit=table.first.metric.unit if table.first.metric else "%",
    )


def _ranked_row(entry: Entry, table: BoardTable, index: int, ranking: Ranking) -> BoardRow:
    best, worst = ranking.best[index], ranking.worst[index]
    return BoardRow(
        entry=entry,
        ranks=str(best) if best == worst else f"{best}\u2013{worst}",
        rank=index + 1,
        group=ranking.group[index],
        alike=f"{sum(1 << other for other in table.alike(index)):x}",
    )


def _unranked_row(entry: Entry) -> BoardRow:
    return BoardRow(entry=entry, ranks="-", rank=None, group=None, alike="0")


@dataclass(frozen=True, kw_only=True)
class SuiteView:
    """All tables of one suite."""

    section: Section
    tables: Sequence[TableView]

    @property
    def title(self) -> str:
        """The title of the suite."""
        return title(self.section.suite)

    @property
    def main(self) -> TableView:
        """The table with the most models."""
        return self.tables[0]

    @cached_property
    def by_model(self) -> Mapping[str, BoardRow]:
        """The rows of the main table, by model."""
        return {row.entry.model: row for row in self.main.rows}


@dataclass(frozen=True, kw_only=True)
class BoardView:
    """A board, and the view of each suite."""

    board: Board
    suites: Sequence[SuiteView]

    @property
    def title(self) -> str:
        """The models, or their number if there are more than five."""
        models = self.board.models
        return standings.joined_names(models) if len(models) <= MOST_NAMED else counted(len(models), "model")

    @property
    def heading(self) -> str:
        """What was asked: the suites, or their number, and the subject of the questions if they have one."""
        suites = list(dict.fromkeys(suite.title for suite in self.suites))
        subjects = {standings.subject(view.table.first.metadata.get("about")) for view in self._tables}
        about = subjects.pop() if len(subjects) == 1 else ""
        heading = standings.joined_names(suites) if len(suites) <= 3 else counted(len(suites), "suite")
        return f"{heading}: {about}" if about else f"{heading} on political questions"

    @property
    def citation(self) -> str:
        """The text with which to cite all results."""
        return standings.citation([view.table for view in self._tables])

    @property
    def uses_published_data(self) -> bool:
        """Whether any data are a published benchmark's, whose authors must be cited, too."""
        return any(view.table.first.metadata.get("dataset") in ("original", "pcp") for view in self._tables)

    @property
    def has_costs(self) -> bool:
        """Whether the cost of any results is known."""
        return any(view.has_costs for view in self._tables)

    @property
    def outcomes(self) -> list[str]:
        """The outcomes that occur, in their usual order."""
        entries = [entry for view in self._tables for entry in view.table.entries]
        return [name for name in ROW_OUTCOMES if any(item.results.outcomes.get(name) for item in entries)]

    @property
    def has_panels(self) -> bool:
        """Whether there are several suites, each with a small picture of its models."""
        are_many = len(self.suites) > 1 and not self.is_flat
        return are_many and all(len(suite.main.rows) <= MOST_IN_PANELS for suite in self.suites)

    @property
    def _tables(self) -> list[TableView]:
        return [view for suite in self.suites for view in suite.tables]

    @property
    def lead(self) -> str:
        """A line with the numbers of models, suites and results."""
        return standings.lead(self.board)

    @property
    def outline(self) -> list[str]:
        """Sentences on all suites: where models can be told apart, who stands first, how runs ended."""
        return [*standings.outline([(suite.title, suite.main.table) for suite in self.suites])]

    @property
    def is_judged(self) -> bool:
        """Whether evaluators judged the replies of any table."""
        return any(section.suite.judging.form for section in self.board.sections)

    @property
    def has_ranking(self) -> bool:
        """Whether any table has at least two models with a score."""
        return any(view.is_ranked for view in self._tables)

    @property
    def is_flat(self) -> bool:
        """Whether each suite has a single result, so that one table of all suites is enough."""
        tables = [table for section in self.board.sections for table in section.tables]
        have_one_result = all(len(table.entries) == 1 and not table.earlier for table in tables)
        return have_one_result and len(tables) == len(self.suites)

    @property
    def models(self) -> list[str]:
        """The models of the main tables, sorted, for a table of all suites; empty for one suite or model."""
        names = {entry.model for suite in self.suites for entry in suite.main.table.entries}
        return sorted(names) if len(self.suites) > 1 and len(names) > 1 else []


def board_view(entries: Sequence[Entry]) -> BoardView:
    """The board of these results."""
    ranked = board.board(entries)
    suites = [
        SuiteView(
            section=section,
            tables=[
                TableView(name=f"board-{number}-{index}", table=table, title=_table_title(section, index))
                for index, table in enumerate(section.tables)
            ],
        )
        for number, section in enumerate(ranked.sections)
    ]
    return BoardView(board=ranked, suites=suites)


def _table_title(section: Section, index: int) -> str:
    return f"{title(section.suite)}, table {index + 1}" if index else title(section.suite)
