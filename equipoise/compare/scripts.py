"""Comparisons and gates of results files as values, for scripts and notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.compare import release
from equipoise.compare.compare import Comparison
from equipoise.compare.compare import compare as compare_sides
from equipoise.compare.gate import Ruling
from equipoise.compare.verify import load_verified
from equipoise.core.errors import UserError
from equipoise.core.rules import Rule, parse_rule
from equipoise.core.types import JSON
from equipoise.stats.paired import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What becomes of a release: the verdict, the ruling on each rule, and the comparison as plain data."""

    verdict: Verdict
    rulings: Sequence[Ruling]
    comparison: Mapping[str, JSON] = field(repr=False)

    @property
    def passes(self) -> bool:
        """Whether every rule passes; an inconclusive one does not."""
        return self.verdict == "pass"


def compare(baseline: Path, candidate: Path, *, allows_mismatch: bool = False) -> Comparison:
    """The candidate against the baseline. Raises UserError that names what differs."""
    sides = load_verified(baseline), load_verified(candidate)
    return compare_sides(*sides, allows_mismatch=allows_mismatch, is_study=True)


def gate(baseline: Path, candidate: Path, rules: Sequence[str], *, allows_mismatch: bool = False) -> Gate:
    """What becomes of the candidate by these rules, as `equipoise compare --gate`. Raises UserError."""
    if not rules:
        raise UserError("gate: there are no rules; give some, such as overall:-2pp")
    (found,) = release.compare_files(
        [baseline], [candidate], [_rule(text) for text in rules], allows_mismatch=allows_mismatch
    )
    rulings = [
        Ruling(**{name: row[name] for name in ("rule", "verdict", "why")}) for row in found["gate"]["rules"]
    ]
    return Gate(verdict=found["gate"]["verdict"], rulings=rulings, comparison=found["comparison"])


def _rule(text: str) -> Rule:
    try:
        return parse_rule(text)
    except ValueError as error:
        raise UserError(f"gate: {text!r} {error}") from None
