"""The page's data of one results file, as typed plain data without HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from equipoise.comparison.entry import Entry, entry, kind
from equipoise.comparison.side import LoadedResults
from equipoise.core.rows import ENDS, RunRow, by_question, outcomes
from equipoise.core.settings import is_local
from equipoise.core.types import JSON
from equipoise.report import askers, audit
from equipoise.report.page import sentences
from equipoise.report.page.axis import axis
from equipoise.report.page.figures import SERIES
from equipoise.report.page.names import Names, names, title
from equipoise.results import answered
from equipoise.results.sections import NAMES
from equipoise.stats import mean
from equipoise.suites.plots import Plot

if TYPE_CHECKING:
    from equipoise.results.document import AuditFigures

_BINS = 5
_SHOWN = (
    "subject_sampling",
    "subject_system_prompt",
    "evaluator_sampling",
    "evaluator_system_prompt",
    "endpoints",
    "parameters_changed",
    "answered",
    "response_models",
    "runs",
    "limit",
    "selection",
    "dataset",
    "data_hash",
    "rubric_version",
    "rubric_hash",
    "equipoise_version",
    "git_commit",
    "calls",
    "tokens",
    "cost_usd",
    "saved_by_cache_usd",
    "batch_discount",
    "data_notes",
)
"""The keys of the metadata that the page lists."""
MOST_METRICS = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedEvaluator:
    """Audit of one evaluator: a sentence, changes of the evaluator since, and the table of checks."""

    evaluator: str
    finding: str
    differs: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The page's data of one model on one suite. `key` is its id in links, `place` its index in the page.

    Figures of several results combine those of the same `kind`: the suite, with the dataset if that has its
    own protocol.
    """

    key: str
    place: int
    suite: str
    kind: str
    entry: Entry
    title: str
    clusters: str
    counts: str
    """The name of the headline in words."""
    model: str
    file: str
    metadata: Mapping[str, JSON]
    metrics: Mapping[str, Mapping[str, JSON]]
    outcomes: Mapping[str, int]
    comparison: Mapping[str, JSON] | None
    gate: Mapping[str, JSON] | None
    audits: Sequence[AuditedEvaluator]
    sentences: Sequence[str]
    alike: Sequence[str]
    """A sentence for each pair of languages without a difference."""
    warnings: Sequence[str]
    figures: Sequence[Plot]
    spread: Sequence[float]
    """The score of each run that has one, in percent or in the unit of the headline."""
    added: Mapping[str, Mapping[str, JSON]]
    """The sections that commands added to the results, by name."""
    asker: Mapping[str, JSON] | None
    """The figures about who asks; None without `--asker`."""
    names: Names
    slugs: Sequence[str]
    """The languages and areas of its runs."""
    questions: Mapping[str, str]
    """The text of each question, by its id with the language."""

    @property
    def headline(self) -> Mapping[str, JSON]:
        """The first metric."""
        return next(iter(self.metrics.values()), _NOTHING)

    @property
    def best(self) -> Literal["high", "low", "even"]:
        """Which scores of runs are best; `even`, those nearest to zero, if neither end of the scale is."""
        is_high = self.headline.get("higher_is_better", True)
        return "even" if is_high is None else "high" if is_high else "low"

    @property
    def has_these(self) -> bool:
        """Whether any metric has an interval on exactly these questions, too."""
        return any("these" in metric for metric in self.metrics.values())

    @property
    def settings(self) -> dict[str, JSON]:
        """The settings of the session by name."""
        return {name: self.metadata[name] for name in _SHOWN if self.metadata.get(name) not in (None, [], {})}

    @property
    def shown_metrics(self) -> dict[str, Mapping[str, JSON]]:
        """The first MOST_METRICS metrics."""
        return dict([*self.metrics.items()][:MOST_METRICS])


_NOTHING: Mapping[str, Any] = {"value": None, "low": None, "high": None, "unit": "%", "n": 0}


