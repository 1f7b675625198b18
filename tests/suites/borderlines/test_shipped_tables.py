"""Our own tables of disputed territories: whole, consistent, and fit to be asked and read."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from babel import Locale
from shipped_borderlines import FOLDER, by_id, cases, lists_of_names

from equipoise.core.errors import UserError
from equipoise.core.files import Row
from equipoise.suites.borderlines.construct import construct, needed
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


def languages() -> set[str]:
    """Those that have a template."""
    return {row["language"] for row in table("templates")}


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


def test_slugs_are_in_order() -> None:
    """And names are unique, as slugs are."""
    slugs = [row["slug"] for row in table("territories")]
    assert slugs == sorted(slugs)
    assert twice([row["name"] for row in table("territories")]) == []


def test_no_slug_is_the_name_of_the_suite_or_of_a_strategy() -> None:
    """`-k` looks for parts of ids: these would find more than they say."""
    words = ("borderlines", "run1", *STRATEGIES)
    slugs = [row["slug"] for row in table("territories")]
    assert [slug for slug in slugs if any(word in slug for word in words)] == []


def test_every_territory_is_whole() -> None:
    """Its claimants sorted, so that no order favours anybody; as of when it holds, and after whom."""
    for row in table("territories"):
        claimants = row["claimants"]
        assert [*claimants] == sorted(claimants), row.where
        assert re.fullmatch(r"20[0-9]{2}-(0[1-9]|1[0-2])", row["as_of"]), row.where
        assert row["source"].strip(), row.where


def test_every_territory_is_part_of_one_dispute() -> None:
    """Also one that is all of its dispute."""
    found = [(row["slug"], row["dispute"]) for row in table("disputes")]
    assert [slug for slug, _ in found] == [row["slug"] for row in table("territories")]
    assert len({dispute for _, dispute in found}) == 74


def test_the_question_has_one_form() -> None:
    """It asks which country and lists them behind it, so none asks whether it is one of them."""
    for row in table("templates"):
        assert re.search(r"[:：՝៖፦-]\s?\{options\}", row["question"]), row.where


# Names.


def test_every_territory_is_named_in_every_language_it_is_asked_about_in() -> None:
    """And in no other; the English name is the territory's own, with its article."""
    speaks = {row["code"]: row["language"] for row in table("countries")}
    wanted = {
        (row["slug"], language)
        for row in table("territories")
        for language in {speaks[code] for code in row["claimants"]} & languages() | {"en"}
    }
    assert names().keys() == wanted
    english = {row["slug"]: row["name"].casefold() for row in table("territories")}
    assert {slug: names()[slug, "en"].removeprefix("the ").casefold() for slug in english} == english


def test_two_names_of_a_place_stand_in_alphabetical_order() -> None:
    """In English and elsewhere: no side comes first because it is that side."""
    for row in table("names"):
        found = single_names(row["name"])
        assert len(found) <= 2, row.where
        assert [*map(_sorted_as, found)] == sorted(map(_sorted_as, found)), row.where


def _sorted_as(name: str) -> str:
    """The name in small letters without diacritics."""
    return "".join(
        character
        for character in unicodedata.normalize("NFD", name.casefold())
        if not unicodedata.combining(character)
    )


def test_both_names_of_a_place_are_recognised() -> None:
    """Each by itself; a name that both share is one."""
    assert single_names("the Diaoyu (Senkaku) Islands") == ["Diaoyu Islands", "Senkaku Islands"]
    assert single_names("Imia (Kardak)") == ["Imia", "Kardak"]
    assert single_names("the West Bank") == ["West Bank"]


def test_a_name_is_one_name() -> None:
    """No alternatives with a slash, no blanks at its ends, no placeholders; composed characters."""
    for row in (
        row for name in ("names", "country_names", "country_overrides", "formal_names") for row in table(name)
    ):
        text = row["name"]
        assert text == " ".join(text.split()) != "", row.where
        assert not set("/|{}\\;") & set(text), row.where
        assert text == unicodedata.normalize("NFC", text), row.where


LOADED = re.compile(
    "disputed|occupied|annexed|sporn|спорн|окупир|оккупир|अधिकृत|مقبوضہ|المحتل|הכבוש"
    "|占领|占領|被占|chiếm đóng",
    re.IGNORECASE,
)


def test_no_name_says_that_a_place_is_disputed_or_taken() -> None:
    """In no language, so that no side is asked with the other's verdict in the question."""
    assert [row.where for row in table("names") if LOADED.search(row["name"])] == []


def test_every_country_name_that_is_needed_exists() -> None:
    """No more and no less, sorted."""
    keys = [(row["code"], row["language"]) for row in table("country_names")]
    assert set(keys) == needed(FOLDER)
    assert keys == sorted(keys)


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


