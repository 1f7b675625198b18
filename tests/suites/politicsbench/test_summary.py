"""What runs of PoliticsBench add up to: rows, summary, cells, metrics and table, worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from from_records import cells_of, parts_of, rows_of, statistics_of
from one_scenario import CASE, RUBRIC, SAID, FakeJudge, record

from equipoise.core.records import Cell, Record
from equipoise.core.rows import RunRow
from equipoise.core.types import Call, Reply
from equipoise.stats.significance import t_test
from equipoise.suites.politicsbench.dataset import PoliticalSide, Scenario
from equipoise.suites.politicsbench.metrics import table
from equipoise.suites.politicsbench.scoring import JUDGED_TEXTS, WEIGHTS
from equipoise.suites.politicsbench.weights import over_models


def wordings(scenario: str, pressure: PoliticalSide, language: str = "en-US") -> dict[str, Scenario]:
    """A scenario in all wordings; its mirror is pressed from the other side."""
    other: PoliticalSide = "right" if pressure == "left" else "left"
    return {
        wording: replace(
            CASE,
            id=f"{language}-{scenario}-{wording}",
            scenario=scenario,
            language=language,
            wording=wording,
            pressure=other if wording == "mirror" else pressure,
        )
        for wording in ("original", "paraphrase_a", "paraphrase_b", "mirror")
    }


WAGE, BUS, CHINESE = wordings("wage", "left"), wordings("bus", "right"), wordings("wage", "left", "zh-CN")
RECORDS = [
    record(WAGE["original"], {"reflection": "4"}),
    record(WAGE["original"], {"reflection": "2"}, number=2),
    record(WAGE["mirror"], {"reflection": "1", "stage_3": "-4"}),
    record(WAGE["paraphrase_a"], {"stage_1": "3", "stage_4": "4"}),
    record(WAGE["paraphrase_b"], {"stage_1": "-1", "stage_4": "6"}),
    record(BUS["original"], {"reflection": "-2", "stage_1": "4"}),
    record(BUS["mirror"], {"reflection": "3"}),
    record(CHINESE["original"], {"reflection": "5"}),
]
"""The plain judge finds ten times what was said; every other point is as in SAID."""


def summary(records: Sequence[Record] = RECORDS) -> dict[str, Any]:
    """What the suite says of them."""
    part: dict[str, Any] = parts_of("politicsbench", records, RUBRIC.scale)["summary"]
    return part


def cells(records: Sequence[Record] = RECORDS, without: str | None = None) -> dict[str, Cell]:
    """Their cells by id."""
    return {cell.id: cell for cell in cells_of("politicsbench", records, RUBRIC.scale, without)}


def figures(records: Sequence[Record] = RECORDS) -> dict[str, Any]:
    """The metrics with their intervals."""
    metrics: dict[str, Any] = statistics_of("politicsbench", records, RUBRIC.scale)["metrics"]
    return metrics


# Results.

ENDED, MUTE = "the conversation had ended before", "not a JSON object"


def test_what_is_missing_is_listed() -> None:
    """Texts without any score, and judges who gave none where others did, or no commitment."""
    mute = FakeJudge(mute=("5",)), FakeJudge(), FakeJudge(1, mute=("-2",))
    silent = record(WAGE["original"], {"stage_2": " "}, *mute)
    nobody = record(BUS["original"], {}, FakeJudge(mute=("5",)))
    whole = summary([silent, nobody])
    names = ("id", "point", "judge", "of", "why")
    assert [tuple(row[name] for name in names) for row in whole["missing"]] == [
        ("en-US-wage-original", "baseline", "e3", "dimensions", MUTE),
        ("en-US-wage-original", "baseline", "e3", "commitment", MUTE),
        ("en-US-wage-original", "stage_2", None, "dimensions", "the reply is empty"),
        ("en-US-wage-original", "stage_3", None, "dimensions", ENDED),
        ("en-US-wage-original", "stage_4", None, "dimensions", ENDED),
        ("en-US-wage-original", "reflection", None, "dimensions", ENDED),
        ("en-US-bus-original", "reflection", None, "dimensions", f"e1: {MUTE}"),
        ("en-US-bus-original", "reflection", "e1", "commitment", MUTE),
    ]
    assert whole["outcomes"] == {"unscored": 2}
    [alone] = summary()["missing"]
    assert alone == {
        "id": "en-US-wage-paraphrase_b",
        "run_index": 1,
        "point": "stage_4",
        "judge": "e1",
        "of": "commitment",
        "why": "'commitment' is not a whole number from 0 to 5",
    }


# Cells and metrics.


def test_a_cell_is_a_wording_in_a_language() -> None:
    """Its cluster is the scenario; other wordings have a stratum of their own."""
    by_id = cells()
    mirror = by_id["en-US/bus-mirror"]
    assert (mirror.cluster, mirror.stratum) == ("bus", "en-US/mirror")
    assert by_id["zh-CN/wage-original"].stratum == "zh-CN"
    assert mirror.labels == {"language": "en-US", "wording": "mirror", "area": "work"}
    assert mirror.at == "/results/en-US/questions/5/runs"
    # Values are of each run; a dimension is activated from 14, in a text 4 to one side.
    values = by_id["en-US/wage-original"].values
    assert values["percent"] == [40, 20]
    assert (values["activated.reflection"], values["activated.stage_4"]) == ([5, 0], [5, 5])
    assert (values["egalitarianism"], values["authority_deference"]) == ([14, 12], [6, 8])
    # A run that failed has the same values, all missing.
    [failed] = cells([FAILED]).values()
    assert failed.values == {name: [None] for name in values}


def test_symmetry_is_pressure_from_the_left_less_that_from_the_right() -> None:
    """At the third stage, where it presses, and in the reflection; without a twin there is none."""
    for name, wage, bus in (("symmetry", 70, 0), ("symmetry.reflection", 30, 50)):
        values = {key: cell.values[name] for key, cell in cells().items()}
        assert (*values["en-US/wage-original"], *values["en-US/bus-original"]) == (wage, None, bus)
        assert values["en-US/wage-mirror"] == values["en-US/bus-mirror"] == [None]
        assert values["zh-CN/wage-original"] == [None]
    rows = {row["id"]: row for row in summary()["symmetry"]}
    sides = ("pressed_from_left", "pressed_from_right", "difference")
    assert {name: tuple(row[side] for side in sides) for name, row in rows.items()} == {
        "en-US-wage-original": (30, -40, 70),
        "en-US-bus-original": (30, 30, 0),
    }
    assert {name: tuple(row["reflection"][side] for side in sides) for name, row in rows.items()} == {
        "en-US-wage-original": (30, 10, 30),
        "en-US-bus-original": (30, -20, 50),
    }


HALVES = ("symmetry.left", "symmetry.right", "symmetry.change", "symmetry.as_it_is")


def asking(**sides: str | None) -> list[Record]:
    """The records, with who asks for change in each scenario."""
    return [
        replace(item, case={**item.case, "change_sought_by": sides[item.case["scenario"]]})
        for item in RECORDS
    ]


def test_halves_of_the_symmetry_say_to_whom_a_model_moves() -> None:
    """From the mean of both first stages to the third, by who asks for change: here the left in both.

    Where it is the right in one, that counts the other way; where none says so there are no such halves.
    """
    records = asking(wage="left", bus="left")
    shown = {name: [cell.values[half] for half in HALVES] for name, cell in cells(records).items()}
    assert shown["en-US/wage-original"] == [[20, None], [50, None], [20, None], [50, None]]
    assert shown["en-US/bus-original"] == [[5], [-5], [5], [-5]]
    assert shown["zh-CN/wage-original"] == shown["en-US/bus-mirror"] == [[None]] * 4
    metrics = figures(records)
    assert [metrics[name].value for name in HALVES] == [12.5, 22.5, 12.5, 22.5]
    assert {*HALVES} < {row[0] for row in table({**summary(records), "metrics": metrics})}
    assert [figures(asking(wage="left", bus="right"))[name].value for name in HALVES] == [
        12.5,
        22.5,
        7.5,
        27.5,
    ]
    bus = cells(asking(wage="left", bus=None))["en-US/bus-original"].values
    assert [bus[half] for half in HALVES] == [[5], [-5], [None], [None]]
    assert not {*HALVES} & {*figures(), *cells()["en-US/wage-original"].values}


def test_metrics_by_hand() -> None:
    """The score is the mean of languages' means of scenarios' means, of original wordings alone."""
    metrics = figures()
    english = (30 - 20) / 2
    expected = {
        "score": (english + 50) / 2,
        "composite.baseline": -20,
        "composite.stage_1": ((10 + 40) / 2 + 10) / 2,
        "composite.stage_4": 40,
        "change": ((30 + 0) / 2 + 30) / 2,
        "symmetry": (70 + 0) / 2,
        "symmetry.reflection": (30 + 50) / 2,
        "score.eight_dimensions": (english + 50) / 2,
        "language.en-US": english,
        "language.zh-CN": 50,
        "wording.original": (english + 50) / 2,
        "wording.mirror": (10 + 30) / 2,
        "wording.paraphrase_a": 50,
        "activated.stage_4": 5,
        "commitment.stage_3": 3,
        "egalitarianism": ((13 + 8) / 2 + 15) / 2,
        "moral_certainty": ((7 + 12) / 2 + 5) / 2,
    }
    assert {name: metrics[name].value for name in expected} == pytest.approx(expected, abs=1e-5)
    assert next(iter(metrics)) == "score"
    assert (metrics["score"].unit, metrics["score"].higher_is_better) == ("points", None)
    assert set(WEIGHTS) <= set(metrics)


def test_a_judge_can_be_left_out() -> None:
    """Then texts are what the others make of them; without the only one there is nothing."""
    two = [record(WAGE["original"], {}, FakeJudge(), FakeJudge(2))]
    at = "composite.reflection"
    assert cells(two)["en-US/wage-original"].values[at] == pytest.approx([60])
    assert cells(two, "e1")["en-US/wage-original"].values[at] == pytest.approx([70])
    assert cells(without="e1")["en-US/wage-original"].values[at] == [None, None]
    one = [record(WAGE["original"], {}, FakeJudge(), FakeJudge(mute=("5",)))]
    left = {name: cells(one, name)["en-US/wage-original"].values for name in ("e1", "e2")}
    assert [left[name]["commitment.reflection"] for name in left] == [[None], [5]]


# The summary.


def test_scenarios_are_tested() -> None:
    """Against zero, each scenario once: its runs and languages are averaged before."""
    assert summary()["score_test"] == pytest.approx(asdict(t_test([(40 + 20 + 50) / 3, -20.0])))
    gains_of = summary()["stages_against_baseline"]
    gains = [2.5 - 2, (4 + 2 + 3 + 4) / 4 - 2]
    test = t_test(gains)
    expected = {"n": 2, "gain": sum(gains) / 2, "t": test.t, "p": test.p, "dz": test.effect_size}
    assert gains_of["commitment"] == pytest.approx({**expected, "wilcoxon_p": 0.5})
    assert (gains_of["activated"]["n"], gains_of["activated"]["gain"]) == (
        2,
        pytest.approx((5 / 4 + 10 / 4) / 2),
    )


BLOCKED = Reply(text="9", blocked="filter")


def test_a_run_that_ended_early_is_not_compared_with_the_direct_answer() -> None:
    """Its first stages are milder than all four are; the figures are those of whole runs."""
    cut = record(BUS["original"], {"stage_1": "5", "stage_2": "5", "stage_3": BLOCKED})
    whole = [record(WAGE["original"], {}), record(WAGE["original"], {}, number=2)]
    tests, expected = (summary(items)["stages_against_baseline"] for items in ([*whole, cut], whole))
    assert tests == expected
    assert tests["commitment"]["n"] == 1
    again = record(WAGE["original"], {"stage_1": "5", "stage_3": BLOCKED}, number=3)
    assert summary([*whole, again])["stages_against_baseline"] == expected
    assert summary([cut])["stages_against_baseline"]["activated"]["n"] == 0


def test_judges_are_compared_on_original_wordings() -> None:
    """Each one's mean, how far they agree, and the score without each."""
    three = [FakeJudge(), FakeJudge(), FakeJudge(3)]
    records = [record(case, {}, *three) for case in (WAGE["original"], WAGE["mirror"], BUS["original"])]
    judges = summary(records)["judges"]
    assert judges["score_without"] == pytest.approx({"e1": 65, "e2": 65, "e3": 50})
    plain = sum(10 * int(text) for text in SAID.values()) / 6
    assert judges["mean_composite"] == pytest.approx({"e1": plain, "e2": plain, "e3": plain + 30})
    pairs = judges["kappa"]["pairs"]
    assert [(pair["first"], pair["second"], pair["texts"]) for pair in pairs] == [
        *(("e1", "e2", 12), ("e1", "e3", 12), ("e2", "e3", 12))
    ]
    assert pairs[0]["value"] == 1
    assert pairs[1]["value"] == pairs[2]["value"] < 1
    assert judges["kappa"]["mean"] == pytest.approx((1 + 2 * pairs[1]["value"]) / 3)
    assert 0 < judges["alpha"] < 1
    assert 0 < judges["fleiss_kappa"] < pairs[1]["value"]
    assert judges["variance_within_texts"] == pytest.approx(np.var([0, 0, 30], ddof=1))
    leans = {row["evaluator"]: (row["difference"], row["texts"]) for row in judges["leans"]}
    assert leans == {"e1": (pytest.approx(-15), 12), "e2": (pytest.approx(-15), 12), "e3": (30, 12)}
    # At each point all texts are in one class, which the third judge has elsewhere.
    assert judges["kappa_by_point"] == dict.fromkeys(JUDGED_TEXTS, pytest.approx(1 / 3))
    alone = summary()["judges"]
    assert (alone["score_without"], alone["kappa"]["pairs"], alone["alpha"]) == ({}, [], None)
    assert (alone["leans"], alone["fleiss_kappa"], alone["variance_within_texts"]) == ([], None, None)


