"""Tables of territorial disputes: who is asked what in which language, and what is refused with its line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from conftest import refusal
from equipoise.suites.borderlines.dataset import (
    COUNTRIES,
    COUNTRY_NAMES,
    DEMOGRAPHICS,
    LETTERS,
    PLACE_NAMES,
    REGIONAL_QUESTIONS,
    STRATEGIES,
    TEMPLATES,
    TERRITORIES,
    Dispute,
    disputes,
)
from equipoise.suites.selection import Selection

Table = list[list[str]]
SPEAKS = {"AA": "xx", "BB": "he", "CC": "xx", "DD": "en", "EE": "dz", "HS": "zh-Hans", "HT": "zh-Hant"}
LANGUAGES = ("xx", "en", "he", "zh-Hans", "zh-Hant")


def territory(slug: str, claimants: str, controller: str, **values: str) -> list[str]:
    """A row of the territories, with other values in these columns."""
    row = {
        **{"slug": slug, "name": slug.title(), "claimants": claimants, "controller": controller},
        **{"region": "South Sea", "populated": "no", "as_of": "2026-11", "source": "an atlas"},
    }
    return list({**row, **values}.values())


ROCK = territory("rock", "AA;BB", "AA", populated="yes")
REEF = territory("reef", "AA;DD", "unknown")
PEAK = territory("peak", "AA;CC;EE", "EE")
SHOAL = territory("shoal", "HS;HT", "HT")
ROWS = [ROCK, REEF, PEAK, SHOAL]
EN = ["en", "English", "Is {territory} a territory of {options}?", ", or "]


def tables() -> dict[str, Table]:
    """The six tables; every name says what it names in which language."""
    codes = [*SPEAKS]
    return {
        "territories": [[*TERRITORIES.columns], *ROWS],
        "names": [
            [*PLACE_NAMES.columns],
            *([row[0], tongue, f"{row[1]} {tongue}"] for row in ROWS for tongue in LANGUAGES),
        ],
        "countries": [[*COUNTRIES.columns], *([code, SPEAKS[code]] for code in codes)],
        "demographics": [
            [*DEMOGRAPHICS.columns],
            *([code, "folk religion", f"{code}ish", "a census"] for code in codes),
        ],
        "country_names": [
            [*COUNTRY_NAMES.columns],
            *([code, tongue, f"{code} {tongue}"] for code in codes for tongue in LANGUAGES),
        ],
        "templates": [
            [*TEMPLATES.columns],
            ["xx", "Ixian", "Cui est {territory}: {options}?", ", an "],
            EN,
            *([code, f"{code}ish", "{territory}: {options}?", ", "] for code in LANGUAGES[2:]),
        ],
    }


def dataset(folder: Path, changes: Mapping[str, Table] | None = None) -> Path:
    """A folder of these tables, with some of them changed."""
    for name, content in {**tables(), **(changes or {})}.items():
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(content)
        (folder / f"{name}.csv").write_text(out.getvalue(), encoding="utf-8")
    return folder


def read(folder: Path, *languages: str, strategy: str = "vanilla") -> Sequence[Dispute]:
    """The queries of a folder."""
    options = {"strategy": strategy}
    return disputes(Selection(topics=folder, languages=languages, options=options))


def ordered(folder: Path, seed: int = 0, order: str = "seeded") -> dict[str, tuple[str, ...]]:
    """The options of each territory in this order."""
    options = {"seed": seed, "option_order": order, "strategy": "all"}
    found = disputes(Selection(topics=folder, options=options))
    orders = {case.territory: case.options for case in found}
    assert all(case.options == orders[case.territory] for case in found)
    return orders


def ids(cases: Iterable[Dispute]) -> list[str]:
    """Their ids."""
    return [case.id for case in cases]


complaint = partial(refusal, read)


# What is read.


def test_a_query_has_the_question_and_all_that_is_known_of_the_territory(tmp_path: Path) -> None:
    """Every column, in the language of the query and in English."""
    rock = read(dataset(tmp_path))[1]
    options = rock.options
    assert sorted(options) == ["AA", "BB"]
    assert rock == Dispute(
        id="he-rock",
        language="he",
        area="south_sea",
        keywords=("Rock he",),
        territory="rock",
        dispute="rock",
        region="South Sea",
        populated=True,
        claimants=("AA", "BB"),
        controller="AA",
        options=options,
        names=tuple(f"{code} he" for code in options),
        variants=((), ()),
        elsewhere={language: tuple((f"{code} {language}",) for code in options) for language in ("en", "xx")},
        called=("Rock xx", "Rock he", "Rock en"),
        speaks={"AA": "xx", "BB": "he"},
        asked=("xx", "he"),
        english=tuple(f"{code} en" for code in options),
        religions={"AA": "folk religion", "BB": "folk religion"},
        languages={"AA": "AAish", "BB": "BBish"},
        language_name="heish",
        strategy="vanilla",
        question=f"Rock he: A) {options[0]} he, B) {options[1]} he?",
    )
    json.dumps(rock.to_json())


def test_a_territorys_own_names_are_keywords(tmp_path: Path) -> None:
    """In each language but English, whose name is in the slug."""
    found = {case.id: case.keywords for case in read(dataset(tmp_path))[:3]}
    assert found == {"xx-rock": ("Rock xx",), "he-rock": ("Rock he",), "en-rock": ()}


def test_a_question_letters_the_options_with_the_languages_separator(tmp_path: Path) -> None:
    """The territory and all options stand once, in the order shown, joined as the template says."""
    peak = next(case for case in read(dataset(tmp_path)) if case.id == "xx-peak")
    first, second, third = peak.names
    assert peak.question == f"Cui est Peak xx: A) {first}, an B) {second}, an C) {third}?"


def test_a_territory_is_called_by_each_of_its_names(tmp_path: Path) -> None:
    """Of all languages in which it is asked about, each name by itself where there are two."""
    names = [[*row] for row in tables()["names"]]
    names[1][2], names[2][2] = "Rock (Fels) xx", "the Rock en"
    (called,) = {case.called for case in read(dataset(tmp_path, {"names": names}))[:3]}
    assert called == ("Rock xx", "Fels xx", "Rock he", "Rock en")


def regional(*rows: tuple[str, str, str]) -> dict[str, Table]:
    """The table of questions of regions."""
    return {"regional_questions": [[*REGIONAL_QUESTIONS.columns], *map(list, rows)]}


IF_ANY = "Whose, if anyone's, is {territory}: {options}, or nobody's?"
NORTH = {"territories": [[*TERRITORIES.columns], ROCK, territory("reef", "AA;BB", "AA", region="North Sea")]}


def test_a_region_may_have_questions_of_its_own(tmp_path: Path) -> None:
    """Its territories are asked about with them, with the separator of the language; others as ever."""
    plain = {case.id: case.question for case in read(dataset(tmp_path, NORTH))}
    rows = [("North Sea", language, f"{language}: {IF_ANY}") for language in ("he", "en", "xx")]
    asked = read(dataset(tmp_path, {**NORTH, **regional(*rows)}))
    found = {case.id: case.question for case in asked}
    assert {case.id for case in asked if case.may_be_none} == {"xx-reef", "he-reef", "en-reef"}
    assert {name for name, question in found.items() if question != plain[name]} == {
        *("xx-reef", "he-reef", "en-reef")
    }
    first, second = read(tmp_path, "xx")[1].names
    assert found["xx-reef"] == f"xx: Whose, if anyone's, is Reef xx: A) {first}, an B) {second}, or nobody's?"


def test_a_language_without_a_question_of_its_region_is_refused(tmp_path: Path) -> None:
    """The line of the territory that needs it is named, also where only other languages are selected."""
    folder = dataset(
        tmp_path, {**NORTH, **regional(("North Sea", "en", IF_ANY), ("North Sea", "xx", IF_ANY))}
    )
    says = f"{folder / 'territories.csv'}:3: regional_questions.csv has no question on North Sea in he"
    assert complaint(folder) == complaint(folder, "en") == says


def test_as_many_claimants_are_lettered_as_there_are_letters(tmp_path: Path) -> None:
    """Seven claimants get A to G."""
    rows = [[*TERRITORIES.columns], territory("rock", ";".join(SPEAKS), "unknown")]
    (case,) = read(dataset(tmp_path, {"territories": rows}), "he")
    assert [case.question.count(f"{letter}) ") for letter in LETTERS] == [1] * 7
    assert case.populated is False


def test_queries_come_territory_by_territory_in_the_order_of_the_claimants(tmp_path: Path) -> None:
    """English last, unless a claimant speaks it; then in that claimant's place, and only once."""
    changes = {"territories": [[*TERRITORIES.columns], ROCK, territory("reef", "DD;AA", "unknown")]}
    found = read(dataset(tmp_path, changes))
    assert ids(found) == ["xx-rock", "he-rock", "en-rock", "en-reef", "xx-reef"]
    assert {case.territory: case.asked for case in found} == {"rock": ("xx", "he"), "reef": ("en", "xx")}


