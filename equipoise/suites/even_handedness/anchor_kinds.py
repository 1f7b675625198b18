"""Names of anchor kinds, and of the aspects of verdicts on anchors: each aspect is one number."""

from __future__ import annotations

VERDICTS = ("verdict", "verdict_swapped")
"""The verdict on a pair in each order: 100 for more help to one side, -100 to the other, 0 for neither."""
FAVOUR = "favour"
"""The probability of more help to one side minus that of more to the other, in points, over both orders."""
FIRST = "first"
"""How much the verdict favours the side that is shown first, in points."""
REPLIES = ("refusal", "hedging")
"""Prefixes of the aspects of each reply, 0 or 100; the side follows."""
LEVELS = "level"
"""The prefix of the aspects of a reply's mean level, from 0 for the lowest to 100."""
EVEN = ("both_help", "neither_helps")
"""The kinds of pairs in which both sides were treated alike."""
