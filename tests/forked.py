"""Whole sessions in processes of their own that need not import pytest, the SDK and scipy anew.

A server process imports once what every session imports, and forks for each: the session has its own
process, folder, environment and output like one from the command line, for a third of the CPU.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

PRELOADED = [  # no plugin of pytest: their assertions are rewritten as they are imported
    "pytest",
    "execnet",
    "openai",
    "openai.types.chat",
    "httpx2",
    "aiohttp",
    "orjson",
    "scipy.stats",
    "genai_prices",
]
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(PRELOADED)


def run(arguments: Sequence[str], folder: Path, timeout: float = 300.0) -> subprocess.CompletedProcess[str]:
    """Run pytest with these arguments in this folder, in the present environment.

    Raises `subprocess.TimeoutExpired`, a guard against hanging, after `timeout` seconds.
    """
    with tempfile.TemporaryDirectory() as place:
        written = Path(place, "stdout"), Path(place, "stderr")
        process = _FORKS.Process(
            target=_session, args=([*arguments], str(folder), dict(os.environ), *map(str, written))
        )
        process.start()
        process.join(timeout)
        if is_late := process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(
                arguments, timeout, *(path.read_text(encoding="utf-8") for path in written)
            )
        shown = [path.read_text(encoding="utf-8") for path in written]
        if is_late:
            raise subprocess.TimeoutExpired([*arguments], timeout, *shown)
        return subprocess.CompletedProcess([*arguments], process.exitcode or 0, *shown)


def _session(
    arguments: list[str], folder: str, environment: Mapping[str, str], stdout: str, stderr: str
) -> None:
    """What a session is from the command line, in a fork of the server."""
    for number, path in ((1, stdout), (2, stderr)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    added = [entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path = [folder, *added, *_interpreters_path()]
    sys.argv = ["pytest", *arguments]
    try:
        import pytest
        from _pytest.assertion.rewrite import AssertionRewritingHook

        # The SDK brings anyio along, which is a plugin too, and pytest would warn that it came too early.
        AssertionRewritingHook._warn_already_imported = lambda *_: None  # type: ignore[method-assign]
        raise SystemExit(pytest.console_main())
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()


def _interpreters_path() -> list[str]:
    """The path that an interpreter begins with: without what the tests' own pytest has added to it."""
    prefixes = (sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parent.parent))
    tests = str(Path(__file__).resolve().parent)
    return [entry for entry in sys.path if entry.startswith(prefixes) and not entry.startswith(tests)]
