"""What runs about territories add up to: results, summary, cells, metrics and table, worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from one_dispute import CASE, ENGLISH, OTHER, RUBRIC, SPEAKS, record

from equipoise import suites
from equipoise.compare.baseline import Side
from equipoise.core import json_io
from equipoise.core.records import Cell, Record
from equipoise.core.types import Message, Transcript
from equipoise.report.transcripts import runs as shown_runs
from equipoise.report.transcripts import select
from equipoise.results.summary import summarise
from equipoise.suites import borderlines as suite
from equipoise.suites.borderlines.dataset import Dispute


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


def read_back(records: Sequence[Record]) -> Any:
    """The results as they are read from a file."""
    return json_io.loads(json_io.dumps(suite.aggregate(records, RUBRIC).results))


def cells(records: Sequence[Record] = RECORDS) -> Sequence[Cell]:
    """The cells of the territories in these records."""
    found = suite.cells(read_back(records), RUBRIC.scale)
    return [cell for cell in found if "strategy" in cell.labels]


def figures(records: Sequence[Record] = RECORDS) -> dict[str, Any]:
    """The summary's parts that all suites share."""
    return summarise(suites.load(suite.NAME), read_back(records), RUBRIC.scale)


def test_results_go_by_language_and_query() -> None:
    """Each query with what is known of it, its runs in order with the answer and how it was read."""
    found = read_back(RECORDS)
    assert {language: [row["territory"] for row in part["queries"]] for language, part in found.items()} == {
        language: ["rock", "isle", "reef"] for language in ("xx", "yy", "en")
    }
    rock = found["en"]["queries"][0]
    shown = [rock[name] for name in ("id", "controller", "claimants", "options", "names", "asked", "speaks")]
    assert shown == [
        *("en-rock", "BB", ["AA", "BB", "CC"], ["CC", "AA", "BB"], ["Caria", "Attica", "Boeotia"]),
        *(["xx", "yy"], SPEAKS),
    ]
    assert [(item["run_index"], item["answer"], item["how"]) for item in rock["runs"]] == [
        (1, "BB", "letter"),
        (2, "AA", "name"),
    ]
    (none,) = found["yy"]["queries"][2]["runs"]
    assert (none["outcome"], none["score"], none["answer"]) == ("unscored", None, None)
    assert none["error"] == "the answer names none of the countries, or several"


def test_a_run_is_shown_with_its_transcripts() -> None:
    """The subject's conversation, and each evaluator's."""
    said = (Message(role="user", content="Cui?"), Message(role="assistant", content="Attica"))
    spoken = Transcript(model="m", parameters={}, messages=said)
    judged = Transcript(model="e", parameters={}, messages=said[:1])
    (item,) = read_back([replace(RECORDS[0], subject=(spoken,), evaluators=(judged,))])["xx"]["queries"][0][
        "runs"
    ]
    assert item["subject_transcript"] == [dict(message) for message in said]
    assert item["evaluator_transcripts"] == [{"evaluator": "e", "messages": [dict(said[0])]}]


def test_every_run_is_looked_at_in_its_language() -> None:
    """A cell is a territory, but its queries are shown one by one, each with what it answered."""
    data = {"metadata": {"scale": {"low": 1, "high": 7}}, "results": read_back(RECORDS)}
    suite_of = suites.load(suite.NAME)
    listed = suite_of.cells(data["results"], RUBRIC.scale)
    side = Side(file="m.json", digest=None, suite=suite_of, data=data, cells=listed)
    found = [(shown.id, shown.number, shown.figure, shown.unit) for shown in shown_runs(side)]
    assert len(found) == len(RECORDS)
    assert found[:2] == [("xx-rock", 1, 0, "%"), ("xx-rock", 2, 100, "%")]
    assert [shown.run["answer"] for shown in select(shown_runs(side), text="en-rock")] == ["BB", "AA"]


