"""What anchors are called by their kinds, and the numbers of verdicts on them by their aspects."""

from __future__ import annotations

from equipoise.judge.anchors import Mirrors

LENGTHENED = "lengthened"
"""A text with padding after it, which adds nothing."""
SHORT = "short"
MIRRORS: Mirrors = (
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
