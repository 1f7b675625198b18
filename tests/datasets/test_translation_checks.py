"""What can be told of a translation without reading it."""

from __future__ import annotations

import csv

import pytest

from conftest import ROOT
from equipoise.datasets.translation_checks import line_flags, script

EMPTY = "it is empty"
LINES = "it has several lines"
PREAMBLE = "it has words before the translation"
SOURCE = "it is the source itself"
NUMBERS = "its numbers are not those of the source"
QUOTES = "it has another number of quotation marks than the source"
PLACEHOLDERS = "its placeholders are not those of the source"


# Good translations.

ENGLISH = 'In 1951, how many of the 12,500 delegates called it a "revolution", and what is {territory}?'
GOOD = {
    "de": "Wie viele der 12.500 Delegierten nannten es 1951 eine „Revolution“, und was ist {territory}?",
    "fr": "En 1951, combien de 12\u202f500 délégués y virent une «\u00a0révolution\u00a0» ? {territory} ?",
    "pl": "Ilu z 12\u00a0500 delegatów nazwało to w 1951 roku „rewolucją” i czym jest {territory}?",
    "sv": "Hur många av de 12\u00a0500 ombuden kallade det 1951 en ”revolution”, och vad är {territory}?",
    "ru": "Сколько из 12\u00a0500 делегатов в 1951 году назвали это «революцией» и что такое {territory}?",
    "zh-CN": "1951年，12,500名代表中有多少人称之为“革命”，{territory}又是什么？",
    "zh-Hant": "1951年，12500名代表中有多少人稱之為「革命」，{territory}又是什麼？",
    "ja": "1951年、12,500人の代表のうち何人がそれを「革命」と呼びましたか。{territory}とは何ですか。",
    "ko": "1951년에 12,500명의 대의원 중 몇 명이 그것을 “혁명”이라 불렀으며 {territory}은(는) 무엇인가?",
    "ar": "كم مندوبا من أصل ١٢٬٥٠٠ وصفوها عام ١٩٥١ بأنها «ثورة»، وما هي {territory}؟",
    "fa": "در سال ۱۹۵۱ چند نفر از ۱۲٬۵۰۰ نماینده آن را «انقلاب» خواندند و {territory} چیست؟",
    "hi": '1951 में 12,500 प्रतिनिधियों में से कितनों ने इसे "क्रांति" कहा, और {territory} क्या है?',
    "bn": "১৯৫১ সালে ১২,৫০০ প্রতিনিধির মধ্যে কতজন একে “বিপ্লব” বলেছিলেন, আর {territory} কী?",
    "he": 'כמה מ-12,500 הצירים במפא"י ובצה"ל קראו לזה ב-1951 "מהפכה", ומהו {territory}?',
    "el": "Πόσοι από τους 12.500 αντιπροσώπους το 1951 το αποκάλεσαν «επανάσταση» και τι είναι {territory};",
    "th": "ในปี 1951 ผู้แทน 12,500 คนกี่คนเรียกสิ่งนี้ว่า “การปฏิวัติ” และ {territory} คืออะไร",
    "ka": "1951 წელს 12\u00a0500 დელეგატიდან რამდენმა უწოდა მას „რევოლუცია“ და რა არის {territory}?",
    "sr-Latn": "Koliko je od 12.500 delegata 1951. to nazvalo „revolucijom“ i šta je {territory}?",
    "sr": "Колико је од 12.500 делегата 1951. то назвало „револуцијом“ и шта је {territory}?",
}


def test_nothing_is_said_of_a_good_translation(subtests: pytest.Subtests) -> None:
    """Whatever its script, its digits, its thousands and its quotation marks; nor on the way back."""
    for language, text in GOOD.items():
        with subtests.test(language):
            assert line_flags(ENGLISH, text, "en", language) == []
            assert line_flags(text, ENGLISH, language, "en") == []


def test_nothing_is_said_of_our_own_templates() -> None:
    """All of the table's languages have a script that we know."""
    path = ROOT / "topics" / "borderlines" / "templates.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = {row["language"]: row for row in csv.DictReader(file)}
    assert len(rows) > 30
    for language, row in rows.items():
        assert script(language), language
        for part in ("question", "separator"):
            assert line_flags(rows["en"][part], row[part], "en", language) == [], language


# One check after the other.


