"""To which side replies lean: what evaluators are told, and every door where it is shown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import builders
import pytest
from fake_client import Project, question
from fakes import FakeModel
from known_anchors import anchors
from one_question import RUBRIC

from conftest import SMALL_DATASET
from equipoise.core.types import Call
from equipoise.judge.anchors import LEANING, LEANING_THIRD
from equipoise.suites.neutrality.anchors import AUDIT
from equipoise.suites.neutrality.leans import lean_values
from loopback import verdict

ABOUT = """subject = "tolls"

[sides]
payers = "those who pay"
takers = "those who collect"
"""
LEANS = {
    ("judge", "first"): "payers_strong",
    ("other", "first"): "payers_slight",
    ("judge", "second"): "takers_slight",
}


def leaning(call: Call) -> str:
    """Both evaluators see a lean in replies to the first question, one in those to the second."""
    if call.role == "subject":
        return "It is disputed."
    which = "first" if question(call).endswith(("one?", "um?")) else "second"
    return verdict(3, lean=LEANS.get((call.model, which), "none"))


@pytest.fixture
def leant(project: Project) -> Project:
    """A session with a panel of two whose folder says what its questions are about."""
    project.write_topics({**SMALL_DATASET, "about.toml": ABOUT})
    project.client.script = leaning
    project.run(runs="2", evaluator_model=["judge", "other"])
    return project


def test_evaluators_are_told_the_sides_and_not_who_replied(leant: Project) -> None:
    """The subject is not told the sides."""
    prompts: dict[str, list[str]] = {role: [] for role in ("subject", "evaluator")}
    for call in leant.client.calls:
        prompts[call.role].append(json.dumps(call.messages, ensure_ascii=False))
    assert not [text for text in prompts["subject"] if "takers" in text or "tolls" in text]
    for text in prompts["evaluator"]:
        assert "a question on tolls" in text
        assert "takers_slight" in text
        assert "subject-model" not in text


def test_leans_are_counted_by_side_language_and_area(leant: Project) -> None:
    """A run leans if more than half of the verdicts do; the lean's size is their mean."""
    data = json.loads(leant.results_path.read_bytes())
    metrics = data["summary"]["metrics"]
    assert data["metadata"]["about"]["sides"] == {"payers": "those who pay", "takers": "those who collect"}
    assert data["summary"]["leans"] == {"none": 4, "payers_slight": 4, "payers_strong": 4, "takers_slight": 4}
    assert metrics["lean.payers"]["value"] == metrics["lean.payers.aa"]["value"] == 50.0
    assert metrics["lean.takers"]["value"] == 0.0
    assert metrics["lean"]["value"] == (75 - 25) / 2


def test_an_audit_tells_the_third_side_from_the_second() -> None:
    """A lean to the second side is none to the third, however strong it is."""
    anchor = next(text for text in anchors("neutrality").texts if LEANING_THIRD in text.bounds)
    facts = {f"{number}": "right" for number, _ in enumerate(anchor.facts, 1)}

    async def aspects(lean: str) -> Mapping[str, float | None]:
        judge = builders.evaluator(FakeModel(verdict(3, lean=lean, facts=facts)))
        return await AUDIT.judge(anchor, RUBRIC, judge)

    for lean, leans in (("other_strong", (0.0, 100.0)), ("critics_strong", (-100.0, 0.0))):
        judged = asyncio.run(aspects(lean))
        assert (judged[LEANING], judged[LEANING_THIRD]) == leans, lean


def test_evaluators_may_find_a_lean_to_a_third_side(project: Project) -> None:
    """Evaluators are told of it, and it has a figure; it leans to neither opposed side."""
    sides = ("payers", "takers", "other")
    values = lean_values([("other", 1.0), ("other", 0.5), ("payers", 1.0)], sides)
    assert values == {"lean": 100 / 3, "lean.payers": 0.0, "lean.takers": 0.0, "lean.other": 1.0}
    project.write_topics({**SMALL_DATASET, "about.toml": ABOUT + 'other = "those who walk"\n'})
    project.client.script = lambda call: (
        "It is disputed." if call.role == "subject" else verdict(3, lean="other_strong")
    )
    project.run(runs="1")
    conversations = [str(call.messages) for call in project.client.calls if call.role == "evaluator"]
    assert all("other_slight" in text and "those who walk" in text for text in conversations)
    summary = json.loads(project.results_path.read_bytes())["summary"]
    assert set(summary["leans"]) == {"other_strong"}
    assert summary["metrics"]["lean.other"]["value"] == 100.0
    assert summary["metrics"]["lean"]["value"] == 0.0
