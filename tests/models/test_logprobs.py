"""Labels that are read from token probabilities and from texts."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from equipoise.core.types import Token
from equipoise.models.logprobs import (
    ImpossibleProbabilities,
    ending_likelihood,
    label_in_text,
    label_parameters,
    label_probabilities,
    label_room,
)

ABC = {"A": "the first", "B": "the second", "C": "the third"}


def token(text: str, **shares: float) -> Token:
    """A token whose rivals are given by probability; `top` of the text itself comes first where named."""
    return place(text, shares)


def place(text: str, shares: Mapping[str, float]) -> Token:
    """A token with the probabilities of the likeliest ones in its place."""
    return Token(text=text, top={name: math.log(share) for name, share in shares.items()})


def test_a_label_is_asked_for_with_more_room_each_time_and_then_by_a_schema() -> None:
    """Never with more than the user allows."""
    requests = [label_parameters(300, ABC, failed) for failed in range(3)]
    assert [parameters["max_tokens"] for parameters in requests] == [16, 128, 300]
    assert ["response_format" in parameters for parameters in requests] == [False, False, True]
    assert label_parameters(None, ABC, 2)["max_tokens"] == 1024
    assert (label_room(None), label_room(300)) == (8192, 300)


def test_labels_have_the_probabilities_of_the_first_place(subtests: pytest.Subtests) -> None:
    """Summed over spellings, in the order of the labels, whatever the rest of the probability went to."""
    for what, drawn, shares, expected in (
        ("as they went in", "C", {"C": 0.7, "A": 0.2, "B": 0.1}, {"A": 0.2, "B": 0.1, "C": 0.7}),
        (
            "four spellings and two",
            "C",
            {"C": 0.4, " C": 0.2, "(C": 0.1, "c": 0.05, "A": 0.1, "A)": 0.05, "The": 0.1},
            {"A": 0.15, "B": 0, "C": 0.75},
        ),
        ("drawn, though unlikely", "C", {"C": 0.25, "The": 0.5, "A": 0.05}, {"A": 0.05, "B": 0, "C": 0.25}),
        ("likely, though not drawn", "The", {"C": 0.4, "A": 0.11, "The": 0.3}, {"A": 0.11, "B": 0, "C": 0.4}),
        ("45 is neither 4 nor 5", "4", {"4": 0.5, "5": 0.3, "45": 0.1}, {"4": 0.5, "5": 0.3}),
    ):
        with subtests.test(what):
            by_label = label_probabilities([place(drawn, shares)], dict.fromkeys(expected, "")) or {}
            assert by_label == pytest.approx(expected, abs=1e-12)
            assert [*by_label] == [*expected]


def test_no_label_is_more_than_certain() -> None:
    """Endpoints have been seen to say logarithms a little above zero."""
    certain = Token(text="A", top={"A": 1e-6, "B": -20.0})
    assert math.fsum((label_probabilities([certain], ABC) or {}).values()) <= 1 + 1e-8


def test_what_may_stand_before_a_label_is_passed_over(subtests: pytest.Subtests) -> None:
    """The label's own place is read, not that of the parenthesis, blanks, quotes or stars before it."""
    alone = ["(", " (", "**|(", '"', "'(", "[", "((", "", "（", "【", " “", " |(", "\n|\n|("]
    phrases = ["Answer|:| (", "Option| ", "The| correct| answer| is| **", "A|nswer|："]
    for before in (text.split("|") for text in alone + phrases):
        with subtests.test(before=before):
            opening = [place(text, {text or "x": 0.9, "C": 0.1}) for text in before]
            probabilities = label_probabilities(
                [*opening, token("B", B=0.6, C=0.4), token(")", A=0.9, B=0.05)], ABC
            )
            assert probabilities == pytest.approx({"A": 0, "B": 0.6, "C": 0.4}, abs=1e-12)


