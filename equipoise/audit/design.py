"""Which anchors an audit has judged, and how often: the quick one and the full one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from equipoise.audit.checks import LENGTHENED, MIRRORS, SHORT


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """An extent of an audit: all languages and topics, these `kinds` (empty for all), the first `injections`.

    Each text is judged `times` times, but those of a kind in `more` as often as it says.
    """

    name: str
    kinds: tuple[str, ...] = ()
    injections: int
    times: int
    more: Mapping[str, int] = field(default_factory=dict)

    def repeats(self, kind: str) -> int:
        """How often each text of this kind is judged."""
        return self.more.get(kind, self.times)


QUICK = Design(
    name="quick",
    kinds=("exemplary", *MIRRORS, SHORT, LENGTHENED, "padded"),
    injections=10,
    times=1,
)
FULL = Design(
    name="full", injections=20, times=2, more={**dict.fromkeys(MIRRORS, 8), SHORT: 3, LENGTHENED: 3}
)
