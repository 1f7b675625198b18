"""`equipoise review`: people label replies, to measure agreement with evaluators and to correct figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from equipoise.cli.output import print_line, print_wrapped
from equipoise.core.errors import UserError
from equipoise.core.files import shown

if TYPE_CHECKING:
    from equipoise.results.document import PeopleScores
    from equipoise.results.results import Results
    from equipoise.studies.people.draws import DrawnReply
    from equipoise.studies.people.form import Field

_PATH = click.Path(path_type=Path)
_MOST_WARNINGS = 20


@click.group()
def review() -> None:
    """Have people label replies, to measure agreement with the evaluators and to correct figures."""


@review.command(short_help="Write sheets of replies for people to label.")
@click.argument("path", metavar="RESULTS", type=_PATH)
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
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the sample.")
@click.option("--person", "people", multiple=True, metavar="NAME", help="A sheet for each; repeatable.")
@click.option(
    "--language",
    "languages",
    multiple=True,
    metavar="CODES",
    help="Languages read, separated by commas: once, or for each --person in turn (default: the page asks).",
)
@click.option(
    "--overlap",
    type=click.IntRange(min=0),
    help="With --person: how many replies everyone labels; the others are divided (default: all).",
)
@click.option(
    "--pairs",
    "baseline_path",
    metavar="BASELINE",
    type=_PATH,
    help="Draw the same replies of earlier results, mixed in.",
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
    path: Path,
    n: int,
    output: Path,
    seed: int,
    people: tuple[str, ...],
    languages: tuple[str, ...],
    overlap: int | None,
    baseline_path: Path | None,
    page: bool,
    ask: str,
) -> None:
    """Write sheets of replies in RESULTS, without verdicts: a random sample by language, area and score."""
    from equipoise.results.load import load
    from equipoise.results.schema import reading
    from equipoise.studies.people import draws, form

    if overlap is not None and len(people) < 2:
        raise UserError("--overlap: says what several people share; name them with --person")
    readers = _readers(languages, people)
    results = load(path)
    baseline = load(baseline_path) if baseline_path else None
    if baseline and baseline.suite.name != results.suite.name:
        raise UserError(f"--pairs: {baseline_path}: is of {baseline.suite.name}, not of {results.suite.name}")
    with reading(path, *([baseline_path] if baseline_path else [])):
        read = None if None in readers else {code for codes in readers for code in codes or ()}
        drawn = draws.sample(results, n, seed, baseline, read)
        names = form.field_names(ask, [results, *([baseline] if baseline else [])])
        fields = [form.fields(results, _level_meanings(results))[name] for name in names]
    all_rows = [row for rows in drawn for row in rows]
    sheet_rows = draws.deal(drawn, readers, overlap, seed) if people else [all_rows]
    paths = _sheet_paths(output, people, is_page=page)
    _write_sheets(paths, sheet_rows, people, fields, asks_languages=read is None)
    instruction = "give it to its person" if people else "give each person a copy"
    for sheet_path, rows in zip(paths, sheet_rows, strict=True):
        print_line(f"{shown(sheet_path)}: {len(rows)} replies; {instruction}, to fill in with:")
    for field in fields:
        _print_choices(field)
    if len(drawn) < n:
        print_line(_why_fewer(n, len(drawn), [results, *([baseline] if baseline else [])], read))
    unread = sorted({reply.run.language for reply in draws.judged_replies(results)} - (read or set()))
    if read is not None and unread:
        print_line(f"no labeller reads {', '.join(unread)}: figures over all languages will not be corrected")


def _readers(languages: Sequence[str], people: Sequence[str]) -> list[frozenset[str] | None]:
    """The languages of each person, or of the readers of a single sheet; None: all. Raises UserError."""
    number = max(len(people), 1)
    if len(languages) not in (0, 1, number):
        raise UserError(
            f"--language: give it once, or once for each --person: {number} times, not {len(languages)}"
        )
    codes = [frozenset(filter(None, map(str.strip, text.split(",")))) for text in languages]
    if not all(codes):
        raise UserError("--language: names no language; write codes, such as en-US,pt-BR")
    return [None] * number if not codes else [*codes] * (number // len(codes))


def _why_fewer(n: int, drawn: int, sources: Sequence[Results], read: Collection[str] | None) -> str:
    """A line that explains why fewer than n replies are drawn; `read` are the languages that people read."""
    runs = {row.name for source in sources for row in source.rows if read is None or row.language in read}
    where = f" in {', '.join(sorted(read))}" if read else ""
    share = f"{drawn:,} of {len(runs):,} runs{where}"
    return f"fewer than {n:,} replies: {share} have a reply that an evaluator scored"


def _print_choices(field: Field) -> None:
    """Print the choices of a field: one line, or for a score a line for each level."""
    if field.name != "score":
        print_line(f"{field.name}: {', '.join(choice.value for choice in field.choices)}")
        return
    for choice in field.choices:
        print_line(f"{choice.value}: {choice.meaning}" if choice.meaning else choice.value)


def _sheet_paths(output: Path, people: Sequence[str], *, is_page: bool) -> list[Path]:
    """The path of each sheet. Raises UserError for duplicate names, and for invalid file names."""
    if not people:
        return [output.with_suffix(".html") if is_page else output]
    if len({*people}) < len(people) or any(not name.strip() or Path(name).name != name for name in people):
        raise UserError("--person: give each person a different name, which can be a file name")
    return [output / f"{name}.{'html' if is_page else 'csv'}" for name in people]


def _write_sheets(
    paths: Sequence[Path],
    sheet_rows: Sequence[Sequence[DrawnReply]],
    people: Sequence[str],
    fields: Sequence[Field],
    *,
    asks_languages: bool,
) -> None:
    from equipoise.studies.people import labelling, sheets

    for path in paths:
        sheets.refuse_existing(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"-o: {path.parent}: cannot be written ({error.strerror})") from None
    for path, rows, person in zip(paths, sheet_rows, people or [""], strict=True):
        if path.suffix == ".html":
            labelling.write(path, rows, fields, person, asks_languages=asks_languages)
        else:
            sheets.write(path, rows, [field.name for field in fields])


def _level_meanings(results: Results) -> Mapping[int, str]:
    """The meaning of each level of the rubric's scale."""
    from equipoise.suites import rubric_path

    path = rubric_path(results.suite, results.metadata.get("dataset"), Path.cwd())
    levels: Mapping[int, str] = results.suite.judging.rubric(path).scale.levels
    return levels


