"""The list holds every kind of figure that the code can make."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from regression import figures, kinds, studies
from regression.kinds import Leaf
from regression.listing import printed

from conftest import resolved
from equipoise.comparison.of_session import expected_cells
from equipoise.core.errors import UserError
from equipoise.runner import loading


def names() -> dict[str, str]:
    """The value of each name in the list that has one; a figure of several journals is there once."""
    named: dict[str, str] = {}
    for line in figures.read_list():
        _, name, value = line.rstrip("\n").split("\t", 2)
        if value != "None" or name not in named:
            named[name] = value
    return named


def test_every_figure_is_of_a_kind_and_every_kind_has_figures() -> None:
    """No figure without a kind, and no pattern of a kind without a figure that has a value."""
    expected = {(kind, pattern) for kind, patterns in kinds.kinds().items() for pattern in patterns}
    unknown, used = [], set()
    for name, value in names().items():
        pattern = kinds.pattern_of(name)
        if pattern is None:
            unknown.append(name)
        elif value != "None" or " " not in name:
            # A bare name is that of a part which results may lack.
            used.add(pattern)
    assert unknown[:20] == []
    assert expected - used == set()


OWN_DATA = {
    **dict.fromkeys(("attribution", "neutrality", "chinese_simpleqa", "borderlines"), ("",)),
    **dict.fromkeys(("politicsbench", "turnabout"), ("",)),
    "even_handedness": ("us", "china"),
}
"""The datasets that come with each suite; the only one of most has no name."""


def families(names: Iterable[str], labels: Set[str]) -> set[str]:
    """Names of metrics with `*` in place of labels and sides: `area.*`, `lean.state.*`, `favour.*_less_*`."""

    def family(part: str) -> str:
        return "*" if part in labels else "*_less_*" if "_less_" in part else part

    return {".".join(map(family, name.split("."))) for name in names}


@pytest.mark.slow
@pytest.mark.parametrize("suite", OWN_DATA)
def test_metrics_of_our_own_data_are_of_families_that_the_list_has(suite: str, project: Path) -> None:
    """No metric is made of our data alone, whose like no kept journal has."""
    listed, labels = listed_metrics(suite)
    for dataset in OWN_DATA[suite]:
        options = {"model": "m", "evaluator_model": ["j"], **({"dataset": dataset} if dataset else {})}
        loaded = loading.load(suite, resolved(options).of(suite), project)
        cells = expected_cells(loaded.suite, loaded.rubric, loaded.cases)
        own_labels = {value for cell in cells for value in cell.labels.values()}
        languages = {case.language for case in loaded.cases}
        made = families((metric.name for metric in loaded.suite.metrics(cells)), own_labels | languages)
        assert made - families(listed, labels | languages) == set()
        assert len(made) > 1


def listed_metrics(suite: str) -> tuple[set[str], set[str]]:
    """The names of a suite's metrics in the list, and the labels of its cases."""
    metrics, labels = set(), set()
    for line in figures.read_list():
        part, name, value = line.rstrip("\n").split("\t", 2)
        words = name.split(" ")
        if part.startswith(f"{suite}/") and words[0] == "metric" and words[2:] == ["value"]:
            metrics.add(words[1])
        elif part.startswith(f"{suite}/") and words[0] == "case" and words[2] == "label":
            labels.add(ast.literal_eval(value))
    return metrics, labels


class Sample(NamedTuple):
    """A leaf of a kept results file."""

    path: Path
    leaf: Leaf


@pytest.fixture
def samples(project: Path) -> Mapping[str, Sample]:
    """For each member of results a leaf of it, in the smallest kept results that have one."""
    by_member: dict[str, Sample] = {}
    for path in sorted(_results(project), key=lambda path: path.stat().st_size):
        for leaf in kinds.leaves(json.loads(path.read_bytes())):
            if leaf.value is not None and leaf.member not in by_member:
                by_member[leaf.member] = Sample(path, leaf)
    return by_member


def _results(project: Path) -> Iterator[Path]:
    """The results of all kept journals, and some with labels, a translation, a comparison and a gate."""
    figures.write_published(project / "results")
    yield from (project / "results").glob("*.json")
    for suite in figures.SUITES:
        folder = project / "results" / suite
        figures.prepare(suite, project)
        paths = {name: figures.restore(suite, name, folder) for name in figures.kept(suite)}
        if sheets := figures.restore_sheets(suite, folder):
            studies.agree(paths["own"], [studies.undrawn(sheets[0])])
            yield Path(shutil.copy(paths["own"], folder / "undrawn.json"))
            for name in studies.LABELLED[suite]:
                studies.agree(paths[name], sheets)
        if figures.restore_translation(suite, folder):
            studies.translate(folder)
        yield from paths.values()
        yield from (_with_sections(suite, *pair) for pair in _pairs(paths))


def _pairs(paths: Mapping[str, Path]) -> Iterator[tuple[Path, Path, bool]]:
    """A baseline, a candidate and whether there is a gate, for each of a few comparisons."""
    baselines = {
        "audited_later": "audited",
        "until": "own",
        "eventful": "own",
        "confident": "own",
        "panel": "own",
    }
    for name, baseline in baselines.items():
        if name in paths:
            yield paths[baseline], paths[name], name not in ("confident", "panel")
    if "confident" in paths:
        # Without its journal, verdicts cannot be verified.
        alone = Path(shutil.copy(paths["confident"], paths["confident"].with_name("alone.json")))
        yield paths["own"], alone, False


def _with_sections(suite: str, baseline: Path, candidate: Path, has_gate: bool) -> Path:
    """Results with a comparison, and maybe a gate, as a session with a baseline writes them."""
    output = candidate.with_name(f"{candidate.stem} compared.json")
    rules = figures.RULES.get(suite, ("verified",)) if has_gate else ()
    options = [word for rule in rules for word in ("--gate", rule)]
    command = ("compare", str(baseline), str(candidate), "--allow-mismatch", *options, "-o", str(output))
    printed(*command, statuses=(0, 1, 2, 6, 7))
    (sections,) = json.loads(output.read_bytes())
    output.write_text(json.dumps({**json.loads(candidate.read_bytes()), **sections}), encoding="utf-8")
    return output


@pytest.mark.slow
def test_another_value_of_any_member_changes_the_list(
    samples: Mapping[str, Sample], subtests: pytest.Subtests
) -> None:
    """Every member of results that is a figure is in kept results, and the list holds it."""
    listed: dict[Path, list[str]] = {}
    for member in dict.fromkeys(kinds.members()):
        if member in kinds.no_figures():
            continue
        with subtests.test(member):
            assert member in samples, "no kept results have one"
            path, leaf = samples[member]
            if path not in listed:
                listed[path] = [*figures.lines(figures.of_results(path))]
            assert _changed(path, leaf) != listed[path], leaf.path


def _changed(path: Path, leaf: Leaf) -> list[str] | None:
    """The figures of results in which a leaf has another value; None where they are refused."""
    data: Any = kinds.with_value(json.loads(path.read_bytes()), leaf.path, kinds.another(leaf.value))
    changed = path.with_name("changed.json")
    changed.write_text(json.dumps(data), encoding="utf-8")
    try:
        return [*figures.lines(figures.of_results(changed))]
    except UserError:
        return None


def test_members_that_are_no_figures_are_members() -> None:
    """The list of exceptions names nothing that results do not have."""
    assert kinds.no_figures().keys() - {*kinds.members()} == set()
