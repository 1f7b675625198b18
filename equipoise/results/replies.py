"""The replies in results that have a score, with what was asked and how evaluators judged them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from equipoise.core.records import Cell
from equipoise.core.types import JSON, Message
from equipoise.judge.rubric import Scale
from equipoise.results.runs import at
from equipoise.suites import AnySuite


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One scored run. `id` is that of the page's reviews: language, case and number of the run.

    `cluster` is the question, the same in all languages; `percent` the score in percent or in the unit of the
    headline; `verdicts` the score of each evaluator that gave one.
    """

    id: str
    cluster: str
    language: str
    area: str
    question: str
    conversations: Mapping[str, Sequence[Message]]
    percent: float
    verdicts: Mapping[str, float]

    @property
    def text(self) -> str:
        """What the subject said; a conversation of several turns with what it was told."""
        return "\n\n".join(filter(None, map(self._conversation, self.conversations)))

    def _conversation(self, name: str) -> str:
        messages = self.conversations[name]
        replies = [str(message["content"] or "") for message in messages if message["role"] == "assistant"]
        if len(self.conversations) == 1 and len(replies) == 1:
            return replies[0].strip()
        said = [f"[{message['role']}]\n{message['content']}" for message in messages]
        return "\n\n".join([f"[{name}]", *said] if name else said)


def scored(suite: AnySuite, data: Mapping[str, JSON], cells: Sequence[Cell], scale: Scale) -> list[Reply]:
    """Every run of whole results that has a score and a text, in order."""
    found = [reply for cell in cells if cell.at for reply in _of_case(suite, cell, data, scale)]
    return [reply for reply in found if reply.text.strip()]


def _of_case(suite: AnySuite, cell: Cell, data: Mapping[str, JSON], scale: Scale) -> list[Reply]:
    pointer = cell.at.removesuffix("/runs")
    language, row = pointer.split("/")[2], at(data, pointer)
    group = str(row["id"]).removeprefix(f"{language}-")
    return [
        Reply(
            id=f"{language}/{group}/{run.get('run_index', number + 1)}",
            cluster=cell.cluster,
            language=language,
            area=str(row.get(suite.AREA) or ""),
            question=suite.asked(row),
            conversations=run.get("subject_transcripts") or {"": run.get("subject_transcript") or []},
            percent=percent,
            verdicts={
                name: score
                for name, scores in cell.verdicts.items()
                if number < len(scores) and (score := scores[number]) is not None
            },
        )
        for number, run in enumerate(row["runs"])
        if (percent := suite.figure_of(row, run, scale)) is not None
    ]
