"""What short answers of fact come to, worked out by hand, and how answers are read."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.suites.chinese_simpleqa.scoring import (
    behind,
    best_of,
    calibration,
    chosen,
    is_exact,
    is_in_other_language,
    majority,
    normal,
    shares,
    stated,
    tally,
)

FIVE = ("correct", "incorrect", "not_attempted", "correct_given_attempted", "f")


# Shares.


def test_shares_by_hand(subtests: pytest.Subtests) -> None:
    """Nothing attempted and all incorrect give 0; no answer at all gives nothing."""
    for counts, found in (
        ((5, 3, 2), (50, 30, 20, 62.5, 1000 / 18)),
        ((1, 0, 3), (25, 0, 75, 100, 40)),
        ((4, 0, 0), (100, 0, 0, 100, 100)),
        ((0, 4, 0), (0, 100, 0, 0, 0)),
        ((0, 1, 1), (0, 50, 50, 0, 0)),
        ((0, 0, 7), (0, 0, 100, 0, 0)),
        ((0, 0, 0), (None, None, None, None, None)),
    ):
        with subtests.test(counts=counts, found=found):
            told = shares(*counts)
            assert tuple(told) == FIVE
            assert [told[name] for name in FIVE] == [None if v is None else pytest.approx(v) for v in found]


COUNTS = st.integers(min_value=0, max_value=3000)


@given(COUNTS, COUNTS, COUNTS)
def test_the_shares_hold_together(correct: int, incorrect: int, not_attempted: int) -> None:
    """CO + IN + NA = 100, CGA = CO/(CO+IN), F = 2CO/(2-NA) and the harmonic mean of CO and CGA."""
    found = shares(correct, incorrect, not_attempted)
    if found["correct"] is None:
        assert correct + incorrect + not_attempted == 0
        return
    co, wrong, na, cga, f = (found[name] or 0.0 for name in FIVE)
    assert co + wrong + na == pytest.approx(100)
    if co + wrong:
        assert cga == pytest.approx(100 * co / (co + wrong))
        assert f == pytest.approx(2 * co / (2 - na / 100))
    assert f == pytest.approx(2 * co * cga / (co + cga) if co else 0)


def test_published_rows_are_met(subtests: pytest.Subtests) -> None:
    """Within the rounding of the published table."""
    for co, na, wrong, cga, f in (
        (63.8, 12.2, 24.0, 72.7, 67.9),
        (61.9, 10.3, 27.8, 69.1, 65.3),
        (59.3, 1.4, 39.3, 60.1, 59.7),
        (46.2, 27.4, 26.4, 63.6, 53.5),
        (5.3, 31.1, 63.6, 7.6, 6.2),
    ):
        with subtests.test(co=co, na=na):
            found = shares(co, wrong, na)
            assert [found[name] for name in FIVE] == pytest.approx([co, wrong, na, cga, f], abs=0.1)


# Grades.


def test_the_majority_decides(subtests: pytest.Subtests) -> None:
    """In a tie incorrect before not attempted before correct, whoever said it first."""
    for grades, grade in (
        ("A", "A"),
        ("AAB", "A"),
        ("BAA", "A"),
        ("CCA", "C"),
        ("AB", "B"),
        ("BA", "B"),
        ("AC", "C"),
        ("CB", "B"),
        ("ABC", "B"),
        ("AACCB", "C"),
        ("", None),
    ):
        with subtests.test(grades=grades, grade=grade):
            assert majority(list(grades)) == grade


def test_grades_are_counted() -> None:
    """What has none does not count."""
    assert tally(["A", None, "C", "A"]) == {"A": 2, "B": 0, "C": 1}


# Best of several.


def test_best_of_by_hand() -> None:
    """Two questions with three answers, one with two; those with fewer answers leave the later tries."""
    counts = [(False, True, False), (False, False, False), (True, False)]
    assert best_of(counts, 4) == [
        {"tries": 1, "questions": 3, "prefix": pytest.approx(100 / 3), "unbiased": pytest.approx(500 / 18)},
        {"tries": 2, "questions": 3, "prefix": pytest.approx(200 / 3), "unbiased": pytest.approx(500 / 9)},
        {"tries": 3, "questions": 2, "prefix": 50, "unbiased": 50},
        {"tries": 4, "questions": 0, "prefix": None, "unbiased": None},
    ]
    assert best_of([], 0) == []


def test_best_of_is_the_mean_over_all_subsets(subtests: pytest.Subtests) -> None:
    """The unbiased figure is what any k of the answers have; the other what the first k have."""
    for answers in list(product([False, True], repeat=5))[::3]:
        with subtests.test(answers=answers):
            for k, row in enumerate(best_of([answers], 5), start=1):
                subsets = list(combinations(answers, k))
                assert row["unbiased"] == pytest.approx(100 * sum(map(any, subsets)) / len(subsets))
                assert row["prefix"] == 100 * any(answers[:k])


# Calibration.


def test_calibration_by_hand() -> None:
    """Bins are closed on the left, the last holds 100 too; each bin's distance counts by its answers."""
    found = calibration([(0, False), (9.9, True), (10, True), (90, True), (95, False), (100, True)])
    bins: list[dict[str, Any]] = found["bins"]
    assert [(row["low"], row["high"]) for row in bins] == [(low, low + 10) for low in range(0, 100, 10)]
    assert [row["n"] for row in bins] == [2, 1, 0, 0, 0, 0, 0, 0, 0, 3]
    assert (bins[0]["confidence"], bins[0]["accuracy"]) == (pytest.approx(4.95), 50)
    assert (bins[1]["confidence"], bins[1]["accuracy"]) == (10, 100)
    assert (bins[2]["confidence"], bins[2]["accuracy"]) == (None, None)
    assert (bins[9]["confidence"], bins[9]["accuracy"]) == (95, pytest.approx(200 / 3))
    whole = (found["n"], found["confidence"], found["accuracy"])
    assert whole == (6, pytest.approx(304.9 / 6), pytest.approx(400 / 6))
    assert found["ece"] == pytest.approx((2 * 45.05 + 90 + 3 * (95 - 200 / 3)) / 6)