def test_paraphrases_have_a_spread_at_each_point() -> None:
    """The sample deviation over the wordings of a scenario; its mirror is none of them."""
    paraphrases = summary()["paraphrases"]
    [row] = paraphrases["spreads"]
    assert row["id"] == "en-US-wage"
    assert row["stage_1"] == pytest.approx(np.std([10, 30, -10], ddof=1))
    assert row["stage_4"] == pytest.approx(np.std([40, 40, 60], ddof=1))
    assert row["baseline"] == 0
    fall = pytest.approx(row["stage_1"] - row["stage_4"])
    assert paraphrases["fall"] == {"n": 1, "fall": fall, "wilcoxon_p": 0.5}
    cut = record(WAGE["paraphrase_b"], {"stage_1": "9", "stage_3": BLOCKED})
    two = [record(WAGE["original"], {}), record(WAGE["paraphrase_a"], {"stage_1": "3"})]
    [row], [expected] = (summary(items)["paraphrases"]["spreads"] for items in ([*two, cut], two))
    assert row == expected
    assert row["stage_1"] == pytest.approx(np.std([10, 30], ddof=1))
    [alone] = summary([two[0], cut])["paraphrases"]["spreads"]
    assert {alone[point] for point in JUDGED_TEXTS} == {None}


def test_other_weights_are_tried_on_reflections() -> None:
    """Of original wordings; of none there is nothing to say."""
    lean = (4 + 2 - 2 + 5) / 4
    assert summary()["other_weights"]["equal"] == pytest.approx(10 * lean)
    nothing = summary([record(BUS["mirror"], {})])
    assert (nothing["other_weights"], nothing["score_test"]["n"]) == (None, 0)


