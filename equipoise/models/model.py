"""The models that a suite calls: a model in a role, and the subject.

A model sends its calls through a function `Ask`, which is bound to one run and applies limits and retries.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from equipoise.core.errors import CallFailed
from equipoise.core.settings import Sampling
from equipoise.core.types import CONTINUES, JSON, Ask, Call, Cue, Message, Reply, Role
from equipoise.models.logprobs import (
    ImpossibleProbabilities,
    ending_likelihood,
    label_in_text,
    label_parameters,
    label_probabilities,
)

T = TypeVar("T")


async def together(*calls: Awaitable[T]) -> list[T]:
    """Await all calls and return their results. If one fails, its error is raised after all have finished."""
    answers = await asyncio.gather(*calls, return_exceptions=True)
    failures = [answer for answer in answers if isinstance(answer, BaseException)]
    if failures:
        # A bug, or the end of the session, takes precedence over a failed call.
        raise min(failures, key=lambda failure: isinstance(failure, CallFailed))
    return [answer for answer in answers if not isinstance(answer, BaseException)]


class Model:
    """One model in one role for one run, with the sampling parameters of all its conversations."""

    def __init__(self, role: Role, name: str, sampling: Sampling, ask: Ask) -> None:
        self.role = role
        self.name = name
        self.sampling = sampling
        self._ask = ask

    async def complete(
        self,
        messages: tuple[Message, ...],
        *,
        is_stretched: bool = False,
        room: int | None = None,
        **extra: JSON,
    ) -> Reply:
        """Ask for the next message of a conversation. Raises CallFailed.

        `is_stretched` and `room` are as in Call; `extra` are parameters besides those for sampling.
        """
        parameters = {**self.sampling.parameters(), **extra}
        # Only role and content are sent: the metadata of earlier calls is for the transcript.
        bare_messages = tuple(Message(role=item["role"], content=item["content"]) for item in messages)
        call = Call(
            role=self.role,
            model=self.name,
            messages=bare_messages,
            parameters=parameters,
            is_stretched=is_stretched,
            room=room,
        )
        return await self._ask(call)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """The label that a subject finds most likely.

    `method` says whether it was read from token probabilities (`logprobs`) or the text (`samples`). `label`
    is None if the text has none, or if the token probabilities are impossible, as `error` says.
    """

    reply: Reply
    label: str | None
    method: Literal["logprobs", "samples"]
    error: str | None = None


ECHO: dict[str, JSON] = {CONTINUES: True, "echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0.0}
"""Parameters that make an endpoint echo a text with its token probabilities."""
CONTINUED_TOKENS = 64
"""The default token limit of a continuation: many servers stop after 16 tokens otherwise."""


class Subject(Model):
    """The model under test. `asker` is the cue about who asks that opens every conversation, if any."""

    def __init__(self, name: str, sampling: Sampling, ask: Ask, asker: Cue | None = None) -> None:
        super().__init__("subject", name, sampling, ask)
        self._asker = asker

    async def complete(
        self,
        messages: tuple[Message, ...],
        *,
        is_stretched: bool = False,
        room: int | None = None,
        **extra: JSON,
    ) -> Reply:
        """Ask for the next message of a conversation, after the asker's cue, if any. Raises CallFailed."""
        messages = self._from_asker(messages)
        return await super().complete(messages, is_stretched=is_stretched, room=room, **extra)

    def _from_asker(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """The messages, with the cue put before the text of the first user message."""
        first = next((index for index, item in enumerate(messages) if item["role"] == "user"), None)
        if self._asker is None or first is None:
            return messages
        message = Message(role="user", content=self._asker.prepend_to(messages[first]["content"]))
        return (*messages[:first], message, *messages[first + 1 :])

    async def ask_each(self, *questions: str) -> list[Reply]:
        """The reply to each question, asked concurrently. Raises CallFailed once all have finished."""
        return await together(*map(self.ask, questions))

    async def ask(self, question: str, instruction: str = "") -> Reply:
        """The reply to one question in a new conversation. Raises CallFailed.

        The suite's `instruction` follows the user's system prompt in the system message.
        """
        return await self.complete((*self.opening(instruction), Message(role="user", content=question)))

    def opening(self, instruction: str = "") -> tuple[Message, ...]:
        """The opening system message: the user's prompt, then the suite's; empty if there is neither."""
        prompt = "\n\n".join(filter(None, (self.sampling.system_prompt, instruction)))
        return (Message(role="system", content=prompt),) if prompt else ()

    async def continue_(self, text: str, **extra: JSON) -> Reply:
        """The model's continuation of a text, from the endpoint's plain completions. Raises CallFailed."""
        limit: dict[str, JSON] = {"max_tokens": self.sampling.max_tokens or CONTINUED_TOKENS}
        parameters = {CONTINUES: True, **limit, **extra}
        return await self.complete((Message(role="user", content=text),), **parameters)

    async def likelihoods(self, beginning: str, endings: Sequence[str]) -> list[float] | None:
        """The log likelihood of each ending after a beginning: sums of token log probabilities.

        None if the endpoint does not echo texts, or a token has no probability. Raises CallFailed.
        """
        messages = [(Message(role="user", content=f"{beginning} {ending}"),) for ending in endings]
        try:
            # The first call is made alone: if it is declined, the others need not be made.
            first = await self.complete(messages[0], **ECHO)
            replies = [first, *await together(*(self.complete(item, **ECHO) for item in messages[1:]))]
        except CallFailed as failure:
            if failure.is_declined:
                return None
            raise
        sums = [_likelihood(reply, ending) for reply, ending in zip(replies, endings, strict=True)]
        return [value for value in sums if value is not None] if None not in sums else None

    async def rank(self, question: str, instruction: str, options: Mapping[str, str]) -> Ranked:
        """The option label that the model would begin its answer with. Raises CallFailed.

        It is read from token probabilities if the endpoint returns them, otherwise from the text.
        """
        messages = (*self.opening(instruction), Message(role="user", content=question))
        reply = await self.complete(messages, **label_parameters(self.sampling.max_tokens, options))
        # Only the order of the labels matters, however little probability they have together.
        try:
            probabilities = label_probabilities(reply.tokens or (), options, least=0.0)
        except ImpossibleProbabilities as error:
            return Ranked(reply=reply, label=None, method="logprobs", error=str(error))
        if probabilities is None or reply.blocked:
            return Ranked(reply=reply, label=label_in_text(reply.text, options), method="samples")
        return Ranked(reply=reply, label=max(options, key=probabilities.__getitem__), method="logprobs")


def _likelihood(reply: Reply, ending: str) -> float | None:
    generated = reply.usage.output if reply.usage else ECHO["max_tokens"]
    return ending_likelihood(reply.tokens or (), ending, generated)
