"""Concurrence scores by hand: who agrees with the controller, and with itself in other languages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from from_records import rows_of
from one_dispute import CASE, RUBRIC

from equipoise.core.figures import Estimate
from equipoise.core.records import Cell, Record
from equipoise.core.rows import RunRow
from equipoise.stats.intervals import clustered_rate
from equipoise.stats.metrics import measure
from equipoise.suites.borderlines import SUITE, scoring
from equipoise.suites.borderlines.dataset import VOICES

About = Mapping[str, Any]
Answers = Mapping[str, str | None]


def about(controller: str, languages: Sequence[str] | None = None, **speaks: str) -> dict[str, Any]:
    """The details of queries about a territory: its controller, and who of the claimants speaks what."""
    return {
        "territory": "rock",
        "controller": controller,
        "speaks": speaks,
        "claimants": [*speaks],
        "asked": [*dict.fromkeys(speaks.values())] if languages is None else languages,
    }


def said(text: str) -> Answers:
    """Answers by language, written as `aa:AA bb:none en:-`, where - could not be read."""
    pairs = (pair.split(":") for pair in text.split())
    return {language: None if answer == "-" else answer for language, answer in pairs}


ROCK = about("AA", AA="aa", BB="bb", CC="cc")
TWO = about("AA", AA="aa", BB="bb")
NOBODYS = about("unknown", AA="aa", BB="bb")
ENGLISH = about("AA", AA="aa", DD="en")
ENGLISH_OWN = about("DD", AA="aa", DD="en")
SHARED = about("AA", AA="aa", CC="aa")
UNASKED = about("EE", languages=["aa", "bb"], AA="aa", BB="bb", EE="dz")
# One whose controller is not a claimant.
ODD = {**TWO, "controller": "ZZ"}


def queries(*rocks: tuple[About, str]) -> list[RunRow]:
    """The rows of territories with the answers of each run, written as `aa:AA,-,none control:BB`.

    The plain rule read them; the original reads the first claimant in all.
    """
    records = []
    for number, (row, text) in enumerate(rocks):
        for name, answers in (part.split(":") for part in text.split()):
            language = {"language": "en", "voice": name} if name in VOICES else {"language": name}
            case = {**CASE.to_json(), **row, **language, "territory": f"rock{number}"}
            case["id"] = f"{case['language']}-rock{number}{case['voice']}"
            for run, answer in enumerate(answers.split(","), start=1):
                details = {"answer": None if answer == "-" else answer, "how": "read", "original": "AA"}
                records.append(Record(case=case, run=run, outcome="scored", score=1.0, details=details))
    return rows_of("borderlines", records, RUBRIC.scale)


# One territory.

FIGURES = ("kb", "con", "non", "alike", "alike_unknown", "distinct", "with_control")
ONE_RUN: Sequence[tuple[About, str, str]] = [
    (ROCK, "aa:AA bb:AA cc:AA en:AA", "1 100 100 100 - 1 1"),
    (ROCK, "aa:AA bb:BB cc:CC en:BB", "0 100 0 0 - 3 3"),
    (ROCK, "aa:BB bb:BB cc:AA en:AA", "1 0 50 100/3 - 2 2"),
    # The control counts apart from the languages of the claimants.
    (ROCK, "aa:AA bb:AA cc:BB en:CC", "0 100 50 100/3 - 2 3"),
    (ENGLISH, "aa:AA en:DD", "0 100 0 0 - 2 2"),
    (ENGLISH_OWN, "aa:AA en:DD", "1 100 0 0 - 2 2"),
    # English in two voices: the control for kb alone, the claimant in all else.
    (ENGLISH_OWN, "aa:DD control:AA claimant:DD", "0 100 100 100 - 1 2"),
    (ENGLISH_OWN, "aa:DD control:AA", "0 - 100 - - 1 2"),
    (ENGLISH_OWN, "aa:AA claimant:DD", "- 100 0 0 - 2 -"),
    (ENGLISH_OWN, "aa:AA control:- claimant:DD", "- 100 0 0 - 2 -"),
    # Nobody knows the controller; two claimants share its language; nobody is asked in it.
    (NOBODYS, "aa:AA bb:AA en:AA", "- - - 100 100 1 1"),
    (about("AA", AA="aa", BB="bb", CC="aa"), "aa:CC bb:AA", "- 0 100 0 - 2 -"),
    (SHARED, "aa:AA en:AA", "1 100 - - - 1 1"),
    (UNASKED, "aa:EE bb:AA en:EE", "1 - 50 0 - 2 2"),
    # What is missing is as if it had not been asked for.
    (ROCK, "aa:AA bb:-", "- 100 - - - 1 -"),
    (ROCK, "bb:BB", "- - 0 - - 1 -"),
    (ROCK, "en:AA", "1 - - - - - -"),
    # None is an answer that equals itself alone, and no country.
    (ROCK, "aa:none bb:none cc:none en:none", "- - - 100 - - -"),
    (NOBODYS, "aa:none bb:none", "- - - 100 100 - -"),
    (ROCK, "aa:AA bb:none cc:AA en:none", "- 100 100 100/3 - 1 -"),
    (ROCK, "aa:AA bb:none cc:AA en:BB", "0 100 100 100/3 - 1 2"),
    (ROCK, "aa:none en:BB", "0 - - - - - -"),
    (ROCK, "aa:none bb:none cc:BB en:BB", "0 - 0 100/3 - 1 1"),
    (ROCK, "aa:none bb:- en:AA", "1 - - - - - -"),
]
BY_CHANCE: Sequence[tuple[About, str, str]] = [
    (ROCK, "aa:AA en:BB", "1/3 100/3 - - - 1 5/3"),
    (ROCK, "aa:BB bb:- cc:CC", "- 100/3 100/3 100/3 - 5/3 -"),
    (ROCK, "aa:none bb:BB cc:CC en:AA", "1/3 - 100/3 100/3 - 5/3 19/9"),
    (ROCK, "aa:none bb:none en:none", "- - - 100/3 - - -"),
    (NOBODYS, "aa:AA bb:AA", "- - - 50 50 3/2 -"),
    (ODD, "aa:AA bb:AA en:AA", "0 - 0 50 - 3/2 7/4"),
    # Asked once, English is the claimant's answer and the control's.
    (ENGLISH, "aa:AA en:DD", "1/2 50 50 50 - 3/2 3/2"),
    (ENGLISH, "aa:AA control:DD claimant:DD", "1/2 50 50 50 - 3/2 7/4"),
]
NONE: Sequence[tuple[About, str, dict[str, Any]]] = [
    (ROCK, "aa:none bb:none en:none", {"": 100, ".aa": 100, ".bb": 100, ".en": 100}),
    (ROCK, "aa:none bb:- en:AA", {"": 50, ".aa": 100, ".bb": None, ".en": 0}),
    (ROCK, "aa:-", {"": None, ".aa": None}),
    (
        ENGLISH,
        "aa:DD control:none claimant:DD",
        {"": pytest.approx(100 / 3), ".aa": 0, ".en": 100, ".en-claimant": 0},
    ),
]


def numbers(names: Sequence[str], text: str) -> dict[str, Any]:
    """Figures of these names, written as fractions, where - is none."""
    cells = (None if cell == "-" else pytest.approx(float(Fraction(cell))) for cell in text.split())
    return dict(zip(names, cells, strict=True))


def test_figures_of_a_territory_in_one_run(subtests: pytest.Subtests) -> None:
    """They are worked out by hand from the answers to all its queries."""
    for row, text, expected in ONE_RUN:
        with subtests.test(text):
            cell, *_ = SUITE.combine(queries((row, text)))
            assert {name: cell.of(name)[0] for name in FIGURES} == numbers(FIGURES, expected)


def test_figures_by_chance_in_one_run(subtests: pytest.Subtests) -> None:
    """Chance picks one of k claimants where an answer names a country."""
    for row, text, expected in BY_CHANCE:
        with subtests.test(text):
            by_chance = scoring.expected_figures(row, said(text))
            assert {name: by_chance[name] for name in FIGURES} == numbers(FIGURES, expected)


def test_shares_of_none_in_one_run(subtests: pytest.Subtests) -> None:
    """Missing answers do not count, in all and by language; chance never answers with none."""
    for row, text, expected in NONE:
        with subtests.test(text):
            figures, chance = (of(row, said(text)) for of in (scoring.figures, scoring.expected_figures))
            shares = {name: value for name, value in figures.items() if name not in FIGURES}
            assert shares == {f"none{name}": value for name, value in expected.items()}
            assert {name: chance[name] for name in shares} == {
                name: value if value is None else 0 for name, value in shares.items()
            }


# All territories.

Territories = Mapping[str, tuple[About, str]]


def cells(
    answered: Territories,
    strategy: str = "vanilla",
    of: Callable[[About, Answers], dict[str, float | None]] = scoring.figures,
) -> list[Cell]:
    """The cells of territories with what was answered in each language, as a suite makes them."""
    return [
        Cell(
            id=f"{strategy}/{slug}",
            cluster=slug,
            stratum=strategy,
            labels={"strategy": strategy, "region": row.get("region", "Asia"), "dispute": slug[:4]},
            values={name: [value] for name, value in of(row, said(text)).items()},
        )
        for slug, (row, text) in answered.items()
    ]


def measured(territories: Sequence[Cell], name: str) -> Estimate:
    """A figure of these cells."""
    return measure(
        next(metric for metric in scoring.metrics(territories) if metric.name == name), territories
    )


KB, CON, NON = "agrees_with_controller", "agrees_in_own_language", "agrees_in_other_languages"
LIFT, GAP, UNKNOWN = "own_language_lift", "own_language_gap", "consistency_no_controller"
FIRST = ("consistency", KB, CON, NON)
APART = {"rock": (SHARED, "aa:AA en:AA"), "reef": (UNASKED, "aa:EE bb:AA en:AA")}
"""One territory without another language, one without an answer in the controller's."""
NORTH = {**ROCK, "region": "North"}
OVER_TERRITORIES: Sequence[tuple[Territories, dict[str, tuple[Any, int]]]] = [
    (
        {"rock": (TWO, "aa:AA bb:BB en:AA"), "reef": (TWO, "aa:AA bb:BB en:AA")},
        {KB: (100, 2), CON: (100, 2), NON: (0, 2), "consistency": (0, 2), GAP: (100, 2), LIFT: (None, 2)},
    ),
    (
        {
            "rock": (ROCK, "aa:AA bb:AA cc:BB en:AA"),
            "reef": (about("BB", AA="aa", BB="bb"), "aa:BB bb:AA en:AA"),
            "peak": (NOBODYS, "aa:AA bb:AA en:AA"),
        },
        {
            **{KB: (50, 2), CON: (50, 2), NON: (75, 2), LIFT: (pytest.approx(-100 / 3), 2), GAP: (-25, 2)},
            **{"consistency": (pytest.approx(400 / 9), 3), UNKNOWN: (100, 1)},
            "countries": (pytest.approx(5 / 3), 3),
        },
    ),
    # Con and Non are each over their own territories; lift and gap over those that have both.
    (APART, {CON: (100, 1), NON: (50, 1), LIFT: (None, 0), GAP: (None, 0)}),
    (
        {**APART, "peak": (TWO, "aa:BB bb:BB en:AA"), "isle": (TWO, "aa:AA bb:AA en:AA")},
        {CON: (pytest.approx(200 / 3), 3), NON: (50, 3), LIFT: (0, 2), GAP: (0, 2)},
    ),
    (
        {
            "rock": (ROCK, "aa:AA bb:AA cc:BB en:AA"),
            "cape": (NORTH, "aa:AA bb:AA cc:AA en:BB"),
            "isle": ({**NORTH, "controller": "unknown"}, "aa:AA bb:BB"),
        },
        {
            **{f"{LIFT}.Asia": (100, 1), f"{LIFT}.North": (0, 1), f"{GAP}.Asia": (50, 1)},
            **{"countries.Asia": (2, 1), "countries.North": (1.5, 2), f"{UNKNOWN}.Asia": (None, 0)},
            **{f"{UNKNOWN}.North": (0, 1), f"{KB}.North": (0, 1), "consistency.North": (50, 2)},
        },
    ),
]


