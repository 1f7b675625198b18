"""Sentences on a table of models: which can be told apart, by how much, and how to cite it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from equipoise.comparison.board import Board, ModelDifference, Table
from equipoise.comparison.entry import CASES, Entry
from equipoise.report import audit
from equipoise.report.page.names import languages

_FEW = 8
"""Maximum number of models for which all pairs that cannot be told apart are listed."""
_NAMED = 5
"""Maximum number of names in one list."""


def differences(table: Table) -> Iterator[str]:
    """Whether the models differ, by how much, and which cannot be told apart."""
    models = table.scored
    if len(models) == 1:
        yield f"{models[0].model}: {figure(models[0])}."
    elif len(models) == 2:
        yield f"{_pair(table, 0, 1)}."
    elif models:
        yield from _of_many(table)
    if unscored := [item.model for item in table.entries if item.value is None]:
        yield f"Without a score: {listed(unscored)}."


def _pair(table: Table, above: int, below: int) -> str:
    """A sentence on the difference of two models, without its point."""
    first, second = table.scored[above], table.scored[below]
    difference = table.difference(above, below)
    size = _size(first, difference)
    if not difference.is_apart:
        text = f"{first.model} and {second.model} cannot be told apart: they differ by {size}"
        low, high = difference.low, difference.high
        is_chance = low is not None and high is not None and not low <= 0 <= high
        return f"{text}, which may be chance where so many pairs are compared" if is_chance else text
    clusters = first.suite.clusters
    return f"{first.model} scores {size} {_direction(difference)} than {second.model} on the same {clusters}"


def _direction(difference: ModelDifference) -> str:
    return "higher" if (difference.value or 0.0) > 0 else "lower"


def _size(entry: Entry, difference: ModelDifference) -> str:
    """The absolute value of a difference, with its interval."""
    value, unit = difference.value or 0.0, _unit(entry)
    if difference.low is None or difference.high is None:
        return f"{abs(value):.1f} {unit} (no interval)"
    low, high = (difference.low, difference.high) if value >= 0 else (-difference.high, -difference.low)
    return f"{abs(value):.1f} {unit} (95 % interval {low:.1f} to {high:.1f})"


def _unit(entry: Entry) -> str:
    unit = entry.metric.unit if entry.metric else "%"
    return "points" if unit in ("%", "pp") else unit


def figure(entry: Entry) -> str:
    """A model's headline with its interval."""
    if entry.value is None:
        return "no score"
    unit = " %" if entry.metric and entry.metric.unit == "%" else f" {_unit(entry)}"
    low, high = entry.headline["low"], entry.headline["high"]
    interval = "no interval" if low is None else f"95 % interval {low:.1f} to {high:.1f}"
    return f"{entry.value:.1f}{unit} ({interval})"


def _of_many(table: Table) -> Iterator[str]:
    models, last = table.scored, len(table.scored) - 1
    alike = [(row, other) for row in range(len(models)) for other in table.alike(row) if other > row]
    pairs = len(models) * last // 2
    if len(alike) == pairs:
        yield f"None of the {len(models):,} models can be told apart from another. {_pair(table, 0, last)}."
        return
    first, difference = models[0], table.difference(0, last)
    yield f"{first.model} stands first with {figure(first)}."
    if difference.is_apart:
        side = "above" if (difference.value or 0.0) > 0 else "below"
        yield f"That is {_size(first, difference)} {side} {models[last].model}, which stands last."
    else:
        yield f"{_pair(table, 0, last)}, although these two stand first and last."
    if not alike:
        yield f"All {len(models):,} models can be told apart from each other."
        return
    yield f"Of {pairs:,} pairs of models {pairs - len(alike):,} can be told apart."
    yield from _alike(table, alike)


