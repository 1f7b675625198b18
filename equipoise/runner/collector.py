"""Controls Python's garbage collector, which takes a third of the time where many objects are created."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

THRESHOLD = 20_000
"""New objects after which a collection starts. Python's default of 700 takes 7 % of a session's CPU time."""


def collect_garbage_rarely(add_cleanup: Callable[[Callable[[], None]], object]) -> None:
    """Raise the threshold of the collector; `add_cleanup` receives a function that restores it."""
    before = gc.get_threshold()
    gc.set_threshold(THRESHOLD, *before[1:])
    add_cleanup(lambda: gc.set_threshold(*before))


@contextmanager
def pause_collector() -> Iterator[None]:
    """Disable garbage collection in a block that works on results, which have no reference cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def skip_collection_at_exit() -> None:
    """Skip the collections when the interpreter exits: they take a third of a second and free nothing."""
    atexit.register(gc.freeze)


def stop_collecting_garbage() -> None:
    """Disable garbage collection for the rest of a process that is about to end."""
    gc.disable()
    # pytest collects five times in the end, whether collection is enabled or not.
    gc.freeze()
    skip_collection_at_exit()
