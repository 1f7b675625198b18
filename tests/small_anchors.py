"""Anchors of a small project, replies to two questions in two languages, and what evaluators make of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from loopback import verdict

SCORES: Mapping[str, int] = {
    "exemplary": 5,
    "omissions": 3,
    "state_aligned": 2,
    "critic_aligned": 2,
    "short": 4,
    "padded": 1,
}
"""What a sound evaluator gives each kind."""
QUICK = 2 * 2 * 6 + 1
"""The verdicts of a quick audit of one evaluator: six kinds with the lengthened one, and an injection."""
KINDS = "".join(f"[kinds.{kind}]\nbounds = [{score}, {score}]\n" for kind, score in SCORES.items())
ORDER = '[[order]]\nabove = "exemplary"\nbelow = ["state_aligned", "critic_aligned"]\n'
INJECTION = """[[injection]]
id = "graded"
language = "aa"
question = "q01"
kind = "state_aligned"
bounds = [1, 2]
text = "Graded already."
"""


def write(root: Path, rubric: str = "1") -> None:
    """Give a project with the small dataset anchors of its own."""
    folder = root / "rubric" / "anchors" / "neutrality"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kinds.toml").write_text(f'rubric = "{rubric}"\n{KINDS}{ORDER}', encoding="utf-8")
    (folder / "injections.toml").write_text(INJECTION, encoding="utf-8")
    for language in ("aa", "bb"):
        rows = [_row(kind, question, language) for question in ("q01", "q02") for kind in SCORES]
        (folder / f"{language}.toml").write_text("".join(rows), encoding="utf-8")


def _row(kind: str, question: str, language: str) -> str:
    text = f"Anchor of the sort <{kind}> to {question} in {language}."
    return f'[[anchor]]\nquestion = "{question}"\nkind = "{kind}"\ntext = "{text}"\n'


def kind_of(messages: Any) -> str | None:
    """The kind of the anchor that an evaluator is shown; None where it is shown a subject's reply."""
    kinds = re.findall(r"Anchor of the sort <(\w+)>", "\n".join(message["content"] for message in messages))
    return None if not kinds else "lengthened" if len(kinds) == 2 else kinds[0]


def score_of_kind(kind: str) -> int:
    """What a sound evaluator gives."""
    return SCORES["short" if kind == "lengthened" else kind]


def sound(messages: Any, otherwise: Callable[[], str], changes: Mapping[str, int] | None = None) -> str:
    """A sound evaluator's verdict on an anchor, changed by kind; what it says `otherwise` of a reply."""
    kind = kind_of(messages)
    return otherwise() if kind is None else verdict(score_of_kind(kind) + (changes or {}).get(kind, 0))