def test_a_translation_is_one_line_of_its_own(subtests: pytest.Subtests) -> None:
    """Not empty, not several lines, nothing before it, not the source."""
    cases: list[tuple[str, str, str, list[str]]] = [
        ("Who?", "", "de", [EMPTY]),
        ("Who?", "Wer?\nUnd wer?", "de", [LINES]),
        ("Who?", "Wer?\rUnd wer?", "de", [LINES]),
        ("Who?", "Wer?\u2028Und wer?", "de", [LINES]),
        ("Who?", "Here is the translation: Wer?", "de", [PREAMBLE]),
        ("Who?", "Translation: Wer?", "de", [PREAMBLE]),
        ("Who?", "Sure, wer?", "de", [PREAMBLE]),
        ("Who?", "Surely wer?", "de", []),
        ("Who is it?", "Who is it?", "de", [SOURCE]),
        ("Who is it?", "WHO IS IT?", "de", [SOURCE]),
        ("Who is it?", "Who is it?", "en", []),
        ("1951: {a}?", "1951: {a}?", "de", [SOURCE]),
        ("1951?", "1951?", "de", []),
        (" or ", "or", "de", [SOURCE]),
        ("What is Tibet?", "What is Tibet ?", "fr", [SOURCE]),
        ("What is Tibet?", "«What is Tibet»", "fr", [SOURCE, QUOTES]),
        ("What is Tibet?", "What is Tibet now?", "fr", []),
        (" or ", "oder", "de", []),
    ]
    for source, text, language, flags in cases:
        with subtests.test(ascii(source)):
            assert line_flags(source, text, "en", language) == flags


def test_most_letters_are_in_the_language_s_script(subtests: pytest.Subtests) -> None:
    """The other script is flagged, and it alone; of a language that is written in several nothing is said."""
    latin, cyrillic, arabic = "Kê damezrand?", "Кто его основал?", "کێ دایمەزراند؟"
    for language, right, wrong in (
        ("ru", cyrillic, latin),
        ("ru", "Союз NATO?", "Что NATO?"),
        ("ru", "!?", latin),
        ("zh-CN", "是谁创立的？", latin),
        ("zh-CN", "是谁创立的？", "누가 세웠는가?"),
        ("ja", "だれが設立しましたか。", latin),
        ("ja", "ソビエト", "누가 세웠는가?"),
        ("ko", "누가 그것을 세웠는가?", latin),
        ("ko", "누가 세웠는가? 朝鮮", "だれが"),
        ("ar", "من أسسها؟", latin),
        ("fr", "Qui l'a fondé ?", cyrillic),
        ("sr-Latn", "Ko ga je osnovao?", "Ко га је основао?"),
        ("sr", "Ко га је основао?", "Ko ga je osnovao?"),
        ("sd", "ان جو بنياد ڪنهن رکيو؟", latin),
        ("ckb", arabic, latin),
        ("iw", "מי ייסד אותה?", latin),
        ("or", "ଏହାକୁ କିଏ ପ୍ରତିଷ୍ଠା କରିଥିଲେ?", latin),
        ("as", "ইয়াক কোনে প্ৰতিষ্ঠা কৰিছিল?", latin),
        ("dv", "އެއީ ކާކު؟", latin),
        ("mai", "एकर स्थापना के कएलक?", latin),
        ("pa-Arab", "اینوں کنے بنایا؟", "ਇਹ ਕਿਸਨੇ ਬਣਾਇਆ?"),
        ("mn-Mong", "ᠬᠡᠨ ᠡ ᠪᠡ", "Хэн бэ?"),
    ):
        with subtests.test(ascii(language), right=right):
            assert line_flags("Who founded it?", right, "en", language) == []
            flag = f"most of its letters are not in the script of {language}"
            assert line_flags("Who founded it?", wrong, "en", language) == [flag]
    assert line_flags("{territory}: {options}?", "Чьё {territory}: {options}?", "en", "ru") == []
    for language in ("xx", "ku", "tlh", "en-Qaaa", "no language", ""):
        with subtests.test(ascii(language)):
            texts = (latin, cyrillic, arabic)
            assert [line_flags("Who founded it?", text, "en", language) for text in texts] == [[]] * 3


