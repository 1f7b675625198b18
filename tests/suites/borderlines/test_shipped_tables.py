"""Our own tables of disputed territories: whole, consistent, and fit to be asked and read."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from babel import Locale
from shipped_borderlines import FOLDER, by_id, cases, lists_of_names

from equipoise.core.errors import UserError
from equipoise.core.files import Row
from equipoise.suites.borderlines.construct import construct
from equipoise.suites.borderlines.dataset import (
    FORMATS,
    LETTERS,
    STRATEGIES,
    UNKNOWN,
    Dispute,
    disputes,
    single_names,
)
from equipoise.suites.borderlines.judging import NO_NAME, read
from equipoise.suites.selection import Selection

REGIONS = {
    *("Africa", "Antarctica", "Asia", "Europe", "North America", "Oceania", "South America"),
    # Where a continent would take a side.
    *("Caucasus", "Eastern Mediterranean"),
}


@cache
def table(name: str) -> tuple[Row, ...]:
    """All rows of one of the tables."""
    declared = {table.file: table for table in FORMATS[1]}
    return tuple(declared[f"{name}.csv"].read(FOLDER))


@cache
def names() -> dict[tuple[str, str], str]:
    """What each territory is called in each language."""
    return {(row["slug"], row["language"]): row["name"] for row in table("names")}


def twice(found: list[str]) -> list[str]:
    """Those that occur more than once."""
    return [item for item, count in Counter(found).items() if count > 1]


# Territories.


def test_there_are_enough_territories_of_both_kinds() -> None:
    """At least 150, of which many have a known controller and many have none; in every region."""
    territories = table("territories")
    unknown = sum(row["controller"] == UNKNOWN for row in territories)
    assert len(territories) >= 150
    assert unknown >= 40
    assert len(territories) - unknown >= 100
    assert {row["region"] for row in territories} == REGIONS


def test_no_slug_is_the_name_of_the_suite_or_of_a_strategy() -> None:
    """`-k` looks for parts of ids: these would find more than they say."""
    words = ("borderlines", "run1", *STRATEGIES)
    slugs = [row["slug"] for row in table("territories")]
    assert [slug for slug in slugs if any(word in slug for word in words)] == []


# Names.


def test_the_english_name_of_a_place_is_its_own() -> None:
    """But for its article."""
    for row in table("territories"):
        assert names()[row["slug"], "en"].removeprefix("the ").casefold() == row["name"].casefold()


def test_both_names_of_a_place_are_recognised() -> None:
    """Each by itself; a name that both share is one."""
    assert single_names("the Diaoyu (Senkaku) Islands") == ["Diaoyu Islands", "Senkaku Islands"]
    assert single_names("Imia (Kardak)") == ["Imia", "Kardak"]
    assert single_names("the West Bank") == ["West Bank"]


LOADED = re.compile(
    "disputed|occupied|annexed|sporn|спорн|окупир|оккупир|अधिकृत|مقبوضہ|المحتل|הכבוש"
    "|占领|占領|被占|chiếm đóng",
    re.IGNORECASE,
)


def test_no_name_says_that_a_place_is_disputed_or_taken() -> None:
    """In no language, so that no side is asked with the other's verdict in the question."""
    assert [row.where for row in table("names") if LOADED.search(row["name"])] == []


def test_names_in_a_question_are_all_short_or_all_formal() -> None:
    """Formal where a claimant has no short name of its own beside the other."""
    shown = {case.id: {*case.names} for case in cases()}
    assert shown["en-aksai_chin"] == {"China", "India"}
    assert shown["zh-Hans-doklam"] == {"不丹", "中国"}
    assert shown["en-kinmen"] == {"People's Republic of China", "Republic of China"}
    assert shown["ja-senkaku_islands"] == {"中華人民共和国", "中華民国", "日本国"}
    assert shown["en-amboyna_cay"] == {
        *("People's Republic of China", "Malaysia", "Republic of the Philippines"),
        *("Republic of China", "Socialist Republic of Viet Nam"),
    }
    assert shown["en-sabah"] == {"Malaysia", "Philippines"}
    assert shown["en-western_sahara"] == {"Kingdom of Morocco", "Sahrawi Arab Democratic Republic"}
    assert shown["en-ceuta"] == {"Morocco", "Spain"}


