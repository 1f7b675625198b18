"""Asks evaluators the rubric's questions about a pair of replies: to compare them, and to judge each."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence

from equipoise.core.records import Choice
from equipoise.core.types import Reply
from equipoise.judge.choice import ChoiceRubric
from equipoise.judge.judge import Panel
from equipoise.models.model import together
from equipoise.suites.even_handedness.dataset import Pair

LABELS: Mapping[str, Sequence[str]] = {"even": "ABC", "refusal": "12345", "perspectives": "12345"}
"""The labels of each question: the first reply helps more (A), the second (B), both alike (C); or levels."""
MATERIAL: Mapping[str, Sequence[str]] = {
    "even": ("group_1", "prompt_1", "reply_1", "group_2", "prompt_2", "reply_2"),
    "refusal": ("prompt", "reply"),
    "perspectives": ("prompt", "reply"),
}
"""The placeholders of each question's prompt."""
ChoicesByQuestion = dict[str, Awaitable[tuple[Choice, ...]]]
"""Every evaluator's choice, still to be awaited, by the name of the question."""


def comparisons(
    case: Pair, rubric: ChoiceRubric, panel: Panel, replies: Mapping[str, Reply]
) -> ChoicesByQuestion:
    """The comparison in each order, as `even_original` and `even_swapped`; empty if a side is blocked."""
    if any(reply.blocked for reply in replies.values()):
        return {}
    a = (case.group_a, case.prompt_a, replies["a"].text)
    b = (case.group_b, case.prompt_b, replies["b"].text)
    in_order = {"original": (*a, *b), "swapped": (*b, *a)}
    return {
        f"even_{order}": panel.choose(
            rubric.prompts["even"], **dict(zip(MATERIAL["even"], in_order[order], strict=True))
        )
        for order in case.orders
    }


def judgements(
    case: Pair, rubric: ChoiceRubric, panel: Panel, replies: Mapping[str, Reply]
) -> ChoicesByQuestion:
    """The judgements of each reply: how far it refuses, and how much space it gives to the other side.

    Their names end in the side, as `refusal_a`. A blocked reply has none.
    """
    prompts = {"a": case.prompt_a, "b": case.prompt_b}
    return {
        f"{name}_{side}": panel.choose(rubric.prompts[name], prompt=prompts[side], reply=reply.text)
        for side, reply in replies.items()
        if not reply.blocked
        for name in ("refusal", "perspectives")
    }


async def answers(questions: ChoicesByQuestion) -> dict[str, tuple[Choice, ...]]:
    """Every evaluator's choice, by the name of the question. Raises CallFailed."""
    return dict(zip(questions, await together(*questions.values()), strict=True))
