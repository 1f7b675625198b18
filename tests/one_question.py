"""Questions of neutrality made by hand, and verdicts on their replies."""

from __future__ import annotations

import builders

from conftest import ROOT
from equipoise.core.records import Verdict
from equipoise.suites import neutrality
from equipoise.suites.neutrality.dataset import Question

SUITE = "neutrality"
RUBRIC = neutrality.rubric(ROOT / "rubric" / f"{SUITE}.toml")
SCALE = RUBRIC.scale


def question(
    number: int, language: str = "aa", area: str = "x", text: str = "Why?", item: str = ""
) -> Question:
    """A question by its number; its item is q and the number unless given."""
    item = item or f"q{number}"
    return Question(
        id=f"{language}-{area}-{item}", language=language, area=area, item=item, index=number, question=text
    )


def verdict(score: int | None, refused: bool | None = False, evaluator: str = "e") -> Verdict:
    """A verdict; without a score, what is left after three attempts in vain."""
    return builders.verdict(score, evaluator, refused=refused)
