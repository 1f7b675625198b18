"""The JSON Schema of results: what it refuses, and that it is the published one."""

from __future__ import annotations

import copy
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from sides import set_to

from conftest import ROOT
from equipoise.core.types import JSON
from equipoise.results import schema
from schemas import refuse_undescribed

GOLDEN = json.loads((ROOT / "tests" / "golden" / "neutrality.json").read_text(encoding="utf-8"))


def results() -> dict[str, Any]:
    """Results of a whole session, with the values that the golden file leaves open."""
    data: dict[str, Any] = copy.deepcopy(GOLDEN)
    metadata = data["metadata"]
    metadata |= {"endpoints": {"subject": "http://x", "evaluator": "http://x"}, "git_dirty": None}
    metadata |= {"package_versions": {}, "limits": {**metadata["limits"], "highest": 8, "lowest": 8}}
    metadata["limits"]["last"] = [8]
    for part in data["results"].values():
        for run in (run for row in part["questions"] for run in row["runs"]):
            messages = [
                *run["subject_transcript"],
                *(m for t in run["evaluator_transcripts"] for m in t["messages"]),
            ]
            for message in messages:
                if "latency" in message:
                    message["latency"] = 0.1
    return data


def test_results_follow_it() -> None:
    """A whole session's do, to the letter."""
    assert schema.problems(results()) == []
    refuse_undescribed(results())


RUN = "results/aa/questions/0/runs/0"


@pytest.mark.parametrize(
    ("pointer", "value", "message"),
    [
        ("metadata/status", "done", "invalid enum value 'done'"),
        (f"{RUN}/score", "4", "expected `int | float | null`, got `str`"),
        (f"{RUN}/run_index", 0, "expected `int` >= 1"),
        ("errors", {}, "expected `array`, got `object`"),
    ],
)
def test_what_is_wrong_is_named(pointer: str, value: object, message: str) -> None:
    """A problem has its place."""
    data = results()
    set_to(value, *(int(part) if part.isdigit() else part for part in pointer.split("/")))(data)
    problem = f"/{pointer}: {message}"
    assert [line[: len(problem)] for line in schema.problems(data)] == [problem]


def test_a_missing_part_is_named() -> None:
    """Where it should be, also in cases that a suite nests otherwise; a problem is always a line."""
    data = results()
    del data["metadata"]["runs"], data["summary"]
    assert sorted(schema.problems(data)) == [
        "/: 'summary' is missing",
        "/metadata: 'runs' is missing",
    ]
    data = results()
    data["metadata"]["status"] = "x" * 100_000
    assert all(len(problem) < 2 * schema.LONGEST_PROBLEM for problem in schema.problems(data))
    data = results()
    data["metadata"]["suite"] = "mine"
    data["results"] = {"en": {"one": {"id": "one", "runs": []}}}
    assert schema.problems(data) == ["/results/en: 'questions' is missing"]


def test_further_keys_are_readable_but_not_written() -> None:
    """A later version may add a key; this one may not, but for what is a suite's own."""
    for name in ("errors", "run", "outcomes"):
        data = results()
        question = data["results"]["aa"]["questions"][0]
        parts = {"errors": data["errors"][0], "run": question["runs"][0], "outcomes": question["outcomes"]}
        parts[name]["colour"] = 1
        assert schema.problems(data) == []
        with pytest.raises(AssertionError, match="colour"):
            refuse_undescribed(data)
    data = results()
    data["metadata"] |= {"suite": "mine", "length": "short"}
    data["summary"]["lengths"] = {"short": 3}
    question = data["results"]["aa"]["questions"][0]
    question["details"]["sources"] = ["a", "b"]
    question["runs"][0]["details"]["length"] = 12
    question["runs"][0]["verdicts"][0]["certainty"] = "high"
    assert schema.problems(data) == []
    refuse_undescribed(data)


KEPT = sorted((ROOT / "tests" / "regression" / "kept").glob("*.json.xz"))
DAMAGES: tuple[JSON, ...] = (None, True, -1, 1.5, "text", [], [["text"]], {"key": []})


@pytest.mark.parametrize(
    "path", [KEPT[0], *(pytest.param(path, marks=pytest.mark.slow) for path in KEPT[1:])]
)
def test_types_refuse_what_the_schema_refuses(path: Path) -> None:
    """The package reads by its types, others by the published schema: both say the same of kept results.

    They name the same places, whatever value is put in the place of one of each kind, or taken out; of a
    value that may be null, the types name the part. Only a count written 1.0 is refused by types alone.
    """
    validator = jsonschema_rs.Draft202012Validator(schema.results_schema())
    data = json.loads(lzma.decompress(path.read_bytes()))
    assert (schema.problems(data), validator.is_valid(data)) == ([], True)
    data["results"] = dict([*data["results"].items()][:1])
    shorten(data)
    assert (schema.problems(data), validator.is_valid(data)) == ([], True)
    for damage in damaged_one_by_one(data):
        by_types = [problem.partition(": ")[0] for problem in schema.problems(data)]
        by_schema = [place(error) for error in validator.iter_errors(data)]
        assert all(any(map(pointer.startswith, by_schema)) for pointer in by_types), damage
        assert all(any(refused.startswith(pointer) for refused in by_types) for pointer in by_schema), damage


MANY = 8
"""Objects in an object, from which on they are entries by name and not its fields."""


def shorten(value: JSON) -> None:
    """Leave two items of every array, and of many entries by name one of each kind: with other keys."""
    if isinstance(value, list):
        del value[2:]
    elif (
        isinstance(value, dict)
        and len(value) > MANY
        and all(isinstance(item, dict) for item in value.values())
    ):
        kinds = {str(sorted(item)): name for name, item in reversed(value.items())}
        for name in {*value} - {*kinds.values()}:
            del value[name]
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        shorten(item)


def place(error: jsonschema_rs.ValidationError) -> str:
    """The pointer of a value that the schema refuses."""
    return "".join(f"/{part}" for part in error.instance_path) or "/"


def damaged_one_by_one(data: JSON) -> Iterator[str]:
    """The pointer and kind of each damage, done to `data` while it is yielded and undone afterwards.

    Of objects with the same keys, only the first is damaged.
    """
    tried: set[str] = set()
    for pointer, parent, key in [*places(data)]:
        kind = f"{sorted(parent)} {key}" if isinstance(parent, dict) else pointer
        if kind in tried:
            continue
        tried.add(kind)
        original = parent[key]
        for damage in DAMAGES:
            parent[key] = damage
            yield f"{pointer} = {damage!r}"
        if isinstance(parent, dict):
            del parent[key]
            yield f"{pointer} is missing"
        parent[key] = original


def places(value: JSON, pointer: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Pointer, parent and key of the values in JSON; of an array, those of its first item."""
    items = value.items() if isinstance(value, dict) else [*enumerate(value)][:1]
    for key, item in items:
        yield f"{pointer}/{key}", value, key
        if isinstance(item, dict | list):
            yield from places(item, f"{pointer}/{key}")
