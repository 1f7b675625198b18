"""The command `equipoise`: work on journals, results and data outside of pytest."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from equipoise.cli.output import print_line, print_notice, print_wrapped, width
from equipoise.core import env_file
from equipoise.core.errors import ContradictoryResultsWarning, SessionStopped, UserError, printable, shortened
from equipoise.core.files import require_posix
from equipoise.core.quantities import first_sentence
from equipoise.runner import exit_status, transports
from equipoise.runner.signals import interruptible, stop_message

_MODULES: Mapping[str, str] = {
    "fetch": "fetch",
    "construct": "construct",
    "translate": "translate",
    "convert": "results",
    "validate": "validate",
    "schema": "validate",
    "show": "results",
    "compare": "compare",
    "gate": "compare",
    "robustness": "compare",
    "merge": "merge",
    "sweep": "sweep",
    "audit": "audit",
    "backtranslate": "backtranslate",
    "report": "page",
    "review": "review",
    "plot": "page",
    "export": "results",
    "run": "run",
    "check": "check",
    "suites": "suites",
    "init": "init",
    "docs": "docs",
    **{command: command for command in transports.TRANSPORTS.values() if command},
}
"""The module of each command. It is imported when the command is used."""

_CALLING_MODELS = ("audit", "backtranslate", "check", "construct", "sweep", "translate")
"""The commands that call models."""


class _Commands(click.Group):
    """The group of commands. It imports a command when it is used, and shows user errors as one line.

    A user error exits with 4, as in pytest, and an interruption with 2.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *_MODULES})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODULES:
            return super().get_command(ctx, cmd_name)
        command: click.Command = getattr(import_module(f"equipoise.cli.{_MODULES[cmd_name]}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            near = get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f"did you mean {near[0]!r}?" if near else "`equipoise --help` lists all"
            # Imported here: suites take a while to find, and most commands are spelt right.
            from equipoise import suites

            if name in suites.names():
                hint = f"to run the suite: equipoise run {name}"
            raise UserError(f"there is no command {name!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, first_sentence(command.help or "")) for name, command in commands.items() if command]
            )

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        with _exit_4_on_usage_error():
            return super().make_context(*arguments, **extra)

    def invoke(self, ctx: click.Context) -> object:
        try:
            with interruptible(), _exit_4_on_usage_error(), _warnings_as_lines():
                return super().invoke(ctx)
        except UserError as error:
            print_line(f"ERROR: {error}", err=True)
            ctx.exit(4)
        except SessionStopped as error:
            print_line(f"ERROR: {error}", err=True)
            ctx.exit(2)
        except KeyboardInterrupt:
            # Only outside of calls: an interrupted session of calls raises SessionStopped.
            print_notice(f"ERROR: {stop_message('interrupted')}")
            ctx.exit(2)


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print warnings about results as one line each."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", ContradictoryResultsWarning)
        usual = warnings.showwarning

        def print_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, ContradictoryResultsWarning):
                print_line(f"warning: {message}", err=True)
            else:
                usual(message, category, *where, **more)

        warnings.showwarning = print_warning
        yield


@contextmanager
def _exit_4_on_usage_error() -> Iterator[None]:
    """Print usage errors in a line, and exit with 4. Click's own status, 2, here means an interruption."""
    try:
        yield
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "equipoise"
        # Click's message repeats the user's input unescaped, and may list choices on lines of their own.
        message = " ".join(error.format_message().expandtabs().split()).rstrip(".")
        hint = f"`{command} --help` shows how"
        print_line(f"ERROR: {command}: {shortened(printable(message))}; {hint}", err=True)
        raise click.exceptions.Exit(4) from None


_EPILOG = f"""\b
Exit statuses:
{exit_status.TABLE}

`equipoise docs` lists the pages of the documentation, and shows them.
"""


_FIRST_STEPS = """\
Equipoise asks whether a language model is fair, neutral and factual on politics. To begin:

  equipoise suites                                    what can be asked
  equipoise run SUITE --model M --estimate            what a session would cost; calls nothing
  equipoise run SUITE --model M                       ask and judge; the same command resumes
  equipoise compare results/A.json results/B.json     is one better than the other?
  equipoise report results                            one HTML page of everything there

`equipoise --help` lists all commands, `equipoise run SUITE --help` all options, `equipoise docs` the pages.
"""


@click.group(cls=_Commands, epilog=_EPILOG, invoke_without_command=True)
@click.version_option(package_name="equipoise")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Equipoise: is a language model fair, neutral and factual on politics? Run the suites with pytest."""
    if ctx.invoked_subcommand is None:
        click.echo(_FIRST_STEPS, nl=False)
        ctx.exit()
    from equipoise import suites

    require_posix()
    suites.add_project(Path.cwd())
    # `run` becomes a pytest process, which reads .env itself.
    if ctx.invoked_subcommand != "run":
        ctx.obj = variables = env_file.load(Path.cwd(), os.environ)
        ctx.call_on_close(lambda: variables.unset(os.environ))
        if ctx.invoked_subcommand in _CALLING_MODELS and variables.about:
            print_line(variables.about, err=True)


@main.command()
@click.argument("journal", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The results file (default beside the journal).",
)
def recover(journal: Path, output: Path | None) -> None:
    """Rebuild the results JSON from JOURNAL, however its session ended. Makes no call."""
    from equipoise.report.terminal import summary
    from equipoise.results import recover as journal_recovery
    from equipoise.suites.resources import SHIPPED

    recovered = journal_recovery.recover(journal, output, roots=(Path.cwd(), SHIPPED))
    print_wrapped(summary(recovered.results, width=width()))
    print_wrapped(f"warning:   {warning}" for warning in recovered.warnings)