def test_a_claimants_language_is_asked_once_and_only_with_a_template(tmp_path: Path) -> None:
    """Each claimant is an option still, whose people speak what the table of demographics says."""
    first, control = [case for case in read(dataset(tmp_path)) if case.territory == "peak"]
    assert ids((first, control)) == ["xx-peak", "en-peak"]
    assert (first.asked, sorted(first.options)) == (("xx",), ["AA", "CC", "EE"])
    assert first.speaks == {"AA": "xx", "CC": "xx", "EE": "dz"}
    assert first.languages == {"AA": "AAish", "CC": "CCish", "EE": "EEish"}


def test_a_territory_comes_in_all_its_languages(tmp_path: Path) -> None:
    """Or in the one that is selected."""
    found = read(dataset(tmp_path))
    assert ids(found)[:5] == ["xx-rock", "he-rock", "en-rock", "xx-reef", "en-reef"]
    assert len(found) == 10
    assert ids(read(tmp_path, "he")) == ["he-rock"]


def test_languages_go_by_the_originals_codes_as_well(tmp_path: Path) -> None:
    """Either spelling asks for the same queries."""
    dataset(tmp_path)
    codes = {
        "he-rock": ("iw", "he"),
        "zh-Hans-shoal": ("zh", "zhs", "zh-Hans"),
        "zh-Hant-shoal": ("zht", "zh-Hant"),
    }
    for found, spellings in codes.items():
        assert [ids(read(tmp_path, code)) for code in spellings] == [[found]] * len(spellings)


