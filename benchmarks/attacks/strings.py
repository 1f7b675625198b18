"""Hostile strings for every function that reads or shows text that others have written.

Each has to be done with each text within a limit of CPU time. They run in a process of their own, which the
kernel ends where one is not.
"""

from __future__ import annotations

import math
import resource
import time
from functools import partial
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from readers import MORE_UNITS, READERS, UNITS, Reader, hostile

from attacks.tally import Size, Tally

MOST_SECONDS = 30
"""Of CPU time, for any text; the slowest takes a tenth of it."""
Task = tuple[Reader, str]
"""What a process is sent: a reader that can be pickled, and a text."""
PATIENCE = 600.0
"""Seconds until a process is ended that neither answers nor computes."""


def attack(size: Size) -> Tally:
    """Every reader with every text of a megabyte; of a sample some texts of 128 kB."""
    tally = Tally("hostile strings")
    texts, length = {**UNITS, **MORE_UNITS}, size.of(2**17, 2**20)
    if not size.is_full:
        texts = dict([*UNITS.items()][::4])
    worker = Worker()
    for name in READERS:
        for text, unit in texts.items():
            with tally.attack(f"{name}: {text}") as harm:
                failure = worker.failure(partial(read_by_name, name), hostile(unit, length))
                harm.expect(not failure, failure)
    worker.close()
    return tally


def read_by_name(name: str, text: str) -> object:
    """Read a text with the reader of this name. Unlike many readers, this can be sent to another process."""
    return READERS[name](text)


class Worker:
    """A process that reads texts, each within so many seconds; another one replaces one that was ended."""

    def __init__(self, limit: int = MOST_SECONDS) -> None:
        self._limit = limit
        self._process: BaseProcess | None = None
        self._connection: Connection[Task, str]

    def failure(self, read: Reader, text: str) -> str:
        """Why a reader did not do with a text; empty if it did."""
        if self._process is None:
            self._start()
        try:
            self._connection.send((read, text))
            if self._connection.poll(PATIENCE):
                return self._connection.recv()
        except (EOFError, OSError):
            pass
        self.close()
        return f"took more than {self._limit} s of CPU for {len(text):,} characters"

    def _start(self) -> None:
        self._connection, other = Pipe()
        self._process = get_context("spawn").Process(target=_serve, args=(other, self._limit), daemon=True)
        self._process.start()
        other.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None


def _serve(connection: Connection[str, Task], seconds: int) -> None:
    """Read texts until the other end is closed."""
    while True:
        read, text = connection.recv()
        limit = math.ceil(time.process_time()) + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        try:
            read(text)
            connection.send("")
        except Exception as error:
            connection.send(f"{type(error).__name__}: {error}"[:500])
