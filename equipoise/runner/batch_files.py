"""Writes the calls of batches to files, and reads their answers from files.

The files are for `vllm run-batch`, a provider's console, or a proxy. Each file has the calls to one model.
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
    """The answers in files. Only the offsets of their lines are held in memory.

    `doubled` counts lines whose custom_id was read before, `unreadable` lines that are no answers. Raises
    UserError if a file cannot be read or has no answer.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._offsets: dict[str, tuple[Path, int]] = {}
        self._used: set[str] = set()
        self.doubled = self.unreadable = 0
        for path in paths:
            try:
                self._index(path)
            except OSError as error:
                raise UserError(f"--batch-read: {shown(path)}: cannot be read ({error.strerror})") from None

    def _index(self, path: Path) -> None:
        """Store the offset of each answer in a file. Raises UserError if there is none."""
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
        """The answer to the call with this custom_id; None without one, or if it was taken before."""
        if name in self._used or name not in self._offsets:
            return None
        self._used.add(name)
        path, start = self._offsets[name]
        with opened(path) as file:
            file.seek(start)
            return read_line(file.readline())

    def unknown(self, known: Collection[str]) -> int:
        """The number of answers to no call; `known` are the custom_ids of all calls, earlier ones too."""
        return sum(name not in self._used and name not in known for name in self._offsets)


def write(path: Path, requests: Mapping[str, Sequence[bytes]]) -> Iterator[tuple[Path, str, int]]:
    """Write the requests of each model, one a line, to `path`, or with several models to a file for each.

    Yields each file with its model and number of calls. Raises UserError.
    """
    for model, request_lines in requests.items():
        target = (
            path if len(requests) == 1 else path.with_name(f"{path.stem}.{file_name(model)}{path.suffix}")
        )
        try:
            with replacing(target) as file:
                file.writelines(request_lines)
        except OSError as error:
            raise UserError(f"--batch-write: {shown(target)}: cannot be written ({error.strerror})") from None
        yield target, model, len(request_lines)


class FileBatches:
    """`--batch-write` and `--batch-read`: answers waiting calls from files, and writes the rest to files.

    `mask` removes API keys from a text.
    """

    def __init__(self, settings: Settings, client: Client, mask: Callable[[str], str]) -> None:
        self._settings = settings
        self._client = client
        self._mask = mask
        self._answers = Answers(settings.batch_read)
        self._messages: list[str] = []

    def answer(self, waiting: Iterable[WaitingCall]) -> bool:
        """Answer calls from the files of --batch-read. Returns whether any were answered."""
        has_answered = False
        for item in waiting:
            if (line := self._answers.take(item.name)) is not None:
                answer: Reply | Failure = UNANSWERED
                if line.status is not None:
                    answer = self._client.read_line(item.call, line.status, line.body, 0)
                if isinstance(answer, Reply):
                    item.answer(answer)
                    has_answered = True
                elif not (answer.is_transient or self._client.is_learned(item.call, answer)):
                    status = f"HTTP {answer.status}: {answer.message}"
                    message = self._mask(f"{item.call.role} {item.call.model!r}: {status}")
                    item.fail(CallFailed(message))
                    has_answered = True
        return has_answered

    def write(self, waiting: Iterable[WaitingCall]) -> None:
        """Write these calls to the file of --batch-write, or else only count them. Raises UserError."""
        requests: defaultdict[str, list[bytes]] = defaultdict(list)
        for item in waiting:
            requests[item.call.model].append(request_line(item.name, *self._client.line(item.call)))
        if self._settings.batch_write is None:
            calls = sum(map(len, requests.values()))
            self._messages = [f"{calls:,} calls have no answer yet; `equipoise batch write` writes them"]
            return
        for path, model, number in write(self._settings.batch_write, requests):
            self._messages.append(
                f"{number:,} calls to {model} are in {shown(path)}; have them answered, then give the "
                "answers to `equipoise batch read`"
            )

    def messages(self, known: Collection[str]) -> list[str]:
        """Messages about files written and answers ignored; `known` is as in Answers.unknown."""
        parts = {
            "with another id": self._answers.unknown(known),
            "doubled": self._answers.doubled,
            "unreadable": self._answers.unreadable,
        }
        counts = [f"{count:,} {what}" for what, count in parts.items() if count]
        ignored = [f"answers that were ignored: {', '.join(counts)}"] if counts else []
        return [*map(printable, self._messages), *ignored]