@review.command(short_help="Show how many labels an interval or a gate needs.")
@click.argument("path", metavar="RESULTS", type=_PATH)
@click.option("--within", metavar="POINTS", required=True, help="The half-width wanted, such as 4pp.")
@click.option(
    "--agreement",
    type=click.FloatRange(min=0, max=1, max_open=True),
    help="Correlation of people's scores with the judge's; from a pilot in RESULTS, else 0.7.",
)
def plan(path: Path, within: str, agreement: float | None) -> None:
    """Show how many labels narrow the headline interval of RESULTS to this half-width, and decide gates."""
    from equipoise.results.load import load
    from equipoise.results.schema import reading
    from equipoise.studies.people import planning

    half_width = planning.parse_half_width(within)
    results = load(path)
    with reading(path):
        print_wrapped(planning.lines(results, half_width, agreement))


@review.command(short_help="Measure agreement by filled-in sheets; correct figures.")
@click.argument("path", metavar="RESULTS", type=_PATH)
@click.argument("sheet", nargs=-1, required=True, type=_PATH)
def agree(path: Path, sheet: tuple[Path, ...]) -> None:
    """Show how far people agree with each other and with each evaluator of RESULTS, and correct figures.

    SHEET is a filled-in sheet, named after the person, or a file saved from the page of a sheet. It may also
    be a file of reviews saved from the page of a report: these correct no figures, as the readers saw the
    verdicts. Labels that RESULTS had before are replaced: give the sheets of all people.
    """
    from equipoise.report import added
    from equipoise.results import sections
    from equipoise.results.load import load
    from equipoise.results.schema import reading
    from equipoise.studies.people import agreement

    results = load(path)
    sections.require_extensible(path, results.metadata)
    with sections.locked(path), reading(path):
        section, warnings = agreement.agree(results, sheet)
        sections.add(path, "people", section)
    for line in warnings[:_MOST_WARNINGS]:
        print_line(f"warning:   {line}")
    if len(warnings) > _MOST_WARNINGS:
        print_line(f"warning:   and {len(warnings) - _MOST_WARNINGS:,} more rows that cannot be used")
    print_wrapped(added.people_lines(section))
    print_line(_describe_addition(path, results.people, section))


def _describe_addition(path: Path, earlier: PeopleScores | None, section: PeopleScores) -> str:
    """A line on where labels were added, and whose earlier labels they replaced."""
    if earlier is None:
        return f"added to {shown(path)}"
    remaining = {sheet["name"] for sheet in section["sheets"]}
    lost = [sheet["name"] for sheet in earlier["sheets"] if sheet["name"] not in remaining]
    names = f": the labels of {', '.join(lost)} (give all sheets in one command to keep them)" if lost else ""
    return f"replaced in {shown(path)}{names}"
