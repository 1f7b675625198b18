"""The engine's event loop: time in which the process did not run counts for no limit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

from equipoise.runner.awake_loop import LONGEST_GAP, AwakeLoop


class Clock:
    """A clock that runs on by itself, and further at will."""

    def __init__(self) -> None:
        self.added = 0.0
        self._monotonic = time.monotonic

    def __call__(self) -> float:
        """The seconds of the machine's clock, and those that were added."""
        return self._monotonic() + self.added


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of all event loops."""
    clock = Clock()
    monkeypatch.setattr("asyncio.base_events.time.monotonic", clock)
    return clock


@pytest.fixture
def loop(clock: Clock) -> Iterator[AwakeLoop]:
    """A loop that is not running."""
    loop = AwakeLoop()
    yield loop
    loop.close()


async def after(seconds: float, clock: Clock) -> str:
    """An answer that comes while the process is stopped, for so many seconds."""
    future = asyncio.get_running_loop().create_future()

    def stop_and_go_on() -> None:
        clock.added += seconds
        future.set_result("the answer")

    asyncio.get_running_loop().call_later(0.1, stop_and_go_on)
    async with asyncio.timeout(5):
        return str(await future)


@pytest.mark.parametrize("seconds", [0.0, 6.0, 3600.0])
def test_an_answer_that_came_during_a_stop_is_read(loop: AwakeLoop, clock: Clock, seconds: float) -> None:
    """However long the process was stopped, even where the limit is shorter."""
    assert loop.run_until_complete(after(seconds, clock)) == "the answer"


def test_a_stop_counts_for_no_limit(loop: AwakeLoop, clock: Clock) -> None:
    """Nor does what lies before it count twice: the limit holds for the time that the process ran."""

    async def wait() -> float:
        began = time.perf_counter()
        asyncio.get_running_loop().call_later(0.05, lambda: setattr(clock, "added", 100.0))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.6):
                await asyncio.get_running_loop().create_future()
        return time.perf_counter() - began

    assert loop.run_until_complete(wait()) >= 0.55


def test_what_lies_between_two_runs_of_the_loop_counts(loop: AwakeLoop, clock: Clock) -> None:
    """A loop that nobody runs does not look at the clock, which is no stop of the process."""

    async def now() -> float:
        return asyncio.get_running_loop().time()

    before = loop.run_until_complete(now())
    clock.added += 10 * LONGEST_GAP
    assert loop.run_until_complete(now()) - before >= 10 * LONGEST_GAP
