"""Reads files of gate rules, which may be required or advisory and apply to one suite or to all:

scope = "these"            # or "population": the scope of rules that name none
inconclusive = "fail"      # or "pass": the verdict that an inconclusive gate counts as

[all]
required = ["unscored:1%"]

[SUITE]
required = ["overall:-2pp", "refused:+3pp"]
advisory = ["zh-CN:-5%"]
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from equipoise.core import toml_text
from equipoise.core.files import read_bytes
from equipoise.core.rules import EVERY_SUITE, SCOPES, InconclusiveCountsAs, Rule, Scope, parse_rule


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFile:
    """The rules of a file, and the verdict that an inconclusive gate counts as, None if not set."""

    rules: tuple[Rule, ...]
    inconclusive: InconclusiveCountsAs | None


def parse_gate(text: str) -> Rule | GateFile:
    """Parse a rule, or a file of rules if the value ends in `.toml`. Raises ValueError."""
    if not text.strip().endswith(".toml"):
        return parse_rule(text)
    return read_gate(Path(os.path.expanduser(text.strip())))


def read_gate(path: Path) -> GateFile:
    """Read a file of gate rules. Raises ValueError that says which part of the file is wrong."""
    try:
        tables = toml_text.loads(read_bytes(path).decode("utf-8-sig"))
    except OSError as error:
        raise ValueError(f"cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise ValueError(f"is not TOML ({error})") from None
    scope, inconclusive = tables.pop("scope", SCOPES[0]), tables.pop("inconclusive", None)
    if scope not in SCOPES:
        raise ValueError(f"has an unknown scope {scope!r}: {' or '.join(SCOPES)}")
    if inconclusive not in (None, "pass", "fail"):
        raise ValueError(f"has inconclusive = {inconclusive!r}: pass or fail")
    rules = tuple(rule for name, table in tables.items() for rule in _rules_of(path, name, table, scope))
    if not rules:
        raise ValueError('has no rules: give a suite\'s table a list of them, as required = ["overall:-2pp"]')
    return GateFile(rules=rules, inconclusive=inconclusive)


def _rules_of(path: Path, name: str, table: Any, scope: Scope) -> Iterator[Rule]:
    """The rules of the table with this name. Raises ValueError."""
    if not isinstance(table, Mapping):
        raise ValueError(f"has {name}, which is neither scope nor inconclusive nor a suite's table")
    for kind, texts in table.items():
        if kind not in ("required", "advisory"):
            raise ValueError(f"has {kind} in [{name}], which takes required and advisory")
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"has no list of rules as {kind} of [{name}]")
        for text in texts:
            try:
                rule = parse_rule(text, scope)
            except ValueError as error:
                raise ValueError(f"has {text!r} in [{name}], which {error}") from None
            suite = "" if name == EVERY_SUITE else name
            yield replace(rule, suite=suite, required=kind == "required", file=str(path))


def rules_in(items: Iterable[Rule | GateFile]) -> tuple[Rule, ...]:
    """All rules in order: the single rules and those of files."""
    return tuple(rule for item in items for rule in (item.rules if isinstance(item, GateFile) else (item,)))


def inconclusive_in(items: Iterable[Rule | GateFile]) -> InconclusiveCountsAs | None:
    """The verdict that an inconclusive gate counts as. The last file that sets one decides."""
    verdicts = [item.inconclusive for item in items if isinstance(item, GateFile) and item.inconclusive]
    return verdicts[-1] if verdicts else None
