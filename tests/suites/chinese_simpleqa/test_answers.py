"""How short answers of fact are read."""

from __future__ import annotations

from equipoise.suites.chinese_simpleqa.answers import (
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
