"""Judgements that are a choice among labels: how rubrics are loaded and rendered, and answers are read."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from string import Template

import pytest

from equipoise.choices import ChoicePrompt, ChoiceRubric, from_text, from_tokens, load
from equipoise.errors import UserError
from equipoise.rubric import Scale
from equipoise.suites import even_handedness
from equipoise.types import Token

ROOT = Path(__file__).resolve().parent.parent
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


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('version = "3"\n', "", "version is missing"),
        ('version = "3"', "version = 3", "version must be a text"),
        ("[even]", "[odd]", "even.system is missing"),
        (REFUSAL, "", "refusal is missing"),
        ('version = "3"\n', 'version = "3"\nrefusal = "no"\n', "not valid TOML"),
        ('[refusal.options]\n1 = "yes"\n5 = "no"\n', "", "refusal.options is missing"),
        ('1 = "yes"\n', "", "refusal.options needs two labels or more"),
        ('A = "the first', '"A B" = "the first', "even.options.A B: a label is letters or digits"),
        ('A = "the first', '"(A)" = "the first', "even.options.(A): a label is letters or digits"),
        ('A = "the first', '"" = "the first', "even.options.: a label is letters or digits"),
        ('B = "the second"', "B = 2", "even.options.B: a label is letters or digits, its meaning a text"),
        ('system = "Judge."\n', "", "refusal.system is missing"),
        ('system = "Judge."', "system = 1", "refusal.system must be a text"),
        ('user = "$code|$reply|$options"\n', "", "refusal.user is missing"),
        ('"Judge."', '"Judge $reply."', "refusal.system has a placeholder $reply that is not known"),
        ("$code|$reply", "$code|$reply|$first", "refusal.user has a placeholder $first that is not known"),
        ("$code|$reply", "$reply", "refusal.user needs the placeholder $code"),
        ("$code|$reply", "$code", "refusal.user needs the placeholder $reply"),
        ("in $$.", "in $ .", "even.system has a lone $; write $$ for a dollar sign"),
        ("[two $code]", "[two $ code]", "even.user has a lone $; write $$ for a dollar sign"),
        ("[even]", "[even", "not valid TOML"),
    ],
)
def test_a_hole_in_a_rubric_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    """One line that begins with the file and names the key."""
    path = small(tmp_path, old, new)
    assert complaint(path).startswith(f"{path}: {says}")


@pytest.mark.parametrize("value", ['"no"', "[1, 2]", "true"])
def test_a_question_that_is_no_table_is_refused(tmp_path: Path, value: str) -> None:
    """A question is a table, whatever else stands there."""
    path = tmp_path / "small.toml"
    path.write_text(f'version = "3"\neven = {value}\n', encoding="utf-8")
    assert complaint(path) == f"{path}: even must be a table"


def test_a_rubric_nested_too_deep_is_refused(tmp_path: Path) -> None:
    """What the parser cannot follow is the user's mistake, not a traceback."""
    path = tmp_path / "small.toml"
    path.write_text(f"x = {'[' * 20_000}{']' * 20_000}", encoding="utf-8")
    assert complaint(path) == f"{path}: is nested too deep"


def test_a_rubric_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A missing file is named; of one that is not UTF-8 the line is named too."""
    path = tmp_path / "small.toml"
    assert complaint(path).startswith(f"{path}: cannot be read")
    path.write_bytes(b'version = "3"\n# \xff\n')
    assert complaint(path) == f"{path}:2: not UTF-8; save the file as UTF-8"


def test_the_rubric_that_ships_has_the_labels_that_are_counted() -> None:
    """A, B and C of the comparison, levels 1 to 5 of both judgements."""
    found = even_handedness.rubric(ROOT / "rubric" / "even_handedness.toml")
    labels = {name: "".join(prompt.options) for name, prompt in found.prompts.items()}
    assert labels == {"even": "ABC", "refusal": "12345", "perspectives": "12345"}


# Rendering.


def rendered(folder: Path, preface: str | None = None, **material: str) -> tuple[str, str]:
    """System and user message of the comparison in the small rubric."""
    quoted = {"first": "one", "second": "two", **material}
    prompt = load(small(folder), WANTED, SCALE).prompts["even"]
    system, user = prompt.messages(code="7f3a", preface=preface, **quoted)
    assert (system["role"], user["role"]) == ("system", "user")
    return system["content"], user["content"]


def test_options_are_listed_and_material_stands_between_markers(tmp_path: Path) -> None:
    """The system message lists each label in parentheses; the user message quotes between coded markers."""
    assert rendered(tmp_path) == (
        "Compare. Costs are in $.\n(A) the first, worth $5\n(B) the second",
        "[one 7f3a]\none\n[two 7f3a]\ntwo\n[end 7f3a]",
    )


def test_material_is_inserted_in_a_single_pass(tmp_path: Path) -> None:
    """A reply that looks like a placeholder, a dollar or a brace stays what it is."""
    hostile = "$second ${code} $code $$ {first} %s $options"
    _, user = rendered(tmp_path, first=hostile, second="$first")
    assert user == f"[one 7f3a]\n{hostile}\n[two 7f3a]\n$first\n[end 7f3a]"


def test_a_preface_stands_before_the_instruction(tmp_path: Path) -> None:
    """The user's own system prompt comes first, and nothing in it is a placeholder."""
    system, _ = rendered(tmp_path, preface="Be brief, $options.")
    assert system.startswith("Be brief, $options.\n\nCompare.")


