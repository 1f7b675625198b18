"""The Python API for comparing and gating results files: `equipoise.compare` and `equipoise.gate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.comparison.compare import Comparison
from equipoise.comparison.compare import compare as compare_sides
from equipoise.comparison.of_files import compare_files
from equipoise.comparison.verify import load_verified
from equipoise.core.errors import UserError
from equipoise.core.gates import GateFile, parse_gate, rules_in
from equipoise.core.rules import Rule
from equipoise.results.document import ComparisonFigures, Ruling
from equipoise.stats.paired import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The outcome of a gate: the verdict, the ruling on each rule, and the comparison as plain data.

    `missing` counts the candidate's runs without a score, which the verdict does not consider.
    """

    verdict: Decision
    rulings: Sequence[Ruling]
    missing: int
    comparison: ComparisonFigures = field(repr=False)

    @property
    def passes(self) -> bool:
        """Whether every required rule passes and every run has a score."""
        return self.verdict == "pass" and not self.missing


def compare(baseline: Path, candidate: Path, *, allows_mismatch: bool = False) -> Comparison:
    """The comparison of a candidate with a baseline, both results files.

    With `allows_mismatch`, results with other settings are compared on the cases that they share. Raises
    UserError that names what differs.
    """
    sides = load_verified(baseline), load_verified(candidate)
    # As in `equipoise compare` without a gate, options whose effect the suite reports may differ.
    return compare_sides(*sides, allows_mismatch=allows_mismatch, is_study=True)


def gate(baseline: Path, candidate: Path, rules: Sequence[str], *, allows_mismatch: bool = False) -> Gate:
    """The gate's outcome for a candidate, the same as that of `equipoise compare --gate`.

    Each of `rules` is a rule such as `overall:-2pp`, or a TOML file of rules. Raises UserError.
    """
    if not rules:
        raise UserError("gate: there are no rules; give some, such as overall:-2pp")
    (sections,) = compare_files(
        [baseline], [candidate], rules_in(map(_parse_rule, rules)), allows_mismatch=allows_mismatch
    )
    outcome = sections["gate"]
    return Gate(
        verdict=outcome["verdict"],
        rulings=outcome["rules"],
        missing=outcome["left"] + outcome["unscored"],
        comparison=sections["comparison"],
    )


def _parse_rule(text: str) -> Rule | GateFile:
    try:
        return parse_gate(text)
    except ValueError as error:
        raise UserError(f"gate: {text!r} {error}") from None
