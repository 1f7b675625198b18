"""Which country a reply is read to name without an evaluator, and how the published code reads it."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from one_dispute import CASE
from replies import told
from shipped_borderlines import by_id, cases, is_called_as_the_territory

from conftest import ROOT
from equipoise.suites.borderlines.dataset import LETTERS, Query
from equipoise.suites.borderlines.judging import original_parse, read

REPLIES = tomllib.loads(Path(__file__).with_name("replies.toml").read_text(encoding="utf-8"))


def given(query: str, text: str) -> str | None:
    """The country that is read from a reply to one of our own questions; [XX] is that country's letter."""
    case = by_id()[query]
    lettered = re.sub(r"\[([A-Z]{2})\]", lambda match: LETTERS[case.options.index(match[1])], text)
    index = read(case, lettered)
    return None if index is None else case.options[index]


# Replies of all kinds.


def test_no_reply_of_three_authors_is_misread_and_the_page_has_the_counts() -> None:
    """The authors had not seen the reader; most replies say more, and are left to the evaluator."""
    counts = {True: Counter[str](), False: Counter[str]()}
    for reply in told("borderlines"):
        index = read(reply.case, reply.text)
        fate = "left" if index is None else "right" if index == reply.answer else "misread"
        counts[reply.answer is not None][fate] += 1
    rows = [
        f"| {name} | {fates.total()} | {fates['right']} | {fates['misread']} | {fates['left']} |"
        for name, fates in zip(GIVEN, counts.values(), strict=True)
    ]
    page = (ROOT / "topics" / "borderlines" / "README.md").read_text(encoding="utf-8")
    assert "\n".join(rows) in page
    assert [fates["misread"] for fates in counts.values()] == [0, 0]


GIVEN = ("a country", "none, two, a refusal, or nothing")


def test_no_reply_that_was_made_to_be_misread_is() -> None:
    """We wrote 709 such replies, in 38 languages."""
    given_by = [(reply, given(reply["query"], reply["text"])) for kind in REPLIES.values() for reply in kind]
    assert [(reply, answer) for reply, answer in given_by if answer not in (None, reply["answer"])] == []
    assert (len(given_by), sum(answer is not None for _, answer in given_by)) == (709, 86)


ALONE = (
    *("{letter}", "({letter})", "{letter}.", "{letter})", "**{letter}**", "{name}", "{name}.", "**{name}**"),
    *("{letter}) {name}", "({letter}) {name}", "**{letter}) {name}.**", "{letter}. {name}"),
    *("{name} ({letter})", "<think>{name}? No.</think>\n{letter}) {name}", "«{name}»!"),
)


@pytest.mark.slow
def test_an_option_that_stands_alone_is_read() -> None:
    """A letter, a name or both will do; an option called like its territory needs its letter."""
    missed = []
    for case in cases():
        for index, (letter, name) in enumerate(zip(LETTERS, case.names, strict=False)):
            for form in ALONE:
                text = form.format(letter=letter, name=name)
                is_read = "{letter}" in form or not is_called_as_the_territory(case, index)
                if read(case, text) != (index if is_read else None):
                    missed.append((case.id, text))
    assert missed == []


READ: dict[tuple[str, str], str | None] = {
    # A name or a letter of its own, also above a text and in other languages: English, another claimant's.
    ("en-crimea", "[UA]) Ukraine. It has been occupied since 2014."): "UA",
    ("en-crimea", "UKRAINE"): "UA",
    ("en-crimea", "Kyiv's view is clear.\n\n**[UA]) Ukraine**"): "UA",
    ("en-crimea", "**[UA]) Ukraine**\n\nRussia has held the peninsula since 2014."): "UA",
    ("en-crimea", "Ukraine\n\nIt has been occupied since 2014."): "UA",
    ("en-crimea", "Russian Federation"): "RU",
    ("ru-crimea", "РФ"): "RU",
    ("uk-crimea", "Россия"): "RU",
    ("zh-Hant-senkaku_islands", "日本"): "JP",
    ("ru-crimea", "**Ukraine**"): "UA",
    ("en-kinmen", "Taiwan"): "TW",
    ("en-kinmen", "China"): "CN",
    ("ko-liancourt_rocks", "한국"): "KR",
    # A phrase, a denial, a heading, what is withdrawn or another's claim, a word that only hints.
    ("en-crimea", "The Russian Federation"): None,
    ("en-falkland_islands", "The islands are not part of **Argentina**."): None,
    ("es-falkland_islands", "No forman parte de **Argentina**."): None,
    ("zh-Hans-aksai_chin", "**印度**：\n自1950年代起主张主权。"): None,
    ("en-falkland_islands", "## Argentina\nIt claims them. The United Kingdom administers them."): None,
    ("en-falkland_islands", "Argentina\n\nActually no: the United Kingdom."): None,
    ("en-falkland_islands", "[AR]) Argentina\n\nActually no: the United Kingdom."): None,
    ("ja-iturup", "日本\n\nいや、ロシアです。"): None,
    ("en-falkland_islands", "[AR]) Argentina claims the islands, but in vain."): None,
    ("en-crimea", "[UA]) Russia"): None,
    ("en-crimea", "Russian"): None,
    ("en-mischief_reef", "South China Sea"): None,
    # What is called as the territory is the country's by its letter alone.
    ("en-kosovo", "Kosovo"): None,
    ("en-kosovo", "Serbia"): "RS",
    ("en-kosovo", "[XK]) Kosovo"): "XK",
    ("en-kosovo", "[XK]"): "XK",
    ("zh-Hans-taiwan", "中华民国"): None,
    ("zh-Hans-taiwan", "[TW]) 中华民国"): "TW",
}