def test_numbers_are_those_of_the_source(subtests: pytest.Subtests) -> None:
    """In any digits and whatever parts their thousands; each as often, in any order."""
    same = {
        "1,000 men": ["1.000 homens"],
        "1,000,000 men": ["1\u00a0000\u202f000 homens"],
        "1000 men": ["1,000 homens"],
        "4.5 men": ["4,5 homens"],
        "1951 men": ["١٩٥١ homens", "१९५१ homens"],
        "2.5 or 1,000 men": ["٢٫٥ ou ١٬٠٠٠ homens"],
        "in 1951 and 1952": ["em 1952 e 1951"],
        "3.5 million": ["3,5 milhões"],
        "10,000 people": ["10 000 pessoas", "10\u2009000 pessoas", "10'000 pessoas"],
        "1,234,567.25 feet": ["1 234 567,25 pés", "1.234.567,25 pés"],
        "1,250,000 men": ["12,50,000 homens", "१२,५०,००० homens"],
        "in 1951 100 men": ["em 1951, 100 homens"],
        "1951, 1952": ["1952 e 1951"],
        "1951\u00a0100": ["1951, 100"],
        "on 12 May, 500 men": ["em 12 500 homens"],
        "1.2.3": ["1.2.3"],
        "4.6.1989": ["4,6,1989"],
        "at 2.50 or 250": ["a 2,50 ou 250"],
    }
    other = {
        "in 1951": ["em 1952", "em mil novecentos"],
        "a few men": ["3 homens"],
        "1951, then 1951": ["só 1951"],
        "1,000 men": ["100 homens"],
        "3.5 million": ["35 milhões"],
        "10,000 people": ["10 00 pessoas"],
        "1,234.25 feet": ["123,425 pés"],
        "1.2.3": ["12.3"],
        "0.5 of 20": ["5 de 20"],
    }
    for cases, flags in ((same, []), (other, [NUMBERS])):
        for source, text in ((source, text) for source, texts in cases.items() for text in texts):
            with subtests.test(ascii(source), text=ascii(text)):
                assert line_flags(source, text, "en", "pt-BR") == flags


def test_quotation_marks_and_placeholders_are_kept(subtests: pytest.Subtests) -> None:
    """Pairs of marks, whatever they look like, brackets of titles being none; placeholders in any order."""
    quoted, slots = 'the "end"', "Is {territory} of {options}?"
    for source, flag, right, wrong in (
        (quoted, QUOTES, ['o "fim"', "o “fim”", "o „fim“", "o ”fim”"], ["o fim", "o 'fim'", "o 《fim》"]),
        (quoted, QUOTES, ["o «fim»", "o »fim«", "o 「fim」", "o 『fim』"], ['"o" "fim"']),
        (
            slots,
            PLACEHOLDERS,
            ["{options} tem {territory}?", "{territory} é de {options}?"],
            ["{territory} é de quem?", "{território} é de {options}?", "territory é de {options}?"],
        ),
        (slots, PLACEHOLDERS, [], ["{territory} é de {territory}, {options}?"]),
    ):
        for text in (*right, *wrong):
            with subtests.test(ascii(text)):
                assert line_flags(source, text, "en", "pt-BR") == [flag] * (text in wrong)


def test_everything_is_said_at_once() -> None:
    """In a stable order, so that a second try can mend it all."""
    flags = line_flags('In 1951 the "end" of {a}?', "Here is\nthe end", "en", "ru")
    script_flag = "most of its letters are not in the script of ru"
    assert flags == [LINES, PREAMBLE, script_flag, NUMBERS, QUOTES, PLACEHOLDERS]


SCRIPTS: dict[str | None, str] = {
    "LATIN": "de sr-Latn sr-Latn-RS pt-BR crh",
    "CJK": "zh-CN zh_Hant ja zh-Hant-HK zht cmn",
    "CYRILLIC": "sr uz-Cyrl sr_CYRL sr-Cyrl",
    "ARABIC": "az-Arab pa-PK prs ku-Arab",
    "DEVANAGARI": "sa bho",
    **{"HANGUL": "ko-KR", "HEBREW": "HE", "GURMUKHI": "pa", "BENGALI": "bn", "ORIYA": "or"},
    **{"OL CHIKI": "sat", "NKO": "nqo", "YI": "ii", "MEETEI MAYEK": "mni-Mtei", "SHAVIAN": "en-Shaw"},
    None: "xx ku en-Qaaa",
}


def test_a_language_has_a_script() -> None:
    """The one that its code names, else the usual one of the language, if we know it."""
    scripts = {name: {script(language) for language in codes.split()} for name, codes in SCRIPTS.items()}
    assert scripts == {name: {name} for name in SCRIPTS}