def result(side: LoadedResults, index: int, taken: Mapping[str, object]) -> Result:
    """The page's data of one results file; `taken` has the keys that other files already have."""
    data, rows = side.data, side.rows
    ended = outcomes(rows)
    questions = {row.question.key: row.question.text for row in rows}
    slugs = [*dict.fromkeys(slug for row in rows for slug in (row.language, row.area) if slug)]
    named = names(side.suite.names, {row.language for row in rows}, questions.values())
    metrics = data["summary"].get("metrics", {})
    # The results of a running session have no statistics yet.
    figures = [
        *_heat_map(rows, metrics),
        *(side.suite.plots(data["summary"], rows, side.cells) if metrics else ()),
        *(askers.drawn(asker, named.metric) if (asker := data["summary"].get("asker")) else ()),
    ]
    return Result(
        key=_key(f"{side.suite.name}/{side.model}", taken),
        place=index,
        suite=side.suite.name,
        kind=kind(side),
        entry=entry(side, index),
        title=title(side.suite),
        clusters=side.suite.clusters,
        counts=side.suite.headline.rstrip(","),
        model=side.model,
        # Pages are shared, and should not reveal the folder of the file.
        file=Path(side.file).name,
        metadata=data["metadata"],
        metrics=metrics,
        outcomes=ended,
        comparison=data.get("comparison"),
        gate=data.get("gate"),
        audits=_audits(data),
        sentences=[*sentences.about(data, side.suite, ended)],
        alike=sentences.alike(data),
        warnings=[*_warnings(data["metadata"])],
        figures=[_with_names(figure, named) for figure in figures if _shows_anything(figure)],
        spread=[row.percent for row in rows if row.percent is not None],
        added={name: data[name] for name in NAMES if name in data},
        asker=data["summary"].get("asker"),
        names=named,
        slugs=slugs,
        questions=questions,
    )


def _with_names(figure: Plot, names: Names) -> Plot:
    """The figure with names in place of slugs."""
    return replace(
        figure,
        rows=[
            {**row, **{key: names.of(str(row[key])) for key in _NAME_COLUMNS & row.keys()}}
            for row in figure.rows
        ],
    )


_NAME_COLUMNS = {"name", "row", "column"}
"""Columns of figures that may contain slugs and codes."""


def _audits(data: Mapping[str, JSON]) -> list[AuditedEvaluator]:
    """The audits of all evaluators. Results of earlier versions have none."""
    known = data.get("audit") or {}
    return [_audited(name, known.get(name)) for name in data["metadata"]["evaluator_models"]]


def _audited(evaluator: str, figures: AuditFigures | None) -> AuditedEvaluator:
    if figures is None:
        return AuditedEvaluator(evaluator=evaluator, finding=audit.NOT_AUDITED)
    finding, rows = audit.finding(figures), audit.rows(figures)
    return AuditedEvaluator(evaluator=evaluator, finding=finding, differs=figures["differs"], rows=rows)


def _key(name: str, taken: Mapping[str, object]) -> str:
    number, key = 1, name
    while key in taken:
        number += 1
        key = f"{name}-{number}"
    return key


def _warnings(metadata: Mapping[str, JSON]) -> Iterator[str]:
    missing = metadata["runs_expected"] - metadata["runs_completed"]
    if missing:
        yield f"Partial: {missing:,} of {metadata['runs_expected']:,} runs are still to be done"
    roles = {
        "subject": is_local(metadata["subject_model"]),
        "evaluator": any(map(is_local, metadata["evaluator_models"])),
    }
    for text in answered.changes(metadata):
        yield f"Who answered: {text}"
    if used := [role for role, is_built_in in roles.items() if is_built_in]:
        yield f"The built-in model was used as {' and '.join(used)}: its scores mean nothing"


def warnings(results: Sequence[Result]) -> list[str]:
    """Warnings that are shown before all figures, each once, with the results that it is about."""
    about: dict[str, list[str]] = {}
    for result in results:
        for text in result.warnings:
            about.setdefault(text, []).append(f"{result.title} of {result.model}")
    return [f"{text} ({', '.join(names)})" for text, names in about.items()]


# Figures of every suite.


def _heat_map(rows: Sequence[RunRow], metrics: Mapping[str, Mapping[str, JSON]]) -> Iterator[Plot]:
    """A matrix of mean scores by area and language, if there are at least two of either."""
    means: dict[tuple[str, str], list[float]] = {}
    for runs in by_question(rows):
        if (centre := mean([row.percent for row in runs if row.percent is not None])) is not None:
            means.setdefault((runs[0].area, runs[0].language), []).append(centre)
    areas, languages = ({key[n]: None for key in means} for n in (0, 1))
    if max(len(areas), len(languages)) < 2:
        return
    unit = next(iter(metrics.values()), _NOTHING)["unit"]
    low, high, zero = (0.0, 100.0, None) if unit == "%" else (-100.0, 100.0, 0.0)
    yield Plot(
        name="languages-and-areas",
        title="Mean score by area and language" + (", in percent" if unit == "%" else f", in {unit}"),
        kind="matrix",
        rows=[
            {"row": area, "column": language, "value": value, "text": f"{value:.0f}"}
            for (area, language), centres in means.items()
            if (value := mean(centres)) is not None
        ],
        unit=unit,
        low=low,
        high=high,
        zero=zero,
        note="The mean over questions of each question's mean over runs.",
    )


