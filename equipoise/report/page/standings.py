"""Sentences on a table of the board of models: which models can be told apart, by how much, how to cite it.

A row is an index into `table.scored`, the models with a score, best first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from string import Template
from typing import TYPE_CHECKING

from equipoise.comparison.board import Board, BoardTable
from equipoise.comparison.entry import CASES, Entry
from equipoise.core.figures import Difference, excludes_zero
from equipoise.core.quantities import counted
from equipoise.report import audit
from equipoise.report.page.names import languages
from equipoise.report.sentences import differs_constantly, joined, limits_of_size, unit_of_difference
from equipoise.results.cautions import share_of_runs

if TYPE_CHECKING:
    from equipoise.results.document import SubjectSides

_MOST_MODELS_IN_PAIRS = 8
"""Maximum number of models for which all pairs that cannot be told apart are listed."""
_MOST_NAMES = 5
"""Maximum number of names in one list."""


def differences(table: BoardTable) -> Iterator[str]:
    """Whether the models differ, by how much, and which cannot be told apart."""
    models = table.scored
    if len(models) == 1:
        yield f"{models[0].model}: {headline_phrase(models[0])}."
    elif len(models) == 2:
        yield f"{_pair_sentence(table, 1)}."
    elif models:
        yield from _sentences_on_many(table)
    yield from _leaning(table)
    yield from _endings(table)
    without = [item for item in table.entries if item.value is None]
    if unscored := [item.model for item in without if not item.has_scores]:
        yield f"Without a score: {joined_names(unscored)}."
    for item in without:
        if item.has_scores:
            yield f"{item.model}: no headline figure ({item.headline.reason})."


def _leaning(table: BoardTable) -> Iterator[str]:
    """A sentence on the models that lean to a side by more than chance; none on a single model."""
    below, above = sides(table)
    leaning = [
        f"{item.model} to {above if item.lean.value > 0 else below} ({item.lean.value:+.1f})"
        for item in table.entries
        if item.lean.value is not None and excludes_zero(item.lean.low, item.lean.high)
    ]
    if leaning and below and len(table.entries) > 1:
        yield f"Their replies lean: {joined_names(leaning)}."


def sides(table: BoardTable) -> tuple[str, str]:
    """The sides below and above zero of the lean, as the figure or the questions name them; else empty."""
    metric, about = table.first.lean_metric, table.first.metadata.get("about")
    above, _, below = (metric.name if metric else "").rpartition(".")[2].partition("_less_")
    if not below and about:
        above, below = [*about["sides"]][:2]
    return (below, above) if below else ("", "")


def _endings(table: BoardTable) -> Iterator[str]:
    """A sentence on the models many of whose runs were not scored; none on a single model."""
    many = [f"{item.model} ({phrase})" for item in table.entries if (phrase := ending_phrase(item))]
    if many and len(table.entries) > 1:
        yield f"Many runs were refused, cut short or left without a score: {joined_names(many)}."


def ending_phrase(entry: Entry) -> str:
    """The most frequent outcome other than scored, if a fifth of the runs or more were not scored."""
    total, scored = sum(entry.results.outcomes.values()), entry.results.outcomes.get("scored", 0)
    if not total or 5 * (total - scored) < total:
        return ""
    others = {name: count for name, count in entry.results.outcomes.items() if name != "scored"}
    most = max(others, key=lambda name: others[name])
    return f"{most} {others[most]:,} of {total:,}"


def _pair_sentence(table: BoardTable, row: int) -> str:
    """A sentence on the difference of the first model from that in a row, without the full stop."""
    first, second, difference = table.scored[0], table.scored[row], table.difference(0, row)
    size, clusters = _absolute_difference(first, difference), first.suite.about.clusters
    if not (table.differ(0, row) or differs_constantly(difference)):
        if difference.value and difference.low is None:
            return f"{first.model} and {second.model} differ by {size}, which may be chance"
        text = f"{first.model} and {second.model} cannot be told apart: they differ by {size}"
        # The test of a table is corrected for the number of pairs, the interval is not.
        if difference.excludes_zero:
            return f"{text}, which may be chance where so many pairs are compared"
        return text
    comparative = "higher" if (difference.value or 0.0) > 0 else "lower"
    return f"{first.model} scores {size} {comparative} than {second.model} on the same {clusters}"


def _absolute_difference(entry: Entry, difference: Difference) -> str:
    """The absolute value of a difference, with its interval."""
    value = difference.value or 0.0
    return f"{abs(value):.1f} {_unit(entry)} ({limits_of_size(difference, value)})"


def _unit(entry: Entry) -> str:
    return unit_of_difference(entry.metric.unit if entry.metric else "%")


def headline_phrase(entry: Entry) -> str:
    """A model's headline with its interval."""
    if entry.value is None:
        return "no headline figure" if entry.has_scores else "no score"
    unit = " %" if entry.metric and entry.metric.unit == "%" else f" {_unit(entry)}"
    figure = entry.headline
    interval = "no interval" if figure.low is None else f"95 % interval {figure.limits()}"
    return f"{entry.value:.1f}{unit} ({interval})"


