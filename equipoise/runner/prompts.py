"""The prompts of cases as models would get them, from running a suite's `evaluate` without making calls."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from equipoise.core.records import Record
from equipoise.core.types import CONTINUES, Call, Conversation, Exchange, Message, Reply, Run
from equipoise.results.journal import one_time_code
from equipoise.runner.calls import Deadline
from equipoise.runner.evaluate import run_case
from equipoise.runner.loading import LoadedSuite

REPLY = "(the reply of the model under test)"
"""The placeholder for every reply of the subject."""
NOTE = (
    "(Replies are placeholders, and so are the codes between which texts are quoted. Where a suite reads "
    "replies itself, the prompts after a reply are those for a reply that it cannot read.)"
)


class PlaceholderCalls:
    """CallsOfRun that makes no calls: the subject's reply is always REPLY, an evaluator's is empty."""

    def __init__(self, run: Run) -> None:
        self.exchanges: list[Exchange] = []
        self.deadline = Deadline(0.0)
        self.queued = 0.0
        self._run = run.id

    def code(self, *parts: str) -> str:
        """A code in place of the one-time code, the same in every session."""
        return one_time_code("", self._run, *parts)

    async def __call__(self, call: Call) -> Reply:
        """Record the call, and return the placeholder."""
        reply = Reply(text=REPLY if call.role == "subject" else "")
        self.exchanges.append(Exchange(id=str(len(self.exchanges)), call=call, reply=reply))
        return reply


def lines(loaded: LoadedSuite, runs: Sequence[Run], count: int) -> Iterator[str]:
    """The prompts of the first `count` cases of these runs: for each case, a plain run and one per asker."""
    cases = [*dict.fromkeys(run.case.id for run in runs)]
    first: dict[tuple[str, str], Run] = {}
    for run in runs:
        first.setdefault((run.case.id, run.asker.tag if run.asker else ""), run)
    for run in first.values():
        if run.case.id in cases[:count]:
            yield from ("", f"{run.id}:")
            yield from _conversations(asyncio.run(_unanswered(loaded, run)))
    yield from ("", NOTE)


async def _unanswered(loaded: LoadedSuite, run: Run) -> Record:
    """The record of a run that makes no calls. One evaluator is enough: all get the same prompts."""
    evaluators = loaded.settings.evaluator_models[:1]
    settings = replace(loaded.settings, evaluator_models=evaluators, evaluator_attempts=1)
    record, _ = await run_case(replace(loaded, settings=settings), run, PlaceholderCalls(run))
    return record


def _conversations(record: Record) -> Iterator[str]:
    subject = (_messages("subject", item, item.messages) for item in record.subject)
    # The last message of an evaluator is its empty placeholder.
    evaluator = (_messages("evaluator", item, item.messages[:-1]) for item in record.evaluators)
    for conversation, number in Counter((*subject, *evaluator)).items():
        yield from conversation
        if number > 1:
            yield f"  ({number} times)"


def _messages(role: str, transcript: Conversation, messages: Sequence[Message]) -> tuple[str, ...]:
    """The messages as lines: a heading with the two roles, then the text, indented."""
    names = {
        "assistant": "reply",
        **({"user": "text to continue"} if CONTINUES in transcript.parameters else {}),
    }
    return tuple(
        line
        for message in messages
        for line in (
            f"  {role}, {names.get(message['role'], message['role'])}:",
            *(f"    {text}".rstrip() for text in message["content"].split("\n")),
        )
    )
