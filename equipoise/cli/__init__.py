"""The command `equipoise`: work on journals, results and data outside of pytest."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from equipoise.cli.output import print_line, print_notice
from equipoise.core import env_file
from equipoise.core.errors import ContradictoryResultsWarning, SessionStopped, UserError, printable, shortened
from equipoise.core.files import require_posix
from equipoise.core.quantities import first_sentence
from equipoise.runner import exit_status, transports
from equipoise.runner.signals import interruptible, stop_message

_SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Ask and judge": {
        "run": "run",
        "check": "check",
        **{command: command for command in transports.TRANSPORTS.values() if command},
    },
    "Look": {"show": "results", "report": "page", "export": "results"},
    "Compare and gate": {"compare": "compare", "gate": "compare"},
    "Judge the judge": {"judge": "", "review": "review"},
    "Many models and machines": {"sweep": "sweep", "merge": "merge"},
    "Suites, data, projects": {"suites": "suites", "data": "", "init": "init", "docs": "docs"},
}
"""The module of each command, by section of the help; empty for a group of commands."""

_RENAMED = {
    "audit": "judge audit",
    "backtranslate": "judge languages",
    "construct": "data construct",
    "convert": "export OLD --to published -o NEW",
    "fetch": "data fetch",
    "plot": "report RESULTS --figures FOLDER",
    "recover": "show JOURNAL",
    "robustness": "compare RESULTS --panels",
    "schema": "export --to schema",
    "translate": "data translate",
    "validate": "data validate",
}
"""The replacements of commands that are gone, by the name that a user may still type."""


class _Commands(click.Group):
    """A group of commands in sections, each of which is imported when it is used."""

    def __init__(
        self, *arguments: Any, sections: Mapping[str, Mapping[str, str]] | None = None, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self._sections = sections or {}
        self._modules = {name: module for part in self._sections.values() for name, module in part.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(dict.fromkeys([*self._modules, *self.commands]))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if module := self._modules.get(cmd_name):
            command: click.Command = getattr(import_module(f"equipoise.cli.{module}"), cmd_name)
            return command
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            raise UserError(f"there is no command {name!r}; {self._hint(ctx, name)}")
        return super().resolve_command(ctx, args)

    @property
    def _path(self) -> str:
        """What to type for this group."""
        return f"equipoise {self.name}"

    def _hint(self, ctx: click.Context, name: str) -> str:
        near = get_close_matches(name, self.list_commands(ctx), n=1)
        return f"did you mean {near[0]!r}?" if near else f"`{self._path} --help` lists all"

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in self._sections.items():
            commands = {name: self.get_command(ctx, name) for name in names}
            rows = [(name, first_sentence(item.help or "")) for name, item in commands.items() if item]
            with formatter.section(title):
                formatter.write_dl(rows, col_max=_MAX_NAME_WIDTH, col_spacing=_spacing(rows))


_MAX_NAME_WIDTH = 12


def _spacing(rows: Sequence[tuple[str, str]]) -> int:
    """The blanks after the longest name, so that the texts of all sections begin in the same column."""
    return _MAX_NAME_WIDTH - max(len(name) for name, _ in rows)


class _Main(_Commands):
    """The group of all commands. It shows user errors as one line.

    A user error exits with 4, as in pytest, and an interruption with 2.
    """

    @property
    def _path(self) -> str:
        return "equipoise"

    def _hint(self, ctx: click.Context, name: str) -> str:
        if name in _RENAMED:
            return f"it is now: equipoise {_RENAMED[name]}"
        # Imported here: suites take a while to find, and most commands are spelt right.
        from equipoise import suites

        if name in suites.names():
            return f"to run the suite: equipoise run {name}"
        return super()._hint(ctx, name)

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
            # Not while calls are made: an interrupted session of calls raises SessionStopped.
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


@click.group(cls=_Main, sections=_SECTIONS, epilog=_EPILOG, invoke_without_command=True)
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


main.add_command(
    _Commands(
        "judge",
        sections={"Commands": {"audit": "audit", "languages": "languages"}},
        help="Try evaluators: on texts with known scores, and on the same reply in other languages.",
    )
)
main.add_command(
    _Commands(
        "data",
        sections={
            "Commands": {
                "validate": "validate",
                "fetch": "fetch",
                "translate": "translate",
                "construct": "construct",
            }
        },
        help="Check data and results, and fetch, translate or construct data.",
    )
)
