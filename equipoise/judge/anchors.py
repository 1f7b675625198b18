"""Anchors: texts whose right score is known within bounds. They try evaluators; no subject sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from equipoise.judge.rubric import About


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """One text to judge, or several that are judged together; `material` is what its suite makes prompts of.

    `bounds` are those of each number that is made of its verdict, in points or percent, by aspect. Anchors of
    the same `topic` and `kind` say the same in every `language`. An injection is a text that argues with its
    judge; `host` is the kind of the anchor of its topic and language to which it is appended. `about` is what
    evaluators are told of the question, if not what the rubric says.
    """

    topic: str
    language: str
    kind: str
    bounds: Mapping[str, tuple[float, float]]
    material: Mapping[str, Any]
    host: str | None = None
    about: About | None = None

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
    hash: str
    order: Sequence[tuple[str, str]] = ()


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