def _sentences_on_many(table: BoardTable) -> Iterator[str]:
    models, last = table.scored, len(table.scored) - 1
    alike = [(row, other) for row in range(len(models)) for other in table.alike(row) if other > row]
    pairs = len(models) * last // 2
    if len(alike) == pairs:
        pair = _pair_sentence(table, last)
        yield f"None of the {len(models):,} models can be told apart from another. {pair}."
        return
    yield _first_sentence(table)
    if not alike:
        yield f"All {len(models):,} models can be told apart from each other."
        return
    if len(models) > _MOST_MODELS_IN_PAIRS:
        yield f"Of {pairs:,} pairs of models {pairs - len(alike):,} can be told apart."
    yield from _sentences_on_alike(table, alike)


def _first_sentence(table: BoardTable) -> str:
    """The first model with its headline, and how far it is from the next."""
    first, second, difference = table.scored[0], table.scored[1], table.difference(0, 1)
    sentence = f"{first.model} stands first with {headline_phrase(first)}"
    if not table.differ(0, 1):
        return f"{sentence}; {second.model}, the next, cannot be told apart from it."
    direction = "above" if (difference.value or 0.0) > 0 else "below"
    size = _absolute_difference(first, difference)
    return f"{sentence}: {size} {direction} {second.model}, the next, which is beyond chance."


