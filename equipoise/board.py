"""What all processes of a session share while it runs: live counters, pauses and the word to stop.

One small shared file. Each process counts only in its own row, so counting needs no lock; everyone may
read all rows. The counters serve the display and the budget; what is kept for good stands in the journal.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from equipoise import pace
from equipoise.pace import Cells, Shared

_REASON_BYTES = 512
_WORD = 8
_STOPPED, _COLUMNS, _MODELS, _ROUND, _IS_ENOUGH, _REASON = range(6)
_ENDPOINTS = _REASON + _REASON_BYTES // _WORD
_PER_ENDPOINT = 1 + pace.CELLS
_IN_FLIGHT, _MADE, _REPLAYED, _RETRIES, _SENT, _SPENT, _RESERVED, _ESTIMATED, _FIRST_MODEL = range(9)
_PER_MODEL = 7
_INPUT, _OUTPUT, _LARGEST, _FLIGHTS, _WISHES, _ANSWERED, _FAILED = range(_PER_MODEL)
_NANO = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The sum over all processes. `tokens` holds (input, output) for each model, in order.

    `spent` and `reserved` are in nano-dollars and count only where a budget does. `estimated` are the replies
    whose tokens no endpoint has counted.
    """

    in_flight: int
    made: int
    replayed: int
    retries: int
    sent: int
    spent: int
    reserved: int
    estimated: int
    tokens: tuple[tuple[int, int], ...]