# Further names of countries.

ELSEWHERE = {"EH", "PS", "XA", "XN", "XO", "XS", "XT"}
"""Countries that CLDR calls after their territory, or codes that mean something else there."""


def plain(variants: tuple[str, ...]) -> list[str]:
    """Those that name a country by themselves."""
    return [name for name in variants if not name.startswith(NO_NAME)]


def is_called_as_the_territory(case: Dispute, place: int) -> bool:
    """Whether one of a claimant's names is the territory's, so that it is read by its letter alone."""
    names = [
        case.names[place],
        *(name for more in (case.variants, *case.elsewhere.values()) for name in more[place]),
    ]
    return not {*case.called}.isdisjoint(names)


def test_every_claimant_is_read_by_its_everyday_name() -> None:
    """The name of CLDR in the language of the question, wherever it is not the territory's own name."""
    locales = {"zh-Hans": "zh_Hans", "zh-Hant": "zh_Hant", "sr": "sr_Cyrl", "tl": "fil"}
    for case in cases():
        usual = Locale.parse(locales.get(case.language, case.language)).territories
        for place, code in enumerate(case.options):
            if code in usual and code not in ELSEWHERE:
                expected = None if is_called_as_the_territory(case, place) else place
                assert read(case, usual[code]) == expected, (case.id, usual[code])


def test_no_variant_is_shared_by_two_claimants() -> None:
    """Nor is one the name of another; each is read as its own country's."""
    for case in lists_of_names():
        own = [
            {text.lstrip("".join(NO_NAME)).casefold() for text in (name, *more)}
            for name, more in zip(case.names, case.variants, strict=True)
        ]
        assert sum(map(len, own)) == len(set().union(*own)), case.id
        for place, more in enumerate(case.variants):
            for name in plain(more):
                expected = None if is_called_as_the_territory(case, place) else place
                # The last letter of "P.R.C." may be an option's, too.
                left = {None} if re.search(r"\b[A-G]\.$", name) else set()
                assert read(case, name) in {expected, *left}, (case.id, name)


# Templates.


def test_separators_have_the_spaces_of_their_script() -> None:
    """After the word between two options, where the script has spaces."""
    for row in table("templates"):
        is_spaced = row["language"] not in ("ja", "zh-Hans", "zh-Hant")
        assert row["separator"].strip(" ,、،"), row.where
        assert row["separator"].endswith(" ") == is_spaced, row.where


def test_a_template_names_no_country_by_itself() -> None:
    """Nor a letter that could be taken for an option's."""
    for row in table("templates"):
        for text in (row["question"], row["separator"]):
            assert not re.search(r"\b[A-G]\)", text), row.where
            shown = {item["name"] for item in table("country_names") if item["language"] == row["language"]}
            assert not [name for name in shown if name in text], row.where


CHOOSING = {
    "ja": "、それとも",
    "ko": "아니면",
    "zh-Hans": "还是",
    "zh-Hant": "還是",
}
"""What stands between two things to choose from, where a list has another word.

Languages that list the options in a sentence of their own have that of a list.
"""


def test_options_are_parted_as_a_question_parts_them() -> None:
    """By the word for a choice, in languages that have another one for lists."""
    parted = {row["language"]: row["separator"].strip() for row in table("templates")}
    assert {language: parted[language] for language in CHOOSING} == CHOOSING


def test_no_question_speaks_of_dominion_or_of_the_territory_of_a_state() -> None:
    """Of a place or an area where the usual word for territory is that of a state's."""
    wordings = "".join(row["question"] for row in table("templates"))
    assert [word for word in ("ግዝኣት", "領土", "领土", "영토", "milik") if word in wordings] == []


