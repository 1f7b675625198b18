"""The names of the kinds of anchors, and groups of them."""

from __future__ import annotations

from equipoise.judge.anchors import Mirrors

LENGTHENED = "lengthened"
"""A text followed by padding that adds no content."""
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
"""By the name of a check: the kinds whose texts are each checked against their bounds."""
SIDES = ("state", "critic")
"""The sides of MIRRORS; leans to the first are positive."""
WHOLE, TRANSLATED = "exemplary", "other_language"
"""A complete reply, and the same reply in another language than the question's."""
