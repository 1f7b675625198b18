"""Results against results: baselines, comparisons, gates, panels.

Python binds the name of a package in its parent once it is imported, which is here that of a function of the
Python API: so the package can be called, too.
"""

from __future__ import annotations

import sys
from types import ModuleType


class _Package(ModuleType):
    """A module that is called as the function whose name it takes."""

    __call__ = staticmethod(vars(sys.modules["equipoise"])["compare"])


sys.modules[__name__].__class__ = _Package