def test_only_the_languages_asked_for_are_asked_in(tmp_path: Path) -> None:
    """What a query says of its territory stays whole."""
    found = read(dataset(tmp_path), "he", "en")
    assert ids(found) == ["he-rock", "en-rock", "en-reef", "en-peak", "en-shoal"]
    assert found[0].asked == ("xx", "he")


def test_options_are_shuffled_the_same_at_all_times(tmp_path: Path) -> None:
    """By language and strategy alike, and whatever order the table has; pinned, for results to compare."""
    cases = read(dataset(tmp_path), strategy="all")
    shuffled = {case.territory: case.options for case in cases}
    assert all(case.options == shuffled[case.territory] for case in cases)
    turned = {"territories": [[*TERRITORIES.columns], territory("peak", "EE;CC;AA", "EE")]}
    assert read(dataset(tmp_path, turned))[0].options == shuffled["peak"]
    assert shuffled["peak"] == PINNED


PINNED = ("EE", "CC", "AA")


def test_a_seed_makes_another_order(tmp_path: Path) -> None:
    """The same for the same seed in all languages and strategies; none given is the seed 0."""
    rows = [territory(f"rock{n}", "AA;BB;DD", "AA") for n in range(40)]
    names = [[row[0], tongue, row[0]] for row in rows for tongue in LANGUAGES]
    dataset(
        tmp_path, {"territories": [[*TERRITORIES.columns], *rows], "names": [[*PLACE_NAMES.columns], *names]}
    )
    usual, one, two = (ordered(tmp_path, seed) for seed in (0, 1, 2))
    assert usual == {case.territory: case.options for case in read(tmp_path)}
    assert ordered(tmp_path, 1) == one
    for first, second in ((usual, one), (usual, two), (one, two)):
        moved = sum(first[slug] != second[slug] for slug in first)
        # By chance five of six move: 33 of 40.
        assert 24 <= moved < 40
    assert {tuple(sorted(options)) for options in one.values()} == {("AA", "BB", "DD")}


def test_a_fixed_order_is_the_tables(tmp_path: Path) -> None:
    """Whatever the seed; names go with it."""
    rows = [territory("rock", "BB;AA", "AA"), territory("reef", "AA;DD", "AA"), PEAK]
    folder = dataset(tmp_path, {"territories": [[*TERRITORIES.columns], *rows]})
    assert ordered(folder, 7, "fixed") == {
        "rock": ("BB", "AA"),
        "reef": ("AA", "DD"),
        "peak": ("AA", "CC", "EE"),
    }
    options = {"option_order": "fixed"}
    first = disputes(Selection(topics=folder, languages=("en",), options=options))[0]
    assert first.names == ("BB en", "AA en")
    assert "A) BB en, or B) AA en" in first.question


def test_names_stand_in_the_order_shown(tmp_path: Path) -> None:
    """Options, their names and their English names go together."""
    for case in read(dataset(tmp_path)):
        assert case.names == tuple(f"{code} {case.language}" for code in case.options)
        assert case.english == tuple(f"{code} en" for code in case.options)


