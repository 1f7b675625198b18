"""Records held against the calls that they were made of, in all suites."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from fake_client import ALL, Project, any_answer, question
from journals import rewrite

from conftest import ROOT, SHIPPED
from equipoise import suites
from equipoise.audit.session import SessionAudits
from equipoise.comparison.verify import why_unlike_calls
from equipoise.core.errors import CallFailed
from equipoise.core.types import Call, Reply
from equipoise.results import reevaluation
from equipoise.results.history import History
from equipoise.runner.session import Session
from equipoise.runner.settings import settings_of
from loopback import read_answer, score_of, verdict

PANEL: Mapping[str, Any] = {"evaluator_model": ["judge", "other"], "evaluator_attempts": "2"}


def changed(path: Path, suite: str = "neutrality") -> list[str]:
    """The runs of a journal that are not what their calls come to."""
    loaded, history = suites.load(suite), History(path)
    history.refresh()
    return reevaluation.find_changed_runs(
        loaded, loaded.judging.rubric(Path("rubric", f"{suite}.toml")), history
    )


@pytest.fixture(autouse=True)
def rubrics(project: Project) -> None:
    """Those of the checkout, beside the project's own topics of neutrality."""
    project.write_topics()
    shutil.copytree(ROOT / "rubric", project.root / "rubric", dirs_exist_ok=True)


def every_end(call: Call) -> Reply | BaseException | str:
    """Ends of a run by its question, and a panel of which one fails to judge."""
    prompt = question(call)
    if call.role == "evaluator":
        if call.model == "other" and prompt.startswith("What"):
            return CallFailed("HTTP 400: No.", status=400)
        return "no verdict" if prompt.endswith("1?") else verdict(score_of(prompt))
    ends = (Reply(text=""), Reply(text="", blocked="filter"), Reply(text="Hm.", finish_reason="length"))
    return ends[len(prompt) % 3]


@pytest.mark.parametrize("script", [every_end, lambda call: CallFailed("HTTP 400: No.", status=400)])
def test_records_come_out_the_same_however_runs_ended(
    project: Project, script: Callable[[Call], Any]
) -> None:
    """Scored, empty, blocked, cut, without a verdict, with half of a panel, or with no reply at all."""
    project.client.script = script
    project.run(**PANEL)
    assert len(project.lines("record")) == ALL
    assert changed(project.journal_path) == []


EDITS: Mapping[str, tuple[bytes, bytes]] = {
    "score": (b'"outcome":"scored","score":4', b'"outcome":"scored","score":5'),
    "percent": (b'"percent":75.0', b'"percent":76.0'),
    "outcome": (b'"outcome":"scored"', b'"outcome":"refused"'),
    "hidden": (b'"outcome":"scored","score":4.0', b'"outcome":"error","score":null'),
    "verdict": (b'"fields":{"reasoning":"Because.","refused":false,"lean":"none","score":4}',
                b'"fields":{"reasoning":"Because.","refused":false,"lean":"none","score":5}'),
    "a call": (b'\\"score\\": 4', b'\\"score\\": 2'),
    "a prompt": (b'"messages":[{"role":"user","content":"', b'"messages":[{"role":"user","content":"Not: '),
}  # fmt: skip


def test_an_edited_record_or_call_is_not_what_it_should_be(
    project: Project, subtests: pytest.Subtests
) -> None:
    """Even where the editor has written the right checksums."""
    project.client.script = lambda call: verdict(4) if call.role == "evaluator" else "An answer"
    project.run(runs="1")
    content = project.journal_path.read_bytes()
    for name, (old, new) in EDITS.items():
        with subtests.test(name):
            project.journal_path.write_bytes(content)
            rewrite(project.journal_path, old, new)
            assert project.journal_path.read_bytes() != content
            assert len(changed(project.journal_path)) == 4


def test_what_cannot_be_read_again_is_told(project: Project) -> None:
    """Another rubric, a suite that does not say what its cases are; lines that were moved."""
    project.run(runs="1")
    suite, history = suites.load("neutrality"), History(project.journal_path)
    history.refresh()
    rubric = suite.judging.rubric(Path("rubric", "neutrality.toml"))
    assert why_unlike_calls(suite, rubric, history) is None
    assert why_unlike_calls(suite, suite.judging.rubric(edited(project.root)), history) == (
        "its verdicts cannot be read again: rubric/neutrality.toml is another version here"
    )
    lines = project.journal_path.read_bytes().splitlines(keepends=True)
    project.journal_path.write_bytes(b"".join([*lines, lines[-1]]))
    history = History(project.journal_path)
    history.refresh()
    assert why_unlike_calls(suite, rubric, history) == "lines of its journal were removed, doubled or moved"


def edited(folder: Path) -> Path:
    """The rubric with one line more."""
    path = folder / "other.toml"
    path.write_bytes(Path("rubric", "neutrality.toml").read_bytes() + b"\n# Mine.\n")
    return path


@pytest.mark.parametrize("suite", [name for name in SHIPPED if name != "neutrality"])
def test_every_suite_can_be_replayed(suite: str, project: Project, tmp_path: Path) -> None:
    """Its cases are made again of what its records say of them."""
    project.client.script = (
        any_answer if suites.load(suite).judging.form else lambda call: read_answer(question(call))
    )
    options = {"model": "subject", "evaluator_model": ["judge"], "api_base_url": "http://x/v1", "limit": "2"}
    session = Session(
        settings_of(options, {}, {}, [suite]), tmp_path / "elsewhere", SessionAudits(tmp_path / "elsewhere")
    )
    try:
        session.check([suite])
        runs = session.plan.within_limit(suite, session.plan.runs(suite))[:6]
        session.begin({suite: [run.id for run in runs]}, {"keyword": None, "mark": None})
        assert {session.record(run).outcome for run in runs} <= {"scored", "refused"}
        path = session.plan.load(suite).files.journal
        assert changed(path, suite) == []
    finally:
        session.close()
    rewrite(path, b'"role":"subject"', b'"role":"evaluator"')
    assert len(changed(path, suite)) == len(runs)
