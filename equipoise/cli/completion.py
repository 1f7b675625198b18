"""Shell completion for `equipoise run`: suites, their options, and values of options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from equipoise import suites
from equipoise.cli.help import PYTEST_OPTIONS
from equipoise.core.options import Option
from equipoise.runner.transports import session_options
from equipoise.suites import AnySuite
from equipoise.suites.shared_options import DATASET

ALL = "all"
"""The name that stands for all suites."""
_FLAG = re.compile(r"--[\w-]+")


class SessionCommand(click.Command):
    """A command that runs a session. It completes the options of suites and of pytest."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Completions of options: those of the chosen suites, and the most useful ones of pytest."""
        options = (*session_options(), *_suite_options(ctx.params.get("suite") or ALL))
        helps = {option.flag: option.help for option in options}
        helps |= {flag: about for text, about in PYTEST_OPTIONS.items() for flag in _FLAG.findall(text)}
        helps["--help"] = "all options"
        return [CompletionItem(flag, help=helps[flag]) for flag in helps if flag.startswith(incomplete)]


def complete_suites(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completions of suites: one, several separated by commas, or all."""
    before, comma, start = incomplete.rpartition(",")
    names = (*_suites_here(), *([] if comma else [ALL]))
    return _items(f"{before}{comma}{name}" for name in names if name.startswith(start))


def complete_suite(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completions of the name of one suite."""
    return _items(name for name in _suites_here() if name.startswith(incomplete))


def complete_value(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completions of the value of the preceding option: its allowed words, or files if it has none."""
    arguments: Sequence[str] = ctx.params.get("arguments") or [""]
    flag, suite = arguments[-1], ctx.params.get("suite") or ALL
    options = (*session_options(), *_suite_options(suite))
    option = next((option for option in options if option.flag == flag), None)
    choices = option.choices if option else ()
    words = _datasets(suite) if flag == DATASET.flag else choices
    if not words:
        return [CompletionItem(incomplete, type="file")]
    return _items(word for word in words if word.startswith(incomplete))


def _items(texts: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(text) for text in texts]


def _suites_here() -> tuple[str, ...]:
    """The names of all suites, including the project's own, which completion has to add itself."""
    suites.add_project(Path.cwd())
    return suites.names()


def _suite_options(suite: str) -> list[Option]:
    return list(dict.fromkeys(option for loaded in _loaded(suite) for option in loaded.options))


def _datasets(suite: str) -> list[str]:
    return list(dict.fromkeys(dataset for loaded in _loaded(suite) for dataset in loaded.dataset_names))


def _loaded(suite: str) -> list[AnySuite]:
    """The suites in the argument `suite`, which is ALL or names separated by commas.

    Unknown suites, and those that cannot be loaded, are left out.
    """
    here = _suites_here()
    names = here if suite == ALL else suite.split(",")
    loadable = suites.loadable()
    return [suites.load(name) for name in names if name in loadable]
