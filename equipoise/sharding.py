"""xdist: every worker knows its share of the runs before it starts, and gets exactly that.

Without this a worker would learn of its runs a few at a time and could not look ahead. A dead worker's
rest goes to the worker that replaces it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdist.scheduler.load import LoadScheduling

from equipoise.session import Session


class Sharding:
    """The hooks of the controller. `begin` opens the session for the collected node ids."""

    def __init__(self, session: Session, begin: Callable[[Sequence[str]], None]) -> None:
        self._session = session
        self._begin = begin
        self._rows = 0
        self._scheduler: ShareScheduling | None = None
        self._free_numbers: list[int] = []
        self._claims: dict[Any, set[int]] = {}

    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker, before it starts, what is its own."""
        rest = self._unclaimed()
        number = self._free_numbers.pop() if self._free_numbers else self._rows
        self._claims[node] = set(rest or ())
        self._rows += 1
        # Row 0 of the board is the controller's, which makes no calls.
        link = self._session.worker_link(
            row=self._rows, number=number, workers=_count(node.config), share=rest
        )
        node.workerinput["equipoise"] = link.to_json()

    def pytest_testnodedown(self, node: Any) -> None:
        """Whatever a dead worker was to do, its replacement may be told to."""
        link = node.workerinput["equipoise"]
        self._free_numbers.append(link["number"])
        self._claims.pop(node, None)
        with self._session.board.alone():
            self._session.board.bury(link["row"])

    def pytest_sessionfinish(self) -> None:
        """Before xdist ends the workers, wait for the calls that they have in flight."""
        self._session.await_workers()

    def _unclaimed(self) -> list[int] | None:
        """What dead workers left and no living replacement was told of; None before work was handed out."""
        if self._scheduler is None or self._scheduler.collection is None:
            return None
        claimed = set[int]().union(*self._claims.values())
        return [item for item in self._scheduler.pending if item not in claimed]

    def pytest_xdist_make_scheduler(self, config: Any, log: Any) -> ShareScheduling:
        """Hand out shares."""
        active = min(_count(config), self._session.settings.concurrency)
        self._scheduler = ShareScheduling(config, log, self._begin, active)
        return self._scheduler


def _count(config: Any) -> int:
    return len(config.getvalue("tx"))


class ShareScheduling(LoadScheduling):  # type: ignore[misc] # xdist has no types
    """Item i goes to worker i mod `active`, in one piece, followed by the word to end."""

    collection: list[str] | None

    def __init__(self, config: Any, log: Any, begin: Callable[[Sequence[str]], None], active: int) -> None:
        super().__init__(config, log)
        self._begin = begin
        self._active = active

    def schedule(self) -> None:
        """Hand out the shares at first, later a dead worker's rest."""
        if self.collection is not None:
            for node in self.nodes:
                self.check_schedule(node)
            return
        if not self._check_nodes_have_same_collection():
            return
        self.collection = next(iter(self.node2collection.values()))
        self._begin_or_send_home(self.collection)
        for node in self.nodes:
            number = node.workerinput["equipoise"]["number"]
            self._give(
                node, range(number, len(self.collection), self._active) if number < self._active else ()
            )

    def _begin_or_send_home(self, collection: Sequence[str]) -> None:
        """Where the session is refused, workers that wait for their share would be killed after a while."""
        try:
            self._begin(collection)
        except BaseException:
            for node in self.nodes:
                node.shutdown()
            raise

    def check_schedule(self, node: Any, duration: float = 0) -> None:
        """Give a replacement what it was told of; a worker with a share needs nothing more."""
        if not node.shutting_down:
            told = set(node.workerinput["equipoise"]["share"] or ())
            self._give(node, [item for item in self.pending if item in told])
            self.pending[:] = [item for item in self.pending if item not in told]

    def _give(self, node: Any, share: Sequence[int]) -> None:
        try:
            node.send_runtest_some(list(share))
        except OSError:
            # It is dead, and nobody has said so yet: its share waits for the replacement.
            self.pending.extend(share)
            return
        self.node2pending[node].extend(share)
        node.shutdown()
