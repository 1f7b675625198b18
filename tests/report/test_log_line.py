"""What is printed of a session's progress where there is no terminal."""

from __future__ import annotations

import os

import pytest

from equipoise.models.counters import Counters
from equipoise.report import status_line
from equipoise.report.status_line import LogLine, Output, open_line


def test_notices_are_printed_at_once_and_progress_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """In whole lines, whatever stood on the last one."""
    monkeypatch.setattr(status_line, "INTERVAL_SECONDS", 0.001)
    monkeypatch.setattr(status_line, "LOG_TICKS", 2)
    reads, writes = os.pipe()
    counters = Counters(1)
    counters.notify("the endpoint asks to wait 2 min 00 s")
    line = open_line(
        lambda width: "3/8 done", counters.take_notices, Output(descriptor=writes, is_live=False)
    )
    shown = ""
    while "3/8 done" not in shown:
        shown += os.read(reads, 1000).decode()
    counters.notify("the last word")
    line.close()
    shown += os.read(reads, 100_000).decode()
    assert isinstance(line, LogLine)
    assert shown.startswith("\nthe endpoint asks to wait 2 min 00 s\n")
    assert "\n3/8 done\n" in shown
    assert shown.endswith("\nthe last word\n")
    assert counters.take_notices() == []
