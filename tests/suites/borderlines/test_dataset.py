"""Tables of territorial disputes: who is asked what in which language, and what is refused with its line."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sources import misread

from conftest import refusal, resolved
from equipoise.suites.borderlines.dataset import FORMATS, LETTERS, STRATEGIES, Query, queries, single_names
from equipoise.suites.selection import Selection

Rows = Sequence[Sequence[str]]
COLUMNS = {table.file.removesuffix(".csv"): [*table.columns] for table in FORMATS[1]}
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
NORTH = territory("reef", "AA;BB", "AA", region="North Sea")


def tables(territories: Rows) -> dict[str, Rows]:
    """The six tables, without their heads; every name says what it names in which language."""
    return {
        "territories": territories,
        "names": [[row[0], tongue, f"{row[1]} {tongue}"] for row in territories for tongue in LANGUAGES],
        "countries": [*SPEAKS.items()],
        "demographics": [(code, "folk religion", f"{code}ish", "a census") for code in SPEAKS],
        "country_names": [(code, tongue, f"{code} {tongue}") for code in SPEAKS for tongue in LANGUAGES],
        "templates": [
            ("xx", "Ixian", "Cui est {territory}: {options}?", ", an "),
            ("en", "English", "Is {territory} a territory of {options}?", ", or "),
            *((code, f"{code}ish", "{territory}: {options}?", ", ") for code in LANGUAGES[2:]),
        ],
    }


def dataset(folder: Path, *territories: Sequence[str], **changed: Rows) -> Path:
    """A folder of the tables for these territories, or for four, with some of the tables changed."""
    for name, rows in {**tables(territories or (ROCK, REEF, PEAK, SHOAL)), **changed}.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS[name], *rows])
    return folder


def read(folder: Path, *languages: str, **options: Any) -> Sequence[Query]:
    """The queries of a folder."""
    return queries(Selection(topics=folder, languages=languages, options=options))


def ids(cases: Iterable[Query]) -> list[str]:
    """Their ids."""
    return [case.id for case in cases]


def orders(folder: Path, **options: Any) -> dict[str, tuple[str, ...]]:
    """The options of each territory, which are in one order in all languages and under all strategies."""
    cases = read(folder, strategy="all", **options)
    options_of = {case.territory: case.options for case in cases}
    assert all(case.options == options_of[case.territory] for case in cases)
    return options_of


# What is read.


def test_a_query_has_the_question_and_all_that_is_known_of_the_territory(tmp_path: Path) -> None:
    """A query has every column, in its language and in English, with names in the order shown."""
    rock = read(dataset(tmp_path))[1]
    options = rock.options
    assert rock == Query(
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


def test_a_question_letters_the_options_with_the_languages_separator(tmp_path: Path) -> None:
    """The territory and each option occur once, in the order shown; braces in a name stay."""
    peak = next(case for case in read(dataset(tmp_path)) if case.id == "xx-peak")
    first, second, third = peak.names
    assert peak.question == f"Cui est Peak xx: A) {first}, an B) {second}, an C) {third}?"
    (many,) = read(dataset(tmp_path, territory("rock", ";".join(SPEAKS), "unknown")), "he")
    assert [many.question.count(f"{letter}) ") for letter in LETTERS] == [1] * 7
    names = [(code, tongue, "{territory}") for code in SPEAKS for tongue in LANGUAGES]
    (braces,) = read(dataset(tmp_path, ROCK, country_names=names), "he")
    assert braces.question == "Rock he: A) {territory}, B) {territory}?"


def test_a_territorys_own_names_are_keywords_and_no_answers(tmp_path: Path) -> None:
    """English has no keyword, as the slug has the name; a name with a parenthesis is two names."""
    names = [("rock", "xx", "Rock (Fels) xx"), ("rock", "he", "Rock he"), ("rock", "en", "the Rock en")]
    cases = read(dataset(tmp_path, ROCK, names=names))
    assert [case.keywords for case in cases] == [("Rock (Fels) xx",), ("Rock he",), ()]
    assert {case.called for case in cases} == {("Rock xx", "Fels xx", "Rock he", "Rock en")}
    assert single_names("the Diaoyu (Senkaku) Islands") == ["Diaoyu Islands", "Senkaku Islands"]
    assert single_names("Imia (Kardak)") == ["Imia", "Kardak"]


def test_a_country_has_further_names(tmp_path: Path) -> None:
    """Another case makes no further name; formal names are shown if an option has no other."""
    variants = [("AA", "he", "aa HE"), ("AA", "he", "Alpha"), ("BB", "en", "Beta")]
    (rock,) = read(dataset(tmp_path, ROCK, country_variants=variants), "he")
    index = rock.options.index("AA")
    assert (rock.variants[index], rock.elsewhere["en"][1 - index]) == (("Alpha",), ("BB en", "Beta"))
    formal = [("AA", "he", "AA he"), ("BB", "he", "Kingdom of BB")]
    rock = read(dataset(tmp_path, territory("rock", "AA;BB;DD", "AA"), formal_names=formal), "he")[0]
    assert {*rock.names} == {"AA he", "Kingdom of BB", "DD he"}


IF_ANY = "Whose, if anyone's, is {territory}: {options}, or nobody's?"


def test_a_region_may_have_questions_of_its_own(tmp_path: Path) -> None:
    """They replace the template's question, not its separator; other regions keep the template."""
    plain = {case.id: case.question for case in read(dataset(tmp_path, ROCK, NORTH))}
    questions = [("North Sea", language, f"{language}: {IF_ANY}") for language in ("en", "xx", "he")]
    cases = read(dataset(tmp_path, ROCK, NORTH, regional_questions=questions))
    changed = [case for case in cases if case.question != plain[case.id]]
    assert changed == [case for case in cases if case.may_be_none]
    assert ids(changed) == ["xx-reef", "he-reef", "en-reef"]
    first, second = changed[0].names
    ends = f"A) {first}, an B) {second}, or nobody's?"
    assert changed[0].question == f"xx: Whose, if anyone's, is Reef xx: {ends}"
    folder = dataset(tmp_path, ROCK, NORTH, regional_questions=questions[:2])
    says = f"{folder / 'territories.csv'}:3: regional_questions.csv has no question on North Sea in he"
    assert refusal(read, folder) == refusal(read, folder, "en") == says
    dataset(tmp_path, ROCK, NORTH, regional_questions=[*questions, questions[0]])
    says = f"{folder / 'regional_questions.csv'}:5: repeats line 2 in region 'North Sea', language 'en'; "
    assert refusal(read, folder).startswith(says)


