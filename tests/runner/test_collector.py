"""The garbage collector: a session leaves it to its caller as it was."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from equipoise.runner.collector import collect_garbage_rarely


def test_garbage_is_collected_seldom_until_the_session_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that calls pytest has its own settings back."""
    # Not this process's own, which another session in it may have raised.
    before, ends = (700, 10, 10), list[Callable[[], None]]()
    thresholds = [before]
    monkeypatch.setattr(gc, "get_threshold", lambda: thresholds[-1])
    monkeypatch.setattr(gc, "set_threshold", lambda *threshold: thresholds.append(threshold))
    collect_garbage_rarely(ends.append)
    assert gc.get_threshold()[0] > before[0]
    ends[0]()
    assert gc.get_threshold() == before