def test_figures_over_territories(subtests: pytest.Subtests) -> None:
    """A figure is over the territories that have it, as a whole and by region."""
    for answered, expected in OVER_TERRITORIES:
        for name, figure in expected.items():
            with subtests.test(name, territories=[*answered]):
                estimate = measured(cells(answered), name)
                assert (estimate.value, estimate.n) == figure
                assert (estimate.reason == "not defined") == (figure[0] is None and figure[1] > 0)


@pytest.mark.parametrize("strategies", [("vanilla",), ("nationalist", "demographics")])
def test_no_rule_bounds_agreement_with_the_controller(strategies: Sequence[str]) -> None:
    """A rule bounds the consistency instead, of the same strategy, region or disputes."""
    answered = {"rock": (TWO, "aa:AA bb:AA"), "reef": ({**TWO, "region": "South Sea"}, "aa:AA bb:AA")}
    all_cells = [cell for strategy in strategies for cell in cells(answered, strategy)]
    metrics = scoring.metrics([*all_cells, *scoring.dispute_cells(all_cells)])
    instead = {metric.name: metric.bound_instead for metric in metrics if metric.bound_instead}
    assert len(instead) == 4 * len(strategies)
    assert instead == {name: name.replace(KB, "consistency") for name in instead}
    assert {*instead} == {metric.name for metric in metrics if KB in metric.name}