class Board:
    """One process's view: it writes to its `row` and reads all."""

    def __init__(self, path: Path, row: int) -> None:
        self.row = row
        self._file = os.open(path, os.O_RDWR)
        self._map = mmap.mmap(self._file, 0)
        self._cells = memoryview(self._map).cast("q")
        self._columns = self._cells[_COLUMNS]
        self._models = self._cells[_MODELS]
        self._first_row = _ENDPOINTS + _PER_ENDPOINT * self._models
        self._start = self._first_row + row * self._columns

    @classmethod
    def create(cls, path: Path, *, rows: int, models: int) -> Board:
        """Make the file, all zero, and open its first row."""
        columns = _FIRST_MODEL + _PER_MODEL * models
        with path.open("wb") as file:
            os.truncate(file.fileno(), _WORD * (_ENDPOINTS + _PER_ENDPOINT * models + rows * columns))
            for place, value in ((_COLUMNS, columns), (_MODELS, models)):
                os.pwrite(file.fileno(), value.to_bytes(_WORD, "little"), _WORD * place)
        return cls(path, 0)

    # The word to stop.

    @property
    def is_stopped(self) -> bool:
        """Whether no process may start another call."""
        return self._cells[_STOPPED] != 0

    @property
    def stop_reason(self) -> str:
        """What `stop` was told."""
        text = bytes(self._map[_REASON * _WORD : _REASON * _WORD + _REASON_BYTES])
        return text.rstrip(b"\0").decode("utf-8", "ignore")

    def stop(self, reason: str) -> None:
        """Let no process start another call. The first reason stands, cut to 512 bytes."""
        if not self.is_stopped:
            text = reason.encode("utf-8", "replace")[:_REASON_BYTES]
            self._map[_REASON * _WORD : _REASON * _WORD + len(text)] = text
            self._cells[_STOPPED] = 1

    # Rounds of runs.

    @property
    def round(self) -> int:
        """The last round whose runs may begin; 0 before the first is opened."""
        return self._cells[_ROUND]

    @property
    def is_enough(self) -> bool:
        """Whether no round after this one is needed."""
        return self._cells[_IS_ENOUGH] != 0

    def open_round(self, number: int) -> None:
        """Let the runs of this round begin."""
        self._cells[_ROUND] = number

    def close_rounds(self) -> None:
        """No later round will be opened."""
        self._cells[_IS_ENOUGH] = 1

    # Pauses that an endpoint asks for.

    def pause(self, endpoint: int, until: float) -> None:
        """Let nobody call an endpoint until then, in seconds of `time.monotonic`."""
        place = _ENDPOINTS + _PER_ENDPOINT * endpoint
        self._cells[place] = max(self._cells[place], int(until * _NANO))

    def paused_until(self, endpoint: int) -> float:
        """Until when nobody may call that endpoint; 0 where nothing was asked."""
        return self._cells[_ENDPOINTS + _PER_ENDPOINT * endpoint] / _NANO

    def health(self, endpoint: int) -> tuple[Cells, Cells]:
        """Answered calls and failed attempts of an endpoint, by process; this one's number is its row."""
        column = self._first_row + _FIRST_MODEL + _PER_MODEL * endpoint
        return self._cells[column + _ANSWERED :: self._columns], self._cells[
            column + _FAILED :: self._columns
        ]

    def pace(self, endpoint: int) -> Shared:
        """What the processes share of the pace towards an endpoint; this process's number is its row."""
        first = _ENDPOINTS + _PER_ENDPOINT * endpoint + 1
        column = self._first_row + _FIRST_MODEL + _PER_MODEL * endpoint
        return Shared(
            cells=self._cells[first : first + pace.CELLS],
            flights=self._cells[column + _FLIGHTS :: self._columns],
            wishes=self._cells[column + _WISHES :: self._columns],
        )

    # Counting.

    def enter(self) -> None:
        """A call of this process is in flight."""
        self._cells[self._start + _IN_FLIGHT] += 1
        self._cells[self._start + _SENT] += 1

    def leave(self) -> None:
        """A call of this process is no longer in flight."""
        self._cells[self._start + _IN_FLIGHT] -= 1

    def count_retry(self) -> None:
        """This process repeats a call."""
        self._cells[self._start + _RETRIES] += 1

    def count_reply(
        self, model: int, input_tokens: int, output_tokens: int, *, replayed: bool, is_estimated: bool = False
    ) -> None:
        """This process has a reply of the model of that number, from the endpoint or from the journal."""
        self._cells[self._start + (_REPLAYED if replayed else _MADE)] += 1
        self._cells[self._start + _ESTIMATED] += is_estimated
        column = self._start + _FIRST_MODEL + _PER_MODEL * model
        self._cells[column + _INPUT] += input_tokens
        self._cells[column + _OUTPUT] += output_tokens
        self._cells[column + _LARGEST] = max(self._cells[column + _LARGEST], output_tokens)

    def largest_output(self, model: int) -> int:
        """The most tokens that a reply of this model has had in any process; 0 where none is known."""
        first = self._first_row + _FIRST_MODEL + _PER_MODEL * model
        return max(self._cells[first + _LARGEST :: self._columns])

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While this lasts no other process is in here."""
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def in_flight_elsewhere(self) -> int:
        """How many places the other processes have taken, by the paces towards all endpoints."""
        columns = range(_FIRST_MODEL + _FLIGHTS, self._columns, _PER_MODEL)
        return sum(
            sum(self._cells[self._first_row + column :: self._columns]) - self._cells[self._start + column]
            for column in columns
        )

    def reserve(self, amount: int) -> None:
        """Set aside nano-dollars for a call of this process."""
        self._cells[self._start + _RESERVED] += amount

    def settle(self, reserved: int, spent: int) -> None:
        """Give back what was set aside for a call, and count what it cost."""
        self._cells[self._start + _RESERVED] -= reserved
        self._cells[self._start + _SPENT] += spent

    def bury(self, row: int) -> None:
        """The process of that row is dead: nothing of it is in flight, what it set aside counts as spent."""
        start = self._first_row + row * self._columns
        self._cells[start + _IN_FLIGHT] = 0
        self._cells[start + _SPENT] += self._cells[start + _RESERVED]
        self._cells[start + _RESERVED] = 0
        for model in range(self._models):
            column = start + _FIRST_MODEL + _PER_MODEL * model
            self._cells[column + _FLIGHTS] = self._cells[column + _WISHES] = 0

    def totals(self) -> Totals:
        """The sums over all rows at this moment."""
        rows = self._cells[self._first_row :]
        sums = [sum(rows[column :: self._columns]) for column in range(self._columns)]
        return Totals(
            in_flight=sums[_IN_FLIGHT],
            made=sums[_MADE],
            replayed=sums[_REPLAYED],
            retries=sums[_RETRIES],
            sent=sums[_SENT],
            spent=sums[_SPENT],
            reserved=sums[_RESERVED],
            estimated=sums[_ESTIMATED],
            tokens=tuple(
                zip(
                    sums[_FIRST_MODEL + _INPUT :: _PER_MODEL],
                    sums[_FIRST_MODEL + _OUTPUT :: _PER_MODEL],
                    strict=True,
                )
            ),
        )

    def close(self) -> None:
        """Let go of the file. What others still hold of the map lives as long as they do."""
        os.close(self._file)
