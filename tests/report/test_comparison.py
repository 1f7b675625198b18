"""Comparisons and gates as lines of a terminal: what a reader sees of each figure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest
from msgspec import structs
from sides import Runs, alike, by_chance, neutral_side

from equipoise.comparison.compare import compare
from equipoise.comparison.gate.verdict import rule_on_all
from equipoise.core.figures import Change
from equipoise.core.rules import parse_rule
from equipoise.core.types import JSON
from equipoise.report import comparison as comparing
from equipoise.report import verdict
from equipoise.results.document import Ruling
from equipoise.results.results import RunCounts

NAMES = ["overall", "aa", "bb", "cc", "area.y", "area.x", "overall_without_blocked"]
RATES = ["refused", "blocked", "truncated", "empty"]
BEFORE, AFTER = by_chance(1), by_chance(2, 0.3)


def comparison(before: Runs = BEFORE, after: Runs = AFTER, model: str = "m2", **changes: JSON) -> Any:
    """A comparison as the results JSON has it."""
    newer = neutral_side(after, "new.json", subject_model=model, **changes)
    return compare(neutral_side(before, "old.json"), newer, allows_mismatch=True).to_json()


def words(lines: Iterator[str]) -> list[str]:
    """The lines with single blanks, without empty ones."""
    return [" ".join(line.split()) for line in lines if line.strip()]


def row(compared: Any, name: str) -> tuple[str, ...]:
    """The row of one metric."""
    (result,) = [cells for cells in comparing.metric_rows(compared) if cells[0] == name]
    return result


def sides(**candidate: JSON) -> dict[str, Any]:
    """The two sides of a comparison; `candidate` changes the second one."""
    about = {"subject_model": "m1", "file": "old.json", "started": "2026-01-02"}
    return {"baseline": about, "candidate": {**about, "subject_model": "m2", "file": "new.json", **candidate}}


THESE = {"se": 0.6, "low": 1.236, "high": 3.764, "p": 0.001, "n": 9, "reason": None}


def metric(**figures: JSON) -> dict[str, Any]:
    """A comparison of one metric, `overall`, with these figures."""
    change: JSON = {
        **{"before": 50.0, "after": 52.5, "value": 2.5},
        **{"se": 1.9, "low": -1.234, "high": 6.234, "p": 0.2, "p_adjusted": 0.4, "reason": None},
        **{"n": 9, "unpaired": 0, "higher_is_better": True, "unit": "%", "these": THESE},
    }
    return {"metrics": {"overall": msgspec.convert({**change, **figures}, Change)}, **sides()}


# Figures that are no single model's.


def test_a_contrast_says_how_it_is_read_wherever_it_is_shown() -> None:
    """In the whole table, and in the short one if it differs by more than chance."""
    (overall,) = metric()["metrics"].values()
    contrast = structs.replace(overall, unit="pp", caution="read as a difference only", p_adjusted=0.4)
    others = {f"area.{number}": overall for number in range(comparing.FIRST_ROWS)}
    line = "contrast: read as a difference only"
    for p, is_shown in ((0.4, False), (0.01, True)):
        metrics = {**others, "contrast": structs.replace(contrast, p_adjusted=p)}
        compared: Any = {**comparison(), "metrics": metrics}
        assert (line in words(comparing.lines(compared))) is is_shown
        assert [*comparing.lines(compared)][-1].startswith("the" if is_shown else "1 more figures, and the")
        assert line in words(comparing.lines(compared, shows_all=True))
    assert "caution" not in msgspec.to_builtins(overall)


# The table.


@pytest.mark.parametrize(
    ("model", "file", "expected"),
    [
        ("m2", "results/old.json", ("m1", "m2")),
        ("m1", "results/new.neutrality.json", ("old", "new")),
        ("m1", "results/new.2.neutrality.json", ("old", "new.2")),
        ("m1", "results/a.neutrality.json + b.neutrality.json", ("old", "a.neutrality.json + b")),
        ("m1", "elsewhere/old.neutrality.json", ("baseline", "candidate")),
    ],
)
def test_columns_are_headed_by_what_tells_the_sides_apart(
    model: str, file: str, expected: tuple[str, str]
) -> None:
    """Their models, else their files without folders and what ends both, else their roles."""
    compared: Any = {**metric(), **sides(subject_model=model, file=file)}
    compared["baseline"] = {**compared["baseline"], "file": "results/old.neutrality.json"}
    assert comparing.side_labels(compared) == expected
    assert comparing.metric_rows(compared)[0][1:3] == expected


def test_long_names_of_models_fit_a_narrow_terminal() -> None:
    """Whole, then without the provider; where even that is too wide, by role."""
    names = ["provider/claude-sonnet-4-20250514", "provider/claude-sonnet-4-5-20250929"]
    compared = comparison(model=names[1])
    compared["baseline"]["subject_model"] = names[0]
    short = [name.removeprefix("provider/") for name in names]
    for width, heads in ((200, names), (155, names), (130, short), (80, ["baseline", "candidate"])):
        table = [*comparing.lines(compared, width, shows_all=True)][6:]
        assert table[0].split()[:2] == heads
        assert max(len(line) for line in table if line.startswith((" ", *NAMES, *RATES))) <= width
    compared["candidate"]["subject_model"] = "x" * 60
    (first, *_) = [line for line in comparing.lines(compared, 80) if line.startswith(" ")]
    assert first.split()[:3] == ["baseline", "candidate", "difference"]


def test_a_row_shows_figures_both_intervals_and_p() -> None:
    """A difference with its sign; what is missing is a dash or its reason, and is never shown as zero."""
    intervals = ("+1.24 to +3.76", "-1.23 to +6.23")
    expected = ("overall", "50.00%", "52.50%", "+2.50 pp", *intervals, "0.200", "0.400")
    assert row(metric(), "overall") == expected
    nothing = dict.fromkeys(("before", "after", "value", "low", "high", "p", "p_adjusted"))
    missing = row(metric(**nothing, these={**THESE, **nothing}, reason="no questions"), "overall")
    assert missing == ("overall", "-", "-", "-", "-", "(no questions)", "-", "-")
    points = row(metric(before=-1.0, after=0.5, value=1.5, unit="points"), "overall")
    assert points[1:4] == ("-1.00", "0.50", "+1.50 points")


def test_a_p_is_never_shown_as_nothing() -> None:
    """Three decimals, or smaller than these, or a dash; a star is for p after Holm."""
    texts = {1.0: "1.000", 0.0494: "0.049", 0.001: "0.001", 0.00099: "<0.001", 0.0: "<0.001", None: "-"}
    for p, shown in texts.items():
        assert row(metric(p=p, p_adjusted=p), "overall")[6:] == (shown, shown)
    for adjusted, star in {0.0499: "*", 0.05: "", 0.0: "*", 1.0: "", None: ""}.items():
        compared: Any = {**comparison(), **metric(p=0.0001, p_adjusted=adjusted, unit="points")}
        assert side_by_side([compared])[1][2] == f"52.50 (+2.50{star})"
        (narrow,) = [line for line in comparing.lines(compared, 60) if line.startswith("overall ")]
        assert f"+2.50 points{star} " in narrow


def test_intervals_that_allow_for_looks_say_so() -> None:
    """As those of a candidate whose rounds ended with the gate."""
    compared: Any = {**comparison(), "looks": 4}
    assert "The intervals allow for 4 looks." in [*comparing.lines(compared)]


# The lines.


def test_the_questions_that_moved_stand_below() -> None:
    """What fell, then what rose, each with its means; or that nothing did."""
    before: Runs = {"aa/q1": [5], "aa/q2": [3], "aa/q3": [1], "bb/q1": [3]}
    after: Runs = {"aa/q1": [2], "aa/q3": [2], "aa/q2": [3], "bb/q1": [3], "aa/q0": [1]}
    compared = comparison(before, after)
    points: Any = {**compared, "metrics": metric(unit="points")["metrics"]}
    assert "-75.0 points aa/q1: 100.0 to 25.0 [mismatch]" in words(comparing.lines(points, shows_all=True))
    shown = words(comparing.lines(compared, shows_all=True))
    assert shown[-4:] == [
        "the questions that fell most: [mismatch]",
        "-75.0 pp aa/q1: 100.0% to 25.0% [mismatch]",
        "the questions that rose most: [mismatch]",
        "+25.0 pp aa/q3: 0.0% to 25.0% [mismatch]",
    ]
    assert words(comparing.lines(comparison(AFTER, AFTER), shows_all=True))[-2:] == [
        "none of the questions fell",
        "none of the questions rose",
    ]


# Several candidates.


def side_by_side(comparisons: Sequence[Any]) -> list[tuple[str, ...]]:
    """The table of all metrics that any of them has."""
    names = dict.fromkeys(name for comparison in comparisons for name in comparison["metrics"])
    return comparing.side_by_side_rows(comparisons, [*names])


def test_candidates_stand_side_by_side() -> None:
    """A column each with figure, difference and star, headed by model, file or role; else a dash."""
    comparisons = [comparison(), comparison(after=by_chance(3, 1.5), model="m3")]
    head, *rows = side_by_side(comparisons)
    assert head == ("", "m1", "m2", "m3")
    assert [cells[0] for cells in rows] == NAMES + RATES
    overall = {cells[0]: cells for cells in rows}["overall"]
    assert overall[1] == row(comparisons[0], "overall")[1]
    for cell, part in zip(overall[2:], comparisons, strict=True):
        figures = part["metrics"]["overall"]
        star = "*" if figures.p_adjusted < 0.05 else ""
        assert cell == f"{figures.after:.2f}% ({figures.value:+.2f}{star})"
    assert ["*" in cell for cell in overall[2:]] == [False, True]
    for files, heads in (
        (("one.json", "two.json"), ("m1", "one", "two")),
        (("a/new.json", "b/new.json"), ("baseline", "candidate 1", "candidate 2")),
    ):
        parts = [compare(neutral_side(BEFORE), neutral_side(AFTER, file)).to_json() for file in files]
        assert side_by_side(parts)[0] == ("", *heads)
    narrow = comparison(after={cell: runs for cell, runs in AFTER.items() if cell.startswith("aa")})
    by_metric = {cells[0]: cells for cells in side_by_side([narrow, comparison()])}
    assert {*by_metric} == {"", *NAMES, *RATES}
    assert by_metric["bb"][2] == "-"
    assert by_metric["bb"][1] == row(comparison(), "bb")[1]
    unscored = comparison(after=alike("error", questions=12), before=alike(4, questions=12))
    assert {cells[2] for cells in side_by_side([unscored])[1:7]} == {"-"}


def test_a_difference_from_another_figure_than_the_first_column_names_it() -> None:
    """The baseline's on the cases that this candidate shares; where the table is narrow, on a second line."""
    figures = [(4.551, 20.449), (4.549, 20.451), (0.0, 25.0)]
    parts: list[Any] = [
        {**comparison(), **metric(before=before, after=25.0, value=value, p_adjusted=0.01)}
        for before, value in figures
    ]
    same, other = "25.00% (+20.45*)", "25.00% (+25.00* from 0.00%)"
    assert side_by_side(parts)[1] == ("overall", "4.55%", same, same, other)
    for width, expected in ((200, other), (80, "25.00% (+25.00*")):
        shown = [*comparing.report_lines([{"comparison": part} for part in parts], width)]
        index = next(number for number, line in enumerate(shown) if line.startswith("overall "))
        assert re.split(r" {2,}", shown[index]) == ["overall", "4.55%", same, same, expected]
        assert max(map(len, shown[index - 1 : index + 2])) <= width
        assert (shown[index + 1].split() == ["from", "0.00%)"]) is (width == 80)
    assert any("the figure that the cell names" in line for line in shown)


