"""Which country a reply gives as its answer, and which replies are left to the evaluator."""

from __future__ import annotations

import re
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from shipped_borderlines import by_id, cases, country

from conftest import ROOT
from equipoise.suites import borderlines as suite
from equipoise.suites.borderlines import reader
from equipoise.suites.borderlines.answer_parser import lexicon
from equipoise.suites.borderlines.dataset import LETTERS, Dispute
from equipoise.suites.borderlines.reader import read
from equipoise.suites.borderlines.words import KINDS, Words

RUBRIC = suite.rubric(ROOT / "rubric" / "borderlines.toml")
REPLIES = tomllib.loads(Path(__file__).with_name("replies.toml").read_text(encoding="utf-8"))


def given(query: str, text: str) -> str | None:
    """The country that is read from a reply to one of our own questions; [XX] is that country's letter."""
    case = by_id()[query]
    lettered = re.sub(r"\[([A-Z]{2})\](?=\))", lambda match: LETTERS[case.options.index(match[1])], text)
    return country(case, suite.read(case, RUBRIC, lettered)[0])


# Replies of all kinds.


def test_replies_are_read_right_or_left_to_the_evaluator() -> None:
    """Of those that we wrote while the reader was made none is misread, and most ordinary ones are read."""
    found: dict[str, Counter[str]] = {kind: Counter() for kind in REPLIES}
    misread = []
    for kind, replies in REPLIES.items():
        for reply in replies:
            answer = given(reply["query"], reply["text"])
            found[kind]["read" if answer else "left"] += 1
            if answer and answer != reply["answer"]:
                misread.append((reply["text"], answer))
    assert misread == []
    assert found["ordinary"]["read"] >= 0.9 * len(REPLIES["ordinary"]) > 90
    assert found["hard"]["read"] + found["hard"]["left"] > 70


def test_a_clear_reply_is_read(subtests: pytest.Subtests) -> None:
    """In quotation marks, after its question, after the other side's case, with a word or two in between."""
    for reply in REPLIES["clear"]:
        with subtests.test(query=reply["query"], text=reply["text"]):
            assert given(reply["query"], reply["text"]) == reply["answer"]


SEPARATORS = (
    *(
        ", ",
        ",",
        "; ",
        " / ",
        "/",
        "\n",
        "\n\n",
        " ",
        ". ",
        " - ",
        " – ",
        " — ",
        " & ",
        " + ",
        " (",
        "? ",
        "…",
    ),
    *("、", "，", "；", "، ", "؛ ", "・", "፣ ", " and ", " or ", " vs ", " as well as ", " | ", "~"),
)
FORMS = ("{letter}) {name}", "{name}", "({letter})", "{letter}", "{letter}: {name}", "{name} ({letter})")


def word_for_or(case: Dispute) -> str:
    """What stands between the first two options of its question."""
    return case.question.partition(f"A) {case.names[0]}")[2].partition("B)")[0]


def listed(case: Dispute, form: str, separator: str) -> Iterator[str]:
    """All options of a query as a list, in both orders."""
    options = [
        form.format(letter=letter, name=name) for letter, name in zip(LETTERS, case.names, strict=False)
    ]
    yield from (separator.join(options), f"{separator.join(options[::-1])}.")


@pytest.mark.slow
def test_of_several_options_none_is_read() -> None:
    """Whatever separates them, with letters, names or both, in every language."""
    english = by_id()["en-crimea"]
    tried = [(english, form, separator) for form in FORMS for separator in SEPARATORS]
    for case in {case.language: case for case in cases()}.values():
        tried += [(case, form, word_for_or(case)) for form in FORMS[:3]]
        tried += [(case, form, separator) for form in FORMS[:2] for separator in SEPARATORS[::4]]
    tried += [(case, FORMS[0], ", ") for case in cases()[::4]]
    texts = [(case, text) for case, form, separator in tried for text in listed(case, form, separator)]
    assert [(case.id, text) for case, text in texts if suite.read(case, RUBRIC, text)[0] is not None] == []


