"""What an option is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from equipoise.core.parsers import parse_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option.

    `many` may be given several times, a `switch` takes no value, and what `is_secret` is never shown. What is
    `recorded` stands in the metadata though it changes no reply.

    `comparable` says how an option of a suite bears on comparisons: results must agree in it, or may be
    compared to study what it does, or are free to differ. `label` names it where they differ. With
    `is_about_judging` the replies are the same whatever its value. What `is_local` names something on this
    machine, which may be elsewhere tomorrow. `shown` makes what results say of a value.
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
    recorded: bool = False
    comparable: Literal["must", "study", "free"] = "free"
    label: str = ""
    is_about_judging: bool = False
    is_local: bool = False
    shown: Callable[[Any], Any] | None = None

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
