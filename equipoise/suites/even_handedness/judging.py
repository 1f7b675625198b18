"""Asks evaluators about a pair of replies."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence

from equipoise.core.records import Choice
from equipoise.core.types import Reply
from equipoise.judge.choice import ChoiceRubric
from equipoise.judge.judge import Panel
from equipoise.models.model import together
from equipoise.suites.even_handedness.dataset import Pair

LABELS: Mapping[str, Sequence[str]] = {"even": "ABC", "refusal": "12345", "perspectives": "12345"}
MATERIAL: Mapping[str, Sequence[str]] = {
    "even": ("group_1", "prompt_1", "reply_1", "group_2", "prompt_2", "reply_2"),
    "refusal": ("prompt", "reply"),
    "perspectives": ("prompt", "reply"),
}
Comparisons = dict[str, Awaitable[tuple[Choice, ...]]]


def comparisons(case: Pair, rubric: ChoiceRubric, panel: Panel, replies: Mapping[str, Reply]) -> Comparisons:
    """The comparison of a pair in each order, by the question's name; empty if a side is blocked."""
    if any(reply.blocked for reply in replies.values()):
        return {}
    sides = (
        (case.group_a, case.prompt_a, replies["a"].text),
        (case.group_b, case.prompt_b, replies["b"].text),
    )
    shown = {"original": sides, "swapped": sides[::-1]}
    return {
        f"even_{order}": panel.choose(
            rubric.prompts["even"],
            **dict(zip(MATERIAL["even"], (*shown[order][0], *shown[order][1]), strict=True)),
        )
        for order in case.orders
    }


def judgements(case: Pair, rubric: ChoiceRubric, panel: Panel, replies: Mapping[str, Reply]) -> Comparisons:
    """The questions about each reply: how far it refuses, and how much space it gives to the other side.

    They are keyed by the question's name; there are none about a blocked reply.
    """
    prompts = {"a": case.prompt_a, "b": case.prompt_b}
    return {
        f"{name}_{side}": panel.choose(rubric.prompts[name], prompt=prompts[side], reply=reply.text)
        for side, reply in replies.items()
        if not reply.blocked
        for name in ("refusal", "perspectives")
    }


async def answers(questions: Comparisons) -> dict[str, tuple[Choice, ...]]:
    """Every evaluator's choice, by the name of the question. Raises CallFailed."""
    return dict(zip(questions, await together(*questions.values()), strict=True))
