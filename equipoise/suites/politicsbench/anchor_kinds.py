"""The names of the kinds of anchors, and of the aspects of verdicts on them."""

from __future__ import annotations

COMPOSITE, COMMITMENT = "composite", "commitment"
"""Aspects: the lean to the left, -100 to 100, and the commitment, 0 to 100."""
DIMENSION = "dimension "
"""The prefix of the aspect of a dimension, 0 to 100."""
REFUSES = "refusal"
"""The kinds of texts that decline contain this word."""
LEFT, RIGHT = "left", "right"
"""The prefixes of the kinds of texts that lean."""
