"""The scripts of a release gate in CI, which are in no package."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from conftest import ROOT

GATE = ROOT / ".ci" / "gate"


def script(name: str) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(f"ci_gate_{name}", GATE / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Dataclasses look there.
    spec.loader.exec_module(module)
    return module
