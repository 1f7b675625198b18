"""The types of a suite's report on its own data: findings, and texts that must be distinct."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from equipoise.core.errors import printable

Recognised = Literal["yes", "perhaps", "part", "no"]
"""Whether a path is a suite's data. `perhaps`: other suites or programs may also have such files. `part`: the
file is one of several in the suite's format, and can be read only with its folder."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A problem in a data file, printed as one line. `line` counts from 1; `what` is the problem in words."""

    path: str
    line: int
    what: str

    @classmethod
    def at(cls, where: str, what: str) -> Self:
        """A finding at `where`, which is `file:line`."""
        path, _, line = where.rpartition(":")
        return cls(path, int(line), what)

    def __str__(self) -> str:
        return printable(f"{self.path}:{self.line}: {self.what}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text that must not occur twice; `where` is its `file:line`.

    A text is compared with the other texts of the same `among`, such as a language. Texts of the same
    `owner`, such as a case, may be near-duplicates, but not identical. Texts with an empty `among` or `owner`
    have the same.
    """

    where: str
    among: str
    owner: str
    text: str
