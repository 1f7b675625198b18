"""How short answers of fact are read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from equipoise.suites.chinese_simpleqa.answers import (
    chosen_option,
    is_exact,
    is_in_other_language,
    normal_form,
    parse_confident_answer,
    text_after_marker,
)
from equipoise.suites.chinese_simpleqa.scoring import in_percent


def test_a_confidence_is_a_percentage_unless_all_are_shares() -> None:
    """Where one is above 1, a fraction may be either, and is nothing."""
    assert in_percent([0.9, None, 1, 0]) == [90, None, 100, 0]
    assert in_percent([0.9, None, 1, 0, 85.5]) == [None, None, 1, 0, 85.5]
    assert in_percent([None]) == [None]
    assert in_percent([]) == []


def test_an_answer_with_its_confidence_is_read() -> None:
    """From an object with both, whatever stands around it; anything else is nothing, and no error."""
    expected = {
        '{"answer": "曹雪芹", "confidence": 90}': ("曹雪芹", 90),
        '```json\n{"answer": "曹雪芹",\n "confidence": "90%"}\n```': ("曹雪芹", 90),
        '我的回答：{"confidence": 0.5, "answer": 1830, "why": {}}。': ("1830", 0.5),
        '{"answer": "x", "confidence": " 85.5 % "}': ("x", 85.5),
        '{"answer": "x", "confidence": 0}': ("x", 0),
        '{"answer": "x", "confidence": 100}': ("x", 100),
        '{"answer": "x", "confidence": 100.1}': None,
        '{"answer": "x", "confidence": -1}': None,
        '{"answer": "x", "confidence": "very"}': None,
        '{"answer": "x", "confidence": true}': None,
        '{"answer": "x", "confidence": null}': None,
        '{"answer": "x", "confidence": NaN}': None,
        '{"answer": "x", "confidence": 1e999}': None,
        '{"answer": "x"}': None,
        '{"confidence": 50}': None,
        '{"answer": ["x"], "confidence": 50}': None,
        '{"answer": null, "confidence": 50}': None,
        '[{"answer": "x"}]': None,
        "{answer: x}": None,
        "曹雪芹，90": None,
        "": None,
        '{"a":' * 50_000 + "}" * 50_000: None,
    }
    assert {text: parse_confident_answer(text) for text in expected} == expected


OPTIONS = ("北京", "上海", "广州", "H2O")


def choices(texts: Iterable[str], options: Sequence[str] = OPTIONS) -> dict[str, int | None]:
    """What each of these texts chooses."""
    return {text: chosen_option(text, options, "ABCD", "答案：") for text in texts}


def test_which_option_an_answer_chooses() -> None:
    """A letter that stands as one, behind the marker if there is one; else the only option named."""
    expected = {
        **dict.fromkeys(("B", "(B)", "**B**", "b", "Ｂ", "选B", "答案：**B**", "A man wrote it. So B"), 1),
        **dict.fromkeys(("B. 上海", "B、上海", "B）上海", "B 上海", "B\n因为……"), 1),
        **dict.fromkeys(("答案：上海", "上海", "答案是上海市。"), 1),
        **dict.fromkeys(("C：", "先想一想。\n答案：C", "《广州》"), 2),
        **dict.fromkeys((" D. \n", "答案：A\n不对。答案：D。", "Ｈ２ｏ"), 3),
    }
    assert choices(expected) == expected


def test_what_chooses_none_or_several_is_no_choice() -> None:
    """Articles, several letters or options, letters within names."""
    none = ("“", "", "答案：", "不知道", "E", "Because", "AB", "vitamin B12", "I'd")
    several = ("北京或上海", "A or B", "A、B", "答案：A、B", "答案：A. B", "答案：A or B.", "答案：A或B。")
    articles = ("A cat is here", "答案：A cat", "A man wrote it", "I think so. A man wrote it.")
    texts = (*none, *several, *articles)
    assert choices(texts) == dict.fromkeys(texts)


def test_a_number_or_a_word_within_a_longer_one_is_not_named(subtests: pytest.Subtests) -> None:
    """Whatever stands in Chinese around it."""
    names, power = ("11名", "5名", "7名", "9名"), ("240兆瓦", "120兆瓦", "20兆瓦", "254兆瓦")
    codes = ("DZ", "AL", "AG", "AR")
    for options, place, texts in (
        (names, None, ("17名", "1.7名", "-7名", "17,9名")),
        (names, 2, ("7名", "共有 7 名委员", "不是17名，是7名")),
        (power, None, ("装机容量为1240兆瓦", "2,240兆瓦", "0.20兆瓦")),
        (power, 0, ("240 兆瓦", "装机容量为240兆瓦。")),
        (("254年", "255年", "256年", "540年"), None, ("2540年",)),
        (("1206条", "1242条", "1260条", "260条"), 2, ("1,260条",)),
        (codes, None, ("Also I cannot say",)),
        (codes, 1, ("It is AL", "这是AL代码")),
    ):
        with subtests.test(options=options, place=place):
            assert choices(texts, options) == dict.fromkeys(texts, place)


def test_a_letter_is_read_whichever_it_is(subtests: pytest.Subtests) -> None:
    """A real choice of A is no article, or models would seem to avoid the first place."""
    sentences = (
        *("The correct answer is {} because he wrote it.", "{} is correct", "{} because he wrote it"),
        *("答案：{}。因为A是错的", "A不对，C也不对。答案: {}", "答案：{}\n\nA是错的。", "答案：{}（B不对）"),
        *("The answer is {}.", "Answer: {}"),
    )
    for place, letter in enumerate("ABCD"):
        with subtests.test(letter):
            texts = [sentence.format(letter) for sentence in sentences]
            texts.append(f"The answer is {letter.lower()}.")
            assert choices(texts) == dict.fromkeys(texts, place)


def test_an_exact_answer_is_one_of_the_accepted() -> None:
    """Punctuation aside, and nothing beside it."""
    accepted = ("《清嘉录》", "清嘉錄")
    texts = ("清嘉录", "《清嘉录》。", "清嘉錄", " 清嘉录\n", "是清嘉录", "清嘉", "")
    assert [is_exact(text, accepted) for text in texts] == [True] * 4 + [False] * 3


def test_a_point_or_a_minus_makes_another_number() -> None:
    """What parts thousands does not, nor does a hyphen within a name."""
    others = [("327", "32.7"), ("7226米", "72.26米"), ("-5", "5"), ("−5", "5"), ("802154", "802.15.4")]
    same = [("−5", "-5"), ("３２.７", "32.7"), ("1,830年", "1830年"), ("1,234,567", "1234567")]
    same += [("铷87", "铷-87"), ("1980-06-01", "19800601"), ("答案是5。", "答案是5")]
    assert [pair for pair in same if not is_exact(pair[0], pair[1:])] == []
    assert [pair for pair in [*others, ("1,5", "15")] if is_exact(pair[0], pair[1:])] == []


def test_the_normal_form_is_letters_and_digits() -> None:
    """In one form and in small letters."""
    expected = {
        "《红楼梦》": "红楼梦",
        "Ｈ₂Ｏ!": "h2o",
        "1,830 年": "1830年",
        "STRASSE ß": "strassess",
        "约 -32.70 米。": "约-32.70米",
        "。 ": "",
    }
    assert {text: normal_form(text) for text in expected} == expected


def test_an_answer_in_another_language_is_told() -> None:
    """From a dozen letters or a verb on, beside the accepted name: names and digits alone are in none."""
    names = ("曹雪芹", "Cao Xueqin", "1830年", "1830")
    others = (
        "The author is usually said to be Cao Xueqin.",
        "The author is usually said to be 曹雪芹.",
        "これはとてもむずかしいしつもんですね",
        "저자는 일반적으로 조설근이라고 합니다",
        "It is Cao Xueqin",
        "先写知识：the book was written by somebody in the Qing dynasty。",
        "The answer is 1830年",
        "La réponse est 1830",
    )
    chinese = (
        "曹雪芹",
        "作者是清代的曹雪芹，他写了《红楼梦》的前八十回。",
        "作者是 Cao Xueqin，这是一般的看法。",
        "《战争与和平》的作者是 Leo Nikolayevich Tolstoy",
        *("Tolstoy", "Cao Xueqin", "The Beatles", "Leo Nikolayevich Tolstoy"),
        *("1234567890123456", "IEEE 802.15.4, DNA", "1830 AD", "1830", ""),
    )
    assert [text for text in others if not is_in_other_language(text, names)] == []
    assert [text for text in chinese if is_in_other_language(text, names)] == []


def test_what_stands_behind_the_marker() -> None:
    """The last one, with a colon of either width."""
    expected = {"想。答案：甲": "甲", "答案: 甲": " 甲", "答案：甲\n答案:乙": "乙", "答案是甲": None}
    assert {text: text_after_marker(text, "答案：") for text in expected} == expected
