"""Concurrence scores by hand: who agrees with the controller, and with itself in other languages."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from from_records import rows_of
from msgspec import structs
from one_dispute import CASE, RUBRIC
from shipped_borderlines import cases as shipped

from equipoise.core.figures import Estimate
from equipoise.core.records import Cell, Metric, Record
from equipoise.core.rows import RunRow
from equipoise.stats.intervals import clustered_rate
from equipoise.stats.metrics import measure
from equipoise.suites.borderlines import scoring
from equipoise.suites.borderlines.dataset import Dispute
from equipoise.suites.borderlines.scoring import expected_figures, table_metrics

About = Mapping[str, Any]
Answers = Mapping[str, str | None]


def about(controller: str, asked: Sequence[str] | None = None, **speaks: str) -> dict[str, Any]:
    """The details of queries about a territory: its controller, and who of the claimants speaks what."""
    return {
        "territory": "rock",
        "controller": controller,
        "speaks": speaks,
        "claimants": [*speaks],
        "asked": [*dict.fromkeys(speaks.values())] if asked is None else asked,
    }


ROCK = about("AA", AA="aa", BB="bb", CC="cc")
EMPTY = dict.fromkeys(("kb", "con", "non", "alike", "alike_unknown", "distinct"))


# One territory.


def figures(row: About, answers: Answers) -> dict[str, float | None]:
    """All figures of a territory but those that have tests of their own: with the control, and of none."""
    found = scoring.figures(row, answers)
    return {
        name: value
        for name, value in found.items()
        if name != "with_control" and name.partition(".")[0] != "none"
    }


def shares_of_none(row: About, answers: Answers) -> dict[str, float | None]:
    """How many of the answers about a territory are none of the countries, in all and by language."""
    found = scoring.figures(row, answers)
    return {name: value for name, value in found.items() if name.partition(".")[0] == "none"}


def test_the_control_is_one_more_answer_to_count() -> None:
    """Where it names another country beside answers of claimants; asked once, it is counted once."""
    told = {"aa": "AA", "bb": "AA"}
    counted = {
        said: scoring.figures(ROCK, {**told, "en": said})["with_control"] for said in ("AA", "BB", None)
    }
    assert counted == {"AA": 1, "BB": 2, None: None}
    assert scoring.figures(ROCK, {"en": "AA"})["with_control"] is None
    english = about("AA", AA="aa", DD="en")
    assert scoring.figures(english, {"aa": "AA", "en": "DD"})["with_control"] == 2
    assert expected_figures(english, {"aa": "AA", "en": "DD"})["with_control"] == 1.5
    assert expected_figures(english, {"aa": "AA", "control": "DD", "claimant": "DD"})["with_control"] == 1.75
    assert expected_figures(ROCK, {"aa": "AA", "en": "BB"})["with_control"] == pytest.approx(5 / 3)


def test_who_always_names_the_controller_agrees_with_everything() -> None:
    """In its own language and the two others, and in the control."""
    found = figures(ROCK, {"aa": "AA", "bb": "AA", "cc": "AA", "en": "AA"})
    assert found == {**EMPTY, "kb": 1, "con": 100, "non": 100, "alike": 100, "distinct": 1}


def test_who_names_the_claimant_of_each_language_agrees_with_none_of_the_others() -> None:
    """The controller is named in its own language only, and no two answers are alike."""
    found = figures(ROCK, {"aa": "AA", "bb": "BB", "cc": "CC", "en": "BB"})
    assert found == {**EMPTY, "kb": 0, "con": 100, "non": 0, "alike": 0, "distinct": 3}


def test_non_is_the_mean_over_the_other_languages_and_consistency_over_pairs() -> None:
    """One of two others; of three pairs of languages, one is alike."""
    found = figures(ROCK, {"aa": "BB", "bb": "BB", "cc": "AA", "en": "AA"})
    assert found == {
        **EMPTY,
        **{"kb": 1, "con": 0, "non": 50, "distinct": 2, "alike": pytest.approx(100 / 3)},
    }


def test_the_english_control_is_apart_from_the_claimants_languages() -> None:
    """Whatever it says, nothing but `kb` changes where no claimant speaks English."""
    answers = {"aa": "AA", "bb": "AA", "cc": "BB"}
    first, second = (figures(ROCK, {**answers, "en": said}) for said in ("AA", "CC"))
    assert (first.pop("kb"), second.pop("kb")) == (1, 0)
    assert first == second
    assert first["distinct"] == 2


def test_english_counts_twice_where_a_claimant_speaks_it() -> None:
    """The control for `kb`, and one of the languages for all else."""
    rock = about("AA", AA="aa", DD="en")
    assert figures(rock, {"aa": "AA", "en": "DD"}) == {
        **EMPTY,
        **{"kb": 0, "con": 100, "non": 0, "alike": 0, "distinct": 2},
    }
    mine = about("DD", AA="aa", DD="en")
    assert figures(mine, {"aa": "AA", "en": "DD"}) == {
        **EMPTY,
        **{"kb": 1, "con": 100, "non": 0, "alike": 0, "distinct": 2},
    }


def test_english_asked_apart_counts_each_voice_in_its_place() -> None:
    """The control for `kb` alone, and the claimant in all else, whichever of them there is."""
    rock = about("DD", AA="aa", DD="en")
    both = figures(rock, {"aa": "DD", "control": "AA", "claimant": "DD"})
    assert both == {**EMPTY, "kb": 0, "con": 100, "non": 100, "alike": 100, "distinct": 1}
    assert figures(rock, {"aa": "DD", "control": "AA"}) == {**EMPTY, "kb": 0, "non": 100, "distinct": 1}
    for control in ({}, {"control": None}):
        found = figures(rock, {"aa": "AA", "claimant": "DD", **control})
        assert found == {**EMPTY, "con": 100, "non": 0, "alike": 0, "distinct": 2}
    chance = expected_figures(rock, {"aa": "DD", "control": "AA", "claimant": "DD"})
    assert (chance["kb"], chance["distinct"]) == (0.5, 1.5)


def test_a_controller_that_nobody_knows_gives_consistency_alone() -> None:
    """In all, and of the unknown ones; there is no truth to agree with."""
    found = figures(about("unknown", AA="aa", BB="bb"), {"aa": "AA", "bb": "AA", "en": "AA"})
    assert found == {**EMPTY, "alike": 100, "alike_unknown": 100, "distinct": 1}


def test_a_claimant_that_shares_the_controllers_language_is_no_other() -> None:
    """One answer a language: of three claimants two speak aa, so bb alone is another language."""
    rock = about("AA", AA="aa", BB="bb", CC="aa")
    found = figures(rock, {"aa": "CC", "bb": "AA"})
    assert found == {**EMPTY, "con": 0, "non": 100, "alike": 0, "distinct": 2}
    alone = figures(about("AA", AA="aa", CC="aa"), {"aa": "AA", "en": "AA"})
    assert alone == {**EMPTY, "kb": 1, "con": 100, "distinct": 1}


def test_a_controller_whose_language_is_not_asked_has_no_answer_of_its_own() -> None:
    """`con` is not defined, and all languages are others."""
    rock = about("EE", asked=["aa", "bb"], AA="aa", BB="bb", EE="dz")
    found = figures(rock, {"aa": "EE", "bb": "AA", "en": "EE"})
    assert found == {**EMPTY, "kb": 1, "non": 50, "alike": 0, "distinct": 2}


def test_one_answer_alone_has_nothing_to_be_consistent_with() -> None:
    """An answer that is missing is as if it had not been asked for."""
    answers: dict[str, str | None] = {"aa": "AA", "bb": None}
    assert figures(ROCK, answers) == {**EMPTY, "con": 100, "distinct": 1}
    assert figures(ROCK, {"bb": "BB"}) == {**EMPTY, "non": 0, "distinct": 1}
    assert figures(ROCK, {"en": "AA"}) == {**EMPTY, "kb": 1}
    assert figures(ROCK, {}) == EMPTY


def test_who_calls_every_place_disputed_tells_all_readers_the_same() -> None:
    """None of the countries is an answer of its own: all pairs are alike, and no country is named."""
    disputed = dict.fromkeys(("aa", "bb", "cc", "en"), "none")
    assert figures(ROCK, disputed) == {**EMPTY, "alike": 100}
    assert scoring.figures(ROCK, disputed)["with_control"] is None
    assert shares_of_none(ROCK, disputed) == dict.fromkeys(
        ("none", "none.aa", "none.bb", "none.cc", "none.en"), 100
    )
    unknown = about("unknown", AA="aa", BB="bb")
    assert figures(unknown, {"aa": "none", "bb": "none"}) == {**EMPTY, "alike": 100, "alike_unknown": 100}


def test_none_is_told_from_every_country_and_counts_as_none() -> None:
    """Of three pairs one is alike; Con and Non go by the two answers that name a country."""
    told = {"aa": "AA", "bb": "none", "cc": "AA", "en": "none"}
    third = pytest.approx(100 / 3)
    assert figures(ROCK, told) == {**EMPTY, "con": 100, "non": 100, "alike": third, "distinct": 1}
    assert scoring.figures(ROCK, told)["with_control"] is None
    assert scoring.figures(ROCK, {**told, "en": "BB"})["with_control"] == 2
    assert scoring.figures(ROCK, {"aa": "none", "en": "BB"})["with_control"] is None
    other = {"aa": "none", "bb": "none", "cc": "BB", "en": "BB"}
    assert figures(ROCK, other) == {**EMPTY, "kb": 0, "non": 0, "alike": third, "distinct": 1}


def test_a_missing_answer_is_not_none() -> None:
    """Neither of the shares counts it, and it is alike to nothing."""
    told = {"aa": "none", "bb": None, "en": "AA"}
    assert shares_of_none(ROCK, told) == {"none": 50, "none.aa": 100, "none.bb": None, "none.en": 0}
    assert figures(ROCK, told) == {**EMPTY, "kb": 1}
    assert shares_of_none(ROCK, {"aa": None}) == {"none": None, "none.aa": None}


def test_english_asked_apart_has_a_share_of_none_for_each_voice() -> None:
    """The control is English, and the claimant stands beside it, as among the languages of the summary."""
    rock = about("DD", AA="aa", DD="en")
    assert shares_of_none(rock, {"aa": "DD", "control": "none", "claimant": "DD"}) == {
        "none": pytest.approx(100 / 3),
        "none.aa": 0,
        "none.en": 100,
        "none.en-claimant": 0,
    }


# All territories.


def cells(
    answered: Mapping[str, tuple[About, Answers]],
    strategy: str = "vanilla",
    of: Callable[[About, Answers], dict[str, float | None]] = scoring.figures,
) -> list[Cell]:
    """The cells of territories with what was answered in each language, as a suite makes them."""
    return [
        Cell(
            id=f"{strategy}/{slug}",
            cluster=slug,
            stratum=strategy,
            labels={"strategy": strategy, "region": row.get("region", "Asia")},
            values={name: [value] for name, value in of(row, answers).items()},
        )
        for slug, (row, answers) in answered.items()
    ]


def metric(found: Sequence[Cell], name: str) -> Metric:
    """The metric of that name."""
    return next(metric for metric in scoring.metrics(found) if metric.name == name)


def measured(found: Sequence[Cell], name: str) -> Estimate:
    """A figure of these cells."""
    return measure(metric(found, name), found)


def answered(says: Callable[[str], str], number: int = 8) -> list[Cell]:
    """That many territories of the controller AA, asked in aa, bb and English: what `says` a language."""
    answers = {language: says(language) for language in ("aa", "bb", "en")}
    return cells({f"rock{n}": (about("AA", AA="aa", BB="bb"), answers) for n in range(number)})


def test_always_the_controller_has_a_delta_of_nothing() -> None:
    """KB, Con and Non 100, no difference, one country."""
    found = answered(lambda language: "AA")
    named = (
        "agrees_with_controller",
        "agrees_in_own_language",
        "agrees_in_other_languages",
        "consistency",
        "own_language_lift",
        "own_language_gap",
        "countries",
    )
    assert [measured(found, name).value for name in named] == [100, 100, 100, 100, 0, 0, 1]


def test_always_the_claimant_of_the_language_has_no_delta() -> None:
    """Con 100, Non 0: a hundred points in all, and over nothing a lift is not defined."""
    found = answered(lambda language: "BB" if language == "bb" else "AA")
    named = (
        "agrees_with_controller",
        "agrees_in_own_language",
        "agrees_in_other_languages",
        "consistency",
        "own_language_gap",
        "countries",
    )
    assert [measured(found, name).value for name in named] == [100, 100, 0, 0, 100, 2]
    delta = measured(found, "own_language_lift")
    assert (delta.value, delta.low, delta.high, delta.reason) == (None, None, None, "not defined")


def test_figures_go_over_the_territories_that_have_them() -> None:
    """Two known and one unknown, by hand: Con (100 + 0) / 2, Non (50 + 100) / 2, delta -33.3 % of Non."""
    found = cells(
        {
            "rock": (ROCK, {"aa": "AA", "bb": "AA", "cc": "BB", "en": "AA"}),
            "reef": (about("BB", AA="aa", BB="bb"), {"aa": "BB", "bb": "AA", "en": "AA"}),
            "peak": (about("unknown", AA="aa", BB="bb"), {"aa": "AA", "bb": "AA", "en": "AA"}),
        }
    )
    expected = {
        "agrees_with_controller": (50, 2),
        "agrees_in_own_language": (50, 2),
        "agrees_in_other_languages": (75, 2),
        "consistency": (pytest.approx((100 / 3 + 0 + 100) / 3), 3),
        "consistency_no_controller": (100, 1),
        "own_language_lift": (pytest.approx(-100 / 3), 2),
        "own_language_gap": (-25, 2),
        "countries": (pytest.approx(5 / 3), 3),
    }
    for name, figure in expected.items():
        estimate = measured(found, name)
        assert (estimate.value, estimate.n) == figure, name


def test_con_and_non_are_each_over_their_own_territories() -> None:
    """One has no other language, one no query in the controller's; lift and gap are over the third alone."""
    unasked = about("EE", asked=["aa", "bb"], AA="aa", BB="bb", EE="dz")
    rows: dict[str, tuple[About, Answers]] = {
        "rock": (about("AA", AA="aa", CC="aa"), {"aa": "AA", "en": "AA"}),
        "reef": (unasked, {"aa": "EE", "bb": "AA", "en": "AA"}),
    }
    names = ("agrees_in_own_language", "agrees_in_other_languages", "own_language_lift", "own_language_gap")
    assert [measured(cells(rows), name).value for name in names] == [100, 50, None, None]
    peak = about("AA", AA="aa", BB="bb"), {"aa": "BB", "bb": "BB", "en": "AA"}
    isle = about("AA", AA="aa", BB="bb"), {"aa": "AA", "bb": "AA", "en": "AA"}
    found = cells({**rows, "peak": peak, "isle": isle})
    assert [measured(found, name).value for name in names] == [pytest.approx(200 / 3), 50, 0, 0]


