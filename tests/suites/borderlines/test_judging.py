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
from shipped_borderlines import by_id, cases, country

from conftest import ROOT
from equipoise.suites.borderlines.dataset import LETTERS, Dispute
from equipoise.suites.borderlines.judging import original_parse, read

REPLIES = tomllib.loads(Path(__file__).with_name("replies.toml").read_text(encoding="utf-8"))


def given(query: str, text: str) -> str | None:
    """The country that is read from a reply to one of our own questions; [XX] is that country's letter."""
    case = by_id()[query]
    lettered = re.sub(r"\[([A-Z]{2})\]", lambda match: LETTERS[case.options.index(match[1])], text)
    return country(case, read(case, lettered))


# Replies of all kinds.


def test_no_reply_of_three_authors_is_misread_and_the_page_has_the_counts() -> None:
    """Authors who had not seen the reader; most say more than the country, and are left to the evaluator."""
    counts = {True: Counter[str](), False: Counter[str]()}
    for reply in told("borderlines"):
        place = read(reply.case, reply.text)
        fate = "left" if place is None else "right" if place == reply.answer else "misread"
        counts[reply.answer is not None][fate] += 1
    rows = [
        f"| {name} | {found.total()} | {found['right']} | {found['misread']} | {found['left']} |"
        for name, found in zip(GIVEN, counts.values(), strict=True)
    ]
    page = (ROOT / "topics" / "borderlines" / "README.md").read_text(encoding="utf-8")
    assert "\n".join(rows) in page
    assert [found["misread"] for found in counts.values()] == [0, 0]


GIVEN = ("a country", "none, two, a refusal, or nothing")


def test_no_reply_that_was_made_to_be_misread_is() -> None:
    """709 of our own, in 38 languages."""
    given_by = [(reply, given(reply["query"], reply["text"])) for kind in REPLIES.values() for reply in kind]
    assert [(reply, answer) for reply, answer in given_by if answer not in (None, reply["answer"])] == []
    assert (len(given_by), sum(answer is not None for _, answer in given_by)) == (709, 86)


def is_called_alike(case: Dispute, place: int) -> bool:
    """Whether a name of a claimant is one of the territory's, in any language."""
    names = [
        case.names[place],
        *(name for further in (case.variants, *case.elsewhere.values()) for name in further[place]),
    ]
    return not {*case.called}.isdisjoint(names)


ALONE = (
    *("{letter}", "({letter})", "{letter}.", "{letter})", "**{letter}**", "{name}", "{name}.", "**{name}**"),
    *(
        "{letter}) {name}",
        "({letter}) {name}",
        "**{letter}) {name}.**",
        "{letter}. {name}",
        "{name} ({letter})",
    ),
    *("<think>{name}? No.</think>\n{letter}) {name}", "«{name}»!"),
)


@pytest.mark.slow
def test_an_option_that_stands_alone_is_read() -> None:
    """In every language, by letter, by name or both; by its letter alone if it is called as the territory."""
    missed = []
    for case in cases():
        for place, (letter, name) in enumerate(zip(LETTERS, case.names, strict=False)):
            for form in ALONE:
                text = form.format(letter=letter, name=name)
                is_read = "{letter}" in form or not is_called_alike(case, place)
                if read(case, text) != (place if is_read else None):
                    missed.append((case.id, text))
    assert missed == []


READ = {
    ("en-crimea", "[UA]) Ukraine. It has been occupied since 2014."): "UA",
    ("en-crimea", "UKRAINE"): "UA",
    ("en-crimea", "Kyiv's view is clear.\n\n**[UA]) Ukraine**"): "UA",
    ("en-crimea", "**[UA]) Ukraine**\n\nRussia has held the peninsula since 2014."): "UA",
    ("en-crimea", "Ukraine\n\nIt has been occupied since 2014."): "UA",
    ("en-crimea", "The Russian Federation"): None,
    ("en-crimea", "Russian Federation"): "RU",
    ("ru-crimea", "РФ"): "RU",
    # In another language than the question's: English, and another claimant's.
    ("uk-crimea", "Россия"): "RU",
    ("zh-Hant-senkaku_islands", "日本"): "JP",
    ("ru-crimea", "**Ukraine**"): "UA",
    ("en-kinmen", "Taiwan"): "TW",
    ("en-kinmen", "China"): "CN",
    ("ko-liancourt_rocks", "한국"): "KR",
}


