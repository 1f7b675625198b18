"""The garbage collector: a session leaves it to its caller as it was."""

from __future__ import annotations

import gc
from collections.abc import Callable

from equipoise.runner.collector import collect_garbage_rarely


def test_garbage_is_collected_seldom_until_the_session_ends() -> None:
    """A program that calls pytest has its own settings back."""
    before, ends = gc.get_threshold(), list[Callable[[], None]]()
    collect_garbage_rarely(ends.append)
    assert gc.get_threshold()[0] > before[0]
    ends[0]()
    assert gc.get_threshold() == before
