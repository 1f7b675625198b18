"""What anchors are called by their kinds, and the numbers of verdicts on them by their aspects."""

from __future__ import annotations

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
