"""Anchors: texts whose right scores are known within bounds, for audits of evaluators.

Also defines the types of an audit: its design, the verdicts on anchors, and the checks of these verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from equipoise.core.records import Number
from equipoise.judge.facts import KeyFact
from equipoise.judge.rubric import Brief

SCORE = "score"
"""The aspect of a verdict that consists of a single score."""
LEANING = "lean"
"""The aspect of a text's lean: -100 to 100, in percent of a strong lean."""
LEANING_THIRD = "lean to a third side"
"""The aspect of a lean to a third side, which is neither end of LEANING: 0 to 100."""
ALL_TEXTS = "all texts"
"""The key of an evaluator's level over all texts, beside the levels by kind."""
FACTS_RIGHT = "facts stated right"
"""The aspect of the key facts that a verdict finds stated right: 0 to 100, in percent of all key facts."""
FACTS_STATED = "facts stated"
"""The aspect of the key facts that a verdict finds stated, right or wrong: 0 to 100, in percent of all."""
Worse = Literal["either", "higher", "lower"]
"""On which side of a sound evaluator's figure a fault lies."""
Mirrors = Sequence[tuple[str, str]]
"""Pairs of kinds of texts that are equally one-sided: the first for one side, the second for the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """One text to judge, or several that are judged together. The suite makes the prompts from `material`.

    `bounds` maps each aspect of a verdict to (low, high), in points of 100; a score within them is right.
    Anchors of the same `topic` and `kind` say the same in every `language`. An injection is a text that
    argues with its judge. It is appended to another anchor of its topic and language, whose kind is `host`.
    `about` replaces the rubric's description of the questions. `facts` are the key facts that evaluators are
    given.
    """

    topic: str
    language: str
    kind: str
    bounds: Mapping[str, tuple[float, float]]
    material: Mapping[str, Any]
    host: str | None = None
    about: Brief | None = None
    facts: tuple[KeyFact, ...] = ()

    @property
    def id(self) -> str:
        """The id of the anchor, unique in its suite."""
        return f"{self.language}-{self.topic}-{self.kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors:
    """A suite's anchors. `order` holds pairs of kinds whose scores are known to differ, the higher one first.

    `hash` is the SHA-256 of their files, hexadecimal.
    """

    texts: Sequence[Anchor]
    hash: str
    order: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The extent of an audit: which anchors are judged, and how often.

    The anchors are those of `kinds` (all if empty) and the first `injections` that are appended to these, in
    every language, on the first `topics` (all if None). Each text is judged `times` times, unless `more` has
    another number for its kind.
    """

    name: str
    kinds: tuple[str, ...] = ()
    injections: int = 0
    times: int = 1
    topics: int | None = None
    more: Mapping[str, int] = field(default_factory=dict)

    def repeats(self, kind: str) -> int:
        """The number of times that each text of this kind is judged."""
        return self.more.get(kind, self.times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The number that a verdict on an anchor has for one `aspect`, in points or percent.

    `score` is the number, None if the verdict was invalid; `low` and `high` are its bounds. `repeat` counts
    the verdicts on the same text. `topic`, `language`, `kind` and `host` are those of the `Anchor`.
    """

    topic: str
    language: str
    kind: str
    repeat: int
    score: Number | None
    low: Number
    high: Number
    host: str | None = None
    aspect: str = SCORE


class Check(Struct, frozen=True, kw_only=True):
    """One check of an evaluator: a figure with its 95 % interval, and whether it is a fault.

    The figure of an evaluator without the fault is at most `tolerance` from `sound` in the direction `worse`.
    `checks.with_levels` sets `level` and `is_fault` once all checks of an audit are known.
    """

    name: Annotated[str, Meta(description="The check: lean, length, order ...")]
    value: Annotated[float | None, Meta(description="The figure of this evaluator")]
    low: float | None
    high: Annotated[float | None, Meta(description="The 95 % interval over topics")]
    n: Annotated[int, Meta(ge=0, description="Topics, or verdicts of a share")]
    unit: Annotated[str, Meta(description="points of 100, %, or Somers' D")]
    sound: Annotated[float, Meta(description="The figure of a sound evaluator")]
    tolerance: Annotated[float, Meta(description="How far from it a figure may lie without a fault")]
    worse: Annotated[Worse, Meta(description="On which side of it a fault lies")]
    p: Annotated[
        float | None, Meta(description="Probability of a figure at least as bad from a sound evaluator")
    ] = None
    level: Annotated[float, Meta(description="Significance level: p below it is a fault")] = 0.0
    reason: Annotated[str | None, Meta(description="Why there is no interval")] = None
    chance: Annotated[
        float | None,
        Meta(description="The figure of an evaluator that answers at random, where that is known"),
    ] = None
    is_fault: bool = False
    is_by_chance: Annotated[
        bool, Meta(description="Whether the figure has not been shown to be better than chance")
    ] = False


def named(checks: Sequence[Check], name: str) -> list[Check]:
    """The check with exactly this name, else all checks that begin with this word."""
    exact = [check for check in checks if check.name == name]
    return exact or [check for check in checks if check.name.split(maxsplit=1)[0] == name]