def test_calibration_of_nothing_and_of_the_perfect() -> None:
    """Without answers there is no figure; who is right where he is sure has no error."""
    nothing = calibration([])
    assert (nothing["n"], nothing["confidence"], nothing["accuracy"], nothing["ece"]) == (0, None, None, None)
    assert calibration([(100, True), (0, False)])["ece"] == 0


# Reading answers.


def test_an_answer_with_its_confidence_is_read(subtests: pytest.Subtests) -> None:
    """From an object with both, whatever stands around it; anything else is nothing, and no error."""
    for text, found in (
        ('{"answer": "曹雪芹", "confidence": 90}', ("曹雪芹", 90)),
        ('```json\n{"answer": "曹雪芹",\n "confidence": "90%"}\n```', ("曹雪芹", 90)),
        ('我的回答：{"confidence": 0.5, "answer": 1830, "why": {}}。', ("1830", 0.5)),
        ('{"answer": "x", "confidence": " 85.5 % "}', ("x", 85.5)),
        ('{"answer": "x", "confidence": 0}', ("x", 0)),
        ('{"answer": "x", "confidence": 100}', ("x", 100)),
        ('{"answer": "x", "confidence": 100.1}', None),
        ('{"answer": "x", "confidence": -1}', None),
        ('{"answer": "x", "confidence": "very"}', None),
        ('{"answer": "x", "confidence": true}', None),
        ('{"answer": "x", "confidence": null}', None),
        ('{"answer": "x", "confidence": NaN}', None),
        ('{"answer": "x", "confidence": 1e999}', None),
        ('{"answer": "x"}', None),
        ('{"confidence": 50}', None),
        ('{"answer": ["x"], "confidence": 50}', None),
        ('{"answer": null, "confidence": 50}', None),
        ('[{"answer": "x"}]', None),
        ("{answer: x}", None),
        ("曹雪芹，90", None),
        ("", None),
        ('{"a":' * 50_000 + "}" * 50_000, None),
    ):
        with subtests.test(text=text, found=found):
            assert stated(text) == found