def test_queries_come_territory_by_territory_in_the_order_of_the_claimants(tmp_path: Path) -> None:
    """A language needs a template and is asked once; English is last unless a claimant speaks it."""
    cases = read(dataset(tmp_path, ROCK, territory("reef", "DD;AA", "unknown"), PEAK))
    assert ids(cases) == [
        *("xx-rock", "he-rock", "en-rock", "en-reef", "xx-reef", "xx-peak", "en-peak"),
    ]
    languages = {"rock": ("xx", "he"), "reef": ("en", "xx"), "peak": ("xx",)}
    assert {case.territory: case.asked for case in cases} == languages
    # A claimant whose language is not asked is an option still.
    assert (sorted(cases[-1].options), cases[-1].speaks["EE"]) == (["AA", "CC", "EE"], "dz")


def test_only_the_languages_asked_for_are_asked_in(tmp_path: Path) -> None:
    """A language may be given by our code or the published one; the other details stay complete."""
    dataset(tmp_path)
    cases = read(tmp_path, "he", "en")
    assert ids(cases) == ["he-rock", "en-rock", "en-reef", "en-peak", "en-shoal"]
    assert cases[0].asked == ("xx", "he")
    codes = {"iw": "he-rock", "zh": "zh-Hans-shoal", "zhs": "zh-Hans-shoal", "zht": "zh-Hant-shoal"}
    assert {code: ids(read(tmp_path, code)) for code in codes} == {code: [id] for code, id in codes.items()}
    # A claimant's own language is no better than one that nobody speaks.
    assert refusal(read, tmp_path, "dz").startswith(f"--language: no 'dz' in {tmp_path}; there are xx, ")