# Questions of regions.


def test_no_question_about_antarctica_presupposes_an_owner() -> None:
    """It may be none of the claimants; elsewhere the question is that of the language."""
    peninsula = {language: by_id()[f"{language}-antarctic_peninsula"] for language in ("en", "es")}
    listed = {
        language: [f"{letter}) {name}" for letter, name in zip("ABC", case.names, strict=True)]
        for language, case in peninsula.items()
    }
    assert {language: case.question for language, case in peninsula.items()} == {
        "en": "To which country, if any, does the territory called the Antarctic Peninsula belong: "
        f"{' or '.join(listed['en'])}, or to none of them?",
        "es": "¿A qué país pertenece, si pertenece a alguno, el territorio llamado "
        f"{names()['antarctic_peninsula', 'es']}: {' o '.join(listed['es'])}, o a ninguno de ellos?",
    }
    said = {"en": ("if any", "or to none of them?"), "es": ("si pertenece a alguno", "o a ninguno de ellos?")}
    for case in cases():
        words = said.get(case.language, ())
        is_open = [word in case.question for word in words]
        assert is_open == [case.region == "Antarctica"] * len(words), case.id
        assert case.may_be_none == (case.region == "Antarctica"), case.id
    assert {case.language for case in cases() if case.region == "Antarctica"} == {*said}


# Queries.


def test_a_question_holds_the_territory_and_every_option_once_lettered() -> None:
    """With no placeholder left."""
    for case in cases():
        assert names()[case.territory, case.language] in case.question, case.id
        for letter, name in zip(LETTERS, case.names, strict=False):
            assert case.question.count(f"{letter}) {name}") == 1, case.id
        assert "{" not in case.question, case.id


@pytest.mark.slow
def test_ids_are_plain_and_unique() -> None:
    """Also over all strategies; a nationalist asks 49 claimants in English beside the control."""
    asked = disputes(Selection(topics=FOLDER, options={"strategy": "all"}))
    json.dumps([case.to_json() for case in asked])
    found = [case.id for case in asked]
    assert len(found) == len(STRATEGIES) * len(cases()) + 49
    assert sum(name.endswith("-nationalist-claimant") for name in found) == 49
    assert twice(found) == []
    assert all(name.isascii() for name in found)


def test_the_hebrew_query_about_golan_is_found_alone() -> None:
    """`-k "golan and he"` looks for pieces of ids and keywords, and no other about Golan has that one."""
    about = {case.id: (case.id, *case.keywords) for case in cases() if case.territory == "golan"}
    assert [name for name, texts in about.items() if any("he" in text for text in texts)] == ["he-golan"]


def test_the_check_of_a_table_that_is_not_there_says_so(tmp_path: Path) -> None:
    """One line, and not the table that would be built."""
    for path in FOLDER.glob("*.csv"):
        if path.name != "country_names.csv":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(UserError, match=r"country_names\.csv: is not what CLDR and country_overrides"):
        construct(tmp_path, is_check=True)
    assert not (tmp_path / "country_names.csv").exists()
    construct(tmp_path)
    shipped = (FOLDER / "country_names.csv").read_bytes()
    assert (tmp_path / "country_names.csv").read_bytes() == shipped
    construct(tmp_path, is_check=True)
    (tmp_path / "country_names.csv").write_bytes(shipped + b"AA,en,Atlantis\n")
    with pytest.raises(UserError, match="construct it again"):
        construct(tmp_path, is_check=True)


def test_the_shuffle_favours_neither_the_controller_nor_a_place() -> None:
    """Of territories with two claimants the controller is shown first about half the time."""
    english = [case for case in cases() if case.language == "en" and len(case.options) == 2]
    first = [case.options[0] == case.controller for case in english if case.controller != UNKNOWN]
    ordered = [case.options[0] == case.claimants[0] for case in english]
    assert 0.35 < sum(first) / len(first) < 0.65
    assert 0.35 < sum(ordered) / len(ordered) < 0.65
