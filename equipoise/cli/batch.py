"""`equipoise batch`: the state of batches, and calls as files of batch requests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import click

from equipoise import suites
from equipoise.cli.output import print_wrapped
from equipoise.core.errors import UserError
from equipoise.runner import exit_status

_PATH = click.Path(path_type=Path)
_RESULTS = Path("results")


@click.group()
def batch() -> None:
    """Show and manage the batches of sessions with --batch.

    PATH is a results file, its journal, or a folder of results. Keys are taken from the environment:
    OPENAI_API_KEY, EQUIPOISE_API_KEY, EQUIPOISE_EVALUATOR_API_KEY.
    """


@batch.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=_PATH)
@click.pass_context
def status(ctx: click.Context, paths: Sequence[Path]) -> None:
    """List the batches and written files whose results were not read yet. PATH defaults to results.

    Exits with 8 while any batch is running at the endpoint, or a written file has no answers, else with 0.
    The command that sent a batch fetches its results.
    """
    from equipoise.runner.batches import commands

    folders = paths or ([_RESULTS] if _RESULTS.is_dir() else [])
    files = commands.load_intents(folders)
    written = [*commands.written_lines(files)]
    statuses = commands.request(files, "get")
    print_wrapped([*commands.lines(statuses), *written] or ["no batches wait"])
    is_over = not written and all(item.is_over for item in statuses)
    ctx.exit(0 if is_over else exit_status.BATCHES_WAITING)


@batch.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=_PATH)
def cancel(paths: Sequence[Path]) -> None:
    """Cancel the batches whose results were not read yet. Finished calls are not lost.

    The command that sent a batch reads the finished calls. With --batch it sends the rest again as a batch,
    without --batch one call at a time.
    """
    from equipoise.runner.batches import commands

    statuses = commands.request(commands.load_intents(paths), "cancel")
    print_wrapped(commands.lines(statuses) if statuses else ["no batches wait"])


@batch.command()
@click.argument("path", type=_PATH)
@click.argument("intent")
@click.option("--batch", "batch_id", metavar="ID", help="The batch that the endpoint has for it.")
@click.option("--none", "is_none", is_flag=True, help="There is none, or its results are lost: send again.")
def settle(path: Path, intent: str, batch_id: str | None, is_none: bool) -> None:
    """Resolve INTENT, a batch that may or may not have been created at the endpoint.

    A session that cannot find out whether it was created stops, and prints INTENT.
    """
    from equipoise.runner.batches import commands

    if is_none == (batch_id is not None):
        raise UserError("give --batch ID, or --none if there is no batch, or none that can be read")
    settled = commands.settle(path, intent, batch_id)
    outcome = f"batch {batch_id}" if batch_id else "none: the same command sends its calls again"
    print_wrapped(
        [f"{len(settled.line.calls):,} calls of {settled.line.role} {settled.line.model}: {outcome}"]
    )


_PASS_UNKNOWN_OPTIONS = {"ignore_unknown_options": True}


@batch.command(options_metavar="", context_settings=_PASS_UNKNOWN_OPTIONS)
@click.argument("suite")
@click.argument("arguments", metavar="[PYTEST ARGUMENTS]...", nargs=-1, type=click.UNPROCESSED)
@click.option("-o", "--output", metavar="FILE", type=_PATH, required=True, help="Where to write the calls.")
@click.pass_context
def write(ctx: click.Context, suite: str, arguments: Sequence[str], output: Path) -> None:
    """Write the calls of a session's next phase to FILE instead of sending them.

    The format is that of OpenAI's batch files and `vllm run-batch`. PYTEST ARGUMENTS are those of
    `equipoise run`, as in `equipoise batch write SUITE --model M -o calls.jsonl`. If there are several
    models, each has a file of its own.
    """
    _run_with_batch(ctx, suite, (*arguments, f"--batch-write={output}"))


@batch.command(options_metavar="", context_settings=_PASS_UNKNOWN_OPTIONS)
@click.argument("answers", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("words", metavar="[ANSWERS]... SUITE [PYTEST ARGUMENTS]...", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "-o", "--output", metavar="FILE", type=_PATH, help="Where to write the calls of the next phase."
)
@click.pass_context
def read(ctx: click.Context, answers: Path, words: Sequence[str], output: Path | None) -> None:
    """Read ANSWERS, the files of answers to calls that `write` wrote. With -o, write the next phase's calls.

    PYTEST ARGUMENTS must be the same as for `write`.
    """
    files = [str(answers), *takewhile(_is_file, words)]
    if len(files) > len(words):
        raise click.UsageError("name the suite after the files of answers")
    suite, *arguments = words[len(files) - 1 :]
    read_options = [f"--batch-read={file}" for file in files]
    write_option = () if output is None else (f"--batch-write={output}",)
    _run_with_batch(ctx, suite, (*arguments, *read_options, *write_option))


def _is_file(word: str) -> bool:
    """Whether a word names a file, and not a suite."""
    return word not in suites.names() and Path(word).is_file()


def _run_with_batch(ctx: click.Context, suite: str, arguments: Sequence[str]) -> None:
    """Run the suite with these arguments, and with --batch if it is not one of them."""
    from equipoise.cli.run import run

    has_batch_option = any(word.partition("=")[0] == "--batch" for word in arguments)
    ctx.invoke(run, suite=suite, arguments=(*arguments, *(() if has_batch_option else ("--batch",))))
