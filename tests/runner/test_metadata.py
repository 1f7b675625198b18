"""What produced a result."""

from __future__ import annotations

import subprocess
from inspect import unwrap
from pathlib import Path

import pytest

from equipoise.runner import metadata

# Sessions of tests share the first answer.
versions = unwrap(metadata.versions)


def git(folder: Path, *arguments: str) -> str:
    """What git answers."""
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_commit_and_state_of_a_checkout(tmp_path: Path) -> None:
    """The commit's hash, and whether anything was changed since."""
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "x")
    recorded = versions(tmp_path)
    assert (recorded["git_commit"], recorded["git_dirty"]) == (git(tmp_path, "rev-parse", "HEAD"), False)
    (tmp_path / "new").touch()
    assert versions(tmp_path)["git_dirty"] is True


def test_packages_are_named_with_their_versions(tmp_path: Path) -> None:
    """Those that are installed, null of what is not; outside a checkout there is no commit."""
    recorded = versions(tmp_path)
    assert (recorded["git_commit"], recorded["git_dirty"]) == (None, None)
    packages = recorded["package_versions"]
    assert packages["pytest"] == pytest.__version__
    assert packages["openai"]
    assert {*packages} >= {"pytest-xdist", "genai-prices", "xllamacpp"}
