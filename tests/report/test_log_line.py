"""What is printed of a session's progress where there is no terminal."""

from __future__ import annotations

import threading

import pytest

from equipoise.models.counters import Counters
from equipoise.report import status_line
from equipoise.report.status_line import LogLine, Output, open_line


def test_notices_are_printed_at_once_and_progress_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """In whole lines."""
    monkeypatch.setattr(status_line, "INTERVAL_SECONDS", 0.001)
    monkeypatch.setattr(status_line, "LOG_TICKS", 2)
    shown: list[str] = []
    has_progress = threading.Event()

    def write(text: str) -> None:
        shown.append(text)
        if text == "3/8 done":
            has_progress.set()

    counters = Counters(1)
    counters.notify("the endpoint asks to wait 2 min 00 s")
    line = open_line(lambda width: "3/8 done", counters.take_notices, Output(write=write))
    assert has_progress.wait(60)
    counters.notify("the last word")
    line.close()
    assert isinstance(line, LogLine)
    assert shown[0] == "the endpoint asks to wait 2 min 00 s"
    assert set(shown[1:-1]) == {"3/8 done"}
    assert shown[-1] == "the last word"
    assert counters.take_notices() == []