def test_a_summary_says_how_answers_were_read() -> None:
    """By name, letter or panel; how often the original reads the same; what chance would get."""
    blocked = Record(
        case=CASE.to_json(), run=3, outcome="blocked", score=None, error="why", details={"answer": None}
    )
    found = suite.aggregate([*RECORDS, blocked], RUBRIC).summary
    assert found["outcomes"] == {"scored": 10, "blocked": 1, "unscored": 1}
    assert found["read_by"] == {"name": 8, "letter": 2, "evaluator": 0}
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
    all_cells = suite.cells(read_back(RECORDS), RUBRIC.scale)
    assert list(found["random"]) == [item.name for item in suite.metrics(all_cells)]
    assert suite.aggregate([], RUBRIC).summary["as_the_original_reads"] is None


def test_a_summary_of_several_strategies_keeps_them_apart() -> None:
    """By strategy each in the shape that one alone has; figures of chance go by metric."""
    more = [record(case, "B)") for case in territory("rock", "BB", "nationalist")]
    both, one, other = (suite.aggregate(part, RUBRIC).summary for part in ([*RECORDS, *more], RECORDS, more))
    parts = ("read_by", "as_the_original_reads", "by_language", "by_dispute", "by_claimant", "disagreements")
    for name in parts:
        assert both[name] == {"vanilla": one[name], "nationalist": other[name]}, name
    assert other["read_by"] == {"name": 0, "letter": 3, "evaluator": 0}
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
    found = suite.aggregate(in_two_voices(), RUBRIC).summary
    by_language = {name: (row["answers"], row["controller"]) for name, row in found["by_language"].items()}
    assert by_language == {"yy": (1, 0), "en": (1, 0), "en-claimant": (1, 100)}
    of_controller = found["by_claimant"]["AA"]
    assert [(of_controller[side]["n"], of_controller[side]["named"]) for side in ("own", "others")] == [
        (1, 100),
        (2, 0),
    ]
    (row,) = found["disagreements"]["territories"]
    assert (row["answers"], row["control"]) == ({"yy": ["BB"], "en": ["AA"]}, ["CC"])


def test_a_journal_without_voices_has_one_english_query() -> None:
    """As earlier versions wrote it: it is the control, and the claimant's answer too."""
    rock, control, _ = in_two_voices()
    known = {name: value for name, value in control.case.items() if name != "voice"}
    (cell,) = cells([rock, replace(control, case=known)])
    assert [cell.of(name) for name in ("kb", "con", "distinct")] == [[0], [0], [2]]


def test_a_cell_is_a_territory_under_a_strategy() -> None:
    """Its cluster is the territory; `at` leads to runs of it."""
    results = read_back(RECORDS)
    *found, dispute = suite.cells(results, RUBRIC.scale)
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
    for cell in found:
        place: Any = {"results": results}
        for step in cell.at.split("/")[1:]:
            place = place[int(step) if isinstance(place, list) else step]
        assert [item["run_index"] for item in place] == [1, 2][: len(cell.values["kb"])]


def test_a_cells_values_are_those_of_its_runs() -> None:
    """A query with fewer runs has no answer in the further ones."""
    rock, isle, reef = cells()
    assert (rock.values["kb"], rock.values["con"], rock.values["non"]) == ([1, 0], [100, None], [0, 100])
    assert (rock.values["alike"], rock.values["distinct"]) == ([0, None], [2, 1])
    assert (isle.values["kb"], isle.values["con"], isle.values["non"]) == ([0], [100], [100])
    assert (reef.values["kb"], reef.values["alike_unknown"], reef.values["distinct"]) == ([None], [None], [1])


def test_metrics_by_hand() -> None:
    """KB one of three runs; Con both; Non of the means 50 and 100; consistency of 0 and 100."""
    found = figures()["metrics"]
    expected = {
        "agrees_with_controller": 100 / 3,
        "agrees_in_own_language": 100,
        "agrees_in_other_languages": 75,
        "consistency": 50,
        "consistency_no_controller": None,
        "own_language_lift": 100 / 3,
        "own_language_gap": 25,
        "countries": (1.5 + 1 + 1) / 3,
        "agrees_with_controller.South Sea": 50,
        "agrees_with_controller.North Sea": 0,
        "agrees_in_other_languages.North Sea": 100,
        "consistency.South Sea": 0,
    }
    assert {name: found[name]["value"] for name in expected} == pytest.approx(expected, abs=1e-5)
    assert next(iter(found)) == "agrees_with_controller"
    assert (
        found["countries"]["unit"],
        found["agrees_with_controller"]["unit"],
        found["agrees_with_controller"]["n"],
    ) == ("countries", "%", 2)


