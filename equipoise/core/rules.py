"""The rules of `--gate` and `--until`, and their grammar.

Parsers raise ValueError whose message is a predicate: the caller adds the rule as its subject.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Unit = Literal["pp", "%", "points"]
InconclusiveCountsAs = Literal["pass", "fail"]
"""The verdict that an inconclusive gate counts as."""
RuleKind = Literal["change", "own figure", "question", "unscored", "verified", "audit", "asker"]
"""What a rule is about: the change of a metric since the baseline, a figure of the candidate that is even at
0, each question, runs without a score, journals, an evaluator's audit, or who asks."""
Scope = Literal["these", "population"]
"""The scope of an interval: these questions alone, where only runs vary, or all questions like them."""
SCOPES: tuple[Scope, ...] = ("these", "population")
_SIGN = r"(?P<sign>±|\+-|\+/-|[+-]|)"
_AMOUNT = r"(?P<amount>\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})"
_SCOPE = r"(?:@(?P<scope>[^@\s]*))?"
_METRIC_RULE = re.compile(
    rf"(?P<name>[^:\s]+):{_SIGN}{_AMOUNT}(?P<unit>pp|%|){_SCOPE}(?:@(?P<people>people))?"
)
_AUDIT_RULE = re.compile(rf"audit\.(?P<check>[^:\s]+):{_SIGN}{_AMOUNT}(?P<unit>pp|)")
_ASKER_RULE = re.compile(rf"(?P<name>asker\.[^:\s]+):{_SIGN}{_AMOUNT}(?P<unit>pp|){_SCOPE}")
_UNTIL_TARGET = re.compile(rf"(?P<name>[^:\s]+):(?:±|\+-|\+/-){_AMOUNT}pp{_SCOPE}")
QUESTION, UNSCORED, VERIFIED = "question", "unscored", "verified"
"""The rules about each question, about runs without a score, and about journals."""
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
"""The percentage of a baseline's runs that may have no score if there is no rule `unscored`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of a gate: in most cases, by how much a figure may be worse than the baseline's.

    `sign` is -1 if the rule limits a fall, 1 if it limits a rise, and 0 if it limits both; it is also 0 for
    the rules `unscored` and `verified`. `amount` is the limit. Its unit is percentage points, percent of the
    baseline's figure, or points of the scale. `scope` is the scope of the interval. With `people`, the rule
    is about the figure corrected by people's labels, as in `overall:-5pp@these@people`.

    A rule about an audit, such as `audit.lean:±5pp`, limits the distance of a check's figure from that of a
    sound evaluator. A rule about who asks, such as `asker.asymmetry:±3pp`, and a rule about a figure that is
    even at 0, such as `lean.us_parties:±5pp`, limit a figure of the session itself. The rule `verified`
    requires that both results agree with their journals.

    `file` is the file that contains the rule; it is empty for a rule of the option `option`. In a file, a
    rule may be for one `suite` only (empty: for all). A rule that is not `required` is advisory: it is shown
    and does not affect the verdict.
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
        # Messages show where the user finds the rule.
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
    def kind(self) -> RuleKind:
        """What the rule is about. The properties below follow from it."""
        if self.name == QUESTION:
            return "question"
        if self.name == UNSCORED:
            return "unscored"
        if self.name == VERIFIED:
            return "verified"
        if self.name.startswith(AUDIT):
            return "audit"
        if self.name.startswith(ASKER):
            return "asker"
        return "change" if self.sign else "own figure"

    @property
    def needs_baseline(self) -> bool:
        """Whether the rule compares results with a baseline."""
        return self.kind in ("change", "question", "verified")

    @property
    def is_a_test(self) -> bool:
        """Whether the rule is a statistical test, to be corrected for the number of tests."""
        return self.kind not in ("unscored", "verified")

    @property
    def is_about_metric(self) -> bool:
        """Whether the rule is about the change of a metric, so that more runs may decide it."""
        return self.kind == "change"

    @property
    def bounds_own_figure(self) -> bool:
        """Whether the rule bounds a metric of the candidate itself, and not its change."""
        return self.kind in ("own figure", "asker")

    @property
    def is_about_audit(self) -> bool:
        """Whether the rule is about a check of an evaluator's audit."""
        return self.kind == "audit"

    @property
    def is_about_asker(self) -> bool:
        """Whether the rule is about how much answers depend on who asks."""
        return self.kind == "asker"


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
    if match["name"] in (QUESTION, UNSCORED):
        return _rule_without_scope(match)
    return _metric_rule(match, scope)


def _rule_without_scope(match: re.Match[str]) -> Rule:
    """The rule `question` or `unscored`. Raises ValueError."""
    name, sign, amount, unit = match["name"], match["sign"], float(match["amount"]), match["unit"]
    if match["scope"] is not None:
        raise ValueError(f"takes no scope: {name} is about this session's own runs")
    if name == UNSCORED:
        return Rule(text=match[0], name=name, sign=0, amount=_unscored_share(sign, amount, unit), unit="%")
    if sign not in ("+", "-") or unit or not amount:
        raise ValueError("is in points of the scale, with a sign and without a unit: question:-2.0")
    return Rule(text=match[0], name=name, sign=_sign_of(sign), amount=amount, unit="points")


def _metric_rule(match: re.Match[str], scope: Scope) -> Rule:
    """The rule about a metric. Raises ValueError."""
    sign, amount, unit = match["sign"], float(match["amount"]), match["unit"]
    # In a rule such as overall:-5pp@people, the pattern takes the suffix for a scope.
    has_people = PEOPLE in (match["people"], match["scope"])
    scope_name = None if match["scope"] == PEOPLE else match["scope"]
    if not sign:
        raise ValueError("needs a sign: - for how far it may fall, + for how far it may rise")
    if not _sign_of(sign) and (unit != "pp" or has_people):
        raise ValueError("bounds the session's own figure in percentage points: lean.PAIR:±5pp (or +-5pp)")
    if not unit and amount:
        raise ValueError("needs a unit: pp for percentage points, % for percent of the baseline's figure")
    return Rule(
        text=match[0],
        name=match["name"],
        sign=_sign_of(sign),
        amount=amount,
        unit="%" if unit == "%" else "pp",
        scope=_parse_scope(scope_name, scope),
        people=has_people,
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
    """1 for +, -1 for -, and 0 for ± and its other spellings."""
    return {"+": 1, "-": -1}.get(text, 0)


def _parse_scope(name: str | None, default: Scope = SCOPES[0]) -> Scope:
    """The scope with this name, or the default without a name. Raises ValueError for an unknown scope."""
    if name is None:
        return default
    for scope in SCOPES:
        if scope == name:
            return scope
    raise ValueError(f"has an unknown scope: @{' or @'.join(SCOPES)}")


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
