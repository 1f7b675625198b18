"""Evaluators, which judge by a rubric or choose among labels, and the panel of a session's evaluators."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from equipoise.core.errors import CallFailed, InvalidVerdict
from equipoise.core.records import Choice, Verdict
from equipoise.core.settings import Sampling
from equipoise.core.types import JSON, Ask, Message, Reply
from equipoise.judge.choice import ChoicePrompt
from equipoise.judge.rubric import VerdictPrompt, object_in_prose
from equipoise.models.logprobs import (
    ImpossibleProbabilities,
    label_in_text,
    label_parameters,
    label_probabilities,
    label_room,
)
from equipoise.models.model import Model, Subject

T = TypeVar("T")


class Evaluator(Model):
    """A model that judges, with up to `attempts` attempts to get a valid answer.

    `code` maps the evaluator's name to the one-time code that delimits quoted text in its prompts. If there
    are no token probabilities, `choose` samples `label_samples` answers.
    """

    def __init__(
        self,
        name: str,
        sampling: Sampling,
        ask: Ask,
        *,
        attempts: int,
        code: Callable[[str], str],
        label_samples: int = 1,
    ) -> None:
        super().__init__("evaluator", name, sampling, ask)
        self.attempts = attempts
        self._code = code
        self._label_samples = label_samples

    async def judge(self, rubric: VerdictPrompt, **material: str) -> Verdict:
        """Judge the quoted material by the rubric. Raises CallFailed.

        An invalid verdict is requested again, up to `attempts` attempts in all. If none is valid, the fields
        of the verdict are None. A verdict cut at the token limit is requested again with twice the limit.
        """
        messages = self._first_messages(rubric, material)
        invalid_answers: list[str] = []
        token_limit = self.sampling.max_tokens
        while True:
            reply = await self._ask_for_verdict(rubric, messages, token_limit)
            if isinstance(reply, CallFailed):
                return self._verdict(
                    invalid_answers, error=f"cut at its length limit, which cannot be raised: {reply}"
                )
            fields, error = _read_verdict(rubric, reply, material)
            if fields is not None:
                return self._verdict(invalid_answers, fields=fields)
            invalid_answers.append(reply.text)
            if reply.blocked or len(invalid_answers) == self.attempts:
                return self._verdict(invalid_answers, error=error)
            if reply.is_truncated:
                token_limit = _doubled_limit(token_limit, reply)
            elif rubric.retry_message:
                messages = _with_retry_message(messages, reply, rubric.retry_message.substitute(error=error))

    async def choose(self, prompt: ChoicePrompt, /, **material: str) -> Choice:
        """The probability of each of the prompt's labels, from token probabilities. Raises CallFailed.

        Without token probabilities, the shares of labels among sampled answers stand for them. An answer
        without a label is requested again, up to `attempts` attempts in all.
        """
        invalid_answers: list[str] = []
        first_messages = self._first_messages(prompt, material)
        messages = first_messages
        while len(invalid_answers) < self.attempts:
            reply = await self._ask_for_label(messages, prompt, len(invalid_answers))
            try:
                tokens = () if reply.blocked else reply.tokens or ()
                probabilities = label_probabilities(tokens, prompt.options)
            except ImpossibleProbabilities as error:
                return self._no_choice([*invalid_answers, reply.text], str(error))
            if probabilities is not None:
                mass = min(1.0, sum(probabilities.values()))
                return Choice(
                    evaluator=self.name,
                    probabilities=probabilities,
                    method="logprobs",
                    mass=mass,
                    attempts=len(invalid_answers) + 1,
                    raw=tuple(invalid_answers),
                )
            label = label_in_text(reply.text, prompt.options)
            if label is not None:
                return await self._choose_by_samples(prompt, first_messages, label, invalid_answers)
            invalid_answers.append(reply.text)
            if reply.blocked:
                break
            messages = _retry_messages(messages, reply, prompt)
        return self._no_choice(
            invalid_answers, f"blocked ({reply.blocked})" if reply.blocked else "an answer without a label"
        )

    async def _ask_for_label(
        self, messages: tuple[Message, ...], prompt: ChoicePrompt, failed: int, **extra: JSON
    ) -> Reply:
        """A reply that should be a label, after `failed` attempts without one. Raises CallFailed."""
        limit = self.sampling.max_tokens
        parameters = label_parameters(limit, prompt.options, failed)
        return await self.complete(messages, room=label_room(limit), **parameters, **extra)

    def _no_choice(self, invalid_answers: list[str], error: str) -> Choice:
        raw = tuple(invalid_answers)
        return Choice(evaluator=self.name, probabilities=None, attempts=len(raw), error=error, raw=raw)

    def _first_messages(
        self, prompt: VerdictPrompt | ChoicePrompt, material: Mapping[str, str]
    ) -> tuple[Message, ...]:
        return prompt.messages(code=self._code(self.name), preface=self.sampling.system_prompt, **material)

    async def grade(self, prompt: ChoicePrompt, /, **material: str) -> Verdict:
        """A verdict with the fields `grade`, one of the prompt's labels, and `how`, the way it was read.

        `how` is "strict" for an answer that is only a label, or "probabilities" for token probabilities. A
        missing label is requested again, up to `attempts` attempts in all: first with token probabilities,
        finally by a JSON schema. Raises CallFailed.
        """
        invalid_answers: list[str] = []
        messages = self._first_messages(prompt, material)
        while len(invalid_answers) < self.attempts:
            # The first attempt is a plain question; only later ones ask as `choose` does.
            failed = len(invalid_answers)
            if failed:
                reply = await self._ask_for_label(messages, prompt, failed - 1)
            else:
                reply = await self.complete(messages)
            try:
                fields = None if reply.blocked else _grade_fields(reply, prompt.options)
            except ImpossibleProbabilities as error:
                return self._verdict([*invalid_answers, reply.text], error=str(error))
            if fields is not None:
                return self._verdict(invalid_answers, fields=fields)
            invalid_answers.append(reply.text)
            if reply.blocked:
                return self._verdict(
                    invalid_answers, error=f"blocked by the evaluator's provider ({reply.blocked})"
                )
            messages = _retry_messages(messages, reply, prompt)
        return self._verdict(invalid_answers, error="no letter")

    async def _choose_by_samples(
        self, prompt: ChoicePrompt, messages: tuple[Message, ...], label: str, invalid_answers: list[str]
    ) -> Choice:
        """The shares of labels in `label_samples` answers at temperature 1.

        If only one sample is wanted, or no sampled answer has a label, the share of `label` is 1.
        """
        labels = [label]
        if self._label_samples > 1:
            answers = [
                (await self._ask_for_label(messages, prompt, len(invalid_answers), temperature=1.0)).text
                for _ in range(self._label_samples)
            ]
            labels = [item for text in answers if (item := label_in_text(text, prompt.options))] or labels
        shares = {option: labels.count(option) / len(labels) for option in prompt.options}
        return Choice(
            evaluator=self.name,
            probabilities=shares,
            method="samples",
            attempts=len(invalid_answers) + 1,
            raw=tuple(invalid_answers),
        )

    def _verdict(
        self, invalid_answers: list[str], *, fields: dict[str, JSON] | None = None, error: str | None = None
    ) -> Verdict:
        """The verdict after these invalid answers, with fields or with an error."""
        attempts, raw = len(invalid_answers) + (fields is not None), tuple(invalid_answers)
        return Verdict(evaluator=self.name, fields=fields, attempts=attempts, error=error, raw=raw)

    async def _ask_for_verdict(
        self, rubric: VerdictPrompt, messages: tuple[Message, ...], token_limit: int | None
    ) -> Reply | CallFailed:
        """A reply of at most `token_limit` tokens, or the failure of a call that exceeded the user's limit.

        Raises CallFailed if the call kept to the user's limit, or if its failure has to end the session.
        """
        is_stretched = token_limit != self.sampling.max_tokens
        parameters = {"response_format": rubric.response_format(), "max_tokens": token_limit}
        extra: dict[str, JSON] = {name: value for name, value in parameters.items() if value is not None}
        try:
            return await self.complete(messages, is_stretched=is_stretched, **extra)
        except CallFailed as failure:
            if not is_stretched or failure.stops_session:
                raise
            return failure


def _grade_fields(reply: Reply, options: Mapping[str, str]) -> dict[str, JSON] | None:
    """The fields `grade` and `how` of a reply; None without a label. Raises ImpossibleProbabilities."""
    probabilities = label_probabilities(reply.tokens or (), options)
    if probabilities is not None:
        return {"grade": max(options, key=probabilities.__getitem__), "how": "probabilities"}
    label = label_in_text(reply.text, options)
    return None if label is None else {"grade": label, "how": "strict"}


MOST_QUOTED = 2000
"""The number of characters of an invalid answer that are sent back with the retry message."""


def _retry_messages(messages: tuple[Message, ...], reply: Reply, prompt: ChoicePrompt) -> tuple[Message, ...]:
    """The conversation to send after a reply without a label."""
    if prompt.retry_message is None:
        return messages
    return _with_retry_message(messages, reply, prompt.retry_message.substitute())


def _with_retry_message(messages: tuple[Message, ...], reply: Reply, text: str) -> tuple[Message, ...]:
    """The conversation with the reply and a retry message of this text; unchanged if the reply is blank."""
    if not reply.text.strip():
        return messages
    answer = Message(role="assistant", content=reply.text[:MOST_QUOTED])
    return (*messages, answer, Message(role="user", content=text.strip()))


def _read_verdict(
    rubric: VerdictPrompt, reply: Reply, material: Mapping[str, str]
) -> tuple[dict[str, JSON] | None, str]:
    """The verdict in a reply, or the reason why there is none."""
    if reply.blocked:
        return None, f"blocked by the evaluator's provider ({reply.blocked})"
    if _is_quotation(object_in_prose(reply.text), material):
        return None, "an object that the judged text holds, in prose"
    try:
        return rubric.parse(reply.text), ""
    except InvalidVerdict as error:
        return None, f"cut at its length limit: {error}" if reply.is_truncated else str(error)


def _is_quotation(text: str | None, material: Mapping[str, str]) -> bool:
    """Whether the judged material contains a text, ignoring white space."""
    squeezed = "".join((text or "").split())
    return bool(squeezed) and any(squeezed in "".join(value.split()) for value in material.values())


def _doubled_limit(token_limit: int | None, reply: Reply) -> int | None:
    """Twice the token limit at which a reply was cut; None if the limit is unknown.

    If the user has set no limit, the limit is taken to be the length of the reply.
    """
    limit = token_limit or (reply.usage.output if reply.usage else 0)
    return 2 * limit or None


class Panel:
    """The evaluators of a session.

    If an evaluator's call fails and another evaluator answers, the verdict of the failed evaluator has no
    fields. A failure that has to end the session is raised, unless `keeps_going`. `answers` has all verdicts
    and choices so far, by evaluator.
    """

    def __init__(self, evaluators: Sequence[Evaluator], *, keeps_going: bool) -> None:
        self.evaluators = evaluators
        self.answers: dict[str, list[Verdict | Choice]] = {}
        self._keeps_going = keeps_going

    async def judge(self, rubric: VerdictPrompt, **material: str) -> tuple[Verdict, ...]:
        """Every evaluator's verdict, in order; one whose call failed has no fields. Raises CallFailed."""
        return await self._verdicts(evaluator.judge(rubric, **material) for evaluator in self.evaluators)

    async def grade(self, prompt: ChoicePrompt, /, **material: str) -> tuple[Verdict, ...]:
        """Every evaluator's grade, in order; one whose call failed has no fields. Raises CallFailed."""
        return await self._verdicts(evaluator.grade(prompt, **material) for evaluator in self.evaluators)

    async def _verdicts(self, calls: Iterable[Awaitable[Verdict]]) -> tuple[Verdict, ...]:
        return tuple(
            answer
            if isinstance(answer, Verdict)
            else Verdict(evaluator=name, fields=None, attempts=0, error=str(answer))
            for name, answer in await self._gather_answers(calls)
        )

    async def choose(self, prompt: ChoicePrompt, /, **material: str) -> tuple[Choice, ...]:
        """Every evaluator's choice, in order, without probabilities if its call failed. Raises CallFailed."""
        calls = [evaluator.choose(prompt, **material) for evaluator in self.evaluators]
        return tuple(
            answer
            if isinstance(answer, Choice)
            else Choice(evaluator=name, probabilities=None, attempts=0, error=str(answer))
            for name, answer in await self._gather_answers(calls)
        )

    async def _gather_answers(self, calls: Iterable[Awaitable[T]]) -> list[tuple[str, T | BaseException]]:
        """Each evaluator's name with its answer, or with its failure if the panel can do without an answer.

        Otherwise raises one of the failures.
        """
        # Errors are gathered, not raised: the other evaluators' paid calls must finish.
        answers = await asyncio.gather(*calls, return_exceptions=True)
        for item, answer in zip(self.evaluators, answers, strict=True):
            if isinstance(answer, Verdict | Choice):
                self.answers.setdefault(item.name, []).append(answer)
        failures = [answer for answer in answers if isinstance(answer, BaseException)]
        if failures and not self._can_do_without(failures):
            # A bug, or the end of the session, takes precedence over a failed call.
            raise min(failures, key=lambda failure: isinstance(failure, CallFailed))
        return [(item.name, answer) for item, answer in zip(self.evaluators, answers, strict=True)]

    def _can_do_without(self, failures: Sequence[BaseException]) -> bool:
        """Whether an evaluator answered, and no failure is a bug or has to end the session."""
        are_tolerable = all(
            isinstance(failure, CallFailed) and (self._keeps_going or not failure.stops_session)
            for failure in failures
        )
        return are_tolerable and len(failures) < len(self.evaluators)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobModels:
    """The models of one job: `model` generates and the `evaluators` check its output.

    `code` generates the one-time code that delimits quoted text in a prompt; its argument is the prompt's
    purpose.
    """

    model: Subject
    evaluators: Sequence[Evaluator]
    code: Callable[[str], str]