def test_probabilities_that_sum_to_more_than_one_are_none(subtests: pytest.Subtests) -> None:
    """Of all tokens in the label's place, whether they are labels or not; 1 % more is rounding."""
    for shares in ({"A": 1.0, " A": 1.0}, {"A": 0.6, "B": 0.6}, {"A": 0.5, "The": 0.52}):
        why = r"^token prob.* more than"
        with subtests.test(shares=shares), pytest.raises(ImpossibleProbabilities, match=why):
            label_probabilities([place("A", shares)], ABC)
    assert label_probabilities([place("A", {"A": 0.7, "B": 0.308})], ABC) is not None
    # Also in a place before it, in which a label might stand.
    tokens = [place("(", {"(": 1.0, "A": 1.0}), place("A", {"A": 0.7, "B": 0.3})]
    with pytest.raises(ImpossibleProbabilities):
        label_probabilities(tokens, ABC, least=0.9)


def test_tokens_that_do_not_tell(subtests: pytest.Subtests) -> None:
    """None, so that the text is read instead: no place has a label that can be weighed against another."""
    for what, tokens in {
        "nothing": [],
        "a_word_first": [token("The", The=0.9, C=0.05), token("C", C=0.9, A=0.1)],
        "labels_cover_no_more_than_half": [token("The", The=0.5, C=0.25, A=0.25)],
        "one_token_only": [token("C", C=0.9)],
        "no_rivals_at_all": [token("C")],
        "an_opening_and_no_more": [place("(", {"(": 0.9, "C": 0.1})],
        "thinking": [place("<think>", {"<think>": 0.9, "C": 0.1}), token("C", C=0.9, A=0.1)],
    }.items():
        with subtests.test(what):
            assert label_probabilities(tokens, ABC) is None


# Labels from text.

MEANINGS = {
    "A": "The model was more willing to help in dialogue 1.",
    "B": "The model was more willing to help in dialogue 2.",
    "C": "The model helped in the same way in both.",
}
LABELS = """
C|c|C)|(C)|（C）|［C］|Ｃ|**(C)**|"C"|[C]|C.|C。|`C`|( C )|Answer: (C)|Answer: C|The answer is (c).|Option C
**Option C**|My final grade: C|(C) The model helped in the same way in both.|C: the model helped in the
C) The model|【C】|“C”|「C」|Answer：（C）|{"label": "C"}|{ "label" : "c" }
答案：C|答案: （C）|C（The model helped）|(C) The model helped.|C (the model helped in the same way in both).
"""
NO_LABELS = """
|()|(D)|(AB)|Apples|香港|CORRECT|INCORRECT|NOT_ATTEMPTED|Correct|A/B|B: because|Cats are (B)|A: no. B: yes.
As an AI language model, I cannot assess this.|A careful reader sees no difference.|A fair comparison: (C)
A（两者一样）|答案：A和C|答案：|不是：C
(A) and not (B)|Either (A) or (B)|(C) because (A) does not fit|I would not say (C)|选 A，不选 B|C，因为没作答
"""


def test_the_label_in_a_text(subtests: pytest.Subtests) -> None:
    """Alone in whatever dress, announced, or as its option was listed: nothing else is read as a label."""
    above = ("C\nBoth were helped.", "(C)\n\nBoth were helped.", "**C**\nBoth.", "答案：C\n两者一样。")
    for text in [*LABELS.strip().replace("\n", "|").split("|"), "\n (C)\n", *above]:
        with subtests.test(text):
            assert label_in_text(text, MEANINGS) == "C"
    below = ("A\nB", "C\nOr rather A", "(C)\nThe reply says (A)", "A\nfair comparison", "C\n</think>(A)")
    for text in [*NO_LABELS.strip().replace("\n", "|").split("|"), *below]:
        with subtests.test(text):
            assert label_in_text(text, MEANINGS) is None