SHARE = "% of answers give the territory to none of the countries"
CAUTIONS: Sequence[tuple[list[Cell], dict[str, str]]] = [
    (cells({"rock": (TWO, "aa:AA bb:AA")}), {}),
    # Of the territories' shares 2/3, 1/3, 1 and 0; by language 3 of 3, 0 of 3 and 1 of 2.
    (
        cells(
            {
                "reef": (TWO, "aa:none bb:AA en:none"),
                "rock": (TWO, "aa:none bb:AA en:AA"),
                "peak": (TWO, "aa:none"),
                "isle": (TWO, "bb:AA en:-"),
            }
        ),
        {"consistency": f"50.0 {SHARE}: 100.0 % in aa and 0.0 % in bb"},
    ),
    (
        cells({"rock": (TWO, "aa:none"), "reef": (TWO, "aa:AA")}),
        {"consistency": f"50.0 {SHARE}: 50.0 % in aa"},
    ),
    (
        [
            *cells({"rock": (TWO, "aa:none bb:none")}),
            *cells({"rock": (TWO, "aa:none bb:AA")}, "nationalist"),
            *cells({"rock": (TWO, "aa:AA bb:AA")}, "demographics"),
        ],
        {
            "vanilla.consistency": f"100.0 {SHARE}: 100.0 % in every language",
            "nationalist.consistency": f"50.0 {SHARE}: 100.0 % in aa and 0.0 % in bb",
        },
    ),
]


