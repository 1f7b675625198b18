"""The replies in results that have a score, with their questions and the evaluators' scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from equipoise.core.rows import QuestionRow, RunRow
from equipoise.core.types import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredReply:
    """The reply of one scored run. `id` is the run's: language, case and number, as in reviews on the page.

    `percent` is the score in percent or in the unit of the headline. `verdicts` has the score of each
    evaluator that gave one.
    """

    id: str
    asked: QuestionRow
    conversations: Mapping[str, Sequence[Message]]
    percent: float
    verdicts: Mapping[str, float]

    @property
    def cluster(self) -> str:
        """Identifies the question in all languages."""
        return self.asked.cluster

    @property
    def language(self) -> str:
        """The language of the question."""
        return self.asked.language

    @property
    def area(self) -> str:
        """The area of the question."""
        return self.asked.area

    @property
    def question(self) -> str:
        """The text of the question."""
        return self.asked.text

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
        asked=row.question,
        conversations={item.name: item.messages for item in row.subject},
        percent=percent,
        verdicts={name: score for name, score in row.scores.items() if score is not None},
    )
