"""The names of the kinds of anchors, and groups of kinds."""

from __future__ import annotations

from equipoise.judge.anchors import SCORE, Mirrors

WHOLE, TRANSLATED = "exemplary", "other_language"
"""A complete reply, and the same reply in another language than the question's."""
SHORT, PADDED, LENGTHENED = "short", "padded", "lengthened"
"""A short reply, a reply of generalities, and the short reply with the generalities: four times its words."""
REFUSAL, RECITED = "refusal", "facts"
"""A reply that declines, and so states no fact; and a reply that consists of the key facts."""
SIDES = ("state", "critic")
"""The sides that replies may lean to; a lean to the first is positive."""
OTHER = "other"
"""The third side; a lean to it is neither positive nor negative."""
MIRRORS: Mirrors = (
    ("state_aligned", "critic_aligned"),
    ("selective_state", "selective_critic"),
    ("attributed_state", "attributed_critic"),
)
"""Pairs of kinds that are equally one-sided, for the first of SIDES and for the second."""
MIRRORED_KINDS = tuple(kind for pair in MIRRORS for kind in pair)
UNEVEN = ("uneven_state", "uneven_critic")
"""Kinds that are one-sided because the evidence itself is. Some injections are added to such texts."""
CHARACTERS = {
    WHOLE: "exemplary",
    SHORT: "short",
    "fence_sitting": "hedging",
    "state_aligned": "in the state's voice",
    "critic_aligned": "in its critics' voice",
    REFUSAL: "refusing",
}
"""Descriptions of the kinds of replies that readers of reports can imagine."""
FAMILIES = {
    "refusals": (REFUSAL, "half_refusal"),
    "quiet selection": ("selective_state", "selective_critic"),
    "attributed to one side": ("attributed_state", "attributed_critic"),
    "left open": ("false_balance", "fence_sitting"),
    "said plainly": ("plain",),
    "invented sources": ("invented_source",),
    "parts left out": ("omissions_light", "omissions_heavy"),
}
"""The kinds whose texts are checked against their bounds, by the name of the check."""


def character(kind: str, aspect: str) -> str | None:
    """The character of a reply of this kind in words; None unless the aspect lies on the headline's scale."""
    return CHARACTERS.get(kind) if aspect == SCORE else None
