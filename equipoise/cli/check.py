"""`equipoise check`: what the models' endpoints support, and what a session would cost."""

from __future__ import annotations

import configparser
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from equipoise.cli.model_options import announced_env_file
from equipoise.cli.output import print_line, print_notice, print_wrapped
from equipoise.core.errors import UserError
from equipoise.core.session_options import GROUPS, OPTIONS
from equipoise.runner import exit_status

if TYPE_CHECKING:
    from equipoise.core.settings import Settings
    from equipoise.report.check import CheckedModel

_OPTIONS_OF_OTHER_GROUPS = (
    "runs",
    "limit",
    "language",
    "asker",
    "asker_form",
    "asker_share",
    "max_retries",
    "request_timeout",
    "price_input",
    "price_output",
    "config",
)
_SESSION_OPTIONS = (
    *GROUPS["Models and endpoints"],
    *GROUPS["Generation"],
    *(option for option in OPTIONS if option.name in _OPTIONS_OF_OTHER_GROUPS),
)
"""The options of a session that affect the calls of this command or the estimate of costs."""


def _add_session_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_SESSION_OPTIONS):
        flags = [option.flag, option.alias] if option.alias else [option.flag]
        add_option = click.option(
            *flags, option.name, metavar=option.metavar, multiple=option.many, help=option.help, default=None
        )
        command = add_option(command)
    return command


@click.command()
@click.argument("names", metavar="[SUITE]...", nargs=-1)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
@_add_session_options
@click.pass_context
def check(ctx: click.Context, /, names: tuple[str, ...], is_json: bool, **options: Any) -> None:
    """Ask the model and its evaluators a few short questions, and report what their endpoints support.

    Also report what that means for each SUITE (default all), with estimates of a session's cost and time.
    Options are read from the same sources as a session's, but the only ini file is ./pytest.ini. Exits with 0
    if every model answers, 1 if one does not, 4 for a usage error, such as a wrong URL, key or model.
    """
    from equipoise.audit.session import SessionAudits
    from equipoise.core import json_io
    from equipoise.report import check as report
    from equipoise.runner.check import announcement, probe_models, targets_of
    from equipoise.runner.check_suites import checked_suites

    settings, suite_names = _settings(names, options)
    targets = targets_of(settings)
    # With --json a program reads standard output.
    print_announcement = print_notice if is_json else print_line
    print_announcement(announcement(settings, targets))
    models = probe_models(settings, targets)
    root = Path.cwd()
    suites, total = checked_suites(settings, root, suite_names, models, SessionAudits(root))
    if is_json:
        data = {
            "models": [item.to_json() for item in models],
            "suites": [item.to_json() for item in suites],
            "total": total.to_json(),
        }
        click.echo(json_io.dumps(data, indent=True), nl=False)
    else:
        print_wrapped(["", *report.lines(models, suites, total)])
    ctx.exit(exit_status.combine(map(_status, models)))


def _status(model: CheckedModel) -> int:
    if model.support.error is None:
        return 0
    return exit_status.USAGE if model.support.is_mistake else exit_status.NO_SCORE


def _settings(names: tuple[str, ...], options: Mapping[str, Any]) -> tuple[Settings, tuple[str, ...]]:
    """The settings of a session of these suites (default all), and their names. Raises UserError."""
    from equipoise import suites
    from equipoise.runner.settings import settings_of

    for name in names:
        suites.require(name)
    suite_names = names or suites.names()
    command_line = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if value not in (None, ())
    }
    origins = announced_env_file().origins
    settings = settings_of(command_line, os.environ, _ini_values(), suite_names, origins)
    if settings.model is None:
        raise UserError("which model? Name it with --model, as in: equipoise check --model gpt-x")
    return settings, suite_names


def _ini_values() -> dict[str, str]:
    """The values of session options in ./pytest.ini, by name; empty if there is none. Raises UserError.

    A session also reads the other ini files that pytest accepts, such as pyproject.toml and tox.ini.
    """
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read("pytest.ini", encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError) as error:
        raise UserError(f"pytest.ini: cannot be read ({str(error).splitlines()[0]})") from None
    section = parser["pytest"] if parser.has_section("pytest") else {}
    return {option.name: section[option.ini_key] for option in OPTIONS if section.get(option.ini_key)}
