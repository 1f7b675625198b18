"""The JSON Schema of results: what it refuses, and that it is the published one."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema_rs
import pytest

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
    assert published == schema.whole()


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
        ("summary/outcomes/scoredd", 1, "/summary/outcomes: "),
        ("summary/metrics/overall/kind", "median", '/summary/metrics/overall/kind: "median" is not one of'),
        ("summary/overall_average_score", "high", '/summary/overall_average_score: "high" is not of'),
        ("errors", {}, "/errors: {} is not of type"),
    ],
)
def test_what_is_wrong_is_named(pointer: str, value: object, said: str) -> None:
    """A problem has its place, in the parts of all suites and in a suite's own."""
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
    assert all(len(problem) < 2 * schema.LONGEST for problem in schema.problems(data))


def test_further_keys_are_readable_but_not_written() -> None:
    """A later version may add a key; this one's tests fail for a key that the schema does not name."""
    for place in ("metadata", "summary"):
        data = results()
        data[place]["colour"] = "red"
        assert schema.problems(data) == []
        with pytest.raises(AssertionError, match="colour"):
            refuse_undescribed(data)


def test_a_suite_without_a_schema_is_held_against_the_shared_part() -> None:
    """As a project's own suites are."""
    data = results()
    data["metadata"]["suite"] = "mine"
    data["results"] = {"en": {"one": {"id": "one", "runs": []}}}
    assert schema.problems(data) == []
