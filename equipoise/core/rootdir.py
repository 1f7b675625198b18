"""Keeps pytest in the project where an option names a file elsewhere, as in `--baseline /releases/good.json`.

pytest looks for its settings before it knows the options of any plugin, so it takes such a file for a test
and finds the settings of that folder, or none. The one part of Equipoise that every pytest loads: it has no
option, and does nothing outside a project whose pytest.ini loads `equipoise.plugin`. In `core`, as importing
it from the package of the plugin would load that, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PLUGIN = "equipoise.plugin"


def pytest_addoption(pluginmanager: Any) -> None:
    """Begin again with the settings of the project that pytest was started in, where it has found others."""
    config = pluginmanager.getplugin("pytestconfig")
    arguments = config.invocation_params.args
    own = _settings(config.invocation_params.dir)
    # Nothing but the command pytest itself may be begun again: `pytest.main` has a caller.
    is_command = list(arguments) == sys.argv[1:]
    if not is_command or own is None or own == config.inipath or not _may_have_misled(arguments):
        return
    command = [sys.executable, "-m", "pytest", "-c", str(own), f"--rootdir={own.parent}", *arguments]
    # Before pytest has begun to capture what is printed.
    os.execv(command[0], command)  # noqa: S606


def _settings(folder: Path) -> Path | None:
    """The pytest.ini that is in force in this folder, if it loads the plugin."""
    root = next((path for path in (folder, *folder.parents) if (path / "pytest.ini").is_file()), None)
    if root is None or PLUGIN not in (root / "pytest.ini").read_text(encoding="utf-8", errors="replace"):
        return None
    return root / "pytest.ini"


def _may_have_misled(arguments: Sequence[str]) -> bool:
    """Whether options of Equipoise are given, and no settings by name."""
    from equipoise.core.options import OPTIONS

    flags = {option.flag for option in OPTIONS}
    is_named = any(argument.startswith(("-c", "--config-file", "--rootdir")) for argument in arguments)
    return not is_named and any(argument.partition("=")[0] in flags for argument in arguments)
