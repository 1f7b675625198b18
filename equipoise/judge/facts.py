"""Key facts of a question, which evaluators are given, and verdicts on how a reply states each fact.

Facts help to judge a reply, but are not the standard: a reply may also be right about other facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from equipoise.core.errors import InvalidVerdict
from equipoise.core.types import JSON, strict_object

FACTS = "facts"
"""The key of the facts in cases and details of questions, and of the statements in verdicts and runs."""
STATUSES = ("settled", "contested")
"""A settled fact is conceded even by its opponents. For a contested fact, `by` says who says what."""
Statement = Literal["right", "wrong", "left_out"]
"""How a reply states a fact."""
STATEMENTS: tuple[Statement, ...] = get_args(Statement)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFact:
    """One fact in one sentence. `by` says who says what if the fact is contested, and is empty otherwise."""

    id: str
    text: str
    status: Literal["settled", "contested"]
    by: str = ""

    def describe(self) -> str:
        """The fact for a prompt. Marks cost tokens, so only contested facts have one, with who says what."""
        return f"({self.status}: {self.by}) {self.text}" if self.by else self.text

    def to_json(self) -> dict[str, JSON]:
        """The fact as plain data."""
        return {"id": self.id, "text": self.text, "status": self.status, "by": self.by}


def describe(facts: Sequence[KeyFact]) -> str:
    """One line per fact, numbered from 1."""
    return "\n".join(f"{number}. {fact.describe()}" for number, fact in enumerate(facts, 1))


def schema(facts: Sequence[KeyFact]) -> dict[str, JSON]:
    """The JSON Schema of a verdict's field: a statement for each fact, by its number.

    Numbers as keys cost a few tokens more than a list, but a verdict that skips a fact does not shift the
    others, and some endpoints do not accept a list of a fixed length.
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
    """The facts in plain data. The inverse of `KeyFact.to_json`."""
    return tuple(KeyFact(**row) for row in rows)