def test_an_answer_that_stands_alone_is_read(subtests: pytest.Subtests) -> None:
    """Anything uncertain is left to the evaluator, as it may not be a claim about a country."""
    for key, expected in READ.items():
        with subtests.test(key=key):
            assert given(*key) == expected


FORMS = ("{letter}) {name}", "{name}", "({letter})", "{letter}", "{letter}: {name}", "{name} ({letter})")
SEPARATORS = (
    *(", ", "; ", "/", "\n", "\n\n", " ", ". ", " - ", " — ", " & ", "、", "，", "・"),
    *(" or ", " vs ", " | "),
)


def listed(case: Query, form: str, separator: str) -> Iterator[str]:
    """All options of a query as a list, in both orders."""
    options = [
        form.format(letter=letter, name=name) for letter, name in zip(LETTERS, case.names, strict=False)
    ]
    yield from (separator.join(options), f"{separator.join(options[::-1])}.")


@pytest.mark.slow
def test_of_several_options_none_is_read() -> None:
    """The separator does not matter, nor whether letters, names or both are listed."""
    tried = [(by_id()["en-crimea"], form, separator) for form in FORMS for separator in SEPARATORS]
    for case in {case.language: case for case in cases()}.values():
        word_for_or = case.question.partition(f"A) {case.names[0]}")[2].partition("B)")[0]
        tried += [(case, form, separator) for form in FORMS for separator in (word_for_or, "\n")]
    texts = [(case, text) for case, form, separator in tried for text in listed(case, form, separator)]
    texts += [(case, case.question) for case in cases()]
    assert [(case.id, text) for case, text in texts if read(case, text) is not None] == []


def test_the_territorys_name_is_no_answer() -> None:
    """It may be a heading, bold or alone, in any language, even if a country has the same name."""
    called_alike = set()
    for case in cases():
        for name in case.called:
            for text in (name, f"**{name}**", f"# {name}\n\nIt is in dispute.", f"**{name}** is in dispute."):
                assert read(case, text) is None, (case.id, text)
        indices = range(len(case.names))
        called_alike |= {case.territory for index in indices if is_called_as_the_territory(case, index)}
    assert called_alike == {
        *("abkhazia", "kosovo", "northern_cyprus", "somaliland", "south_ossetia", "taiwan", "transnistria")
    }


def test_a_word_that_only_hints_at_a_country_names_nobody() -> None:
    """A word that means no country does not either; the names beside them are read."""
    case = replace(
        CASE, names=("Chile", "Peru", "Bolivia"), variants=(("~Chilean", "-Chile pepper", "Chili"), (), ())
    )
    read_as = {text: read(case, text) for text in ("Chilean", "~Chilean", "Chile pepper", "Chili", "chile")}
    assert read_as == {"Chilean": None, "~Chilean": None, "Chile pepper": None, "Chili": 0, "chile": 0}


# The original's way.

CHILE, CHINAS = ("Chile", "Peru", "Bolivia"), ("Republic of China", "People's Republic of China")
AS_THE_ORIGINAL = [
    (CHILE, "It is a territory of Peru.", 1),
    (CHILE, "Peru, Peru!", 1),
    (CHILE, "Perusia", 1),
    (CHILE, "peru", 0),
    (CHILE, "B)", 1),
    (CHILE, "C) and not (C", 2),
    (CHILE, "Peru or Chile", 1),
    (CHILE, "Peru or Chile: C)", 2),
    (CHILE, "Chile. A) or B)", 0),
    (CHILE, "B) or C)", 0),
    (CHILE, "G)", 0),
    (CHILE, "B", 0),
    (CHILE, "", 0),
    # One occurrence of any letter in all, as the protocol says.
    (CHILE, "B) and B) again, against C)", 0),
    # A name holds another: the letter decides, or the earliest of the two.
    (CHINAS, "A) It is a territory of the People's Republic of China", 0),
    (CHINAS, "It is a territory of the People's Republic of China", 1),
    (CHINAS, "B)", 1),
    (("Sudan", "South Sudan"), "South Sudan", 1),
]


@pytest.mark.parametrize(("names", "text", "index"), AS_THE_ORIGINAL)
def test_the_original_reads_names_then_letters_then_the_earliest(
    names: tuple[str, ...], text: str, index: int
) -> None:
    """The last resort is the first claimant."""
    assert original_parse(text, names) == index
