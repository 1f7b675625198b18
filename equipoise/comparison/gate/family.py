"""Correction of FAIL verdicts for the number of rules: the familywise error rate is at most 5 %.

Each rule alone errs in at most 2.5 of 100, and the more of them there are, the more often one of them fails
a release that did not get worse. So a FAIL is corrected for their number by Holm's step-down procedure (1979,
Scand. J. Statistics 6, 65-70). A PASS of all needs no correction: a release that is worse by one rule's
margin has to pass that very rule (Berger 1982, Technometrics 24, 295-300).

Where there are several suites, each has its part of the 5 of 100, in proportion to its rules, and Holm's
procedure goes through these alone. The first step of every suite is then that of all of them together: some
rule fails exactly where one would under Holm's procedure over all suites, and no suite waits for another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from equipoise.core.rules import Rule

ALONE = 0.025
"""One-sided error of one rule by itself."""
TOGETHER = 0.05
"""Probability that any rule fails although the release lies on or within all margins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How many rules of one verdict chance may decide: of all suites, and of this one."""

    rules: int
    own: int

    def error(self, failed: int = 0) -> float:
        """The one-sided error that the next rule of this suite may make, after so many that failed."""
        if not self.own:
            return ALONE
        return min(ALONE, TOGETHER * self.own / self.rules / max(self.own - failed, 1))


NO_RULES = Family(rules=0, own=0)


def tests(rules: Sequence[Rule]) -> list[Rule]:
    """The rules that chance may decide and that the verdict rests on."""
    return [rule for rule in rules if rule.required and rule.is_a_test]


def family_of(rules: Sequence[Rule]) -> Family:
    """The family of the rules of one suite alone."""
    number = len(tests(rules))
    return Family(rules=number, own=number)


def failing(rules: Sequence[Rule], fails: Callable[[Rule, float], bool], family: Family) -> set[Rule]:
    """The rules of a suite that fail: `fails` says whether one does at a given one-sided error.

    Advisory rules are told, each by itself.
    """
    left, failed = tests(rules), set[Rule]()
    while more := {rule for rule in left if fails(rule, family.error(len(failed)))}:
        failed |= more
        left = [rule for rule in left if rule not in more]
    return failed | {rule for rule in rules if rule not in tests(rules) and fails(rule, ALONE)}
