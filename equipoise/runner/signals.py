"""Handles SIGINT and SIGTERM for a session, or a command that asks models. Knows neither of the two."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any

PATIENCE = 60.0
"""Seconds to wait at most for calls in flight when a session ends: they are paid for."""
HURRY = 5.0
"""The same after SIGTERM, which SIGKILL usually follows."""


def stopped(reason: str) -> str:
    """The message of a command that ended before it was done."""
    return f"stopped: {reason}; what is done is kept, and the same command resumes from there"


def in_flight(count: int) -> str:
    """The message to a user who has interrupted while calls are in flight."""
    return f"waiting for {count} calls in flight, which are paid for; Ctrl-C again drops them"


class Interruptions:
    """How often the user has interrupted; `is_hurried` once that was by SIGTERM."""

    def __init__(self) -> None:
        self.count = 0
        self.is_hurried = False
        self._undisturbed = 0
        self._is_owed = False
        self._is_ignored = False
        self._is_finishing = False

    def interrupt(self, *, is_hurried: bool = False) -> None:
        """Count one more. Raises KeyboardInterrupt, at once or as soon as that is safe."""
        if self._is_ignored:
            return
        self.count += 1
        self.is_hurried |= is_hurried
        # The second must not disturb how pytest handles the first; what waits for calls reads the count.
        if self.count == 2 or self._is_finishing:
            return
        if self._undisturbed:
            self._is_owed = True
            return
        raise KeyboardInterrupt

    @property
    def drops_calls(self) -> bool:
        """Whether there were two, so that calls in flight are dropped."""
        return self.count > 1

    def patience(self, longest: float) -> float:
        """Seconds to wait at most for calls in flight, none of which takes longer than `longest`."""
        return HURRY if self.is_hurried else min(PATIENCE, longest)

    def finish(self) -> None:
        """Only count from now on: pytest no longer catches a KeyboardInterrupt."""
        self._is_finishing = True

    def ignore(self) -> None:
        """Ignore all further interruptions."""
        self._is_ignored = True

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Delay KeyboardInterrupt: a half-imported library cannot be imported again."""
        self._undisturbed += 1
        try:
            yield
        finally:
            self._undisturbed -= 1
        if self._is_owed and not self._undisturbed:
            self._is_owed = False
            raise KeyboardInterrupt


def listen(
    interruptions: Interruptions,
    add_cleanup: Callable[[Callable[[], Any]], Any],
    *,
    ends_process: bool = False,
) -> None:
    """SIGTERM ends a session as Ctrl-C does, only sooner; a second signal drops what is in flight.

    `add_cleanup` gets the functions that restore the earlier handlers; where the process ends with the
    session, they have it ignore signals instead, as everything is done and said.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            before = signal.signal(number, partial(_interrupt, interruptions))
        except ValueError:  # not the main thread
            return
        add_cleanup(partial(signal.signal, number, signal.SIG_IGN if ends_process else before))


def _interrupt(interruptions: Interruptions, number: int, frame: FrameType | None) -> None:
    interruptions.interrupt(is_hurried=number == signal.SIGTERM)


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGTERM raises KeyboardInterrupt as SIGINT does; the earlier handler is restored at the end."""
    with ExitStack() as cleanups:
        with suppress(ValueError):  # not the main thread
            before = signal.signal(signal.SIGTERM, signal.default_int_handler)
            cleanups.callback(signal.signal, signal.SIGTERM, before)
        yield
