"""Writes the calls of batches to files, and reads the answers to them from files.

A file has the calls to one model. The user has them answered by `vllm run-batch`, a provider's console, or a
proxy. Which calls are in which file is recorded beside the journal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.core import json_io
from equipoise.core.errors import CallFailed, UserError, printable
from equipoise.core.files import open_regular, replacing, shown
from equipoise.core.settings import Settings
from equipoise.core.types import Reply, Role
from equipoise.models.failures import Failure
from equipoise.results.history import History
from equipoise.results.store import file_name
from equipoise.runner.batches.endpoint import ResultLine, read_result_line, request_line
from equipoise.runner.batches.waiting import UNANSWERED, WaitingCall, WaitingCalls

if TYPE_CHECKING:
    from equipoise.models.client import Client


class Answers:
    """The answers in files. Only the offsets of lines are held in memory.

    `doubled` counts lines whose custom_id was read before, `unreadable` lines that are not answers; the first
    of these is described in `example`. Raises UserError if a file cannot be read or has no answer.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._offsets: defaultdict[str, list[tuple[Path, int]]] = defaultdict(list)
        self._used: set[str] = set()
        self.doubled = self.unreadable = 0
        self.example = ""
        for path in paths:
            try:
                self._index(path)
            except OSError as error:
                raise UserError(f"--batch-read: {shown(path)}: cannot be read ({error.strerror})") from None

    def _index(self, path: Path) -> None:
        """Store the offset of each answer in a file. Raises UserError if there is none."""
        start = answers = 0
        example = ""
        with open_regular(path) as file:
            for number, data in enumerate(file, start=1):
                line = read_result_line(data)
                if line is not None:
                    answers += 1
                    self.doubled += line.custom_id in self._offsets
                    self._offsets[line.custom_id].append((path, start))
                elif data.strip():
                    self.unreadable += 1
                    example = example or f"{shown(path)}:{number}: {_why_no_answer(data)}"
                start += len(data)
        self.example = self.example or example
        if not answers:
            about = f"; {example}" if example else ""
            raise UserError(
                f"--batch-read: {shown(path)}: has no line with a custom_id and a response{about}"
            )

    def take(self, custom_id: str) -> Iterator[ResultLine]:
        """The answers to the call with this custom_id, in order; none if they were taken before."""
        if custom_id in self._used or custom_id not in self._offsets:
            return
        self._used.add(custom_id)
        for path, start in self._offsets[custom_id]:
            with open_regular(path) as file:
                file.seek(start)
                if (line := read_result_line(file.readline())) is not None:
                    yield line

    def count_unknown(self, call_ids: Collection[str]) -> int:
        """The number of answers to no call. `call_ids` are the custom_ids of all calls, earlier ones too."""
        return sum(name not in self._used and name not in call_ids for name in self._offsets)


def _why_no_answer(data: bytes) -> str:
    """What a line is that is not an answer."""
    try:
        content = json_io.loads(data)
    except (ValueError, RecursionError):
        return "not a JSON object in one line"
    if not isinstance(content, dict):
        return "not a JSON object"
    if "url" in content and "body" in content:
        return "a request, as `equipoise batch write` writes it, not the answer to it"
    missing = [f"`{key}`" for key in ("custom_id", "response") if not content.get(key)]
    return f"has no {' and no '.join(missing) or 'status_code and body in `response`'}"


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
    """`--batch-write` and `--batch-read`: answers waiting calls from files, and writes the rest to files."""

    def __init__(self, settings: Settings, client: Client, waiting: WaitingCalls) -> None:
        self._settings = settings
        self._client = client
        self._waiting = waiting
        self._answers = Answers(settings.batch_read)
        self._messages: list[str] = []

    def answer(self) -> bool:
        """Answer calls from the files of --batch-read. Returns whether the run of any call can continue.

        If a call failed, its run continues with CallFailed, unless the call may succeed when it is repeated:
        then it goes on waiting, and is written again.
        """
        is_any = False
        for item in self._waiting:
            answers = [self._read(item, line) for line in self._answers.take(item.custom_id)]
            reply = next((answer for answer in answers if isinstance(answer, Reply)), None)
            if reply is not None:
                item.answer(reply)
                is_any = True
            elif failures := [answer for answer in answers if isinstance(answer, Failure)]:
                is_any |= self._fail(item, failures[0])
        return is_any

    def _read(self, item: WaitingCall, line: ResultLine) -> Reply | Failure:
        if line.status is None:
            return UNANSWERED
        return self._client.read_batch_result(item.call, line.status, line.body, retries=0)

    def _fail(self, item: WaitingCall, failure: Failure) -> bool:
        """Let the run of a call that failed for good continue. Returns False if it may be repeated."""
        if failure.is_transient or self._client.is_learned(item.call, failure):
            return False
        status = f"HTTP {failure.status}: {failure.message}"
        item.fail(CallFailed(self._waiting.mask(f"{item.call.role} {item.call.model!r}: {status}")))
        return True

    def write(self) -> None:
        """Write the waiting calls to the files of --batch-write; without it, only count them.

        Raises UserError or CannotKeep.
        """
        requests: defaultdict[str, list[bytes]] = defaultdict(list)
        items = [*self._waiting]
        for item in items:
            requests[item.call.model].append(
                request_line(item.custom_id, *self._client.batch_request(item.call))
            )
        if self._settings.batch_write is None:
            total = sum(map(len, requests.values()))
            self._messages = [f"{total:,} calls have no answer yet; `equipoise batch write` writes them"]
            return
        written: dict[Path, int] = {}
        for path, model, count in write(self._settings.batch_write, requests):
            written[path] = count
            self._record(path, [item for item in items if item.call.model == model])
        self._messages.append(_next_step(written))

    def _record(self, path: Path, items: Sequence[WaitingCall]) -> None:
        """Record beside each journal which calls, all to one model, are in a file. Raises CannotKeep."""
        by_journal: defaultdict[tuple[History, Role], list[WaitingCall]] = defaultdict(list)
        for item in items:
            by_journal[item.history, item.call.role].append(item)
        for (history, role), calls in by_journal.items():
            self._waiting.intents[history].record_written(
                [item.custom_id for item in calls], role=role, model=calls[0].call.model, file=shown(path)
            )

    def messages(self, call_ids: Collection[str]) -> list[str]:
        """Messages about files written and answers ignored; `call_ids` are as in Answers.count_unknown."""
        ignored_counts = {
            "with another id": self._answers.count_unknown(call_ids),
            "doubled": self._answers.doubled,
            "unreadable": self._answers.unreadable,
        }
        counts = [f"{count:,} {what}" for what, count in ignored_counts.items() if count]
        example = f" ({self._answers.example})" if self._answers.example else ""
        ignored = [f"answers that were ignored: {', '.join(counts)}{example}"] if counts else []
        return [*map(printable, [*ignored, *self._messages])]


def _next_step(written: Mapping[Path, int]) -> str:
    """What to do with the files that were written, each with its number of calls."""
    files = " and ".join(f"{shown(path)} ({calls:,} calls)" for path, calls in written.items())
    return f"have {files} answered, then give the answers to `equipoise batch read`, with the same options"