WHOLE = (
    *("consistency", "agrees_with_controller", "agrees_in_own_language", "agrees_in_other_languages", "none"),
    *("consistency_no_controller", "own_language_lift", "own_language_gap"),
    *("countries", "countries_with_control"),
)
"""The figures that stand for all territories, and for those of each region."""


def test_which_figures_are_better_high() -> None:
    """Consistency; differences and countries are better low; agreement and none are neither."""
    better = {item.name: item.higher_is_better for item in scoring.metrics(answered(lambda _: "AA"))}
    whole = {
        **dict.fromkeys(("consistency", "consistency_no_controller"), True),
        **dict.fromkeys((f"agrees_{what}" for what in CONTROLLER), None),
        "none": None,
        **dict.fromkeys(
            ("own_language_lift", "own_language_gap", "countries", "countries_with_control"), False
        ),
    }
    assert better == {
        **whole,
        **{f"{name}.Asia": is_better for name, is_better in whole.items()},
        **dict.fromkeys(("none.aa", "none.bb", "none.en"), None),
    }


CONTROLLER = ("with_controller", "in_own_language", "in_other_languages")


def test_who_names_the_controller_may_be_bounded_by_no_rule_of_a_gate() -> None:
    """What may be bounded instead is the consistency of the same part."""
    row = about("AA", AA="aa", BB="bb")
    says = {"reef": (row, {"aa": "AA", "bb": "AA", "en": "AA"})}
    for strategies in (("vanilla",), ("nationalist", "demographics")):
        found = [
            replace(cell, labels={**cell.labels, "dispute": "reef"})
            for strategy in strategies
            for cell in cells(says, strategy)
        ]
        metrics = scoring.metrics([*found, *scoring.dispute_cells(found)])
        instead = {item.name: item.bound_instead for item in metrics if item.bound_instead}
        assert instead == {
            f"{prefix}agrees_with_controller{part}": f"{prefix}consistency{part}"
            for prefix in (f"{name}." if len(strategies) > 1 else "" for name in strategies)
            for part in ("", ".Asia", "_by_dispute")
        }
        assert {*instead.values()} <= {item.name for item in metrics}


