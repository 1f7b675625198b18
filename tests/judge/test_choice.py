"""Judgements that are a choice among labels: how rubrics are loaded and rendered."""

from __future__ import annotations

import hashlib
from pathlib import Path
from string import Template

import pytest

from equipoise.core.errors import UserError
from equipoise.judge.choice import ChoicePrompt, ChoiceRubric, load
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
    found = load(path, WANTED, SCALE)
    assert isinstance(found, ChoiceRubric)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert (found.version, found.hash, found.scale) == ("3", digest, SCALE)
    assert {name: dict(prompt.options) for name, prompt in found.prompts.items()} == {
        "even": {"A": "the first, worth $5", "B": "the second"},
        "refusal": {"1": "yes", "5": "no"},
    }


def test_a_hole_in_a_rubric_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """One line that begins with the file and names the key."""
    for old, new, says in (
        ('version = "3"\n', "", "version is missing"),
        ('version = "3"', "version = 3", "version must be a text"),
        ("[even]", "[odd]", "even.system is missing"),
        (REFUSAL, "", "refusal is missing"),
        ('version = "3"\n', 'version = "3"\nrefusal = "no"\n', "not valid TOML"),
        ('[refusal.options]\n1 = "yes"\n5 = "no"\n', "", "refusal.options is missing"),
        ('1 = "yes"\n', "", "refusal.options needs at least two labels"),
        ('A = "the first', '"A B" = "the first', "even.options.A B: a label must be letters or digits"),
        ('A = "the first', '"(A)" = "the first', "even.options.(A): a label must be letters or digits"),
        ('A = "the first', '"" = "the first', "even.options.: a label must be letters or digits"),
        (
            'B = "the second"',
            "B = 2",
            "even.options.B: a label must be letters or digits, its meaning a text",
        ),
        ('system = "Judge."\n', "", "refusal.system is missing"),
        ('system = "Judge."', "system = 1", "refusal.system must be a text"),
        ('user = "$code|$reply|$options"\n', "", "refusal.user is missing"),
        ('"Judge."', '"Judge $reply."', "refusal.system has an unknown placeholder $reply"),
        ("$code|$reply", "$code|$reply|$first", "refusal.user has an unknown placeholder $first"),
        ("$code|$reply", "$reply", "refusal.user needs the placeholder $code"),
        ("$code|$reply", "$code", "refusal.user needs the placeholder $reply"),
        ("in $$.", "in $ .", "even.system has a lone $; write $$ for a dollar sign"),
        ("[two $code]", "[two $ code]", "even.user has a lone $; write $$ for a dollar sign"),
        ("[even]", "[even", "not valid TOML"),
    ):
        with subtests.test(old=old):
            path = small(tmp_path, old, new)
            assert complaint(path).startswith(f"{path}: {says}")
    for text, says in (
        *(
            (f'version = "3"\neven = {value}\n', "even must be a table")
            for value in ('"no"', "[1, 2]", "true")
        ),
        (f"x = {'[' * 20_000}{']' * 20_000}", "not valid TOML: it is nested too deeply"),
    ):
        path.write_text(text, encoding="utf-8")
        assert complaint(path) == f"{path}: {says}"


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


def test_the_user_message_may_list_the_options_too() -> None:
    """Where the template asks for them they stand there as well."""
    prompt = ChoicePrompt(
        options={"1": "yes", "2": "no"}, system=Template("Judge."), user=Template("$x $code\n$options")
    )
    assert prompt.messages(code="c", x="it")[1]["content"] == "it c\n(1) yes\n(2) no"
