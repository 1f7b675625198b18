"""The optional packages that an extra of Equipoise installs, such as the one that draws figures."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from equipoise.core.errors import UserError

PACKAGES: Mapping[str, Mapping[str, str]] = {
    "plots": {"vl-convert-python": "vl_convert"},
    "retrieval": {"bm25s": "bm25s", "rjieba": "rjieba"},
}
"""The packages of each extra, each with the name of the module to import."""


def is_installed(extra: str) -> bool:
    """Whether the packages of an extra are installed, without importing them."""
    return all(find_spec(module) is not None for module in PACKAGES[extra].values())


def require(extra: str, purpose: str) -> None:
    """Raise UserError that says what to install if the packages of an extra are missing."""
    if not is_installed(extra):
        raise UserError(f"{purpose} needs the extra {extra!r}; run: {install_command(extra)}")


def install_command(extra: str) -> str:
    """The command that installs the packages of an extra."""
    # Not `equipoise[extra]`: Equipoise is on no package index, where anyone could take its name.
    return f"pip install {' '.join(PACKAGES[extra])}"
