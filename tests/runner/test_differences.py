"""How settings differ from an earlier session's, as people type options."""

from __future__ import annotations

from typing import Any

import pytest

from equipoise.runner.differences import differences

X = "x" * 70
URLS = {"subject": "http://a/v1", "evaluator": "http://a/v1"}


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ({"subject_model": "m1"}, {"subject_model": "m2"}, ["--model was m1, now m2"]),
        (
            {"subject_sampling": {"temperature": 1.0, "top_p": 0.9}},
            {"subject_sampling": {"temperature": 1.0, "max_tokens": 9}},
            ["--subject-top-p was 0.9, now not set", "--subject-max-tokens was not set, now 9"],
        ),
        (
            {"evaluator_system_prompt": f"{X}a"},
            {"evaluator_system_prompt": f"{X}b{X}"},
            [f"--evaluator-system-prompt was ...{'x' * 20}a, now ...{'x' * 20}b{'x' * 19}..."],
        ),
        (
            {"evaluator_models": ["e1", "e2", "e3"]},
            {"evaluator_models": ["e1", "e4", "e3"]},
            ["--evaluator-model was e2, now e4"],
        ),
        (
            {"evaluator_models": ["e1", "e2"]},
            {"evaluator_models": ["e1"]},
            ["--evaluator-model e2 is missing"],
        ),
        (
            {"evaluator_models": ["e1", "e2"]},
            {"evaluator_models": ["e2", "e1"]},
            ["--evaluator-model was e1 e2, now e2 e1"],
        ),
        (
            {"endpoints": URLS},
            {"endpoints": dict.fromkeys(URLS, "http://b/v1")},
            ["--api-base-url was http://a/v1, now http://b/v1"],
        ),
        (
            {"endpoints": URLS},
            {"endpoints": {**URLS, "evaluator": "http://b/v1"}},
            ["--evaluator-api-base-url was not set, now http://b/v1"],
        ),
        (
            {"rubric_version": 3, "rubric_hash": "0"},
            {"rubric_version": 4, "rubric_hash": "1"},
            ["--rubric was version 3, now version 4"],
        ),
        (
            {"rubric_version": 3, "rubric_hash": "0"},
            {"rubric_version": 3, "rubric_hash": "1"},
            ["--rubric: its text has changed"],
        ),
        (
            {"data_hash": "0", "about": {}},
            {"data_hash": "0", "about": {"subject": "x"}},
            ["--topics: about.toml has changed"],
        ),
        (
            {"dataset": "own", "data_hash": "0"},
            {"dataset": "open", "data_hash": "1"},
            ["--dataset was own, now open"],
        ),
        (
            {"answer_format": None, "cot": False},
            {"answer_format": "choice", "cot": True},
            ["--answer-format was not set, now choice", "--cot was off, now on"],
        ),
        (
            {"retrieval": {"name": "books", "sha256": "0"}},
            {"retrieval": {"name": "books", "sha256": "1"}},
            ["--retrieval: books has changed"],
        ),
        (
            {"retrieval": {"name": "books", "sha256": "0"}},
            {"retrieval": None},
            ["--retrieval was books, now not set"],
        ),
        (
            {"until": "gate: overall:-2pp refused:+0 against old.json (0a)"},
            {"until": "gate: overall:-1pp refused:+0 against new.json (0b)"},
            ["--gate was overall:-2pp, now overall:-1pp", "--baseline was old.json (0a), now new.json (0b)"],
        ),
        ({}, {"until": "gate: overall:-2pp against old.json (0a)"}, ["--until was not set, now gate"]),
        ({"until": "overall:±2pp", "seed": 1}, {"seed": 1}, []),
    ],
)
def test_an_option_is_named_as_it_is_typed(
    before: dict[str, Any], now: dict[str, Any], expected: list[str]
) -> None:
    """With the values, or the parts of them, that differ; what follows from another option is left out."""
    assert differences(before, now) == expected


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ({}, {"a.csv": "1"}, "the questions have changed"),
        ({"a.csv": "0", "b.csv": "0"}, {"a.csv": "1", "b.csv": "0"}, "a.csv has changed"),
        ({"a.csv": "0"}, {"b.csv": "0"}, "b.csv is new, a.csv is missing"),
        (
            dict.fromkeys("abcdef", "0"),
            dict.fromkeys("abcdef", "1"),
            "a has changed, b has changed, c has changed and 3 more",
        ),
    ],
)
def test_changed_files_are_named(before: dict[str, str], now: dict[str, str], expected: str) -> None:
    """Three at most, and only if the earlier session wrote down which files it read."""
    found = differences({"data_hash": "0"}, {"data_hash": "1"}, (before, now))
    assert found == [f"--topics: {expected}"]
