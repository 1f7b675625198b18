"""Output of commands: escaped lines, wrapped and coloured as the session prints them in pytest."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

import click

from equipoise.core.errors import printable


def width() -> int:
    """The width of the terminal in columns."""
    return shutil.get_terminal_size().columns


def print_wrapped(lines: Iterable[str]) -> None:
    """Print the lines to standard output: escaped, wrapped, and coloured if it is a terminal."""
    from equipoise.report.layout import style_lines

    for line, markup in style_lines(lines, width()):
        colour = next((name for name in ("red", "yellow", "green") if markup.get(name)), None)
        click.secho(line, fg=colour, bold=markup.get("bold"))


def print_line(line: str, *, err: bool = False) -> None:
    """Print one line, escaped but not wrapped."""
    click.echo(printable(line), err=err)


def print_notice(message: str) -> None:
    """Print one line to standard error, after a line break: a progress bar may be open there."""
    click.echo(err=True)
    print_line(message, err=True)