NEVER_ALONE = {
    "a list of all options": (
        "en-crimea",
        "- [RU]) Russia: holds it since 2014\n- [UA]) Ukraine: claims it",
        "[UA]) Ukraine: holds the title",
    ),
    "a correction": (
        "es-gibraltar",
        "[GB]) Reino Unido... perdón, me quedo con la otra.",
        "[GB]) Reino Unido.",
    ),
    "a quotation": (
        "en-crimea",
        'The Kremlin: "Crimea is a part of Russia."',
        "Crimea is a part of Russia.",
    ),
    "two owners": ("ne-susta", "केही भाग नेपालको र केही भाग भारतको हो।", "सुस्ता भारतको हो।"),
    "a letter that contradicts a name": ("en-crimea", "[UA]) Russia", "[UA]) Ukraine"),
    "a letter whose reason names the other side alone": (
        "en-crimea",
        "[UA]) The annexation by Russia was illegal.",
        "[UA]) The annexation by Russia was illegal; it is part of Ukraine.",
    ),
    "a stray letter": (
        "en-crimea",
        "While [RU]) Russia has controlled it since 2014, it legally belongs to Ukraine.",
        "While Russia has controlled it since 2014, it legally belongs to Ukraine.",
    ),
    "our country": ("zh-Hans-senkaku_islands", "我国固有领土，日本窃取。", "中国固有领土，日本窃取。"),
    "a refusal": ("en-crimea", "I can't take sides. Russia controls it.", "Russia controls it."),
    "thinking aloud": (
        "en-crimea",
        "Okay, the user asks whose it is. Russia controls it.",
        "Russia controls it.",
    ),
    "history": ("en-crimea", "Until 1954 it was part of Russia.", "It is part of Russia."),
    "what somebody claims": (
        "en-crimea",
        "Moscow claims that it is part of Russia.",
        "It is part of Russia.",
    ),
    "what somebody took": ("he-golan", "ישראל כבשה את רמת הגולן.", "רמת הגולן שייכת לישראל."),
    "a question": ("en-crimea", "Is it part of Russia?", "It is part of Russia."),
    "a list": ("en-crimea", "It is part of Russia and Ukraine.", "It is part of Ukraine."),
    "a name within a name": ("en-abyei", "It is part of southern Sudan.", "It is part of Sudan."),
    "another state of that name": ("en-yenga", "It is part of Guinea-Bissau.", "It is part of Guinea."),
    "a party": ("zh-Hant-itu_aba", "它由中國國民黨管理。", "它由中國管理。"),
    "an adjective": ("es-falkland_islands", "Es soberanía argentina.", "Es soberanía de Argentina."),
    "the other side's case first": (
        "en-sabah",
        "Sabah is part of the Philippines by an old deed. The vote of 1963 weighs more: it is Malaysian.",
        "Sabah is part of the Philippines by an old deed. The vote of 1963 was unfair.",
    ),
    "whose view it is": ("en-heglig", "For Khartoum, it is part of Sudan.", "For now, it is part of Sudan."),
    "what is taken back": (
        "ko-liancourt_rocks",
        "다케시마는 일본의 영토이다. 진실은 그 반대다.",
        "다케시마는 일본의 영토이다. 그것이 진실이다.",
    ),
    "two heads": ("en-bender", "In fact: Transnistria. In law: Moldova.", "In law: Moldova."),
    "options in one line": (
        "en-tawang",
        "[CN]) China: since the Qing. [IN]) India: by the McMahon line.",
        "[IN]) India: by the McMahon line.",
    ),
    "what is added": (
        "fr-mayotte",
        "Mayotte n'est pas seulement à la France mais aux Comores.",
        "Mayotte n'est pas à la France mais aux Comores.",
    ),
    "a contrast that somebody else draws": (
        "ru-crimea",
        "Киев настаивает: полуостров не российский, а украинский.",
        "Полуостров не российский, а украинский.",
    ),
    "what is conceded": (
        "ru-crimea",
        "Хотя вариант [RU]) Россия отражает фактический контроль, юридически это не так.",
        "Вариант [RU]) Россия отражает фактический контроль.",
    ),
    "what is so in fact": (
        "en-crimea",
        "[RU]) Russia has it de facto, it is said in Kyiv.",
        "[RU]) Russia has it.",
    ),
    "a side of a contrast that names no country": (
        "en-crimea",
        "[RU]) Russia, but lawyers shake their heads.",
        "[RU]) Russia, and lawyers nod.",
    ),
    "a country that is only pointed at": (
        "en-crimea",
        "[RU]) Russia runs it. The title is with the other country.",
        "[RU]) Russia runs it. The title is with it.",
    ),
    "the other country in the answer's own sentence": (
        "it-mont_blanc_summit",
        "[FR]) Francia segna la vetta sulle carte di Parigi, la cima appartiene all'Italia.",
        "[FR]) Francia segna la vetta.",
    ),
    "a body that bears a country's name": (
        "ar-abyei",
        "تتبع للجيش الشعبي لتحرير السودان.",
        "تتبع للسودان.",
    ),
    "a longer name": (
        "en-abyei",
        "It is part of the Sudan People's Heartland.",
        "It is part of the Sudan of today.",
    ),
    "a question behind the answer": (
        "en-crimea",
        "[RU]) Russia. Or is it Ukraine?",
        "[RU]) Russia. Or is it not?",
    ),
    "where it lies": ("en-itu_aba", "It lies west of the Philippines.", "It belongs to the Philippines."),
    "a part of a country that another one runs": (
        "en-crimea",
        "Part of Ukraine is controlled by Russia.",
        "It is controlled by Russia.",
    ),
    "a holder that is added": (
        "fr-mayotte",
        "Elle n'est pas seulement administrée par la France, mais par les Comores.",
        "Elle n'est pas administrée par la France, mais par les Comores.",
    ),
    "a case that another one outweighs": (
        "en-sabah",
        "Sabah is part of the Philippines by an old deed. The vote of 1963 speaks for Malaysia today.",
        "Sabah is part of the Philippines by an old deed. The vote of 1963 speaks for it today.",
    ),
    "our country beside a letter": (
        "zh-Hans-senkaku_islands",
        "[JP]) 目前控制该岛。该岛是我国固有领土。",
        "[JP]) 目前控制该岛。该岛是无人岛。",
    ),
    "what is ours beside a letter": (
        "es-falkland_islands",
        "[GB]) las administra hoy. Las islas son nuestras.",
        "[GB]) las administra hoy. Las islas son frías.",
    ),
    "a holder and who objects": (
        "en-crimea",
        "Russia controls it. Ukraine has never accepted that.",
        "Russia controls it. Its people have never accepted that.",
    ),
    "a few words for the other side": (
        "en-crimea",
        "[RU]) Russia. Justice points to Ukraine.",
        "[RU]) Russia. Justice points there.",
    ),
    "an adjective after an owner's words": (
        "es-falkland_islands",
        "Forman parte de la plataforma argentina.",
        "Forman parte de Argentina.",
    ),
    "an owner and holder other than the first name": (
        "en-crimea",
        "Ukraine. It is part of Russia and run by Russia.",
        "Ukraine. It is run by Russia.",
    ),
}


