"""`equipoise suites`: the suites that can be run here, and the calls of a session with defaults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import fill

import click

from equipoise import suites as benchmarks
from equipoise.cli import completion
from equipoise.cli.output import print_line, width
from equipoise.core.errors import UserError


@click.command()
@click.argument("names", metavar="[SUITE]...", nargs=-1, shell_complete=completion.complete_suite)
def suites(names: tuple[str, ...]) -> None:
    """List suites, including a project's own: datasets, languages, areas, and the calls of a usual session.

    A usual session has all cases of the first dataset, the suite's default number of runs and evaluators, and
    no retries.
    """
    benchmarks.require_consistent_names(Path.cwd())
    for name in names:
        benchmarks.require(name)
    unloadable = benchmarks.unloadable()
    selected = names or benchmarks.names()
    for number, name in enumerate(name for name in selected if name not in unloadable):
        for line in [*([""] if number else []), *_suite_lines(name)]:
            print_line(line)
    if errors := [error for name, error in unloadable.items() if name in selected]:
        # After the suites that can be run.
        raise UserError("; ".join(map(str, errors)))


def _suite_lines(name: str) -> Iterator[str]:
    """The lines on a suite: its title, datasets, languages, areas, and the calls of a usual session."""
    from equipoise.audit.session import SessionAudits
    from equipoise.runner import estimate
    from equipoise.runner.plan import Plan
    from equipoise.runner.settings import settings_of

    suite = benchmarks.load(name)
    settings = settings_of(texts={}, environment={}, ini={}, names=[name])
    plan = Plan(settings, Path.cwd(), SessionAudits(Path.cwd()))
    runs, panel = plan.runs(name), plan.settings.evaluator_models
    cases = plan.load(name).cases
    yield f"{name}: {suite.about.title}" if suite.about.title else name
    yield from _row("about", [benchmarks.purpose(name)])
    if suite.dataset_names:
        yield from _row("datasets", suite.dataset_names)
    yield from _row("languages", (case.language for case in cases))
    yield from _row("areas", (case.area for case in cases))
    foreseen = [call for calls in estimate.foreseen(plan.load(name), runs) for call in calls]
    roles = [call.role for call in foreseen if not call.is_possible]
    calls = f"{roles.count('subject'):,} calls of the model"
    if further := len(foreseen) - len(roles):
        calls += f" and at most {further:,} further ones, where a run asks again"
    if verdicts := roles.count("evaluator") * len(panel):
        calls += f", {verdicts:,} of {' + '.join(panel)}"
    repeats = len(runs) // len(cases)
    yield from _row("session", [f"{len(cases):,} cases x {repeats} = {len(runs):,} runs", calls])
    yield from _asker_row(name, repeats)


def _asker_row(name: str, repeats: int) -> Iterator[str]:
    """The row on the runs that --asker adds, if the suite's data have sentences about who asks."""
    from equipoise.audit.session import SessionAudits
    from equipoise.runner.plan import Plan
    from equipoise.runner.settings import settings_of

    if benchmarks.load(name).asked is None:
        return
    try:
        settings = settings_of(texts={"asker": "mirror"}, environment={}, ini={}, names=[name])
        askers = Plan(settings, Path.cwd(), SessionAudits(Path.cwd())).load(name).askers
    except UserError:
        # The dataset has no such sentences.
        return
    if askers is not None:
        added_runs = 2 * repeats * len(askers.twins)
        cases = f"{len(askers.twins):,} cases from either side: {added_runs:,} runs more"
        yield from _row("--asker", [cases, f"{2 * added_runs:,} with --asker-form both"])


def _row(label: str, values: Iterable[str]) -> list[str]:
    """A label and its distinct values, wrapped."""
    text = ", ".join(dict.fromkeys(values))
    return fill(
        text, width(), initial_indent=f"  {label:<11}", subsequent_indent=" " * 13, break_on_hyphens=False
    ).split("\n")
