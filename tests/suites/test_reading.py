"""What a reply answers with certainty: a letter, an option or a number that stands alone."""

from __future__ import annotations

import pytest
import replies

from conftest import ROOT
from equipoise.suites.reading import (
    HEAD,
    TAIL,
    Reading,
    answer_text,
    read_letter,
    read_number,
    read_option,
    without_cut_number,
)

OPTIONS = ("Mostly unfair", "Entirely fair", "As fair as it is unfair", "Entirely unfair", "Mostly fair")
MARKERS = ("Answer", "Final answer", "答案：", "Ответ", "الإجابة")
QUESTION = "There are 3 boats, on course for 11 minutes. Answer with a number from 0 to 100, 0 for none."
NUMBERS: dict[float, tuple[str, ...]] = {
    0: ("0", "0 %", "**0**"),
    1: ("1",),
    60: ("First I thought of 40.\n\nFinal answer: 60",),
    70: (
        # Alone, in any marks and digits.
        *("70", "70.", " 70\n", "70%", "70 %", "%70", "70/100", "70 out of 100", "(70)", "“70”", "70。"),
        *("**70**", "`70`", "$70$", "# 70", "- 70", "~70", "\\boxed{70}", "```\n70\n```", "\u200f70\u200f"),
        *("７０", "٧٠", "७०", "۷۰٪", "٧٠۔", "70\n\nAs I said, 70."),
        # On a line of its own, behind a marker or in a box.
        *("Answer: 70", "**Answer:** 70", "FINAL ANSWER: **70**", "> Answer: 70.", "答案：70", "Ответ: 70"),
        *("الإجابة: ٧٠", "70\n\nThe radar shows it.", "The radar shows it.\n\n70", "It is:\n\n**70**"),
        *("It turned.\n\n$$\\boxed{70}$$", "1. The radar.\n2. The film.\n\n70.", "So \\boxed{70} it is."),
        # Beside numbers of the question, and others with which no sentence ends.
        *("70\n\nIt turned after 11.", "70\n\nIt turned within 30 seconds.", "70\n\nA 10% doubt is left."),
    ),
    72: ("70?\n\n72",),
    72.5: ("72.5", "72,5", "٧٢٫٥"),
}
NO_NUMBERS = (
    # In a sentence, in words, or as something else.
    *("", "\n", "A", "**", "Answer:", "\\boxed{}", "I would say 70.", "Seventy", "70 points", "60-70"),
    *("150", "-20", "–20", "Answer: -20", "0.7", ".75", "1.0", ">90", "< 10", "+5", "90+", "70,000", "70?"),
    *("Answer: 70 or 80", "Answer - 70", "Russia: 85%", "The one side bears **85%**", "It bears **85** %."),
    *("So it is **70**.", "It is not **70**.", "70:\n\nThe radar shows it.", "**70:**\n\nIt turned."),
    *("**11** minutes", "There were **3**.", "There are **2** reasons.", "**70** or so", "85% | 15%"),
    # Several, or one that is not the last.
    *("70\n20", "Answer: 70\nAnswer: 20", "**70** or **20**", "70\n\n\\boxed{20}", "~~60~~\n75"),
    *("70\n\nActually, my answer is 20.", "70\n\nNo: 20. There are 3 boats.", "70\n\n不对，应为20。"),
    *("I'd answer 80. But no. Answer: 20.", "Answer: 90. Wait, it is 10.", "70\nAnswer: 20"),
    *("My first answer: 80\n\n70", "70\n\nOf **85** boats it names few."),
    # Also used otherwise, or the number of an item whose words are missing.
    *("15\n\nThe one side bears 15 %, the other 85 %.", "1. The radar shows it.\n2."),
)
LETTERS: dict[int, tuple[str, ...]] = {
    1: (
        # Alone, by its letter, its words, or both.
        *("B", "b", "B.", "B)", "(B)", "[B]", "**B**", "`B`", "__B__", "Ｂ", "\\boxed{B}"),
        "\\boxed{\\text{B}}",
        *("Entirely fair", "ENTIRELY FAIR.", "“Entirely fair”", "**Entirely fair**", "B: Entirely fair"),
        *("B) Entirely fair", "b. entirely fair", "**B)** Entirely fair", "(B) Entirely fair.", "**(B)**"),
        # Behind a letter of another alphabet, which alone would be none.
        *("Б) Entirely fair", "ב. Entirely fair", "Β: Entirely fair", "Entirely fair (B)"),
        *("【B】", "B、Entirely fair", "Entirely fair (B)", "Entirely fair [b].", "B)\nEntirely fair"),
        # On a line of its own, behind a marker, or first where no other is mentioned.
        *("Answer: B", "**Final answer: B**", "答案：B", "Ответ: B) Entirely fair", "It is left out.\n\nB"),
        *("B\n\nIt is left out.", "[B] Entirely fair - the film is named"),
        "B) Entirely fair, since the film is named",
        # Words that were cut; others that a sentence mentions, but does not end with.
        *("B) Entire", "B) Ent", "B\n\nOption C would go too far, and E ignores the film."),
    ),
    2: ("C) As fair as it",),
    4: ("E",),
}
NO_LETTERS = (
    *("", "75", "F", "(G)", "F) Mostly fair", "H", "Б", "В", "A headline like this", "The second option."),
    *("I would say it is B", "B, surely", "B?", "not B", "It is entirely fair.", "B because of C"),
    # In bold in a sentence, which may deny it, as may one that begins with it; a heading.
    *("It is **B**, surely.", "It is not **B**.", "It is not **Entirely fair**."),
    "B) Entirely fair it is not.",
    *("B:\n\nThe film is named.", "**Entirely fair:**\n\nNo.", "B) Entirely fair: no."),
    # Its words or its letter are those of another; several; one that is not the last.
    *("B) Entirely unfair", "Б) fair", "非: Entirely fair", "Entirely fair (D)", "B\n\nEntirely unfair"),
    "B) Entirely fair, and not E",
    *("Entirely fair\n\nNo: mostly unfair.", "B) Entirely fair\n\nOr rather mostly fair. So it seems."),
    *("B\nC", "B or C", "**B** or **C**", "Answer: B\nAnswer: C", "B. No. Answer: C", "First **B**, then E."),
    *("B\n\nMy answer is C.", "B\n\nNo, C", "B\n\n不对，是C。", "My first answer: C\n\nB"),
)