def _alike(table: Table, alike: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Sentences on groups of models that cannot be told apart, and on such pairs across groups."""
    groups: dict[int, list[str]] = {}
    for item, group in zip(table.scored, table.ranking.group, strict=True):
        groups.setdefault(group, []).append(item.model)
    joint = [names for names in groups.values() if len(names) > 1]
    if joint:
        more = f"; and {len(joint) - _NAMED:,} more groups" if len(joint) > _NAMED else ""
        yield f"Cannot be told apart: {'; '.join(map(listed, joint[:_NAMED]))}{more}."
    across = [pair for pair in alike if len({table.ranking.group[row] for row in pair}) > 1]
    if across and len(table.scored) > _FEW:
        yield (
            f"The same holds for {len(across):,} pairs of models of two neighbouring groups: "
            "their ranks show it."
        )
    elif across:
        names = [" and ".join(table.scored[row].model for row in pair) for pair in across]
        yield f"{'Nor can' if joint else 'Cannot be told apart:'} {'; '.join(names)}."


def listed(names: Sequence[str]) -> str:
    """Names as a phrase; of many, only the first few and the number of others."""
    shown = [*names[:_NAMED]]
    if len(names) > _NAMED:
        shown = [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1:,} more"]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


# Evaluators, cases and citation.


def judges(table: Table) -> str:
    """Sentences on its evaluators and the findings of their audits."""
    entries, evaluators = (*table.entries, *table.earlier), table.first.metadata["evaluator_models"]
    every = [findings(item) for item in entries]
    names_of: dict[str, list[str]] = {}
    for name in evaluators:
        known = dict.fromkeys(by_name[name] for by_name in every)
        names_of.setdefault("; ".join([*known][:3]), []).append(name)
    if not evaluators:
        return "no evaluator."
    texts = [f"{listed(names)}: {text}." for text, names in names_of.items()]
    return " ".join(texts if len(texts) == 1 else [f"{listed(evaluators)}.", *texts])


def findings(entry: Entry) -> dict[str, str]:
    """A phrase on each evaluator's audit, by evaluator."""
    return {
        name: "not audited" if audited is None else audit.finding(audited)
        for name, audited in entry.audits.items()
    }


def asked(table: Table) -> str:
    """A phrase on the number of cases and the languages of a table."""
    cases = table.first.settings[CASES]
    known = list(languages(cases["languages"]).values())
    if not known:
        return "nothing yet"
    shown = listed(known) if len(known) <= _NAMED else f"{len(known):,} languages"
    return f"{cases['cases']:,} cases in {shown}"


def citation(table: Table) -> str:
    """The citation of the results of a table, in the form that the README gives."""
    first = table.first
    suite = f"Suite {first.suite.name}"
    dataset, rubric = first.metadata["dataset"], first.metadata["rubric_version"]
    parts = [suite, f"dataset {dataset}" if dataset else "", f"rubric {rubric}" if rubric else ""]
    evaluators = ", ".join(first.metadata["evaluator_models"])
    parts += [f"evaluators {evaluators}" if evaluators else "", _days(table)]
    return f"The Equipoise developers. Equipoise, {_versions(table)}. {', '.join(filter(None, parts))}."


def _versions(table: Table) -> str:
    """Versions of the program, and its commits, or, if these are not known, hashes of data and rubric."""
    versions, commits = (_distinct(table, name) for name in ("equipoise_version", "git_commit"))
    parts = [f"version {listed(versions)}"] if versions else []
    if commits and None not in (item.metadata["git_commit"] for item in table.entries):
        return ", ".join([*parts, f"commit {listed(commits)}"])
    hashes = ((name, table.first.metadata[f"{name}_hash"]) for name in ("data", "rubric"))
    return ", ".join([*parts, *(f"{name} {value}" for name, value in hashes if value)])


def _distinct(table: Table, name: str) -> list[str]:
    return list(dict.fromkeys(str(value) for item in table.entries if (value := item.metadata[name])))


def _days(table: Table) -> str:
    days = sorted({item.started[:10] for item in table.entries if item.started})
    return "" if not days else days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def lead(board: Board) -> str:
    """A line on the content of the board."""
    models, suites = len(board.models), len({section.suite.name for section in board.sections})
    count = sum(len(table.entries) for section in board.sections for table in section.tables)
    return f"{_counted(models, 'model')}, {_counted(suites, 'suite')}, {_counted(count, 'set')} of results"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def in_short(names: Iterable[str]) -> str:
    """The names of models, or their number if there are more than three."""
    known = list(names)
    return ", ".join(known) if len(known) <= 3 else f"{len(known):,} models"
