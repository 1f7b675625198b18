"""Prompts that are shown before anything is asked are those that a session sends."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import builders
import pytest

from conftest import SHIPPED as SUITES
from conftest import resolved
from equipoise.audit.session import SessionAudits
from equipoise.core.settings import Sampling
from equipoise.core.types import Call, Reply
from equipoise.models.model import Subject
from equipoise.runner import prompts
from equipoise.runner.plan import Plan
from equipoise.suites.resources import SHIPPED


def plan(**options: Any) -> Plan:
    """The plan of a session with our own data and these options, without a model."""
    settings = resolved({"runs": "2", **options}, {}, {})
    return Plan(settings=settings, root=SHIPPED, extra_jobs=SessionAudits(SHIPPED))


def shown(name: str, count: int = 1, **options: Any) -> list[str]:
    """The lines for the first cases."""
    made = plan(**options)
    return [*prompts.lines(made.load(name), made.runs(name), count)]


def sent(name: str) -> list[Call]:
    """The calls of the first run, by models that answer what stands for a reply."""
    made, calls = plan(), []

    async def ask(call: Call) -> Reply:
        calls.append(call)
        return Reply(text=prompts.REPLY if call.role == "subject" else "")

    loaded, run = made.load(name), made.runs(name)[0]
    subject, panel = Subject("m", Sampling(), ask), builders.panel(ask)
    asyncio.run(loaded.suite.evaluate(run.case, loaded.rubric, subject, panel))
    return calls


def without_codes(line: str) -> str:
    """The line, with the code at the end of a marker left out."""
    return line.rpartition(" ")[0] if line.startswith("    [") and line.endswith("]") else line


@pytest.mark.parametrize("name", SUITES)
def test_every_message_of_a_run_is_shown(name: str) -> None:
    """With role and all its lines, to subject and evaluator, in every suite."""
    lines = [without_codes(line) for line in shown(name)]
    calls = sent(name)
    assert calls
    for call in calls:
        for message in call.messages:
            role = {"assistant": "reply"}.get(message["role"], message["role"])
            text = [without_codes(f"    {line}".rstrip()) for line in message["content"].split("\n")]
            starts = [number for number, line in enumerate(lines) if line == f"  {call.role}, {role}:"]
            assert any(lines[start + 1 : start + 1 + len(text)] == text for start in starts), message
    assert sum(line == "  evaluator, system:" for line in lines) == len(
        {str(call.messages) for call in calls if call.role == "evaluator"}
    )


def test_what_options_change_is_shown(tmp_path: Path) -> None:
    """Who asks, a rubric, a system prompt; each case once, whatever its runs, and only as many as wanted."""
    lines = shown("neutrality", asker="mirror", subject_system_prompt="Be brief.")
    headings = [line for line in lines if line.endswith("-run1:") and not line.startswith(" ")]
    assert len(headings) == 3
    assert "asker_state_stated" in headings[1]
    assert lines.count("    Be brief.") == 3
    rubric = (SHIPPED / "rubric" / "neutrality.toml").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(rubric.replace("Judge four qualities:", "Judge by what you see:"), encoding="utf-8")
    lines = shown("neutrality", 2, rubric=str(path), language=["pt-BR"])
    assert sum(line.endswith("Judge by what you see:") for line in lines) == 2
    assert len([line for line in lines if line.startswith("pt-BR-")]) == 2
