"""What a user on Windows meets, where Python has no `fcntl`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

SAYS = "ERROR: Equipoise runs on Linux and macOS; on Windows run it in WSL, the Windows Subsystem for Linux"
START = "import sys; sys.modules['fcntl'] = None; sys.argv[1:] = {arguments}; {start}"
COMMANDS = {
    "from equipoise.cli import main; main()": ["run", "neutrality", "--model", "x"],
    "import pytest; sys.exit(pytest.main(sys.argv[1:]))": [
        *("-c", str(ROOT / "pytest.ini"), str(ROOT / "tests_benchmark"), "--model", "x")
    ],
}


@pytest.mark.slow
def test_one_line_says_which_systems_there_are(tmp_path: Path) -> None:
    """By command and by pytest, before anything is asked: no ImportError."""
    for start, arguments in COMMANDS.items():
        script = START.format(arguments=arguments, start=start)
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 4, done.stdout + done.stderr
        assert done.stderr.strip() == SAYS
