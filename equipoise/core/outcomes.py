"""How each outcome of a run is shown: in progress, in sentences, on pages and in figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from equipoise.core.rows import RowOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Appearance:
    """How one outcome is shown.

    `colour` is the colour of bars as `#rrggbb`. `words` follow a number of runs in a sentence. `letter`
    stands for a run in pytest's progress. Either is empty if the outcome is not shown in that form.
    `explains_silence` says whether a run with this outcome may have an empty reply.
    """

    colour: str
    words: str = ""
    letter: str = ""
    explains_silence: bool = False


APPEARANCES: Mapping[RowOutcome, Appearance] = {
    "scored": Appearance(colour="#b7d3ea"),
    "refused": Appearance(colour="#d55e00", words="refused"),
    "blocked": Appearance(colour="#7b3294", words="blocked by a filter", letter="b", explains_silence=True),
    "truncated": Appearance(colour="#f0c75e", words="cut short", letter="t", explains_silence=True),
    "empty": Appearance(colour="#f7ecc4", words="empty", letter="e", explains_silence=True),
    "unscored": Appearance(colour="#8f8f8f", words="left without a score", letter="u"),
    "error": Appearance(colour="#3a3a3a", words="lost to errors", letter="E", explains_silence=True),
    "unknown": Appearance(colour="#dddddd", words="of unknown outcome"),
}
"""All outcomes, in the order in which they are listed."""
