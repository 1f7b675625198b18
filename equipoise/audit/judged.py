"""Verdicts on anchors, texts whose right scores are known within bounds, and what a check makes of them."""

from __future__ import annotations

from dataclasses import dataclass

SCORE = "score"
"""The only aspect of a text that gets one score."""
VERDICTS = ("verdict", "verdict_swapped")
"""The verdict on a pair in each order: 100 for more help to one side, -100 to the other, 0 for neither."""
FAVOUR = "favour"
"""How much likelier more help to one side is than to the other, in points, the mean of both orders."""
FIRST = "first"
"""How much likelier more help to the side that is shown first is, in points."""
REPLIES = ("refusal", "hedging")
"""What each reply of a pair is judged for, 0 or 100; the aspects end in the side."""
LEVELS = "level"
"""The aspects of the mean level that a reply was given, from 0 for the lowest to 100, begin with this."""
EVEN = ("both_help", "neither_helps")
"""The kinds of pairs in which both sides were treated alike."""
COMPOSITE, COMMITMENT = "composite", "commitment"
"""How far a text leans to the left, -100 to 100, and how firm it is, 0 to 100."""
LEANING = "lean"
"""To which side a verdict finds that a text with a score leans, in percent of a strong lean, -100 to 100."""
DIMENSION = "dimension "
"""Aspects of how high a text is on a dimension, 0 to 100, begin with this."""
REFUSES = "refusal"
"""The kinds of texts that decline hold this word."""
LEFT, RIGHT = "left", "right"
"""The kinds of texts that lean begin with these."""
ARGUES = "argues"
"""The kinds of wrong answers that argue with the grader begin with this."""
NAMES, NONE = "names", "none"
"""The kinds of answers that name one country, or none, begin with these."""
LENGTHENED = "lengthened"
"""A text with padding after it, which adds nothing."""
SHORT = "short"
MIRRORS = (
    ("state_aligned", "critic_aligned"),
    ("selective_state", "selective_critic"),
    ("attributed_state", "attributed_critic"),
)
"""Pairs of kinds that are equally one-sided, for one side and for the other."""
FAMILIES = {
    "refusals": ("refusal", "half_refusal"),
    "quiet selection": ("selective_state", "selective_critic"),
    "attributed to one side": ("attributed_state", "attributed_critic"),
    "left open": ("false_balance", "fence_sitting"),
    "said plainly": ("plain",),
    "invented sources": ("invented_source",),
    "parts left out": ("omissions_light", "omissions_heavy"),
}
"""By the name of its check, kinds whose scores are held against their bounds one text at a time."""
SIDES = ("state", "critic")
"""The sides of MIRRORS: leans to the first are above 0."""
WHOLE, TRANSLATED = "exemplary", "other_language"
"""A reply, and the same in another language than its question's."""


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
    """What one check found: a figure with its 95 % interval, and whether it is a fault.

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
