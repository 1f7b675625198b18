"""Audits within sessions: asked among the replies, resumed, kept for later sessions, and shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import cycle
from typing import Any

import pytest
import small_anchors
from fake_client import ALL, FakeClient, Project, Ran, Script, plain
from small_anchors import QUICK, kind_of

from conftest import refusal
from equipoise.comparison.of_files import compare_files
from equipoise.comparison.verify import load_verified
from equipoise.core.errors import CallFailed, UserError
from equipoise.core.rules import parse_rule
from equipoise.core.types import Call, Reply, Run
from equipoise.runner import preflight
from equipoise.runner.estimate import of_session
from equipoise.runner.session import Session

BOTH: dict[str, Any] = {"evaluator_model": ["judge", "judge-2"]}


@pytest.fixture
def project(project: Project) -> Project:
    """Of neutrality, with anchors of its own and a sound evaluator."""
    project.write_topics()
    small_anchors.write(project.root)
    project.client.script = judging()
    return project


def judging(changes: Mapping[str, int] | None = None, **answer: Any) -> Script:
    """A script of an evaluator that is sound but for `changes` by kind; `answer` are parts of its replies."""

    def script(call: Call) -> Reply:
        text = str(plain(call))
        judged = small_anchors.sound(call.messages, lambda: text, changes) if call.role != "subject" else text
        return Reply(text=judged, **answer)

    return script


def anchors_asked(client: FakeClient) -> list[int]:
    """The places of the calls with anchors among all that an evaluator got."""
    calls = [call for call in client.calls if call.role == "evaluator"]
    return [index for index, call in enumerate(calls) if kind_of(call.messages)]


def line(ran: Ran, start: str) -> str:
    """The line of the summary that begins so."""
    return next(text for text in ran.summary if text.startswith(start))


def test_an_audit_is_judged_among_the_replies(project: Project) -> None:
    """By each evaluator, on the prompts of replies; no prompt and no parameter names an audit."""
    ran = project.run(audit="quick", concurrency="1", **BOTH)
    assert ran.is_complete
    places = anchors_asked(project.client)
    assert len(places) == 2 * QUICK
    assert places[0] < 2 * ALL
    assert max(places) > 2 * QUICK
    requests = {str(call.messages) + str(sorted(call.parameters)) for call in project.client.calls}
    assert not [text for text in requests if "audit" in text.lower()]
    judged = [call for call in project.client.calls if call.role == "evaluator"]
    shapes = {(len(c.messages), (*sorted(c.parameters),), c.messages[0]["content"]) for c in judged}
    assert len(shapes) == 1
    for item in project.results()["audit"].values():
        assert (item["state"], item["source"], item["verdicts"]) == ("complete", "session", QUICK)
    assert project.results()["metadata"]["calls"]["made"] == 2 * QUICK + 3 * ALL


def test_a_later_session_shows_the_kept_audit(project: Project) -> None:
    """Another subject's, for nothing; not one by another rubric or other anchors."""
    project.run(audit="quick")
    made = len(project.client.calls)
    ran = project.run(model="other", output="results/other.json")
    assert len(project.client.calls) == made + 2 * ALL
    assert line(ran, "audit: judge: ").endswith(", kept)")
    shown = json.loads((project.root / "results/other.json").read_bytes())["audit"]["judge"]
    assert shown == {**project.results()["audit"]["judge"], "source": "kept"}
    with (project.root / "rubric/anchors/neutrality/kinds.toml").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    other = project.run(model="third", output="results/third.json")
    assert any("was not tried as evaluator" in text for text in other.summary)


def test_a_kept_audit_of_another_model_is_not_shown_as_current(project: Project) -> None:
    """The endpoint reports another fingerprint, or another model; or it is sampled in another way."""
    project.client.script = judging(model="m-1", fingerprint="fp_1")
    project.run(audit="quick")
    project.client.script = judging(model="m-1", fingerprint="fp_2")
    ran = project.run(model="other", output="results/other.json", evaluator_temperature="0.5")
    assert line(ran, "audit: judge: ").endswith("kept); not the evaluator as it is now")
    warnings = [text for text in ran.summary if text.startswith("warning: judge is not as it was audited")]
    assert [text.partition("audited: ")[2] for text in warnings] == [
        "the system fingerprint was fp_1, now fp_2",
        "its temperature was 0, now 0.5",
    ]


