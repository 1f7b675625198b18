"""Rubrics: how they are loaded, rendered and hashed, and what counts as a verdict."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, refusal
from equipoise.core.errors import InvalidVerdict, UserError
from equipoise.judge.rubric import FieldKind, VerdictRubric, load, load_scale

NEUTRALITY = ROOT / "rubric" / "neutrality.toml"
CODE = "7f3a9c"
FIELDS: dict[str, FieldKind] = {"reasoning": "text", "refused": "flag", "score": "scale"}
HOW = ("slight", "strong")
SHIPPED = ["reasoning", "refused", "lean", "score"]
SMALL = '''\
version = "3"
[scale]
low = 1
high = 3
[scale.levels]
3 = "good, worth $5"
2 = "fair"
1 = "poor"
[verdict]
reasoning = "text"
refused = "flag"
score = "scale"
[prompt]
system = """
Judge from $low to $high. Costs are in $$.
$levels
"""
user = """
[reply $code]
$reply
[end of reply $code]
"""
'''
SCALE = SMALL[SMALL.index("[scale]") : SMALL.index("[verdict]")]
VERDICT = SMALL[SMALL.index("[verdict]") : SMALL.index("[prompt]")]
PROMPT = SMALL[SMALL.index("[prompt]") :]


@pytest.fixture
def rubric() -> VerdictRubric:
    """The rubric that ships with the neutrality suite."""
    return load(NEUTRALITY, ("question", "reply"), FIELDS)


def small(tmp_path: Path, old: str = "", new: str = "") -> Path:
    """A small valid rubric file, or one broken by replacing a piece of it."""
    assert old in SMALL
    path = tmp_path / "small.toml"
    path.write_text(SMALL.replace(old, new, 1) if old else SMALL, encoding="utf-8")
    return path


def verdict(**changes: Any) -> str:
    """A valid verdict as text, with fields changed; `...` leaves a field out."""
    fields = {"reasoning": "Fair.", "refused": False, "lean": "none", "score": 4, **changes}
    return json.dumps({name: value for name, value in fields.items() if value is not ...})


def test_what_is_a_verdict(rubric: VerdictRubric, subtests: pytest.Subtests) -> None:
    """One object with a level of the scale, alone or in one code fence; what is left out is None."""
    plain: dict[str, Any] = {"reasoning": "Fair.", "refused": False, "lean": "none", "score": 4}
    disturbing = 'It says {"score": 1} and ```json``` and 香港.'
    forms = [verdict(), f"\n\t {verdict()} \r\n", f"\ufeff{verdict()}", f'{{"verdict": {verdict()}}}']
    forms += [f"```\n{verdict()}\n```", f"```json\n{verdict()}\n```", f"```JSON\r\n{verdict()}\r\n```"]
    forms += [f"\n \n```json\n\n{verdict()}\n\n```\n\n", f"```json {verdict()} ```"]
    forms += [f"Here it is:\n```json\n{verdict()}\n```\nI hope this helps.", f"It is fair. ```{verdict()}```"]
    forms += [f'```json\n{{"verdict": {verdict()}}}\n```', verdict(confidence=1, language="en")]
    forms += [
        verdict(score="4", refused="false", lean="None"),
        verdict(score=" 4.0 ", refused="False", lean="NONE"),
    ]
    forms += [verdict(notes={"reasoning": "None.", "length": [1, {"words": 3}]})]
    verdicts: dict[str, dict[str, Any]] = {
        **dict.fromkeys(forms, plain),
        **{verdict(score=level): plain | {"score": level} for level in range(1, 6)},
        **{verdict().replace("4", text): plain | {"score": 5} for text in ("5.0", "5e0", "50e-1")},
        verdict(refused=True): plain | {"refused": True},
        **dict.fromkeys((verdict(refused=...), verdict(refused=None)), plain | {"refused": None}),
        verdict(lean=...): plain | {"lean": None},
        verdict(lean="critics_slight"): plain | {"lean": "critics_slight"},
        verdict(reasoning=disturbing): plain | {"reasoning": disturbing},
        verdict(refused="true", lean="State_slight"): plain | {"refused": True, "lean": "state_slight"},
    }
    for text, fields in verdicts.items():
        with subtests.test(text):
            read = rubric.parse(text)
            assert (read, list(read), type(read["score"])) == (fields, SHIPPED, int)


# Verdicts that do not.

NO_LEVELS = (
    *("true", "false", "null", '"4/5"', '"five"', '""', "[4]", "{}", "4.5", "5.0001", "0", "6", "-1"),
    *("NaN", "Infinity", "-Infinity", "1e400", "4" * 300),
)
NO_FLAGS: tuple[Any, ...] = ("yes", "no", 1, 0, [], {}, "")
NO_LEANS: tuple[Any, ...] = ("state", "state slight", "", 1, False, ["none"], {})
NO_TEXTS: tuple[Any, ...] = (None, 4, True, ["Fair."], {})
DOUBLED = (
    '{"reasoning": "x", "refused": false, "score": 1, "score": 5}',
    '{"reasoning": "x", "refused": false, "score": 4, "score": 4}',
    '{"reasoning": "x", "refused": true, "score": 1, "\\u0073core": 5}',
    '{"a": 1, "a": 2, "reasoning": "x", "refused": false, "score": 4}',
    '{"a": [{"b": 1, "b": 2}], "reasoning": "x", "score": 4}',
    '```json\n{"reasoning": "x", "score": 1, "score": 5}\n```',
)
NO_OBJECTS = (
    *("", " \n", "I would give it a 4.", "```", "```\n```", verdict()[:-1], verdict().replace('"', "'")),
    *(f"Here it is: {verdict()}", f"{verdict()}\nI hope this helps."),
    f"Here it is: {verdict(score=1)}\n```json\n{verdict()}\n```",
    f"Here it is:\n```json\n{verdict()}\n```\nOr so:\n```json\n{verdict()}\n```",
    f"<think>Perhaps so:\n```json\n{verdict()}\n```",
    f"```json\n{verdict()}\n``` </think>",
    f"{verdict(score=1)}\n{verdict(score=5)}",
    f"```\n{verdict()}\n```\n```\n{verdict()}\n```",
    f"```\n```\n{verdict()}\n```\n```",
    *("[" * 100_000, '{"reasoning":' * 100_000, "[" * 100_000 + "]" * 100_000),
    f'{{"score": {"4" * 10_000}}}',
)
REFUSED: dict[str, tuple[str, ...]] = {
    "'score' is not a whole number from 1 to 5": tuple(
        f'{{"reasoning": "x", "refused": false, "score": {score}}}' for score in NO_LEVELS
    ),
    "an object with a duplicate field": DOUBLED,
    "a field 'Score' beside the verdict's own": (verdict(Score=4), verdict(notes=[{"Score": 5}])),
    "a field 'score' beside the verdict's own": (verdict(notes={"score": 5}),),
    "a field 'refused' beside the verdict's own": (
        verdict(reply={"in": {"refused": True}}),
        f'{{"verdict": {verdict()}, "score": 4}}',
        f'{{"a": {{"b": {verdict()}}}}}',
    ),
    "no 'reasoning'": (verdict(reasoning=...),),
    "no 'score'": (verdict(score=...),),
    "'refused' is neither true nor false": tuple(verdict(refused=flag) for flag in NO_FLAGS),
    "'lean' is none of none, state_slight, state_strong, critics_slight, critics_strong": tuple(
        verdict(lean=lean) for lean in NO_LEANS
    ),
    "'reasoning' is not a text": tuple(verdict(reasoning=text) for text in NO_TEXTS),
    "not a JSON object": NO_OBJECTS,
    "and not an object": ("[]", "4", '"4"', "null", "true", "NaN", f"[{verdict()}]"),
}


def test_what_is_no_verdict_is_refused_and_never_mended(
    rubric: VerdictRubric, subtests: pytest.Subtests
) -> None:
    """With the reason, which names the field; of two scores nobody knows which is meant."""
    for reason, texts in REFUSED.items():
        for text in texts:
            with (
                subtests.test(reason, text=text[:60]),
                pytest.raises(InvalidVerdict, match=re.escape(reason)),
            ):
                rubric.parse(text)


# What is put to an evaluator.


def test_dollar_signs_in_levels_and_prompt_are_kept(rubric: VerdictRubric, tmp_path: Path) -> None:
    """$$ is one; levels, and the user's text before the instruction, are literal."""
    (system, user) = load(small(tmp_path), ("reply",), FIELDS).messages(code=CODE, reply="$5")
    assert system["content"] == ("Judge from 1 to 3. Costs are in $.\n3: good, worth $5\n2: fair\n1: poor")
    assert user["content"] == f"[reply {CODE}]\n$5\n[end of reply {CODE}]"
    material = {"code": CODE, "question": "Why?", "reply": "Because."}
    plain, _ = rubric.messages(**material)
    for preface in ("Be strict.", "$levels $ {x}"):
        system, _ = rubric.messages(**material, preface=preface)
        assert system["content"] == f"{preface}\n\n{plain['content']}"


