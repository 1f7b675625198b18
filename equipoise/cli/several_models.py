"""`equipoise run SUITE --model A --model B`: a session for each model, then a comparison.

The same is done for a file of replies of several models, without --model.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from equipoise.cli.output import print_line
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.options import Option
from equipoise.core.session_options import GROUPS
from equipoise.results import store
from equipoise.runner import exit_status, transports

_MODEL = GROUPS["Models and endpoints"][0]
_FLAGS = (_MODEL.flag, _MODEL.alias)
_ONE_FILE = ("--output", "--report", "--junitxml", "--junit-xml", "--json-report-file")
"""Options that name one output file, which each session would overwrite."""
_INSTEAD = {"--report": ", and make a page of all: `equipoise report results/`"}
"""What to do without an option that names one file."""
_INTERRUPTED = (exit_status.STOPPED, -2, -15)


def models(arguments: Sequence[str]) -> Sequence[str]:
    """The different models that these arguments name, in order; without any, those in `--replies FILE`.

    Raises UserError if that file cannot be read.
    """
    named = dict.fromkeys(value for _, value in _values(arguments, _MODEL))
    return list(named) or _models_of_replies(arguments)


def _models_of_replies(arguments: Sequence[str]) -> Sequence[str]:
    option = next((option for option in transports.options() if option.name == "replies"), None)
    paths = {Path(value) for _, value in _values(arguments, option)} if option else set()
    if len(paths) != 1:
        return ()
    # Imported here: without the package there is no such option.
    from equipoise.runner.replies import adopting

    return adopting.models(paths.pop())


def run_each(
    ctx: click.Context,
    suites: Sequence[str],
    arguments: Sequence[str],
    command: Callable[[Sequence[str]], Sequence[str]],
) -> None:
    """Run a session for each model, and compare the first with the others. Exits with the worst status.

    `command` returns the command of a session with these arguments. An interrupted session ends them all.
    """
    flags = [word.partition("=")[0] for word in arguments]
    if one_file := next((flag for flag in flags if flag in _ONE_FILE), None):
        advice = f"leave it out{_INSTEAD.get(one_file, '')}"
        raise UserError(f"{one_file}: names one file, but there are several models; {advice}")
    names, places = models(arguments), _places(arguments)
    rest = [word for index, word in enumerate(arguments) if index not in places]
    statuses = []
    for model in names:
        print_line(f"== {model}")
        session = command([*rest, _MODEL.flag, model])
        statuses.append(subprocess.run(session, check=False).returncode)  # noqa: S603 - our own command
        if statuses[-1] in _INTERRUPTED:
            ctx.exit(exit_status.STOPPED)
    statuses += [_compare(suite, names) for suite in suites]
    ctx.exit(exit_status.combine(statuses))


def _compare(suite: str, names: Sequence[str]) -> int:
    """Print the comparison of the models' results on a suite, and return its exit status."""
    from equipoise.cli import main

    paths = [store.files(Path("results"), None, name, suite, None).results for name in names]
    if missing := [path for path in paths if not path.is_file()]:
        print_line(f"{suite}: not compared: {', '.join(map(shown, missing))} is missing", err=True)
        return 0
    print_line(f"== {suite}: {' and '.join(names)}")
    try:
        main.main(["compare", *map(str, paths)], standalone_mode=False)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


def _values(arguments: Sequence[str], option: Option) -> Iterator[tuple[int, str]]:
    """The values of an option in the arguments, each with the index of its word."""
    for index, word in enumerate(arguments):
        flag, equals, value = word.partition("=")
        if flag not in (option.flag, option.alias):
            continue
        if equals:
            yield index, value
        elif index + 1 < len(arguments):
            yield index + 1, arguments[index + 1]


def _places(arguments: Sequence[str]) -> set[int]:
    """The indices of the words that name models."""
    places = {index for index, _ in _values(arguments, _MODEL)}
    return places | {index - 1 for index in places if arguments[index - 1] in _FLAGS}
