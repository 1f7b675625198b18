"""What runs about territories add up to: rows, summary, cells, metrics, table and plots, by hand."""

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
from one_dispute import CASE, ENGLISH, OTHER, RUBRIC, record
from plotted import plotted, whole
from shipped_borderlines import cases as shipped

from conftest import ROOT
from equipoise.core.records import Record
from equipoise.suites import borderlines as suite
from equipoise.suites.borderlines.dataset import LETTERS, UNKNOWN, Query

NAME, SCALE = "borderlines", RUBRIC.scale


def territory(slug: str, controller: str, strategy: str = "vanilla") -> list[Query]:
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


ROCK = (CASE, OTHER, ENGLISH)
# A `?` is read as none of the countries.
SAID = [
    (ROCK, "Attica Boeotia C)"),
    (territory("isle", "AA"), "Attica Attica Boeotia"),
    (territory("reef", "unknown"), "Caria ? (B)"),
]
RECORDS = [
    *(record(case, text) for cases, texts in SAID for case, text in zip(cases, texts.split(), strict=True)),
    *(record(CASE, "Boeotia", 2), record(ENGLISH, "Attica", 2)),
]
NATIONALIST = [record(case, "B)") for case in territory("rock", "BB", "nationalist")]


def summary(records: Sequence[Record]) -> Any:
    """The whole summary, with the parts that all suites share."""
    return {**parts_of(NAME, records, SCALE)["summary"], **statistics_of(NAME, records, SCALE)}


def test_a_summary_of_several_strategies_keeps_them_apart() -> None:
    """Each strategy has the parts that it has alone; figures by chance are listed by metric."""
    both, one, other = (summary(part) for part in ([*RECORDS, *NATIONALIST], RECORDS, NATIONALIST))
    parts = ("read_by", "as_the_original_reads", "by_language", "by_dispute", "by_claimant", "disagreements")
    for name in parts:
        assert both[name] == {"vanilla": one[name], "nationalist": other[name]}, name
    assert [*both["random"]] == [*both["metrics"]]
    for name in ("agrees_with_controller", "countries"):
        for strategy, alone in (("vanilla", one), ("nationalist", other)):
            assert both["random"][f"{strategy}.{name}"] == alone["random"][name]
            assert both["metrics"][f"{strategy}.{name}"].value == alone["metrics"][name].value


def test_a_cell_is_a_territory_under_a_strategy() -> None:
    """Its cluster is the territory, it has a value for each run, and `at` points to runs of it."""
    records = [*RECORDS, *NATIONALIST]
    *cells, one, other = cells_of(NAME, records, SCALE)
    assert [(cell.id, cell.cluster, cell.stratum) for cell in (*cells, one, other)] == [
        *((f"vanilla/{slug}", slug, "vanilla") for slug in ("rock", "isle", "reef")),
        ("nationalist/rock", "rock", "nationalist"),
        # Called otherwise than a territory of the same name.
        *(
            (f"{name}/by_dispute/south_sea_rocks", "by_dispute/south_sea_rocks", name)
            for name in ("vanilla", "nationalist")
        ),
    ]
    rock, isle, reef, _ = cells
    assert isle.labels == {"strategy": "vanilla", "region": "North Sea", "dispute": "south_sea_rocks"}
    data = {"results": parts_of(NAME, records, SCALE)["results"]}
    runs = [[run["run_index"] for run in builders.value_at(data, cell.at)] for cell in (rock, isle, reef)]
    assert runs == [[1, 2], [1], [1]]
    # A query with fewer runs has no answer in the further ones.
    names = ("kb", "con", "non", "alike", "distinct", "none", "none.yy")
    assert [rock.values[name] for name in names] == [
        *([1, 0], [100, None], [0, 100], [0, None], [2, 1], [0, 0], [0, None])
    ]