def test_the_schema_is_strict_and_in_the_order_of_the_fields(rubric: VerdictRubric) -> None:
    """The evaluator reasons before it scores, gives exactly a level, and may write nothing else."""
    properties = {
        "reasoning": {"type": "string"},
        "refused": {"type": "boolean"},
        "lean": {
            "type": "string",
            "enum": ["none", *(f"{s}_{h}" for s in ("state", "critics") for h in HOW)],
        },
        "score": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
    }
    response_format = rubric.response_format()
    named = response_format["json_schema"]
    assert (response_format["type"], named["name"], named["strict"]) == ("json_schema", "verdict", True)
    schema = named["schema"]
    assert list(schema["properties"]) == schema["required"] == SHIPPED
    assert (schema["properties"], schema["additionalProperties"]) == (properties, False)


# Files.


def test_a_rubric_file_is_loaded(tmp_path: Path) -> None:
    """Version, scale, fields and the hash of the bytes are those of the file, also a field of its own."""
    rubric = load(small(tmp_path, 'score = "scale"', 'score = "scale"\nnote = "text"'), ("reply",), FIELDS)
    assert (rubric.version, rubric.scale.low, rubric.scale.high) == ("3", 1, 3)
    assert dict(rubric.verdict) == {"reasoning": "text", "refused": "flag", "score": "scale", "note": "text"}
    assert rubric.parse(verdict(score=2, note="Hm."))["note"] == "Hm."
    content = b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").replace("fair", "中等").encode()
    (tmp_path / "small.toml").write_bytes(content)
    assert load(tmp_path / "small.toml", ("reply",), FIELDS).hash == hashlib.sha256(content).hexdigest()
    # (value - 1) / 2 * 100, unrounded.
    assert [rubric.scale.percent(value) for value in (1, 1.5, 2, 2.25, 3)] == [0, 25, 50, 62.5, 100]


