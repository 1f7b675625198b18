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