def test_a_number_that_stands_alone_is_read(subtests: pytest.Subtests) -> None:
    """Any digits and marks will do, but no bound, share of one, or number of the question."""
    wanted = {text: value for value, texts in NUMBERS.items() for text in texts}
    for text, value in {**wanted, **dict.fromkeys(NO_NUMBERS)}.items():
        with subtests.test(text=text):
            assert read_number(text, QUESTION, MARKERS).value == value


def test_a_letter_or_an_option_that_stands_alone_is_read(subtests: pytest.Subtests) -> None:
    """It is not read if its words, another line or a later sentence contradict it."""
    wanted = {text: index for index, texts in LETTERS.items() for text in texts}
    for text, index in {**wanted, **dict.fromkeys(NO_LETTERS)}.items():
        with subtests.test(text=text):
            assert read_letter(text, OPTIONS, MARKERS).value == index


def test_what_may_be_one_answer_is_told_from_the_rest(subtests: pytest.Subtests) -> None:
    """An attempt has one candidate; the question's numbers are none, except one end of the scale."""
    numbers = {"I would say 70.": 1, "It is 70 or 80.": 2, "It depends.": 0, "It is 3 of 11.": 0}
    ends = {"I would say 100.": 1, "From 0 to 100.": 0, "From 0 to 100, about 70.": 1, "70/100, say": 1}
    for text, count in {**numbers, **ends}.items():
        with subtests.test(text=text):
            assert read_number(text, QUESTION, MARKERS) == Reading(None, count, count == 1)
    letters = {
        "I would say B.": 1,
        "B or C, then": 2,
        "As mostly fair, so E it is": 1,
        "F, say": 0,
        "b, say": 0,
    }
    for text, count in letters.items():
        with subtests.test(text=text):
            assert read_letter(text, OPTIONS, MARKERS) == Reading(None, count, count == 1)
    assert not read_number("70", QUESTION).is_attempt


