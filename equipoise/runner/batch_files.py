"""The calls of batches as files, and their answers: for `vllm run-batch`, a provider's console, or a proxy.

A file has the lines of one model. Knows neither runs nor endpoints.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import opened, replacing, shown
from equipoise.models.batches import ResultLine, read_line
from equipoise.results.store import file_name


class Answers:
    """The lines of files of answers, of which only the places are held in memory. Raises UserError."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._places: dict[str, tuple[Path, int]] = {}
        self._taken: set[str] = set()
        self.doubled = self.unreadable = 0
        for path in paths:
            try:
                self._index(path)
            except OSError as error:
                raise UserError(f"--batch-read: {shown(path)}: cannot be read ({error.strerror})") from None

    def _index(self, path: Path) -> None:
        start = number = 0
        with opened(path) as file:
            for data in file:
                line = read_line(data)
                if line is not None:
                    number += 1
                    self.doubled += line.name in self._places
                    self._places.setdefault(line.name, (path, start))
                else:
                    self.unreadable += bool(data.strip())
                start += len(data)
        if not number:
            raise UserError(f"--batch-read: {shown(path)}: has no line with a custom_id and a response")

    def take(self, name: str) -> ResultLine | None:
        """The answer to a call, once."""
        if name in self._taken or name not in self._places:
            return None
        self._taken.add(name)
        path, start = self._places[name]
        with opened(path) as file:
            file.seek(start)
            return read_line(file.readline())

    def unknown(self, known: Collection[str]) -> int:
        """How many answers are to no call that was made, now or earlier."""
        return sum(name not in self._taken and name not in known for name in self._places)


def write(path: Path, lines: Mapping[str, Sequence[bytes]]) -> Iterator[tuple[Path, str, int]]:
    """Write the lines of each model, with several models in a file each; yields file, model and number.

    Raises UserError.
    """
    for model, requests in lines.items():
        target = path if len(lines) == 1 else path.with_name(f"{path.stem}.{file_name(model)}{path.suffix}")
        try:
            with replacing(target) as file:
                file.writelines(requests)
        except OSError as error:
            raise UserError(f"--batch-write: {shown(target)}: cannot be written ({error.strerror})") from None
        yield target, model, len(requests)
