"""Facts about made-up questions: their file, and evaluators that find them stated in a known way."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

SOURCE: Mapping[str, str] = {
    "title": "Minutes of the council",
    "author": "Clerk of the town",
    "date": "1987-03-02",
    "address": "https://example.org/minutes",
    "locator": "page 4",
    "quotation": "The bridge was opened in May.",
    "language": "en",
    "kind": "primary",
    "party": "the town",
    "sha256": "0" * 64,
}
NUMBERED = re.compile(r"^(\d+)\. (?:\(contested: [^)]*\) )?(.*)$", re.MULTILINE)


def fact(
    name: str, text: str | None = "The bridge was opened in May 1987.", by: str = "", **more: Any
) -> dict[str, Any]:
    """One fact with one source; contested where `by` says by whom. None takes a key away."""
    status = {"status": "contested", "by": by} if by else {"status": "settled"}
    whole = {
        "question": name.partition("_")[0],
        "id": name,
        "text": text,
        **status,
        "source": [SOURCE],
        **more,
    }
    return {key: value for key, value in whole.items() if value is not None}


def written(*facts: Mapping[str, Any]) -> str:
    """The file of these facts."""
    return "".join(f"{_table('fact', fact)}\n" for fact in facts)


def _table(name: str, table: Mapping[str, Any]) -> str:
    parts = {key: value for key, value in table.items() if isinstance(value, list)}
    lines = [f"{key} = {json.dumps(value)}" for key, value in table.items() if key not in parts]
    tables = [_table(f"{name}.{key}", part) for key, rows in parts.items() for part in rows]
    return "\n".join([f"[[{name}]]", *lines, *tables])


def told(system: str) -> dict[str, str]:
    """The facts in an evaluator's system prompt, by number."""
    return dict(NUMBERED.findall(system))


Finder = Callable[[str, str], str]
"""How a fact is stated in a reply, given both."""


def statements(system: str, reply: str, find: Finder) -> dict[str, str]:
    """The field of a verdict on this reply, by an evaluator that finds facts like this."""
    return {number: find(text, reply) for number, text in told(system).items()}


def honest(text: str, reply: str) -> str:
    """Right where the reply has the words of the fact, wrong where it has its subject with other numbers."""
    if text in reply:
        return "right"
    subject = re.split(r"\d", text)[0]
    return "wrong" if subject in reply and subject != text else "left_out"


def ignoring(text: str, reply: str) -> str:
    """Whatever the reply says."""
    return "left_out"


def copying(text: str, reply: str) -> str:
    """Whatever the reply says."""
    return "right"


def by_id(ids: Sequence[str], words: str) -> dict[str, str]:
    """Statements by the ids of facts, from their first letters: r, w and l."""
    names = {"r": "right", "w": "wrong", "l": "left_out"}
    return {name: names[letter] for name, letter in zip(ids, words, strict=True)}
