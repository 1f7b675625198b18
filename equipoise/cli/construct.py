"""`equipoise construct`: commands of suites that build tables of names, or questions from documents."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from equipoise.cli.model_options import call_settings, model_and_call_options, usage_line, warn_of_keys
from equipoise.cli.output import print_line
from equipoise.cli.parameters import NAME
from equipoise.core.errors import UserError
from equipoise.suites.resources import nearest

if TYPE_CHECKING:
    from equipoise.suites.construct_contract import Construct, FromDocuments

_PATH = click.Path(path_type=Path)


class _SuiteCommands(click.Group):
    """The group of commands that suites provide."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_suite_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _suite_commands().get(cmd_name)


def _suite_commands() -> dict[str, click.Command]:
    from equipoise import suites

    tables = {
        name: _table_command(name, module.construct) for name, module in suites.modules("construct").items()
    }
    questions = {
        module.COMMAND: _question_command(module) for module in suites.modules("from_documents").values()
    }
    return {**tables, **questions}


def _table_command(suite: str, build: Construct) -> click.Command:
    @click.command(suite, help=build.__doc__)
    @click.option("--check", is_flag=True, help="Write nothing; fail if a file would change.")
    @click.option("--folder", type=_PATH, help="The folder of its tables.")
    def command(check: bool, folder: Path | None) -> None:
        print_line(build(folder or nearest("topics", Path.cwd()) / suite, is_check=check))

    return command


@click.group(cls=_SuiteCommands)
def construct() -> None:
    """Build data: tables of names, or questions from documents."""


def _question_command(build: FromDocuments) -> click.Command:
    @click.command(build.COMMAND, help=build.__doc__)
    @click.option("--documents", type=_PATH, required=True, help="JSON Lines with id, text, title, subtopic.")
    @click.option("--folder", type=_PATH, required=True, help="The folder for the files of all stages.")
    @click.option(
        "--critic", metavar="M", type=NAME, help="The model that criticises and grades (default --model)."
    )
    @click.option(
        "--solver",
        "solvers",
        metavar="M",
        type=NAME,
        multiple=True,
        help="A model that tries to answer; repeatable.",
    )
    @click.option(
        "--corpus", type=_PATH, help="Texts in which answers are looked up (default the documents)."
    )
    @click.option(
        "--retriever", metavar="M:F", help="Your own function that finds passages, module:function."
    )
    @click.option(
        "--least", default=100, show_default=True, help="Minimum length of a document, in characters."
    )
    @click.option("--most", default=20_000, show_default=True, help="Maximum length, in characters.")
    @click.option("--no-annotators", is_flag=True, help="Leave out the sheets for people.")
    @model_and_call_options
    def command(**options: Any) -> None:
        _build_questions(build, **options)

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
    **options: Any,
) -> None:
    from equipoise.core.files import write_objects
    from equipoise.datasets import construct
    from equipoise.models.redact import Secrets
    from equipoise.runner.jobs import open_jobs
    from equipoise.suites.construct_contract import Draft, Stage, StageResult

    model = call_settings(options).model
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

    def annotated(candidates: Sequence[Draft]) -> Sequence[StageResult]:
        shown = list(map(hidden.mask_values, candidates))
        try:
            ended = build.annotate(shown, folder / "annotation")
            return [replace(item, row=row) for item, row in zip(ended, candidates, strict=True)]
        except UserError:
            # Sheets are still to be filled in, or are wrong.
            _show_funnel(folder)
            raise

    sheets = Stage(
        name="annotation",
        all_rows=annotated,
        skipped="--no-annotators" if no_annotators else None,
    )
    settings = call_settings(options, checkers)
    hidden = Secrets(settings.secrets)
    warn_of_keys(settings)
    to_stderr = partial(print_line, err=True)
    with open_jobs(settings, folder / construct.JOURNAL, is_fresh=fresh, tell=to_stderr) as session:
        remaining = construct.run([*first, sheets, *last], rows, folder, session, to_stderr, _bar)
    questions = [hidden.mask_values(build.as_question(row)) for row in remaining]
    write_objects(folder / construct.QUESTIONS, questions)
    _show_funnel(folder)
    print_line(usage_line(session.totals))
    print_line(f"{folder / construct.QUESTIONS}: {len(remaining)} questions")


def _show_funnel(folder: Path) -> None:
    from equipoise.datasets.construct import funnel_rows
    from equipoise.report.layout import align

    for line in align(funnel_rows(folder)):
        print_line(line)


@contextmanager
def _bar(label: str, length: int) -> Iterator[Callable[[], None]]:
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield lambda: bar.update(1)