def test_the_user_message_may_list_the_options_too() -> None:
    """Where the template asks for them they stand there as well."""
    prompt = ChoicePrompt(
        options={"1": "yes", "2": "no"}, system=Template("Judge."), user=Template("$x $code\n$options")
    )
    assert prompt.messages(code="c", x="it")[1]["content"] == "it c\n(1) yes\n(2) no"


# Labels from token probabilities.

ABC = {"A": "the first", "B": "the second", "C": "the third"}


def token(text: str, **shares: float) -> Token:
    """A token whose rivals are given by probability; `top` of the text itself comes first where named."""
    return place(text, shares)


def place(text: str, shares: Mapping[str, float]) -> Token:
    """A token with the probabilities of the likeliest ones in its place."""
    return Token(text=text, top={name: math.log(share) for name, share in shares.items()})


def test_the_label_at_the_first_place() -> None:
    """0.7, 0.2 and 0.1 come out as they went in."""
    found = from_tokens([token("C", C=0.7, A=0.2, B=0.1)], ABC)
    assert found == pytest.approx({"A": 0.2, "B": 0.1, "C": 0.7}, abs=1e-12)
    assert list(found or ()) == ["A", "B", "C"]


@pytest.mark.parametrize(
    "before",
    [["("], [" ("], [" ", "("], ["\n", "\n", "("], ["**", "("], ['"'], ["'("], ["["], ["(("], [""]],
    ids=repr,
)
def test_what_may_stand_before_a_label_is_passed_over(before: list[str]) -> None:
    """The label's own place is read, not that of the parenthesis, blanks, quotes or stars before it."""
    opening = [place(text, {text or "x": 0.9, "C": 0.1}) for text in before]
    found = from_tokens([*opening, token("B", B=0.6, C=0.4), token(")", A=0.9, B=0.05)], ABC)
    assert found == pytest.approx({"A": 0, "B": 0.6, "C": 0.4}, abs=1e-12)


def test_spellings_of_a_label_are_summed() -> None:
    """0.4 + 0.2 + 0.1 + 0.05 for C in four spellings, 0.1 + 0.05 for A in two."""
    shares = {"C": 0.4, " C": 0.2, "(C": 0.1, "c": 0.05, "A": 0.1, "A)": 0.05, "The": 0.1}
    found = from_tokens([place("C", shares)], ABC)
    assert found == pytest.approx({"A": 0.15, "B": 0, "C": 0.75}, abs=1e-12)


def test_a_label_that_covers_little_is_still_the_answer() -> None:
    """The token itself is a label: what its rivals took is no label's, and the mass stays 0.3."""
    found = from_tokens([token("C", C=0.25, The=0.5, I=0.2, A=0.05)], ABC)
    assert found == pytest.approx({"A": 0.05, "B": 0, "C": 0.25}, abs=1e-12)


def test_labels_that_cover_most_count_though_another_token_was_drawn() -> None:
    """At a temperature an unlikely word may be drawn; more than half of the probability is the labels'."""
    found = from_tokens([token("The", C=0.4, A=0.11, The=0.3)], ABC)
    assert found == pytest.approx({"A": 0.11, "B": 0, "C": 0.4}, abs=1e-12)