def _sentences_on_alike(table: BoardTable, alike: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Sentences on models that cannot be told apart: groups of them, then pairs across groups.

    `alike` has the rows of each pair that cannot be told apart.
    """
    groups: dict[int, list[str]] = {}
    for item, group in zip(table.scored, table.ranking.group, strict=True):
        groups.setdefault(group, []).append(item.model)
    several = [names for names in groups.values() if len(names) > 1]
    if several:
        more = f"; and {len(several) - _MOST_NAMES:,} more groups" if len(several) > _MOST_NAMES else ""
        yield f"Cannot be told apart: {'; '.join(map(joined_names, several[:_MOST_NAMES]))}{more}."
    across = [pair for pair in alike if len({table.ranking.group[row] for row in pair}) > 1]
    if across and len(table.scored) > _MOST_MODELS_IN_PAIRS:
        yield (
            f"The same holds for {len(across):,} pairs of models of two neighbouring groups: "
            "their ranks show it."
        )
    elif across:
        names = [" and ".join(table.scored[row].model for row in pair) for pair in across]
        yield f"{'Nor can' if several else 'Cannot be told apart:'} {'; '.join(names)}."


def joined_names(names: Sequence[str]) -> str:
    """Names as a phrase. If there are more than _MOST_NAMES, the first and the number of the others."""
    shown = [*names[:_MOST_NAMES]]
    if len(names) > _MOST_NAMES:
        shown = [*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1:,} more"]
    return joined(shown)


def outline(tables: Sequence[tuple[str, BoardTable]]) -> Iterator[str]:
    """Sentences on the tables of several suites, by their titles: who differs, who is first."""
    ranked = [(title, table) for title, table in tables if len(table.scored) > 1]
    apart = [(title, table) for title, table in ranked if _has_differences(table)]
    alike = [title for title, table in ranked if not _has_differences(table)]
    if apart:
        cannot = f"; on {joined(alike)} they cannot" if alike else ""
        yield f"Models can be told apart on {joined([title for title, _ in apart])}{cannot}."
    elif alike:
        yield f"On none of these suites can models be told apart: {joined(alike)}."
    if first := [f"{joined(_leaders(table))} on {title}" for title, table in apart if _has_best(table)]:
        yield f"First: {'; '.join(first)}."
    yield from _endings_by_model(tables)


def _has_differences(table: BoardTable) -> bool:
    """Whether any two models can be told apart."""
    others = len(table.scored) - 1
    return any(len(table.alike(row)) < others for row in range(others + 1))


def _has_best(table: BoardTable) -> bool:
    metric = table.first.metric
    return metric is not None and metric.higher_is_better is not None


def _leaders(table: BoardTable) -> list[str]:
    """The models of the first group."""
    pairs = zip(table.scored, table.ranking.group, strict=True)
    return [item.model for item, group in pairs if group == table.ranking.group[0]]


def _endings_by_model(tables: Sequence[tuple[str, BoardTable]]) -> Iterator[str]:
    """A sentence on each model many of whose runs on any suite were not scored."""
    phrases: dict[str, list[str]] = {}
    for title, table in tables:
        for item in table.entries:
            if phrase := ending_phrase(item):
                phrases.setdefault(item.model, []).append(f"{phrase} on {title}")
    for model, texts in phrases.items():
        yield f"{model}: {', '.join(texts)}."


# Evaluators, cases and citation.


def evaluator_sentences(table: BoardTable) -> str:
    """Sentences on the evaluators of a table and the findings of their audits."""
    entries, evaluators = (*table.entries, *table.earlier), table.first.metadata["evaluator_models"]
    if not evaluators:
        return "no evaluator."
    names_of: dict[str, list[str]] = {}
    for name in evaluators:
        findings = dict.fromkeys(audit.describe_audit(entry.results.audits[name]) for entry in entries)
        names_of.setdefault("; ".join([*findings][:3]), []).append(name)
    texts = [f"{joined_names(names)}: {text}." for text, names in names_of.items()]
    return " ".join(texts if len(texts) == 1 else [f"{joined_names(evaluators)}.", *texts])


def case_phrase(table: BoardTable) -> str:
    """A phrase on the number of cases of a table and their languages."""
    cases = table.first.settings[CASES]
    names = list(languages(cases["languages"]).values())
    if not names:
        return "nothing yet"
    in_languages = joined_names(names) if len(names) <= _MOST_NAMES else f"{len(names):,} languages"
    return f"{cases['cases']:,} cases in {in_languages}"


def subject(about: SubjectSides | None) -> str:
    """What the questions are about, as the evaluators of these results were told; empty if they were not."""
    return about["subject"] if about else ""


def meaning(table: BoardTable) -> str:
    """What the unit of the headline means, on the scale by which the table's results were judged."""
    low, high = (table.first.metadata["scale"][end] for end in ("low", "high"))
    middle = f"{(low + high) / 2:g}"
    return Template(table.first.suite.about.meaning).safe_substitute(low=low, middle=middle, high=high)


def citation(tables: Sequence[BoardTable]) -> str:
    """The citation of the results of all tables, in the form that the README gives."""
    entries = [item for table in tables for item in table.entries]
    versions = _distinct(item.metadata.get("equipoise_version") for item in entries)
    commits = [item.metadata.get("git_commit") for item in entries]
    parts = [f"version {joined_names(versions)}"] if versions else []
    parts += [f"commit {joined_names(_distinct(commits))}"] if all(commits) and commits else []
    cited = "; ".join(_cited_suite(table, has_commit=all(commits)) for table in tables)
    return f"{', '.join(['The Equipoise developers. Equipoise', *parts])}. {cited[:1].upper()}{cited[1:]}."


def _cited_suite(table: BoardTable, *, has_commit: bool) -> str:
    """The suite of a table with all that its results depend on; with hashes unless `has_commit`."""
    first = table.first
    dataset, rubric = first.metadata.get("dataset"), first.metadata.get("rubric_version")
    about = subject(first.metadata.get("about"))
    parts = [f"suite {first.suite.name}", f"questions on {about}" if about else ""]
    parts += [f"dataset {dataset}" if dataset else "", f"rubric {rubric}" if rubric else ""]
    if not has_commit:
        hashes = {"data": first.metadata.get("data_hash"), "rubric": first.metadata.get("rubric_hash")}
        parts += [f"{name} {value}" for name, value in hashes.items() if value]
    evaluators = ", ".join(first.metadata["evaluator_models"])
    parts += [_replies(table), f"evaluators {evaluators}" if evaluators else "", _days(table)]
    return ", ".join(filter(None, parts))


def _replies(table: BoardTable) -> str:
    """The files of `--replies`, each with its number of runs and SHA-256; empty if there are none."""
    files = ((item.metadata, item.metadata.get("replies")) for item in table.entries)
    names = _distinct(
        f"{file['name']} ({share_of_runs(metadata)}; SHA-256 {file['sha256']})"
        for metadata, file in files
        if file
    )
    return f"replies from {joined_names(names)}" if names else ""


def _distinct(values: Iterable[str | None]) -> list[str]:
    """The distinct values; empty ones are left out."""
    return list(dict.fromkeys(filter(None, values)))


def _days(table: BoardTable) -> str:
    """The days on which the sessions began, first and last; empty if none is known."""
    days = sorted({item.started[:10] for item in table.entries if item.started})
    return "" if not days else days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def lead(board: Board) -> str:
    """A line with the numbers of models, suites and results on the board."""
    models, suites = len(board.models), len({section.suite.name for section in board.sections})
    count = sum(len(table.entries) for section in board.sections for table in section.tables)
    return f"{counted(models, 'model')}, {counted(suites, 'suite')}, {counted(count, 'set')} of results"
