"""How many calls an endpoint is given at once: found out by trying, by all processes together.

The level starts at a quarter of what is allowed and grows by a third with every round of answers. When
calls are refused it is halved, once for all that were in flight together, and then grows back quickly to
what the endpoint has borne. There it stays for a while and then tries for a tenth more, again and again for
as long as that goes well. Every process has as large a share of the level as any other that has calls to
make. Nothing here knows what time it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

START = 4
"""The first level is one part in so many of what is allowed."""
SLOWLY = 3
"""Until calls are refused for the first time, the level grows by one for so many answers."""
STEP = 10
"""The level tries for one part in so many more than was borne."""
FEW, MOST_CREDIT = 20, 100
"""So many answers make up for one refusal, which then says nothing of the level: some endpoints refuse at
random. No more than so many answers are remembered."""
DOUBTS = 4
"""Of refusals that may be chance, one in so many lowers what is believed to be borne by one call."""
FIRST_PATIENCE, MOST_PATIENCE = 16, 32
"""For how many answers to each place the level stays at what was borne before it tries for more."""

CELLS = 9
"""How many whole numbers the processes share for each endpoint, all 0 at first."""
# What they mean: the level; what was borne, 0 while nothing was refused; what was borne before the present
# try for more, 0 while there is none; how often the level was halved. Of the calls that were in flight when
# it was halved: how many, and how many of them were refused. Answers that make up for refusals to come,
# answers that count towards the next try, and the patience.
_LEVEL, _BORNE, _BEFORE, _ERA, _CALLS, _LOST, _CREDIT, _QUIET, _PATIENCE = range(CELLS)


class Cells(Protocol):
    """A row of whole numbers: a list, or a part of a shared file."""

    def __getitem__(self, place: int, /) -> int: ...
    def __setitem__(self, place: int, value: int, /) -> None: ...
    def __iter__(self) -> Iterator[int]: ...
    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The level was halved: from what to what, with which level believed to be borne."""

    before: int
    after: int
    borne: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What the processes share of one endpoint: `cells`, and calls in flight and waiting by process.

    Each process writes only its own number of flights and wishes. Two that write a cell at once lose one
    answer's growth, which does no harm.
    """

    cells: Cells
    flights: Cells
    wishes: Cells


def alone() -> Shared:
    """For a process that shares with nobody."""
    return Shared(cells=[0] * CELLS, flights=[0], wishes=[0])


class Pace:
    """The pace of process `number` towards one endpoint; `most` is what all processes may have in flight.

    Every call is announced with `begin`, whose answer is given back to `succeed`, `refuse` or `end`.
    """

    def __init__(self, most: int, shared: Shared | None = None, number: int = 0) -> None:
        self.most = most
        self.refused = 0
        self._shared = shared or alone()
        self._cells = self._shared.cells
        self._flights = self._shared.flights
        self._number = number
        if not self._cells[_LEVEL]:
            self._cells[_PATIENCE] = FIRST_PATIENCE
            self._cells[_LEVEL] = -(-most // START)
        self.highest = self.lowest = self.level

    @property
    def level(self) -> int:
        """How many calls all processes together may have in flight."""
        return self._cells[_LEVEL]

    @property
    def is_shared(self) -> bool:
        """Whether other processes call the same endpoint."""
        return len(self._flights) > 1

    @property
    def in_flight(self) -> int:
        """How many calls this process has in flight."""
        return self._flights[self._number]

    @property
    def limit(self) -> int:
        """This process's share of the level."""
        if not self.is_shared:
            return self.level
        busy = rank = 0
        for number, (calls, wish) in enumerate(zip(self._flights, self._shared.wishes, strict=True)):
            if calls or wish or number == self._number:
                busy += 1
                rank += number < self._number
        base, rest = divmod(self.level, busy)
        return base + (rank < rest)

    @property
    def has_room(self) -> bool:
        """Whether this process may have one more call in flight."""
        return self.in_flight < self.limit and sum(self._flights) < self.level

    def wish(self, calls: int) -> None:
        """So many calls of this process are waiting."""
        self._shared.wishes[self._number] = calls

    def begin(self) -> int:
        """One more call is in flight."""
        self._flights[self._number] += 1
        return self._cells[_ERA]

    def succeed(self) -> None:
        """A call was answered: where all places were taken, there may be room for more."""
        is_full = not self.has_room
        self.end()
        self._cells[_CREDIT] = min(MOST_CREDIT, self._cells[_CREDIT] + 1)
        if is_full:
            self._grow()
            self.highest = max(self.highest, self.level)

    def end(self) -> None:
        """A call ended in a way that says nothing of how many the endpoint takes."""
        self._flights[self._number] -= 1

    def refuse(self, era: int) -> Cut | None:
        """The endpoint refused a call as one too many; what was done about it, if anything."""
        self.refused += 1
        cut = None
        if era == self._cells[_ERA]:
            cut = self._halve()
        elif era == self._cells[_ERA] - 1:
            self._cells[_LOST] += 1
            self._learn()
        self.lowest = min(self.lowest, self.level)
        self.end()
        return cut

    def _halve(self) -> Cut:
        cells = self._cells
        before = cells[_LEVEL]
        cells[_ERA] += 1
        cells[_CALLS], cells[_LOST] = sum(self._flights), 1
        cells[_LEVEL] = max(1, min(before, cells[_CALLS]) // 2)
        self._learn()
        return Cut(before=before, after=cells[_LEVEL], borne=cells[_BORNE])

    def _learn(self) -> None:
        """What is borne is what was in flight without those that were refused, unless that may be chance."""
        cells = self._cells
        cells[_CREDIT] -= FEW
        if cells[_BORNE] and cells[_CREDIT] >= 0:
            # A level that is too high by one is refused as seldom as by chance.
            is_doubtful = cells[_LOST] == 1 and cells[_ERA] % DOUBTS == 0
            cells[_BORNE] = max(1, cells[_BORNE] - is_doubtful)
            return
        borne = max(1, cells[_CALLS] - cells[_LOST])
        if cells[_BORNE]:
            borne = min(borne, cells[_BEFORE] or cells[_BORNE])
        if cells[_BEFORE]:
            cells[_PATIENCE] = min(MOST_PATIENCE, 2 * cells[_PATIENCE])
        cells[_BEFORE] = cells[_QUIET] = cells[_CREDIT] = 0
        cells[_BORNE] = borne
        cells[_LEVEL] = min(cells[_LEVEL], borne)

    def _grow(self) -> None:
        cells = self._cells
        level, borne = cells[_LEVEL], cells[_BORNE]
        if not borne:
            cells[_QUIET] += 1
            cells[_LEVEL] = min(self.most, level + (cells[_QUIET] % SLOWLY == 0))
        elif level < borne:
            cells[_LEVEL] = level + 1
        elif level < self.most:
            cells[_QUIET] += 1
            # A try that has gone well for one round is followed by the next at once.
            if cells[_QUIET] >= level * (1 if cells[_BEFORE] else cells[_PATIENCE]):
                self._try_for_more()

    def _try_for_more(self) -> None:
        cells = self._cells
        level = cells[_LEVEL]
        if cells[_BEFORE]:
            cells[_PATIENCE] = FIRST_PATIENCE
        cells[_BEFORE], cells[_QUIET], cells[_CREDIT] = level, 0, 0
        cells[_LEVEL] = cells[_BORNE] = min(self.most, level + max(1, level // STEP))
