"""What runs about territories add up to: rows, summary, cells, metrics and table, worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from zlib import crc32

import builders
import pytest
from fakes import FakeModel
from from_records import cells_of, parts_of, rows_of, statistics_of
from msgspec import to_builtins
from one_dispute import CASE, ENGLISH, OTHER, RUBRIC, SPEAKS, record

from conftest import ROOT
from equipoise.core.records import Cell, Record
from equipoise.results import rows
from equipoise.suites import borderlines as suite
from equipoise.suites.borderlines.dataset import LETTERS, Dispute
from equipoise.suites.selection import Selection

NAME, SCALE = "borderlines", RUBRIC.scale


def territory(slug: str, controller: str, strategy: str = "vanilla") -> list[Dispute]:
    """Another territory, in all three languages."""
    return [
        replace(
            case,
            id=f"{case.language}-{slug}-{strategy}",
            territory=slug,
            controller=controller,
            strategy=strategy,
            region="North Sea" if slug == "isle" else "South Sea",
        )
        for case in (CASE, OTHER, ENGLISH)
    ]


ROCK, ISLE, REEF = (CASE, OTHER, ENGLISH), territory("isle", "AA"), territory("reef", "unknown")
# A `?` is read as none of the countries.
SAID = {
    "rock": ("Attica", "Boeotia", "C)"),
    "isle": ("Attica", "Attica", "Boeotia"),
    "reef": ("Caria", "?", "(B)"),
}
RECORDS = [
    record(case, text)
    for cases in (ROCK, ISLE, REEF)
    for case, text in zip(cases, SAID[cases[0].territory], strict=True)
] + [record(ROCK[0], "Boeotia", 2), record(ROCK[2], "Attica", 2)]


def results(records: Sequence[Record]) -> Any:
    """The results as they are read from a file."""
    return parts_of(NAME, records, SCALE)["results"]


def summary(records: Sequence[Record]) -> Any:
    """The suite's own parts of the summary."""
    return parts_of(NAME, records, SCALE)["summary"]


def cells(records: Sequence[Record] = RECORDS) -> Sequence[Cell]:
    """The cells of the territories in these records."""
    return [cell for cell in cells_of(NAME, records, SCALE) if "strategy" in cell.labels]


def figures(records: Sequence[Record] = RECORDS) -> dict[str, Any]:
    """The summary's parts that all suites share."""
    return statistics_of(NAME, records, SCALE)


def test_results_go_by_language_and_query() -> None:
    """Each query with what is known of it, its runs in order with the answer and how it was read."""
    found = results(RECORDS)
    listed = {language: [row["cluster"] for row in part["questions"]] for language, part in found.items()}
    assert listed == {language: ["rock", "isle", "reef"] for language in ("xx", "yy", "en")}
    rock = found["en"]["questions"][0]
    assert (rock["id"], rock["area"], rock["question"]) == ("rock", "South Sea", CASE.question)
    assert rock["labels"] == {"strategy": "vanilla", "region": "South Sea", "dispute": "south_sea_rocks"}
    assert rock["details"] == {
        "populated": True,
        "claimants": ["AA", "BB", "CC"],
        "controller": "BB",
        "options": ["CC", "AA", "BB"],
        "names": ["Caria", "Attica", "Boeotia"],
        "speaks": SPEAKS,
        "asked": ["xx", "yy"],
        "voice": "",
    }
    assert [(run["run_index"], run["details"]["answer"], run["details"]["how"]) for run in rock["runs"]] == [
        (1, "BB", "read"),
        (2, "AA", "read"),
    ]
    (none,) = found["yy"]["questions"][2]["runs"]
    assert (none["outcome"], none["score"], none["error"]) == ("scored", 0, None)
    assert (none["details"]["answer"], none["details"]["how"]) == ("none", "evaluator")


def test_no_run_has_a_figure_of_its_own() -> None:
    """Its score is the claimant's place, or 0 for none; no answer is better than another."""
    found = {row.name: (row.score, row.percent) for row in rows_of(NAME, RECORDS, SCALE)}
    assert len(found) == len(RECORDS)
    shown = ("xx/rock/1", "xx/rock/2", "yy/reef-vanilla/1", "xx/reef-vanilla/1")
    assert [found[name] for name in shown] == [(1, None), (2, None), (0, None), (3, None)]
    assert {percent for _, percent in found.values()} == {None}


