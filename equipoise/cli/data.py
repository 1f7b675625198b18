"""Commands on data: fetch, convert, validate, translate and construct."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from equipoise.cli.output import say, tell
from equipoise.cli.parameters import NAME
from equipoise.core.env_file import EnvFile
from equipoise.core.errors import UserError
from equipoise.core.options import CONFIG
from equipoise.suites.resources import nearest, topic_folders

if TYPE_CHECKING:
    from equipoise.core.settings import Settings
    from equipoise.core.types import JSON
    from equipoise.models.counters import CounterSnapshot
    from equipoise.suites.stages import Construct, FromDocuments

_PATH = click.Path(path_type=Path)


def topics() -> Path:
    """The project's folder of topics, or the one shipped with Equipoise."""
    return nearest("topics", Path.cwd())


def rubric(name: str) -> Path:
    """A file of prompts: the project's, or the one shipped with Equipoise."""
    return nearest(f"rubric/{name}", Path.cwd())


# Commands that ask nothing.


@click.command()
@click.argument("name")
@click.option(
    "--to",
    "folder",
    type=_PATH,
    help="The folder for a folder of that name; by default topics/NAME/original.",
)
@click.option("--site", default=None, help="A mirror of the site; also a file URL.")
def fetch(name: str, folder: Path | None, site: str | None) -> None:
    """Fetch the published data of a suite or dataset NAME, or all; verified by SHA-256.

    Those of a suite are for --dataset original. With all, it continues if some cannot be fetched, and exits
    with 4 at the end.
    """
    from equipoise.datasets import fetch

    folders = topic_folders(Path.cwd())
    failed = []
    for each in (wanted := fetch.names(name, folders)):
        try:
            for line in fetch.fetch(each, folders, folder, site or fetch.SITE):
                say(line)
        except UserError as error:
            if name != fetch.ALL:
                raise
            failed.append(each)
            say(f"ERROR: {error}", err=True)
    if failed:
        raise UserError(f"{len(failed)} of {len(wanted)} are incomplete: {', '.join(failed)}")


@click.command()
@click.argument("old", type=_PATH)
@click.option("-o", "--output", required=True, type=_PATH, help="The new file.")
def convert(old: Path, output: Path) -> None:
    """Complete OLD, results that an early version of the published benchmark wrote without percentages.

    Adds percentages after all averages, and limit, files_expected and files_completed. Scores are unchanged.
    """
    from equipoise.results import published

    for line in published.convert(old, output):
        say(line)


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=_PATH)
@click.pass_context
def validate(ctx: click.Context, paths: tuple[Path, ...]) -> None:
    """Check each PATH: results, a folder of them, a suite's folder, a dataset, questions (default ./topics).

    Results are held against the JSON Schema. Prints one line per finding. Exits with 0 if there are none, 1
    if there are any, 4 if a path is neither. Published data in folders named original are checked only if
    they are named.
    """
    from equipoise.datasets import lint

    findings, results = _validated(paths)
    rest = [path for path in paths if path not in results]
    if rest or not paths:
        found, files = lint.validate(rest)
        findings += map(str, found)
    else:
        files = 0
    for line in findings:
        say(line)
    counts = (_counted(len(findings), "finding"), _counted(files + sum(results.values()), "file"))
    say(" in ".join(counts), err=bool(findings))
    ctx.exit(1 if findings else 0)


def _validated(paths: Sequence[Path]) -> tuple[list[str], dict[Path, int]]:
    """The findings on results at or directly in these paths, and how many each path has."""
    from equipoise.results import schema

    findings: list[str] = []
    results: dict[Path, int] = {}
    for path in paths:
        for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
            if (data := schema.read(file)) is not None:
                findings += _problems(file, data)
                results[path] = results.get(path, 0) + 1
    return findings, results


def _problems(file: Path, data: JSON) -> list[str]:
    """What is wrong with these results, a line each, as far as it is shown."""
    from equipoise.results import schema

    found = [f"{file}: {problem}" for problem in schema.problems(data)]
    more = len(found) - schema.MOST_SHOWN
    return [*found[: schema.MOST_SHOWN], *([f"{file}: and {more:,} more"] if more > 0 else [])]


@click.command()
def schema() -> None:
    """Print the JSON Schema of results, with the parts of the project's own suites."""
    from equipoise.core import json_io
    from equipoise.results import schema

    click.echo(json_io.dumps(schema.whole(), indent=True), nl=False)


def _counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


# Commands that ask models.

