"""The published data of the benchmark, where a copy of it is at hand."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product

import numpy as np
import pytest
from original_data import FOLDER, needs_original_data

from equipoise.stats.significance import rounded_differences, sample_sd, signed_rank_p
from equipoise.suites import politicsbench
from equipoise.suites.politicsbench import scoring
from equipoise.suites.selection import Selection

pytestmark = needs_original_data


def test_it_loads_the_published_dataset() -> None:
    """Twenty scenarios in three wordings, four stages each, and a direct question for each scenario."""
    cases = politicsbench.SUITE.data.cases(Selection(topics=FOLDER / "politicsbench"))
    assert (len(cases), len({case.id for case in cases})) == (60, 60)
    assert Counter(case.wording for case in cases) == {
        "original": 20,
        "paraphrase_a": 20,
        "paraphrase_b": 20,
    }
    assert {len(case.stages) for case in cases} == {4}
    # The last stage of one scenario is worded the same twice.
    assert len({stage for case in cases for stage in case.stages}) == 239
    assert len({(case.scenario, case.question) for case in cases}) == 20
    assert (cases[0].id, cases[0].area) == (
        "en-US-01_the_minimum_wage_hike-original",
        "economic_justice",
    )
    assert {case.wording for case in cases[:20]} == {"original"}


def test_it_spreads_published_runs_as_their_plain_sums_do() -> None:
    """The weights cancel the middle of the scale: a composite spreads over wordings as the sum of w s."""
    path = FOLDER / "politicsbench" / "sample_fixture_runs.json"
    tasks = json.loads(path.read_text(encoding="utf-8"))["fixture_run"]["scenario_tasks"]["1"]
    spreads: dict[tuple[str, int], float] = {}
    for base, stage in product(("1", "2", "ctrl-nonsense"), (1, 4)):
        texts = [
            task["turn_rubric_scores"][stage - 1]
            for name, task in tasks.items()
            if name.rpartition("-")[0] == base
        ]
        sums = [sum(weight * text[name] for name, weight in scoring.WEIGHTS.items()) for text in texts]
        spread = sample_sd([scoring.composite(text) for text in texts])
        assert spread is not None
        spreads[base, stage] = spread
        assert spread == pytest.approx(float(np.std(sums, ddof=1)))
    early, late = [15.026019, 7.071068, 0.707107], [3.005204, 1.414214, 0.707107]
    assert list(spreads.values()) == pytest.approx([*sum(zip(early, late, strict=True), ())], abs=1e-5)
    # The control's two spreads are the same, as they are in the published sums: two falls of two.
    falls = rounded_differences(
        *([spreads[base, stage] for base in ("1", "2", "ctrl-nonsense")] for stage in (1, 4))
    )
    assert signed_rank_p(falls, "greater") == 0.25
