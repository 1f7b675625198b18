"""Live counters of all processes of a session in one small shared file, and the word to stop.

Each process writes only its own row, so no lock is needed; everyone may read all rows. The counters
serve the display; what is kept and counted for good stands in the journal.
"""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from pathlib import Path

_REASON_BYTES = 512
_HEADER = 2 + _REASON_BYTES // 8  # stopped, columns, the reason for stopping
_IN_FLIGHT, _MADE, _REPLAYED, _RETRIES, _FIRST_TOKENS = range(5)
_WORD = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The sum over all processes. `tokens` holds (input, output) for each model, in order."""

    in_flight: int
    made: int
    replayed: int
    retries: int
    tokens: tuple[tuple[int, int], ...]


class Board:
    """One process's view: it writes to its `row` and reads all."""

    def __init__(self, path: Path, row: int) -> None:
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        self._cells = memoryview(self._map).cast("q")
        self._columns = self._cells[1]
        self._start = _HEADER + row * self._columns

    @classmethod
    def create(cls, path: Path, *, rows: int, models: int) -> Board:
        """Make the file, all zero, and open its first row."""
        columns = _FIRST_TOKENS + 2 * models
        with path.open("wb") as file:
            os.truncate(file.fileno(), _WORD * (_HEADER + rows * columns))
            os.pwrite(file.fileno(), columns.to_bytes(_WORD, "little"), _WORD)
        return cls(path, 0)

    @property
    def is_stopped(self) -> bool:
        """Whether no process may start another call."""
        return self._cells[0] != 0

    @property
    def stop_reason(self) -> str:
        """What `stop` was told."""
        text = bytes(self._map[2 * _WORD : 2 * _WORD + _REASON_BYTES])
        return text.rstrip(b"\0").decode("utf-8", "ignore")

    def stop(self, reason: str) -> None:
        """Let no process start another call. The first reason stands, cut to 512 bytes."""
        if not self.is_stopped:
            text = reason.encode("utf-8", "replace")[:_REASON_BYTES]
            self._map[2 * _WORD : 2 * _WORD + len(text)] = text
            self._cells[0] = 1

    def enter(self) -> None:
        """A call of this process is in flight."""
        self._cells[self._start + _IN_FLIGHT] += 1

    def leave(self) -> None:
        """A call of this process is no longer in flight."""
        self._cells[self._start + _IN_FLIGHT] -= 1

    def count_retry(self) -> None:
        """This process repeats a call."""
        self._cells[self._start + _RETRIES] += 1

    def count_reply(self, model: int, input_tokens: int, output_tokens: int, *, replayed: bool) -> None:
        """This process has a reply of the model of that number, from the endpoint or from the journal."""
        self._cells[self._start + (_REPLAYED if replayed else _MADE)] += 1
        column = self._start + _FIRST_TOKENS + 2 * model
        self._cells[column] += input_tokens
        self._cells[column + 1] += output_tokens

    def totals(self) -> Totals:
        """The sums over all rows at this moment."""
        cells, columns = self._cells, self._columns
        sums = [sum(cells[_HEADER + column :: columns]) for column in range(columns)]
        pairs = zip(sums[_FIRST_TOKENS::2], sums[_FIRST_TOKENS + 1 :: 2], strict=True)
        return Totals(
            in_flight=sums[_IN_FLIGHT],
            made=sums[_MADE],
            replayed=sums[_REPLAYED],
            retries=sums[_RETRIES],
            tokens=tuple(pairs),
        )

    def close(self) -> None:
        """Let go of the file."""
        self._cells.release()
        self._map.close()
