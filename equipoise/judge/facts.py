"""Key facts of a question, which evaluators have in hand, and what a verdict says of each.

Facts are an aid to judge by, not the standard: a reply may be right beyond them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from equipoise.core.errors import InvalidVerdict
from equipoise.core.types import JSON, strict_object

FACTS = "facts"
"""The key of facts in a case and in the details of its question, and of statements in verdicts and runs."""
STATUSES = ("settled", "contested")
"""Whether those who would dispute a fact concede it, or what they say stands beside it."""
Statement = Literal["right", "wrong", "left_out"]
"""How a reply states a fact."""
STATEMENTS: tuple[Statement, ...] = get_args(Statement)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFact:
    """One fact in one sentence. `by` says who says what where it is contested, and is empty otherwise."""

    id: str
    text: str
    status: Literal["settled", "contested"]
    by: str = ""

    def describe(self) -> str:
        """The fact, marked with who says what if it is contested, for a prompt. Marks cost tokens."""
        return f"({self.status}: {self.by}) {self.text}" if self.by else self.text

    def to_json(self) -> dict[str, JSON]:
        """Plain data."""
        return {"id": self.id, "text": self.text, "status": self.status, "by": self.by}


def describe(facts: Sequence[KeyFact]) -> str:
    """One line per fact, numbered from 1."""
    return "\n".join(f"{number}. {fact.describe()}" for number, fact in enumerate(facts, 1))


def schema(facts: Sequence[KeyFact]) -> dict[str, JSON]:
    """The JSON Schema of a verdict's field: a statement for each fact, by its number.

    Numbers as keys cost a few tokens more than a list, and a verdict that skips a fact does not shift the
    others. A list of a fixed length is also not accepted by every endpoint.
    """
    return strict_object({number: {"type": "string", "enum": list(STATEMENTS)} for number in _numbers(facts)})


def read_statements(facts: Sequence[KeyFact], value: JSON) -> dict[str, Statement]:
    """The statement of each fact by the fact's id, from a verdict's field. Raises InvalidVerdict."""
    numbers = _numbers(facts)
    if not isinstance(value, dict) or value.keys() != {*numbers}:
        raise InvalidVerdict(f"'facts' has not exactly the numbers 1 to {len(facts)}")
    return {fact.id: _statement(number, value[number]) for fact, number in zip(facts, numbers, strict=True)}


def _statement(number: str, value: JSON) -> Statement:
    word = value.strip().lower() if isinstance(value, str) else value
    for statement in STATEMENTS:
        if word == statement:
            return statement
    raise InvalidVerdict(f"fact {number} is none of {', '.join(STATEMENTS)}")


def _numbers(facts: Sequence[KeyFact]) -> list[str]:
    return [str(number) for number in range(1, len(facts) + 1)]


def of_json(rows: Sequence[Mapping[str, JSON]]) -> tuple[KeyFact, ...]:
    """The facts that `KeyFact.to_json` made plain data of."""
    return tuple(KeyFact(**row) for row in rows)