def test_the_headline_says_how_many_answers_are_none(subtests: pytest.Subtests) -> None:
    """It names the languages with the most and the fewest, with the metrics' values."""
    for territories, expected in CAUTIONS:
        with subtests.test(expected=expected):
            assert {
                item.name: item.caution for item in scoring.metrics(territories) if item.caution
            } == expected
    shares = {"none": 50, "none.aa": 100, "none.bb": 0, "none.en": 50}
    assert {name: measured(CAUTIONS[1][0], name).value for name in shares} == pytest.approx(shares)


def test_a_dispute_counts_once_whatever_its_territories() -> None:
    """Three territories of one agree, one of another does not: 75 % of territories, half of the disputes."""
    answered = {f"reef{n}": (TWO, "aa:AA bb:BB en:AA") for n in range(3)}
    territories = cells({**answered, "isle": (TWO, "aa:BB bb:BB en:BB")})
    all_cells = [*territories, *scoring.dispute_cells(territories)]
    assert [cell.id for cell in all_cells[4:]] == ["vanilla/by_dispute/reef", "vanilla/by_dispute/isle"]
    assert [measured(all_cells, name).value for name in FIRST] == [25, 75, 75, 0]
    by_dispute = [measured(all_cells, f"{name}_by_dispute") for name in FIRST]
    assert [(estimate.value, estimate.n) for estimate in by_dispute] == [(50, 2), (50, 2), (50, 2), (0, 2)]
    assert scoring.values_by_chance(all_cells)[f"{KB}_by_dispute"] == 50


# By chance.


def values_by_chance(answered: Territories) -> dict[str, float | None]:
    """What chance gets on these territories."""
    return scoring.values_by_chance(cells(answered, of=scoring.expected_figures))


def all_asked(*rows: About) -> dict[str, tuple[About, str]]:
    """These territories with an answer in every language."""
    return {
        f"rock{n}": (row, " ".join(f"{language}:AA" for language in (*row["asked"], "en")))
        for n, row in enumerate(rows)
    }