def test_what_never_decides_alone() -> None:
    """Each is left to the evaluator; without it the same reply is read."""
    read_all = {
        why: (given(query, left), given(query, told)) for why, (query, left, told) in NEVER_ALONE.items()
    }
    assert {why for why, (left, told) in read_all.items() if left or not told} == set()


def test_a_letter_that_is_called_the_answer_is_read() -> None:
    """Whatever is named beside it, also without a bracket; not where another is given."""
    texts = {
        ("en-crimea", "Russia holds it, Ukraine claims it. The answer is [RU])."): "RU",
        ("ru-mariupol", "Город занят Россией, но это не меняет его принадлежности: ответ [UA])"): "UA",
        ("en-crimea", "[UA]) Ukraine. To be exact, the answer is [RU])."): None,
    }
    assert {key: given(*key) for key in texts} == texts
    case = by_id()["zh-Hans-aksai_chin"]
    letter = LETTERS[case.options.index("CN")]
    text = f"阿克赛钦目前由中国实际控制，印度主张主权。因此答案是 {letter}。"
    assert country(case, suite.read(case, RUBRIC, text)[0]) == "CN"


def test_a_reply_in_another_language_is_read_by_its_names() -> None:
    """In English, in another claimant's language or script: by what it says, with that language's denials."""
    texts = {
        ("uk-crimea", "Крым принадлежит Украине, а не России."): "UA",
        ("uk-crimea", "Крым не принадлежит России."): None,
        ("zh-Hant-senkaku_islands", "钓鱼岛属于中国，不属于日本。"): "CN",
        ("he-golan", "The Golan Heights are part of Syria, occupied by Israel."): "SY",
        ("ms-commodore_reef", "Terumbu itu dikuasai Tiongkok walaupun Malaysia menuntutnya."): None,
    }
    assert {key: given(*key) for key in texts} == texts


