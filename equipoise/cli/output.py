"""Output of commands: escaped lines that fit the terminal, in the same colours as in pytest."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

import click

from equipoise.core.errors import printable


def width() -> int:
    """The width of the terminal in columns."""
    return shutil.get_terminal_size().columns


def show(lines: Iterable[str]) -> None:
    """Print the lines, wrapped to the width of the terminal, and coloured if it is one."""
    from equipoise.report.layout import style_lines

    for line, markup in style_lines(lines, width()):
        colour = next((name for name in ("red", "yellow", "green") if markup.get(name)), None)
        click.secho(line, fg=colour, bold=markup.get("bold"))


def say(line: str, *, err: bool = False) -> None:
    """Print one line, escaped."""
    click.echo(printable(line), err=err)


def tell(message: str) -> None:
    """Print one line to standard error, after a line break: a progress bar may be open there."""
    click.echo(err=True)
    say(message, err=True)