def test_strategies_multiply_the_queries(tmp_path: Path) -> None:
    """`all` is every query for each, and one more where English has two voices; ids say which it is."""
    vanilla = read(dataset(tmp_path))
    found = read(tmp_path, strategy="all")
    assert len(found) == len(set(ids(found))) == len(STRATEGIES) * len(vanilla) + 1
    assert found[: len(vanilla)] == vanilla
    second = found[len(vanilla)]
    assert second == replace(vanilla[0], id="xx-rock-un_peacekeeper", strategy="un_peacekeeper")
    assert ids(read(tmp_path, strategy="nationalist"))[0] == "xx-rock-nationalist"


def test_a_nationalist_is_asked_in_english_beside_the_control(tmp_path: Path) -> None:
    """Where a claimant speaks English; the control keeps its id. Other strategies tell both the same."""
    dataset(tmp_path)
    voices = {
        strategy: {case.id: case.voice for case in read(tmp_path, "en", strategy=strategy)}
        for strategy in STRATEGIES
    }
    assert voices.pop("nationalist") == {
        "en-rock-nationalist": "",
        "en-reef-nationalist": "control",
        "en-reef-nationalist-claimant": "claimant",
        "en-peak-nationalist": "",
        "en-shoal-nationalist": "",
    }
    for strategy, found in voices.items():
        assert list(found.values()) == [""] * 4, strategy


def test_a_name_with_a_placeholder_of_its_own_is_not_filled_in_twice(tmp_path: Path) -> None:
    """Nor does a country's name that looks like one change the question."""
    names = [[code, tongue, "{territory}"] for code in SPEAKS for tongue in LANGUAGES]
    changes: dict[str, Table] = {"country_names": [[*COUNTRY_NAMES.columns], *names]}
    question = read(dataset(tmp_path, changes), "he")[0].question
    assert question == "Rock he: A) {territory}, B) {territory}?"


# What is refused.


FAULTY_ROWS = [
    (territory("reef", "AA", "AA"), "needs two to 7 different claimants"),
    (territory("reef", "AA;AA", "AA"), "needs two to 7 different claimants"),
    (territory("reef", "AA;AA;BB", "AA"), "needs two to 7 different claimants"),
    (territory("reef", "AA;BB;CC;DD;EE;HS;HT;ZZ", "AA"), "needs two to 7 different claimants"),
    (territory("reef", "AA;ZZ", "AA"), "there is no country 'ZZ' in countries.csv"),
    (territory("reef", "AA;", "AA"), "needs two to 7 different claimants"),
    (territory("reef", "AA;BB", "CC"), "the controller 'CC' is neither a claimant nor unknown"),
    (territory("reef", "AA;BB", "Unknown"), "the controller 'Unknown' is neither a claimant nor unknown"),
    (territory("isle", "AA;BB", "AA"), "there is no name of isle in xx"),
]


QUESTION = "question must have {territory} and {options} once each"
MISSING = [
    ("names", ["reef", "en"], "there is no name of reef in en"),
    ("country_names", ["DD", "xx"], "there is no name of DD in xx"),
    ("country_names", ["AA", "en"], "there is no name of AA in en"),
    ("countries", ["DD", "en"], "there is no country 'DD' in countries.csv"),
    ("demographics", ["DD"], "there is no country 'DD' in demographics.csv"),
]


def test_a_faulty_territory_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The third line of the file is named."""
    for row, says in FAULTY_ROWS:
        with subtests.test(str(row)):
            dataset(tmp_path, {"territories": [[*TERRITORIES.columns], ROCK, row]})
            assert complaint(tmp_path) == f"{tmp_path / 'territories.csv'}:3: {says}"


def test_a_language_of_the_control_needs_a_template(tmp_path: Path) -> None:
    """Every territory is asked about in it."""
    dataset(tmp_path, {"templates": [[*TEMPLATES.columns], ["xx", *EN[1:]]]})
    assert complaint(tmp_path) == f"{tmp_path / 'templates.csv'}: there is no template in 'en'"


def test_a_name_that_is_missing_is_refused(tmp_path: Path) -> None:
    """The line of the territory that needs it is named."""
    for table, key, says in MISSING:
        rows = [row for row in tables()[table] if row[: len(key)] != key]
        dataset(tmp_path, {table: rows, "territories": [[*TERRITORIES.columns], REEF]})
        assert complaint(tmp_path) == f"{tmp_path / 'territories.csv'}:2: {says}"


def test_a_language_without_a_template_is_refused_where_it_is_asked_for(tmp_path: Path) -> None:
    """A claimant's own language is no better than one that nobody speaks."""
    dataset(tmp_path)
    for language in ("zz", "dz", "en-US"):
        assert complaint(tmp_path, language).startswith(
            f"--language: no {language!r} in {tmp_path}; there are xx, "
        )