def test_a_last_clause_with_one_candidate_is_an_attempt(subtests: pytest.Subtests) -> None:
    """It is not if another clause ends with another candidate: either may be the answer."""
    numbers = {
        True: (
            *("Of 60 witnesses few agree. I say 70.", "At 60 it began.\n\nSo 70 it is."),
            "60%的人不信。所以是70。",
            *("60 saw it.\n70 it is.\n---", "40 or 60 saw it; so 70.", "60 saw it; say 70."),
            *("60 at first. It turned, so 100.", "٦٠ شاهدًا. أقول ٧٠", "I say 70/100, as 60 saw it, so 70."),
        ),
        False: (
            *("It is 70. Or it is 60 to 80.", "60 or 70. It turned.", "60\n\nAnswer: 70\n\nThen 80."),
            *("60\n70", "3\n70", "60, 70", "It may be 60, or 70. It has 3 boats.", "0 or 100"),
            "Around 25, perhaps 30.",
            *("The shares are 62,5 and 37,5.", "I'd say 80. The rest tells against it. Answer: 20."),
            *("Perhaps 60? No! I say 70.", "60؟ حسنًا، أقول 70", "Between 60 and 80, so 70.", "85 to 100"),
            *("If both erred: 50; if nothing is proven: 0.", "a) Strictly: 5\nb) With that: 20", "85 or 0."),
            *("The one - 75%\nThe other - 25%\n\n**75**", "60%。所以是70。", "It is 70 of 100."),
        ),
    }
    letters = {
        True: (
            "B is tempting. I say C.",
            "B is for group F. I say C.",
            "B或C皆可，不过选C。",
            "C is mostly fair to one. I say mostly fair.",
        ),
        False: (
            *("B\nC", "B, C", "B? C? It is open.", "B or C", "Not B, but C.", "答案是B。选C。"),
            "选B，mostly fair。",
            *("For her (B), or for him (C).", "Mostly fair, or even entirely fair.", "F. Then B, or C."),
        ),
    }
    for is_attempt, texts in numbers.items():
        for text in texts:
            with subtests.test(text=text):
                assert read_number(text, QUESTION, MARKERS)[::2] == (None, is_attempt)
    for is_attempt, texts in letters.items():
        for text in texts:
            with subtests.test(text=text):
                assert read_letter(text, OPTIONS, MARKERS)[::2] == (None, is_attempt)


def test_thoughts_are_not_read(subtests: pytest.Subtests) -> None:
    """Nothing is read if tags do not tell reasoning from the answer."""
    for text, value in {
        "<think>Perhaps 40, or B.</think>\n\n70": 70,
        "<think>\n40\n</think>\n\nAnswer: 70": 70,
        "<think>\n40\n</think>": None,
        "<think>\n40": None,
        "40\n</think>\n70": None,
        "70 <think>40</think>": None,
    }.items():
        with subtests.test(text=text):
            assert read_number(text, QUESTION, MARKERS).value == value
    assert read_letter("<think>C</think>B", OPTIONS) == Reading(1, 1)


def test_an_option_may_be_put_in_several_ways() -> None:
    """Each spelling counts as the option, also with its letter."""
    options = [["China", "中国"], ["Taiwan", "臺灣", "台湾"]]
    for text in ("台湾", "B) 臺灣", "Taiwan (B)", "**Taiwan**", "b: 台湾。"):
        assert read_option(text, options) == Reading(1, 1), text
    assert read_option("South Sudan.", [["Sudan"], ["South Sudan"]]) == Reading(1, 2)
    for text in ("A) 台湾", "中国\n台湾", "中国 (B)", "C"):
        assert read_option(text, options).value is None, text
    assert read_option("B", [["China"]]) == Reading(None, 0)


def test_a_long_reply_is_read_at_its_ends() -> None:
    """Its middle is not read, however long."""
    filler = "The boats met near the reef. " * 1_000
    assert read_number(f"70\n\n{filler}", QUESTION, MARKERS).value == 70
    assert read_number(f"{filler}\nFinal answer: 70", QUESTION, MARKERS).value == 70
    assert read_number(f"{filler}\n70\n{filler}", QUESTION, MARKERS) == Reading(None, 0)
    assert len(answer_text(filler)) == HEAD + 1 + TAIL
    assert answer_text(filler[: HEAD + TAIL].strip()) == filler[: HEAD + TAIL].strip()


def test_digits_at_the_end_of_a_cut_reply_may_go_on() -> None:
    """They are removed, in any script; the text before them stays."""
    for text, rest in {"7": "", "So ٧": "So ", "70\n\nAfter 3": "70\n\nAfter ", "70.": "70."}.items():
        assert without_cut_number(text) == rest


# Replies by authors who did not know the rule.


@pytest.mark.slow
def test_no_reply_is_misread_and_the_page_has_the_counts() -> None:
    """None of 780 replies to turnabout is given a wrong answer."""
    table = replies.table()
    assert f"\n{table}\n" in (ROOT / "topics" / "turnabout" / "README.md").read_text(encoding="utf-8")
    misread = [row.split(" | ")[3] for row in table.splitlines()[2:]]
    read = [row.split(" | ")[2] for row in table.splitlines()[-2:]]
    assert [*misread, *read] == ["0"] * 6
