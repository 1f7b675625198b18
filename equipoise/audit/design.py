"""Which anchors an audit has judged, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """An extent of an audit: these `kinds` of anchors (empty for all) and the first `injections`.

    All languages, and the first `topics` or all. Each text is judged `times` times, but those of a kind in
    `more` as often as it says.
    """

    name: str
    kinds: tuple[str, ...] = ()
    injections: int = 0
    times: int = 1
    topics: int | None = None
    more: Mapping[str, int] = field(default_factory=dict)

    def repeats(self, kind: str) -> int:
        """How often each text of this kind is judged."""
        return self.more.get(kind, self.times)