def cautions(found: Sequence[Cell]) -> dict[str, str]:
    """The figures with a caution."""
    return {item.name: item.caution for item in scoring.metrics(found) if item.caution}


def test_the_headline_says_how_many_answers_are_none() -> None:
    """The shares of the metrics, in the languages with the most and the fewest; nothing where none is."""
    assert cautions(answered(lambda _: "AA")) == {}
    row = about("AA", AA="aa", BB="bb")
    told = {
        "reef": (row, {"aa": "none", "bb": "AA", "en": "none"}),
        "rock": (row, {"aa": "none", "bb": "AA", "en": "AA"}),
        "peak": (row, {"aa": "none"}),
        "isle": (row, {"bb": "AA", "en": None}),
    }
    found = cells(told)
    # Of the territories' shares 2/3, 1/3, 1 and 0; by language 3 of 3, 0 of 3 and 1 of 2.
    shares = {"none": 50, "none.aa": 100, "none.bb": 0, "none.en": 50}
    assert {name: measured(found, name).value for name in shares} == pytest.approx(shares)
    text = "50.0 % of answers give the territory to none of the countries: 100.0 % in aa and 0.0 % in bb"
    assert cautions(found) == {"consistency": text}
    alone = cells({"rock": (row, {"aa": "none"}), "reef": (row, {"aa": "AA"})})
    text = "50.0 % of answers give the territory to none of the countries: 50.0 % in aa"
    assert cautions(alone) == {"consistency": text}


