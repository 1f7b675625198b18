"""Types of command-line parameters, which use the parsers of session options."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from equipoise.core.errors import UserError
from equipoise.core.gates import parse_gate
from equipoise.core.options import parse_name

_T = TypeVar("_T")


class ParsedType(click.ParamType[_T]):
    """A click parameter type with a parser, which raises ValueError that says what the value should be."""

    def __init__(self, name: str, parse: Callable[[str], _T]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> _T:
        """The parsed value. Raises UserError naming the parameter."""
        try:
            return self._parse(str(value))
        except ValueError as error:
            flag = param.opts[-1] if param else self.name
            raise UserError(f"{flag}: {value!r} {error}") from None


NAME = ParsedType("name", parse_name)
RULE = ParsedType("rule", parse_gate)
