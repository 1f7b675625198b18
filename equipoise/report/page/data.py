"""What the page shows of each results file, as typed plain data without HTML, and plots that combine several.

A `Plot` is what readers of the page see as a figure.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import fmean
from typing import Literal

from equipoise.comparison.entry import Entry, entry
from equipoise.core.figures import NO_FIGURE, Figure
from equipoise.core.rows import ROW_OUTCOMES, RunRow, by_question
from equipoise.core.settings import is_local
from equipoise.core.types import JSON
from equipoise.report import askers, sentences
from equipoise.report.page import standings
from equipoise.report.page.axis import axis
from equipoise.report.page.names import Names, names, title
from equipoise.results import answered
from equipoise.results.cautions import without_numbers
from equipoise.results.results import Results
from equipoise.stats import mean
from equipoise.suites.plots import Plot, interval_row

_SETTINGS = (
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
    "replies",
    "rejudged",
)
"""The keys of the metadata that the page lists as settings of the session."""
MOST_METRICS = 250
"""Maximum number of metrics in the table of a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageResult:
    """What the page shows of one model on one suite. `key` is its id in links, `index` its position there.

    `results` are without runs and cells, to save memory.
    """

    key: str
    index: int
    results: Results
    entry: Entry
    sentences: Sequence[str]
    weaknesses: Sequence[str]
    """A clause on each thing that makes the figures weak."""
    alike: Sequence[str]
    """A sentence for each pair of languages whose scores do not differ significantly."""
    warnings: Sequence[str]
    plots: Sequence[Plot]
    means: Mapping[Literal["area", "language"], Mapping[str, float]]
    """The mean score of each area and language, in percent or in the unit of the headline."""
    names: Names
    slugs: Sequence[str]
    """The languages and areas of the runs."""
    questions: Mapping[str, str]
    """The text of each question, by its id with the language."""

    @property
    def model(self) -> str:
        """The subject model."""
        return self.results.model

    @property
    def title(self) -> str:
        """The title of the suite."""
        return title(self.results.suite)

    @property
    def clusters(self) -> str:
        """The name of the suite's clusters in the plural."""
        return self.results.suite.about.clusters

    @property
    def subject(self) -> str:
        """What the questions are about, as evaluators were told; empty if they were not."""
        return standings.subject(self.results.metadata.get("about"))

    @property
    def metrics(self) -> Mapping[str, Figure]:
        """The figures of the summary by name; empty while the session is running."""
        return self.results.summary.get("metrics", {})

    @property
    def headline(self) -> Figure:
        """The first metric; without a value if there are no metrics yet."""
        return next(iter(self.metrics.values()), NO_FIGURE)

    @property
    def best(self) -> Literal["high", "low", "even"]:
        """Which scores of runs are best; `even`, those nearest to zero, if neither end of the scale is."""
        is_high = self.headline.higher_is_better
        return "even" if is_high is None else "high" if is_high else "low"

    @property
    def settings(self) -> dict[str, object]:
        """The settings of the session by name, without those that are not set."""
        metadata: Mapping[str, object] = self.results.metadata
        return {name: metadata[name] for name in _SETTINGS if metadata.get(name) not in (None, [], {})}

    @property
    def shown_metrics(self) -> dict[str, Figure]:
        """The first MOST_METRICS metrics."""
        return dict([*self.metrics.items()][:MOST_METRICS])


def page_result(side: Results, index: int, taken_keys: Container[str]) -> PageResult:
    """What the page shows of one results file. Its key is none of `taken_keys`, those of other files."""
    summary, rows, board_entry = side.summary, side.rows, entry(side, index)
    questions = {row.question.key: row.question.text for row in rows}
    slugs = [*dict.fromkeys(slug for row in rows for slug in (row.language, row.area) if slug)]
    models = (side.model, *side.metadata["evaluator_models"])
    known = {**side.suite.about.names, **dict(zip(models, models, strict=True))}
    readable = names(known, {row.language for row in rows}, questions.values())
    metrics, means = summary.get("metrics", {}), _question_means(rows)
    # Without metrics the session is still running, and there are no statistics to plot.
    plots = [
        *_heat_map(means, next(iter(metrics.values()), NO_FIGURE)),
        *(side.suite.drawn(summary, rows, side.cells) if metrics else ()),
        *(askers.plots(asker, readable.metric) if (asker := summary.get("asker")) else ()),
    ]
    return PageResult(
        # Links have no half characters.
        key=_unique_key(f"{side.suite.name}/{side.model}".encode(errors="replace").decode(), taken_keys),
        index=index,
        results=side.without_cells(),
        entry=board_entry,
        sentences=[*sentences.findings(side), *sentences.contrasts(side)],
        weaknesses=sentences.weaknesses(side),
        alike=sentences.alike(side),
        warnings=[*_warnings(side)],
        plots=[_with_names(plot, readable) for plot in plots if _shows_anything(plot)],
        means={"area": _means_by(means, 0), "language": _means_by(means, 1)},
        names=readable,
        slugs=slugs,
        questions=questions,
    )


