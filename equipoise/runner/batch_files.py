"""The calls of batches as files, and their answers: for `vllm run-batch`, a provider's console, or a proxy.

A file has the lines of one model. Knows neither runs nor endpoints.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.core.errors import CallFailed, UserError, printable
from equipoise.core.files import opened, replacing, shown
from equipoise.core.settings import Settings
from equipoise.core.types import Reply
from equipoise.models.batches import ResultLine, read_line, request_line
from equipoise.models.failures import Failure
from equipoise.results.store import file_name
from equipoise.runner.waiting_calls import UNANSWERED, WaitingCall

if TYPE_CHECKING:
    from equipoise.models.client import Client


class Answers:
    """The lines of files of answers, of which only the offsets are held in memory. Raises UserError."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._offsets: dict[str, tuple[Path, int]] = {}
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
                    self.doubled += line.name in self._offsets
                    self._offsets.setdefault(line.name, (path, start))
                else:
                    self.unreadable += bool(data.strip())
                start += len(data)
        if not number:
            raise UserError(f"--batch-read: {shown(path)}: has no line with a custom_id and a response")

    def take(self, name: str) -> ResultLine | None:
        """The answer to a call, once."""
        if name in self._taken or name not in self._offsets:
            return None
        self._taken.add(name)
        path, start = self._offsets[name]
        with opened(path) as file:
            file.seek(start)
            return read_line(file.readline())

    def unknown(self, known: Collection[str]) -> int:
        """The number of answers to no call that was made, now or earlier."""
        return sum(name not in self._taken and name not in known for name in self._offsets)


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


class FileBatches:
    """`--batch-write` and `--batch-read`: waiting calls are written to files, and answered from files."""

    def __init__(self, settings: Settings, client: Client, mask: Callable[[str], str]) -> None:
        self._settings = settings
        self._client = client
        self._mask = mask
        self._answers = Answers(settings.batch_read)
        self._written: list[str] = []

    def answer(self, waiting: Iterable[WaitingCall]) -> bool:
        """Answer calls from the files that were given. Returns whether any were answered."""
        is_any = False
        for item in waiting:
            while (line := self._answers.take(item.name)) is not None:
                answer: Reply | Failure = UNANSWERED
                if line.status is not None:
                    answer = self._client.read_line(item.call, line.status, line.body, 0)
                if isinstance(answer, Reply):
                    item.answer(answer)
                    is_any = True
                elif not (answer.is_transient or self._client.is_learned(item.call, answer)):
                    what = f"HTTP {answer.status}: {answer.message}"
                    why = self._mask(f"{item.call.role} {item.call.model!r}: {what}")
                    item.fail(CallFailed(why))
                    is_any = True
        return is_any

    def write(self, waiting: Iterable[WaitingCall]) -> None:
        """Write the calls that have no answer yet. Raises UserError."""
        lines: defaultdict[str, list[bytes]] = defaultdict(list)
        for item in waiting:
            lines[item.call.model].append(request_line(item.name, *self._client.line(item.call)))
        if self._settings.batch_write is None:
            calls = sum(map(len, lines.values()))
            self._written = [f"{calls:,} calls have no answer yet; `equipoise batch write` writes them"]
            return
        for path, model, number in write(self._settings.batch_write, lines):
            self._written.append(
                f"{number:,} calls to {model} are in {shown(path)}; have them answered, then give the "
                "answers to `equipoise batch read`"
            )

    def lines(self, known: Collection[str]) -> list[str]:
        """Lines about files written and answers ignored; `known` are all calls that were ever made."""
        parts = {
            "with another id": self._answers.unknown(known),
            "doubled": self._answers.doubled,
            "unreadable": self._answers.unreadable,
        }
        counts = [f"{count:,} {what}" for what, count in parts.items() if count]
        ignored = [f"answers that were ignored: {', '.join(counts)}"] if counts else []
        return [*map(printable, self._written), *ignored]
