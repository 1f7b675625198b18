"""Evaluates the runs of a journal again from their calls, as `verified` results have to come out the same.

Needs no endpoint and no data, as cases are in the records, but the rubric. Knows no suite.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import get_type_hints

from equipoise.core import json_io
from equipoise.core.errors import CallFailed, UserError
from equipoise.core.records import Score, Verdict
from equipoise.core.settings import Sampling
from equipoise.core.types import JSON, Ask, Call, Case, Cue, Exchange, Reply, Role
from equipoise.judge.judge import Evaluator, Panel
from equipoise.judge.rubric import Rubric
from equipoise.models.model import Subject
from equipoise.results import journal
from equipoise.results.history import History
from equipoise.results.lines import RecordContent, SessionLine
from equipoise.suites import AnySuite
from equipoise.suites.shared_options import LABEL_SAMPLES


def changed(suite: AnySuite, rubric: Rubric, history: History) -> list[str]:
    """The runs whose records differ from those made again from their calls, in the order of the plan.

    Raises UserError or OSError if a file that the runs were made with cannot be read.
    """
    # In a thread of its own, as the caller, such as a notebook, may run an event loop.
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(asyncio.run, _changed(suite, rubric, history)).result()


async def _changed(suite: AnySuite, rubric: Rubric, history: History) -> list[str]:
    sessions = _sessions(history)
    kind = _kind_of_case(suite)
    changed = []
    for line in history.record_lines():
        replies = _Replies(history.calls.exchanges(line.calls))
        session, nonce = sessions[line.session]
        subject, panel = _models(replies, line.run, session, nonce, line.record.asker)
        try:
            score = await suite.evaluate(_case(kind, line.record.case), rubric, subject, panel)
        except CallFailed as failure:
            score = Score(outcome="error", value=None, error=str(failure))
        if not _agrees(line.record, score, is_short=replies.is_short):
            changed.append(line.run)
    return changed


def _sessions(history: History) -> dict[str, tuple[SessionLine, str]]:
    """The line and the nonce of each session by its id; shards are in the one line that joined them."""
    sessions: dict[str, tuple[SessionLine, str]] = {}
    for line in history.sessions:
        sessions[line.session] = (line, line.nonce)
        sessions |= {name: (line, nonce) for name, nonce in line.nonces.items()}
    return sessions


def _kind_of_case(suite: AnySuite) -> type[Case]:
    kind = get_type_hints(suite.evaluate).get("case")
    if not isinstance(kind, type):
        raise UserError(f"the suite {suite.name}: `evaluate` does not say of which type its case is")
    return kind


class _Replies:
    """The replies in a run's calls: the nth call with the same request gets the nth reply.

    `is_short` says that a call had none: in the session it failed or was declined.
    """

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._left: dict[tuple[Role, str], list[Reply]] = defaultdict(list)
        for exchange in exchanges:
            self._left[exchange.call.role, journal.request_hash(exchange.call)].append(exchange.reply)
        self.is_short = False

    async def __call__(self, call: Call) -> Reply:
        left = self._left[call.role, journal.request_hash(call)]
        if not left:
            self.is_short = True
            raise CallFailed("the journal has no reply to this request", is_declined=True)
        return left.pop(0)


def _case(kind: type[Case], data: Mapping[str, JSON]) -> Case:
    """The case that `Case.to_json` wrote."""
    return kind(**{name: _immutable(value) for name, value in data.items()})


def _immutable(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {name: _immutable(item) for name, item in value.items()}
    return tuple(map(_immutable, value)) if isinstance(value, list) else value


def _models(ask: Ask, run: str, session: SessionLine, nonce: str, asker: Cue | None) -> tuple[Subject, Panel]:
    """The models of a run with the settings of its session."""
    settings, about = session.settings, session.session_settings
    evaluators = [
        Evaluator(
            name,
            _sampling(settings, "evaluator"),
            ask,
            attempts=about["evaluator_attempts"],
            code=partial(journal.code, nonce, run),
            label_samples=settings.get(LABEL_SAMPLES.name, LABEL_SAMPLES.default),
        )
        for name in settings["evaluator_models"]
    ]
    subject = Subject(settings["subject_model"], _sampling(settings, "subject"), ask, asker)
    return subject, Panel(evaluators, keeps_going=about["keep_going"])


def _sampling(settings: Mapping[str, JSON], role: Role) -> Sampling:
    return Sampling(**settings[f"{role}_sampling"], system_prompt=settings[f"{role}_system_prompt"])


def _agrees(record: RecordContent, score: Score, *, is_short: bool) -> bool:
    """Whether a score is what the record says.

    If calls are missing, as they failed, the record may be of an error, and its details may say how they did.
    """
    if is_short and record.outcome == "error":
        return True
    written: list[JSON] = [record.outcome, record.score, record.percent, _fields(record.verdicts)]
    made: list[JSON] = [score.outcome, score.value, score.percent, _fields(score.verdicts)]
    if not is_short:
        written.append(record.details)
        made.append(score.details)
    return bool(json_io.loads(json_io.dumps(made)) == written)


def _fields(verdicts: Iterable[Verdict]) -> list[JSON]:
    """Each evaluator's verdict as plain data."""
    return [[verdict.evaluator, verdict.fields] for verdict in verdicts]