def by_table(results: Sequence[Result]) -> dict[str, list[Result]]:
    """The results of each table of a board, by a name for files: the kind, numbered from the second on."""
    kinds: dict[str, dict[str, list[Result]]] = {}
    for result in results:
        kinds.setdefault(result.kind, {}).setdefault(result.entry.key, []).append(result)
    return {
        kind if number == 1 else f"{kind}-{number}": members
        for kind, tables in kinds.items()
        for number, members in enumerate(sorted(tables.values(), key=_descending_size), start=1)
    }


def _descending_size(results: Sequence[Result]) -> int:
    """Sort key of tables: most models first, as on the board."""
    return -len({result.model for result in results})


def overview(results: Sequence[Result]) -> list[Plot]:
    """Figures of each table with all of its models: headlines, outcomes and distributions."""
    every = (figure for name, members in by_table(results).items() for figure in _of_table(name, members))
    return [figure for figure in every if _shows_anything(figure)]


def _shows_anything(figure: Plot) -> bool:
    """Whether any row has a value, or a text in place of one."""
    return any(row["value"] is not None or row.get("text", "-") != "-" for row in figure.rows)


def _of_table(table: str, results: Sequence[Result]) -> Iterator[Plot]:
    first, names = results[0], {result.key: result.key.partition("/")[2] for result in results}
    unit, heading = first.headline["unit"], _table_title(table, first)
    is_percent, ends = unit == "%", axis([result.headline for result in results])
    yield Plot(
        name=f"{table}-models",
        title=f"{heading}: models with 95 % intervals",
        kind="intervals",
        rows=[
            {"name": names[result.key]} | {part: result.headline[part] for part in ("value", "low", "high")}
            for result in sorted(results, key=lambda result: -(result.headline["value"] or 0.0))
        ],
        unit=unit,
        low=ends.low,
        high=ends.high,
        zero=None if is_percent or not ends.low <= 0 <= ends.high else 0.0,
        note=f"The axis shows {ends}{' %' if is_percent else f' {unit}'}.",
    )
    yield Plot(
        name=f"{table}-outcomes",
        title=f"{heading}: how runs ended",
        kind="stacked",
        rows=[
            {"name": names[result.key], "part": outcome, "value": count}
            for outcome in ENDS
            for result in results
            if (count := result.outcomes.get(outcome))
        ],
        unit="runs",
    )
    yield _distribution(table, results, names, is_percent=is_percent)


def _table_title(table: str, result: Result) -> str:
    number = table.removeprefix(result.kind).removeprefix("-")
    return f"{result.title}, table {number}" if number else result.title


def _distribution(
    table: str, results: Sequence[Result], names: Mapping[str, str], *, is_percent: bool
) -> Plot:
    """The distribution of scores: bars for one model, lines for several, a matrix for too many lines."""
    first, low = results[0], 0.0 if is_percent else -100.0
    width = (100.0 - low) / _BINS
    counts = {
        result.key: Counter(min(int((value - low) / width), _BINS - 1) for value in result.spread)
        for result in results
        if result.spread
    }
    shares = [
        (
            names[key],
            f"{low + index * width:.0f} to {low + (index + 1) * width:.0f}",
            100 * count[index] / count.total(),
        )
        for key, count in counts.items()
        for index in range(_BINS)
    ]
    rows: list[dict[str, JSON]] = [{"x": x, "series": name, "value": share} for name, x, share in shares]
    plot = Plot(
        name=f"{table}-distribution",
        title=f"{_table_title(table, first)}: distribution of the scores of single runs",
        kind="lines" if len(counts) > 1 else "bars",
        rows=rows,
        unit="% of runs with a score",
        x_title="score in percent" if is_percent else f"score in {first.headline['unit']}",
        low=0.0,
    )
    if len(counts) <= len(SERIES):
        return plot
    cells = [{"row": name, "column": x, "value": share, "text": f"{share:.0f}"} for name, x, share in shares]
    return replace(plot, kind="matrix", rows=cells, note=f"In {plot.unit}.")
