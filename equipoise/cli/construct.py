"""`equipoise data construct`: commands of suites that build their tables, or questions from documents."""

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

    table_commands = {
        name: _table_command(name, module.construct) for name, module in suites.modules("construct").items()
    }
    question_commands = {
        module.COMMAND: _question_command(module) for module in suites.modules("from_documents").values()
    }
    return {**table_commands, **question_commands}


def _table_command(suite: str, build_tables: Construct) -> click.Command:
    @click.command(suite, help=build_tables.__doc__)
    @click.option("--check", is_flag=True, help="Write nothing; fail if a file would change.")
    @click.option("--folder", type=_PATH, help="The folder of its tables.")
    def command(check: bool, folder: Path | None) -> None:
        print_line(build_tables(folder or nearest("topics", Path.cwd()) / suite, is_check=check))

    return command


@click.group(cls=_SuiteCommands)
def construct() -> None:
    """Build a suite's tables, or questions from documents."""


def _question_command(builder: FromDocuments) -> click.Command:
    @click.command(builder.COMMAND, help=builder.__doc__)
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
        "--least",
        "min_length",
        default=100,
        show_default=True,
        help="Minimum length of a document, in characters.",
    )
    @click.option(
        "--most", "max_length", default=20_000, show_default=True, help="Maximum length, in characters."
    )
    @click.option("--no-annotators", is_flag=True, help="Leave out the sheets for people.")
    @model_and_call_options
    def command(**options: Any) -> None:
        _build_questions(builder, **options)

    return command


def _build_questions(
    builder: FromDocuments,
    *,
    documents: Path,
    folder: Path,
    critic: str | None,
    solvers: tuple[str, ...],
    corpus: Path | None,
    retriever: str | None,
    min_length: int,
    max_length: int,
    no_annotators: bool,
    fresh: bool,
    **options: Any,
) -> None:
    from equipoise.core.files import write_objects
    from equipoise.datasets.construct import JOURNAL, QUESTIONS, read_documents, run_stages
    from equipoise.models.redact import Secrets
    from equipoise.runner.jobs import open_jobs
    from equipoise.suites.construct_contract import Draft, Stage, StageResult

    # The critic defaults to the model, which is known once options are resolved.
    model = call_settings(options).model
    if model is None:
        raise UserError("--model: name the model to call, or local")
    # The critic, and then the solvers: stages get their indices.
    evaluators = tuple(dict.fromkeys((critic or model, *solvers)))
    rows = list(read_documents(documents, ("id", "text")))
    before_annotation, after_annotation = builder.stages(
        Path.cwd(),
        min_length=min_length,
        max_length=max_length,
        corpus=corpus or documents,
        retriever=retriever,
        critic_index=0,
        solver_indices=[evaluators.index(name) for name in solvers],
    )
    settings = call_settings(options, evaluators)
    secrets = Secrets(settings.secrets)
    warn_of_keys(settings)

    def annotate(candidates: Sequence[Draft]) -> Sequence[StageResult]:
        masked = list(map(secrets.mask_values, candidates))
        try:
            results = builder.annotate(masked, folder / "annotation")
        except UserError:
            # Sheets are still to be filled in, or are wrong.
            _print_funnel(folder)
            raise
        # The next stage gets the unmasked rows; annotation only decides.
        return [replace(result, row=row) for result, row in zip(results, candidates, strict=True)]

    skipped = "--no-annotators" if no_annotators else None
    annotation = Stage(name="annotation", all_rows=annotate, skipped=skipped)
    to_stderr = partial(print_line, err=True)
    with open_jobs(settings, folder / JOURNAL, is_fresh=fresh, tell=to_stderr) as session:
        stages = [*before_annotation, annotation, *after_annotation]
        remaining = run_stages(stages, rows, folder, session, to_stderr, _progress_bar)
    questions = [secrets.mask_values(builder.as_question(row)) for row in remaining]
    write_objects(folder / QUESTIONS, questions)
    _print_funnel(folder)
    print_line(usage_line(session.totals))
    print_line(f"{folder / QUESTIONS}: {len(remaining)} questions")


def _print_funnel(folder: Path) -> None:
    from equipoise.datasets.construct import funnel_rows
    from equipoise.report.layout import align

    for line in align(funnel_rows(folder)):
        print_line(line)


@contextmanager
def _progress_bar(label: str, length: int) -> Iterator[Callable[[], None]]:
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield lambda: bar.update(1)
