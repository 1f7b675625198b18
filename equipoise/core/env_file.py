"""Loads variables from `.env` in the working directory; those already in the environment take precedence.

Messages show names, never values.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import read_text

FILE_NAME = ".env"
_PREFIXES, _SUFFIX = ("EQUIPOISE_", "OPENAI_"), "_API_KEY"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvFile:
    """The result of loading a file.

    `line_numbers` has the line of each variable that was set, by name. `already_set` has the names of
    variables in the file that the environment had before; they are not changed.
    """

    line_numbers: Mapping[str, int] = field(default_factory=dict)
    already_set: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """One line that names the variables of the file; empty if there are none."""
        unchanged = f"set in the environment: {', '.join(self.already_set)}" if self.already_set else ""
        parts = ", ".join(self.line_numbers), unchanged
        return f"{FILE_NAME}: {'; '.join(filter(None, parts))}" if any(parts) else ""

    @property
    def origins(self) -> dict[str, str]:
        """How error messages name each variable that was set, such as `.env:3: NAME`."""
        return {name: f"{FILE_NAME}:{line}: {name}" for name, line in self.line_numbers.items()}

    def unset(self, environment: MutableMapping[str, str]) -> None:
        """Remove from the environment the variables that were set."""
        for name in self.line_numbers:
            environment.pop(name, None)


def load(folder: Path, environment: MutableMapping[str, str]) -> EnvFile:
    """Set the variables of `folder/.env` that the environment lacks: EQUIPOISE_*, OPENAI_* and *_API_KEY.

    Values are not expanded: `$NAME` stays as it is. A name without a value is ignored; if a name is repeated,
    its last value counts. Raises UserError naming the line.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return EnvFile()
    line_numbers: dict[str, int] = {}
    already_set: dict[str, None] = {}
    for line, name, value in _variables(path):
        if name in environment and name not in line_numbers:
            already_set[name] = None
        else:
            environment[name], line_numbers[name] = value, line
    return EnvFile(line_numbers=line_numbers, already_set=tuple(already_set))


def _variables(path: Path) -> list[tuple[int, str, str]]:
    """The variables of Equipoise in a file, as tuples (line, name, value). Raises UserError."""
    from io import StringIO

    # Imported here: few projects have the file.
    from dotenv.parser import parse_stream

    text, variables = read_text(path), []
    for item in parse_stream(StringIO(text)):
        # The parser counts blank lines before a variable as part of it.
        original = item.original.string
        line = item.original.line + original[: len(original) - len(original.lstrip())].count("\n")
        if item.error:
            raise UserError(f"{FILE_NAME}:{line}: is not NAME=VALUE")
        if item.value is not None and item.key is not None and _is_ours(item.key):
            variables.append((line, item.key, item.value))
    return variables


def _is_ours(name: str) -> bool:
    return name.startswith(_PREFIXES) or name.endswith(_SUFFIX)
