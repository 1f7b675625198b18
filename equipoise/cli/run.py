"""`equipoise run`: runs suites with pytest, from any folder.

A project's own tests, topics and rubrics take precedence over those of the package.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from equipoise import suites
from equipoise.cli import completion, help, several_models
from equipoise.cli.completion import ALL, SessionCommand
from equipoise.core.errors import UserError
from equipoise.suites.resources import SHIPPED

_HELP = ("--help", "-h")


@click.command(
    cls=SessionCommand,
    options_metavar="",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
)
@click.argument("suite", shell_complete=completion.complete_suites)
@click.argument(
    "arguments",
    metavar="[PYTEST ARGUMENTS]...",
    nargs=-1,
    type=click.UNPROCESSED,
    shell_complete=completion.complete_value,
)
@click.pass_context
def run(ctx: click.Context, suite: str, arguments: Sequence[str]) -> None:
    """Run SUITE, or all, with pytest: `equipoise run SUITE --model gpt-x -n 8 -k hong_kong`.

    Several suites, separated by commas, form one session. Several models, each with --model, are asked one
    after the other, and compared at the end. The other arguments are passed to pytest.
    `equipoise run SUITE --help` shows all options.
    """
    if suite in _HELP:
        click.echo(
            f"{ctx.get_help()}\n\nSuites, which `equipoise suites` describes: {', '.join(suites.names())}"
        )
        return
    if suite.startswith("-"):
        # Without its value, which may be an API key.
        flag, known = suite.partition("=")[0], ", ".join([*suites.names(), ALL])
        raise UserError(
            f"{flag}: which suite? Name it first: equipoise run SUITE {flag} ...; there are {known}"
        )
    suites.require_consistent_names(Path.cwd())
    names = list(suites.names()) if suite == ALL else suite.split(",")
    for name in names:
        suites.require(name, ALL)
    _refuse_many(suite, names, arguments)
    if not {*_HELP}.isdisjoint(arguments):
        click.echo(help.session_help(suite, names), nl=False)
        return
    _refuse_other_names(arguments)
    if len(several_models.models(arguments)) > 1:
        several_models.run_each(ctx, names, arguments, lambda words: _command(suite, names, words))
    command = _command(suite, names, arguments)
    # pytest replaces this process, and so gets the signals and sets the exit status itself.
    os.execv(command[0], command)  # noqa: S606


def _command(suite: str, names: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """The command of pytest that runs these suites, which the user named as `suite`. Raises UserError."""
    tests = [suites.TESTS] if suite == ALL else [f"{suites.TESTS}/test_{name}.py" for name in names]
    # Messages repeat this command, which pytest does not know.
    typed_command = ("-o", f"equipoise_command=equipoise run {suite}")
    return [sys.executable, "-m", "pytest", *_test_arguments(tests), *typed_command, *arguments]


def _refuse_many(suite: str, names: Sequence[str], arguments: Sequence[str]) -> None:
    """Raise UserError for `all` among other suites, and for a suite that follows a space, not a comma."""
    if ALL in names:
        raise UserError(f"{suite}: {ALL} has every suite; name it alone")
    following = arguments[0] if arguments else ""
    if following in suites.names():
        raise UserError(f"{following}: several suites are separated by commas: {suite},{following}")


def _refuse_other_names(arguments: Sequence[str]) -> None:
    """Raise UserError for short options of other commands that pytest reads in another way, or not at all."""
    for flag, value in zip(arguments, (*arguments[1:], ""), strict=False):
        if flag == "-o" and "=" not in value:
            raise UserError(
                f"-o {value}: is pytest's option for settings, as -o KEY=VALUE; use --output {value}"
            )
        if flag == "-j":
            raise UserError(f"-j: there is no such option; calls in flight are --concurrency {value or 'N'}")


def _test_arguments(tests: Sequence[str]) -> list[str]:
    """The pytest arguments that select these tests, in the project or else in the package.

    Raises UserError if only some of them are in the project.
    """
    missing = [name for name in tests if not Path(name).exists()]
    if not missing:
        return [*tests]
    if len(missing) < len(tests):
        # pytest has one root folder: either the project or the package.
        raise UserError(f"{missing[0]}: not in this project, unlike others; run it by itself")
    ini = next((path for path in (Path("pytest.ini"), SHIPPED / "pytest.ini") if path.is_file()), None)
    project = Path.cwd()
    return [
        *(str(SHIPPED / name) for name in tests),
        f"--rootdir={SHIPPED}",
        *("-c", str(ini)),
        *("-p", "equipoise.plugin"),
        *("-o", f"equipoise_project={project}"),
        *("-o", f"cache_dir={project / '.pytest_cache'}"),
    ]
