"""A slot of the limiter that shows its calls on the board and tells of failures in time."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from equipoise.board import Board
from equipoise.errors import CallFailed
from equipoise.limiter import Limiter, Slot


class ShownSlot(Slot):
    """A slot whose calls the board counts; `on_failure` hears of a failed call before the next is let in."""

    __slots__ = ("_board", "_on_failure")

    def __init__(
        self, limiter: Limiter, priority: int, board: Board, on_failure: Callable[[CallFailed], None]
    ) -> None:
        super().__init__(limiter, priority)
        self._board = board
        self._on_failure = on_failure

    async def __aenter__(self) -> None:
        await super().__aenter__()
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
        await super().__aexit__(kind, error, traceback)
