"""Totals of a journal's calls: calls, tokens, cost, retries, and the models that answered."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from equipoise.core.settings import Discounted, Price
from equipoise.core.types import Role, Usage
from equipoise.models import prices
from equipoise.models.budget import usage_of
from equipoise.results import journal
from equipoise.results.lines import AnchorLine, CallLine, FailedLine, RecordLine, SessionLine

Answering = tuple[str, str, str | None, str | None, str | None]
"""Role and model of a call, and the model, fingerprint and provider that its endpoint reported."""


@dataclass(slots=True)
class ModelCalls:
    """The number of calls that a model answered, the run of the first, and the ordinals of first and last.

    Ordinals start at 1 and count all calls of the journal. The fields are keys of the results.
    """

    calls: int
    first_run: str
    first_call: int
    last_call: int


@dataclass(slots=True)
class Totals:
    """The totals of a journal's calls.

    `calls` are counted by session, `tokens` by role and model. `estimated` counts calls without reported
    tokens, by role. `repeats` counts retries made because an answer might have been a copy. `seen` has the
    models, fingerprints and providers that endpoints reported. `number` is the number of all calls. `batched`
    and `batched_tokens` are the calls and tokens that were part of batches.
    """

    calls: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    retries: int = 0
    repeats: int = 0
    tokens: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    estimated: Counter[str] = field(default_factory=Counter)
    seen: dict[Answering, ModelCalls] = field(default_factory=dict)
    number: int = 0
    batched: int = 0
    batched_tokens: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, line: CallLine) -> None:
        """Add a call."""
        reply, role, model = line.reply, line.role, line.model
        self.calls[line.session] += 1
        self.retries += reply.retries
        self.repeats += reply.repeats
        self._count(self.tokens[role, model], line)
        if line.batch is not None:
            self.batched += 1
            self._count(self.batched_tokens[role, model], line)
        self.estimated[role] += not reply.is_metered
        self.number += 1
        key = (role, model, reply.model, reply.fingerprint, reply.provider)
        if (entry := self.seen.get(key)) is None:
            self.seen[key] = ModelCalls(1, line.run, self.number, self.number)
        else:
            entry.calls += 1
            entry.last_call = self.number

    def _count(self, counts: Counter[str], line: CallLine) -> None:
        for kind, amount in usage(line).to_json().items():
            counts[kind] += amount

    def fail(self, line: FailedLine) -> None:
        """Add a failed call, which has no reply."""
        self.failed += 1
        self.retries += line.retries

    def copy(self) -> Totals:
        """A deep copy."""
        return Totals(
            calls=Counter(self.calls),
            failed=self.failed,
            retries=self.retries,
            repeats=self.repeats,
            tokens=_copied(self.tokens),
            estimated=Counter(self.estimated),
            seen={key: copy(calls) for key, calls in self.seen.items()},
            number=self.number,
            batched=self.batched,
            batched_tokens=_copied(self.batched_tokens),
        )

    def cost(
        self,
        role: str,
        model: str,
        base_url: str,
        price: Price | None,
        discount: float,
        *,
        has_cache: bool = True,
    ) -> float | None:
        """Cost in USD of a model's calls in a role; None if it has no price.

        `discount` is that of batches in percent. Without `has_cache`, cached tokens have the full price.
        """
        every = dict(self.tokens[role, model])
        batched = Counter(self.batched_tokens.get((role, model), {}))
        if not has_cache:
            every["cached"] = batched["cached"] = 0
        # Not `Counter - Counter`, which drops kinds whose count is 0.
        others = {kind: count - batched[kind] for kind, count in every.items()}
        if not batched:
            return prices.cost(model, base_url, others, price)
        usual = prices.cost(model, base_url, others, price)
        reduced = prices.cost(model, base_url, batched, Discounted(price=price, percent=discount))
        return None if usual is None or reduced is None else usual + reduced


def _copied(counts: Mapping[tuple[str, str], Counter[str]]) -> dict[tuple[str, str], Counter[str]]:
    copies: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    copies.update({key: Counter(amounts) for key, amounts in counts.items()})
    return copies


def usage(line: CallLine) -> Usage:
    """The tokens of a call; estimated if its endpoint did not count them."""
    reply = line.reply
    if reply.usage is not None and reply.is_metered:
        # Nearly all calls. Avoids decoding `line.exchange`.
        return reply.usage
    return usage_of(line.exchange.call, reply)


class CallUsage(NamedTuple):
    """Usage of one call; `seconds` is the latency of the attempt that succeeded."""

    role: Role
    model: str
    run: str
    tokens: Usage
    seconds: float


def iter_usage(
    path: Path, suite: str, ended_by: type[RecordLine] | type[AnchorLine] = RecordLine
) -> Iterator[CallUsage]:
    """Usage of each call of a suite in the journal `path`, of runs that have an `ended_by` line."""
    calls: list[CallUsage] = []
    ended: set[str] = set()
    is_ours = False
    for _, _, line in journal.read(path):
        if isinstance(line, SessionLine):
            is_ours = line.suite == suite and line.format in journal.READABLE
        elif isinstance(line, ended_by):
            ended.add(line.run)
        elif isinstance(line, CallLine) and is_ours:
            calls.append(CallUsage(line.role, line.model, line.run, usage(line), line.reply.latency))
    return (call for call in calls if call.run in ended)