def test_an_answer_that_stands_alone_is_read_by_any_of_its_names() -> None:
    """By usual ones, too; an article before it makes it a phrase, which is left."""
    assert {key: given(*key) for key in READ} == READ


# What is left to the evaluator.

LEFT = {
    "both claimants": ("en-crimea", "**Russia** holds it, **Ukraine** has the title."),
    "a denial": ("en-falkland_islands", "The islands are not part of **Argentina**."),
    "a denial without its beginning": ("en-falkland_islands", "not part of **Argentina**."),
    "a denial in another language": ("es-falkland_islands", "No forman parte de **Argentina**."),
    "a heading": ("en-falkland_islands", "Argentina:\nIt has claimed the islands since 1833."),
    "a heading in bold": ("en-falkland_islands", "**Argentina:**\n\nIt has claimed the islands since 1833."),
    "a heading in Chinese": ("zh-Hans-aksai_chin", "**印度**：\n自1950年代起主张主权。"),
    "a heading in French": ("fr-mayotte", "Comores\xa0:\nils revendiquent l'île depuis 1975."),
    "a heading without a colon": (
        "en-falkland_islands",
        "## Argentina\nIt claims the islands. The United Kingdom administers them.",
    ),
    "a name that is withdrawn": ("en-falkland_islands", "Argentina\n\nActually no: the United Kingdom."),
    "a letter that is withdrawn": (
        "en-falkland_islands",
        "[AR]) Argentina\n\nActually no: the United Kingdom.",
    ),
    "an option that is withdrawn in Japanese": ("ja-iturup", "日本\n\nいや、ロシアです。"),
    "a claim, behind a letter": ("en-falkland_islands", "[AR]) Argentina claims the islands, but in vain."),
    "a list of the options": ("en-crimea", "[RU]) Russia\n[UA]) Ukraine"),
    "two answers": ("en-crimea", "[RU])\n[UA])"),
    "a letter with another option's name": ("en-crimea", "[UA]) Russia"),
    "a letter that is no option's": ("en-crimea", "C"),
    "a rival's claim behind a letter": ("en-crimea", "[RU]) Russia administers it; Ukraine claims it."),
    "a name in a sentence": ("en-crimea", "Crimea is part of Ukraine."),
    "a correction": ("es-gibraltar", "[GB]) Reino Unido... perdón, es de España."),
    "an open reasoning": ("en-crimea", "<think>Russia, or is it?"),
    "an adjective": ("en-crimea", "Russian"),
    "an adjective in bold": (
        "en-senkaku_islands",
        "**Chinese** ships are there every day; it is open whose it is.",
    ),
    "a sea that is called after a country": ("en-mischief_reef", "South China Sea"),
    "another sea": ("ko-liancourt_rocks", "Sea of Japan"),
    "nothing": ("en-crimea", ""),
}


def test_what_is_not_certain_is_left_to_the_evaluator(subtests: pytest.Subtests) -> None:
    """Each would be a claim about a country that the reply may not make."""
    for why, (query, text) in LEFT.items():
        with subtests.test(why):
            assert given(query, text) is None


FORMS = ("{letter}) {name}", "{name}", "({letter})", "{letter}", "{letter}: {name}", "{name} ({letter})")
SEPARATORS = (
    ", ",
    "; ",
    "/",
    "\n",
    "\n\n",
    " ",
    ". ",
    " - ",
    " — ",
    " & ",
    "、",
    "，",
    "・",
    " or ",
    " vs ",
    " | ",
)


def listed(case: Dispute, form: str, separator: str) -> Iterator[str]:
    """All options of a query as a list, in both orders."""
    options = [
        form.format(letter=letter, name=name) for letter, name in zip(LETTERS, case.names, strict=False)
    ]
    yield from (separator.join(options), f"{separator.join(options[::-1])}.")