OPTIONS = ("北京", "上海", "广州", "H2O")


def test_which_option_an_answer_chooses(subtests: pytest.Subtests) -> None:
    """A letter that stands as one, behind the marker if there is one; else the only option named."""
    for text, place in (
        *(("B", 1), ("(B)", 1), ("**B**", 1), (" D. \n", 3), ("“", None), ("C：", 2)),
        *(("B. 上海", 1), ("B、上海", 1), ("B）上海", 1), ("B 上海", 1), ("B\n因为……", 1)),
        *(("先想一想。\n答案：C", 2), ("答案：A\n不对。答案：D。", 3), ("答案：**B**", 1), ("答案：上海", 1)),
        *(("上海", 1), ("答案是上海市。", 1), ("Ｈ２ｏ", 3), ("《广州》", 2)),
        *(("北京或上海", None), ("A cat is here", None), ("Because", None), ("AB", None), ("A or B", None)),
        *(
            ("E", None),
            ("b", 1),
            ("Ｂ", 1),
            ("选B", 1),
            ("A、B", None),
            ("不知道", None),
            ("", None),
            ("答案：", None),
        ),
    ):
        with subtests.test(text=text, place=place):
            assert chosen(text, OPTIONS, "ABCD", "答案：") == place


NAMES = ("11名", "5名", "7名", "9名")
POWER = ("240兆瓦", "120兆瓦", "20兆瓦", "254兆瓦")
CODES = ("DZ", "AL", "AG", "AR")


def test_a_number_or_a_word_within_a_longer_one_is_not_named(subtests: pytest.Subtests) -> None:
    """Whatever stands in Chinese around it."""
    for text, options, place in (
        *((text, NAMES, None) for text in ("17名", "1.7名", "-7名", "17,9名")),
        *((text, NAMES, 2) for text in ("7名", "共有 7 名委员", "不是17名，是7名")),
        *((text, POWER, None) for text in ("装机容量为1240兆瓦", "2,240兆瓦", "0.20兆瓦")),
        *((text, POWER, 0) for text in ("240 兆瓦", "装机容量为240兆瓦。")),
        ("2540年", ("254年", "255年", "256年", "540年"), None),
        ("1,260条", ("1206条", "1242条", "1260条", "260条"), 2),
        ("Also I cannot say", CODES, None),
        ("It is AL", CODES, 1),
        ("这是AL代码", CODES, 1),
    ):
        with subtests.test(text=text, options=options):
            assert chosen(text, options, "ABCD", "答案：") == place


def test_a_letter_is_read_whichever_it_is(subtests: pytest.Subtests) -> None:
    """A real choice of A is no article, or models would seem to avoid the first place."""
    for sentence in (
        *("The correct answer is {} because he wrote it.", "{} is correct", "{} because he wrote it"),
        *("答案：{}。因为A是错的", "A不对，C也不对。答案: {}", "答案：{}\n\nA是错的。", "答案：{}（B不对）"),
        *("The answer is {}.", "Answer: {}"),
    ):
        for letter in "ABCD":
            with subtests.test(sentence=sentence, letter=letter):
                assert chosen(sentence.format(letter), OPTIONS, "ABCD", "答案：") == "ABCD".index(letter)
                if sentence.startswith("The answer"):
                    assert chosen(sentence.format(letter.lower()), OPTIONS, "ABCD", "答案：") == "ABCD".index(
                        letter
                    )


def test_what_is_no_single_letter_is_no_choice(subtests: pytest.Subtests) -> None:
    """Articles, several letters, letters within names."""
    for text, place in (
        *(("A man wrote it", None), ("A man wrote it. So B", 1), ("I think so. A man wrote it.", None)),
        *(("答案：A、B", None), ("答案：A. B", None), ("答案：A or B.", None), ("答案：A或B。", None)),
        *(("vitamin B12", None), ("答案：A cat", None), ("I'd", None)),
    ):
        with subtests.test(text=text, place=place):
            assert chosen(text, OPTIONS, "ABCD", "答案：") == place