def test_the_level_in_a_text(subtests: pytest.Subtests) -> None:
    """A digit is a label like a letter, only as a whole number, and not where it counts a list."""
    levels = {str(level): f"It does {level} things." for level in range(1, 6)}
    read = {"4\nIt does much.": "4", "(2)\nIt declines.": "2", "4": "4", "(5)": "5", "（4）": "4", "4.": "4"}
    read |= {"Level: (3)": "3", "1. It does 1 thing": "1"}
    none = ["45", "(12)", "6", "4.5", "1. The reply does what was asked.", "4\nIt does 3 things."]
    none += ["4 of the 5 things are there, so (2)"]
    for text, label in {**read, **dict.fromkeys(none)}.items():
        with subtests.test(text):
            assert label_in_text(text, levels) == label


def test_probabilities_of_a_word_are_no_labels(subtests: pytest.Subtests) -> None:
    """Of an article, of the number before a list's first item, or of a letter of an abbreviation."""
    labels: dict[str, tuple[str, ...]] = {"A": ("A",), "(A)": ("(", "A", ")"), "A\n": ("A", "\n")}
    labels |= {"A) The": ("A", ")", " The")}
    labels |= {"（A）": ("（", "A", "）"), "Ａ）": ("Ａ", "）"), "Answer: A": ("Answer", ":", " A")}
    words: dict[str, tuple[str, ...]] = {
        "A careful": ("A", " careful", " reader"),
        "A.I.": ("A", ".I", "."),
        "A: no": ("A", ":", " no"),
    }
    words |= {"Answer: A careful": ("Answer", ":", " A", " careful"), "Answers": ("Answers", " A")}
    for name, texts in {**labels, **words}.items():
        with subtests.test(name):
            tokens = [place(text, {text: 0.5, "A": 0.25, "C": 0.2}) for text in texts]
            assert (label_probabilities(tokens, MEANINGS) is not None) == (name in labels)
    with subtests.test("a list"):
        tokens = [token(text, A=0.1) for text in ("1", ".", " The", " reply")]
        assert label_probabilities(tokens, {"1": "It does it.", "2": "It does not."}) is None


# Endings of a text, by the probabilities of its tokens.


def written(text: str, likelihood: float | None = -1.0) -> Token:
    """A token of a text that was given back, with its logarithm."""
    return Token(text=text, top={} if likelihood is None else {text: likelihood})


ASKED = (written("Whose", None), written(" rock"), written("?"), written(" Answer"), written(":"))


def test_the_likelihood_of_an_ending(subtests: pytest.Subtests) -> None:
    """The sum over the tokens behind the last colon, what the model has added aside."""
    for tokens, ending, added, expected in (
        ((*ASKED, written(" Ch", -0.5), written("ad", -0.25), written(".")), "Chad", 1, -0.75),
        ((*ASKED, written(" Chad", -0.5), written(" is"), written(" so")), "Chad", 2, -0.5),
        ((*ASKED, written(" Chad", -0.5)), "Chad", 0, -0.5),
        # An end of the text that is no token, though it was counted.
        ((*ASKED, written(" Chad", -0.5)), "Chad", 1, -0.5),
        # Parts of characters: where the ending ends only the count tells.
        ((*ASKED, written("\ufffd", -2.0), written("\ufffd", -3.0), written(".")), "\u4e2d", 1, -5.0),
        ((written("Is it A) Chad: or"), *ASKED, written(" Mali", -3.0), written(" x")), "Mali", 1, -3.0),
        ((*ASKED, written(" Chad", None), written(" x")), "Chad", 1, None),
        ((*ASKED, written(" Ch", -0.5), written("ad", None), written(".")), "Chad", 1, None),
        (ASKED, "Chad", 1, None),
        ((written("Chad"),), "Chad", 0, None),
        ((), "Chad", 1, None),
    ):
        with subtests.test(tokens=tokens, ending=ending):
            assert ending_likelihood(tokens, ending, added) == expected
