"""The transports besides live calls, each a package that can be deleted with its line here.

A session imports a package only for one of its options, or for files that an earlier session with such an
option has left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType

from equipoise.core.options import Option
from equipoise.core.session_options import GROUPS, OPTIONS

TRANSPORTS: Mapping[str, str | None] = {
    "batches": "batch",
    "replies": None,
}
"""The packages beside this module, each with the command of `equipoise` that belongs to it, if any."""


def groups() -> Mapping[str, Sequence[Option]]:
    """The options of a session and of its transports, by the heading of their group in help and docs."""
    groups = dict(GROUPS)
    for module in _option_modules():
        groups[module.HEADING] = (*groups.get(module.HEADING, ()), *module.OPTIONS)
    return groups


def session_options() -> tuple[Option, ...]:
    """The options of a session and of its transports."""
    return (*OPTIONS, *options())


def options() -> tuple[Option, ...]:
    """The options of the transports alone."""
    return tuple(option for module in _option_modules() for option in module.OPTIONS)


def _option_modules() -> list[ModuleType]:
    return [import_module(f"equipoise.runner.{name}.options") for name in TRANSPORTS]
