"""How short answers of fact are read."""

from __future__ import annotations

import pytest

from equipoise.suites.chinese_simpleqa.answers import (
    is_exact,
    is_in_other_language,
    parse_confident_answer,
)

CONFIDENT = {
    '{"answer": "曹雪芹", "confidence": 90}': ("曹雪芹", 90),
    '```json\n{"answer": "曹雪芹",\n "confidence": "90%"}\n```': ("曹雪芹", 90),
    '我的回答：{"confidence": 0.5, "answer": 1830, "why": {}}。': ("1830", 0.5),
    '{"answer": "x", "confidence": " 85.5 % "}': ("x", 85.5),
    '{"answer": "x", "confidence": 0}': ("x", 0),
    '{"answer": "x", "confidence": 100}': ("x", 100),
    **{
        f'{{"answer": "x", "confidence": {value}}}': None
        for value in ("100.1", "-1", '"very"', "true", "null", "NaN", "1e999")
    },
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


def test_an_answer_with_its_confidence_is_read(subtests: pytest.Subtests) -> None:
    """From an object with both, whatever stands around it; anything else is nothing, and no error."""
    for text, expected in CONFIDENT.items():
        with subtests.test(text[:60]):
            assert parse_confident_answer(text) == expected


SAME = [
    *(("《清嘉录》。", "清嘉录"), (" 清嘉录\n", "《清嘉录》"), ("−5", "-5"), ("３２.７", "32.7")),
    *(("1,830年", "1830年"), ("1,234,567", "1234567"), ("铷87", "铷-87"), ("1980-06-01", "19800601")),
    *(("Ｈ₂Ｏ!", "h2o"), ("STRASSE ß", "strassess"), (" -32.70 米。", "-32.70米"), ("。 ", "")),
]
OTHER = [
    *(("是清嘉录", "清嘉录"), ("清嘉", "清嘉录"), ("", "清嘉录"), ("327", "32.7"), ("7226米", "72.26米")),
    *(("-5", "5"), ("−5", "5"), ("802154", "802.15.4"), ("1,5", "15")),
]


def test_an_exact_answer_is_one_of_the_accepted() -> None:
    """Punctuation aside, and nothing beside it; a point or a minus makes another number."""
    assert [pair for pair in SAME if not is_exact(pair[0], ("x", pair[1]))] == []
    assert [pair for pair in OTHER if is_exact(pair[0], ("x", pair[1]))] == []


def test_an_answer_in_another_language_is_told() -> None:
    """From a dozen letters or a verb on, beside the accepted name: names and digits alone are in none."""
    names = ("曹雪芹", "Cao Xueqin", "1830年", "1830")
    others = (
        "The author is usually said to be Cao Xueqin.",
        "The author is usually said to be 曹雪芹.",
        "これはとてもむずかしいしつもんですね",
        "저자는 일반적으로 조설근이라고 합니다",
        "先写知识：the book was written by somebody in the Qing dynasty。",
        *("It is Cao Xueqin", "The answer is 1830年", "La réponse est 1830", "twelve letter"),
    )
    chinese = (
        "作者是清代的曹雪芹，他写了《红楼梦》的前八十回。",
        "作者是 Cao Xueqin，这是一般的看法。",
        "《战争与和平》的作者是 Leo Nikolayevich Tolstoy",
        *("曹雪芹", "Tolstoy", "Cao Xueqin", "The Beatles", "Leo Nikolayevich Tolstoy"),
        *("1234567890123456", "IEEE 802.15.4, DNA", "1830 AD", "1830", "eleven word", ""),
    )
    assert [text for text in others if not is_in_other_language(text, names)] == []
    assert [text for text in chinese if is_in_other_language(text, names)] == []