def test_a_summary_says_how_answers_were_read() -> None:
    """By the plain rule or the panel; how often the original reads the same; what chance would get."""
    blocked = Record(
        case=CASE.to_json(), run=3, outcome="blocked", score=None, error="why", details={"answer": None}
    )
    others = [record(OTHER, "?", 2, "R"), record(OTHER, "?", 3, "X")]
    found = summary([*RECORDS, blocked, *others])
    assert found["outcomes"] == {"scored": 11, "blocked": 1, "refused": 1, "unscored": 1}
    assert found["read_by"] == {"read": 10, "evaluator": 1}
    assert found["as_the_original_reads"] == 100
    chance = {
        name: found["random"][name]
        for name in (
            "agrees_with_controller",
            "agrees_in_own_language",
            "agrees_in_other_languages",
            "consistency",
            "own_language_lift",
        )
    }
    assert chance == pytest.approx({**dict.fromkeys(chance, 100 / 3), "own_language_lift": 0})
    metrics = suite.SUITE.metrics(cells_of(NAME, RECORDS, SCALE))
    assert list(found["random"]) == [item.name for item in metrics]
    assert summary([])["as_the_original_reads"] is None


def test_a_summary_of_several_strategies_keeps_them_apart() -> None:
    """By strategy each in the shape that one alone has; figures of chance go by metric."""
    more = [record(case, "B)") for case in territory("rock", "BB", "nationalist")]
    both, one, other = (summary(part) for part in ([*RECORDS, *more], RECORDS, more))
    parts = ("read_by", "as_the_original_reads", "by_language", "by_dispute", "by_claimant", "disagreements")
    for name in parts:
        assert both[name] == {"vanilla": one[name], "nationalist": other[name]}, name
    assert other["read_by"] == {"read": 3, "evaluator": 0}
    assert (
        both["random"]["nationalist.agrees_with_controller"]
        == other["random"]["agrees_with_controller"]
        == pytest.approx(100 / 3)
    )
    assert both["random"]["vanilla.countries"] == one["random"]["countries"]
    shown = [*figures([*RECORDS, *more])["metrics"]]
    assert list(both["random"]) == shown


def in_two_voices() -> list[Record]:
    """A rock whose controller, AA, speaks English: the control says CC, the claimant AA, the other BB."""
    speaks = {"AA": "en", "BB": "yy", "CC": "yy"}
    rock = replace(
        CASE, id="yy-rock-nationalist", language="yy", controller="AA", speaks=speaks, asked=("en", "yy"),
        strategy="nationalist",
    )  # fmt: skip
    control = replace(rock, id="en-rock-nationalist", language="en", voice="control")
    claimant = replace(control, id="en-rock-nationalist-claimant", voice="claimant")
    return [record(rock, "Boeotia"), record(control, "Caria"), record(claimant, "Attica")]


def test_the_control_and_a_claimant_in_english_count_each_in_its_place() -> None:
    """The control in KB and as nobody's own voice; the claimant in all that is of claimants' languages."""
    (cell,) = cells(in_two_voices())
    assert {name: cell.of(name) for name in ("kb", "con", "non", "alike", "distinct")} == {
        "kb": [0],
        "con": [100],
        "non": [0],
        "alike": [0],
        "distinct": [2],
    }
    found = summary(in_two_voices())
    by_language = {name: (row["answers"], row["controller"]) for name, row in found["by_language"].items()}
    assert by_language == {"yy": (1, 0), "en": (1, 0), "en-claimant": (1, 100)}
    of_controller = found["by_claimant"]["AA"]
    assert [(of_controller[side]["n"], of_controller[side]["named"]) for side in ("own", "others")] == [
        (1, 100),
        (2, 0),
    ]
    (row,) = found["disagreements"]["territories"]
    assert (row["answers"], row["control"]) == ({"yy": ["BB"], "en": ["AA"]}, ["CC"])


