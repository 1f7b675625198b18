"""A pytest plugin that finds the project: it corrects the root folder if an option names a file elsewhere.

With `--baseline /releases/good.json`, pytest determines its root folder before it knows the options of
plugins. It treats the file as a test, and uses the pytest.ini of the file's folder, or none. This plugin then
restarts pytest with the project's pytest.ini.

Every pytest process loads this module. Outside a project whose pytest.ini loads `equipoise.plugin`, it only
acts if pytest is about to refuse `--model`: it then says where that option is known. It is in `core` because
a module in `equipoise.plugin` would load that whole package.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

PLUGIN, MODEL = "equipoise.plugin", "--model"
_NO_PROJECT = (
    f"{MODEL}: pytest knows no such option in this folder, which is no Equipoise project; "
    f"`equipoise run SUITE {MODEL} M` runs a suite from any folder, `equipoise init FOLDER` makes a project"
)


def pytest_addoption(pluginmanager: Any) -> None:
    """Restart pytest with the pytest.ini of the project it was started in, if it uses another one."""
    config = pluginmanager.getplugin("pytestconfig")
    arguments = config.invocation_params.args
    ini = _project_ini(config.invocation_params.dir)
    # Only the command pytest may be replaced: a call of `pytest.main` must return to its caller.
    is_command = list(arguments) == sys.argv[1:]
    if not is_command or ini is None or ini == config.inipath or not _may_have_misled(arguments):
        return
    command = [sys.executable, "-m", "pytest", "-c", str(ini), f"--rootdir={ini.parent}", *arguments]
    # At this point pytest does not capture output yet.
    os.execv(command[0], command)  # noqa: S606


@pytest.hookimpl(trylast=True)
def pytest_load_initial_conftests(early_config: Any, parser: Any, args: list[str]) -> None:
    """Raise pytest's UsageError for `--model`, the option of every session, where nothing has registered it.

    By this point other plugins and the conftest.py files have registered their options.
    """
    if not any(argument.partition("=")[0] == MODEL for argument in args):
        return
    _, unknown = parser.parse_known_and_unknown_args(args)
    if any(argument.partition("=")[0] == MODEL for argument in unknown):
        raise pytest.UsageError(_NO_PROJECT)


def _project_ini(folder: Path) -> Path | None:
    """The pytest.ini that applies to this folder, None if there is none or it does not load the plugin."""
    root = next((path for path in (folder, *folder.parents) if (path / "pytest.ini").is_file()), None)
    if root is None or PLUGIN not in (root / "pytest.ini").read_text(encoding="utf-8", errors="replace"):
        return None
    return root / "pytest.ini"


def _may_have_misled(arguments: Sequence[str]) -> bool:
    """Whether the arguments have options of Equipoise, and none that set pytest's configuration or root."""
    from equipoise.core.session_options import OPTIONS

    flags = {option.flag for option in OPTIONS}
    is_named = any(argument.startswith(("-c", "--config-file", "--rootdir")) for argument in arguments)
    return not is_named and any(argument.partition("=")[0] in flags for argument in arguments)
