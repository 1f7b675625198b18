"""What came of a family of attacks, and how large the attack is. Knows no family."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is tried: everything, or a sample that a fixed seed decides."""

    is_full: bool
    seed: int = 1

    def of(self, sample: int, full: int) -> int:
        """The number that applies."""
        return full if self.is_full else sample

    def dice(self, family: str) -> random.Random:
        """Draws of a family's own, so that one family more changes no other."""
        return random.Random(f"{self.seed} {family}")  # noqa: S311 - moments and bytes, not secrets


@dataclass(slots=True)
class Tally:
    """What a family did: attacks tried, those that fell, and the harm in calls, scores and keys."""

    family: str
    tried: int = 0
    lost: int = 0
    twice: int = 0
    changed: int = 0
    keys: int = 0
    fell: list[str] = field(default_factory=list)

    @property
    def is_harmless(self) -> bool:
        """Whether everything held."""
        return not self.fell and not (self.lost or self.twice or self.changed or self.keys)

    @contextmanager
    def attack(self, name: str) -> Iterator[Harm]:
        """One attack: it falls where anything is raised, or where harm was done."""
        self.tried += 1
        harm = Harm()
        try:
            yield harm
        except Exception as error:
            harm.said.append(f"{type(error).__name__}: {error}"[:2000])
        self.lost += harm.lost
        self.twice += harm.twice
        self.changed += harm.changed
        self.keys += harm.keys
        if said := harm.in_words():
            self.fell.append(f"{self.family}: {name}: {'; '.join(said)}")


@dataclass(slots=True)
class Harm:
    """The harm of one attack."""

    lost: int = 0
    twice: int = 0
    changed: int = 0
    keys: int = 0
    said: list[str] = field(default_factory=list)

    def expect(self, condition: object, why: str) -> None:
        """Say why where the condition does not hold."""
        if not condition:
            self.said.append(why)

    def in_words(self) -> list[str]:
        """What happened; empty where the attack held."""
        counts = {
            "calls lost": self.lost,
            "calls paid twice": self.twice,
            "scores changed": self.changed,
            "keys found": self.keys,
        }
        return [*(f"{name} {count}" for name, count in counts.items() if count), *self.said]
