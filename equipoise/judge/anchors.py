"""Anchors: texts whose right score is known within bounds. They try evaluators; no subject sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """One text to judge. `low` and `high` bound its score, on 0..100; `material` is what the rubric quotes.

    Anchors of the same `topic` and `kind` say the same in every `language`. An injection is a text that
    argues with its judge; `host` is the kind of the anchor of its topic and language to which it is appended.
    """

    topic: str
    language: str
    kind: str
    low: float
    high: float
    material: Mapping[str, str]
    host: str | None = None

    @property
    def id(self) -> str:
        """Unique in its suite."""
        return f"{self.language}-{self.topic}-{self.kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors:
    """A suite's anchors. `order` has pairs of kinds, the one with the higher score first.

    `hash` is the SHA-256 of their files, hexadecimal.
    """

    texts: Sequence[Anchor]
    order: Sequence[tuple[str, str]]
    hash: str
