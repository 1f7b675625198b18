"""`equipoise review`: people label replies, to measure agreement with evaluators and to correct figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from equipoise.cli.output import say, show
from equipoise.core.errors import UserError
from equipoise.core.files import shown

if TYPE_CHECKING:
    from equipoise.comparison.side import Side
    from equipoise.studies.people.draws import DrawnReply
    from equipoise.studies.people.form import Field

_PATH = click.Path(path_type=Path)
MOST_SHOWN = 20


@click.group()
def review() -> None:
    """Have people label replies, to measure agreement with the evaluators and to correct figures."""


@review.command()
@click.argument("results", type=_PATH)
@click.option(
    "-n", "--sample", "n", type=click.IntRange(min=1), default=60, show_default=True, help="How many replies."
)
@click.option(
    "-o",
    "--output",
    type=_PATH,
    required=True,
    help="The sheet: a table (.csv), or a page for the browser (.html); a folder with --person.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the sample.")
@click.option("--person", "people", multiple=True, metavar="NAME", help="A sheet for each; repeatable.")
@click.option(
    "--overlap",
    type=click.IntRange(min=0),
    help="With --person: how many replies everyone labels; the others are divided (default: all).",
)
@click.option(
    "--pairs", metavar="BASELINE", type=_PATH, help="Draw the same replies of earlier results, mixed in."
)
@click.option("--page", is_flag=True, help="With --person: pages for the browser in place of tables.")
@click.option(
    "--ask",
    default="score",
    show_default=True,
    metavar="NAMES",
    help="What to ask of each reply, separated by commas: score, outcome (answered or refused), lean.",
)
def sample(
    results: Path,
    n: int,
    output: Path,
    seed: int,
    people: tuple[str, ...],
    overlap: int | None,
    pairs: Path | None,
    page: bool,
    ask: str,
) -> None:
    """Write sheets of replies in RESULTS, without verdicts: a random sample by language, area and score."""
    from equipoise.comparison.load import load
    from equipoise.results.schema import reading
    from equipoise.studies.people import draws, form

    if overlap is not None and len(people) < 2:
        raise UserError("--overlap: says what several people share; name them with --person")
    side, baseline = load(results), None
    if pairs:
        baseline = load(pairs)
        if baseline.suite.name != side.suite.name:
            raise UserError(f"--pairs: {pairs}: is of {baseline.suite.name}, not of {side.suite.name}")
    with reading(results, *([pairs] if pairs else [])):
        drawn = draws.sample(side, n, seed, baseline)
        names = form.field_names(ask, [side, *([baseline] if baseline else [])])
        fields = [form.fields(side, _meanings(side))[name] for name in names]
    dealt = (
        draws.deal(drawn, len(people), overlap, seed) if people else [[row for rows in drawn for row in rows]]
    )
    files = _files(output, people, is_page=page)
    _write(files, dealt, people, fields)
    for path, rows in zip(files, dealt, strict=True):
        say(f"{shown(path)}: {len(rows)} replies; {'give it to its person' if people else _GIVE}:")
    for field in fields:
        _say_choices(field)


_GIVE = "give each person a copy, to fill in so"


def _say_choices(field: Field) -> None:
    """Print the choices of a field: one line, or for a score a line for each level."""
    if field.name != "score":
        say(f"{field.name}: {', '.join(choice.value for choice in field.choices)}")
        return
    for choice in field.choices:
        say(f"{choice.value}: {choice.meaning}" if choice.meaning else choice.value)


def _files(output: Path, people: Sequence[str], *, is_page: bool) -> list[Path]:
    """The file of each sheet. Raises UserError for duplicate names, and for invalid file names."""
    if not people:
        return [output.with_suffix(".html") if is_page else output]
    if len({*people}) < len(people) or any(not name.strip() or Path(name).name != name for name in people):
        raise UserError("--person: give each person another name, which can be that of a file")
    return [output / f"{name}.{'html' if is_page else 'csv'}" for name in people]


def _write(
    files: Sequence[Path],
    dealt: Sequence[Sequence[DrawnReply]],
    people: Sequence[str],
    fields: Sequence[Field],
) -> None:
    from equipoise.studies.people import labelling, sheets

    for path in files:
        sheets.refuse_existing(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"-o: {path.parent}: cannot be written ({error.strerror})") from None
    for path, rows, person in zip(files, dealt, people or [""], strict=True):
        if path.suffix == ".html":
            labelling.write(path, rows, fields, person)
        else:
            sheets.write(path, rows, [field.name for field in fields])


def _meanings(side: Side) -> Mapping[int, str]:
    """The meaning of each level of the rubric's scale."""
    from equipoise.suites import rubric_path

    path = rubric_path(side.suite, side.metadata.get("dataset"), Path.cwd())
    levels: Mapping[int, str] = side.suite.rubric(path).scale.levels
    return levels


@review.command()
@click.argument("results", type=_PATH)
@click.option("--within", metavar="POINTS", required=True, help="The half-width wanted, such as 4pp.")
@click.option(
    "--agreement",
    type=click.FloatRange(min=0, max=1, max_open=True),
    help="Correlation of people's scores with the judge's; from a pilot in RESULTS, else 0.7.",
)
def plan(results: Path, within: str, agreement: float | None) -> None:
    """Show how many labels narrow the headline interval of RESULTS to this half-width, and decide gates."""
    from equipoise.comparison.load import load
    from equipoise.results.schema import reading
    from equipoise.studies.people import planning

    half_width = planning.points(within)
    side = load(results)
    with reading(results):
        show(planning.lines(side, half_width, agreement))


@review.command()
@click.argument("results", type=_PATH)
@click.argument("sheet", nargs=-1, required=True, type=_PATH)
def agree(results: Path, sheet: tuple[Path, ...]) -> None:
    """Show how far people agree with each other and with each evaluator of RESULTS, and correct figures.

    SHEET is a filled-in sheet, named after the person, or a file saved from the page of a sheet. It may also
    be a file of reviews saved from the page of a report: these correct no figures, as the readers saw the
    verdicts.
    """
    from equipoise.comparison.load import load
    from equipoise.report import added
    from equipoise.results import sections
    from equipoise.results.schema import reading
    from equipoise.studies.people import agreement

    side = load(results)
    sections.refuse_other_version(results, side.data)
    with sections.adding(results), reading(results):
        section, wrong = agreement.agree(side, sheet)
        sections.add(results, "people", section)
    for line in wrong[:MOST_SHOWN]:
        say(f"warning:   {line}")
    if len(wrong) > MOST_SHOWN:
        say(f"warning:   and {len(wrong) - MOST_SHOWN:,} more rows that cannot be used")
    show(added.people_lines(section))
    say(f"added to {shown(results)}")
