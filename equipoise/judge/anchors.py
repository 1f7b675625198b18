"""Anchors, texts whose right scores are known within bounds; verdicts on them, and checks of these.

They try evaluators; no subject sees them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from equipoise.judge.rubric import About

SCORE = "score"
"""The only aspect of a text that gets one score."""
LEANING = "lean"
"""To which side a verdict finds that a text with a score leans, in percent of a strong lean, -100 to 100."""
Mirrors = Sequence[tuple[str, str]]
"""Pairs of kinds that are equally one-sided, for one side and for the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """One text to judge, or several that are judged together; `material` is what its suite makes prompts of.

    `bounds` are those of each number that is made of its verdict, in points or percent, by aspect. Anchors of
    the same `topic` and `kind` say the same in every `language`. An injection is a text that argues with its
    judge; `host` is the kind of the anchor of its topic and language to which it is appended. `about` is what
    evaluators are told of the question, if not what the rubric says.
    """

    topic: str
    language: str
    kind: str
    bounds: Mapping[str, tuple[float, float]]
    material: Mapping[str, Any]
    host: str | None = None
    about: About | None = None

    @property
    def id(self) -> str:
        """Unique in its suite."""
        return f"{self.language}-{self.topic}-{self.kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors:
    """A suite's anchors. `order` has pairs of kinds, the one with the higher score first.

    `hash` is the SHA-256 of their files, hexadecimal.
    """

    texts: Sequence[Anchor]
    hash: str
    order: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """An extent of an audit: these `kinds` of anchors (empty for all) and the first `injections`.

    All languages, and the first `topics` or all. Each text is judged `times` times, but those of a kind in
    `more` as often as it says.
    """

    name: str
    kinds: tuple[str, ...] = ()
    injections: int = 0
    times: int = 1
    topics: int | None = None
    more: Mapping[str, int] = field(default_factory=dict)

    def repeats(self, kind: str) -> int:
        """How often each text of this kind is judged."""
        return self.more.get(kind, self.times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A number of one verdict on an anchor, or None if it was invalid. `low` and `high` are its bounds.

    Numbers are points or percent; a verdict from which several are made has one for each `aspect`.

    Anchors of the same `topic` and `kind` say the same in every `language`. An injection is a text that
    argues with its judge; `host` is the kind of the anchor to which it is appended.
    """

    topic: str
    language: str
    kind: str
    repeat: int
    score: float | None
    low: float
    high: float
    host: str | None = None
    aspect: str = SCORE


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one check: a figure with its 95 % interval, and whether it is a fault.

    A sound evaluator's figure is at most `tolerance` away from `sound`, towards `worse` or, if that is
    "either", towards both. `p` is the probability of so bad a figure from a sound evaluator, and a fault is
    found where it is below `level`, the part of LEVEL that the check may use. `n` counts topics. `chance` is
    the figure of one that answers at random, for checks of what should be high.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    unit: str
    sound: float
    tolerance: float
    worse: str
    p: float | None = None
    level: float = 0.0
    reason: str | None = None
    chance: float | None = None

    @property
    def is_lean(self) -> bool:
        """Whether it is the fault that matters most."""
        return self.name.partition(" ")[0] == "lean"

    @property
    def is_by_chance(self) -> bool:
        """Whether the figure is not shown to be better than that of an evaluator that answers at random."""
        if self.chance is None or self.value is None:
            return False
        return (self.value if self.low is None else self.low) <= self.chance

    @property
    def is_fault(self) -> bool:
        """Whether the evaluator has this fault."""
        return self.p is not None and self.p < self.level
