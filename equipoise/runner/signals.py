"""Handles SIGINT, SIGTERM and SIGHUP (a closed terminal) for sessions and commands."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any

LONGEST_WAIT = 60.0
"""The longest wait, in seconds, for calls in flight when a session ends, as they are paid for."""
WAIT_AFTER_SIGTERM = 5.0
"""The wait, in seconds, after SIGTERM or SIGHUP, which are usually followed by SIGKILL."""


def stop_message(reason: str, *, is_mistake: bool = False) -> str:
    """The message of a session or command that ended early; `is_mistake` is as in Counters."""
    from equipoise.models.budget import RESUMES

    # The message below says that itself.
    short_reason = reason.removesuffix(RESUMES)
    resumes = "once that is mended, the command" if is_mistake else "the same command"
    return f"stopped: {short_reason}; finished work is saved, and {resumes} resumes from there"


def in_flight_message(count: int) -> str:
    """The message after an interruption while calls are in flight."""
    return f"waiting for {count} calls in flight, which are paid for; Ctrl-C again drops them"


class Interruptions:
    """Counts the user's interruptions. `is_hurried` says whether any interruption leaves little time."""

    def __init__(self) -> None:
        self.count = 0
        self._numbers = itertools.count(1)
        self.is_hurried = False
        self._open_delays = 0
        self._is_pending = False
        self._is_ignored = False
        self._is_finishing = False

    def interrupt(self, *, is_hurried: bool = False) -> None:
        """Count an interruption. Raises KeyboardInterrupt, now or as soon as that is safe."""
        if self._is_ignored:
            return
        # Atomic, unlike `count += 1`: another signal may arrive while this one is handled.
        number = next(self._numbers)
        self.count += 1
        self.is_hurried |= is_hurried
        # Later ones must not disturb pytest's handling of the first; the engine sees them in `count`.
        if number > 1 or self._is_finishing:
            return
        if self._open_delays:
            self._is_pending = True
            return
        raise KeyboardInterrupt

    @property
    def drops_calls(self) -> bool:
        """Whether to cancel calls in flight: true after the second interruption."""
        return self.count > 1

    def longest_wait(self, longest_call: float) -> float:
        """How many seconds to wait for calls in flight, which take at most `longest_call` seconds."""
        return WAIT_AFTER_SIGTERM if self.is_hurried else min(LONGEST_WAIT, longest_call)

    def finish(self) -> None:
        """From now on, only count interruptions: pytest no longer catches KeyboardInterrupt."""
        self._is_finishing = True

    def ignore(self) -> None:
        """Ignore all further interruptions."""
        self._is_ignored = True

    @contextmanager
    def delay(self) -> Iterator[None]:
        """Delay KeyboardInterrupt until the block ends, so that it leaves no library half-imported."""
        self._open_delays += 1
        try:
            yield
        finally:
            self._open_delays -= 1
        if self._is_pending and not self._open_delays:
            self._is_pending = False
            raise KeyboardInterrupt


def listen(
    interruptions: Interruptions,
    add_cleanup: Callable[[Callable[[], Any]], Any],
    *,
    ends_process: bool = False,
) -> None:
    """Handle SIGTERM and SIGHUP like Ctrl-C with a shorter wait; a second signal cancels calls in flight.

    `add_cleanup` is called with functions that restore the earlier handlers. If the process ends after the
    session (`ends_process`), they ignore further signals instead.
    """
    for number in (signal.SIGINT, *_hurried()):
        try:
            before = signal.signal(number, partial(_interrupt, interruptions))
        except ValueError:  # not the main thread
            return
        add_cleanup(partial(signal.signal, number, signal.SIG_IGN if ends_process else before))


def _hurried() -> Iterator[signal.Signals]:
    """The signals that leave little time, without a SIGHUP that nohup has ignored."""
    yield signal.SIGTERM
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        yield signal.SIGHUP


def _interrupt(interruptions: Interruptions, number: int, frame: FrameType | None) -> None:
    interruptions.interrupt(is_hurried=number != signal.SIGINT)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM and SIGHUP as on SIGINT, until the block ends."""
    with ExitStack() as cleanups:
        with suppress(ValueError):  # not the main thread
            for number in _hurried():
                before = signal.signal(number, signal.default_int_handler)
                cleanups.callback(signal.signal, number, before)
        yield
