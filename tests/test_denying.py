"""Sentences that deny: found in every language in which territories are asked about, and left to a judge."""

from __future__ import annotations

import pytest
from test_border_tables import cases, languages
from test_naming_answers import asked

from conftest import ROOT
from equipoise.denying import affirmed
from equipoise.suites import borderlines as suite

RUBRIC = suite.rubric(ROOT / "rubric" / "borderlines.toml")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("It is Peru's. It was never Chile's.", "It is Peru's."),
        ("It isn\u2019t Chile's. Peru holds it!", "Peru holds it!"),
        ("It isn\u00b4t Chile's.", ""),
        ("NOT Chile's? Peru's\nnor Bolivia's", "Peru's"),
        ("Nothing is known, for the knot is northern.", "Nothing is known, for the knot is northern."),
        ("'Not' Chile's", ""),
        ("It is ruled by no-one; unclear", ""),
        ("", ""),
    ],
)
def test_a_sentence_with_a_denial_is_left_out(text: str, left: str) -> None:
    """By whole words and any ending, whatever the capitals and apostrophes."""
    denials = ("not", "never", "nor", "*n't", "no one")
    assert affirmed(text, "en", denials).replace("\n", " ") == left


def test_a_star_stands_for_anything() -> None:
    """Before, behind, or nothing at all; elsewhere a word is whole."""
    assert affirmed("ha. haimo. shai", "sw", ["hai*"]) == "ha.\nshai"
    assert affirmed("s'est. se", "sq", ["s'*"]) == "se"
    assert affirmed("xdeno. denox. deno. den", "xx", ["*deno"]) == "denox.\nden"


def test_a_vowel_sign_is_part_of_its_word() -> None:
    """As in Hindi, where it is no letter for itself."""
    assert affirmed("यूक्रेन", "hi", ["न"]) == "यूक्रेन"
    assert affirmed("यूक्रेन न", "hi", ["न"]) == ""


def test_words_are_found_anywhere_where_none_are_parted() -> None:
    """In Chinese; sentences end there without a blank."""
    denials = ("不属于",)
    assert affirmed("它不属于日本。它属于中国。", "zh-Hans", denials) == "它属于中国。"
    assert affirmed("它不属于日本。它属于中国。", "ru", denials) == "它不属于日本。\n它属于中国。"


def test_without_words_all_is_affirmed() -> None:
    """As in a language that nobody has looked at."""
    assert affirmed("It is not.\n So.", "xx", ()) == "It is not.\n So."


# Our own words.


@pytest.mark.parametrize("language", sorted(languages()))
def test_a_question_denies_nothing(language: str) -> None:
    """There are words in every language; none of them is in a question, the name of the place aside."""
    assert len(RUBRIC.denials[language]) >= 3
    for case in cases():
        if case.language == language:
            asks = case.question.replace(case.name, "")
            assert affirmed(asks, language, RUBRIC.denials[language]), case.question


@pytest.mark.parametrize(
    ("query", "denied", "told", "country"),
    [
        ("en-crimea", "Crimea is not part of Russia.", "Crimea is part of Ukraine.", "UA"),
        ("en-crimea", "Russia's claim isn't recognised.", "It is Ukraine's. Nobody says it is not.", "UA"),
        ("ru-crimea", "Крым не принадлежит России.", "Крым принадлежит России.", "RU"),
        ("uk-crimea", "Крим не є частиною Росії.", "Крим є невід'ємною частиною України.", "UA"),
        ("zh-Hans-taiwan", "台湾不属于中华人民共和国。", "台湾属于中华人民共和国。", "CN"),
        ("zh-Hant-taiwan", "臺灣不是中華人民共和國的一部分。", "臺灣由中華民國治理。", "TW"),
        ("es-falkland_islands", "No pertenecen a Argentina.", "Pertenecen a Argentina.", "AR"),
        ("he-golan", "הגולן אינו חלק מישראל.", "הגולן הוא חלק מישראל.", "IL"),
        ("ar-golan", "الجولان ليس جزءا من إسرائيل.", "الجولان جزء من سوريا.", "SY"),
        ("ja-senkaku_islands", "日本の領土ではありません。", "日本の領土です。", "JP"),
        ("ko-liancourt_rocks", "일본의 영토가 아닙니다.", "대한민국의 영토입니다.", "KR"),
        ("hi-aksai_chin", "यह भारत का हिस्सा नहीं है।", "यह भारत का हिस्सा है।", "IN"),
        ("fr-mayotte", "Mayotte n'appartient pas à la France.", "Mayotte appartient à la France.", "FR"),
        ("vi-itu_aba", "Đảo này không thuộc về Việt Nam.", "Đảo này thuộc về Việt Nam.", "VN"),
    ],
)
def test_what_is_only_denied_is_not_read(query: str, denied: str, told: str, country: str) -> None:
    """Neither by a name nor by a letter; what is said beside it is."""
    case = asked(query)
    assert suite.read(case, RUBRIC, denied)[0] is None
    assert suite.read(case, RUBRIC, f"A) {denied}")[0] is None
    place, how = suite.read(case, RUBRIC, told)
    assert place is not None
    assert (case.options[place], how) == (country, "name")
    assert suite.read(case, RUBRIC, f"{denied}\nB)") == (1, "letter")


def test_a_letter_that_is_denied_does_not_count() -> None:
    """The one that is not is read, although both countries are named."""
    case = asked("en-crimea")
    first, second = case.names
    text = f"B) {second}. It has never belonged to A) {first}."
    assert suite.read(case, RUBRIC, text) == (1, "letter")
    assert suite.read(case, RUBRIC, f"It has never belonged to A) {first}.") == (None, "letter")
