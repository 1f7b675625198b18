"""The replies in results that have a score, with their questions and the evaluators' scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from equipoise.core.rows import RunRow
from equipoise.core.types import Message
from equipoise.judge.facts import FACTS, KeyFact, of_json


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredReply:
    """The reply of one scored run. `id` is the run's: language, case and number, as in reviews on the page.

    `cluster` identifies the question in all languages. `percent` is the score in percent or in the unit of
    the headline. `verdicts` has the score of each evaluator that gave one, and `facts` are the key facts that
    evaluators had in hand, which are the same in all languages.
    """

    id: str
    cluster: str
    language: str
    area: str
    question: str
    conversations: Mapping[str, Sequence[Message]]
    percent: float
    verdicts: Mapping[str, float]
    facts: tuple[KeyFact, ...] = ()

    @property
    def text(self) -> str:
        """Text of the reply, or the whole conversation if it has several turns."""
        return "\n\n".join(filter(None, map(self._conversation_text, self.conversations)))

    def _conversation_text(self, name: str) -> str:
        messages = self.conversations[name]
        replies = [str(message["content"] or "") for message in messages if message["role"] == "assistant"]
        if len(self.conversations) == 1 and len(replies) == 1:
            return replies[0].strip()
        turns = [f"[{message['role']}]\n{message['content']}" for message in messages]
        return "\n\n".join([f"[{name}]", *turns] if name else turns)


def scored_replies(rows: Iterable[RunRow]) -> list[ScoredReply]:
    """The reply of every run that has a score and a text, in order."""
    replies = (_reply(row, row.percent) for row in rows if row.percent is not None)
    return [reply for reply in replies if reply.text.strip()]


def _reply(row: RunRow, percent: float) -> ScoredReply:
    return ScoredReply(
        id=row.name,
        cluster=row.question.cluster,
        language=row.language,
        area=row.area,
        question=row.question.text,
        conversations={item.name: item.messages for item in row.subject},
        percent=percent,
        verdicts={name: score for name, score in row.scores.items() if score is not None},
        facts=of_json(row.question.details.get(FACTS, ())),
    )