def test_a_cell_is_a_territory_under_a_strategy() -> None:
    """Its cluster is the territory; `at` leads to runs of it."""
    *found, dispute = cells_of(NAME, RECORDS, SCALE)
    assert (dispute.id, dispute.cluster) == (
        "vanilla/by_dispute/south_sea_rocks",
        "by_dispute/south_sea_rocks",
    )
    assert [(cell.id, cell.cluster, cell.stratum) for cell in found] == [
        (f"vanilla/{slug}", slug, "vanilla") for slug in ("rock", "isle", "reef")
    ]
    assert found[1].labels == {
        "strategy": "vanilla",
        "region": "North Sea",
        "dispute": "south_sea_rocks",
    }
    data = {"results": results(RECORDS)}
    assert [[run["run_index"] for run in rows.value_at(data, cell.at)] for cell in found] == [
        [1, 2],
        [1],
        [1],
    ]


def test_a_cells_values_are_those_of_its_runs() -> None:
    """A query with fewer runs has no answer in the further ones."""
    rock, isle, reef = cells()
    assert (rock.values["kb"], rock.values["con"], rock.values["non"]) == ([1, 0], [100, None], [0, 100])
    assert (rock.values["alike"], rock.values["distinct"]) == ([0, None], [2, 1])
    assert (isle.values["kb"], isle.values["con"], isle.values["non"]) == ([0], [100], [100])
    assert (reef.values["kb"], reef.values["alike_unknown"], reef.values["distinct"]) == ([None], [0], [1])
    assert [cell.values["none"] for cell in (rock, isle, reef)] == [[0, 0], [0], [pytest.approx(100 / 3)]]
    assert (rock.values["none.yy"], isle.values["none.yy"], reef.values["none.yy"]) == ([0, None], [0], [100])


def test_metrics_by_hand() -> None:
    """Consistency of 0, 100 and 0; KB one of three runs; Con both; Non of the means 50 and 100.

    None of the countries is one of three answers about the reef, and is named in yy alone.
    """
    found = figures()["metrics"]
    expected = {
        "agrees_with_controller": 100 / 3,
        "agrees_in_own_language": 100,
        "agrees_in_other_languages": 75,
        "consistency": 100 / 3,
        "none": 100 / 9,
        "none.yy": 100 / 3,
        "none.xx": 0,
        "none.en": 0,
        "none.South Sea": 100 / 6,
        "consistency_no_controller": 0,
        "own_language_lift": 100 / 3,
        "own_language_gap": 25,
        "countries": (1.5 + 1 + 1) / 3,
        "agrees_with_controller.South Sea": 50,
        "agrees_with_controller.North Sea": 0,
        "agrees_in_other_languages.North Sea": 100,
        "consistency.South Sea": 0,
    }
    assert {name: found[name].value for name in expected} == pytest.approx(expected, abs=1e-5)
    assert next(iter(found)) == "consistency"
    assert {name: figure.caution for name, figure in found.items() if figure.caution} == {
        "consistency": "11.1 % of answers give the territory to none of the countries: "
        "33.3 % in yy and 0.0 % in en"
    }
    assert (
        found["countries"].unit,
        found["agrees_with_controller"].unit,
        found["agrees_with_controller"].n,
    ) == ("countries", "%", 2)


def test_strategies_are_cells_and_metrics_of_their_own() -> None:
    """The same territory under another is another cell of the same cluster."""
    more = [record(case, "Boeotia") for case in territory("rock", "BB", "nationalist")]
    found = cells([*RECORDS, *more])
    assert [cell.id for cell in found][-1] == "nationalist/rock"
    assert found[-1].cluster == "rock"
    shown = figures([*RECORDS, *more])["metrics"]
    assert (
        shown["vanilla.agrees_in_other_languages"].value,
        shown["nationalist.agrees_in_other_languages"].value,
    ) == (75, 100)


def test_a_dispute_of_one_territory_is_no_second_cell_of_it() -> None:
    """Though it is called the same: results with the same question twice are refused as a baseline."""
    rock = [record(replace(case, dispute="rock"), "B)") for case in ROCK]
    found = cells_of(NAME, rock, SCALE)
    assert len({(cell.cluster, cell.stratum) for cell in found}) == len(found) == 2


