"""Judgements that are a choice among labels: how rubrics are loaded and rendered."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from equipoise.core.errors import UserError
from equipoise.judge.choice import ChoiceRubric, load
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


def complaint(path: Path) -> str:
    """The message with which a rubric is refused, which is one line."""
    with pytest.raises(UserError) as caught:
        load(path, WANTED, SCALE)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# Loading.


def test_a_rubric_holds_its_questions_by_name(tmp_path: Path) -> None:
    """Version, hash of the bytes, the scale that the suite gives, each question with its labels."""
    path = small(tmp_path)
    rubric = load(path, WANTED, SCALE)
    assert isinstance(rubric, ChoiceRubric)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert (rubric.version, rubric.hash, rubric.scale) == ("3", digest, SCALE)
    assert {name: dict(prompt.options) for name, prompt in rubric.prompts.items()} == {
        "even": {"A": "the first, worth $5", "B": "the second"},
        "refusal": {"1": "yes", "5": "no"},
    }


LABEL = "a label must be letters or digits"


def test_a_hole_in_a_rubric_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """One line that begins with the file and names the key; what every rubric has is read as elsewhere."""
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
            assert complaint(path).startswith(f"{path}: {says}")


# Rendering.


def rendered(folder: Path, preface: str | None = None, **material: str) -> tuple[str, str]:
    """System and user message of the comparison in the small rubric."""
    quoted = {"first": "one", "second": "two", **material}
    prompt = load(small(folder), WANTED, SCALE).prompts["even"]
    system, user = prompt.messages(code="7f3a", preface=preface, **quoted)
    assert (system["role"], user["role"]) == ("system", "user")
    return system["content"], user["content"]


def test_material_is_inserted_in_a_single_pass(tmp_path: Path) -> None:
    """Between coded markers, below a preface and the labels; what looks like a placeholder or brace stays."""
    hostile = "$second ${code} $code $$ {first} %s $options"
    system, user = rendered(tmp_path, "Be brief, $options.", first=hostile, second="$first")
    assert system == (
        "Be brief, $options.\n\nCompare. Costs are in $.\n(A) the first, worth $5\n(B) the second"
    )
    assert user == f"[one 7f3a]\n{hostile}\n[two 7f3a]\n$first\n[end 7f3a]"
    assert not rendered(tmp_path)[0].startswith("Be brief")
    refusal = load(small(tmp_path), WANTED, SCALE).prompts["refusal"]
    assert refusal.messages(code="c", reply="it")[1]["content"] == "c|it|(1) yes\n(5) no"
