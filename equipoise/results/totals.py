"""Totals of a journal's calls: calls, tokens, cost, retries, and the models that answered."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from equipoise.core.settings import Discounted, Price
from equipoise.core.types import Role, ThoughtTags, Usage
from equipoise.models import prices
from equipoise.models.budget import usage_of
from equipoise.results import journal
from equipoise.results.lines import AnchorLine, CallLine, FailedLine, RecordLine, SessionLine

_NO_SESSION = ""
"""Stands for the session of a reply from a file, for which no session has made a call."""
ReportedModel = tuple[str, str, str | None, str | None, str | None]
"""Role and model of a call, and the model, fingerprint and provider that its endpoint reported."""


@dataclass(slots=True)
class ModelCalls:
    """The calls that a model answered: their number, the run of the first, and two ordinals.

    `first_call` and `last_call` start at 1 and count all calls of the journal. Fields are keys of results.
    """

    calls: int
    first_run: str
    first_call: int
    last_call: int


@dataclass(slots=True)
class Totals:
    """The totals of a journal's calls.

    `calls` are counted by session, `tokens` by role and model, each kind of tokens by its key in results.
    `estimated` counts calls without reported tokens, by role. `repeats` counts retries made because an answer
    might have been a copy of another one. `reported` has the models, fingerprints and providers that
    endpoints reported. `call_count` counts all calls; `batched` and `batched_tokens` count those in batches.
    `tagged` has the runs with unusual think tags in a reply of the subject, by `Reply.thought_tags`, and
    `untagged` counts its complete replies without any.
    """

    calls: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    retries: int = 0
    repeats: int = 0
    tokens: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    estimated: Counter[str] = field(default_factory=Counter)
    reported: dict[ReportedModel, ModelCalls] = field(default_factory=dict)
    call_count: int = 0
    batched: int = 0
    batched_tokens: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    tagged: dict[ThoughtTags, set[str]] = field(default_factory=lambda: {"whole": set(), "unopened": set()})
    untagged: int = 0

    def add(self, line: CallLine) -> None:
        """Add a call."""
        reply, role, model = line.reply, line.role, line.model
        self.calls[_NO_SESSION if line.given else line.session] += 1
        self.retries += reply.retries
        self.repeats += reply.repeats
        # Tokens of a given reply are not estimated: the prompt that it answered is not known.
        is_counted = reply.is_metered or not line.given
        if is_counted:
            _add_tokens(self.tokens[role, model], line)
        if line.batch is not None:
            self.batched += 1
            _add_tokens(self.batched_tokens[role, model], line)
        self.estimated[role] += is_counted and not reply.is_metered
        if role == "subject":
            self._add_tags(line)
        self.call_count += 1
        key = (role, model, reply.model, reply.fingerprint, reply.provider)
        if (calls := self.reported.get(key)) is None:
            self.reported[key] = ModelCalls(1, line.run, self.call_count, self.call_count)
        else:
            calls.calls += 1
            calls.last_call = self.call_count

    def _add_tags(self, line: CallLine) -> None:
        reply = line.reply
        if reply.thought_tags is not None:
            self.tagged[reply.thought_tags].add(line.run)
        elif reply.text and not reply.is_truncated and reply.blocked is None:
            self.untagged += 1

    def add_failed(self, line: FailedLine) -> None:
        """Add a failed call, which has no reply."""
        self.failed += 1
        self.retries += line.retries

    def copy(self) -> Totals:
        """A deep copy."""
        return replace(
            self,
            calls=Counter(self.calls),
            tokens=_copied(self.tokens),
            estimated=Counter(self.estimated),
            reported={key: copy(calls) for key, calls in self.reported.items()},
            batched_tokens=_copied(self.batched_tokens),
            tagged={kind: set(runs) for kind, runs in self.tagged.items()},
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
        """The cost in USD of a model's calls in a role; None if the model has no price.

        `discount` is the discount of batches in percent. Without `has_cache`, cached tokens cost the full
        price.
        """
        tokens = dict(self.tokens[role, model])
        batched = Counter(self.batched_tokens.get((role, model), {}))
        if not has_cache:
            tokens["cached"] = batched["cached"] = 0
        # Not `Counter - Counter`, which drops kinds whose count is 0.
        unbatched = {kind: count - batched[kind] for kind, count in tokens.items()}
        cost = prices.cost(model, base_url, unbatched, price)
        if not batched or cost is None:
            return cost
        batch_cost = prices.cost(model, base_url, batched, Discounted(price=price, percent=discount))
        return None if batch_cost is None else cost + batch_cost


def _add_tokens(counts: Counter[str], line: CallLine) -> None:
    for kind, amount in _usage_of_line(line).to_json().items():
        counts[kind] += amount


def _copied(counts: Mapping[tuple[str, str], Counter[str]]) -> dict[tuple[str, str], Counter[str]]:
    copies: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    copies.update({key: Counter(amounts) for key, amounts in counts.items()})
    return copies


def _usage_of_line(line: CallLine) -> Usage:
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
    """Usage of each call of a suite in the journal `path`, for runs that have an `ended_by` line."""
    calls: list[CallUsage] = []
    ended: set[str] = set()
    is_of_suite = False
    for _, _, line in journal.read(path):
        if isinstance(line, SessionLine):
            is_of_suite = line.suite == suite and line.format == journal.FORMAT
        elif is_of_suite and isinstance(line, ended_by):
            ended.add(line.run)
        elif is_of_suite and isinstance(line, CallLine) and not line.given:
            calls.append(CallUsage(line.role, line.model, line.run, _usage_of_line(line), line.reply.latency))
    return (call for call in calls if call.run in ended)