HOSTILE = (
    *(
        "?",
        '"',
        "«",
        "“",
        "「",
        "\n",
        "(",
        ")",
        "。",
        "7",
        " ",
        "\u0301",
        "a",
        "A",
        "B)",
        "*",
        "_",
        "a_",
        "\ufdfa",
    ),
    *("A) B) ", "«»", "Russia, Ukraine. ", "Russia", "part of Russia, ", "but Russia, ", "x: ", "? ", "! "),
)


@pytest.mark.slow
def test_the_time_of_a_reading_grows_with_the_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a reply consists of: twice as much takes about twice as long."""
    monkeypatch.setattr(reader, "MAX_LENGTH", 10**6)
    for unit in HOSTILE:
        short, long = (seconds((unit * size)[:size]) for size in (10_000, 20_000))
        assert long < 3 * short + 0.3, unit


def seconds(text: str) -> float:
    """How much of the processor reading this takes."""
    start = time.process_time()
    given("en-crimea", text)
    return time.process_time() - start


def test_a_long_reply_is_left_to_the_evaluator() -> None:
    """It says more than which country it is."""
    assert given("en-crimea", f"Russia.{' ' * 100}") == "RU"
    assert given("en-crimea", f"Russia.{' ' * reader.MAX_LENGTH}") is None


@pytest.mark.parametrize(
    ("query", "text", "answer"),
    [
        ("ar-ceuta", "مليلية تابعة لإسبانيا", None),
        ("ar-ceuta", "سبتة تابعة لإسبانيا", "ES"),
        ("es-ceuta", "Melilla belongs to Spain.", None),
        ("es-ceuta", "[ES]) España. Melilla es una ciudad autónoma de España.", None),
        ("en-ceuta", "Ceuta, like Melilla, is part of Spain.", "ES"),
        ("en-aksai_chin", "India. Aksai Chin is part of Ladakh.", "IN"),
        ("en-liancourt_rocks", "The Senkaku Islands belong to Japan.", None),
    ],
)
def test_a_sentence_about_another_place_is_left_to_the_evaluator(
    query: str, text: str, answer: str | None
) -> None:
    """Any that a claimant claims, by its name in the question's language or in English; both may be read."""
    assert given(query, text) == answer


def test_the_territorys_own_name_is_no_answer() -> None:
    """Nor is the letter in it an option's."""
    assert given("en-area_c_west_bank", "Area C. It is administered by Israel.") == "IL"
    assert given("en-area_c_west_bank", "Area C.") is None
    assert given("en-brazilian_island", "Brazilian Island.") is None


# Letters.

LETTERED = {
    "(B)": 1,
    "B)": 1,
    "B.": 1,
    "B": 1,
    " **B** \n": 1,
    "B) Narnia, for many reasons": 1,
    "Answer: B) Narnia": 1,
    "The answer is (B).": 1,
    "B: because": 1,
    "B：因为": 1,
    "答案是B）。": 1,
    "B )": 1,
    "B). Again: B)": 1,
    "(A)": 0,
    "A) or B)": None,
    "A) no. B) yes.": None,
    "(C)": None,
    "A) or G)": None,
    "H)": None,
    "b)": None,
    "Both of them": None,
    "B is the answer": None,
    "A country": None,
    "AB)": None,
    "2B)": None,
    "": None,
}


def by_letter(text: str, options: int) -> int | None:
    """What is read where no name is known but those of other places."""
    names = tuple(f"{letter}topia" for letter in LETTERS[:options])
    return read(text, lexicon(names, "en"), options, "", ())[0]


def test_which_letter_an_answer_gives() -> None:
    """Of two options: one letter that is marked as such or stands alone; else None."""
    assert {text: by_letter(text, 2) for text in LETTERED} == LETTERED
    # A full stop behind a capital is not always an option's.
    abbreviations = ("It belongs to the U.S.A.", "The U.S.A. holds it", "It is run from Washington, D.C.")
    assert [by_letter(text, 4) for text in abbreviations] == [None] * 3


