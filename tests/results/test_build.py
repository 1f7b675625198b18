"""What a journal makes of the results JSON: how far it is, who answered, what was spent."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import RUBRIC, SUITE
from journals import SETTINGS, STARTED, USAGE, ask, begin, history_of, keep, record, write

from equipoise import suites
from equipoise.core import json_io
from equipoise.core.types import Call, Reply, Usage
from equipoise.models.budget import prompt_tokens
from equipoise.results import audits
from equipoise.results import build as results
from equipoise.results.journal import request_hash

CALL = ask("Why?")
JUDGE = ask("Judge.", role="evaluator", model="e")


def build(path: Path, *, is_running: bool = False) -> Any:
    """The results of a journal, as they would be read from their file."""
    made = results.build(suites.load(SUITE), RUBRIC, history_of(path), is_running=is_running)
    return json_io.loads(json_io.dumps(made.to_json()))


def metadata(path: Path, **options: Any) -> Any:
    """The metadata of the results of a journal."""
    return build(path, **options)["metadata"]


def test_the_digest_of_verdicts_is_that_of_the_list_in_the_order_of_ids() -> None:
    """Anybody can check it: the SHA-256 of one line of compact JSON."""
    for records in ([], [record("b"), record("a", "refused"), record("a", "error", run=2)]):
        rows = sorted([item.id, item.outcome, item.score, item.percent] for item in records)
        assert results.verdicts_digest(records) == hashlib.sha256(json_io.dumps(rows)).hexdigest()


def test_results_say_how_far_they_are(path: Path) -> None:
    """The end is written down once there is one, of a session that still runs, too."""
    write(path, plan=["a-run1", "b-run1"])
    data = build(path, is_running=True)
    fields = {
        name: data["metadata"][name] for name in ("status", "runs_expected", "runs_completed", "finished")
    }
    assert fields == {"status": "running", "runs_expected": 2, "runs_completed": 0, "finished": None}
    assert (data["results"], data["errors"], data["summary"]) == ({}, [], {"outcomes": {}})
    write(path, record("a"), session="s2")
    interrupted = metadata(path)
    assert (interrupted["status"], interrupted["finished"] is None) == ("interrupted", False)
    write(path, record("b", "refused"), session="s3")
    ended = metadata(path, is_running=True)
    assert (ended["status"], ended["finished"] is None, ended["runs_completed"]) == ("complete", False, 2)


def test_a_language_is_complete_when_all_its_runs_are_done(path: Path) -> None:
    """Files are counted by language: one of which a run is missing is not complete."""
    plan = {"a-run1": "aa", "b-run1": "bb", "c-run1": "bb", "d-run1": "cc"}
    write(path, record("a"), record("b", language="bb"), record("d", "error", language="cc"), plan=plan)
    fields = metadata(path)
    assert (fields["languages"], fields["files_expected"], fields["files_completed"]) == (
        ["aa", "bb", "cc"],
        3,
        2,
    )


def test_two_sessions_are_one_result(path: Path) -> None:
    """It began when the first did, has the settings of the last, and says which calls were made when."""
    first = begin(path, ["a-run1"], session="s1")
    for _ in range(3):
        keep(first, CALL)
    first.close()
    later = {"started": "2026-02-02T00:00:00+00:00", "settings": {**SETTINGS, "runs": 9}}
    second = begin(path, ["a-run1"], session="s2", **later)
    keep(second, JUDGE, Reply(text="{}", retries=2, repeats=1))
    second.append("failed", run="a-run1", role="subject", model="m", retries=1, message="HTTP 500")
    fields = metadata(path)
    assert (fields["sessions"], fields["started"], fields["runs"]) == (2, STARTED, 9)
    assert fields["calls"] == {"made": 1, "replayed": 3, "failed": 1, "retries": 3, "repeated": 1}


def test_evaluators_are_counted_by_what_they_gave(path: Path) -> None:
    """Valid verdicts, and runs in which there was none."""
    write(
        path,
        record("a"),
        record("b", "refused"),
        record("c", "unscored"),
        plan=["a-run1", "b-run1", "c-run1"],
    )
    assert metadata(path)["evaluators"] == {"e": {"verdicts": 2, "missing": 1}}


def test_an_error_shows_every_text_that_was_no_verdict(path: Path) -> None:
    """All of them in order, the last one by itself too, and where in the files the question is."""
    write(path, record("a"), record("b", "unscored", "No verdict."), plan=["a-run1", "b-run1"])
    (error,) = build(path)["errors"]
    assert error == {
        "run": "b-run1",
        "language": "aa",
        "question_index": 1,
        "run_index": 1,
        "question": "Why b?",
        "outcome": "unscored",
        "message": "No verdict.",
        "raw_evaluator_response": "{}",
        "raw_evaluator_responses": ["No verdict.", "{}"],
    }


def test_models_that_answered_are_listed_in_a_stable_order(path: Path) -> None:
    """By role and model, also where an endpoint says nothing of itself."""
    log = begin(path)
    for call, *answered in (
        (CALL, "m-2", "f1", "p1"),
        (JUDGE, "e-1", None, None),
        (CALL, None, None, None),
        (CALL, "m-2", "f1", "p1"),
        (CALL, "m-2", "f1", "p2"),
        (CALL, "m-1", "f2", None),
    ):
        model, fingerprint, provider = answered
        keep(log, call, Reply(text="", model=model, fingerprint=fingerprint, provider=provider))
    names = ("role", "response_model", "system_fingerprint", "provider", "calls")
    assert [tuple(row[name] for name in names) for row in metadata(path)["response_models"]] == [
        ("evaluator", "e-1", None, None, 1),
        ("subject", None, None, None, 1),
        ("subject", "m-1", "f2", None, 1),
        ("subject", "m-2", "f1", "p1", 2),
        ("subject", "m-2", "f1", "p2", 1),
    ]


def test_a_changed_parameter_is_told_once(path: Path) -> None:
    """However often it was found out: role, model, parameter, what was done and why it was first."""
    log = begin(path)
    change = {"role": "subject", "model": "m", "parameter": "top_k", "action": "dropped", "reason": "unknown"}
    other = {**change, "role": "evaluator"}
    for entry in (change, {**change, "reason": "too high"}, other):
        log.append("learned", **entry)
    assert metadata(path)["parameters_changed"] == [change, other]


# How many calls were in flight.


def test_calls_that_until_saved_are_counted_by_those_of_runs_alone(path: Path) -> None:
    """A run that is left out would have taken as many calls as one that was done; an audit has its own."""
    log = begin(path, ["a-run1", "a-run2", "a-run3"], settings={**SETTINGS, "runs": 3})
    calls = [keep(log, call).id for call in (CALL, JUDGE)]
    log.append_record(record("a"), calls)
    for number in range(4):
        name = audits.verdict_name("e", "aa-q1-good", number)
        verdict = {"at": STARTED, "judged": (), "seen": (), "calls": [keep(log, JUDGE, run=name).id]}
        log.append("anchor", run=name, evaluator="e", **verdict)
    log.append("look", round=1, is_enough=True, rule="gate", verdicts={"overall:-2pp": "pass"})
    until = build(path)["summary"]["until"]
    assert (until["runs_planned"], until["runs_left_out"], until["calls_saved"]) == (3, 2, 4)


def cut(second: float, **changes: Any) -> dict[str, Any]:
    """What is kept when an endpoint refuses calls."""
    usual = {"endpoint": 0, "status": 429, "pause": 1.5, "before": 8, "after": 4, "sustained": 7}
    return {"event": "cut", "second": second, **usual, **changes}


def test_limits_are_summed_over_all_sessions(path: Path) -> None:
    """The highest and the lowest of any session, the latest of each endpoint, refused calls, and each cut."""
    write(path)
    nothing = {"refused": 0, "cuts": 0, "moves": [], "moves_left_out": 0}
    assert metadata(path)["limits"] == {"highest": None, "lowest": None, "last": [], **nothing}
    log = begin(path)
    log.append("limit", **cut(1.0))
    log.append("limit", **cut(2.0, before=4, after=2))
    for endpoint, lowest, highest, last, refused in ((0, 4, 9, 9, 3), (2, 2, 8, 4, 1), (0, 3, 8, 7, 0)):
        end = {"endpoint": endpoint, "lowest": lowest, "highest": highest, "last": last}
        log.append("limit", event="end", refused=refused, **end)
    limits = metadata(path)["limits"]
    assert (limits["highest"], limits["lowest"], limits["refused"], limits["cuts"]) == (9, 2, 4, 2)
    # Of the endpoint 1 no session has told.
    assert limits["last"] == [7, None, 4]
    assert [(move["session"], move["second"], move["after"]) for move in limits["moves"]] == [
        ("s1", 1.0, 4),
        ("s1", 2.0, 2),
    ]
    names = ["session", "endpoint", "second", "status", "pause", "before", "after", "sustained"]
    assert list(limits["moves"][0]) == names


def test_of_very_many_cuts_the_first_are_shown(path: Path) -> None:
    """All are counted, it is told how many are not shown, and the results do not grow without end."""
    log = begin(path)
    for number in range(results.MOST_MOVES + 20):
        log.append("limit", **cut(float(number)))
    limits = metadata(path)["limits"]
    assert (limits["cuts"], limits["moves_left_out"]) == (results.MOST_MOVES + 20, 20)
    assert [move["second"] for move in limits["moves"]] == [float(n) for n in range(results.MOST_MOVES)]


# What it cost.

OWN = {"concurrency": 1, "price_per_million": {"input": 2.0, "output": 10.0}}


def cost(path: Path, *calls: tuple[Call, Reply], **changes: Any) -> Mapping[str, float | None]:
    """USD by role of a session that made these calls."""
    log = begin(path, **changes)
    for call, reply in calls:
        keep(log, call, reply)
    amounts: dict[str, float | None] = metadata(path)["cost_usd"]
    return amounts


def test_tokens_are_told_by_role(path: Path) -> None:
    """All four kinds, summed over the models of a role."""
    panel = [(ask("Judge.", role="evaluator", model=model), Reply(text="", usage=USAGE)) for model in "ef"]
    cost(path, (CALL, Reply(text="", usage=USAGE)), *panel)
    tokens = metadata(path)["tokens"]
    assert tokens["subject"] == USAGE.to_json()
    assert tokens["evaluator"] == {kind: 2 * n for kind, n in USAGE.to_json().items()}


SPENT = Reply(text="", usage=USAGE)
LISTED = ask("Judge.", role="evaluator", model="gpt-4o")
# USD for a million tokens: 100 in at 2 and 20 out at 10 make 0.0004.
COSTS: dict[str, tuple[list[tuple[Call, Reply]], bool, dict[str, float | None]]] = {
    "nothing asked": ([], False, {"subject": 0, "evaluator": 0}),
    "no price": ([(CALL, SPENT)], False, {"subject": None, "evaluator": 0}),
    "one of a panel without a price": (
        [(LISTED, SPENT), (ask("Judge.", role="evaluator", model="nobody-knows-it"), SPENT)],
        False,
        {"subject": 0, "evaluator": None},
    ),
    "the user's own price": ([(CALL, SPENT)], True, {"subject": 0.0004, "evaluator": 0}),
    "the built-in model": ([(ask("Why?", model="local"), SPENT)], True, {"subject": 0, "evaluator": 0}),
    "a blocked prompt": (
        [(CALL, SPENT), (CALL, Reply(text="", blocked="content_filter"))],
        True,
        {"subject": 0.0004, "evaluator": 0},
    ),
    "no usage": (
        [(CALL, Reply(text="x" * 30))],
        True,
        {"subject": (2 * prompt_tokens(CALL) + 10 * 10) / 1e6, "evaluator": 0},
    ),
}


def test_the_cost_is_that_of_the_result(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """By role; a sum of which a part is missing is no sum, and what earlier sessions spent counts."""
    for name, (calls, has_price, expected) in COSTS.items():
        with subtests.test(name):
            path, price = tmp_path / name, {"session_settings": OWN} if has_price else {}
            assert cost(path, *calls, **price) == pytest.approx(expected)
            again = cost(path, *calls, **price, session="s2")
            assert again == {role: usd and pytest.approx(2 * usd) for role, usd in expected.items()}
    for name, estimated in (("no usage", 2), ("a blocked prompt", 0)):
        assert metadata(tmp_path / name)["usage_estimated"] == {"subject": estimated, "evaluator": 0}
    assert cost(tmp_path / "listed", (CALL, SPENT), (LISTED, SPENT))["evaluator"]


def test_what_cached_prompt_tokens_saved_is_told(path: Path) -> None:
    """At the listed price of the model; nothing is said where nothing came from a cache."""
    call = ask("Why?", model="gpt-4o")
    cost(path, (call, Reply(text="", usage=replace(USAGE, cached=0))))
    assert "saved_by_cache_usd" not in metadata(path)
    keep(begin(path, session="s2"), call, Reply(text="", usage=Usage(input=1000, output=1, cached=1000)))
    assert metadata(path)["saved_by_cache_usd"] == {
        "subject": pytest.approx(1000 * 1.25 / 1e6),
        "evaluator": 0,
    }


def test_what_the_cache_saved_in_batches_is_told(path: Path) -> None:
    """A batch without a listed price has half of the usual one, and so half of the saving."""
    call, log = ask("Why?", model="deepseek-chat"), begin(path)
    reply = Reply(text="", usage=Usage(input=1000, output=1, cached=1000))
    log.append_call("a-run1", call, request_hash(call), reply)
    saved = metadata(path)["saved_by_cache_usd"]["subject"]
    log.append_call("a-run2", call, request_hash(call), reply, "batched-1")
    assert metadata(path)["saved_by_cache_usd"]["subject"] == pytest.approx(1.5 * saved)
