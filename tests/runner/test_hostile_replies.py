"""Whole sessions of every suite whose subject says what a slow reader would hang on."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fake_client import Project, any_answer

from conftest import SHIPPED
from equipoise.audit.session import SessionAudits
from equipoise.runner.session import Session
from equipoise.runner.settings import settings_of

GIVEN = {"model": "subject", "evaluator_model": ["judge"], "api_base_url": "http://x/v1", "limit": "1"}
MOST = 10.0
"""Seconds of CPU; a reply that is read in quadratic time takes far longer."""


@pytest.mark.slow
@pytest.mark.parametrize("size", [20_000, 2**20])
@pytest.mark.parametrize("suite", SHIPPED)
def test_a_session_with_a_reply_of_question_marks_ends(suite: str, size: int, project: Project) -> None:
    """And so does the one that replays it, from its calls alone."""
    project.client.script = lambda call: "?" * size if call.role == "subject" else any_answer(call)
    started = time.process_time()
    outcome, path = run(suite, project.root)
    calls = list(project.client.calls)
    assert outcome != "error"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if not line.startswith(b'{"kind":"record"')))
    assert run(suite, project.root)[0] == outcome
    assert project.client.calls == calls
    assert time.process_time() - started < MOST


def run(suite: str, folder: Path) -> tuple[str, Path]:
    """How the first run of a suite ends, and its journal."""
    session = Session(
        settings_of(GIVEN, {}, {}, [suite]), folder / "elsewhere", SessionAudits(folder / "elsewhere")
    )
    try:
        session.check([suite])
        first = session.plan.runs(suite)[0]
        session.begin({suite: [first.id]}, {"keyword": None, "mark": None})
        record = session.record(first)
        session.close_engine()
        return record.outcome, session.plan.load(suite).files.journal
    finally:
        session.close()