def _with_names(plot: Plot, names: Names) -> Plot:
    """The plot with readable names in place of slugs and codes."""
    return replace(
        plot,
        rows=[
            {**row, **{key: names.of(str(row[key])) for key in _NAME_COLUMNS & row.keys()}}
            for row in plot.rows
        ],
    )


_NAME_COLUMNS = {"name", "row", "column"}
"""Columns of plots that may contain slugs and codes."""


def _unique_key(name: str, taken_keys: Container[str]) -> str:
    number, key = 1, name
    while key in taken_keys:
        number += 1
        key = f"{name}-{number}"
    return key


def _warnings(results: Results) -> Iterator[str]:
    metadata = results.metadata
    missing = metadata["runs_expected"] - metadata["runs_completed"]
    if missing:
        yield f"Partial: {missing:,} of {metadata['runs_expected']:,} runs are still to be done"
    roles = {
        "subject": is_local(metadata["subject_model"]),
        "evaluator": any(map(is_local, metadata["evaluator_models"])),
    }
    if built_in := [role for role, is_built_in in roles.items() if is_built_in]:
        yield f"The built-in model was used as {' and '.join(built_in)}: its scores mean nothing"
    yield from doubts(results)


def doubts(results: Results) -> Iterator[str]:
    """What makes figures of complete results doubtful, in sentences."""
    for text in answered.changes(results.metadata):
        yield f"Who answered: {text}"
    for text in results.metadata.get("cautions", ()):
        yield f"Caution: {text}"
    if results.contradiction:
        yield results.contradiction


def warnings(results: Sequence[PageResult]) -> list[str]:
    """All warnings, each once, with the results that each is about."""
    return with_names((f"{item.title} of {item.model}", item.warnings) for item in results)


def weaknesses(results: Sequence[PageResult]) -> list[str]:
    """All weaknesses, each once, with the suites of the results that have it unless all do."""
    suites_of: dict[str, list[str]] = {}
    for item in results:
        for text in item.weaknesses:
            suites_of.setdefault(text, []).append(item.title)
    return [
        text
        if len(titles) == len(results)
        else f"{text} ({standings.joined_names([*dict.fromkeys(titles)])})"
        for text, titles in suites_of.items()
    ]


def with_names(named: Iterable[tuple[str, Iterable[str]]]) -> list[str]:
    """Each text once, with the names of the results it is about.

    Of texts that differ only in numbers, the first is shown.
    """
    alike: dict[str, dict[str, list[str]]] = {}
    for name, texts in named:
        for text in texts:
            alike.setdefault(without_numbers(text), {}).setdefault(text, []).append(name)
    return [_of_alike(names) for names in alike.values()]


def _of_alike(names: Mapping[str, Sequence[str]]) -> str:
    (first, of_first), *others = names.items()
    about = standings.joined_names(of_first)
    if others:
        about += f"; with other numbers, {standings.joined_names([*chain(*(of for _, of in others))])}"
    return f"{first} ({about})"


# Plots of every suite.


Means = Mapping[tuple[str, str], Sequence[float]]
"""The mean of each question's scores over runs, by area and language."""


def _question_means(rows: Sequence[RunRow]) -> Means:
    means: dict[tuple[str, str], list[float]] = {}
    for runs in by_question(rows):
        if (question_mean := mean([row.percent for row in runs if row.percent is not None])) is not None:
            means.setdefault((runs[0].area, runs[0].language), []).append(question_mean)
    return means


def _means_by(means: Means, part: int) -> dict[str, float]:
    """The mean over questions of each area (part 0) or language (part 1)."""
    values: dict[str, list[float]] = {}
    for key, question_means in means.items():
        values.setdefault(key[part], []).extend(question_means)
    return {slug: fmean(values_of) for slug, values_of in values.items() if slug}


def _heat_map(means: Means, headline: Figure) -> Iterator[Plot]:
    """A matrix of mean scores by area and language; none if there is one area and one language."""
    areas, languages = {area for area, _ in means}, {language for _, language in means}
    if max(len(areas), len(languages)) < 2:
        return
    rows = [
        {"row": area, "column": language, "value": value, "text": f"{value:.0f}"}
        for (area, language), question_means in means.items()
        for value in [fmean(question_means)]
    ]
    yield _shaded("languages-and-areas", "Mean score by area and language", rows, headline)


