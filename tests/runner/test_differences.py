"""How settings differ from an earlier session's, as people type options."""

from __future__ import annotations

from typing import Any

import pytest

from equipoise.runner.differences import differences

X = "x" * 70
URLS = {"subject": "http://a/v1", "evaluator": "http://a/v1"}
BOOKS = {"name": "books", "sha256": "0"}
GATE = "gate: overall:-2pp refused:+0 against old.json (0a)"
OTHER_GATE = "gate: overall:-1pp refused:+0 against new.json (0b)"
SAMPLING, NEW_SAMPLING = ({"temperature": 1.0, **more} for more in ({"top_p": 0.9}, {"max_tokens": 9}))


def values(name: str, before: Any, now: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings in which one value differs."""
    return {name: before}, {name: now}


CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "--model was m1, now m2": values("subject_model", "m1", "m2"),
    "--subject-top-p was 0.9, now not set; --subject-max-tokens was not set, now 9": values(
        "subject_sampling", SAMPLING, NEW_SAMPLING
    ),
    f"--evaluator-system-prompt was ...{'x' * 20}a, now ...{'x' * 20}b{'x' * 19}...": values(
        "evaluator_system_prompt", f"{X}a", f"{X}b{X}"
    ),
    "--evaluator-model was e2, now e4": values("evaluator_models", ["e1", "e2", "e3"], ["e1", "e4", "e3"]),
    "--evaluator-model e2 is missing": values("evaluator_models", ["e1", "e2"], ["e1"]),
    "--evaluator-model was e1 e2, now e2 e1": values("evaluator_models", ["e1", "e2"], ["e2", "e1"]),
    "--api-base-url was http://a/v1, now http://b/v1": values(
        "endpoints", URLS, dict.fromkeys(URLS, "http://b/v1")
    ),
    "--evaluator-api-base-url was not set, now http://b/v1": values(
        "endpoints", URLS, {**URLS, "evaluator": "http://b/v1"}
    ),
    "--rubric was version 3, now version 4": (
        *({"rubric_version": 3, "rubric_hash": "0"}, {"rubric_version": 4, "rubric_hash": "1"}),
    ),
    "--rubric: its text has changed": (
        *({"rubric_version": 3, "rubric_hash": "0"}, {"rubric_version": 3, "rubric_hash": "1"}),
    ),
    "--topics: about.toml has changed": values("about", {}, {"subject": "x"}),
    "--dataset was own, now open": (
        *({"dataset": "own", "data_hash": "0"}, {"dataset": "open", "data_hash": "1"}),
    ),
    "--answer-format was not set, now choice; --cot was off, now on": (
        *({"answer_format": None, "cot": False}, {"answer_format": "choice", "cot": True}),
    ),
    "--retrieval: books has changed": values("retrieval", BOOKS, {**BOOKS, "sha256": "1"}),
    "--retrieval was books, now not set": values("retrieval", BOOKS, None),
    "--gate was overall:-2pp, now overall:-1pp; --baseline was old.json (0a), now new.json (0b)": values(
        "until", GATE, OTHER_GATE
    ),
    "--until was not set, now gate": ({}, {"until": "gate: overall:-2pp against old.json (0a)"}),
    "": ({"until": "overall:±2pp", "seed": 1}, {"seed": 1}),
}


@pytest.mark.parametrize("notice", CHANGES)
def test_an_option_is_named_as_it_is_typed(notice: str) -> None:
    """With the values, or the parts of them, that differ; what follows from another option is left out."""
    assert differences(*CHANGES[notice]) == (notice.split("; ") if notice else [])


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ({}, {"a.csv": "1"}, "the questions have changed"),
        ({"a.csv": "0", "b.csv": "0"}, {"a.csv": "1", "b.csv": "0"}, "a.csv has changed"),
        ({"a.csv": "0"}, {"b.csv": "0"}, "b.csv is new, a.csv is missing"),
        (
            *(dict.fromkeys("abcdef", "0"), dict.fromkeys("abcdef", "1")),
            "a has changed, b has changed, c has changed and 3 more",
        ),
    ],
)
def test_changed_files_are_named(before: dict[str, str], now: dict[str, str], expected: str) -> None:
    """Three at most, and only if the earlier session wrote down which files it read."""
    notices = differences({"data_hash": "0"}, {"data_hash": "1"}, (before, now))
    assert notices == [f"--topics: {expected}"]
