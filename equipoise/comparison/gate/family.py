"""Correction of FAIL verdicts for the number of rules: the familywise error rate is at most 5 %.

One rule alone fails a release that did not get worse with a probability of at most 2.5 %. With more rules, it
becomes more likely that one of them does. So a FAIL is corrected for their number by Holm's step-down
procedure (1979, Scand. J. Statistics 6, 65-70). A PASS of all rules needs no correction: a release that is
worse by one rule's margin would have to pass that same rule (Berger 1982, Technometrics 24, 295-300).

With several suites, each gets a share of the 5 % in proportion to its rules, and Holm's procedure is applied
within each. The first step is then the same as for all suites together. So some rule fails if and only if
some rule would fail under Holm's procedure over all suites, and no suite's verdict depends on another's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from equipoise.core.rules import Rule

ALPHA_OF_ONE_RULE = 0.025
"""The one-sided error of a single rule."""
ALPHA_OF_ALL_RULES = 0.05
"""The highest probability that any rule fails although the release is within all margins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The numbers of required rules that are statistical tests: `rules` in all suites, `own` in one suite."""

    rules: int
    own: int

    def alpha(self, failed: int = 0) -> float:
        """The one-sided error for the next step of Holm's procedure, after `failed` rules of this suite."""
        if not self.own:
            return ALPHA_OF_ONE_RULE
        return min(ALPHA_OF_ONE_RULE, ALPHA_OF_ALL_RULES * self.own / self.rules / max(self.own - failed, 1))


NO_RULES = Family(rules=0, own=0)


def required_tests(rules: Sequence[Rule]) -> list[Rule]:
    """The required rules that are statistical tests."""
    return [rule for rule in rules if rule.required and rule.is_a_test]


def family_of(rules: Sequence[Rule]) -> Family:
    """The family of a release on one suite alone."""
    number = len(required_tests(rules))
    return Family(rules=number, own=number)


def failing_rules(rules: Sequence[Rule], fails: Callable[[Rule, float], bool], family: Family) -> set[Rule]:
    """The rules of a suite that fail. `fails` says whether a rule fails at a given one-sided error.

    Advisory rules, and rules that are not tests, are not corrected.
    """
    tests = required_tests(rules)
    remaining, failed = tests, set[Rule]()
    while new := {rule for rule in remaining if fails(rule, family.alpha(len(failed)))}:
        failed |= new
        remaining = [rule for rule in remaining if rule not in new]
    return failed | {rule for rule in rules if rule not in tests and fails(rule, ALPHA_OF_ONE_RULE)}
