"""The scored replies of results, as studies read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from equipoise.core.rows import RunRow
from equipoise.core.types import Conversation
from equipoise.judge.facts import FACTS, KeyFact, of_json


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredReply:
    """The reply of a scored run: its text, or the whole conversation if it has several turns."""

    run: RunRow
    text: str

    @property
    def id(self) -> str:
        """The name of the run. Reviews on the page use the same name."""
        return self.run.name

    @property
    def percent(self) -> float:
        """The score in percent, or in the unit of the headline."""
        assert self.run.percent is not None
        return self.run.percent

    @property
    def verdicts(self) -> dict[str, float]:
        """The score of each evaluator that gave one."""
        return {name: score for name, score in self.run.scores.items() if score is not None}

    @property
    def facts(self) -> tuple[KeyFact, ...]:
        """The key facts that evaluators were given. They are the same in all languages."""
        return of_json(self.run.question.details.get(FACTS, ()))


def scored_replies(rows: Iterable[RunRow]) -> list[ScoredReply]:
    """The reply of every run that has a score and a text, in order."""
    replies = (ScoredReply(run=row, text=_text(row.subject)) for row in rows if row.percent is not None)
    return [reply for reply in replies if reply.text.strip()]


def _text(conversations: Sequence[Conversation]) -> str:
    if len(conversations) == 1 and len(conversations[0].replies) == 1:
        return (conversations[0].replies[0]["content"] or "").strip()
    return "\n\n".join(filter(None, map(_conversation_text, conversations)))


def _conversation_text(conversation: Conversation) -> str:
    turns = [f"[{message['role']}]\n{message['content']}" for message in conversation.messages]
    return "\n\n".join([f"[{conversation.name}]", *turns] if conversation.name else turns)
