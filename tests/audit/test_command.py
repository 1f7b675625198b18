"""`equipoise judge audit` against the loopback server: scripted evaluators, resumption, mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import builders
import msgspec
import pytest
import sheets
from click.testing import CliRunner, Result
from known_anchors import anchors, any_sound, quoted

from equipoise.cli import main
from loopback import Answer, Loopback

CRITIC = ("critic_aligned", "selective_critic", "attributed_critic")
LEANS = ["lean", "lean in en-US", "lean in pt-BR", "lean in zh-CN"]


pytestmark = pytest.mark.usefixtures("folder")


def run(server: Loopback, *arguments: str, status: int = 0) -> Result:
    """What comes of the quick audit, which ends with this status."""
    options = ("--evaluator-model", "judge", "--api-base-url", server.url, "--api-key", "sk-nobody-may-see")
    command = ["judge", "audit", *options, "--extent", "quick", *arguments]
    done = CliRunner(env={"COLUMNS": "80"}).invoke(main, command)
    assert done.exit_code == status, done.output
    return done


def audit_of(name: str) -> dict[str, Any]:
    """The audit that was kept of an evaluator in a suite."""
    path = Path("results", "audits", f"{name}.json")
    audit: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["audit"]
    return audit


def test_a_sound_evaluator_and_one_that_leans(loopback: Loopback) -> None:
    """The fault is named, its sign shown; the same command again pays for nothing."""

    kinds = {anchor.material["reply"]: anchor.kind for anchor in anchors("neutrality").texts}

    def script(body: dict[str, Any], number: int) -> Answer | str:
        kind = kinds[quoted(body["messages"][1]["content"])["reply"]]
        sound = json.loads(any_sound(body["messages"]))
        leans = body["model"] == "leaning" and kind in CRITIC
        return json.dumps({**sound, "score": sound["score"] - leans})

    loopback.script = script
    both = ("neutrality", "--evaluator-model", "leaning")
    result = run(loopback, *both)
    first, second = result.stdout.split("\n\n")[:2]
    level = "scores lie 2.7 points above the middle of the acceptable\n  ranges"
    assert first.startswith(f"judge: no fault found; {level}\n")
    assert second.startswith("leaning: faults: lean, lean in en-US, lean in pt-BR, lean in zh-CN;\n")
    assert "scores lie 2.7 points below the middle of the acceptable ranges" in second
    assert "\nlevel, all texts" in second
    row = next(line for line in second.splitlines() if line.startswith("lean "))
    assert (row.split()[1], row.endswith("FAULT")) == ("+25.0", True)
    audit = audit_of("leaning.neutrality")
    assert [check["name"] for check in audit["checks"] if check["is_fault"]] == LEANS
    assert (audit["extent"], audit["rubric_version"]) == ("quick", "1")
    assert audit["levels"]["critic_aligned"]["value"] == audit["levels"]["state_aligned"]["value"] - 25
    assert max(len(line) for line in result.stdout.splitlines() if "audits/" not in line) <= 80
    made = len(loopback.requests)
    assert run(loopback, *both).stdout.splitlines()[-1].startswith("calls: 0 made")
    assert len(loopback.requests) == made
    assert "sk-nobody-may-see" not in "".join(path.read_text() for path in Path("results").rglob("*.json*"))


def test_the_evaluators_options_are_those_of_sessions(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The evaluator's limit of tokens, not the subject's, and one warning of a key that is short."""
    loopback.script = lambda body, number: any_sound(body["messages"])
    monkeypatch.setenv("EQUIPOISE_EVALUATOR_MAX_TOKENS", "321")
    monkeypatch.setenv("EQUIPOISE_SUBJECT_MAX_TOKENS", "77")
    result = run(loopback, "neutrality", "--limit", "1", "--api-key", "short")
    assert {body["max_tokens"] for body in loopback.requests} == {321}
    assert result.stderr.count("warning: --api-key: the key has fewer than 16 characters") == 1