def test_a_point_or_a_minus_makes_another_number(subtests: pytest.Subtests) -> None:
    """What parts thousands does not, nor does a hyphen within a name."""
    for text, accepted, is_one in (
        *(("327", "32.7", False), ("7226米", "72.26米", False), ("-5", "5", False), ("−5", "5", False)),
        *(("802154", "802.15.4", False), ("1,5", "15", False), ("−5", "-5", True), ("３２.７", "32.7", True)),
        *(("1,830年", "1830年", True), ("1,234,567", "1234567", True), ("铷87", "铷-87", True)),
        *(("1980-06-01", "19800601", True), ("答案是5。", "答案是5", True)),
    ):
        with subtests.test(text=text, accepted=accepted):
            assert is_exact(text, (accepted,)) == is_one


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        *(("清嘉录", True), ("《清嘉录》。", True), ("清嘉錄", True), (" 清嘉录\n", True)),
        *(("是清嘉录", False), ("清嘉", False), ("", False)),
    ],
)
def test_an_exact_answer_is_one_of_the_accepted(text: str, is_one: bool) -> None:
    """Punctuation aside, and nothing beside it."""
    assert is_exact(text, ("《清嘉录》", "清嘉錄")) == is_one


def test_the_normal_form_is_letters_and_digits(subtests: pytest.Subtests) -> None:
    """In one form and in small letters."""
    for text, told in (
        ("《红楼梦》", "红楼梦"),
        ("Ｈ₂Ｏ!", "h2o"),
        ("1,830 年", "1830年"),
        ("STRASSE ß", "strassess"),
        ("约 -32.70 米。", "约-32.70米"),
        ("。 ", ""),
    ):
        with subtests.test(text=text, told=told):
            assert normal(text) == told


def test_an_answer_in_another_language_is_told(subtests: pytest.Subtests) -> None:
    """From a dozen letters or a verb on, beside the accepted name: names and digits alone are in none."""
    for text, is_other in (
        ("曹雪芹", False),
        ("作者是清代的曹雪芹，他写了《红楼梦》的前八十回。", False),
        ("作者是 Cao Xueqin，这是一般的看法。", False),
        ("《战争与和平》的作者是 Leo Nikolayevich Tolstoy", False),
        ("Tolstoy", False),
        ("Cao Xueqin", False),
        ("1234567890123456", False),
        ("The author is usually said to be Cao Xueqin.", True),
        ("The author is usually said to be 曹雪芹.", True),
        ("これはとてもむずかしいしつもんですね", True),
        ("저자는 일반적으로 조설근이라고 합니다", True),
        ("The Beatles", False),
        ("Leo Nikolayevich Tolstoy", False),
        ("IEEE 802.15.4, DNA", False),
        ("It is Cao Xueqin", True),
        ("先写知识：the book was written by somebody in the Qing dynasty。", True),
        ("", False),
    ):
        with subtests.test(text=text, is_other=is_other):
            assert is_in_other_language(text, ("曹雪芹", "Cao Xueqin")) == is_other


def test_a_short_sentence_around_a_number_is_told_by_its_verb(subtests: pytest.Subtests) -> None:
    """Though it has fewer than a dozen letters."""
    for text, is_other in (
        ("The answer is 1830年", True),
        ("1830 AD", False),
        ("1830", False),
        ("La réponse est 1830", True),
    ):
        with subtests.test(text=text, is_other=is_other):
            assert is_in_other_language(text, ("1830年", "1830")) == is_other


def test_what_stands_behind_the_marker(subtests: pytest.Subtests) -> None:
    """The last one, with a colon of either width."""
    for text, found in (
        ("想。答案：甲", "甲"),
        ("答案: 甲", " 甲"),
        ("答案：甲\n答案:乙", "乙"),
        ("答案是甲", None),
    ):
        with subtests.test(text=text, found=found):
            assert behind(text, "答案：") == found
