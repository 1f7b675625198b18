"""Completion by the Tab key, in the shell of a user."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import PYTEST, ROOT

SCRIPT = """\
eval "$(_EQUIPOISE_COMPLETE=bash_source equipoise)"
complete -p equipoise > /dev/null || exit 1
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_equipoise_completion equipoise
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(folder: Path, *words: str) -> list[str]:
    """What bash offers for the last of these words after `equipoise`."""
    programs = f"{Path(PYTEST[0]).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", SCRIPT, "bash", "equipoise", *words],
        cwd=folder,
        env={**os.environ, "PATH": programs},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [line for line in done.stdout.splitlines() if line]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("ru",), ["run"]),
        (("run", "neu"), ["neutrality"]),
        (("run", "neutrality,p"), ["neutrality,politicsbench"]),
        (("run", "neutrality", "--mod"), ["--model"]),
        (("run", "neutrality", "--model", "x", "--junit"), ["--junitxml"]),
        (("run", "borderlines", "--stra"), ["--strategy"]),
        (("run", "neutrality", "--stra"), []),
        (("run", "attribution", "--len"), ["--length"]),
        (("run", "neutrality", "--dataset", "o"), ["own", "open", "original"]),
        (("run", "borderlines", "--method", ""), ["generate", "rank"]),
        (("run", "al"), ["all"]),
        (("suites", "al"), []),
        (("suites", "attr"), ["attribution"]),
        (("init", "--suite", "pol"), ["politicsbench"]),
        (("init", "--suite", "al"), []),
    ],
)
def test_bash_completes(words: tuple[str, ...], expected: list[str]) -> None:
    """Commands, suites, the project's own too, the options of a suite, and words of an option."""
    assert completed(ROOT / "examples" / "sixth_suite", *words) == expected