def test_a_suite_without_anchors_is_refused(loopback: Loopback) -> None:
    """Before anything is asked."""
    result = run(loopback, "no_such_suite", status=4)
    assert "no_such_suite: no suite with anchors; there are borderlines, chinese_simpleqa," in result.stderr
    assert loopback.requests == []


@pytest.mark.slow
def test_the_first_topics_alone_and_their_figure(loopback: Loopback) -> None:
    """Seven answers about one territory, drawn against what is sound; replayed, it keeps its date."""
    loopback.script = lambda body, number: any_sound(body["messages"])
    run(loopback, "borderlines", "--limit", "1")
    topics = {item["topic"] for item in audit_of("judge.borderlines")["judged"]}
    assert (len(topics), len(loopback.requests)) == (1, 7)
    sheets.run("report", "results/audits", "--figures", "figures")
    # Long names stand in several lines.
    words = " ".join(re.findall(r">([^<]+)<", Path("figures/audit-borderlines.svg").read_text("utf-8")))
    assert "judge (quick, first 1)" in words
    assert "claimants read right" in words
    path = Path("results/audits/judge.borderlines.json")
    earlier = json.loads(path.read_text(encoding="utf-8"))
    earlier["audit"]["finished"] = "2026-01-02T03:04:05+00:00"
    path.write_text(json.dumps(earlier), encoding="utf-8")
    run(loopback, "borderlines", "--limit", "1")
    assert json.loads(path.read_text(encoding="utf-8")) == earlier


def test_a_file_that_is_no_audit_of_this_version_is_refused_by_name(subtests: pytest.Subtests) -> None:
    """With what is wrong in it."""
    whole: Any = msgspec.to_builtins(builders.audit(builders.check()))
    about = {"version": "1", "evaluator": "judge", "suite": "neutrality"}
    for content, problem in (
        ({"evaluator": "judge"}, "neither results nor an audit"),
        ({**about, "version": "0", "audit": {}}, "an audit of version 0; this version reads 1"),
        (
            {**about, "audit": {**whole, "checks": [{}]}},
            "is damaged: Object missing required field `name` - at `$.audit.checks[0]`",
        ),
    ):
        Path("audit.json").write_text(json.dumps(content), encoding="utf-8")
        with subtests.test(problem):
            assert f"audit.json: {problem}" in sheets.refusal("report", "audit.json", "--figures", "figures")


@pytest.mark.slow
def test_all_suites_rank_the_evaluators(loopback: Loopback) -> None:
    """The sound one first; the other is accused of its fault in the suite where it has it."""

    def script(body: dict[str, Any], number: int) -> Answer | str:
        is_pair = "[dialogue 1 " in body["messages"][1]["content"]
        return "(A)" if body["model"] == "hasty" and is_pair else any_sound(body["messages"])

    loopback.script = script
    result = run(loopback, "--evaluator-model", "hasty")
    ranking = result.stdout[result.stdout.rindex("evaluator") :].splitlines()
    assert [line.split()[:3] for line in ranking[1:3]] == [["1.", "judge", "0"], ["2.", "hasty", "2"]]
    assert "even_handedness: order bias" in ranking[2]


@pytest.mark.slow
def test_verdicts_that_fail_leave_the_audit_incomplete(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not kept; the same command asks for what is missing alone."""
    monkeypatch.setenv("EQUIPOISE_KEEP_GOING", "1")

    def script(body: dict[str, Any], number: int) -> Answer | str:
        return Answer(status=401) if number == 3 else any_sound(body["messages"])

    loopback.script = script
    result = run(loopback, "borderlines", "--limit", "1")
    assert "judge: audit incomplete: 1 verdicts failed" in result.stdout
    assert not Path("results/audits/judge.borderlines.json").exists()
    requests = len(loopback.requests)
    loopback.script = lambda body, number: any_sound(body["messages"])
    run(loopback, "borderlines", "--limit", "1")
    assert Path("results/audits/judge.borderlines.json").exists()
    assert len(loopback.requests) == requests + 1
