"""`equipoise review`: people score replies, and how far they agree with evaluators."""

from __future__ import annotations

from pathlib import Path

import click

from equipoise.cli.output import say, show
from equipoise.core.files import shown
from equipoise.suites import rubric_path

_PATH = click.Path(path_type=Path)
MOST_SHOWN = 20


@click.group()
def review() -> None:
    """Have people score replies, and measure how far they and the evaluators agree."""


@review.command()
@click.argument("results", type=_PATH)
@click.option(
    "-n", "--sample", "n", type=click.IntRange(min=1), default=60, show_default=True, help="How many replies."
)
@click.option("-o", "--output", type=_PATH, required=True, help="The sheet; one copy for each person.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the sample.")
def sample(results: Path, n: int, output: Path, seed: int) -> None:
    """Write a blind sheet (CSV) of replies in RESULTS, in proportion to languages, areas and scores."""
    from equipoise.compare.baseline import load
    from equipoise.people import sheets
    from equipoise.results.schema import reading

    side = load(results, is_whole=True)
    with reading(results):
        found = sheets.sample(side, n, seed)
    sheets.write(output, found)
    say(f"{shown(output)}: {len(found)} replies; give each person a copy, and score by this scale:")
    path = rubric_path(side.suite, side.metadata.get("dataset"), Path.cwd())
    named = side.suite.rubric(path).scale.describe()
    for line in named.splitlines() or [", ".join(map(str, sheets.levels(side).shown))]:
        say(line)


@review.command()
@click.argument("results", type=_PATH)
@click.argument("sheet", nargs=-1, required=True, type=_PATH)
def agree(results: Path, sheet: tuple[Path, ...]) -> None:
    """Cohen's kappa of people with each other and with each evaluator of RESULTS, which get the figures.

    SHEET is a filled-in sheet, named after the person, or a file of reviews that the page saved.
    """
    from equipoise.compare.baseline import load
    from equipoise.people import agreement
    from equipoise.report import added
    from equipoise.results import sections
    from equipoise.results.schema import reading

    side = load(results, is_whole=True)
    sections.refuse_other_version(results, side.data)
    with sections.adding(results), reading(results):
        found, wrong = agreement.agree(side, sheet)
        sections.add(results, "people", found)
    for line in wrong[:MOST_SHOWN]:
        say(f"warning:   {line}")
    if len(wrong) > MOST_SHOWN:
        say(f"warning:   and {len(wrong) - MOST_SHOWN:,} more rows that cannot be used")
    show(added.people(found))
    say(f"added to {shown(results)}")
