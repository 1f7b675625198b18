"""Signals: when the user is obeyed at once, and when a little later."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from types import FrameType
from typing import Any

import pytest

from equipoise.models.budget import RESUMES
from equipoise.runner.signals import (
    LONGEST_WAIT,
    WAIT_AFTER_SIGTERM,
    Interruptions,
    interruptible,
    listen,
    stop_message,
)


def test_a_reason_that_says_what_to_do_is_not_told_twice() -> None:
    """What a budget says to a session stands alone there, and not in the message of a command."""
    assert stop_message(f"enough{RESUMES}") == stop_message("enough")
    assert stop_message("enough").count("the same command resumes") == 1


def test_the_first_interrupts_and_others_only_count() -> None:
    """They must not disturb what is being done about the first; from the second on, calls are dropped."""
    interruptions = Interruptions()
    with pytest.raises(KeyboardInterrupt):
        interruptions.interrupt()
    assert not interruptions.drops_calls
    for _ in range(3):
        interruptions.interrupt()
    assert (interruptions.count, interruptions.drops_calls) == (4, True)


@pytest.mark.parametrize("line", range(1, 5))
def test_a_second_in_the_midst_of_the_first(line: int) -> None:
    """Whatever line of the handler it comes in once the first has its number, the first is obeyed."""
    interruptions = Interruptions()
    lines = count()

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code is not Interruptions.interrupt.__code__:
            return None
        if event == "line" and next(lines) == line + 1:
            sys.settrace(None)
            interruptions.interrupt()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with pytest.raises(KeyboardInterrupt):
            interruptions.interrupt()
    finally:
        sys.settrace(before)
    assert interruptions.drops_calls


def test_patience_depends_on_the_signal() -> None:
    """After SIGTERM there is little time; else as long as a call may take, a minute at most."""
    interruptions = Interruptions()
    assert (interruptions.longest_wait(600.0), interruptions.longest_wait(2.0)) == (LONGEST_WAIT, 2.0)
    with pytest.raises(KeyboardInterrupt):
        interruptions.interrupt(is_hurried=True)
    assert interruptions.longest_wait(600.0) == WAIT_AFTER_SIGTERM


def test_what_comes_too_late_is_ignored() -> None:
    """Nothing is raised or counted, nor owed; a session that finishes only counts."""
    late, finishing = Interruptions(), Interruptions()
    late.ignore()
    finishing.finish()
    for _ in range(3):
        for interruptions in (late, finishing):
            with interruptions.delay():
                interruptions.interrupt(is_hurried=True)
    late.interrupt()
    assert (late.count, late.is_hurried, finishing.count) == (0, False, 3)


def test_what_is_undisturbed_is_interrupted_at_its_end() -> None:
    """However deep it is nested, and once only."""
    interruptions = Interruptions()
    steps: list[str] = []

    def work() -> None:
        with interruptions.delay():
            with interruptions.delay():
                interruptions.interrupt()
                steps.append("inner")
            steps.append("outer")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["inner", "outer"]
    with interruptions.delay():
        steps.append("again")


def test_an_error_is_not_hidden_by_an_interrupt() -> None:
    """What failed is told; the interrupt comes with the next occasion."""
    interruptions = Interruptions()

    def fail() -> None:
        with interruptions.delay():
            interruptions.interrupt()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with pytest.raises(KeyboardInterrupt), interruptions.delay():
        pass


@pytest.mark.parametrize(
    ("number", "is_hurried"), [(signal.SIGINT, False), (signal.SIGTERM, True), (signal.SIGHUP, True)]
)
def test_all_signals_are_heard(number: signal.Signals, is_hurried: bool) -> None:
    """SIGTERM and SIGHUP are in more of a hurry; afterwards earlier handlers are put back."""
    cleanups = list[Callable[[], object]]()
    interruptions = Interruptions()
    # Under nohup, SIGHUP is ignored.
    before = signal.signal(number, lambda *_: None)
    ours = signal.getsignal(number)
    listen(interruptions, cleanups.append)
    try:
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    finally:
        for cleanup in cleanups:
            cleanup()
        restored = signal.signal(number, before)
    assert (interruptions.count, interruptions.is_hurried) == (1, is_hurried)
    assert restored is ours


def test_where_the_process_ends_with_the_session_later_signals_are_ignored() -> None:
    """All is done and said by then: it ends as it would have."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    cleanups: list[Callable[[], object]] = []
    listen(Interruptions(), cleanups.append, ends_process=True)
    try:
        for cleanup in cleanups:
            cleanup()
        for number in before:
            os.kill(os.getpid(), number)
        assert {signal.getsignal(number) for number in before} == {signal.SIG_IGN}
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# A command.


def test_sigterm_interrupts_a_command() -> None:
    """As Ctrl-C does; what was there before is put back."""
    before = signal.getsignal(signal.SIGTERM)

    def work() -> None:
        with interruptible():
            os.kill(os.getpid(), signal.SIGTERM)
            threading.Event().wait(20)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_command_in_another_thread_goes_on() -> None:
    """Signals are not its business."""
    steps: list[str] = []

    def work() -> None:
        with interruptible():
            steps.append("done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(20)
    assert steps == ["done"]