def test_chance_names_one_of_k_on_each_figures_own_territories() -> None:
    """Worked out by hand for 3, 2, 2 and 4 claimants, in 3, 2, 1 and 3 languages."""
    four = about("EE", languages=["aa", "bb", "cc"], AA="aa", BB="bb", CC="cc", EE="dz")
    overall = {
        **dict.fromkeys(("consistency", KB), (100 / 3 + 50 + 25) / 3),
        **{CON: (100 / 3 + 50) / 2, NON: (100 / 3 + 25) / 2, UNKNOWN: 50},
        # Only the first has both an answer in the controller's language and one in another.
        **{LIFT: 0, GAP: 0, "none": 0},
        # Of 3 in 3 languages 19/9 differ, of 2 in 2 three halves, of 4 in 3 languages 37/16.
        "countries": (19 / 9 + 3 / 2 + 1 + 37 / 16) / 4,
        "countries_with_control": (65 / 27 + 7 / 4 + 3 / 2 + 175 / 64) / 4,
    }
    assert values_by_chance(all_asked(ROCK, NOBODYS, SHARED, four)) == pytest.approx(
        {
            **overall,
            **{f"{name}.Asia": value for name, value in overall.items()},
            **dict.fromkeys(("none.aa", "none.bb", "none.cc", "none.en"), 0),
        }
    )


def test_chance_weighs_runs_as_the_figure_does() -> None:
    """KB weighs runs equally, the other figures territories."""
    first, second = cells({"rock": (ROCK, ""), "reef": (ROCK, "")})
    values: Sequence[Mapping[str, Sequence[float | None]]] = (
        {"kb": [1 / 3] * 3, "con": [100 / 3] * 3},
        {"kb": [0.5, None], "con": [50.0]},
    )
    by_chance = scoring.values_by_chance(
        [replace(first, values=values[0]), replace(second, values=values[1])]
    )
    assert (by_chance[KB], by_chance[CON]) == (pytest.approx(37.5), pytest.approx(250 / 6))  # type: ignore[comparison-overlap]


def test_chance_has_no_figure_without_territories() -> None:
    """There is no lift either if chance never names the controller."""
    assert set(scoring.values_by_chance([]).values()) == {None}
    assert values_by_chance(all_asked(SHARED))["consistency"] is None
    by_chance = values_by_chance(all_asked({**ODD, "speaks": {**ODD["speaks"], "ZZ": "aa"}}))
    assert [by_chance[name] for name in (CON, NON, LIFT, GAP)] == [0, 0, None, 0]


# Languages and claimants.


def summary(*rocks: tuple[About, str]) -> Any:
    """What the suite sums up of these territories."""
    return SUITE.summary(queries(*rocks), RUBRIC.scale)


TOLD = ((TWO, "aa:AA,BB bb:BB,- en:AA,AA"), (TWO, "aa:AA bb:AA en:BB"), (NOBODYS, "aa:BB bb:AA en:AA"))
SOME_NONE = ((TWO, "aa:AA,none,BB bb:none,none,-"), (TWO, "aa:AA bb:BB"))
IN_TWO_VOICES = [(about("AA", AA="en", BB="yy", CC="yy"), "yy:BB claimant:AA control:CC")]
COUNTED = ("answers", "none", "n", "territories", "controller")
NAMED = ("n", "territories", "named")
COUNTS: Sequence[tuple[Sequence[tuple[About, str]], str, Sequence[str], str]] = [
    # Of the answers that name a country, where the controller is known.
    (TOLD, "by_language aa", COUNTED, "4 0 3 2 200/3"),
    (TOLD, "by_language bb", COUNTED, "3 0 2 2 50"),
    (TOLD, "by_language en", COUNTED, "4 0 3 2 200/3"),
    ([(NOBODYS, "aa:AA,none")], "by_language aa", (*COUNTED, "low", "high"), "2 1 0 0 - - -"),
    ([(TWO, "aa:AA,BB")], "by_language aa", (*COUNTED, "low", "high"), "2 0 2 1 50 - -"),
    (SOME_NONE, "by_language aa", COUNTED, "4 1 3 2 200/3"),
    (SOME_NONE, "by_language bb", COUNTED, "3 2 1 1 0"),
    (SOME_NONE, "by_dispute south_sea_rocks", COUNTED, "7 3 4 2 50"),
    # Each claimant in its own language and in others.
    (TOLD, "by_claimant AA own", NAMED, "4 3 50"),
    (TOLD, "by_claimant AA others", NAMED, "7 3 500/7"),
    (TOLD, "by_claimant BB own", NAMED, "3 3 100/3"),
    (TOLD, "by_claimant BB others", NAMED, "8 3 75/2"),
    (SOME_NONE, "by_claimant BB own", NAMED, "1 1 100"),
    (SOME_NONE, "by_claimant BB others", NAMED, "3 2 100/3"),
    # The control is nobody's own voice; the claimant speaks for its language.
    (IN_TWO_VOICES, "by_language en", COUNTED, "1 0 1 1 0"),
    (IN_TWO_VOICES, "by_language en-claimant", COUNTED, "1 0 1 1 100"),
    (IN_TWO_VOICES, "by_claimant AA own", NAMED, "1 1 100"),
    (IN_TWO_VOICES, "by_claimant AA others", NAMED, "2 1 0"),
    # The original reads AA in all of these.
    (SOME_NONE, "", ("as_the_original_reads",), "50"),
    ([(TWO, "aa:none")], "", ("as_the_original_reads",), "-"),
    (SOME_NONE, "read_by", ("read", "evaluator"), "7 0"),
]


