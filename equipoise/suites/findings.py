"""What a suite reports about its own data: findings, and texts that must be distinct."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from equipoise.core.errors import printable

Recognised = Literal["yes", "perhaps", "part", "no"]
"""Whether a path is a suite's data. `perhaps`: other suites or programs may have such files, too. `part`: the
file is a part of the data and can only be read with its folder."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A problem in a data file, printed as one line. Lines count from 1."""

    path: str
    line: int
    what: str

    @classmethod
    def at(cls, where: str, what: str) -> Self:
        """A finding at `file:line`."""
        path, _, line = where.rpartition(":")
        return cls(path, int(line), what)

    def __str__(self) -> str:
        return printable(f"{self.path}:{self.line}: {self.what}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text at `file:line` that must not occur twice.

    It is compared with other texts of the same `among` (a language, say). Texts of the same `owner` may be
    near-duplicates, but not identical.
    """

    where: str
    among: str
    owner: str
    text: str
