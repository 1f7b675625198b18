"""What SIGINT and SIGTERM do to a session, or to a command that asks models."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any

PATIENCE = 60.0
"""Seconds that whoever ends waits at most for calls in flight: they are paid for."""
HURRY = 5.0
"""The same where somebody sent SIGTERM, who will send SIGKILL before long."""

INTERRUPTED = "stopped: interrupted; what is done is kept, and the same command goes on from there"
"""What a user is told whose command has ended by a signal."""


def in_flight(count: int) -> str:
    """What a user is told who has interrupted, while so many calls are in flight."""
    return f"waiting for {count} calls in flight, which are paid for; Ctrl-C again drops them"


class Interruptions:
    """How often the user has said that the session is to end; `is_hurried` once that was by SIGTERM."""

    def __init__(self) -> None:
        self.count = 0
        self.is_hurried = False
        self._undisturbed = 0
        self._is_owed = False
        self._is_ignored = False

    def interrupt(self, *, is_hurried: bool = False) -> None:
        """Count one more. Raises KeyboardInterrupt, at once or when it does no harm."""
        if self._is_ignored:
            return
        self.count += 1
        self.is_hurried |= is_hurried
        # The second must not disturb what pytest is doing about the first; who waits for calls will see it.
        if self.count == 2:
            return
        if self._undisturbed:
            self._is_owed = True
            return
        raise KeyboardInterrupt

    def ignore(self) -> None:
        """Whatever comes now comes too late."""
        self._is_ignored = True

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Hold back what would be raised: a library that is imported by half cannot be imported again."""
        self._undisturbed += 1
        try:
            yield
        finally:
            self._undisturbed -= 1
        if self._is_owed and not self._undisturbed:
            self._is_owed = False
            raise KeyboardInterrupt


def listen(interruptions: Interruptions, add_cleanup: Callable[[Callable[[], Any]], Any]) -> None:
    """SIGTERM ends a session as Ctrl-C does, only sooner; a second signal drops what is in flight.

    `add_cleanup` is handed what puts the earlier handlers back.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            before = signal.signal(number, partial(_interrupt, interruptions))
        except ValueError:  # not the main thread
            return
        add_cleanup(partial(signal.signal, number, before))


def _interrupt(interruptions: Interruptions, number: int, frame: FrameType | None) -> None:
    interruptions.interrupt(is_hurried=number == signal.SIGTERM)


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGTERM raises KeyboardInterrupt as SIGINT does. The earlier handler is put back."""
    with ExitStack() as cleanups:
        with suppress(ValueError):  # not the main thread
            before = signal.signal(signal.SIGTERM, signal.default_int_handler)
            cleanups.callback(signal.signal, signal.SIGTERM, before)
        yield


@contextmanager
def heard(stop: Callable[[], None], drop: Callable[[], None]) -> Iterator[None]:
    """On this event loop, `stop` at the first signal, and `drop` at the second or when patience is at an end.

    Earlier handlers are put back.
    """
    loop = asyncio.get_running_loop()
    timers: list[asyncio.TimerHandle] = []

    def hear(patience: float) -> None:
        if timers:
            drop()
        else:
            timers.append(loop.call_later(patience, drop))
            stop()

    def forget() -> None:
        for timer in timers:
            timer.cancel()

    with ExitStack() as cleanups:
        cleanups.callback(forget)
        for number, patience in ((signal.SIGINT, PATIENCE), (signal.SIGTERM, HURRY)):
            before = signal.getsignal(number)
            with suppress(ValueError, RuntimeError):  # not the main thread
                loop.add_signal_handler(number, hear, patience)
                cleanups.callback(signal.signal, number, before)
                cleanups.callback(loop.remove_signal_handler, number)
        yield
