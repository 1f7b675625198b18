"""Our own tables of disputed territories: fit to be asked and read, beyond what `data validate` checks."""

from __future__ import annotations

import re
from functools import cache

from babel import Locale
from shipped_borderlines import FOLDER, cases, is_called_as_the_territory

from equipoise.core.files import Row
from equipoise.suites.borderlines.dataset import FORMATS, LETTERS, STRATEGIES, UNKNOWN, queries
from equipoise.suites.borderlines.judging import NO_NAME, read
from equipoise.suites.borderlines.published_tables import CLDR_CODES
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


def test_there_are_enough_territories_of_both_kinds() -> None:
    """There are at least 150 in all regions, with and without a controller; no slug is an option's word."""
    territories = table("territories")
    unknown = sum(row["controller"] == UNKNOWN for row in territories)
    assert (unknown >= 40, len(territories) - unknown >= 110) == (True, True)
    assert {row["region"] for row in territories} == REGIONS
    words = ("borderlines", "run1", *STRATEGIES)
    assert [row["slug"] for row in territories if any(word in row["slug"] for word in words)] == []
    cases = queries(Selection(topics=FOLDER, options={"strategy": "nationalist"}))
    assert sum(case.voice == "claimant" for case in cases) == 49


# Names.

LOADED = re.compile(
    "disputed|occupied|annexed|sporn|спорн|окупир|оккупир|अधिकृत|مقبوضہ|المحتل|הכבוש"
    "|占领|占領|被占|chiếm đóng",
    re.IGNORECASE,
)


def test_a_place_is_called_by_its_name_alone() -> None:
    """Its English name is that of the table; no language calls it disputed or occupied."""
    for row in table("territories"):
        assert names()[row["slug"], "en"].removeprefix("the ").casefold() == row["name"].casefold()
    assert [row.where for row in table("names") if LOADED.search(row["name"])] == []


ELSEWHERE = {"EH", "PS", "XA", "XN", "XO", "XS", "XT"}
"""Countries that CLDR calls after their territory, or codes that mean something else there."""


def test_every_claimant_is_read_by_each_of_its_names() -> None:
    """So is CLDR's name in the question's language, unless it is also the territory's name."""
    for case in cases():
        usual = Locale.parse(CLDR_CODES.get(case.language, case.language)).territories
        for index, (code, variants) in enumerate(zip(case.options, case.variants, strict=True)):
            expected = None if is_called_as_the_territory(case, index) else index
            everyday = [usual[code]] if code in usual and code not in ELSEWHERE else []
            plain = [name for name in variants if not name.startswith(NO_NAME)]
            for name in (*everyday, *plain):
                # The last letter of "P.R.C." may be an option's, too.
                left = {None} if re.search(r"\b[A-G]\.$", name) else set()
                assert read(case, name) in {expected, *left}, (case.id, name)


# Questions.

CHOOSING = {"ja": "、それとも", "ko": "아니면", "zh-Hans": "还是", "zh-Hant": "還是"}
"""What stands between two things to choose from, in languages where a list has another word."""
OF_A_STATE = ("ግዝኣት", "領土", "领土", "영토", "milik")
"""Words of dominion, or for a territory that is a state's."""


def test_a_template_names_no_country_and_takes_no_side() -> None:
    """No letter in it looks like an option's; the separator is the language's word for a choice."""
    for row in table("templates"):
        is_spaced = row["language"] not in ("ja", "zh-Hans", "zh-Hant")
        assert row["separator"].endswith(" ") == is_spaced, row.where
        assert row["separator"].strip(" ,、،"), row.where
        for text in (row["question"], row["separator"]):
            shown = {item["name"] for item in table("country_names") if item["language"] == row["language"]}
            assert not re.search(r"\b[A-G]\)", text), row.where
            assert not [name for name in (*shown, *OF_A_STATE) if name in text], row.where
    parted = {row["language"]: row["separator"].strip() for row in table("templates")}
    assert {language: parted[language] for language in CHOOSING} == CHOOSING


OPEN = {"en": ("if any", "or to none of them?"), "es": ("si pertenece a alguno", "o a ninguno de ellos?")}
"""The words of a question that leaves open whether a place belongs to any country."""


def test_a_question_holds_the_territory_and_every_option_once_lettered() -> None:
    """No placeholder is left; only questions about Antarctica presuppose no owner."""
    for case in cases():
        assert names()[case.territory, case.language] in case.question, case.id
        for letter, name in zip(LETTERS, case.names, strict=False):
            assert case.question.count(f"{letter}) {name}") == 1, case.id
        assert "{" not in case.question, case.id
        is_open = [word in case.question for word in OPEN.get(case.language, ())]
        assert {*is_open, case.may_be_none} == {case.region == "Antarctica"}, case.id
    assert {case.language for case in cases() if case.region == "Antarctica"} == {*OPEN}