def test_a_kept_audit_is_not_of_a_model_that_answers_only_now(project: Project) -> None:
    """Two models of which one was audited differ from the audit; one of two that were audited does not."""
    project.client.script = judging(model="m-1")
    project.run(audit="quick")
    turns = cycle(("m-1", "m-2"))
    project.client.script = lambda call: judging(model=next(turns))(call)
    ran = project.run(model="other", output="results/other.json")
    assert [text for text in ran.summary if text.startswith("warning: judge is not as it was audited")] == [
        "warning: judge is not as it was audited: the response model was m-1, now m-1, m-2"
    ]
    project.run(audit="quick", fresh="true")
    project.client.script = judging(model="m-1")
    ran = project.run(model="third", output="results/third.json")
    assert line(ran, "audit: judge: ").endswith(", kept)")


def test_an_interrupted_audit_goes_on_and_pays_nothing_twice(project: Project) -> None:
    """After a stop it is incomplete and says nothing; all runs and verdicts are asked once in the end."""
    first = project.run(audit="quick", max_calls="30", concurrency="2")
    assert first.stop_reason
    assert "incomplete" in line(first, "audit: judge: ")
    stopped = project.results()["audit"]["judge"]
    assert (stopped["state"], stopped["checks"]) == ("incomplete", [])
    assert not (project.root / "results" / "audits").exists()
    assert project.run(audit="quick").is_complete
    assert len(project.client.calls) == 2 * ALL + QUICK
    assert project.results()["audit"]["judge"]["state"] == "complete"
    again = project.run(audit="quick")
    assert len(project.client.calls) == 2 * ALL + QUICK
    assert "already complete" in again.begun
    # The journal has its own audit, so none of another session is added to it.
    project.run()
    assert b"kept_audit" not in project.journal_path.read_bytes()


@pytest.mark.slow
def test_an_audit_after_all_runs_are_done(project: Project) -> None:
    """Asked alone, whole though cases are selected; a full one after a quick one pays for the rest."""

    def some(run: Run) -> bool:
        return run.case.language == "aa" and run.number == 1

    project.run()
    ran = project.run(some, audit="quick")
    assert ran.begun == f"all runs are done; verdicts of the audit to do: {QUICK}"
    assert project.client.count("evaluator") == ALL + QUICK
    project.run(audit="full")
    full = project.results()["audit"]["judge"]
    paths = sorted((project.root / "results" / "audits").rglob("*.json"), reverse=True)
    assert [json.loads(path.read_bytes())["audit"]["extent"] for path in paths] == ["full", "quick"]
    assert (full["extent"], full["verdicts"]) == ("full", full["planned"])
    assert project.client.count("evaluator") == ALL + full["planned"]
    # A part of what is done is done, and shown in full.
    project.run(audit="quick")
    assert project.results()["audit"]["judge"] == full
    assert project.client.count("evaluator") == ALL + full["planned"]


def test_what_fails_leaves_the_audit_incomplete(project: Project) -> None:
    """A call that fails is no invalid verdict; one that is refused for its text is."""

    def script(call: Call) -> Reply | BaseException:
        kind = kind_of(call.messages)
        if kind == "padded" and call.model == "judge":
            return CallFailed("gone", stops_session=True)
        if kind == "padded":
            return CallFailed("HTTP 400: content filter", status=400)
        return judging()(call)  # type: ignore[return-value]

    project.client.script = script
    ran = project.run(audit="quick", keep_going="true", **BOTH)
    assert ran.is_complete
    audits = project.results()["audit"]
    assert (audits["judge"]["state"], audits["judge"]["verdicts"]) == ("incomplete", QUICK - 4)
    second = {check["name"]: check["value"] for check in audits["judge-2"]["checks"]}
    assert second["invalid verdicts"] == round(100 * 4 / QUICK, 6)


def test_rounds_that_are_not_needed_do_not_end_the_audit(project: Project) -> None:
    """With --until the verdicts are scattered over all rounds, and asked however early these end."""
    numbers = range(1, 9)
    questions = "".join(f"Question {number}?\n" for number in numbers)
    index = "".join(f"{number},q{number:02},area,slug{number},\n" for number in numbers)
    project.write_topics(
        {"aa.txt": questions, "bb.txt": questions, "index.csv": f"line,id,area,slug,keywords\n{index}"}
    )
    ran = project.run(audit="quick", until="overall:+-100pp@population", runs="3", concurrency="1")
    assert len(ran.left_out) == 32
    assert "about 64 calls saved" in " ".join(ran.summary)
    assert project.results()["audit"]["judge"]["state"] == "complete"