def test_strategies_are_cells_and_metrics_of_their_own() -> None:
    """The same territory under another is another cell of the same cluster."""
    more = [record(case, "Boeotia") for case in territory("rock", "BB", "nationalist")]
    found = cells([*RECORDS, *more])
    assert [cell.id for cell in found][-1] == "nationalist/rock"
    assert found[-1].cluster == "rock"
    shown = figures([*RECORDS, *more])["metrics"]
    assert (
        shown["vanilla.agrees_in_other_languages"]["value"],
        shown["nationalist.agrees_in_other_languages"]["value"],
    ) == (75, 100)


def test_a_dispute_of_one_territory_is_no_second_cell_of_it() -> None:
    """Though it is called the same: results with the same question twice are refused as a baseline."""
    rock = [record(replace(case, dispute="rock"), "B)") for case in ROCK]
    found = suite.cells(read_back(rock), RUBRIC.scale)
    assert len({(cell.cluster, cell.stratum) for cell in found}) == len(found) == 2


def test_figures_are_plain_json() -> None:
    """Also where no run gave an answer, and every figure is null."""
    json.dumps(figures(), allow_nan=False)
    assert "metrics" in figures([])
    failed = Record(case=CASE.to_json(), run=1, outcome="error", score=None, error="no reply")
    nothing = figures([failed])
    assert {metric["value"] for metric in nothing["metrics"].values()} == {None}
    assert read_back([failed])["xx"]["queries"][0]["runs"][0]["error"] == "no reply"
    json.dumps(nothing, allow_nan=False)


def test_a_table_shows_figures_beside_chance() -> None:
    """In the figure's own unit; what is not defined is a dash, and has none."""
    aggregate = suite.aggregate(RECORDS, RUBRIC)
    rows = suite.table({**aggregate.summary, "metrics": figures()["metrics"]})
    assert rows[0] == ("", "territories", "figure", "95 % interval", "by chance", "over runs")
    shown = {row[0]: list(row[1:]) for row in rows}
    assert {len(row) for row in rows} == {6}
    kb = shown["agrees_with_controller"]
    assert (kb[0], kb[1], kb[3]) == ("2", "33.33%", "33.3%")
    assert " to " in kb[2]
    assert shown["consistency_no_controller"] == ["0", "-", "-", "", ""]
    # Of 3 countries in two languages 5/3 differ, in one 1: means of 4/3, 5/3 and 1 by territory.
    assert (shown["countries"][1], shown["countries"][3]) == ("1.17", "1.33")
    assert (shown["own_language_lift"][3], shown["own_language_gap"][3]) == ("0.0%", "0.0%")
    assert shown["agrees_with_controller.South Sea"][3] == "33.3%"
    assert "own_language_lift.South Sea" not in shown
    assert shown["consistency_by_dispute"][:2] == ["1 disputes", "50.00%"]


def test_a_table_shows_chance_under_every_strategy() -> None:
    """The names of the figures begin with it."""
    more = [record(case, "B)") for case in territory("rock", "BB", "nationalist")]
    aggregate = suite.aggregate([*RECORDS, *more], RUBRIC)
    rows = suite.table({**aggregate.summary, "metrics": figures([*RECORDS, *more])["metrics"]})
    chance = {row[0]: row[4] for row in rows}
    for name in (
        "vanilla.agrees_with_controller",
        "nationalist.agrees_with_controller",
        "nationalist.consistency",
        "vanilla.agrees_with_controller.South Sea",
    ):
        assert chance[name] == "33.3%"
    assert "nationalist.agrees_with_controller.South Sea" not in chance