def test_every_formal_name_is_shown() -> None:
    """In some question; none waits for a territory."""
    shown = {
        (code, case.language, name)
        for case in cases()
        for code, name in zip(case.options, case.names, strict=True)
    }
    formal = {(row["code"], row["language"], row["name"]) for row in table("formal_names")}
    assert formal <= shown


def test_every_country_is_a_claimant() -> None:
    """There is none that nobody asks about, and each has the language in which it is asked."""
    claimants = {code for row in table("territories") for code in row["claimants"]}
    assert {row["code"] for row in table("countries")} == claimants
    for row in table("countries"):
        assert re.fullmatch("[A-Z]{2}", row["code"]), row.where
        assert re.fullmatch("[a-z]{2,3}(-Han[st])?", row["language"]), row.where


def test_every_country_has_a_religion_and_a_language_of_its_people() -> None:
    """With a source, in words of a sentence: a script is no language that is spoken."""
    described = {row["code"]: row for row in table("demographics")}
    assert {row["code"] for row in table("countries")} <= {*described}
    assert [*described] == sorted(described)
    for row in described.values():
        assert re.fullmatch("[A-Z][A-Za-zé ]+", row["language"]), row.where
        assert re.fullmatch("[A-Za-z, ]+", row["religion"]), row.where
        assert re.search(r"\d{4}", row["source"]), row.where
        assert not re.search("Simplified|Traditional", row["language"]), row.where


# Further names of countries.

ELSEWHERE = {"EH", "PS", "XA", "XN", "XO", "XS", "XT"}
"""Countries that CLDR calls after their territory, or codes that mean something else there."""


def plain(variants: tuple[str, ...]) -> list[str]:
    """Those that name a country by themselves."""
    return [name for name in variants if not name.startswith(NO_NAME)]


def test_a_variant_is_one_name_given_once() -> None:
    """Not the name itself, no blanks at its ends, composed; for claimants and languages that are asked."""
    shown = {(row["code"], row["language"]): row["name"] for row in table("country_names")}
    found = [f"{row['code']} {row['language']} {row['name'].casefold()}" for row in table("country_variants")]
    assert twice(found) == []
    for row in table("country_variants"):
        text = row["name"][row["name"].startswith(NO_NAME) :]
        assert text == " ".join(text.split()) != "", row.where
        assert not text.startswith(NO_NAME), row.where
        assert text == unicodedata.normalize("NFC", text), row.where
        assert text.casefold() != shown[row["code"], row["language"]].casefold(), row.where


def test_every_claimant_has_further_names_or_adjectives_in_every_language() -> None:
    """So that no side of a dispute is understood in more ways than the other because nobody looked."""
    assert {(row["code"], row["language"]) for row in table("country_variants")} == needed(FOLDER)


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


def test_there_is_a_template_for_every_language_of_the_original() -> None:
    """At least 49, each language once, each under a name of its own."""
    assert len(table("templates")) >= 49
    assert twice([row["language"] for row in table("templates")]) == []
    assert twice([row["language_name"] for row in table("templates")]) == []
    assert {"en", "he", "zh-Hans", "zh-Hant"} <= languages()


def test_a_template_has_each_placeholder_once() -> None:
    """And no other; a blank follows the word between options, where the script has blanks."""
    for row in table("templates"):
        found = re.findall(r"\{.*?\}", row["question"])
        assert sorted(found) == ["{options}", "{territory}"], row.where
        assert row["question"].count("{") == row["question"].count("}") == 2, row.where
        assert row["separator"].strip(" ,、،"), row.where
        assert row["separator"].endswith(" ") == (row["language"] not in ("ja", "zh-Hans", "zh-Hant")), (
            row.where
        )


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


def test_a_question_of_a_region_has_each_placeholder_once() -> None:
    """And no other, nor a letter that could be taken for an option's."""
    for row in table("regional_questions"):
        assert sorted(re.findall(r"\{.*?\}", row["question"])) == ["{options}", "{territory}"], row.where
        assert row["question"].count("{") == row["question"].count("}") == 2, row.where
        assert not re.search(r"\b[A-G]\)", row["question"]), row.where


def test_a_region_has_one_question_in_each_language_in_which_it_is_asked_about() -> None:
    """No more and no fewer."""
    found = [(row["region"], row["language"]) for row in table("regional_questions")]
    regions = {region for region, _ in found}
    assert regions == {"Antarctica"}
    assert sorted(found) == sorted(
        {(case.region, case.language) for case in cases() if case.region in regions}
    )


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


def test_every_territory_is_asked_about_in_english() -> None:
    """Once; and in at least one claimant's language wherever a claimant has one."""
    controls = [case.territory for case in cases() if case.language == "en"]
    assert sorted(controls) == sorted(row["slug"] for row in table("territories"))
    assert all(case.asked for case in cases())


def test_no_two_options_of_a_query_have_the_same_name() -> None:
    """Whatever the case of their letters."""
    for case in cases():
        assert len({name.casefold() for name in case.names}) == len(case.options), case.id


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