# The whole report.


def test_several_candidates_are_shown_together_and_on_request_one_by_one() -> None:
    """The gates first, then all candidates side by side."""
    parts: list[Any] = []
    for seed in (2, 3):
        newer = compare(neutral_side(BEFORE), neutral_side(by_chance(seed), subject_model=f"m{seed}"))
        runs = RunCounts(planned=10, left=0, unscored=seed - 2)
        gate = rule_on_all([parse_rule("unscored:1%")], newer, runs)
        parts.append({"comparison": newer.to_json(), "gate": gate})
    shown = words(comparing.report_lines(parts))
    assert shown[:4] == [
        "gate: FAIL; 1 of 20 runs have no score",
        "verdict rules that pass runs without a score",
        "m2 PASS 1 of 1 0 of 10",
        "m3 FAIL 0 of 1 1 of 10",
    ]
    assert shown.index("m1 m2 m3") > shown.index("candidate: m3 (m1.json, 2026-01-02)")
    assert not any("p (Holm)" in line for line in shown)
    whole = words(comparing.report_lines(parts, shows_all=True))
    assert sum("p (Holm)" in line for line in whole) == 2


# Gates.


def test_several_suites_have_a_table() -> None:
    """A suite without rules is told as such; a gate that nobody asked for has not passed."""
    rule = Ruling(rule="overall:-2pp", verdict="pass", why="it rose")
    gate = {"verdict": "pass", "rules": [rule], "planned": 50, "left": 0, "unscored": 2}
    suites: dict[str, Any] = {"x": {"gate": gate}, "z": {}}
    assert words(verdict.lines(suites))[2:4] == ["x PASS 1 of 1 2 of 50", "z no rules - -"]
    suites = {"x": {"gate": {"verdict": "pass", "rules": []}}, "y": {}}
    assert [*verdict.lines(suites)] == []


# What stands in the files.


def test_what_files_say_breaks_no_line() -> None:
    """A line of its own would be a workflow command in Actions."""
    for name in ("subject_model", "subject_system_prompt"):
        compared = comparison(
            AFTER, AFTER, **{"model": "m2", name.replace("subject_model", "model"): "m\n::error::x"}
        )
        assert all(line.isprintable() for line in comparing.lines(compared)), name
