"""A standard output that may be lost: a pipe whose reader has gone, a closed terminal, a full disk.

The first write that fails interrupts the session. Later output is dropped, so that the session can end in
order, with its results kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TextIO


class LosableOutput:
    """Writes to a text stream until that fails, and drops later texts.

    Other attributes are those of the stream.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_lost = False
        self._on_loss: Callable[[], None] = lambda: None

    def call_on_loss(self, on_loss: Callable[[], None]) -> None:
        """Call a function when the output is lost; now if it is already."""
        self._on_loss = on_loss
        if self._is_lost:
            on_loss()

    def write(self, text: str) -> int:
        """Write a text, or drop it. Returns its length."""
        try:
            return self._stream.write(text)
        except OSError:
            self._lose()
            return len(text)

    def flush(self) -> None:
        """Write what is buffered, or drop it."""
        try:
            self._stream.flush()
        except OSError:
            self._lose()

    def _lose(self) -> None:
        self._is_lost = True
        _discard(self._stream)
        self._on_loss()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _discard(stream: TextIO) -> None:
    """Point the stream's file to the null device, or Python would fail to flush it when the process ends."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)
