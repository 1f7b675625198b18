"""Signals: when the user is obeyed at once, and when a little later."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product

import pytest

from equipoise.runner import signals
from equipoise.runner.signals import Interruptions, heard, interruptible, listen


def test_the_first_interrupts_and_the_second_only_counts() -> None:
    """The second must not disturb what is being done about the first; a third is obeyed again."""
    found = Interruptions()
    with pytest.raises(KeyboardInterrupt):
        found.interrupt()
    found.interrupt()
    assert found.count == 2
    with pytest.raises(KeyboardInterrupt):
        found.interrupt()


def test_what_comes_too_late_is_ignored() -> None:
    """Nothing is raised or counted, nor owed to anybody."""
    found = Interruptions()
    found.ignore()
    with found.undisturbed():
        found.interrupt(is_hurried=True)
    found.interrupt()
    assert (found.count, found.is_hurried) == (0, False)


def test_a_session_that_finishes_only_counts() -> None:
    """What is in flight is dropped at the second, but the results are written."""
    found = Interruptions()
    found.finish()
    for _ in range(3):
        with found.undisturbed():
            found.interrupt()
    assert found.count == 3


def test_what_is_undisturbed_is_interrupted_at_its_end() -> None:
    """However deep it is nested, and once only."""
    found = Interruptions()
    steps: list[str] = []

    def work() -> None:
        with found.undisturbed():
            with found.undisturbed():
                found.interrupt()
                steps.append("inner")
            steps.append("outer")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["inner", "outer"]
    with found.undisturbed():
        steps.append("again")


def test_an_error_is_not_hidden_by_an_interrupt() -> None:
    """What failed is told; the interrupt comes with the next occasion."""
    found = Interruptions()

    def fail() -> None:
        with found.undisturbed():
            found.interrupt()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with pytest.raises(KeyboardInterrupt), found.undisturbed():
        pass


@pytest.fixture
def cleanups() -> Iterator[list[Callable[[], object]]]:
    """What puts earlier handlers back, done at the end."""
    found: list[Callable[[], object]] = []
    yield found
    for cleanup in found:
        cleanup()


@pytest.mark.parametrize(("number", "is_hurried"), [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_both_signals_are_heard(
    cleanups: list[Callable[[], object]], number: signal.Signals, is_hurried: bool
) -> None:
    """SIGTERM is in more of a hurry."""
    found = Interruptions()
    listen(found, cleanups.append)
    with suppress(KeyboardInterrupt):
        os.kill(os.getpid(), number)
    assert (found.count, found.is_hurried) == (1, is_hurried)


def test_earlier_handlers_are_put_back() -> None:
    """A session leaves no trace in the process."""
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    found: list[Callable[[], object]] = []
    listen(Interruptions(), found.append)
    for cleanup in found:
        cleanup()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


# On an event loop.


def story(*numbers: signal.Signals) -> list[str]:
    """What is called on when these signals come one after the other, and nothing ends by itself."""
    told: list[str] = []

    async def work() -> None:
        ended = asyncio.Event()

        def drop() -> None:
            told.append("drop")
            ended.set()

        with heard(lambda: told.append("stop"), drop):
            for number in numbers:
                os.kill(os.getpid(), number)
                await asyncio.sleep(0.05)
            await asyncio.wait_for(ended.wait(), 20)

    asyncio.run(work())
    return told


def test_the_second_signal_drops() -> None:
    """Whichever of the two they are."""
    for first, second in product((signal.SIGINT, signal.SIGTERM), repeat=2):
        assert story(first, second) == ["stop", "drop"], (first, second)


def test_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of SIGTERM is its own."""
    monkeypatch.setattr(signals, "HURRY", 0.01)
    assert story(signal.SIGTERM) == ["stop", "drop"]
    monkeypatch.setattr(signals, "PATIENCE", 0.01)
    assert story(signal.SIGINT) == ["stop", "drop"]


def test_a_loop_leaves_no_trace() -> None:
    """Neither a handler nor a timer."""

    async def work() -> None:
        with heard(lambda: None, lambda: pytest.fail("dropped")):
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0.01)

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    asyncio.run(work())
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_body_that_fails_leaves_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is dropped on a loop that goes on with something else."""
    monkeypatch.setattr(signals, "PATIENCE", 0.01)
    told: list[str] = []

    async def fail() -> None:
        stopped = asyncio.Event()

        def stop() -> None:
            told.append("stop")
            stopped.set()

        with heard(stop, lambda: told.append("drop")):
            os.kill(os.getpid(), signal.SIGINT)
            await stopped.wait()
            raise ZeroDivisionError

    async def work() -> None:
        with pytest.raises(ZeroDivisionError):
            await fail()
        await asyncio.sleep(0.1)

    asyncio.run(work())
    assert told == ["stop"]


def test_another_thread_hears_nothing() -> None:
    """And does its work all the same."""
    told: list[str] = []

    async def work() -> None:
        with heard(lambda: None, lambda: None):
            told.append("done")

    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    thread.join(20)
    assert told == ["done"]


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
    told: list[str] = []

    def work() -> None:
        with interruptible():
            told.append("done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(20)
    assert told == ["done"]
