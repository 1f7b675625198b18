"""The help of `equipoise run SUITE`: the options of the session and its suites, in groups, then pytest's.

`pytest --help`, in contrast, shows the options of all suites, after all of pytest's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from equipoise import suites
from equipoise.cli.output import width
from equipoise.core.options import Option
from equipoise.runner import exit_status, transports
from equipoise.suites import AnySuite

PYTEST_OPTIONS = {
    "-n N": "share the tests among N worker processes",
    "-k EXPRESSION": "only tests whose names match: AREA, or 'AREA and LANGUAGE'",
    "--collect-only -q": "list the tests, and call nothing",
    "-x, --maxfail N": "stop after the first run without a score, or after N",
    "--lf, --ff": "only the runs that had none last time, or these first",
    "-v, -q": "a line for each run; only the table at the end",
    "--junitxml FILE": "a report for CI systems",
    "-o KEY=VALUE": "replace a setting of pytest.ini",
    "--durations N": "name the N slowest runs",
}
"""The most useful options of pytest and xdist, with their help."""
_MAX_FLAG_WIDTH = 30
"""Maximum width of the flags, in columns of the terminal."""


def session_help(name: str, selected: Sequence[str]) -> str:
    """The help of `equipoise run NAME`, which runs the `selected` suites. Raises UserError."""
    help_text = click.HelpFormatter(width=width(), max_width=width())
    help_text.write_usage("equipoise run", f"{name} [OPTIONS]")
    chosen = [suites.load(suite) for suite in selected]
    with help_text.indentation():
        help_text.write_paragraph()
        for suite in chosen:
            help_text.write_text(f"{suite.name}: {_description(suite)}")
    for title, rows in _groups(chosen):
        with help_text.section(title):
            help_text.write_dl(rows, col_max=_MAX_FLAG_WIDTH)
    with help_text.section("Exit statuses"):
        help_text.write_dl([(str(status), meaning) for status, meaning in exit_status.MEANINGS.items()])
    return help_text.getvalue()


def _description(suite: AnySuite) -> str:
    """The suite's title, its number of runs, and its datasets."""
    datasets = f"; datasets {', '.join(suite.dataset_names)}" if suite.dataset_names else ""
    return f"{suite.about.title or suite.name}, runs {suite.defaults.get('runs', 1)}{datasets}"


def _groups(chosen: Sequence[AnySuite]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The title of each group of options, with its rows (option, help)."""
    defaults = chosen[0].defaults if len(chosen) == 1 else {}
    suites_of = {
        option: [suite.name for suite in chosen if option in suite.options] for option in suites.options()
    }
    suite_rows = [
        _option_row(option, defaults, names if len(names) < len(chosen) else ())
        for option, names in suites_of.items()
        if names
    ]
    if suite_rows:
        yield "Options of the suite", suite_rows
    for title, options in transports.groups().items():
        yield title, [_option_row(option, defaults) for option in options]
    yield "Of pytest (`pytest --help` has the rest)", [*PYTEST_OPTIONS.items()]


def _option_row(option: Option, defaults: Mapping[str, Any], names: Sequence[str] = ()) -> tuple[str, str]:
    """The row of an option. `names` are the suites that have it, empty if all suites do."""
    about = option.full_help
    default = defaults.get(option.name)
    if default is not None:
        value = ", ".join(default) if isinstance(default, tuple) else default
        about = f"{about}; here {value}"
    return option.usage, f"{', '.join(names)}: {about}" if names else about
