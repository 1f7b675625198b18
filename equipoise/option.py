"""What an option is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from equipoise.parsers import parse_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option.

    `many` may be given several times, a `switch` takes no value, and what `is_secret` is never shown. Those
    `of_suites` are taken by some suites only.
    """

    flag: str
    help: str
    parse: Callable[[str], Any] = parse_text
    default: Any = None
    alias: str | None = None
    metavar: str = "N"
    many: bool = False
    switch: bool = False
    is_secret: bool = False
    of_suites: bool = False

    @property
    def name(self) -> str:
        """The flag as an identifier."""
        return self.flag[2:].replace("-", "_")

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"EQUIPOISE_{self.name.upper()}"

    @property
    def ini(self) -> str:
        """The key in pytest.ini."""
        return f"equipoise_{self.name}"
