"""A call's place: a slot of the limiter that shows on the board and tells of failures in time."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from equipoise.board import Board
from equipoise.errors import CallFailed
from equipoise.limiter import Slot


class Place:
    """A run's slot that shows its calls on the board; the client opens it anew for each attempt.

    `on_failure` is told of a failed call before the slot is given to the next.
    """

    __slots__ = ("_board", "_on_failure", "_slot")

    def __init__(self, slot: Slot, board: Board, on_failure: Callable[[CallFailed], None]) -> None:
        self._slot = slot
        self._board = board
        self._on_failure = on_failure

    def __call__(self) -> Place:
        """Itself: what the client calls before each attempt."""
        return self

    async def __aenter__(self) -> None:
        await self._slot.__aenter__()
        self._board.enter()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._board.leave()
        if isinstance(error, CallFailed):
            self._on_failure(error)
        await self._slot.__aexit__(kind, error, traceback)