@pytest.mark.slow
def test_of_several_options_none_is_read() -> None:
    """Whatever separates them, with letters, names or both, in every language; nor from the question."""
    tried = [(by_id()["en-crimea"], form, separator) for form in FORMS for separator in SEPARATORS]
    for case in {case.language: case for case in cases()}.values():
        word_for_or = case.question.partition(f"A) {case.names[0]}")[2].partition("B)")[0]
        tried += [(case, form, separator) for form in FORMS for separator in (word_for_or, "\n")]
    texts = [(case, text) for case, form, separator in tried for text in listed(case, form, separator)]
    texts += [(case, case.question) for case in cases()]
    assert [(case.id, text) for case, text in texts if read(case, text) is not None] == []


def test_the_territorys_name_is_no_answer() -> None:
    """As a heading, in bold or alone, in any language of its questions; its country's letter is one."""
    called_alike = set()
    for case in cases():
        for name in case.called:
            for text in (name, f"**{name}**", f"# {name}\n\nIt is in dispute.", f"**{name}** is in dispute."):
                assert read(case, text) is None, (case.id, text)
        called_alike |= {case.territory for place in range(len(case.names)) if is_called_alike(case, place)}
    assert called_alike == {
        *("abkhazia", "kosovo", "northern_cyprus", "somaliland", "south_ossetia", "taiwan", "transnistria")
    }
    assert {form: given("en-kosovo", form) for form in ("Kosovo", "Serbia", "[XK]) Kosovo", "[XK]")} == {
        **{"Kosovo": None, "Serbia": "RS"},
        **dict.fromkeys(("[XK]) Kosovo", "[XK]"), "XK"),
    }
    # Taiwan is one of the Republic of China's names.
    assert {
        text: given("zh-Hans-taiwan", text) for text in ("Taiwan", "台湾", "中华民国", "[TW]) 中华民国")
    } == {
        **dict.fromkeys(("Taiwan", "台湾", "中华民国"), None),
        "[TW]) 中华民国": "TW",
    }


def test_a_word_that_only_hints_at_a_country_names_nobody() -> None:
    """Nor does one that means no country; the names beside it are read."""
    case = replace(
        CASE, names=("Chile", "Peru", "Bolivia"), variants=(("~Chilean", "-Chile pepper", "Chili"), (), ())
    )
    read_as = {text: read(case, text) for text in ("Chilean", "~Chilean", "Chile pepper", "Chili", "chile")}
    assert read_as == {"Chilean": None, "~Chilean": None, "Chile pepper": None, "Chili": 0, "chile": 0}


# The original's way.

AS_THE_ORIGINAL = {
    "It is a territory of Peru.": 1,
    "Peru, Peru!": 1,
    "Perusia": 1,
    "peru": 0,
    "B)": 1,
    "C) and not (C": 2,
    "Peru or Chile": 1,
    "Peru or Chile: C)": 2,
    "Chile. A) or B)": 0,
    "A) or B)": 0,
    "G)": 0,
    "B": 0,
    "": 0,
    # One occurrence of any letter in all, as the protocol says.
    "A) and A) again, against B)": 0,
}


def test_the_original_reads_names_then_letters_then_the_earliest() -> None:
    """One name as a piece of text, one letter before a parenthesis, the first name, the first claimant."""
    names = ("Chile", "Peru", "Bolivia")
    assert {text: original_parse(text, names) for text in AS_THE_ORIGINAL} == AS_THE_ORIGINAL


def test_the_original_does_not_tell_a_name_within_a_name() -> None:
    """People's Republic of China holds both names; the letter decides, or the earliest of the two."""
    chinas, sudans = ("Republic of China", "People's Republic of China"), ("Sudan", "South Sudan")
    text = "It is a territory of the People's Republic of China"
    assert original_parse(f"A) {text}", chinas) == 0
    assert original_parse(text, chinas) == 1
    assert original_parse("South Sudan", sudans) == 1
    assert original_parse("B)", chinas) == 1
