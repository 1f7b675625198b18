"""Every metric in a summary can be held to a baseline, at each door that takes rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fake_client import Project, Script, any_answer, finish
from regression import questions

from conftest import SHIPPED, resolved
from equipoise.audit.session import SessionAudits
from equipoise.cli import main
from equipoise.core.types import JSON, Call, Reply
from equipoise.runner.session import Session
from loopback import read_answer

PUBLISHED_VERDICT = r"\boxed{1} \boxed{LEFT} <helpfulness>2</helpfulness>"
"""A verdict on Polarized Contrastive Pairs, whose evaluators are asked for no JSON."""


def answer(call: Call) -> str:
    """A number or a letter, which every suite reads as a reply, or a verdict."""
    if call.role == "subject":
        return read_answer(call.messages[-1]["content"]) or "40"
    prompt = call.messages[-1]["content"]
    is_published = "boxed" in prompt or "<helpfulness>" in prompt
    return PUBLISHED_VERDICT if is_published else any_answer(call)


ASKED = (
    *((suite, {"pair_order": "both"} if suite == "even_handedness" else {}) for suite in SHIPPED),
    ("even_handedness", {"dataset": "pcp"}),
)
"""Suites, with options by which they have all of their metrics."""
NAMED = tuple(zip((*SHIPPED, "pcp"), ASKED, strict=True))
QUICK = ("neutrality", "chinese_simpleqa")


@pytest.mark.parametrize(
    ("suite", "options"),
    [pytest.param(*case, id=name, marks=() if name in QUICK else pytest.mark.slow) for name, case in NAMED],
)
def test_every_metric_of_a_summary_can_be_gated(
    suite: str, options: Mapping[str, str], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a session before its first call, and by `gate` and `compare` afterwards."""
    # The pairs are made up, and not those that may have been fetched.
    monkeypatch.delenv("EQUIPOISE_ORIGINAL_DATA", raising=False)
    project.client.script = answer
    questions.polarized_pairs(project.root)
    base, candidate = Path("base.json"), Path("candidate.json")
    summary = run(suite, project, base, **options)["summary"]["metrics"]
    metrics = {name: metric for name, metric in summary.items() if not name.startswith(NEVER_BOUNDED)}
    rules = [word for name, metric in metrics.items() for word in ("--gate", rule(name, metric))]
    ruled = run(suite, project, candidate, baseline=str(base), gate=rules[1::2], **options)["gate"]["rules"]
    assert [row["rule"] for row in ruled] == rules[1::2]
    for command in (
        ["gate", str(candidate), "--baseline", str(base)],
        ["compare", str(base), str(candidate)],
    ):
        ended = CliRunner().invoke(main, [*command, *rules])
        assert ended.exit_code in (0, 6, 7), ended.output
        assert all(text in ended.output for text in rules[1::2])
    if bounds := [f"{name}:±9pp" for name, metric in metrics.items() if is_even_at_zero(metric)]:
        alone = run(suite, project, Path("alone.json"), gate=bounds, **options)["gate"]["rules"]
        assert [row["rule"] for row in alone] == bounds


def blocked_at_first(count: int) -> Script:
    """A script by which a filter blocks so many of the subject's first replies."""
    replies = iter([Reply(text="", blocked="content_filter")] * count)
    return lambda call: next(replies, answer(call)) if call.role == "subject" else answer(call)


def test_rounds_go_on_until_a_metric_is_known_that_no_run_had_at_first(project: Project) -> None:
    """Blocked replies lean to no side: after a first round of them nothing is known."""
    for count, has_lean in ((6, True), (99, False)):
        project.client.script = blocked_at_first(count)
        options = {"until": "lean.state:+-1pp@these", "fresh": True}
        summary = run("neutrality", project, Path(f"{count}.json"), **options)["summary"]
        assert ("lean.state" in summary["metrics"]) is has_lean
        assert summary["until"]["looks"][0]["reason"] == "no questions"


NEVER_BOUNDED = ("absolute_lean", "agrees_with_controller")
"""The first has no interval to decide by, the second no good direction."""


def is_even_at_zero(metric: Mapping[str, JSON]) -> bool:
    """Whether a rule may bound the metric on both sides of 0, which needs no baseline."""
    return metric["kind"] in ("balance", "gap") and metric["higher_is_better"] is None


def rule(name: str, metric: Mapping[str, JSON]) -> str:
    """A rule that bounds how much worse the metric may become."""
    return f"{name}:-9pp" if metric["higher_is_better"] else f"{name}:+9pp"


def run(suite: str, project: Project, output: Path, **options: Any) -> Mapping[str, Any]:
    """The results of a session with two runs of the first cases of a suite."""
    usual = {"model": "subject", "evaluator_model": ["judge"], "api_base_url": "http://x/v1"}
    settings = {**usual, "runs": "2", "limit": "2", "output": str(output), **options}
    session = Session(resolved(settings).of(suite), project.root, SessionAudits(project.root))
    try:
        session.check([suite])
        runs = session.plan.within_limit(suite, session.plan.runs(suite))
        session.begin({suite: [run.id for run in runs]}, {"keyword": None, "mark": None})
        finish(session, runs)
    finally:
        session.close()
    return json.loads(output.read_bytes())  # type: ignore[no-any-return]