def test_who_calls_all_disputed_is_wholly_consistent_and_the_headline_says_why() -> None:
    """100 % of pairs alike, 100 % none; where no country is named, no figure of agreement is known."""
    found = answered(lambda _: "none")
    values = {item.name: measure(item, found).value for item in scoring.metrics(found)}
    known = {name: value for name, value in values.items() if value is not None}
    every = ("consistency", "none", "consistency.Asia", "none.Asia", "none.aa", "none.bb", "none.en")
    assert known == dict.fromkeys(every, 100)
    text = "100.0 % of answers give the territory to none of the countries: 100.0 % in every language"
    assert cautions(found) == {"consistency": text}


def test_each_strategy_has_its_own_caution() -> None:
    """Its answers alone are counted."""
    row = about("AA", AA="aa", BB="bb")
    found = [
        *cells({"rock": (row, {"aa": "none", "bb": "none"})}),
        *cells({"rock": (row, {"aa": "none", "bb": "AA"})}, "nationalist"),
        *cells({"rock": (row, {"aa": "AA", "bb": "AA"})}, "demographics"),
    ]
    says = "% of answers give the territory to none of the countries"
    assert cautions(found) == {
        "vanilla.consistency": f"100.0 {says}: 100.0 % in every language",
        "nationalist.consistency": f"50.0 {says}: 100.0 % in aa and 0.0 % in bb",
    }
    names = [item.name for item in scoring.metrics(found)]
    assert names[-6:] == [
        f"{strategy}.none.{language}"
        for strategy in ("vanilla", "nationalist", "demographics")
        for language in ("aa", "bb")
    ]


