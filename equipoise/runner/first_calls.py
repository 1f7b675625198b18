"""One brief call to each model of a session before its first question: are its URL, key and name right?

Writes nothing; the session adds the calls to its journal once that is open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from equipoise.core.errors import CallFailed, SessionStopped, UserError
from equipoise.core.settings import Settings, is_local
from equipoise.core.types import JSON, Call, Message, Reply, Role
from equipoise.models import probe
from equipoise.results.history import FIRST_CALL, History
from equipoise.results.journal import Journal, request_hash
from equipoise.runner.calls import CallSlot, Deadline

if TYPE_CHECKING:
    from equipoise.runner.context import CallContext
    from equipoise.runner.loading import LoadedSuite

NOTICE_SECONDS = 10.0
"""How long a model may take to answer before the user is told what the session waits for."""


@dataclass(slots=True)
class FirstCalls:
    """The outcomes of the calls, to be journalled: replies, and lines of other kinds with their contents."""

    answered: list[tuple[Call, Reply]] = field(default_factory=list)
    lines: list[tuple[str, Mapping[str, JSON]]] = field(default_factory=list)

    def append(self, kind: str, **content: JSON) -> None:
        """Hold a line until a journal is open."""
        self.lines.append((kind, content))

    def write(self, journal: Journal) -> None:
        """Write everything into the first journal, and only what was learned of endpoints into the others."""
        for call, reply in self.answered:
            masked = journal.secrets.masked_call(call)
            journal.append_call(FIRST_CALL, masked, request_hash(masked), reply)
        for kind, content in self.lines:
            journal.append(kind, **content)
        self.answered.clear()
        self.lines = [line for line in self.lines if line[0] == "learned"]


def calls(loaded: LoadedSuite, history: History, runs: Sequence[str]) -> list[Call]:
    """The calls to make for a suite in which these runs are to be done.

    Only models whose calls the journal does not answer are asked, and never the built-in one.
    """
    settings = loaded.settings
    models: list[tuple[Role, Sequence[str]]] = []
    if not settings.replies:
        models.append(("subject", [settings.model or ""]))
    if loaded.suite.judging.form:
        models.append(("evaluator", settings.evaluator_models))
    return [
        _call(role, model, settings)
        for role, names in models
        if any(not history.has_reply(run, role) for run in runs)
        for model in names
        if not is_local(model)
    ]


def once(settings: Settings, planned: Iterable[Call]) -> list[Call]:
    """One of these calls for each model and endpoint, the subject's first; they may be of several suites."""
    by_model: dict[tuple[object, str], Call] = {}
    for call in sorted(planned, key=lambda call: call.role == "evaluator"):
        by_model.setdefault((settings.endpoint(call.role), call.model), call)
    return [*by_model.values()]


def _call(role: Role, model: str, settings: Settings) -> Call:
    """The call to a model, with the parameters that the session sends."""
    question = Message(role="user", content=probe.question("first"))
    return Call(role=role, model=model, messages=(question,), parameters=settings.sampling(role).parameters())


async def ask(context: CallContext, settings: Settings, pending: Sequence[Call], outcome: FirstCalls) -> None:
    """Make these calls, each once, at the same time.

    Raises UserError for failures that will persist. Others are left to the session, which retries.
    """
    failures = await asyncio.gather(*(_ask(context, call, outcome) for call in pending))
    mistakes = [
        (call, failure)
        for call, failure in zip(pending, failures, strict=True)
        if failure is not None and failure.is_mistake
    ]
    if mistakes:
        call, failure = mistakes[0]
        is_default = call.role == "evaluator" and "evaluator_model" not in settings.options_set
        quoted = repr(call.model)
        raise UserError(str(failure).replace(quoted, f"{quoted} (the default)", int(is_default)))


async def _ask(context: CallContext, call: Call, outcome: FirstCalls) -> CallFailed | None:
    slot = _Slot(context, call, lambda: (0, 0), Deadline(0.0), outcome)
    try:
        reply = await context.client.complete(call, slot, max_retries=0)
    except CallFailed as failure:
        return failure
    except SessionStopped:
        # The budget does not allow the call: the session reports that at its first question.
        return None
    context.count(call, reply, replayed=False)
    context.observe(call, reply)
    outcome.answered.append((call, reply))
    return None


class _Slot(CallSlot):
    """A slot for an attempt whose failure does not end the session."""

    __slots__ = ()

    def _report(self, error: CallFailed) -> None:
        pass
