"""A result that comes in pieces, and the trend over releases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from sides import Runs, alike, by_chance, side_of, write

from equipoise.comparison.compare import compare
from equipoise.comparison.gate_terms import CandidateSections
from equipoise.comparison.of_files import compare_files
from equipoise.comparison.pool import pool_results
from equipoise.comparison.trend import trend
from equipoise.core.errors import UserError
from equipoise.core.rules import parse_rule
from equipoise.core.types import JSON
from equipoise.results.document import Summary
from equipoise.results.results import Results


def piece(runs: Runs, file: str, **changes: JSON) -> Results:
    """Results in a file of this name, which is also their digest."""
    return replace(side_of(runs, file, **changes), digest=file)


def test_pieces_of_one_model_are_one_result() -> None:
    """The runs of each case follow each other, and what adds up is added up."""
    first, second = by_chance(1, runs=3), by_chance(2, runs=2)
    (pooled,) = pool_results(
        [piece(first, "a.json"), piece(second, "b.json", started="2026-01-01T00:00:00+00:00")]
    )
    whole = side_of({cell: [*first[cell], *second[cell]] for cell in first})
    assert [cell.id for cell in pooled.cells] == [cell.id for cell in whole.cells]
    for cell, expected in zip(pooled.cells, whole.cells, strict=True):
        assert {name: list(runs) for name, runs in cell.values.items()} == {
            name: list(runs) for name, runs in expected.values.items()
        }
    assert (pooled.file, pooled.rounds) == ("a.json + b.json", 5)
    assert pooled.metadata["started"] == "2026-01-01T00:00:00+00:00"
    assert pooled.metadata["runs_expected"] == whole.metadata["runs_expected"]
    other = side_of(by_chance(3, 0.3))
    changes = [compare(other, side).to_json()["metrics"] for side in (pooled, whole)]
    assert changes[0] == changes[1]


def test_pieces_may_be_of_different_cases() -> None:
    """A language each: the whole is as complete, as cautious and as verified as its worst piece."""
    parts = [piece(alike(4, 4, languages=[name]), f"{name}.json") for name in ("aa", "bb")]
    parts[1] = piece(alike(4, "error", languages=["bb"]), "bb.json", status="interrupted")
    (pooled,) = pool_results(parts)
    assert {cell.stratum for cell in pooled.cells} == {"aa", "bb"}
    assert (pooled.metadata["status"], len(pooled.errors)) == ("interrupted", 6)
    cautions = ["one evaluator is the subject", "judged by labels"]
    pieces = [
        piece(by_chance(n), f"{n}.json", cautions=texts)
        for n, texts in enumerate((cautions[:1], cautions, []))
    ]
    (whole,) = pool_results(pieces)
    assert whole.metadata.get("cautions") == cautions
    first, second = piece(alike(4), "a.json"), piece(alike(3), "b.json")
    (pooled,) = pool_results([first, second])
    assert pooled.doubt is None
    (pooled,) = pool_results([first, replace(second, doubt="its journal cannot be read")])
    assert pooled.doubt == "b.json: its journal cannot be read"


@pytest.mark.parametrize(
    "changes",
    [
        {"subject_model": "m2"},
        {"subject_sampling": {"temperature": 0.0}},
        {"data_hash": "d1"},
        {
            "parameters_changed": [
                {"role": "subject", "model": "m1", "parameter": "top_p", "action": "dropped", "reason": ""}
            ]
        },
    ],
    ids=["model", "sampling", "data", "sampling_differences"],
)
def test_what_was_asked_otherwise_stays_apart(changes: dict[str, JSON]) -> None:
    """Another model, or other settings, in the order in which they came."""
    sides = [piece(alike(4), "a.json"), piece(alike(4), "b.json", **changes), piece(alike(3), "c.json")]
    assert [side.file for side in pool_results(sides)] == ["a.json + c.json", "b.json"]


def test_what_is_no_plain_sample_is_not_pooled() -> None:
    """Rounds that ended with a gate did because of what they showed; the same runs would count twice."""
    summary = cast("Summary", {"until": {"rule": "gate", "runs": 3, "runs_planned": 10}})
    first = piece(alike(4), "a.json")
    stopped = replace(first, file="b.json", digest="b", summary=summary)
    assert [side.file for side in pool_results([first, stopped])] == ["a.json", "b.json"]
    first = piece(alike(4), "a.json", verdicts_sha256="v")
    for again in (first, piece(alike(4), "copy.json", verdicts_sha256="v")):
        with pytest.raises(UserError, match=r"has the same runs as a\.json; they would count twice"):
            pool_results([first, again])


# The trend.


def releases() -> list[Results]:
    """Three releases of half a point less each."""
    return [side_of(by_chance(n, n / 2, runs=5), f"{n}.json", subject_model=f"m{n}") for n in range(3)]


def test_a_trend_is_of_what_can_be_compared() -> None:
    """Each change is that of a comparison of neighbours, which is refused where a comparison is."""
    sides = releases()
    figures = trend(sides)
    assert (figures["metric"], figures["unit"]) == ("overall", "%")
    assert [row["subject_model"] for row in figures["releases"]] == ["m0", "m1", "m2"]
    assert figures["releases"][0]["change"] is None
    for row, (older, newer) in zip(figures["releases"][1:], [sides[:2], sides[1:]], strict=True):
        expected = compare(older, newer).to_json()["metrics"]["overall"]
        change = row["change"]
        assert change is not None
        assert row["figure"].value == expected.after
        assert (change.value, change.low, change.high) == (expected.value, expected.low, expected.high)
        assert change.these.high == expected.these.high
        assert expected.these.high is not None
        assert expected.these.high < 0
    first, *_ = releases()
    other = side_of(by_chance(1), "other.json", data_hash="d1")
    with pytest.raises(UserError, match=r"0\.json and other\.json cannot be compared: data differs"):
        trend([first, other])
    assert len(trend([first, other], allows_mismatch=True)["releases"]) == 2


def test_a_trend_refuses_what_a_comparison_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule that allows the last baseline to lack scores allows the earlier ones to."""
    monkeypatch.chdir(tmp_path)
    runs = by_chance(1)
    part: Runs = {**runs, "aa/q1/y": [5, "unscored", 5], "aa/q2/x": [5, "unscored", 5]}
    for number in (1, 2):
        write(Path(f"r{number}.json"), part, subject_model=f"m{number}", status="complete_with_unscored")
    write(Path("new.json"), by_chance(2), subject_model="m3")
    earlier = [Path("r1.json"), Path("r2.json")]

    def compared(*rules: str) -> list[CandidateSections]:
        return compare_files(earlier, [Path("new.json")], [*map(parse_rule, rules)], allows_mismatch=False)

    (sections,) = compared("unscored:2%")
    assert [row["subject_model"] for row in sections["trend"]["releases"]] == ["m1", "m2", "m3"]
    assert sections["comparison"]["baseline"]["file"] == "r2.json"
    with pytest.raises(UserError, match="have no score, more than unscored:1% allows"):
        compared()