def test_without_answers_every_figure_is_null() -> None:
    """The summary is valid JSON, even without any run."""
    failed = Record(case=CASE.to_json(), run=1, outcome="error", score=None, error="no reply")
    nothing = summary([failed])
    assert {metric.value for metric in nothing["metrics"].values()} == {None}
    (run,) = parts_of(NAME, [failed], SCALE)["results"]["xx"]["questions"][0]["runs"]
    assert (run["error"], {*run["details"].values()}) == ("no reply", {None})
    for figures in (nothing, summary([])):
        json.dumps(to_builtins(figures), allow_nan=False)


def test_letters_that_were_sampled_are_a_caution() -> None:
    """The caution counts them; letters with probabilities need none."""
    records = [record(CASE, "Attica"), record(replace(CASE, id="xx-rank", method="rank"), "(B)")]
    whole_rows = rows_of(NAME, records, SCALE)
    assert suite.cautions(whole_rows, {}) == [
        "1 of 2 answers to --method rank came without token probabilities: "
        "each is the letter of one sampled answer"
    ]
    assert suite.cautions(whole_rows[:1], {}) == []


# Plots.


def matrix(records: Sequence[Record]) -> list[tuple[object, ...]]:
    """The cells of territories against languages: row, column, text and shade."""
    cells = plotted(NAME, whole(NAME, records, SCALE))["territories"]
    return [tuple(cell[name] for name in ("row", "column", "text", "value")) for cell in cells]


def test_territories_are_shown_against_languages() -> None:
    """The shade is the share of answers that name the one in control, if there is one."""
    replies = ((CASE, "Boeotia Attica ?"), (OTHER, "Caria Caria"), (ENGLISH, "? ? Boeotia"))
    records = [
        record(case, text, run) for case, texts in replies for run, text in enumerate(texts.split(), start=1)
    ]
    assert matrix(records) == [
        ("rock", "xx", "BB", 0.5),
        ("rock", "yy", "CC", 0.0),
        ("rock", "en", "none", 1.0),
    ]
    reef = replace(CASE, id="xx-reef", territory="reef", controller=UNKNOWN)
    for case, text, shown in ((reef, "Attica", "AA"), (reef, "?", "none"), (CASE, "?", "none")):
        assert matrix([record(case, text)]) == [(case.territory, "xx", shown, None)]


# The headline of our own data.


def by_reading(label: str, share: int) -> dict[str, float | None]:
    """Consistency and share of none of a model that names the country in control, with its letter.

    One in `share` of its replies adds that others claim it; the evaluator reads these as `label`, if any.
    """
    rubric, records = suite.SUITE.judging.rubric(ROOT / "rubric" / "borderlines.toml"), []
    for case in shipped():
        if case.controller not in case.options:
            continue
        index = case.options.index(case.controller)
        letter, name = LETTERS[index], case.names[index]
        is_claimed = crc32(case.id.encode()) % share == 0
        others = ", ".join(case.names[:index] + case.names[index + 1 :])
        claimed = f"Administered by **{name} ({letter})**. Claimed by {others}."
        subject = FakeModel(claimed if is_claimed else f"{letter}) {name}")
        score = builders.evaluate(suite.SUITE, case, rubric, subject, FakeModel(f"({label or letter})"))
        assert (score.details["how"] == "evaluator") is is_claimed
        records.append(builders.record(case, score))
    metrics = statistics_of(NAME, records, SCALE)["metrics"]
    return {name: metrics[name].value for name in ("consistency", "none")}


@pytest.mark.slow
def test_how_far_the_headline_hangs_on_the_reading_of_the_commonest_reply() -> None:
    """A model that always answers in this form keeps its headline; one that does so in part loses half."""
    assert by_reading("", 1) == by_reading("", 2) == {"consistency": 100, "none": 0}
    assert by_reading("N", 1) == {"consistency": 100, "none": 100}
    consistency = by_reading("N", 2)["consistency"]
    text = (ROOT / "topics" / "borderlines" / "README.md").read_text(encoding="utf-8")
    assert f"a `consistency` of {consistency:.1f} % in place of 100 %" in text
