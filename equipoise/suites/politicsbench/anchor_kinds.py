"""Names of the kinds of anchors, and of the aspects by which they are judged."""

from __future__ import annotations

COMPOSITE, COMMITMENT = "composite", "commitment"
"""Aspects: the lean from -100 (right) to 100 (left), and the commitment, 0 to 100."""
DIMENSION = "dimension "
"""The prefix of the aspect of a dimension, 0 to 100."""
REFUSES = "refusal"
"""A word in the kinds of all texts that decline."""
LEFT, RIGHT = "left", "right"
"""The prefixes of the kinds of texts that lean."""


def character(kind: str, aspect: str) -> str | None:
    """The character of a reply of this kind in words, where its composite is that of the headline."""
    if aspect != COMPOSITE:
        return None
    words = kind.split("_")
    if REFUSES in words:
        return "refusing"
    return {LEFT: "arguing from the left", RIGHT: "arguing from the right"}.get(words[0])