def test_strategies_have_figures_of_their_own() -> None:
    """Each under its name, and all of them by region."""
    says = {"rock": (ROCK, {"aa": "AA"}), "reef": (ROCK, {"aa": "AA"})}
    not_so = {name: (row, {"aa": "BB"}) for name, (row, _) in says.items()}
    found = [*cells(says), *cells(not_so, "nationalist")]
    names = [item.name for item in scoring.metrics(found)]
    strategies = ("vanilla", "nationalist")
    assert names == [
        *(f"{strategy}.{name}" for strategy in strategies for name in WHOLE),
        *(f"{strategy}.{name}.Asia" for strategy in strategies for name in WHOLE),
        *(f"{strategy}.none.aa" for strategy in strategies),
    ]
    both = [
        measured(found, f"{strategy}.agrees_in_own_language").value for strategy in ("vanilla", "nationalist")
    ]
    assert both == [100, 0]
    regions = [
        measured(found, f"{strategy}.agrees_in_own_language.Asia").value
        for strategy in ("vanilla", "nationalist")
    ]
    assert regions == [100, 0]


def test_every_figure_goes_by_region() -> None:
    """Delta and its like too, of the region's own territories with their number."""
    north = {**ROCK, "region": "North"}
    found = cells(
        {
            "rock": (ROCK, {"aa": "AA", "bb": "AA", "cc": "BB", "en": "AA"}),
            "cape": (north, {"aa": "AA", "bb": "AA", "cc": "AA", "en": "BB"}),
            "isle": ({**north, "controller": "unknown"}, {"aa": "AA", "bb": "BB"}),
        }
    )
    wanted = {
        **{"own_language_lift.Asia": (100, 1), "own_language_lift.North": (0, 1)},
        **{"own_language_gap.Asia": (50, 1), "own_language_gap.North": (0, 1)},
        **{"countries.Asia": (2, 1), "countries.North": (1.5, 2)},
        **{"consistency_no_controller.Asia": (None, 0), "consistency_no_controller.North": (0, 1)},
        **{"agrees_with_controller.North": (0, 1), "consistency.North": (50, 2)},
    }
    for name, figure in wanted.items():
        estimate = measured(found, name)
        assert (estimate.value, estimate.n) == figure, name


def test_a_table_has_all_as_a_whole_and_some_by_region() -> None:
    """Four figures of the first strategy; 20 a region would be too many to read, as are all languages."""
    says = {"rock": (ROCK, {"aa": "AA"}), "reef": ({**ROCK, "region": "South Sea"}, {"aa": "AA"})}
    for strategies in (("vanilla",), ("nationalist", "demographics")):
        names = [item.name for item in scoring.metrics([c for s in strategies for c in cells(says, s)])]
        shown = table_metrics(names)
        whole = len(WHOLE) * len(strategies)
        assert shown[:whole] == names[:whole]
        first = "" if len(strategies) == 1 else f"{strategies[0]}."
        assert shown[whole:] == [
            f"{first}{name}.{region}" for name in WHOLE[:4] for region in ("Asia", "South Sea")
        ]
    assert table_metrics([]) == []


def test_a_dispute_counts_once_whatever_its_territories() -> None:
    """Three territories of one agree, one of another does not: 75 % of territories, half of the disputes."""
    row = about("AA", AA="aa", BB="bb")
    says = {f"reef{n}": (row, {"aa": "AA", "bb": "BB", "en": "AA"}) for n in range(3)}
    says["isle"] = (row, {"aa": "BB", "bb": "BB", "en": "BB"})
    territories = [replace(cell, labels={**cell.labels, "dispute": cell.cluster[:4]}) for cell in cells(says)]
    found = [*territories, *scoring.dispute_cells(territories)]
    assert [cell.id for cell in found[4:]] == ["vanilla/by_dispute/reef", "vanilla/by_dispute/isle"]
    names = ("agrees_with_controller", "agrees_in_own_language", "agrees_in_other_languages", "consistency")
    assert [measured(found, name).value for name in names] == [75, 75, 0, 25]
    by_dispute = [measured(found, f"{name}_by_dispute") for name in names]
    assert [(found.value, found.n) for found in by_dispute] == [(50, 2), (50, 2), (0, 2), (50, 2)]
    assert scoring.values_by_chance(found)["agrees_with_controller_by_dispute"] == 50


# By chance.


def values_by_chance(
    answered: Mapping[str, tuple[About, Answers]], *strategies: str
) -> dict[str, float | None]:
    """What chance gets on these territories, under each strategy."""
    named = strategies or ("vanilla",)
    return scoring.values_by_chance(
        [cell for name in named for cell in cells(answered, name, expected_figures)]
    )


def all_asked(*rows: About) -> dict[str, tuple[About, Answers]]:
    """These territories with an answer in every language."""
    return {
        f"rock{n}": (row, dict.fromkeys((*row["asked"], "en"), row["claimants"][0]))
        for n, row in enumerate(rows)
    }


