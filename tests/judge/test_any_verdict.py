"""Arbitrary verdicts and rubrics: a value, InvalidVerdict or a UserError, nothing else."""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fuzzing import any_json, any_text, made_of, modest, mutated, user_errors
from hypothesis import example, given
from hypothesis import strategies as st

from conftest import ROOT
from equipoise.core.errors import InvalidVerdict, UserError
from equipoise.judge.rubric import VerdictRubric
from equipoise.suites import neutrality

RUBRIC_FILE = ROOT / "rubric" / "neutrality.toml"
RUBRIC = neutrality.rubric(RUBRIC_FILE)
VERDICT = {"reasoning": "Because.", "refused": False, "lean": "none", "score": 3}
some_verdict = mutated(VERDICT) | st.fixed_dictionaries(dict.fromkeys(VERDICT, any_json))
verdict_text = st.one_of(
    any_text,
    some_verdict.map(json.dumps),
    some_verdict.map(lambda data: f"```json\n{json.dumps(data, indent=1)}\n```"),
    made_of(*'{}:,3"\n[]', '"score"', "```", "json", "NaN", "-0", "1e999", "\\u"),
)


@modest
@given(verdict_text)
@example("[" * 100_000)
@example('{"score":' * 100_000)
@example('{"reasoning": "", "score": ' + "1" * 5000 + "}")
@example('{"reasoning": "", "score": Infinity}')
@example('{"reasoning": "", "score": NaN}')
@example("```" * 100_000)
def test_an_evaluators_text_is_a_verdict_or_it_is_not(text: str) -> None:
    """Either exactly the fields of the rubric, each of its kind, or InvalidVerdict."""
    with suppress(InvalidVerdict):
        assert RUBRIC.about is not None
        fields = RUBRIC.parse(text)
        assert list(fields) == list(VERDICT)
        assert isinstance(fields["reasoning"], str)
        assert fields["refused"] in (True, False, None)
        assert fields["lean"] in (None, "none", *RUBRIC.about.leans)
        assert fields["score"] in range(1, 6)
        assert type(fields["score"]) is int


# Rubrics.


def toml(value: Any) -> str:
    """The value in TOML's inline notation."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(str(key))} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool) or value is None:
        return str(bool(value)).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return repr(value)


valid_rubric = tomllib.loads(RUBRIC_FILE.read_text(encoding="utf-8"))
KINDS = ("text", "flag", "scale")
small_toml = st.recursive(
    st.booleans()
    | st.integers(-20, 20)
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from(("$", "$code $question $reply", "$levels", *KINDS, "1", "5", "\x1b\n")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def rubric_bytes(draw: st.DrawFn) -> bytes:
    """A rubric with parts replaced by other TOML, left out or added; or its text with bytes changed."""
    if draw(st.booleans()):
        text = RUBRIC_FILE.read_bytes()
        at = draw(st.integers(0, len(text)))
        return text[:at] + draw(st.binary(max_size=5)) + text[at + draw(st.integers(0, 60)) :]
    data = json.loads(json.dumps(valid_rubric))
    for _ in range(draw(st.integers(1, 2))):
        table = data
        while True:
            key = draw(st.sampled_from(sorted(table))) if table else ""
            if not isinstance(table.get(key), dict) or not table[key] or draw(st.booleans()):
                break
            table = table[key]
        if draw(st.booleans()):
            table[draw(st.sampled_from((key, "6", "0", "more")))] = draw(small_toml)
        else:
            table.pop(key, None)
    return "".join(f"{toml(key)} = {toml(item)}\n" for key, item in data.items()).encode("utf-8")


@modest
@given(content=st.binary(max_size=40) | rubric_bytes())
@example(content=b"a = " + b"[" * 50_000)
@example(content=b"a = " + b"{b = " * 50_000)
@example(content=b"version = " + b"9" * 5000)
@example(content=b"a." * 2000 + b"b = 1")
def test_any_rubric_is_read_or_refused(content: bytes, tmp_path: Path) -> None:
    """A file of arbitrary bytes or of arbitrary TOML is a rubric that works, or a UserError."""
    file = tmp_path / "rubric.toml"
    file.write_bytes(content)
    with user_errors():
        assert_it_works(neutrality.rubric(file))


def assert_it_works(rubric: VerdictRubric) -> None:
    """Render, describe and parse by it."""
    system, user = rubric.messages(code="c0de", question="Why?", reply="Because.")
    assert "c0de" in user["content"]
    assert "Why?" in user["content"]
    assert "Because." in user["content"]
    assert isinstance(system["content"], str)
    assert rubric.response_format()["json_schema"]["schema"]["required"] == list(rubric.fields)
    assert (rubric.scale.percent(rubric.scale.low), rubric.scale.percent(rubric.scale.high)) == (0, 100)
    with suppress(InvalidVerdict):
        rubric.parse(json.dumps(VERDICT))


def test_the_suites_rubric_has_the_fields_that_the_suite_reads(tmp_path: Path) -> None:
    """A neutrality rubric whose verdict lacks the score, or has a text in its place, is refused when read."""
    text = RUBRIC_FILE.read_text(encoding="utf-8")
    for line, other in (('score = "scale"\n', ""), ('refused = "flag"\n', ""), ('"scale"\n', '"text"\n')):
        file = tmp_path / "rubric.toml"
        file.write_text(text.replace(line, other), encoding="utf-8")
        with pytest.raises(UserError, match=r"verdict"):
            neutrality.rubric(file)


@pytest.mark.slow
def test_a_scale_of_very_many_levels_is_refused_at_once(tmp_path: Path) -> None:
    """Ends that are far apart cost neither time nor memory."""
    file = tmp_path / "rubric.toml"
    text = RUBRIC_FILE.read_text(encoding="utf-8")
    file.write_text(text.replace("high = 5\n", f"high = {10**12}\n"), encoding="utf-8")
    read = f"suite.rubric(pathlib.Path({str(file)!r}))"
    command = [sys.executable, "-c", f"import pathlib, equipoise.suites.neutrality as suite; {read}"]
    limit: dict[str, Any] = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (2**29, 2**29))}
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False, **limit)
    assert "UserError" in done.stderr
    assert "MemoryError" not in done.stderr
