"""Python's cyclic garbage collector, which costs a third of the time where many objects are made at once."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

YOUNG = 20_000
"""New objects that start a collection; Python's default of 700 takes a fourteenth of a session's CPU."""


def collect_seldom(on_end: Callable[[Callable[[], None]], object]) -> None:
    """Collect garbage only after YOUNG new objects; what is given to `on_end` undoes it."""
    before = gc.get_threshold()
    gc.set_threshold(YOUNG, *before[1:])
    on_end(lambda: gc.set_threshold(*before))


@contextmanager
def without_collector() -> Iterator[None]:
    """Disable garbage collection, for work on results, which have no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def without_collection_at_exit() -> None:
    """Skip the collections as the interpreter ends: they take a third of a second, and free nothing."""
    atexit.register(gc.freeze)


def collect_no_more() -> None:
    """Disable garbage collection until the process ends, which is near."""
    gc.disable()
    without_collection_at_exit()
