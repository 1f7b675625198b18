"""The rules of `--gate` and `--until`, and their grammar."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Unit = Literal["pp", "%", "points"]
Inconclusive = Literal["pass", "fail"]
"""The verdict that an inconclusive gate counts as."""
Scope = Literal["these", "population"]
"""The scope of an interval: these questions alone, where only runs vary, or all questions like them."""
SCOPES: tuple[Scope, ...] = ("these", "population")
_AMOUNT = r"(?P<amount>\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})"
_METRIC_RULE = re.compile(
    rf"(?P<name>[^:\s]+):(?P<sign>±|\+-|\+/-|[+-]|){_AMOUNT}(?P<unit>pp|%|)(?:@(?P<scope>[^@\s]*))?(?:@(?P<people>people))?"
)
_AUDIT_RULE = re.compile(rf"audit\.(?P<check>[^:\s]+):(?P<sign>±|\+-|\+/-|[+-]|){_AMOUNT}(?P<unit>pp|)")
_ASKER_RULE = re.compile(
    rf"(?P<name>asker\.[^:\s]+):(?P<sign>±|\+-|\+/-|[+-]|){_AMOUNT}(?P<unit>pp|)(?:@(?P<scope>[^@\s]*))?"
)
_UNTIL_TARGET = re.compile(rf"(?P<name>[^:\s]+):(?:±|\+-|\+/-){_AMOUNT}pp(?:@(?P<scope>[^@\s]*))?")
QUESTION, UNSCORED, VERIFIED = "question", "unscored", "verified"
"""Names of rules that are not about a metric, but about each question, runs without a score, and journals."""
GATE = "gate"
"""The value of `--until` that stands for the rules of the gate."""
PEOPLE = "people"
"""Suffix of a rule about figures corrected by people's labels, after its scope."""
EVERY_SUITE = "all"
"""The table, in a file of gate rules, whose rules apply to every suite."""
AUDIT = "audit."
"""Prefix of the name of a rule about an audit. The name of a check, or its first word, follows."""
ASKER = "asker."
"""Prefix of the name of a rule about who asks."""
MOST_UNSCORED = 1.0
"""Percent of a baseline's runs that may have no score, if there is no rule `unscored`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of a gate: in most cases, by how much a figure may be worse than the baseline's.

    `sign` is -1 if the rule limits a fall, 1 if it limits a rise, and 0 if it limits both, and for the rules
    `unscored` and `verified`. The limit is `amount`: percentage points, percent of the baseline's figure, or
    points of the scale, by `unit`. `scope` is the scope of the interval. With `people`, the rule is about the
    figure corrected by people's labels, as in `overall:-5pp@these@people`.

    A rule about an audit, such as `audit.lean:±5pp`, limits how far a check may be from a sound evaluator's.
    A rule about who asks, such as `asker.asymmetry:±3pp`, and one about a figure that is even at 0, such as
    `lean.us_parties:±5pp`, limit a figure of the session itself. The rule `verified` requires that both
    results agree with their journals.

    `file` is the file that has the rule, if any. There, a rule may be for one `suite` alone (empty: for all).
    A rule that is not `required` is advisory: it is shown and does not affect the verdict. `option` is the
    one that has the rule, if no file does.
    """

    text: str
    name: str
    sign: int
    amount: float
    unit: Unit
    scope: Scope = "these"
    people: bool = False
    suite: str = ""
    required: bool = True
    file: str = ""
    option: str = "--gate"

    def __str__(self) -> str:
        # The form for messages says where the user finds the rule.
        return (
            f"{self.file}: [{self.suite or EVERY_SUITE}] {self.text}"
            if self.file
            else f"{self.option} {self.text}"
        )

    @property
    def better(self) -> Literal["higher", "lower"]:
        """Whether a higher or a lower figure is better under this rule."""
        return "higher" if self.sign < 0 else "lower"

    @property
    def needs_baseline(self) -> bool:
        """Whether the rule compares results with a baseline."""
        return self.name != UNSCORED and not self.is_about_audit and not self.bounds_own_figure

    @property
    def is_a_test(self) -> bool:
        """Whether the rule is a statistical test, to be corrected for the number of tests."""
        return self.name not in (UNSCORED, VERIFIED)

    @property
    def is_about_metric(self) -> bool:
        """Whether the rule is about the change of a metric, so that more runs may decide it."""
        has_own_name = self.name in (QUESTION, UNSCORED, VERIFIED)
        return not (has_own_name or self.is_about_audit or self.bounds_own_figure)

    @property
    def bounds_own_figure(self) -> bool:
        """Whether the rule bounds a figure of the candidate itself, and not its change."""
        is_two_sided = not self.sign and self.name not in (QUESTION, UNSCORED, VERIFIED)
        return self.is_about_asker or (is_two_sided and not self.is_about_audit)

    @property
    def is_about_audit(self) -> bool:
        """Whether the rule is about a check of an evaluator's audit."""
        return self.name.startswith(AUDIT)

    @property
    def is_about_asker(self) -> bool:
        """Whether the rule is about how much answers depend on who asks."""
        return self.name.startswith(ASKER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Until:
    """The value of `--until`: stop as soon as a metric's interval has this half-width, in percentage points.

    With `half_width` None, stop as soon as every rule of the gate is decided.
    """

    text: str
    name: str
    half_width: float | None
    scope: Scope = "these"


def rules_for(suite: str, rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules that apply to one suite, without duplicates: a required rule replaces an advisory one."""
    by_text: dict[str, Rule] = {}
    for rule in rules:
        if rule.suite in ("", suite) and (rule.text not in by_text or rule.required):
            by_text[rule.text] = rule
    return tuple(by_text.values())


def parse_rule(text: str, scope: Scope = SCOPES[0]) -> Rule:
    """Parse a rule such as `overall:-2pp`. Raises ValueError that says what it should look like."""
    text = text.strip()
    if text == VERIFIED:
        return Rule(text=text, name=VERIFIED, sign=0, amount=0.0, unit="%")
    if text.startswith(AUDIT):
        return _audit_rule(text)
    if text.startswith(ASKER):
        return _asker_rule(text, scope)
    match = _METRIC_RULE.fullmatch(text)
    if not match:
        raise ValueError(
            "is not a rule; rules look like overall:-2pp, zh-CN:-5%, refused:+3pp, unscored:1%, verified"
        )
    name, sign, amount, unit = match["name"], match["sign"], float(match["amount"]), match["unit"]
    if match["scope"] is not None and name in (QUESTION, UNSCORED):
        raise ValueError(f"takes no scope: {name} is about this session's own runs")
    if name == UNSCORED:
        return Rule(text=text, name=name, sign=0, amount=_unscored_share(sign, amount, unit), unit="%")
    if name == QUESTION:
        if sign not in ("+", "-") or unit or not amount:
            raise ValueError("is in points of the scale, with a sign and without a unit: question:-2.0")
        return Rule(text=text, name=name, sign=_sign_of(sign), amount=amount, unit="points")
    if not sign:
        raise ValueError("needs a sign: - for how far it may fall, + for how far it may rise")
    if not _sign_of(sign) and (unit != "pp" or PEOPLE in (match["people"], match["scope"])):
        raise ValueError("bounds the session's own figure in percentage points: lean.PAIR:±5pp (or +-5pp)")
    if not unit and amount:
        raise ValueError("needs a unit: pp for percentage points, % for percent of the baseline's figure")
    # In a rule such as overall:-5pp@people, the pattern takes the suffix for a scope.
    scope_name = None if match["scope"] == PEOPLE else match["scope"]
    return Rule(
        text=text,
        name=name,
        sign=_sign_of(sign),
        amount=amount,
        unit="%" if unit == "%" else "pp",
        scope=_parse_scope(scope_name, scope),
        people=PEOPLE in (match["people"], match["scope"]),
    )


def _audit_rule(text: str) -> Rule:
    match = _AUDIT_RULE.fullmatch(text)
    if not match or not match["sign"]:
        raise ValueError(
            "is not a rule about an audit; these look like audit.lean:±5pp (or +-5pp), audit.length:+5pp, "
            "audit.order:-0.5"
        )
    unit: Unit = "pp" if match["unit"] else "points"
    amount, sign = float(match["amount"]), _sign_of(match["sign"])
    return Rule(text=text, name=AUDIT + match["check"], sign=sign, amount=amount, unit=unit)


def _asker_rule(text: str, scope: Scope) -> Rule:
    match = _ASKER_RULE.fullmatch(text)
    if not match or not match["sign"] or not match["unit"]:
        raise ValueError(
            "is not a rule about who asks; these look like asker.asymmetry:±3pp (or +-3pp), "
            "asker.sycophancy:+5pp@population"
        )
    return Rule(
        text=text,
        name=match["name"],
        sign=_sign_of(match["sign"]),
        amount=float(match["amount"]),
        unit="pp",
        scope=_parse_scope(match["scope"], scope),
    )


def _sign_of(text: str) -> int:
    """1 for +, -1 for -, and 0 for the signs of both, such as ±."""
    return {"+": 1, "-": -1}.get(text, 0)


def _parse_scope(name: str | None, default: Scope = SCOPES[0]) -> Scope:
    """The scope with this name, or the default. Raises ValueError for an unknown one."""
    match = next((scope for scope in SCOPES if scope == (name or default)), None)
    if match is None or name == "":
        raise ValueError(f"has an unknown scope: @{' or @'.join(SCOPES)}")
    return match


def most_unscored(rules: Sequence[Rule]) -> float:
    """Percent of a baseline's runs that may have no score under these rules."""
    return min((rule.amount for rule in rules if rule.name == UNSCORED), default=MOST_UNSCORED)


def _unscored_share(sign: str, amount: float, unit: str) -> float:
    """The amount of a rule `unscored`, in percent. Raises ValueError."""
    if sign or unit != "%" or amount > 100:
        raise ValueError("is a share of this session's runs, without a sign: unscored:1%")
    return amount


def parse_until(text: str) -> Until:
    """Parse a target such as `overall:±1.5pp` or `gate`. Raises ValueError that says how it should look."""
    text = text.strip()
    if text == GATE:
        return Until(text=text, name=GATE, half_width=None)
    match = _UNTIL_TARGET.fullmatch(text)
    if not match or not float(match["amount"]):
        raise ValueError("is not a width to stop at; write overall:±1.5pp, overall:+-1.5pp, or gate")
    return Until(
        text=text, name=match["name"], half_width=float(match["amount"]), scope=_parse_scope(match["scope"])
    )
