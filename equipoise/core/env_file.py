"""The variables of a file `.env` in the working directory. The environment's own come before them.

Their names are shown, their values never.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import read_text

NAME = ".env"
_PREFIXES, _SUFFIX = ("EQUIPOISE_", "OPENAI_"), "_API_KEY"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvFile:
    """The names that a file has set, each with its line, and those that the environment had set already."""

    lines: Mapping[str, int] = field(default_factory=dict)
    outside: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """One line that names what it has set; empty if there is nothing to say."""
        unchanged = f"set in the environment: {', '.join(self.outside)}" if self.outside else ""
        parts = ", ".join(self.lines), unchanged
        return f"{NAME}: {'; '.join(filter(None, parts))}" if any(parts) else ""

    @property
    def origins(self) -> dict[str, str]:
        """Names of its variables in errors."""
        return {name: f"{NAME}:{line}: {name}" for name, line in self.lines.items()}

    def unset(self, environment: MutableMapping[str, str]) -> None:
        """Take its variables out of the environment again."""
        for name in self.lines:
            environment.pop(name, None)


def load(folder: Path, environment: MutableMapping[str, str]) -> EnvFile:
    """Set the variables of `folder/.env` that the environment lacks: EQUIPOISE_*, OPENAI_* and *_API_KEY.

    Text is taken as it is, `$NAME` too; a name without a value counts as not there. Raises UserError naming
    the line.
    """
    path = folder / NAME
    if not path.is_file():
        return EnvFile()
    lines: dict[str, int] = {}
    outside: dict[str, None] = {}
    for line, name, value in _variables(path):
        if name in environment and name not in lines:
            outside[name] = None
        else:
            environment[name], lines[name] = value, line
    return EnvFile(lines=lines, outside=tuple(outside))


def _variables(path: Path) -> list[tuple[int, str, str]]:
    from io import StringIO

    # Imported here: few projects have the file.
    from dotenv.parser import parse_stream

    text, variables = read_text(path), []
    for item in parse_stream(StringIO(text)):
        begin = item.original.string
        first = item.original.line + begin[: len(begin) - len(begin.lstrip())].count("\n")
        if item.error:
            raise UserError(f"{NAME}:{first}: is not NAME=VALUE")
        if item.value is not None and item.key is not None and _is_ours(item.key):
            variables.append((first, item.key, item.value))
    return variables


def _is_ours(name: str) -> bool:
    return name.startswith(_PREFIXES) or name.endswith(_SUFFIX)
