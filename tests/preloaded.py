"""What every session imports, for the process that sessions of tests are forked from."""

from __future__ import annotations

import gc
import inspect
import pkgutil
from functools import cache
from importlib import import_module
from importlib.metadata import PathDistribution, entry_points
from pathlib import Path

import httpcore2

import equipoise

LIBRARIES = [
    *("pytest", "_pytest.pytester_assertions", "_pytest.stepwise", "_pytest.junitxml"),
    *("execnet", "execnet.multi", "execnet.gateway_io"),
    *("xdist.plugin", "xdist.dsession", "xdist.remote", "xdist.workermanage", "xdist.looponfail"),
    *("pytest_jsonreport.plugin", "pytest_metadata.plugin", "pytest_timeout"),
    *("openai", "openai.types.chat", "httpx2", "aiohttp", "orjson"),
    *("scipy.stats", "scipy.special", "genai_prices", "genai_prices.data", "genai_prices.data_snapshot"),
]
OURS = [
    module.name
    for module in pkgutil.walk_packages(equipoise.__path__, "equipoise.")
    if not module.name.startswith("equipoise.cli") and not module.name.endswith("__main__")
]

_read_text = PathDistribution.read_text


@cache
def _read(folder: Path, name: str) -> str | None:
    """A file about an installed package; each session looks for plugins in all of them."""
    return _read_text(PathDistribution(folder), name)


gc.disable()
for name in (*LIBRARIES, *OURS, "schemas", "once"):
    import_module(name)
PathDistribution.read_text = lambda package, name: _read(package._path, name)  # type: ignore[method-assign,assignment,arg-type]
entry_points()
inspect.getmodule(entry_points)  # the files of all modules, of which the traceback of an interrupt tells
httpcore2.default_ssl_context()
import_module("equipoise.runner.metadata").versions(import_module("equipoise.suites.resources").SHIPPED)
gc.collect()
gc.freeze()  # the collector of a session need not look at any of it
gc.enable()
