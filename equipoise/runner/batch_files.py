"""Writes the calls of batches to files, and reads the answers to them from files.

A file has the calls to one model. The user has them answered by `vllm run-batch`, a provider's console, or a
proxy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.core.errors import CallFailed, UserError, printable
from equipoise.core.files import open_regular, replacing, shown
from equipoise.core.settings import Settings
from equipoise.core.types import Reply
from equipoise.models.batches import ResultLine, read_result_line, request_line
from equipoise.models.failures import Failure
from equipoise.results.store import file_name
from equipoise.runner.waiting_calls import UNANSWERED, WaitingCall

if TYPE_CHECKING:
    from equipoise.models.client import Client


class Answers:
    """The answers in files. Only the offsets of lines are held in memory.

    `doubled` counts lines whose custom_id was read before, `unreadable` lines that are not answers. Raises
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
        start = answers = 0
        with open_regular(path) as file:
            for data in file:
                line = read_result_line(data)
                if line is not None:
                    answers += 1
                    self.doubled += line.custom_id in self._offsets
                    self._offsets.setdefault(line.custom_id, (path, start))
                else:
                    self.unreadable += bool(data.strip())
                start += len(data)
        if not answers:
            raise UserError(f"--batch-read: {shown(path)}: has no line with a custom_id and a response")

    def take(self, custom_id: str) -> ResultLine | None:
        """The answer to the call with this custom_id; None if there is none, or if it was taken before."""
        if custom_id in self._used or custom_id not in self._offsets:
            return None
        self._used.add(custom_id)
        path, start = self._offsets[custom_id]
        with open_regular(path) as file:
            file.seek(start)
            return read_result_line(file.readline())

    def count_unknown(self, call_ids: Collection[str]) -> int:
        """The number of answers to no call. `call_ids` are the custom_ids of all calls, earlier ones too."""
        return sum(name not in self._used and name not in call_ids for name in self._offsets)


def write(path: Path, requests: Mapping[str, Sequence[bytes]]) -> Iterator[tuple[Path, str, int]]:
    """Write each model's requests, one a line: to `path`, or to a file per model if there are several.

    Yields each file with its model and its number of calls. Raises UserError.
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
        """Answer calls from the files of --batch-read. Returns whether the run of any call can continue.

        If a call failed, its run continues with CallFailed, unless the call may succeed when it is repeated:
        then it goes on waiting, and is written again.
        """
        is_any = False
        for item in waiting:
            if (line := self._answers.take(item.custom_id)) is not None:
                answer: Reply | Failure = UNANSWERED
                if line.status is not None:
                    answer = self._client.read_batch_result(item.call, line.status, line.body, retries=0)
                if isinstance(answer, Reply):
                    item.answer(answer)
                    is_any = True
                elif not (answer.is_transient or self._client.is_learned(item.call, answer)):
                    status = f"HTTP {answer.status}: {answer.message}"
                    message = self._mask(f"{item.call.role} {item.call.model!r}: {status}")
                    item.fail(CallFailed(message))
                    is_any = True
        return is_any

    def write(self, waiting: Iterable[WaitingCall]) -> None:
        """Write these calls to the files of --batch-write; without it, only count them. Raises UserError."""
        requests: defaultdict[str, list[bytes]] = defaultdict(list)
        for item in waiting:
            requests[item.call.model].append(
                request_line(item.custom_id, *self._client.batch_request(item.call))
            )
        if self._settings.batch_write is None:
            total = sum(map(len, requests.values()))
            self._messages = [f"{total:,} calls have no answer yet; `equipoise batch write` writes them"]
            return
        for path, model, calls in write(self._settings.batch_write, requests):
            self._messages.append(
                f"{calls:,} calls to {model} are in {shown(path)}; have them answered, then give the "
                "answers to `equipoise batch read`"
            )

    def messages(self, call_ids: Collection[str]) -> list[str]:
        """Messages about files written and answers ignored; `call_ids` are as in Answers.count_unknown."""
        ignored_counts = {
            "with another id": self._answers.count_unknown(call_ids),
            "doubled": self._answers.doubled,
            "unreadable": self._answers.unreadable,
        }
        counts = [f"{count:,} {what}" for what, count in ignored_counts.items() if count]
        ignored = [f"answers that were ignored: {', '.join(counts)}"] if counts else []
        return [*map(printable, self._messages), *ignored]
