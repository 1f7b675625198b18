"""Judgements that are a choice among labels: how rubrics are loaded and rendered."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from conftest import refusal
from equipoise.judge.choice import load
from equipoise.judge.rubric import Scale

SCALE = Scale(low=0, high=1, levels={})
WANTED = {"even": ("first", "second"), "refusal": ("reply",)}
SMALL = '''\
version = "3"
[even]
system = """
Compare. Costs are in $$.
$options
"""
user = """
[one $code]
$first
[two $code]
$second
[end $code]
"""
[even.options]
A = "the first, worth $5"
B = "the second"
[refusal]
system = "Judge."
user = "$code|$reply|$options"
[refusal.options]
1 = "yes"
5 = "no"
'''
REFUSAL = SMALL[SMALL.index("[refusal]") :]


def small(folder: Path, old: str = "", new: str = "") -> Path:
    """A small valid rubric file, or one broken by replacing a piece of it."""
    assert old in SMALL
    path = folder / "small.toml"
    path.write_text(SMALL.replace(old, new, 1) if old else SMALL, encoding="utf-8")
    return path


LABEL = "a label must be letters or digits"


def test_a_hole_in_a_rubric_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The message begins with the file and names the key."""
    for old, new, says in (
        ('version = "3"\n', "", "version is missing"),
        ("[even]", "[odd]", "even.system is missing"),
        (REFUSAL, "", "refusal is missing"),
        ('[refusal.options]\n1 = "yes"\n5 = "no"\n', "", "refusal.options is missing"),
        ('1 = "yes"\n', "", "refusal.options needs at least two labels"),
        ('A = "the first', '"A B" = "the first', f"even.options.A B: {LABEL}"),
        ('A = "the first', '"(A)" = "the first', f"even.options.(A): {LABEL}"),
        ('A = "the first', '"" = "the first', f"even.options.: {LABEL}"),
        ('B = "the second"', "B = 2", f"even.options.B: {LABEL}, its meaning a text"),
        ('"Judge."', '"Judge $reply."', "refusal.system has an unknown placeholder $reply"),
        ("$code|$reply", "$code|$reply|$first", "refusal.user has an unknown placeholder $first"),
        ("$code|$reply", "$reply", "refusal.user needs the placeholder $code"),
        ("$code|$reply", "$code", "refusal.user needs the placeholder $reply"),
        (SMALL, 'version = "3"\neven = [1, 2]\n', "even must be a table"),
    ):
        with subtests.test(old=old):
            path = small(tmp_path, old, new)
            assert refusal(load, path, WANTED, SCALE).startswith(f"{path}: {says}")


def test_material_is_inserted_in_a_single_pass(tmp_path: Path) -> None:
    """Between coded markers, below a preface and the labels; what looks like a placeholder or brace stays."""
    path = small(tmp_path)
    rubric = load(path, WANTED, SCALE)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert (rubric.version, rubric.hash, rubric.scale) == ("3", digest, SCALE)
    hostile = "$second ${code} $code $$ {first} %s $options"
    instruction = "Compare. Costs are in $.\n(A) the first, worth $5\n(B) the second"
    for preface, text in (
        (None, instruction),
        ("Be brief, $options.", f"Be brief, $options.\n\n{instruction}"),
    ):
        assert rubric.prompts["even"].messages(
            code="7f3a", preface=preface, first=hostile, second="$first"
        ) == (
            {"role": "system", "content": text},
            {"role": "user", "content": f"[one 7f3a]\n{hostile}\n[two 7f3a]\n$first\n[end 7f3a]"},
        )
    refusal_prompt = rubric.prompts["refusal"].messages(code="c", reply="it")
    assert refusal_prompt[1]["content"] == "c|it|(1) yes\n(5) no"
