"""Writes the calls of batches to files, and reads the answers to them from files.

A file has the calls to one model. The user has them answered by `vllm run-batch`, a provider's console, or a
proxy. Which calls are in which file is recorded beside the journal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from equipoise.core import json_io
from equipoise.core.errors import CallFailed, UserError, printable
from equipoise.core.files import open_regular, replacing, shown
from equipoise.core.settings import Settings
from equipoise.core.types import Call, Reply, Role
from equipoise.models.failures import Failure
from equipoise.results.history import History
from equipoise.results.store import file_name
from equipoise.runner.access import Access
from equipoise.runner.batches.endpoint import ResultLine, read_result_line
from equipoise.runner.batches.intents import RequestsLine
from equipoise.runner.batches.waiting import WaitingCall, WaitingCalls


class Answers:
    """The answers in files. Only the offsets of lines are held in memory.

    `duplicates` counts lines whose custom_id was read before, and `unreadable` lines that are not answers.
    `example` describes the first unreadable line. Raises UserError if a file cannot be read or has no answer.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._offsets: defaultdict[str, list[tuple[Path, int]]] = defaultdict(list)
        self._used: set[str] = set()
        self.duplicates = self.unreadable = 0
        self.example = ""
        for path in paths:
            try:
                self._index(path)
            except OSError as error:
                raise UserError(f"--batch-read: {shown(path)}: cannot be read ({error.strerror})") from None

    def _index(self, path: Path) -> None:
        """Store the offset of each answer in a file. Raises UserError if the file has no answer."""
        start = answers = 0
        example = ""
        with open_regular(path) as file:
            for number, data in enumerate(file, start=1):
                line = read_result_line(data)
                if line is not None:
                    answers += 1
                    self.duplicates += line.custom_id in self._offsets
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


class FileBatches:
    """`--batch-write` and `--batch-read`: answers waiting calls from files, and writes the rest to files."""

    is_sending = False

    def __init__(self, settings: Settings, access: Access, waiting: WaitingCalls) -> None:
        self._target = settings.batch_write
        self._waiting = waiting
        self._answers = Answers(settings.batch_read)
        self._next_step: list[str] = []

    def open(self, history: History) -> None:
        """Load the log of a journal's files."""
        self._waiting.open(history)

    def takes(self, call: Call) -> bool:
        """Return True. Raises CallFailed for a call that asks for token probabilities of a given text."""
        if "echo" in call.parameters:
            raise CallFailed("batch files have no token probabilities for a given text", is_declined=True)
        return True

    async def advance(self) -> bool:
        """Answer calls from the files of --batch-read, or else write them to those of --batch-write.

        Returns whether the run of any call can continue. Raises UserError or CannotKeep.
        """
        can_continue = [self._answer(item) for item in self._waiting]
        if not any(can_continue):
            self._write()
        return any(can_continue)

    def _answer(self, item: WaitingCall) -> bool:
        """Answer a call from the files. Returns whether its run can continue.

        If the call failed, its run continues with CallFailed. But a call that may succeed when it is repeated
        goes on waiting, and is written again.
        """
        answers = [self._waiting.result(item, line) for line in self._answers.take(item.custom_id)]
        reply = next((answer for answer in answers if isinstance(answer, Reply)), None)
        if reply is not None:
            item.answer(reply)
            return True
        failure = next((answer for answer in answers if isinstance(answer, Failure)), None)
        if failure is None or self._waiting.may_succeed(item, failure):
            return False
        status = f"HTTP {failure.status}: {failure.message}"
        item.fail(CallFailed(self._waiting.mask(f"{item.call.role} {item.call.model!r}: {status}")))
        return True

    def _write(self) -> None:
        """Write the waiting calls to files; without --batch-write, only count them."""
        by_model: defaultdict[str, list[WaitingCall]] = defaultdict(list)
        for item in self._waiting:
            by_model[item.call.model].append(item)
        if self._target is None:
            total = sum(map(len, by_model.values()))
            self._next_step = [f"{total:,} calls have no answer yet; `equipoise batch write` writes them"]
            return
        written = []
        for model, items in by_model.items():
            path = self._target
            if len(by_model) > 1:
                path = path.with_name(f"{path.stem}.{file_name(model)}{path.suffix}")
            try:
                with replacing(path) as file:
                    file.writelines(map(self._waiting.request_line, items))
            except OSError as error:
                raise UserError(
                    f"--batch-write: {shown(path)}: cannot be written ({error.strerror})"
                ) from None
            self._record(path, items)
            written.append(f"{shown(path)} ({len(items)} calls)")
        self._next_step = [
            f"have {' and '.join(written)} answered, then give the answers to `equipoise batch read`, with "
            "the same options"
        ]

    def _record(self, path: Path, items: Sequence[WaitingCall]) -> None:
        """Record in the log of each journal which calls, all to one model, are in a file."""
        calls: defaultdict[tuple[History, Role], list[str]] = defaultdict(list)
        for item in items:
            calls[item.history, item.call.role].append(item.custom_id)
        for (history, role), ids in calls.items():
            self._waiting.logs[history].append(
                RequestsLine(file=shown(path), role=role, model=items[0].call.model, calls=tuple(ids))
            )

    def mark_read(self) -> None:
        """Do nothing: a file has no state at an endpoint."""

    def messages(self) -> Iterator[str]:
        """Messages about answers that were ignored, and about what to do next."""
        ignored = {
            "with another id": self._answers.count_unknown(self._waiting.ids),
            "duplicate": self._answers.duplicates,
            "unreadable": self._answers.unreadable,
        }
        counts = ", ".join(f"{count:,} {what}" for what, count in ignored.items() if count)
        example = f" ({self._answers.example})" if self._answers.example else ""
        messages = [f"answers that were ignored: {counts}{example}"] if counts else []
        yield from map(printable, [*messages, *self._next_step])
