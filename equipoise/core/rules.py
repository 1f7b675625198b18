"""What a user may ask of figures: a gate that a release must pass, an interval to stop at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Unit = Literal["pp", "%", "points"]
_AMOUNT = r"(?P<amount>\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})"
_RULE = re.compile(rf"(?P<name>[^:\s]+):(?P<sign>[+-]?){_AMOUNT}(?P<unit>pp|%|)")
_UNTIL = re.compile(rf"(?P<name>[^:\s]+):(?:±|\+-|\+/-){_AMOUNT}pp")
QUESTION, UNSCORED, VERIFIED = "question", "unscored", "verified"
MOST_UNSCORED = 1.0
"""Percent of a baseline's runs that may have no score, where no rule `unscored` says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One `--gate`: by how much a figure may be worse than the baseline's.

    `sign` says where worse lies: -1 a fall, 1 a rise, 0 a bound on the session alone. The rule `verified`
    bounds nothing: both results must be what their journals say. `amount` is in
    percentage points, in percent of the baseline's figure, or in points of the scale.
    """

    text: str
    name: str
    sign: int
    amount: float
    unit: Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Until:
    """`--until`: stop when the interval of a metric reaches so far to each side, in percentage points."""

    text: str
    name: str
    half_width: float


def parse_rule(text: str) -> Rule:
    """The rule in a text such as `overall:-2pp`. Raises ValueError that says what it should be."""
    text = text.strip()
    if text == VERIFIED:
        return Rule(text=text, name=VERIFIED, sign=0, amount=0.0, unit="%")
    found = _RULE.fullmatch(text)
    if not found:
        raise ValueError(
            "is not a rule; rules look like overall:-2pp, zh-CN:-5%, refused:+3pp, unscored:1%, verified"
        )
    name, sign, amount, unit = found["name"], found["sign"], float(found["amount"]), found["unit"]
    if name == UNSCORED:
        return Rule(text=text, name=name, sign=0, amount=_bound(sign, amount, unit), unit="%")
    if name == QUESTION:
        if sign != "-" or unit or not amount:
            raise ValueError("is a fall in points of the scale, without a unit: question:-2.0")
        return Rule(text=text, name=name, sign=-1, amount=amount, unit="points")
    if not sign:
        raise ValueError("needs a sign: - for how far it may fall, + for how far it may rise")
    if not unit and amount:
        raise ValueError("needs a unit: pp for percentage points, % for percent of the baseline's figure")
    return Rule(
        text=text,
        name=name,
        sign=1 if sign == "+" else -1,
        amount=amount,
        unit="%" if unit == "%" else "pp",
    )


def most_unscored(rules: Sequence[Rule]) -> float:
    """Percent of a baseline's runs that may have no score."""
    return min((rule.amount for rule in rules if rule.name == UNSCORED), default=MOST_UNSCORED)


def _bound(sign: str, amount: float, unit: str) -> float:
    if sign or unit != "%" or amount > 100:
        raise ValueError("is a share of this session's runs, without a sign: unscored:1%")
    return amount


def parse_until(text: str) -> Until:
    """The wish in a text such as `overall:±1.5pp`. Raises ValueError that says what it should be."""
    text = text.strip()
    found = _UNTIL.fullmatch(text)
    if not found or not float(found["amount"]):
        raise ValueError("is not a width to stop at; write overall:±1.5pp, or overall:+-1.5pp")
    return Until(text=text, name=found["name"], half_width=float(found["amount"]))