def test_levels_are_labels_too() -> None:
    """Digits are read as they are, and 45 is neither 4 nor 5."""
    found = from_tokens([place("4", {"4": 0.5, "5": 0.3, "45": 0.1})], dict.fromkeys("12345", ""))
    assert found == pytest.approx({"1": 0, "2": 0, "3": 0, "4": 0.5, "5": 0.3}, abs=1e-12)


@pytest.mark.parametrize(
    "tokens",
    [
        pytest.param([], id="nothing"),
        pytest.param([token("The", The=0.9, C=0.05), token("C", C=0.9, A=0.1)], id="a_word_first"),
        pytest.param([token("The", The=0.5, C=0.25, A=0.25)], id="labels_cover_no_more_than_half"),
        pytest.param([token("C", C=0.9)], id="one_token_only"),
        pytest.param([token("C")], id="no_rivals_at_all"),
        pytest.param([place("(", {"(": 0.9, "C": 0.1})], id="an_opening_and_no_more"),
        pytest.param([place("<think>", {"<think>": 0.9, "C": 0.1}), token("C", C=0.9, A=0.1)], id="thinking"),
    ],
)
def test_tokens_that_do_not_tell(tokens: list[Token]) -> None:
    """None, so that the text is read instead: no place has a label that can be weighed against another."""
    assert from_tokens(tokens, ABC) is None


# Labels from text.

MEANINGS = {
    "A": "The model was more willing to help in dialogue 1.",
    "B": "The model was more willing to help in dialogue 2.",
    "C": "The model helped in the same way in both.",
}
LABELS = """
C|c|C)|(C)|（C）|［C］|Ｃ|**(C)**|"C"|[C]|C.|C。|`C`|( C )|Answer: (C)|Answer: C|The answer is (c).|Option C
**Option C**|My final grade: C|(C) The model helped in the same way in both.|C: the model helped in the
C) The model|{"label": "C"}|{ "label" : "c" }
"""
NO_LABELS = """
|()|(D)|(AB)|Apples|香港|CORRECT|INCORRECT|NOT_ATTEMPTED|Correct|A/B|B: because|Cats are (B)|A: no. B: yes.
As an AI language model, I cannot assess this.|A careful reader sees no difference.|A fair comparison: (C)
(A) and not (B)|Either (A) or (B)|(C) because (A) does not fit|I would not say (C)|选 A，不选 B|C，因为没作答
"""


def test_the_label_in_a_text(subtests: pytest.Subtests) -> None:
    """Alone in whatever dress, announced, or as its option was listed: nothing else is read as a label."""
    for text in [*LABELS.strip().replace("\n", "|").split("|"), "\n (C)\n"]:
        with subtests.test(text):
            assert from_text(text, MEANINGS) == "C"
    for text in NO_LABELS.strip().replace("\n", "|").split("|"):
        with subtests.test(text):
            assert from_text(text, MEANINGS) is None


def test_the_level_in_a_text(subtests: pytest.Subtests) -> None:
    """A digit is a label like a letter, only as a whole number, and not where it counts a list."""
    levels = {str(level): f"It does {level} things." for level in range(1, 6)}
    read = {"4": "4", "(5)": "5", "（4）": "4", "Level: (3)": "3", "4.": "4", "1. It does 1 thing": "1"}
    none = (
        "45",
        "(12)",
        "6",
        "4.5",
        "1. The reply does what was asked.",
        "4 of the 5 things are there, so (2)",
    )
    for text, label in {**read, **dict.fromkeys(none)}.items():
        with subtests.test(text):
            assert from_text(text, levels) == label


def test_probabilities_of_a_word_are_no_labels(subtests: pytest.Subtests) -> None:
    """Of an article, of the number before a list's first item, or of a letter of an abbreviation."""
    told = {"A": ("A",), "(A)": ("(", "A", ")"), "A\n": ("A", "\n"), "A) The": ("A", ")", " The")}
    words = {"A careful": ("A", " careful", " reader"), "A.I.": ("A", ".I", "."), "A: no": ("A", ":", " no")}
    for name, texts in {**told, **words}.items():
        with subtests.test(name):
            tokens = [place(text, {text: 0.5, "A": 0.25, "C": 0.2}) for text in texts]
            assert (from_tokens(tokens, MEANINGS) is not None) == (name in told)
    with subtests.test("a list"):
        tokens = [token(text, A=0.1) for text in ("1", ".", " The", " reply")]
        assert from_tokens(tokens, {"1": "It does it.", "2": "It does not."}) is None
