"""What the calls of a journal come to: calls, tokens, retries, and the models that answered.

Knows no prices, and not which runs the calls were for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from equipoise.core.types import Role, Usage
from equipoise.models.budget import usage_of
from equipoise.results import journal
from equipoise.results.lines import AnchorLine, CallLine, FailedLine, RecordLine, SessionLine

Answering = tuple[str, str, str | None, str | None, str | None]
"""A role, a model, and the model, fingerprint and provider that its endpoint reported."""


@dataclass(slots=True)
class Seen:
    """How many calls were answered by one model, and which run and which call of all the first was."""

    calls: int
    first_run: str
    first_call: int
    last_call: int


@dataclass(slots=True)
class Totals:
    """The totals of a journal's calls.

    `calls` are counted by session, `tokens` by role and model; `estimated` counts calls without reported
    tokens by role; `repeats` are the retries because an answer might have been a copy; `seen` has the models,
    fingerprints and providers that endpoints reported, `number` the number of calls in all.
    """

    calls: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    retries: int = 0
    repeats: int = 0
    tokens: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    estimated: Counter[str] = field(default_factory=Counter)
    seen: dict[Answering, Seen] = field(default_factory=dict)
    number: int = 0

    def add(self, line: CallLine) -> None:
        """Add a call."""
        reply, role, model = line.reply, line.role, line.model
        self.calls[line.session] += 1
        self.retries += reply.retries
        self.repeats += reply.repeats
        counts = self.tokens[role, model]
        for kind, amount in usage(line).to_json().items():
            counts[kind] += amount
        self.estimated[role] += not reply.is_metered
        self.number += 1
        key = (role, model, reply.model, reply.fingerprint, reply.provider)
        if (seen := self.seen.get(key)) is None:
            self.seen[key] = Seen(1, line.run, self.number, self.number)
        else:
            seen.calls += 1
            seen.last_call = self.number

    def fail(self, line: FailedLine) -> None:
        """Add a call without a reply."""
        self.failed += 1
        self.retries += line.retries

    def copy(self) -> Totals:
        """An independent copy."""
        tokens: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        tokens.update({key: Counter(counts) for key, counts in self.tokens.items()})
        return Totals(
            calls=Counter(self.calls),
            failed=self.failed,
            retries=self.retries,
            repeats=self.repeats,
            tokens=tokens,
            estimated=Counter(self.estimated),
            seen={key: copy(seen) for key, seen in self.seen.items()},
            number=self.number,
        )


def usage(line: CallLine) -> Usage:
    """The tokens of a call; estimated where its endpoint did not count them."""
    reply = line.reply
    if reply.usage is not None and reply.is_metered:
        # Nearly all calls: the call itself is not needed.
        return reply.usage
    return usage_of(line.exchange.call, reply)


class Used(NamedTuple):
    """What one call used; `seconds` is the latency of the attempt that succeeded."""

    role: Role
    model: str
    run: str
    tokens: Usage
    seconds: float


def used(
    path: Path, suite: str, ended_by: type[RecordLine] | type[AnchorLine] = RecordLine
) -> Iterator[Used]:
    """What each call used in a suite's runs that a line of this kind has ended."""
    uses: list[Used] = []
    ended: set[str] = set()
    is_ours = False
    for _, _, line in journal.read(path):
        if isinstance(line, SessionLine):
            is_ours = line.suite == suite and line.format in journal.READABLE
        elif isinstance(line, ended_by):
            ended.add(line.run)
        elif isinstance(line, CallLine) and is_ours:
            uses.append(Used(line.role, line.model, line.run, usage(line), line.reply.latency))
    return (use for use in uses if use.run in ended)
