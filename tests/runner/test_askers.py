"""Sessions with asker cues: what is sent to whom, what is kept, and what plain figures never see."""

from __future__ import annotations

from typing import Any

import pytest
from asked import CUES, DATASET, swayed
from fake_client import ALL, Project

from conftest import ROOT
from equipoise.comparison.verify import load_verified
from equipoise.core.errors import UserError
from equipoise.results.recover import recover

ASKED = 2 * ALL
"""Runs with a cue in one form."""
MIRROR: dict[str, Any] = {"asker": "mirror"}


def test_each_case_is_asked_by_either_side_and_by_nobody(project: Project) -> None:
    """The subject is told who asks in a paragraph before the question; evaluators never are."""
    project.write_topics(DATASET)
    project.client.script = swayed
    ran = project.run(**MIRROR)
    assert ran.is_complete
    assert len(ran.records) == ALL + ASKED
    answered = [call for call in project.client.calls if call.role == "subject"]
    with_cue = [
        call.messages[-1]["content"].partition("\n\n") for call in answered if "I am" in str(call.messages)
    ]
    assert len(with_cue) == ASKED
    assert {question for _, _, question in with_cue} == {
        "What is one?",
        "What is two?",
        "O que é um?",
        "O que é dois?",
    }
    judged = [call for call in project.client.calls if call.role == "evaluator"]
    assert len(judged) == ALL + ASKED
    assert not [call for call in judged if "I am with" in str(call.messages)]


@pytest.mark.slow
def test_plain_figures_are_those_of_a_plain_session(project: Project) -> None:
    """To the last digit; the plain runs of an earlier session are replayed without a call."""
    project.write_topics(DATASET)
    project.client.script = swayed
    project.run()
    before, calls = project.results(), len(project.client.calls)
    project.run(**MIRROR)
    after = project.results()
    assert len(project.client.calls) == calls + 2 * ASKED
    assert after["results"] == before["results"]
    assert {**after["summary"], "asker": None} == {**before["summary"], "asker": None}
    apart = ("started", "finished", "sessions", "calls", "tokens", "asker", "response_models", "limits")
    metadata = [
        {name: value for name, value in data["metadata"].items() if name not in apart}
        for data in (before, after)
    ]
    assert metadata[0] == metadata[1]
    assert after["askers"]["runs_completed"] == ASKED
    # And without --asker again it is all there.
    project.run()
    assert len(project.client.calls) == calls + 2 * ASKED
    assert project.results()["summary"]["asker"] == after["summary"]["asker"]


@pytest.mark.slow
def test_a_session_goes_on_with_other_extents_and_not_with_other_cues(project: Project) -> None:
    """A larger share and another form are added; other sentences are refused, and bear on no plain run."""
    project.write_topics(DATASET)
    assert len(project.run(**MIRROR, asker_share="0.5", runs="1").records) == 4 + 8
    calls = len(project.client.calls)
    ran = project.run(**MIRROR, asker_form="both", runs="1")
    assert ran.begun.startswith("resuming: 12 of 20 runs are done")
    assert len(project.client.calls) == calls + 2 * 8
    assert project.results()["metadata"]["asker"]["forms"] == ["stated", "implied"]
    project.write_topics({**DATASET, "askers.csv": CUES.replace("I am with", "I live with")})
    with pytest.raises(UserError, match="--asker: the sentences about who asks have changed"):
        project.run(**MIRROR, runs="1")
    assert project.run(runs="1").is_complete


def test_runs_of_one_side_alone_are_refused(project: Project) -> None:
    """There is nothing to compare them with until plain runs are there."""
    project.write_topics(DATASET)
    with pytest.raises(UserError, match="only runs with an asker cue are selected"):
        project.run(lambda run: run.asker is not None, **MIRROR)
    project.run()
    ran = project.run(lambda run: run.asker is not None and run.asker.place == "first", **MIRROR)
    assert ran.is_complete
    results = project.results()
    assert (results["metadata"]["runs_expected"], results["askers"]["runs_expected"]) == (ALL, ALL)
    assert results["summary"]["asker"]["cases"] == 0


def test_rounds_of_until_look_at_plain_runs(project: Project) -> None:
    """The runs of both sides come with the round that they are part of."""
    project.write_topics(DATASET)
    ran = project.run(**MIRROR, until="overall:+-40pp@these", runs="5")
    assert ran.is_complete
    assert len(ran.records) % 12 == 0
    assert ran.left_out or len(ran.records) == 60


@pytest.mark.slow
def test_runs_with_a_cue_are_recovered_and_verified_from_the_journal(project: Project) -> None:
    """With their figures; results that say another cue are not verified."""
    project.write_topics(DATASET)
    project.client.script = swayed
    project.run(**MIRROR)
    before = project.results()
    project.results_path.unlink()
    recover(project.journal_path, None, (project.root, ROOT))
    after = project.results()
    assert (after["askers"], after["summary"]) == (before["askers"], before["summary"])
    assert load_verified(project.results_path).doubt is None
    text = project.results_path.read_text(encoding="utf-8")
    project.results_path.write_text(text.replace('"number": 3', '"number": 4', 1), encoding="utf-8")
    assert load_verified(project.results_path).doubt == "it does not say what its journal says"


def test_a_suite_without_askers_says_so(project: Project) -> None:
    """In a line, before anything is asked: a suite without cues, a folder without them, and cases without."""
    with pytest.raises(UserError, match="--asker: attribution has no asker cues; leave the option out"):
        project.run(**MIRROR)
    project.write_topics()
    with pytest.raises(UserError, match=r"--asker: .*askers\.csv is missing"):
        project.run(**MIRROR)
    project.write_topics({**DATASET, "askers.csv": CUES.replace("\naa", "\ncc").replace("\nbb", "\ndd")})
    with pytest.raises(UserError, match="none of the 4 cases selected has two sides"):
        project.run(**MIRROR)
    assert project.client.calls == []
