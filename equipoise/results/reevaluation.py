"""Evaluates the runs of a journal again from their recorded calls.

Results are `verified` only if this reproduces them. It needs only the rubric: cases come from the records,
replies from the calls.
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
from equipoise.core.records import Record, Score, Verdict
from equipoise.core.settings import Sampling
from equipoise.core.types import JSON, Ask, Call, Case, Cue, Exchange, Reply, Role
from equipoise.judge.judge import Evaluator, Panel
from equipoise.judge.rubric import Rubric
from equipoise.models.model import Subject
from equipoise.results import journal
from equipoise.results.history import History
from equipoise.results.lines import SessionLine
from equipoise.suites import AnySuite
from equipoise.suites.shared_options import LABEL_SAMPLES


def find_changed_runs(suite: AnySuite, rubric: Rubric, history: History) -> list[str]:
    """The ids of the runs whose records are not reproduced from their calls, in the order of the plan.

    Raises UserError or OSError if a file that the runs were made with cannot be read.
    """
    # In a separate thread, because the caller may already run an event loop, as a notebook does.
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(asyncio.run, _find_changed(suite, rubric, history)).result()


async def _find_changed(suite: AnySuite, rubric: Rubric, history: History) -> list[str]:
    sessions = _sessions(history)
    case_type = _case_type(suite)
    changed_runs = []
    for line in history.record_lines():
        replies = _RecordedReplies(history.calls.exchanges(line.calls))
        session, nonce = sessions[line.session]
        subject, panel = _models(replies, line.run, session, nonce, line.record.asker)
        try:
            score = await suite.evaluate(_case(case_type, line.record.case), rubric, subject, panel)
        except CallFailed as failure:
            score = Score(outcome="error", value=None, error=str(failure))
        if not _agrees(line.record, score, lacks_reply=replies.lacks_reply):
            changed_runs.append(line.run)
    return changed_runs


def _sessions(history: History) -> dict[str, tuple[SessionLine, str]]:
    """The line and nonce of each session by its id. A merged journal has one line with a nonce per shard."""
    sessions: dict[str, tuple[SessionLine, str]] = {}
    for line in history.sessions:
        sessions[line.session] = (line, line.nonce)
        sessions |= {name: (line, nonce) for name, nonce in line.nonces.items()}
    return sessions


def _case_type(suite: AnySuite) -> type[Case]:
    """The type of the suite's cases, by the annotation of `evaluate`. Raises UserError without one."""
    case_type = get_type_hints(suite.evaluate).get("case")
    if not isinstance(case_type, type):
        raise UserError(f"the suite {suite.name}: `evaluate` does not declare the type of its case")
    return case_type


class _RecordedReplies:
    """Answers calls with the replies of a run: the nth call with the same request gets the nth reply.

    `lacks_reply` is set when a call has no reply, because it failed or was declined in the session.
    """

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._replies: dict[tuple[Role, str], list[Reply]] = defaultdict(list)
        for exchange in exchanges:
            self._replies[exchange.call.role, journal.request_hash(exchange.call)].append(exchange.reply)
        self.lacks_reply = False

    async def __call__(self, call: Call) -> Reply:
        replies = self._replies[call.role, journal.request_hash(call)]
        if not replies:
            self.lacks_reply = True
            raise CallFailed("the journal has no reply to this request", is_declined=True)
        return replies.pop(0)


def _case(kind: type[Case], data: Mapping[str, JSON]) -> Case:
    """The case with the fields that `Case.to_json` wrote."""
    return kind(**{name: _with_tuples(value) for name, value in data.items()})


def _with_tuples(value: JSON) -> JSON:
    """The value with tuples in place of its lists, as in the fields of cases."""
    if isinstance(value, dict):
        return {name: _with_tuples(item) for name, item in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value


def _models(ask: Ask, run: str, session: SessionLine, nonce: str, asker: Cue | None) -> tuple[Subject, Panel]:
    """The subject and the panel of a run with the settings of its session; `ask` answers their calls."""
    settings, session_settings = session.settings, session.session_settings
    evaluators = [
        Evaluator(
            name,
            _sampling(settings, "evaluator"),
            ask,
            attempts=session_settings["evaluator_attempts"],
            code=partial(journal.one_time_code, nonce, run),
            label_samples=settings.get(LABEL_SAMPLES.name, LABEL_SAMPLES.default),
        )
        for name in settings["evaluator_models"]
    ]
    subject = Subject(settings["subject_model"], _sampling(settings, "subject"), ask, asker)
    return subject, Panel(evaluators, keeps_going=session_settings["keep_going"])


def _sampling(settings: Mapping[str, JSON], role: Role) -> Sampling:
    return Sampling(**settings[f"{role}_sampling"], system_prompt=settings[f"{role}_system_prompt"])


def _agrees(record: Record, score: Score, *, lacks_reply: bool) -> bool:
    """Whether a score is the record's.

    With `lacks_reply`, a call has failed: then the record may be an error, and its details may differ.
    """
    if lacks_reply and record.outcome == "error":
        return True
    recorded: list[JSON] = [record.outcome, record.score, record.percent, _fields(record.verdicts)]
    reproduced: list[JSON] = [score.outcome, score.value, score.percent, _fields(score.verdicts)]
    if not lacks_reply:
        recorded.append(record.details)
        reproduced.append(score.details)
    # Through JSON, as the record was: tuples become lists.
    return bool(json_io.loads(json_io.dumps(reproduced)) == recorded)


def _fields(verdicts: Iterable[Verdict]) -> list[JSON]:
    """Each evaluator's verdict as plain data."""
    return [[verdict.evaluator, verdict.fields] for verdict in verdicts]
