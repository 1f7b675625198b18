"""Environments of their own with an installed package, as users have them: made by uv."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from conftest import ROOT

SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
"""The versions of Python that the metadata name."""


def uv(*arguments: str | Path, folder: Path = ROOT) -> str:
    """What uv says, with nothing of this environment. Raises CalledProcessError."""
    own = ROOT / ".cache" / "uv" / "bin" / "uv"
    program = os.environ.get("UV") or shutil.which("uv") or str(own)
    return _run([program, *map(str, arguments)], folder).stdout


def pythons() -> dict[str, str]:
    """The interpreters on this machine that the package supports: paths by version, as in 3.12."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    paths = {}
    for version in SUPPORTED:
        with suppress(subprocess.CalledProcessError):
            paths[version] = uv("python", "find", "--system", "--no-python-downloads", version).strip()
        for path in sorted(versions.glob(f"{version}.*/bin/python")):
            paths.setdefault(version, str(path))
    return paths


class Environment:
    """A virtual environment that has these packages and nothing else."""

    def __init__(self, folder: Path, packages: Sequence[str | Path], python: str = "3.11") -> None:
        self._bin = folder / "bin"
        uv("venv", "--quiet", "--python", python, folder)
        self.install(*packages)

    def install(self, *packages: str | Path) -> None:
        """Install more packages. Raises CalledProcessError."""
        uv("pip", "install", "--quiet", "--python", self._bin / "python", *packages)

    def run(self, *command: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run one of its programs in this folder, whatever its exit status."""
        return _run([str(self._bin / command[0]), *command[1:]], folder, check=False)


def _run(command: Sequence[str], folder: Path, *, check: bool = True) -> subprocess.CompletedProcess[str]:
    ours = {"PYTHONPATH", "VIRTUAL_ENV", "EQUIPOISE_ORIGINAL_DATA"}
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=check, timeout=600
    )