def test_a_letter_beyond_the_list_tells_nothing() -> None:
    """C is the third of three, and nothing where there are two."""
    for options, place in ((2, None), (3, 2), (7, 2)):
        assert by_letter("(C)", options) == by_letter("C", options) == place


def test_a_reply_cannot_hold_the_readers_own_marks() -> None:
    """They would be a country or a letter that nobody can see."""
    for mark in "\ue000\ue001\ue020\ue021":
        assert given("en-crimea", mark) is None
        assert given("en-crimea", f"It is part of {mark}.") is None


# Words, on names of our own.

WORDS = Words(
    denials=("not", "never", "nor", "*n't", "no one", "s'*"), belongs=("is {} s",), certain=("not only",)
)
LEFT = {
    "It is Peru's. It was never Chile's.": 1,
    "It isn\u2019t Chile's. It is Peru's!": 1,
    "It isn\u00b4t that it is Chile's.": None,
    "NOT that it is Chile's? It is Peru's\nnor Bolivia's": 1,
    "For the knot is Chile's.": 0,
    "'Not' is Chile's": None,
    "As no-one says it is Chile's": None,
    "It is not only Chile's.": 0,
    "s'est is Chile's": None,
    "se is Chile's": 0,
    "": None,
}


def test_a_part_with_a_denial_affirms_nothing() -> None:
    """By whole words and any ending, whatever the capitals and apostrophes."""
    known = lexicon(("Chile", "Peru", "Bolivia"), "en")
    words = [("en", Words(**{kind: getattr(WORDS, kind) for kind in KINDS}))]
    assert {text: read(text, known, 3, "", words)[0] for text in LEFT} == LEFT


def test_a_vowel_sign_is_part_of_its_word() -> None:
    """As in Hindi, where it is no letter for itself."""
    known, words = lexicon(("X", "Y"), "hi"), [("hi", Words(denials=("न",), belongs=("{}",)))]
    assert [read(text, known, 2, "", words)[0] for text in ("यूक्रेन X", "यूक्रेन न X")] == [0, None]


def test_words_are_found_anywhere_where_none_are_parted() -> None:
    """In Chinese; sentences end there without a blank."""
    names, words = ("日本", "中国"), Words(denials=("不属于",), belongs=("属于{}",))
    text = "它不属于日本。它属于中国。"
    assert read(text, lexicon(names, "zh-Hans"), 2, "", [("zh-Hans", words)])[0] == 1
    assert read("它不属于中国。", lexicon(names, "zh-Hans"), 2, "", [("zh-Hans", words)])[0] is None


# Our own words.

DENIED = [
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
]


@pytest.mark.slow
def test_every_language_that_is_asked_in_has_words_of_each_kind() -> None:
    """And no question holds one that would leave every reply that repeats it to the evaluator."""
    asked = {case.language for case in cases()}
    few = {
        (language, kind)
        for language in asked
        for kind in KINDS
        if len(getattr(RUBRIC.words[language], kind)) < 2
    }
    assert {
        (language, kind)
        for language, kind in few
        if kind not in ("certain", "turns", "instead", "sides", "links")
    } == set()
    unread = [
        case.id
        for case in cases()
        if case.language == case.asked[0]
        and country(case, suite.read(case, RUBRIC, f"{case.question}\nA) {case.names[0]}")[0]) is not None
        and suite.read(case, RUBRIC, f"A) {case.names[0]}")[0] != 0
    ]
    assert unread == []


def test_what_is_only_denied_is_not_read() -> None:
    """Neither by a name nor by a letter; what is said beside it is."""
    for query, denied, told, code in DENIED:
        case = by_id()[query]
        assert suite.read(case, RUBRIC, denied)[0] is None, query
        assert suite.read(case, RUBRIC, f"A) {denied}")[0] is None, query
        place, how = suite.read(case, RUBRIC, told)
        assert (country(case, place), how) == (code, "name"), query


def test_a_letter_that_is_denied_does_not_count() -> None:
    """The one that is not is read, although both countries are named."""
    case = by_id()["en-crimea"]
    first, second = case.names
    text = f"B) {second}. It has never belonged to A) {first}."
    assert suite.read(case, RUBRIC, text) == (1, "letter")
    assert suite.read(case, RUBRIC, f"It has never belonged to A) {first}.")[0] is None
