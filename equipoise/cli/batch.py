"""`equipoise batch`: the batches of sessions, and the same calls as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from equipoise.cli.output import show
from equipoise.core.errors import UserError
from equipoise.runner import exit_status

_PATH = click.Path(path_type=Path)
_DEFAULT = Path("results")


@click.group()
def batch() -> None:
    """The batches of sessions with --batch: their state, and what to do about them.

    PATH names results, their journal, or a folder of results. Keys are those of the environment:
    OPENAI_API_KEY, EQUIPOISE_API_KEY, EQUIPOISE_EVALUATOR_API_KEY.
    """


@batch.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=_PATH)
@click.pass_context
def status(ctx: click.Context, paths: Sequence[Path]) -> None:
    """Show every batch that waits: exit status 8 while one is not over, otherwise 0.

    The command that sent them fetches what is over. By default those below results.
    """
    from equipoise.runner import ask_batches

    folders = paths or ([_DEFAULT] if _DEFAULT.is_dir() else [])
    statuses = ask_batches.ask(ask_batches.find(folders), "get")
    show(ask_batches.lines(statuses) if statuses else ["no batches wait"])
    ctx.exit(0 if all(item.is_over for item in statuses) else exit_status.BATCHES_WAITING)


@batch.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=_PATH)
def cancel(paths: Sequence[Path]) -> None:
    """Cancel every batch that waits. Nothing that is finished is lost.

    The command that sent them reads what was finished; with --batch it sends the rest again, without it makes
    the other calls one by one.
    """
    from equipoise.runner import ask_batches

    statuses = ask_batches.ask(ask_batches.find(paths), "cancel")
    show(ask_batches.lines(statuses) if statuses else ["no batches wait"])


@batch.command()
@click.argument("path", type=_PATH)
@click.argument("intent")
@click.option("--batch", "name", metavar="ID", help="The batch that the endpoint has for it.")
@click.option("--none", "is_none", is_flag=True, help="There is none, or its results are lost: send again.")
def settle(path: Path, intent: str, name: str | None, is_none: bool) -> None:
    """Say what became of INTENT where the endpoint does not: a session names it when it stops and asks."""
    from equipoise.runner import ask_batches

    if is_none == (name is not None):
        raise UserError("give --batch ID, or --none if there is no batch, or none that can be read")
    settled = ask_batches.settle(path, intent, name)
    what = f"batch {name}" if name else "none: the same command sends its calls again"
    show([f"{len(settled.line.calls):,} calls of {settled.line.role} {settled.line.model}: {what}"])


_PYTEST = {"ignore_unknown_options": True}


@batch.command(options_metavar="", context_settings=_PYTEST)
@click.argument("suite")
@click.argument("arguments", metavar="[PYTEST ARGUMENTS]...", nargs=-1, type=click.UNPROCESSED)
@click.option("-o", "--output", metavar="FILE", type=_PATH, required=True, help="Where to write the calls.")
@click.pass_context
def write(ctx: click.Context, suite: str, arguments: Sequence[str], output: Path) -> None:
    """Write the calls of a session's next phase to FILE instead of sending them.

    The lines are those of OpenAI's batches and of `vllm run-batch`. PYTEST ARGUMENTS are a session's:
    `equipoise batch write SUITE --model M -o calls.jsonl`. With several models each has a file.
    """
    _run(ctx, suite, (*arguments, f"--batch-write={output}"))


@batch.command(options_metavar="", context_settings=_PYTEST)
@click.argument("answers", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("suite")
@click.argument("arguments", metavar="[PYTEST ARGUMENTS]...", nargs=-1, type=click.UNPROCESSED)
@click.option("-o", "--output", metavar="FILE", type=_PATH, help="Where to write the calls that come next.")
@click.pass_context
def read(
    ctx: click.Context, answers: Path, suite: str, arguments: Sequence[str], output: Path | None
) -> None:
    """Read the ANSWERS to calls that `write` wrote, and write the calls of the next phase with -o.

    Give the same PYTEST ARGUMENTS. --batch-read=FILE names further files of answers.
    """
    more = () if output is None else (f"--batch-write={output}",)
    _run(ctx, suite, (*arguments, f"--batch-read={answers}", *more))


def _run(ctx: click.Context, suite: str, arguments: Sequence[str]) -> None:
    from equipoise.cli.run import run

    has_roles = any(word.partition("=")[0] == "--batch" for word in arguments)
    ctx.invoke(run, suite=suite, arguments=(*arguments, *(() if has_roles else ("--batch",))))
