"""Shared parts of the commands that call models: options, settings, and the line on calls and tokens."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from equipoise.cli.output import print_line
from equipoise.cli.parameters import NAME
from equipoise.core.env_file import EnvFile
from equipoise.core.session_options import CONFIG

if TYPE_CHECKING:
    from equipoise.core.settings import Settings
    from equipoise.models.counters import CounterSnapshot

_MODEL_OPTION = click.option(
    "--model", metavar="M", type=NAME, help="The model to ask; local is the built-in one."
)
_CALL_OPTIONS = (
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
    click.option("--price-output", metavar="USD", help="USD per million output tokens, for the same models."),
    click.option("--fresh", is_flag=True, help="Make all calls again; earlier calls are archived."),
)
evaluators_option = click.option(
    "--evaluator-model",
    "evaluators",
    metavar="M",
    type=NAME,
    multiple=True,
    required=True,
    help="May be repeated.",
)
"""The option `--evaluator-model` of commands that only judge."""


def model_and_call_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --model and the options of calls to a command."""
    return _MODEL_OPTION(call_options(command))


def call_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of calls to a command that has its own options for the names of models."""
    for option in reversed(_CALL_OPTIONS):
        command = option(command)
    return command


def call_settings(options: dict[str, Any], evaluators: tuple[str, ...] = ()) -> Settings:
    """The settings for calls with these options, with temperature 0 by default. Raises UserError."""
    from equipoise.core.resolution import resolve

    values = {name: value for name, value in options.items() if value is not None}
    if (max_tokens := values.pop("max_tokens", None)) is not None:
        values |= {"subject_max_tokens": max_tokens, "evaluator_max_tokens": max_tokens}
    models = {"evaluator_model": list(evaluators)} if evaluators else {}
    # Only sessions read the file of --config, which may have options of suites.
    environment = {name: value for name, value in os.environ.items() if name != CONFIG.variable}
    origins = announced_env_file().origins
    return resolve({"subject_temperature": "0", **values, **models}, environment, {}, origins=origins)


def announced_env_file() -> EnvFile:
    """The file `.env` that was read, after a line that says so. For commands that call models."""
    variables = click.get_current_context().find_object(EnvFile) or EnvFile()
    if variables.about:
        print_line(variables.about, err=True)
    return variables


def warn_of_keys(settings: Settings) -> None:
    """Print a warning for each key that is too short to be masked everywhere."""
    from equipoise.report.header import key_warnings

    for warning in key_warnings(settings):
        print_line(f"warning: {warning}", err=True)


def usage_line(counters: CounterSnapshot) -> str:
    """One line with the numbers of calls and tokens."""
    input_tokens, output_tokens = map(sum, zip(*counters.tokens, strict=True))
    repeated = f", {counters.repeated} repeated" if counters.repeated else ""
    line = (
        f"calls: {counters.made} made, {counters.replayed} replayed, {counters.retries} retries{repeated}; "
        f"{input_tokens:,} tokens in, {output_tokens:,} out"
    )
    if not counters.estimated:
        return line
    return f"{line}, partly estimated; calls without a readable usage: {counters.estimated:,}"