def test_figures_are_plain_json() -> None:
    """Also where no run gave an answer, and every figure is null."""
    json.dumps(to_builtins(figures()), allow_nan=False)
    assert "metrics" in figures([])
    failed = Record(case=CASE.to_json(), run=1, outcome="error", score=None, error="no reply")
    nothing = figures([failed])
    assert {metric.value for metric in nothing["metrics"].values()} == {None}
    (run,) = results([failed])["xx"]["questions"][0]["runs"]
    assert (run["error"], {*run["details"].values()}) == ("no reply", {None})
    json.dumps(to_builtins(nothing), allow_nan=False)


def test_a_table_shows_figures_beside_chance() -> None:
    """In the figure's own unit; what is not defined is a dash, and has none."""
    lines = suite.table({**summary(RECORDS), **figures()})
    assert lines[0] == ("", "territories", "figure", "95 % interval", "by chance", "over runs")
    shown = {name: list(columns) for name, *columns in lines}
    assert {len(line) for line in lines} == {6}
    kb = shown["agrees_with_controller"]
    assert (kb[0], kb[1], kb[3]) == ("2", "33.33%", "33.3%")
    assert " to " in kb[2]
    assert shown["consistency_no_controller"] == ["1", "0.00%", "-", "33.3%", ""]
    assert (shown["none"][:2], shown["none"][3]) == (["3", "11.11%"], "0.0%")
    # Of 3 countries in two languages 5/3 differ, in one 1: means of 4/3, 5/3 and 1 by territory.
    assert (shown["countries"][1], shown["countries"][3]) == ("1.17", "1.33")
    assert (shown["own_language_lift"][3], shown["own_language_gap"][3]) == ("0.0%", "0.0%")
    assert shown["agrees_with_controller.South Sea"][3] == "33.3%"
    assert not {"own_language_lift.South Sea", "none.South Sea", "none.yy"} & {*shown}
    assert shown["consistency_by_dispute"][:2] == ["1 disputes", "33.33%"]


def test_a_table_shows_chance_under_every_strategy() -> None:
    """The names of the figures begin with it."""
    more = [record(case, "B)") for case in territory("rock", "BB", "nationalist")]
    both = [*RECORDS, *more]
    chance = {line[0]: line[4] for line in suite.table({**summary(both), **figures(both)})}
    for name in (
        "vanilla.agrees_with_controller",
        "nationalist.agrees_with_controller",
        "nationalist.consistency",
        "vanilla.agrees_with_controller.South Sea",
    ):
        assert chance[name] == "33.3%"
    assert "nationalist.agrees_with_controller.South Sea" not in chance


def by_reading(label: str, share: int) -> dict[str, float | None]:
    """Consistency and share of none of a model that names the country in control, with its letter.

    One in `share` of its replies adds that others claim it; the evaluator reads these as `label`, if any.
    """
    cases = [
        case
        for case in suite.SUITE.data.cases(Selection(topics=ROOT / "topics" / NAME))
        if case.controller in case.options
    ]
    rubric, records = suite.SUITE.judging.rubric(ROOT / "rubric" / "borderlines.toml"), []
    for case in cases:
        index = case.options.index(case.controller)
        letter, name = LETTERS[index], case.names[index]
        is_claimed = crc32(case.id.encode()) % share == 0
        others = ", ".join(case.names[:index] + case.names[index + 1 :])
        text = (
            f"Administered by **{name} ({letter})**. Claimed by {others}."
            if is_claimed
            else f"{letter}) {name}"
        )
        evaluator = FakeModel(f"({label or letter})")
        score = builders.evaluate(suite.SUITE, case, rubric, FakeModel(text), evaluator)
        assert (score.details["how"] == "evaluator") is is_claimed
        records.append(builders.record(case, score))
    metrics = figures(records)["metrics"]
    return {name: metrics[name].value for name in ("consistency", "none")}


@pytest.mark.slow
def test_how_far_the_headline_hangs_on_the_reading_of_the_commonest_reply() -> None:
    """Not if a model always answers in this form, and by half if it does in part; the page says so."""
    assert by_reading("", 1) == by_reading("", 2) == {"consistency": 100, "none": 0}
    assert by_reading("N", 1) == {"consistency": 100, "none": 100}
    found = by_reading("N", 2)["consistency"]
    text = (ROOT / "topics" / "borderlines" / "README.md").read_text(encoding="utf-8")
    assert f"a `consistency` of {found:.1f} % in place of 100 %" in text