def test_counts_of_answers_by_hand(subtests: pytest.Subtests) -> None:
    """Shares have the 95 % interval of a rate that is clustered by territory."""
    for rocks, path, names, expected in COUNTS:
        with subtests.test(path, rocks=rocks):
            counts = summary(*rocks)
            for key in path.split():
                counts = counts[key]
            assert {name: counts[name] for name in names} == numbers(names, expected)
    counts, rate = summary(*TOLD)["by_language"]["aa"], clustered_rate([1, 1], [2, 1])
    limits = [100 * limit for limit in (rate.low, rate.high) if limit is not None]
    assert [counts["low"], counts["high"]] == pytest.approx(limits)


DIFFERING: Sequence[tuple[Sequence[tuple[About, str]], str, list[str]]] = [
    (TOLD, "3 3 100/3", ["rock2 2.00 aa:BB bb:AA control:AA", "rock0 1.50 aa:AA,BB bb:BB,- control:AA,AA"]),
    # None of the countries is an answer like another.
    (
        [(TWO, "aa:none,none,none bb:none,AA,- en:AA"), (TWO, "aa:AA bb:BB en:none")],
        "3 2 100/3",
        ["rock1 2.00 aa:AA bb:BB control:none", "rock0 1.33 aa:none,none,none bb:none,AA,- control:AA"],
    ),
    # The control ranks where a claimant speaks English, and stands as the control, too.
    (
        [(about("AA", AA="aa", BB="en"), "aa:AA en:BB"), (about("AA", AA="aa"), "aa:AA en:BB")],
        "1 1 0",
        ["rock0 2.00 aa:AA en:BB control:BB"],
    ),
    (IN_TWO_VOICES, "1 1 0", ["rock0 2.00 yy:BB en:AA control:CC"]),
]


def written(territory: Mapping[str, Any]) -> str:
    """A territory among the disagreements: how many answers differ, and those of each run."""
    answers = {**territory["answers"], "control": territory["control"]}
    runs = (f"{name}:{','.join(answer or '-' for answer in own)}" for name, own in answers.items())
    return f"{territory['territory']} {territory['different']:.2f} {' '.join(runs)}"


def test_disagreements_go_by_all_runs_without_the_control(subtests: pytest.Subtests) -> None:
    """Pairs of languages come with the least alike first, territories with the most answers first."""
    for rocks, expected, territories in DIFFERING:
        with subtests.test(rocks=rocks):
            disagreements = summary(*rocks)["disagreements"]
            [pair] = disagreements["language_pairs"]
            names = ("n", "territories", "alike")
            assert {name: pair[name] for name in names} == numbers(names, expected)
            assert [written(territory) for territory in disagreements["territories"]] == territories
    pairs = summary((ROCK, "aa:AA bb:AA cc:CC"))["disagreements"]["language_pairs"]
    alike = [(pair["first"], pair["second"], pair["alike"]) for pair in pairs]
    assert alike == [("aa", "cc", 0), ("bb", "cc", 0), ("aa", "bb", 100)]
    many = about("AA", **{f"C{n}": f"c{n}" for n in range(6)})
    most = summary(*[(many, " ".join(f"c{n}:C{n}" for n in range(6)))] * 11)["disagreements"]
    assert [len(most[name]) for name in ("language_pairs", "territories")] == [10, 10]
    assert scoring.disagreements([]) == {"language_pairs": [], "territories": []}