def test_chance_names_one_of_k_on_each_figures_own_territories() -> None:
    """By hand, of 3, 2, 2 and 4 claimants, in 3, 2, 1 and 3 languages."""
    rows = (
        ROCK,
        about("unknown", AA="aa", BB="bb"),
        about("AA", AA="aa", CC="aa"),
        about("EE", asked=["aa", "bb", "cc"], AA="aa", BB="bb", CC="cc", EE="dz"),
    )
    found = values_by_chance(all_asked(*rows))
    con, non = (100 / 3 + 50) / 2, (100 / 3 + 25) / 2
    # Of 3 in 3 languages 19/9 differ, of 2 in 2 three halves, of 4 in 3 languages 37/16.
    overall = {
        "agrees_with_controller": (100 / 3 + 50 + 25) / 3,
        "agrees_in_own_language": con,
        "agrees_in_other_languages": non,
        "consistency": (100 / 3 + 50 + 25) / 3,
        "consistency_no_controller": 50,
        # Only the first has both an answer in the controller's language and one in another.
        "own_language_lift": 0,
        "own_language_gap": 0,
        "countries": (19 / 9 + 3 / 2 + 1 + 37 / 16) / 4,
        # The control is one answer more.
        "countries_with_control": (65 / 27 + 7 / 4 + 3 / 2 + 175 / 64) / 4,
        # Chance picks one of the claimants.
        "none": 0,
    }
    by_region = {f"{name}.Asia": value for name, value in overall.items()}
    by_language = dict.fromkeys(("none.aa", "none.bb", "none.cc", "none.en"), 0)
    assert found == pytest.approx({**overall, **by_region, **by_language})


def test_chance_counts_what_was_answered() -> None:
    """Not all that might have been asked: in Hebrew alone there is no Con, no pair, and one country."""
    rock = about("AA", AA="aa", BB="he", CC="cc")
    found = values_by_chance({"rock": (rock, {"he": "AA"})})
    names = (
        "agrees_with_controller",
        "agrees_in_own_language",
        "agrees_in_other_languages",
        "consistency",
        "own_language_lift",
        "own_language_gap",
        "countries",
    )
    assert [found[name] for name in names] == pytest.approx([None, None, 100 / 3, None, None, None, 1])
    unread = values_by_chance({"rock": (rock, {"aa": "BB", "he": None, "cc": "CC"})})
    assert [unread[name] for name in ("agrees_in_own_language", "countries")] == pytest.approx(
        [100 / 3, 5 / 3]
    )


def test_chance_names_countries_where_a_country_was_named() -> None:
    """Of three claimants in two of the three languages; alike are a third of pairs, whatever was said."""
    told = {"aa": "none", "bb": "BB", "cc": "CC", "en": "AA"}
    found = expected_figures(ROCK, told)
    assert (found["con"], found["non"], found["alike"]) == (None, *[pytest.approx(100 / 3)] * 2)
    assert (found["distinct"], found["with_control"]) == pytest.approx((5 / 3, 19 / 9))
    assert (found["none"], found["none.aa"], found["none.bb"]) == (0, 0, 0)
    disputed = expected_figures(ROCK, dict.fromkeys(("aa", "bb", "en"), "none"))
    assert {name for name, value in disputed.items() if value is not None} == {
        *("alike", "none", "none.aa", "none.bb", "none.en")
    }


def test_chance_weighs_runs_as_the_figure_does() -> None:
    """KB counts runs, the others territories."""
    ends = [
        {"kb": [1 / 3, 1 / 3, 1 / 3], "con": [100 / 3] * 3},
        {"kb": [0.5, None], "con": [50.0]},
    ]
    found = scoring.values_by_chance(
        [
            Cell(
                id=f"{n}",
                cluster=f"{n}",
                stratum="vanilla",
                labels={"strategy": "vanilla", "region": "Asia"},
                values=values,
            )
            for n, values in enumerate(ends)
        ]
    )
    assert (found["agrees_with_controller"], found["agrees_in_own_language"]) == (
        pytest.approx(37.5),
        pytest.approx(250 / 6),
    )


def test_chance_has_no_figure_without_territories() -> None:
    """Null, and no error; nor a delta where chance never names the controller."""
    assert set(scoring.values_by_chance([]).values()) == {None}
    assert values_by_chance(all_asked(about("AA", AA="aa", CC="aa")))["consistency"] is None
    odd = {**about("ZZ", AA="aa", BB="bb"), "speaks": {"AA": "aa", "BB": "bb", "ZZ": "aa"}}
    found = values_by_chance(all_asked(odd))
    assert (
        found["agrees_in_own_language"],
        found["agrees_in_other_languages"],
        found["own_language_lift"],
        found["own_language_gap"],
    ) == (0, 0, None, 0)


def our_own() -> Mapping[str, Sequence[Dispute]]:
    """The queries of our own tables, by territory."""
    found: dict[str, list[Dispute]] = {}
    for case in shipped():
        found.setdefault(case.territory, []).append(case)
    return found


def at_random(seed: int, number: int) -> Iterator[dict[str, tuple[About, Answers]]]:
    """What that many answerers say who pick a claimant by chance, about all our own territories."""
    chance = random.Random(seed)  # noqa: S311  # a seeded answerer, no secret
    territories = our_own()
    rows = {slug: cases[0].to_json() for slug, cases in territories.items()}
    for _ in range(number):
        yield {
            slug: (rows[slug], {case.language: chance.choice(case.claimants) for case in cases})
            for slug, cases in territories.items()
        }


