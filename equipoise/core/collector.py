"""Python's cyclic garbage collector, which costs a third of the time where many objects are made at once."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Iterator[None]:
    """Disable garbage collection, for work on results, which have no cycles."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def without_collection_at_exit() -> None:
    """Skip the collections as the interpreter ends: they take a third of a second, and free nothing."""
    atexit.register(gc.freeze)
