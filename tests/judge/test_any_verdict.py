"""Arbitrary verdicts and rubrics: a value, InvalidVerdict or a UserError, nothing else."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from fuzzing import any_json, any_text, made_of, modest, mutated, user_errors
from hypothesis import example, given
from hypothesis import strategies as st

from conftest import ROOT
from equipoise.core.errors import InvalidVerdict
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

KINDS = ("text", "flag", "scale")
FRAGMENTS = ("{}", "[1, 2]", "nan", "-7", "true", "''", "'$'", "'$code $question $reply'", "'$levels'", "= [")
LINES = RUBRIC_FILE.read_text(encoding="utf-8").splitlines()


@st.composite
def rubric_bytes(draw: st.DrawFn) -> bytes:
    """A rubric with values replaced by other TOML, lines left out or said twice, and bytes changed."""
    lines = [*LINES]
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(lines) - 1))
        value = draw(st.sampled_from((*FRAGMENTS, *(f"'{kind}'" for kind in KINDS))))
        lines[at : at + 1] = draw(
            st.sampled_from(([], [lines[at]] * 2, [f"{lines[at].partition(' =')[0]} = {value}"]))
        )
    text = "\n".join(lines).encode()
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(st.binary(max_size=5)) + text[at + draw(st.integers(0, 60)) :]


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