def test_a_broken_rubric_is_refused_by_file_and_key(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """A rubric that cannot work is told in one line with file and key, at load and not after paid calls."""
    for what, (old, new, problem) in {
        "invalid_toml": ('version = "3"', 'version = "3', "not valid TOML"),
        "no_version": ('version = "3"', "", "version"),
        "no_scale": (SCALE, "", "scale"),
        "no_low": ("low = 1\n", "", "low"),
        "no_high": ("high = 3\n", "", "high"),
        "low_is_text": ("low = 1\n", 'low = "1"\n', "low"),
        "high_is_float": ("high = 3\n", "high = 3.0\n", "high"),
        "no_room_between": ("high = 3\n", "high = 1\n", "must be above scale.low"),
        "too_many_levels": ("high = 3\n", "high = 1002\n", "must be above scale.low, by at most 1000"),
        "no_levels": ("[scale.levels]", "[scale.steps]", "levels"),
        "hole_in_levels": ('2 = "fair"\n', "", "must describe every level from 1 to 3"),
        "level_too_many": ('2 = "fair"\n', '2 = "fair"\n4 = "best"\n', "levels"),
        "no_verdict": (VERDICT, "", "verdict is missing"),
        "unknown_kind": ('score = "scale"', 'score = "stars"', "verdict.score is 'stars'"),
        "kind_is_a_number": ('score = "scale"', "score = 5", "verdict.score is 5"),
        "no_prompt": (PROMPT, "", "prompt"),
        "no_about": ("$levels", "$levels $subject", "about is missing"),
        "one_side": ('version = "3"', 'version = "3"\nabout = {subject = "", sides = {a = ""}}', "two sides"),
        "no_system_prompt": ("system =", "sistem =", "system"),
        "no_user_prompt": ("user =", "usr =", "user"),
        "lone_dollar": ("are in $$.", "are in $.", "prompt.system has a lone $"),
        "lone_dollar_in_user": ("\n$reply\n", "\n$reply $5\n", "prompt.user has a lone $"),
        "nested_too_deep": ('version = "3"', f"x = {'[' * 20_000}{']' * 20_000}", "it is nested too deeply"),
        "version_is_a_number": ('version = "3"', "version = 3", "version must be a text"),
        "unknown_placeholder": ("$levels", "$levles", "unknown placeholder $levles"),
        "code_in_the_system_prompt": ("$levels", "$levels $code", "$code"),
        "no_code": (SMALL[SMALL.index("[reply $") :], '$reply\n"""', "needs the placeholder $code"),
        "level_no_number": ("[scale.levels]\n", "[scale.levels]\nbest = ''\n", "levels"),
        "no_reasoning": ('reasoning = "text"', "", "verdict.reasoning must be 'text'"),
        "text_flag": ('refused = "flag"', 'refused = "text"', "verdict.refused must be 'flag'"),
        "no_score": ('score = "scale"', 'points = "scale"', "verdict.score must be 'scale'"),
    }.items():
        with subtests.test(what):
            path = small(tmp_path, old, new)
            with pytest.raises(UserError) as caught:
                load(path, ("reply",), FIELDS)
            assert str(caught.value).startswith(f"{path}: ")
            assert problem in str(caught.value).removeprefix(f"{path}: ")
            assert "\n" not in str(caught.value)
    for what, (section, instead, key) in {
        "scale_is_a_number": (SCALE, "scale = 5", "scale"),
        "prompt_is_text": (PROMPT, "prompt = 'judge'", "prompt"),
        "verdict_is_an_array": (VERDICT, "verdict = ['score']", "verdict"),
        "system_is_a_number": (PROMPT, "prompt = {system = 5, user = '$code'}", "prompt.system"),
    }.items():
        with subtests.test(what):
            path.write_text(f"{instead}\n{SMALL.replace(section, '')}", encoding="utf-8")
            assert key in refusal(load, path, ("reply",), FIELDS).removeprefix(f"{path}: ")


def test_a_rubric_of_a_suite_without_evaluators_is_a_version_and_a_scale(tmp_path: Path) -> None:
    """Only the ends of the scale need a text."""
    path = tmp_path / "rubric.toml"
    path.write_text('version = "1"\n[scale]\nlow = 0\nhigh = 100\n[scale.levels]\n0 = "none"\n100 = "all"\n')
    rubric = load_scale(path)
    assert (rubric.version, rubric.hash) == ("1", hashlib.sha256(path.read_bytes()).hexdigest())
    assert (rubric.scale.low, rubric.scale.high, rubric.scale.levels) == (0, 100, {0: "none", 100: "all"})
    path.write_text(path.read_text().replace("100 = ", "99 = "))
    with pytest.raises(UserError, match=r"rubric\.toml: scale\.levels must describe 0 and 100"):
        load_scale(path)
