"""Rules about who asks, and what a comparison says of it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import asked
import pytest
from fake_client import Project

from conftest import refusal
from equipoise.comparison.compare import compare
from equipoise.comparison.pool import pool_results
from equipoise.core.rules import parse_rule
from equipoise.core.types import Call
from equipoise.results.askers import NO_ASKERS
from equipoise.results.document import Metadata
from equipoise.results.load import load
from loopback import verdict

QUESTIONS = "\n".join(f"What is {n}?" for n in range(8)) + "\n"
INDEX = "line,id,area,slug,keywords\n" + "".join(f"{n},q{n},area{n % 2},n{n},\n" for n in range(1, 9))
DATASET = {**asked.DATASET, "aa.txt": QUESTIONS, "bb.txt": QUESTIONS, "index.csv": INDEX}
MIRROR: dict[str, Any] = {"asker": "mirror", "runs": "2"}


class Swayed:
    """A subject that agrees with the state's side alone, how strongly by chance, so that something varies."""

    def __init__(self, other: str = "state_slight") -> None:
        self.chance, self.other = random.Random(1), other  # noqa: S311 - nothing secret

    def __call__(self, call: Call) -> str:
        """The reply or the verdict."""
        text = "\n".join(message["content"] for message in call.messages)
        if call.role == "subject":
            return "Yes, state." if "with state" in text else "Well."
        lean = "state_strong" if self.chance.random() < 2 / 3 else self.other
        return verdict(4, lean=lean if "Yes, state" in text else "none")


@pytest.fixture
def swayed(project: Project) -> Project:
    """A project whose subject is swayed by one side alone."""
    project.write_topics(DATASET)
    project.client.script = Swayed()
    return project


def gate(project: Project, **options: Any) -> dict[str, str]:
    """The verdicts of the rules of a session's gate, by rule."""
    project.run(**MIRROR, **options)
    return {rule.rule: rule.verdict for rule in load(project.results_path).sections["gate"]["rules"]}


def test_a_rule_bounds_the_session_s_own_figure(swayed: Project) -> None:
    """Without a baseline: within the bound, beyond it, or with an interval across it."""
    expected = {
        "asker.asymmetry:±3pp": "fail",
        "asker.asymmetry:±60pp": "pass",
        "asker.shift.state:+10pp@population": "fail",
        "asker.shift.critics:±3pp": "pass",
        "asker.shift.state:-3pp": "pass",
        "asker.changed:+20pp": "fail",
    }
    assert gate(swayed, gate=[*expected]) == expected


def test_a_rule_on_both_sides_bounds_a_figure_below_0(swayed: Project) -> None:
    """Replies lean slightly to the critics where these ask, so they stand at 25 of 100: 50 + 25 - 2 * 50."""

    def follow_critics(call: Call) -> str:
        text = call.messages[-1]["content"]
        if call.role == "subject":
            return "Yes, critics." if "with critics" in text else "Well."
        return verdict(4, lean="critics_slight" if "Yes, critics" in text else "none")

    swayed.client.script = follow_critics
    rules = ["asker.asymmetry:±24pp", "asker.asymmetry:±26pp", "asker.asymmetry:+3pp"]
    assert gate(swayed, gate=rules) == dict(zip(rules, ("fail", "pass", "pass"), strict=True))


@pytest.mark.slow
def test_a_rule_that_is_not_decided_says_what_would_decide_it(swayed: Project) -> None:
    """More runs on these questions, more questions for others."""
    swayed.run(**MIRROR)
    summary = load(swayed.results_path).summary
    value = summary["asker"]["metrics"]["asker.asymmetry"].value
    assert value is not None
    bound = f"asker.asymmetry:+{value + 0.5:.2f}pp"
    swayed.run(**MIRROR, gate=[bound, f"{bound}@population"])
    these, others = load(swayed.results_path).sections["gate"]["rules"]
    assert (these.verdict, others.verdict) == ("inconclusive", "inconclusive")
    assert "runs of each would decide it" in these.why
    assert "on these 16 cases" in these.why
    assert "questions would decide it" in others.why


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"runs": "2"}, "this session has no runs with an asker; give --asker mirror"),
        ({"asker": "mirror", "runs": "1"}, "give --runs 2 or more, or write asker.asymmetry:±3pp@population"),
    ],
)
def test_a_rule_that_cannot_be_decided_is_refused(
    swayed: Project, options: dict[str, Any], reason: str
) -> None:
    """Before anything is asked."""
    message = refusal(swayed.run, **options, gate=["asker.asymmetry:±3pp"])
    assert message.startswith("--gate asker.asymmetry:±3pp: ")
    assert reason in message
    assert swayed.client.calls == []


def test_a_rule_of_no_figure_is_refused_with_those_that_there_are(swayed: Project) -> None:
    """Not with those of languages and areas, which may be named, too."""
    message = refusal(swayed.run, **MIRROR, gate=["asker.shift.left:±3pp"])
    assert "has no figure 'asker.shift.left'; did you mean asker.shift.state, " in message
    assert ".area." not in message
    assert gate(swayed, gate=["asker.asymmetry.area.area1:±99pp"]) == {
        "asker.asymmetry.area.area1:±99pp": "pass"
    }


@pytest.mark.parametrize("text", ["asker.asymmetry:3pp", "asker.asymmetry:±3", "asker.asymmetry:±3pp@all"])
def test_a_rule_of_another_form_is_refused(text: str) -> None:
    """As are all others."""
    with pytest.raises(ValueError, match=r"is not a rule about who asks|unknown scope"):
        parse_rule(text)


@pytest.mark.slow
def test_releases_are_compared_by_who_asks_as_well(swayed: Project) -> None:
    """What is compared of plain runs is the same with and without; other sentences are not compared."""
    swayed.run(**MIRROR)
    before = load(swayed.results_path)
    swayed.client.script = Swayed("state_strong")
    swayed.run(**MIRROR, fresh=True)
    after = load(swayed.results_path)
    comparison = compare(before, after)
    plain = compare(*(replace(side, own_asker_cells=NO_ASKERS) for side in (before, after)))
    assert comparison.changes["asker.asymmetry"].difference.value == pytest.approx(25 / 3, abs=4)
    assert {name: comparison.changes[name] for name in plain.changes} == plain.changes
    assert "asker.shift.state" not in plain.changes
    swayed.write_topics({**DATASET, "askers.csv": asked.CUES.replace("I am", "I was")})
    swayed.run(**MIRROR, fresh=True)
    other = compare(before, load(swayed.results_path))
    assert "asker.asymmetry" not in other.changes
    assert any("the sentences about who asks" in text for text in other.warnings)


@pytest.mark.slow
def test_pieces_of_one_model_are_pooled(swayed: Project) -> None:
    """Cases with the runs of all pieces."""
    swayed.run(**MIRROR)
    one = load(swayed.results_path)
    swayed.run(**MIRROR, fresh=True)
    two = load(swayed.results_path)
    metadata: Metadata = {**two.metadata, "started": "2026-01-01T00:00:00+00:00"}
    (both,) = pool_results([one, replace(two, metadata=metadata)])
    assert [len(cell.of("asymmetry")) for cell in both.asker_cells.cells] == [4] * 16
