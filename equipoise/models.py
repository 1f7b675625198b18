"""What a suite talks to: the subject, and the evaluators that judge it.

A model here asks through `Ask`, which is bound to one run; how calls are limited, repeated and kept is
not its business. Each keeps the transcripts of what was said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from equipoise.errors import CallFailed, InvalidVerdict
from equipoise.rubric import Rubric
from equipoise.settings import Sampling
from equipoise.types import JSON, Ask, Call, Message, Reply, Role, Transcript, Verdict


class Model:
    """One model in one role for one run. Holds what all its conversations share."""

    def __init__(self, role: Role, name: str, sampling: Sampling, ask: Ask) -> None:
        self.role = role
        self.name = name
        self.sampling = sampling
        self.transcripts: list[Transcript] = []
        self._ask = ask

    async def complete(self, messages: tuple[Message, ...], **extra: JSON) -> Reply:
        """Ask for the next message of a conversation and keep both. Raises CallFailed."""
        parameters = {**self.sampling.parameters(), **extra}
        # Only who and what is sent: the particulars of earlier calls are for the transcript.
        sent = tuple(Message(role=item["role"], content=item["content"]) for item in messages)
        call = Call(role=self.role, model=self.name, messages=sent, parameters=parameters)
        reply = await self._ask(call)
        said = (*messages, reply.to_message())
        self.transcripts.append(Transcript(model=self.name, parameters=parameters, messages=said))
        return reply


class Subject(Model):
    """The model under test."""

    def __init__(self, name: str, sampling: Sampling, ask: Ask) -> None:
        super().__init__("subject", name, sampling, ask)

    async def ask(self, question: str) -> Reply:
        """The reply to one question in a conversation of its own. Raises CallFailed."""
        prompt = self.sampling.system_prompt
        system = (Message(role="system", content=prompt),) if prompt else ()
        return await self.complete((*system, Message(role="user", content=question)))


class Evaluator(Model):
    """A model that judges. `code` makes the one-time marker code of an attempt."""

    def __init__(
        self, name: str, sampling: Sampling, ask: Ask, *, attempts: int, code: Callable[[str], str]
    ) -> None:
        super().__init__("evaluator", name, sampling, ask)
        self.attempts = attempts
        self._code = code

    async def judge(self, rubric: Rubric, **material: str) -> Verdict:
        """A verdict by the rubric on the quoted material. Raises CallFailed.

        An invalid verdict is asked for again, `attempts` times in all; then its fields are None.
        """
        preface = self.sampling.system_prompt
        messages = rubric.messages(code=self._code(self.name), preface=preface, **material)
        wanted = _response_format(rubric)
        for attempt in range(1, self.attempts + 1):
            reply = await self.complete(messages, response_format=wanted)
            if reply.blocked:
                return self._invalid(attempt, f"blocked by the evaluator's provider ({reply.blocked})", reply)
            try:
                return Verdict(evaluator=self.name, fields=rubric.parse(reply.text), attempts=attempt)
            except InvalidVerdict as error:
                verdict = self._invalid(attempt, str(error), reply)
        return verdict

    def _invalid(self, attempts: int, error: str, reply: Reply) -> Verdict:
        return Verdict(evaluator=self.name, fields=None, attempts=attempts, error=error, raw=reply.text)


class Panel:
    """The evaluators of a session. With `keeps_going`, those that answer stand in for one that fails."""

    def __init__(self, evaluators: Sequence[Evaluator], *, keeps_going: bool) -> None:
        self.evaluators = evaluators
        self._keeps_going = keeps_going

    async def judge(self, rubric: Rubric, **material: str) -> tuple[Verdict, ...]:
        """Every evaluator's verdict, in order. Raises CallFailed where none can be had."""
        asked = (evaluator.judge(rubric, **material) for evaluator in self.evaluators)
        # Errors are gathered, not raised: the other evaluators' paid calls must come to their end.
        answers = await asyncio.gather(*asked, return_exceptions=True)
        failures = [answer for answer in answers if isinstance(answer, BaseException)]
        if failures and not self._can_do_without(failures):
            # A defect of ours, or the end of the session, says more than a call that failed.
            raise min(failures, key=lambda failure: isinstance(failure, CallFailed))
        pairs = zip(self.evaluators, answers, strict=True)
        return tuple(_verdict_or_none(evaluator.name, answer) for evaluator, answer in pairs)

    def _can_do_without(self, failures: Sequence[BaseException]) -> bool:
        are_bearable = all(
            isinstance(failure, CallFailed) and (self._keeps_going or not failure.stops_session)
            for failure in failures
        )
        return are_bearable and len(failures) < len(self.evaluators)

    @property
    def transcripts(self) -> tuple[Transcript, ...]:
        """All conversations, evaluator by evaluator."""
        return tuple(item for evaluator in self.evaluators for item in evaluator.transcripts)


def _verdict_or_none(evaluator: str, answer: Verdict | BaseException) -> Verdict:
    if isinstance(answer, Verdict):
        return answer
    return Verdict(evaluator=evaluator, fields=None, attempts=0, error=str(answer))


def _response_format(rubric: Rubric) -> dict[str, JSON]:
    schema = {"name": "verdict", "strict": True, "schema": rubric.schema()}
    return {"type": "json_schema", "json_schema": schema}
