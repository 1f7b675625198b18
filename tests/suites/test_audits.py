"""Anchors of each suite, judged as replies are: what a sound judge and a faulty one come to."""

from __future__ import annotations

import asyncio
import re
from dataclasses import asdict, replace
from pathlib import Path

import builders
import known_anchors
import pytest
from fakes import FakeModel
from known_anchors import FAULTY, READERS, SOUND, Judge, anchors

from conftest import ROOT, refusal
from equipoise import suites
from equipoise.audit.plan import AnchorRun, select_anchors
from equipoise.core.errors import CallFailed, UserError
from equipoise.core.types import Call, Reply
from equipoise.judge.anchors import Check, Judged
from equipoise.judge.judge import Evaluator


def evaluator(judge: Judge) -> Evaluator:
    """One that answers as this judge does."""

    async def ask(call: Call) -> Reply:
        return Reply(text=judge(str(call.messages[0]["content"]), str(call.messages[-1]["content"])))

    return builders.evaluator(ask)


def judged(suite: str, by: Evaluator, extent: str = "quick") -> list[Judged]:
    """The numbers of an audit of this extent."""
    loaded = suites.load(suite)
    assert loaded.audit is not None
    rubric = loaded.judging.rubric(ROOT / "rubric" / f"{suite}.toml")
    chosen = select_anchors(anchors(suite), loaded.audit.designs[extent])
    runs = [AnchorRun(audited=loaded.audit, rubric=rubric, anchor=anchor, repeat=0) for anchor in chosen]

    async def every() -> list[list[Judged]]:
        judge = runs[0].audited.judge
        return [run.rows(await judge(run.anchor, rubric, by)) for run in runs]

    return [row for rows in asyncio.run(every()) for row in rows]


def checked(suite: str, judge: Judge) -> dict[str, Check]:
    """The checks of the quick audit by name."""
    audit = suites.load(suite).audit
    assert audit is not None
    return {
        check.name: check for check in audit.checks(judged(suite, evaluator(judge)), anchors(suite).order)
    }


@pytest.mark.parametrize("suite", sorted(SOUND))
def test_a_sound_judge_has_no_fault_and_a_faulty_one_its_own(suite: str) -> None:
    """The levels of all checks add up to 5 %; a faulty judge has only its own fault."""
    checks = checked(suite, SOUND[suite])
    assert {name: asdict(check) for name, check in checks.items() if check.is_fault} == {}
    assert sum(check.level for check in checks.values()) == pytest.approx(0.05)
    assert checks["invalid verdicts"].value == 0.0
    if suite in FAULTY:
        judge, faults = FAULTY[suite]
        assert {name for name, check in checked(suite, judge).items() if check.is_fault} == set(faults)


@pytest.mark.slow
def test_subtler_faults_in_judging_replies_are_found(subtests: pytest.Subtests) -> None:
    """Each is found by its own checks and by no other."""
    for name, (judge, faults) in READERS.items():
        with subtests.test(name):
            checks = checked("even_handedness", judge)
            assert {check for check, one in checks.items() if one.is_fault} == set(faults)


def test_a_rubric_without_leans_is_not_audited_for_them() -> None:
    """A verdict without a lean means nothing if the rubric asks for none."""
    suite = suites.load("neutrality")
    assert suite.audit is not None
    rubric = suite.judging.rubric(ROOT / "rubric" / "neutrality.toml")
    plain = replace(rubric, verdict={name: kind for name, kind in rubric.verdict.items() if name != "lean"})
    folder = ROOT / "rubric" / "anchors" / "neutrality"
    anchors_read = suite.audit.load(folder, ROOT / "topics" / "neutrality", plain)
    aspects = {name for text in anchors_read.texts for name in text.bounds}
    assert aspects == {"score", "facts stated", "facts stated right"}


def test_a_pair_is_read_in_both_orders() -> None:
    """Favouring a position differs from favouring a place; a lean counts for the side it favours."""
    always_first, lean = FAULTY["even_handedness"][0], _for_gun_control
    for judge, topic, scores in (
        (always_first, "", {"first": {100.0}, "favour": {0.0}}),
        (lean, "gun_rights", {"first": {0.0}, "favour": {100.0}}),
    ):
        rows = [row for row in judged("even_handedness", evaluator(judge)) if topic in row.topic]
        both_help = [row for row in rows if row.kind == "both_help"]
        for aspect, expected in scores.items():
            assert {row.score for row in both_help if row.aspect == aspect} == expected


def _for_gun_control(system: str, prompt: str) -> str:
    """Always more help to the side that wants a ban."""
    parts = known_anchors.quoted(prompt)
    if "dialogue 1" not in parts:
        return SOUND["even_handedness"](system, prompt)
    return "(A)" if "should be banned" in parts["dialogue 1"] else "(B)"


@pytest.mark.parametrize("suite", sorted(SOUND))
def test_what_is_not_a_verdict_is_missing(suite: str) -> None:
    """No number is made up, and a call that fails is an error."""
    rows = judged(suite, builders.evaluator(FakeModel("I would rather not say.")))
    assert {row.score for row in rows} == {None}
    broken = builders.evaluator(FakeModel(CallFailed("no")))
    with pytest.raises(CallFailed):
        judged(suite, broken)


def test_bounds_are_those_of_the_files() -> None:
    """Grades, sides and readings become numbers with known bounds."""
    grades = {text.bounds["score"] for text in anchors("chinese_simpleqa").texts}
    assert grades == {(100, 100), (50, 50), (0, 0)}
    leans = {text.id: text for text in anchors("politicsbench").texts}
    assert leans["en-US-library_fines-right_2"].bounds == {
        "composite": (-100, -1),
        "commitment": (40, 60),
        "dimension individual_responsibility": (65, 100),
        "dimension nuanced_pragmatism": (65, 100),
        "dimension moral_certainty": (0, 35),
        "dimension tradition_orientation": (40, 60),
        "dimension openness_to_difference": (40, 60),
    }
    assert leans["en-US-library_fines-none_refusal_1"].bounds["composite"] == (-12, 12)


@pytest.mark.slow
@pytest.mark.parametrize("suite", sorted(SOUND))
def test_a_file_that_is_not_whole_is_named(suite: str, tmp_path: Path) -> None:
    """A missing key or file, or another version of the rubric, is one line for the user."""
    loaded, folder = suites.load(suite), ROOT / "rubric" / "anchors" / suite
    assert loaded.audit is not None
    rubric = loaded.judging.rubric(ROOT / "rubric" / f"{suite}.toml")
    for path in folder.glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        (tmp_path / path.name).write_text(
            re.sub(r"(?m)^(reply|replies|helps_a|text) =", "other =", text), "utf-8"
        )
    with pytest.raises(UserError, match=rf"{tmp_path.name}.*\.toml: .*(reply|text|helps_a|replies)' is"):
        loaded.audit.load(tmp_path, ROOT / "topics" / suite, rubric)
    for path in tmp_path.glob("*.toml"):
        path.unlink()
    load, topics = loaded.audit.load, ROOT / "topics" / suite
    assert ".toml: cannot be read (No such file" in refusal(load, tmp_path, topics, rubric)
    assert "check the anchors against the rubric" in refusal(
        load, folder, topics, replace(rubric, version="0")
    )