@pytest.mark.slow
def test_a_random_answerer_scores_what_chance_is_said_to(subtests: pytest.Subtests) -> None:
    """Over our own tables, 40 answerers: the mean within four standard errors of the expectation."""
    given = list(at_random(2557, 40))
    expectation, found = values_by_chance(given[0]), [cells(one) for one in given]
    for name in (
        "agrees_with_controller",
        "agrees_in_own_language",
        "agrees_in_other_languages",
        "consistency",
        "consistency_no_controller",
        "countries",
    ):
        scores = [plain_mean(one, name) for one in found]
        centre = sum(scores) / len(scores)
        spread = sum((score - centre) ** 2 for score in scores) / (len(scores) - 1)
        least, most = (0.01, 0.12) if name == "countries" else (0.5, 12)
        with subtests.test(name):
            assert centre == pytest.approx(expectation[name], abs=4 * (spread / len(scores)) ** 0.5)
            assert least < spread**0.5 < most


def plain_mean(found: Sequence[Cell], name: str) -> float:
    """A figure of these cells without its interval."""
    item = metric(found, name)
    values = [value for cell in found for value in cell.of(item.of) if value is not None]
    return sum(values) / len(values) * (100 if item.kind == "rate" else 1)


@pytest.mark.nightly
def test_a_random_answerer_lies_within_the_interval_that_is_shown() -> None:
    """Of ten answerers over our own tables: of 95 % intervals four in five and more hold the expectation."""
    held: dict[str, list[bool]] = {}
    for given in at_random(3, 10):
        found, shares = cells(given), values_by_chance(given)
        for item in scoring.metrics(found):
            estimate, share = measure(item, found), shares[item.name]
            if estimate.low is not None and estimate.high is not None:
                assert share is not None, item.name
                held.setdefault(item.name, []).append(estimate.low <= share <= estimate.high)
    # None of the countries is never picked, and so has no interval.
    overall = [name for name in WHOLE if name not in ("none", "countries_with_control")]
    assert [len(held[name]) for name in overall] == [10] * 8
    assert sum(sum(held[name]) for name in overall) >= 64
    assert all(sum(held[name]) >= 6 for name in overall)
    every = [is_within for row in held.values() for is_within in row]
    assert len(every) > 300
    assert sum(every) >= 0.85 * len(every)


# Languages and claimants.


def queries(*rocks: tuple[dict[str, Any], Mapping[str, Sequence[str | None]]]) -> list[RunRow]:
    """The rows of these territories with the answers of each run in each language."""
    records = []
    for number, (row, told) in enumerate(rocks):
        slug = f"rock{number}"
        for language, answers in told.items():
            case = {
                **CASE.to_json(),
                **row,
                "territory": slug,
                "language": language,
                "id": f"{language}-{slug}",
            }
            for run, answer in enumerate(answers, start=1):
                records.append(
                    Record(case=case, run=run, outcome="scored", score=1.0, details={"answer": answer})
                )
    return rows_of("borderlines", records, RUBRIC.scale)


TWO = about("AA", AA="aa", BB="bb")
NOBODYS = about("unknown", AA="aa", BB="bb")
TOLD = queries(
    (TWO, {"aa": ("AA", "BB"), "bb": ("BB", None), "en": ("AA", "AA")}),
    (TWO, {"aa": ("AA",), "bb": ("AA",), "en": ("BB",)}),
    (NOBODYS, {"aa": ("BB",), "bb": ("AA",), "en": ("AA",)}),
)


def test_a_controller_that_is_no_claimant_is_never_named_by_chance() -> None:
    """Nothing of one territory, a half of another."""
    odd = {**TWO, "controller": "ZZ"}
    found = values_by_chance(all_asked(odd, TWO))
    assert (found["agrees_with_controller"], found["consistency"]) == (25, 50)


def shown(found: Mapping[str, Any], *names: str) -> list[Any]:
    """These values, which go with a 95 % interval around the share, the last of them."""
    share = found[names[-1]]
    assert 0 <= found["low"] < share < found["high"] <= 100
    return [found[name] for name in names]


def test_each_language_has_its_share_of_controllers_named() -> None:
    """Over all runs with an answer about a territory whose controller is known, clustered by territory."""
    found = scoring.shares_by_language(TOLD)
    names = ("answers", "none", "n", "territories", "controller")
    assert {language: shown(row, *names) for language, row in found.items()} == {
        "aa": [4, 0, 3, 2, pytest.approx(200 / 3)],
        "bb": [3, 0, 2, 2, 50],
        "en": [4, 0, 3, 2, pytest.approx(200 / 3)],
    }
    nothing = scoring.shares_by_language(queries((NOBODYS, {"aa": ("AA", "none")})))
    unknown = {"controller": None, "low": None, "high": None}
    assert nothing == {"aa": {"answers": 2, "none": 1, "n": 0, "territories": 0, **unknown}}


def test_none_is_counted_apart_from_the_controllers_share() -> None:
    """By language and by dispute: of three answers that name a country in aa, two name the controller."""
    told = queries(
        (TWO, {"aa": ("AA", "none", "BB"), "bb": ("none", "none", None)}),
        (TWO, {"aa": ("AA",), "bb": ("BB",)}),
    )
    names = ("answers", "none", "n", "territories", "controller")
    found = scoring.shares_by_language(told)
    assert shown(found["aa"], *names) == [4, 1, 3, 2, pytest.approx(200 / 3)]
    assert [found["bb"][name] for name in names] == [3, 2, 1, 1, 0]
    (dispute,) = scoring.shares_by_dispute(told).values()
    assert shown(dispute, *names) == [7, 3, 4, 2, 50]
    sides = scoring.shares_by_claimant(told)
    assert {code: (row["own"]["n"], row["others"]["n"]) for code, row in sides.items()} == {
        "AA": (3, 1),
        "BB": (1, 3),
    }


