"""Output of commands: escaped lines, wrapped and coloured as the session prints them in pytest."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

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


@contextmanager
def may_be_cut() -> Iterator[None]:
    """Keep the exit status of the command if the reader of its output, such as `head`, stops early."""
    try:
        yield
    except BrokenPipeError:
        # Python would fail once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_line(line: str, *, err: bool = False) -> None:
    """Print one line, escaped but not wrapped."""
    click.echo(printable(line), err=err)


def print_notice(message: str) -> None:
    """Print one line to standard error, after a line break: a progress bar may be open there."""
    click.echo(err=True)
    print_line(message, err=True)