def by_table(results: Sequence[PageResult]) -> dict[str, list[PageResult]]:
    """The results of each table of the board of models, by a name for files: the kind, numbered from 2 on.

    A table has results that can be compared, which share the key of their entries.
    """
    kinds: dict[str, dict[str, list[PageResult]]] = {}
    for result in results:
        kinds.setdefault(result.entry.kind, {}).setdefault(result.entry.key, []).append(result)
    return {
        kind if number == 1 else f"{kind}-{number}": members
        for kind, tables in kinds.items()
        # Most models first, as on the board.
        for number, members in enumerate(sorted(tables.values(), key=_model_count, reverse=True), start=1)
    }


def _model_count(results: Sequence[PageResult]) -> int:
    return len({result.model for result in results})


def overview(results: Sequence[PageResult]) -> list[Plot]:
    """Plots of each table with all of its models: headlines, outcomes, and scores by area and language."""
    return [plot for name, members in by_table(results).items() for plot in _table_plots(name, members)]


def further(results: Sequence[PageResult]) -> dict[str, list[Plot]]:
    """The plots that the page shows below its board, which has headlines and outcomes, by kind of results.

    For a single result, that is its first plot: scores by area and language. For several models, there are
    scores by area and model, and by language and model.
    """
    if len(results) == 1:
        return {results[0].entry.kind: [*results[0].plots[:1]]}
    return {
        kind: [*_shown(_means_plots(kind, members))]
        for kind, members in by_table(results).items()
        if len(members) > 1
    }


def _means_plots(table: str, results: Sequence[PageResult]) -> Iterator[Plot]:
    yield from _by_model(table, results, "area")
    yield from _by_model(table, results, "language")


def _shown(plots: Iterable[Plot]) -> Iterator[Plot]:
    return (plot for plot in plots if _shows_anything(plot))


def _shows_anything(plot: Plot) -> bool:
    """Whether any row has a value, or a text in place of one."""
    return any(row["value"] is not None or row.get("text", "-") != "-" for row in plot.rows)


def _table_plots(table: str, results: Sequence[PageResult]) -> Iterator[Plot]:
    yield from _shown([*_headline_plots(table, results), *_means_plots(table, results)])


def _rank(result: PageResult) -> float:
    """Sort key of results: as in the tables, the best first, or the highest where neither end is better."""
    return (result.headline.value or 0.0) * (1 if result.best == "low" else -1)


def _labels(results: Sequence[PageResult]) -> dict[str, str]:
    """The label of each model by key: keys are suite/model, made unique."""
    return {result.key: result.key.partition("/")[2] for result in results}


def _headline_plots(table: str, results: Sequence[PageResult]) -> Iterator[Plot]:
    first, names = results[0], _labels(results)
    unit, heading = first.headline.unit, _table_title(table, first)
    is_share, value_axis = first.headline.is_share, axis([result.headline for result in results])
    yield Plot(
        name=f"{table}-models",
        title=f"{heading}: models with 95 % intervals",
        kind="intervals",
        rows=[interval_row(names[result.key], result.headline) for result in sorted(results, key=_rank)],
        unit=unit,
        low=value_axis.low,
        high=value_axis.high,
        zero=None if is_share or not value_axis.low <= 0 <= value_axis.high else 0.0,
        note=f"The axis shows {value_axis}{' %' if unit == '%' else f' {unit}'}.",
    )
    yield Plot(
        name=f"{table}-outcomes",
        title=f"{heading}: how runs ended",
        kind="stacked",
        rows=[
            {"name": names[result.key], "part": outcome, "value": count}
            for outcome in ROW_OUTCOMES
            for result in results
            if (count := result.results.outcomes.get(outcome))
        ],
        unit="runs",
    )


def _table_title(table: str, result: PageResult) -> str:
    number = table.removeprefix(result.entry.kind).removeprefix("-")
    return f"{result.title}, table {number}" if number else result.title


def _by_model(table: str, results: Sequence[PageResult], by: Literal["area", "language"]) -> Iterator[Plot]:
    """A matrix of mean scores by area, or by language, and model; none if all are of one."""
    readable, labels = results[0].names, _labels(results)
    rows = [
        {"row": readable.of(slug), "column": labels[result.key], "value": value, "text": f"{value:.0f}"}
        for result in sorted(results, key=_rank)
        for slug, value in result.means[by].items()
    ]
    if len({row["row"] for row in rows}) > 1:
        yield _shaded(f"{table}-{by}s", f"Mean score by {by}", rows, results[0].headline)


def _shaded(name: str, title: str, rows: Sequence[Mapping[str, JSON]], headline: Figure) -> Plot:
    """A matrix of scores on the whole scale of the headline."""
    low, high, zero = (0.0, 100.0, None) if headline.is_share else (-100.0, 100.0, 0.0)
    return Plot(
        name=name,
        title=f"{title}, in {'percent' if headline.unit == '%' else headline.unit}",
        kind="matrix",
        rows=rows,
        unit=headline.unit,
        low=low,
        high=high,
        zero=zero,
        note="The mean over questions of each question's mean over runs.",
    )
