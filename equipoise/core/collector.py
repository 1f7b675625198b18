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
    """Skip the collections as the interpreter ends, which take long where a library has many classes."""
    atexit.register(gc.freeze)