def test_a_gate_on_an_audit(project: Project) -> None:
    """It passes where the interval lies within, and needs an audit before anything is asked."""
    with pytest.raises(UserError, match=r"--gate audit.lean:\+-5pp: judge has not been audited: add --audit"):
        project.run(gate=["audit.lean:+-5pp"])
    assert project.client.calls == []
    # Two topics without a difference have no interval, and are too few to go by what was observed.
    project.client.script = judging({"critic_aligned": -1})
    ran = project.run(gate=["audit.lean:±5pp", "audit.invalid:+90pp"], audit="quick")
    assert line(ran, "gate PASS").startswith(
        "gate PASS: audit.invalid:+90pp: judge: invalid verdicts +0.00 %"
    )
    assert line(ran, "gate INCONCLUSIVE: audit.lean:±5pp: judge: lean +25.00 points (no interval")


@pytest.mark.slow
def test_a_gate_on_the_audit_of_a_file(project: Project) -> None:
    """The candidate's audit decides, is refused where there is none, and is not verified once changed."""
    project.run(runs="2")
    older = project.results_path.rename(project.root / "older.json")
    project.journal_path.rename(older.with_suffix(".jsonl"))
    project.run(runs="2", audit="quick")
    rule = parse_rule("audit.invalid:+90pp")
    (sections,) = compare_files([older], [project.results_path], [rule], allows_mismatch=False)
    assert (sections["gate"]["verdict"], sections["comparison"]["candidate"]["doubt"]) == ("pass", None)
    with pytest.raises(UserError, match=r"--gate audit.invalid:\+90pp: .*older.json: has no audit of judge"):
        compare_files([project.results_path], [older], [rule], allows_mismatch=False)
    assert load_verified(project.results_path).doubt is None
    data = project.results()
    data["audit"]["judge"]["judged"][0]["scores"] = [0.0]
    project.results_path.write_text(json.dumps(data), encoding="utf-8")
    assert load_verified(project.results_path).doubt == "it does not say what its journal says"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("audit.leaning:+-5pp", "an audit has no check of that name; there are lean, strictness, length"),
        ("audit.length:-5pp", "write audit.length:+5pp"),
        ("audit.lean:+5pp", "write audit.lean:±5pp"),
        ("audit.order:-1pp", "write audit.order:-0.5"),
    ],
)
def test_a_rule_that_fits_no_check_is_refused(project: Project, rule: str, message: str) -> None:
    """Before anything is asked, with the rule as it should be."""
    assert message in refusal(project.run, gate=[rule], audit="quick")
    assert project.client.calls == []


def test_anchors_for_another_rubric_are_refused(project: Project) -> None:
    """Before anything is asked; a session without an audit does not mind."""
    small_anchors.write(project.root, rubric="2")
    with pytest.raises(UserError, match="its bounds are for version 2 of the rubric"):
        project.run(audit="quick")
    assert project.run().is_complete


@pytest.mark.slow
def test_an_estimate_has_a_line_for_the_audit(project: Project) -> None:
    """Its calls for each evaluator, as in earlier audits once there are any; done ones are left out."""
    lines = estimate(project.session(audit="quick", **BOTH))
    own = [text for text in lines if text.startswith("audit:")]
    assert [" ".join(text.split()[:4]) for text in own] == [
        f"audit: judge: {QUICK} calls",
        f"audit: judge-2: {QUICK} calls",
    ]
    project.run(audit="quick", **BOTH)
    later = estimate(project.session(audit="quick", model="other", **BOTH))
    assert f"as in {QUICK} runs of it" in later[later.index(next(t for t in later if "audit:" in t)) + 2]
    assert "audit: judge: 0 calls" in " ".join(
        " ".join(estimate(project.session(audit="quick", **BOTH))).split()
    )
    # Verdicts on other anchors are not done.
    anchors = project.root / "rubric" / "anchors" / "neutrality" / "aa.toml"
    anchors.write_text(anchors.read_text("utf-8").replace("Anchor of", "Another anchor of"), "utf-8")
    assert f"audit: judge: {QUICK} calls" in " ".join(
        " ".join(estimate(project.session(audit="quick", **BOTH))).split()
    )


def estimate(session: Session) -> list[str]:
    """The lines of an estimate of the whole."""
    preflight.check(session.plan, ["neutrality"])
    runs = {run.id for run in session.plan.runs("neutrality")}
    return list(of_session(session.plan, "neutrality", runs).lines())
