"""Packages that only an extra of Equipoise installs, such as the one that draws figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from equipoise.core.errors import UserError

PACKAGES: Mapping[str, Sequence[str]] = {"plots": ("vl_convert",), "retrieval": ("bm25s", "rjieba")}
"""The modules that code of Equipoise imports, by the extra whose packages have them."""


def is_installed(extra: str) -> bool:
    """Whether the packages of an extra are installed, without importing them."""
    return all(find_spec(name) is not None for name in PACKAGES[extra])


def require(extra: str, purpose: str) -> None:
    """Raise UserError that says what to install if the packages of an extra are missing."""
    if not is_installed(extra):
        raise UserError(f"{purpose} needs the extra {extra!r}; run: {install_command(extra)}")


def install_command(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'equipoise[{extra}]'"