_MODEL_OPTIONS = (
    click.option("--model", metavar="M", type=NAME, help="The model to ask; local is the built-in one."),
    click.option("--api-base-url", metavar="URL", help="OpenAI-compatible endpoint."),
    click.option("--api-key", metavar="KEY", help="Its key; better in OPENAI_API_KEY."),
    click.option("--max-tokens", metavar="N", help="Limit of each reply."),
    click.option("--concurrency", metavar="N", help="Calls in flight (default 32)."),
    click.option("--max-retries", metavar="N", help="Retries of a call that fails in transport."),
    click.option(
        "--max-cost", metavar="USD", help="Stop before the cost exceeds this; finished work is kept."
    ),
    click.option("--max-calls", metavar="N", help="Stop before it sends more requests than this."),
    click.option(
        "--price-input",
        metavar="USD",
        help="USD per million input tokens, for models without a listed price.",
    ),
    click.option("--price-output", metavar="USD", help="USD per million output tokens, likewise."),
    click.option("--fresh", is_flag=True, help="Ask everything again; what was asked before is archived."),
)


def asks_models(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of every command that asks a model."""
    return _MODEL_OPTIONS[0](asks_named_models(command))


def asks_named_models(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the same options but --model, to a command with options of its own that name models."""
    for option in reversed(_MODEL_OPTIONS[1:]):
        command = option(command)
    return command


def settings_of(given: dict[str, Any], checkers: tuple[str, ...] = ()) -> Settings:
    """The settings for these options, at temperature 0. Raises UserError."""
    from equipoise.core.resolution import resolve

    said = {name: value for name, value in given.items() if value is not None and name != "max_tokens"}
    if given.get("max_tokens") is not None:
        said |= {"subject_max_tokens": given["max_tokens"], "evaluator_max_tokens": given["max_tokens"]}
    checked = {"evaluator_model": list(checkers)} if checkers else {}
    # Of sessions alone: it may have options of suites.
    environment = {name: value for name, value in os.environ.items() if name != CONFIG.variable}
    variables = click.get_current_context().find_object(EnvFile) or EnvFile()
    return resolve(
        {"subject_temperature": "0", **said, **checked}, environment, {}, origins=variables.origins
    )


def warn_of_keys(settings: Settings) -> None:
    """Warn of keys that are too short to be masked everywhere."""
    from equipoise.report.header import warnings_of_keys

    for warning in warnings_of_keys(settings):
        say(f"warning: {warning}", err=True)


def spent(asked: CounterSnapshot) -> str:
    """One line on calls and tokens."""
    read, written = map(sum, zip(*asked.tokens, strict=True))
    repeated = f", {asked.repeated} repeated" if asked.repeated else ""
    line = (
        f"calls: {asked.made} made, {asked.replayed} replayed, {asked.retries} retries{repeated}; "
        f"{read:,} tokens in, {written:,} out"
    )
    if not asked.estimated:
        return line
    return f"{line}, partly estimated; calls without a readable usage: {asked.estimated:,}"


@contextmanager
def _bar(label: str, length: int) -> Iterator[Callable[[], None]]:
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield lambda: bar.update(1)


@click.command()
@click.option("--from", "source", type=_PATH, required=True, help="Questions (.txt) or templates (.csv).")
@click.option(
    "--from-language", type=NAME, default=None, help="Its language (default the file's name, en of a table)."
)
@click.option(
    "--to", "language", required=True, metavar="L", type=NAME, help="The language to translate into."
)
@click.option(
    "--verify-model", metavar="M", type=NAME, help="A second model that translates back, for the review."
)
@click.option("-o", "--output", type=_PATH, help="Default translations/LANGUAGE.txt, or .csv of a table.")
@click.option("--force", is_flag=True, help="Replace files that were edited since they were written.")
@asks_models
@click.pass_context
def translate(
    ctx: click.Context,
    /,
    source: Path,
    from_language: str | None,
    language: str,
    verify_model: str | None,
    output: Path | None,
    force: bool,
    fresh: bool,
    **given: Any,
) -> None:
    """Translate a question file line by line, check every line, and write a table for a reviewer.

    Exits with 1 if a line failed its checks: it is left empty, and the review says what is wrong. A missing
    back-translation is reported, and has no other effect.
    """
    from equipoise.datasets import translate

    spoken = from_language or ("en" if source.suffix == ".csv" else source.stem)
    target = output or Path("translations") / f"{language}{source.suffix}"
    if target.exists() and target.resolve() == source.resolve():
        raise UserError(f"--output: {target} is what is to be translated; name another file")
    settings = settings_of(given, (verify_model,) if verify_model else ())
    found = translate.units(source, spoken)
    warn_of_keys(settings)
    with click.progressbar(length=len(found), label="translating", file=sys.stderr) as bar:
        rows, asked = translate.translate(
            source,
            (spoken, language),
            target,
            settings,
            translate.prompts(rubric("translate.toml")),
            verifies=verify_model is not None,
            overwrites=force,
            is_fresh=fresh,
            on_done=lambda: bar.update(1),
            tell=tell,
        )
    failed = [row for row in rows if row.flags]
    for row in (row for row in rows if translate.told(row)):
        say(f"{source}:{row.unit.line}: {translate.told(row)}")
    review = translate.beside(target, source, "review.csv")
    say(f"{target}: {len(rows) - len(failed)} of {len(rows)} texts; review: {review}")
    say(spent(asked))
    ctx.exit(1 if failed else 0)


class _OfSuites(click.Group):
    """The commands that suites provide: to build tables, and to build questions out of documents."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_constructing())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _constructing().get(cmd_name)


def _constructing() -> dict[str, click.Command]:
    from equipoise import suites

    tables = {name: _of_tables(name, module.construct) for name, module in suites.parts("construct").items()}
    questions = {module.COMMAND: _of_documents(module) for module in suites.parts("from_documents").values()}
    return {**tables, **questions}


def _of_tables(suite: str, build: Construct) -> click.Command:
    @click.command(suite, help=build.__doc__)
    @click.option("--check", is_flag=True, help="Write nothing; fail where something would change.")
    @click.option("--folder", type=_PATH, help="The folder of its tables.")
    def command(check: bool, folder: Path | None) -> None:
        say(build(folder or topics() / suite, is_check=check))

    return command


@click.group(cls=_OfSuites)
def construct() -> None:
    """Build data: tables of names, or questions out of documents."""


def _of_documents(build: FromDocuments) -> click.Command:
    @click.command(build.COMMAND, help=build.__doc__)
    @click.option("--documents", type=_PATH, required=True, help="JSON Lines with id, text, title, subtopic.")
    @click.option("--folder", type=_PATH, required=True, help="The folder for the files of all stages.")
    @click.option(
        "--critic", metavar="M", type=NAME, help="The model that criticises and grades (default --model)."
    )
    @click.option(
        "--solver", "solvers", metavar="M", type=NAME, multiple=True, help="A model that tries; repeatable."
    )
    @click.option("--corpus", type=_PATH, help="Where answers are looked up (default the documents).")
    @click.option(
        "--retriever", metavar="M:F", help="Your own function that finds passages, module:function."
    )
    @click.option(
        "--least", default=100, show_default=True, help="Minimum length of a document, in characters."
    )
    @click.option("--most", default=20_000, show_default=True, help="Maximum length, likewise.")
    @click.option("--no-annotators", is_flag=True, help="Leave out the sheets for people.")
    @asks_models
    def command(**given: Any) -> None:
        _build_questions(build, **given)

    return command


def _build_questions(
    build: FromDocuments,
    *,
    documents: Path,
    folder: Path,
    critic: str | None,
    solvers: tuple[str, ...],
    corpus: Path | None,
    retriever: str | None,
    least: int,
    most: int,
    no_annotators: bool,
    fresh: bool,
    **given: Any,
) -> None:
    from equipoise.core.files import write_objects
    from equipoise.datasets import construct
    from equipoise.models.redact import Secrets
    from equipoise.runner.jobs import open_jobs
    from equipoise.suites.stages import Stage, StageResult, StageRow

    model = settings_of(given).model
    if model is None:
        raise UserError("--model: name the model to call, or local")
    checkers = tuple(dict.fromkeys((critic or model, *solvers)))
    rows = list(construct.read(documents, ("id", "text")))
    first, last = build.stages(
        Path.cwd(),
        least=least,
        most=most,
        corpus=corpus or documents,
        retriever=retriever,
        critic=0,
        solvers=[checkers.index(name) for name in solvers],
    )

    def annotated(found: Sequence[StageRow]) -> Sequence[StageResult]:
        shown = list(map(hidden.mask_values, found))
        try:
            ended = build.annotate(shown, folder / "annotation")
            return [replace(item, row=row) for item, row in zip(ended, found, strict=True)]
        except UserError:
            _show_funnel(folder)
            raise

    sheets = Stage(
        name="annotation",
        every=annotated,
        skipped="--no-annotators" if no_annotators else None,
    )
    settings = settings_of(given, checkers)
    hidden = Secrets(settings.secrets)
    warn_of_keys(settings)
    aside = partial(say, err=True)
    with open_jobs(settings, folder / construct.JOURNAL, is_fresh=fresh, tell=aside) as session:
        left = construct.run([*first, sheets, *last], rows, folder, session, aside, _bar)
    questions = [hidden.mask_values(build.as_question(row)) for row in left]
    write_objects(folder / construct.QUESTIONS, questions)
    _show_funnel(folder)
    say(spent(session.totals))
    say(f"{folder / construct.QUESTIONS}: {len(left)} questions")


def _show_funnel(folder: Path) -> None:
    from equipoise.datasets.construct import funnel_rows
    from equipoise.report.layout import align

    for line in align(funnel_rows(folder)):
        say(line)
