"""The JSON Schema of results: what it refuses, and that it is the published one."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema_rs
import pytest
import sixth_suite

from conftest import ROOT
from equipoise.results import schema
from schemas import refuse_undescribed

GOLDEN = json.loads((ROOT / "tests" / "golden" / "neutrality.json").read_text(encoding="utf-8"))


def results() -> dict[str, Any]:
    """Results of a whole session, with the values that the golden file leaves open."""
    data = copy.deepcopy(GOLDEN)
    metadata = data["metadata"]
    metadata |= {"endpoints": {"subject": "http://x", "evaluator": "http://x"}, "git_dirty": None}
    metadata |= {"package_versions": {}, "limits": {**metadata["limits"], "highest": 8, "lowest": 8}}
    metadata["limits"]["last"] = [8]
    for found in data["results"].values():
        for run in (run for row in found["questions"] for run in row["runs"]):
            said = [
                *run["subject_transcript"],
                *(m for t in run["evaluator_transcripts"] for m in t["messages"]),
            ]
            for message in said:
                if "latency" in message:
                    message["latency"] = 0.1
    return data


def test_the_published_schema_is_that_of_the_package() -> None:
    """`equipoise schema > docs/results.schema.json` brings it in step, and it is valid in its own draft."""
    published = json.loads((ROOT / "docs" / "results.schema.json").read_text(encoding="utf-8"))
    jsonschema_rs.meta.validate(published)
    with sixth_suite.unknown():
        assert published == schema.results_schema()


def test_results_follow_it() -> None:
    """A whole session's do, to the letter."""
    assert schema.problems(results()) == []
    refuse_undescribed(results())


@pytest.mark.parametrize(
    ("pointer", "value", "said"),
    [
        ("metadata/status", "done", '/metadata/status: "done" is not one of'),
        ("results/aa/questions/0/runs/0/score", "4", '/results/aa/questions/0/runs/0/score: "4" is not of'),
        ("results/aa/questions/0/runs/0/run_index", 0, "/results/aa/questions/0/runs/0/run_index: 0 is less"),
        ("results/aa/questions/0/id", None, "/results/aa/questions/0/id: null is not of type"),
        (
            "results/aa/questions/0/runs/0/values/percent",
            "75",
            "/results/aa/questions/0/runs/0/values/percent: ",
        ),
        ("summary/outcomes/scored", -1, "/summary/outcomes/scored: -1 is less than"),
        ("summary/metrics/overall/kind", "median", '/summary/metrics/overall/kind: "median" is not one of'),
        ("errors", {}, "/errors: {} is not of type"),
    ],
)
def test_what_is_wrong_is_named(pointer: str, value: object, said: str) -> None:
    """A problem has its place."""
    data = results()
    *parts, last = pointer.split("/")
    place: Any = data
    for part in parts:
        place = place[int(part)] if isinstance(place, list) else place[part]
    place[last] = value
    assert [problem[: len(said)] for problem in schema.problems(data)] == [said]


def test_a_missing_part_is_named() -> None:
    """Where it should be."""
    data = results()
    del data["metadata"]["runs"], data["summary"]
    assert sorted(schema.problems(data)) == [
        '/: "summary" is a required property',
        '/metadata: "runs" is a required property',
    ]


def test_a_long_value_is_cut() -> None:
    """A problem that quotes a transcript is still a line."""
    data = results()
    data["errors"] = "x" * 100_000
    assert all(len(problem) < 2 * schema.LONGEST_PROBLEM for problem in schema.problems(data))


def test_further_keys_are_readable_but_not_written() -> None:
    """A later version may add a key; this one's tests fail for a key that the schema does not name."""
    for place in ("errors", "run", "outcomes"):
        data = results()
        question = data["results"]["aa"]["questions"][0]
        parts = {"errors": data["errors"][0], "run": question["runs"][0], "outcomes": question["outcomes"]}
        parts[place]["colour"] = 1
        assert schema.problems(data) == []
        with pytest.raises(AssertionError, match="colour"):
            refuse_undescribed(data)


def test_what_a_suite_adds_is_its_own() -> None:
    """Among the options, in the summary, in verdicts and in details: of any type, in any suite."""
    data = results()
    data["metadata"] |= {"suite": "mine", "length": "short"}
    data["summary"]["lengths"] = {"short": 3}
    question = data["results"]["aa"]["questions"][0]
    question["details"]["sources"] = ["a", "b"]
    question["runs"][0]["details"]["length"] = 12
    question["runs"][0]["verdicts"][0]["certainty"] = "high"
    assert schema.problems(data) == []
    refuse_undescribed(data)


def test_results_of_any_suite_have_one_shape() -> None:
    """Cases that a suite nests in a way of its own are refused."""
    data = results()
    data["metadata"]["suite"] = "mine"
    data["results"] = {"en": {"one": {"id": "one", "runs": []}}}
    assert schema.problems(data) == ['/results/en: "questions" is a required property']