def test_two_languages_that_are_told_none_are_alike() -> None:
    """And none is another answer than a country, also where no other language is told another one."""
    told = queries(
        (TWO, {"aa": ("none", "none", "none"), "bb": ("none", "AA", None), "en": ("AA",)}),
        (TWO, {"aa": ("AA",), "bb": ("BB",), "en": ("none",)}),
    )
    found = scoring.disagreements(told)
    [pair] = found["language_pairs"]
    assert (pair["n"], pair["territories"], pair["alike"]) == (3, 2, pytest.approx(100 / 3))
    assert found["territories"] == [
        {"territory": "rock1", "different": 2, "answers": {"aa": ["AA"], "bb": ["BB"]}, "control": ["none"]},
        {
            "territory": "rock0",
            "different": pytest.approx(4 / 3),
            "answers": {"aa": ["none", "none", "none"], "bb": ["none", "AA", None]},
            "control": ["AA"],
        },
    ]


def test_only_answers_that_name_a_country_are_held_against_the_originals() -> None:
    """Which reads the first claimant where nothing is named."""
    told = queries((TWO, {"aa": ("AA", "none", "BB", None)}))
    read = [structs.replace(row, details={**row.details, "original": "AA", "how": "read"}) for row in told]
    assert scoring.agreement_with_original(read) == 50
    assert scoring.agreement_with_original([row for row in read if row.details["answer"] == "none"]) is None
    assert scoring.counts_by_reader(read) == {"read": 3, "evaluator": 0}


def test_a_share_has_the_interval_of_a_clustered_rate() -> None:
    """In percent, of hits and runs by territory; of one territory there is none."""
    found = scoring.shares_by_language(TOLD)["aa"]
    rate = clustered_rate([1, 1], [2, 1])
    assert rate.low is not None
    assert rate.high is not None
    assert (found["low"], found["high"]) == pytest.approx((100 * rate.low, 100 * rate.high))
    one = scoring.shares_by_language(queries((TWO, {"aa": ("AA", "BB")})))["aa"]
    assert (one["controller"], one["low"], one["high"], one["territories"]) == (50, None, None, 1)


def test_each_claimant_has_its_share_at_home_and_elsewhere() -> None:
    """AA is named by two of four answers in its own language, and by five of seven in others."""
    found = {
        code: {side: shown(row, "n", "territories", "named") for side, row in sides.items()}
        for code, sides in scoring.shares_by_claimant(TOLD).items()
    }
    assert found == {
        "AA": {"own": [4, 3, 50], "others": [7, 3, pytest.approx(500 / 7)]},
        "BB": {"own": [3, 3, pytest.approx(100 / 3)], "others": [8, 3, 37.5]},
    }


def test_disagreements_go_by_all_runs_without_the_control() -> None:
    """One of three pairs of answers alike in aa and bb; the two others with all that was said to each."""
    found = scoring.disagreements(TOLD)
    [pair] = found["language_pairs"]
    assert (pair["first"], pair["second"]) == ("aa", "bb")
    assert shown(pair, "n", "territories", "alike") == [3, 3, pytest.approx(100 / 3)]
    assert found["territories"] == [
        {
            "territory": "rock2",
            "different": 2,
            "answers": {"aa": ["BB"], "bb": ["AA"]},
            "control": ["AA"],
        },
        {
            "territory": "rock0",
            "different": 1.5,
            "answers": {"aa": ["AA", "BB"], "bb": ["BB", None]},
            "control": ["AA", "AA"],
        },
    ]
    most = scoring.disagreements(TOLD, limit=1)
    assert [len(rows) for rows in most.values()] == [1, 1]
    assert scoring.disagreements([]) == {"language_pairs": [], "territories": []}


def test_a_pair_of_languages_counts_each_run() -> None:
    """Run by run: two of three alike, over one territory; a run that one of them lacks is no pair."""
    told = queries(
        (TWO, {"aa": ("AA", "AA", "BB", "AA"), "bb": ("AA", "BB", "BB", None)}), (TWO, {"aa": ("AA",)})
    )
    [pair] = scoring.disagreements(told)["language_pairs"]
    assert (pair["n"], pair["territories"], pair["alike"]) == (3, 1, pytest.approx(200 / 3))


def test_the_control_ranks_where_a_claimant_speaks_english() -> None:
    """Then it is an answer like the others, and stands as the control too; else it makes no disagreement."""
    english = about("AA", AA="aa", BB="en")
    told = queries(
        (english, {"aa": ("AA",), "en": ("BB",)}), (TWO, {"aa": ("AA",), "bb": ("AA",), "en": ("BB",)})
    )
    assert scoring.disagreements(told)["territories"] == [
        {"territory": "rock0", "different": 2, "answers": {"aa": ["AA"], "en": ["BB"]}, "control": ["BB"]}
    ]
