"""Results read without their transcripts, and held against what they should be byte for byte."""

from __future__ import annotations

import hashlib
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fake_client import Project

from equipoise.core.types import Reply
from equipoise.results import light, rows

ODD = 'like\n  "subject_transcript": [\n        ]\n\\" "evaluator_transcripts": [ \u2028 \x85 {"a": [1]}'


@pytest.fixture
def results(project: Project) -> Path:
    """Those of a session whose replies look like what is skipped."""
    plain = project.client.script
    project.client.script = lambda call: Reply(text=ODD) if call.role == "subject" else plain(call)
    project.run(runs="2")
    return project.results_path


def read(path: Path) -> tuple[Any, str]:
    """What is read of a file, decoded, and its digest."""
    parts, digest = light.load(path)
    data = {
        name: json.loads(bytes(part)) if isinstance(part, msgspec.Raw) else part
        for name, part in parts.items()
    }
    return data, digest


def stripped(data: Any) -> Any:
    """The runs of results without their transcripts."""
    data = deepcopy(data)
    for run in (
        run for part in data["results"].values() for item in part["questions"] for run in item["runs"]
    ):
        del run["subject_transcript"], run["evaluator_transcripts"]
    return data


def test_all_but_transcripts_is_read(results: Path) -> None:
    """With the digest of the whole file, and where in it each of the conversations is."""
    whole = json.loads(results.read_bytes())
    data, digest = read(results)
    assert digest == hashlib.sha256(results.read_bytes()).hexdigest()
    assert stripped(data) == stripped(whole) != whole
    transcripts = light.Transcripts(results, digest)
    for language, content in whole["results"].items():
        for question, offsets in zip(
            content["questions"], data["results"][language]["questions"], strict=True
        ):
            for run, other in zip(question["runs"], offsets["runs"], strict=True):
                for name in rows.TRANSCRIPTS:
                    assert transcripts.read(*other[name]) == run[name]


@pytest.mark.parametrize("indent", [None, 0, 1, 2, 4, "\t"])
def test_a_file_that_was_reformatted_is_read(results: Path, indent: int | str | None) -> None:
    """By another tool, indented in another way or not at all, or with lines of another system."""
    whole = json.loads(results.read_bytes())
    for end in ("\n", "\r\n"):
        results.write_bytes(json.dumps(whole, indent=indent).replace("\n", end).encode())
        data, _ = read(results)
        assert stripped(data) == stripped(whole)


def test_lines_that_stand_anywhere_are_no_transcript_cut_short(results: Path) -> None:
    """Where a bracket within a transcript stands as its end would, the file is read as a whole."""
    whole = json.loads(results.read_bytes())
    lines = results.read_text(encoding="utf-8").split("\n")
    results.write_text(
        "\n".join([lines[0], *("  " + line.lstrip(" ") for line in lines[1:])]), encoding="utf-8"
    )
    assert stripped(read(results)[0]) == stripped(whole)


def test_results_are_held_against_what_they_should_be(results: Path) -> None:
    """Byte for byte: an edit of a score, of a transcript, a part more or less is another file."""
    made = json.loads(results.read_bytes())["results"]
    content = results.read_bytes()
    assert light.has_same_results(results, made)
    for old, new in (
        (b'"score": ', b'"score":  '),
        (b"like", b"dislike"),
        (b'\n  "results": {', b'\n  "results": {\n    "cc": {},'),
        (b'\n  "results": ', b'\n  "other": '),
    ):
        results.write_bytes(content.replace(old, new))
        assert not light.has_same_results(results, made)
    results.write_bytes(content)
    assert not light.has_same_results(results, {**made, "cc": {}})