def test_options_are_shuffled_by_territory_and_seed(tmp_path: Path) -> None:
    """The table's order does not matter; results depend on these orders. The default seed is 0."""
    assert orders(dataset(tmp_path, PEAK))["peak"] == ("EE", "CC", "AA")
    assert orders(dataset(tmp_path, territory("peak", "EE;CC;AA", "EE")))["peak"] == ("EE", "CC", "AA")
    dataset(tmp_path, *(territory(f"rock{n}", "AA;BB;DD", "AA") for n in range(40)))
    usual, one, two = (orders(tmp_path, seed=seed) for seed in (0, 1, 2))
    assert orders(tmp_path) == usual
    for first, second in ((usual, one), (usual, two), (one, two)):
        # By chance five of six move: 33 of 40.
        assert 24 <= sum(first[slug] != second[slug] for slug in first) < 40
    assert {tuple(sorted(options)) for options in one.values()} == {("AA", "BB", "DD")}


def test_a_fixed_order_is_the_tables(tmp_path: Path) -> None:
    """The seed has no effect, and names follow their options."""
    dataset(tmp_path, territory("rock", "BB;AA", "AA"), PEAK)
    fixed = {"rock": ("BB", "AA"), "peak": ("AA", "CC", "EE")}
    assert orders(tmp_path, option_order="fixed", seed=7) == fixed
    first = read(tmp_path, "en", option_order="fixed")[0]
    assert (first.names, "A) BB en, or B) AA en" in first.question) == (("BB en", "AA en"), True)


def test_strategies_multiply_the_queries(tmp_path: Path) -> None:
    """`all` asks every query under each strategy, and one more where English has two voices."""
    vanilla, every = read(dataset(tmp_path)), read(tmp_path, strategy="all")
    assert len(every) == len(set(ids(every))) == len(STRATEGIES) * len(vanilla) + 1
    assert every[: len(vanilla)] == vanilla
    second = replace(vanilla[0], id="xx-rock-un_peacekeeper", strategy="un_peacekeeper")
    assert every[len(vanilla)] == second
    voices = {case.id: case.voice for case in every if case.voice}
    claimant = {"en-reef-nationalist-claimant": "claimant"}
    assert voices == {"en-reef-nationalist": "control", **claimant}


def test_options_are_read_from_every_source() -> None:
    """Without a value they have their defaults; an unknown value is refused."""
    values = {
        "strategy": ("vanilla", "all", "all"),
        "method": ("generate", "rank", "rank"),
        "parse": ("own", "original", "original"),
        "option_order": ("seeded", "fixed", "fixed"),
    }
    assert [*misread(values)] == []
    message = refusal(resolved, {"model": "m", "strategy": "pirate"})
    assert (message.startswith("--strategy"), "pirate" in message) == (True, True)


# What is refused.

FEW = "needs two to 7 different claimants"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (territory("reef", "AA", "AA"), FEW),
        (territory("reef", "AA;", "AA"), FEW),
        (territory("reef", "AA;AA;BB", "AA"), FEW),
        (territory("reef", "AA;BB;CC;DD;EE;HS;HT;ZZ", "AA"), FEW),
        (territory("reef", "AA;ZZ", "AA"), "there is no country 'ZZ' in countries.csv"),
        (territory("reef", "AA;BB", "CC"), "the controller 'CC' is neither a claimant nor unknown"),
        (territory("reef", "AA;BB", "Unknown"), "the controller 'Unknown' is neither a claimant nor unknown"),
    ],
)
def test_a_faulty_territory_is_refused(tmp_path: Path, row: Sequence[str], says: str) -> None:
    """The message names the third line of the file."""
    assert refusal(read, dataset(tmp_path, ROCK, row)) == f"{tmp_path / 'territories.csv'}:3: {says}"


@pytest.mark.parametrize(
    ("table", "key", "says"),
    [
        ("names", ["reef", "en"], "territories.csv:2: there is no name of reef in en"),
        ("country_names", ("DD", "xx"), "territories.csv:2: there is no name of DD in xx"),
        ("countries", ("DD", "en"), "territories.csv:2: there is no country 'DD' in countries.csv"),
        ("demographics", ("DD",), "territories.csv:2: there is no country 'DD' in demographics.csv"),
        ("templates", ("en",), "templates.csv: there is no template in 'en'"),
    ],
)
def test_a_row_that_is_missing_is_refused(tmp_path: Path, table: str, key: Sequence[str], says: str) -> None:
    """The message names the territory that needs it; every dataset needs an English template."""
    rows = [row for row in tables([REEF])[table] if row[: len(key)] != key]
    assert refusal(read, dataset(tmp_path, REEF, **{table: rows})) == f"{tmp_path}/{says}"
