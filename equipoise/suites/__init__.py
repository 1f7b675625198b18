"""The benchmarks, one package each, the contract that they fulfil, and the registry that finds them."""

from equipoise.suites.contract import AnySuite, Suite
from equipoise.suites.registry import (
    GROUP,
    TESTS,
    add_project,
    defaults_of,
    load,
    loadable,
    modules,
    names,
    options,
    purpose,
    require,
    require_consistent_names,
    rubric_path,
    scale_warning,
    unloadable,
)

__all__ = [
    "GROUP",
    "TESTS",
    "AnySuite",
    "Suite",
    "add_project",
    "defaults_of",
    "load",
    "loadable",
    "modules",
    "names",
    "options",
    "purpose",
    "require",
    "require_consistent_names",
    "rubric_path",
    "scale_warning",
    "unloadable",
]
