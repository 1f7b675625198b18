"""What every session imports, for the process that sessions of tests are forked from."""

from __future__ import annotations

import gc
import pkgutil
from importlib import import_module

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

for name in (*LIBRARIES, *OURS, "schemas", "once"):
    import_module(name)
httpcore2.default_ssl_context()
import_module("equipoise.runner.plan").versions(import_module("equipoise.suites.resources").SHIPPED)
gc.collect()
gc.freeze()  # the collector of a session need not look at any of it