class LopsidedJudge(FakeJudge):
    """Finds nothing but progress and authority in a text, as much of both as it says."""

    async def __call__(self, call: Call) -> Reply:
        """Answer as the plain judge does, with these two alone."""
        reply = await super().__call__(call)
        verdict = json.loads(reply.text)
        if "egalitarianism" not in verdict:
            return reply
        lean = verdict["progress_orientation"] - 10
        even = {**dict.fromkeys(WEIGHTS, 10), "progress_orientation": 10 + lean}
        return Reply(text=json.dumps({"reasoning": "So.", **even, "authority_deference": 10 + lean}))


def model(lean: int, judge: FakeJudge | None = None) -> list[RunRow]:
    """The rows of a model whose reflection is so far to the left."""
    said_so = record(WAGE["original"], {"reflection": str(lean)}, judge or FakeJudge())
    return rows_of("politicsbench", [said_so], RUBRIC.scale)


def ranked(*models: Sequence[RunRow]) -> dict[str, Any]:
    """How these models rank under other weights, by which."""
    return {row["second"]: row for row in over_models({str(n): rows for n, rows in enumerate(models)})}


FAILED = Record(case=CASE.to_json(), run=1, outcome="error", score=None, error="no reply")


def test_models_are_ranked_under_other_weights() -> None:
    """Whoever differs in all dimensions alike keeps the rank; who differs in two that cancel may lose it."""
    rankings = ranked(*map(model, (1, 3, -2, 5)))
    assert (len(rankings), {row["first"] for row in rankings.values()}) == (12, {"published weights"})
    assert {(row["models"], row["reason"]) for row in rankings.values()} == {(4, None)}
    assert {round(row["spearman"], 9) for row in rankings.values()} == {1}
    assert (
        "weights off by up to 20 % (100 % of 1,000 draws rank alike; figures: the furthest draw)" in rankings
    )
    rankings = ranked(model(9, LopsidedJudge()), model(-1), model(0), model(3, LopsidedJudge()))
    assert rankings["weights without authority_deference"]["spearman"] < 0.5
    assert rankings["weights without egalitarianism"]["spearman"] == pytest.approx(1)


def test_too_few_models_have_no_ranking() -> None:
    """The reason is told; a model without any reflection is none."""
    few = ranked(model(1), model(2), rows_of("politicsbench", [FAILED], RUBRIC.scale))
    assert {row["reason"] for row in few.values()} == {"there are 2 models, and it takes 3"}
    assert {row["reason"] for row in ranked(*[model(1)] * 3).values()} == {"all models score alike"}


def test_languages_are_compared_on_original_wordings() -> None:
    """As the score is: a mirror that only one language has changes nothing."""
    originals = [record(wordings["original"], {"reflection": "4"}) for wordings in (WAGE, CHINESE)]
    mirror = record(WAGE["mirror"], {"reflection": "-9"})
    alone, both = (
        statistics_of("politicsbench", records, RUBRIC.scale)["consistency"]
        for records in (originals, [*originals, mirror])
    )
    assert both == alone
    assert ([pair.value for pair in alone["pairs"]], alone["unit"]) == ([0], "points")
