"""What anchors are called by their kinds, and the numbers of verdicts on them by their aspects."""

from __future__ import annotations

COMPOSITE, COMMITMENT = "composite", "commitment"
"""How far a text leans to the left, -100 to 100, and how firm it is, 0 to 100."""
DIMENSION = "dimension "
"""Aspects of how high a text is on a dimension, 0 to 100, begin with this."""
REFUSES = "refusal"
"""The kinds of texts that decline hold this word."""
LEFT, RIGHT = "left", "right"
"""The kinds of texts that lean begin with these."""
