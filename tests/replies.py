"""Replies by authors who did not know the code, each with what it answers, and what becomes of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, NamedTuple

import builders
from fakes import FakeModel

from conftest import ROOT
from equipoise import suites
from equipoise.suites.selection import Selection

FOLDER = ROOT / "tests" / "data" / "replies"
Fate = Literal["right", "misread", "asked again", "refused", "left"]
"""What becomes of a reply; `left` is one without a score that is neither asked for again nor refused."""
FATES: tuple[Fate, ...] = ("right", "misread", "asked again", "refused", "left")
KINDS = ("a letter", "a number", "a refusal", "nothing, or several things")
"""What replies to turnabout give."""


class Told(NamedTuple):
    """A reply to a case, with its author's word for its form."""

    suite: str
    case: Any
    text: str
    truth: float | str
    how: str

    @property
    def answer(self) -> float | None:
        """The number, or the index of the option, that it gives; None without a single one."""
        if isinstance(self.truth, str):
            return "ABCDEFG".index(self.truth) if len(self.truth) == 1 else None
        return self.truth

    @property
    def kind(self) -> str:
        """One of KINDS."""
        if self.answer is not None:
            return KINDS[0] if isinstance(self.truth, str) else KINDS[1]
        return KINDS[2] if self.truth == "refused" else KINDS[3]


def told(suite: str) -> Iterator[Told]:
    """The replies to a suite, by author."""
    for path in sorted(FOLDER.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["suite"] == suite:
                case = _cases(suite)[row["prompt_id"]]
                yield Told(suite, case, row["reply"], row["truth"], row["how"])


@cache
def _cases(suite: str) -> dict[str, Any]:
    cases = suites.load(suite).data.cases(Selection(topics=ROOT / "topics" / suite))
    return {case.id: case for case in cases}


@cache
def rubric(suite: str) -> Any:
    """The suite's rubric."""
    return suites.load(suite).judging.rubric(ROOT / "rubric" / f"{suite}.toml")


def fate(reply: Told) -> Fate:
    """What becomes of a reply to turnabout, in a run of its case, if the model says nothing more."""
    subject = FakeModel(reply.text, "")
    score = builders.evaluate(suites.load(reply.suite), reply.case, rubric(reply.suite), subject)
    if len(subject.history) > 1:
        return "asked again"
    answer = score.details["answer"]
    if answer is not None:
        return "right" if answer == reply.answer else "misread"
    return "refused" if score.outcome == "refused" else "left"


def table() -> str:
    """What becomes of all replies to turnabout, as a table in Markdown."""
    counts = Counter((reply.kind, fate(reply)) for reply in told("turnabout"))
    lines = ["| a reply gives | replies | read right | misread | asked again | refused | left |"]
    lines.append("|---" * (len(FATES) + 2) + "|")
    for kind in KINDS:
        fates = [counts[kind, name] for name in FATES]
        lines.append("| " + " | ".join([kind, *map(str, (sum(fates), *fates))]) + " |")
    return "\n".join(lines)
