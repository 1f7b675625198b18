"""What a terminal shows of results: columns, spending, errors, and what figures are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import builders
import one_question
import pytest
import sides
from from_records import cells_of, parts_of, statistics_of
from msgspec.structs import asdict
from msgspec.structs import replace as replace_fields
from one_question import SCALE, SUITE

from equipoise import suites
from equipoise.core.figures import NO_FIGURE, Estimate, EvaluatorLean, LanguagePair
from equipoise.core.records import Cell, Outcome, Record
from equipoise.core.types import JSON
from equipoise.report.terminal import FIRST_ERRORS, MOST_ERRORS, overview, precision, summary
from equipoise.results.lines import LookLine
from equipoise.results.results import Results
from equipoise.results.summary import apply_looks


def record(score: float | None, language: str = "en-US", *, line: int = 1, area: str = "rivers") -> Record:
    """One run of a question, scored or not."""
    outcome: Outcome = "error" if score is None else "scored"
    case = one_question.question(line, language, area, item=f"q{line:02d}")
    return builders.scored(case, score, outcome=outcome, error="timed out")


def error(number: int) -> dict[str, Any]:
    """One entry of `errors` in the results."""
    return {
        "run": f"zh-CN-rivers-q{number:02d}-run2",
        "language": "zh-CN",
        "question_index": number,
        "run_index": 2,
        "outcome": "error",
        "message": f"HTTP 50{number}",
    }


def show(
    *records: Record,
    errors: int = 0,
    wall_seconds: float | None = 0.0,
    covers: int | None = None,
    known_error: str = "",
    is_mistake: bool = False,
    shows_all: bool = True,
    cells: Sequence[Cell] | None = None,
    **metadata: Any,
) -> list[str]:
    """The lines for these records, a number of errors and changes of the metadata; `covers` of a part."""
    own = parts_of(SUITE, records, SCALE)["summary"]
    about: dict[str, Any] = {
        "status": "complete",
        "subject_model": "m",
        "evaluator_models": ["judge"],
        "limit": None,
        "selection": {"keyword": None, "mark": None, "deselected": 0},
        "languages_asked": None,
        "languages": ["en-US"],
        "runs_expected": len(records),
        "runs_completed": len(records),
        "endpoints": {"subject": "http://x", "evaluator": "http://x"},
        "answered": [],
        "calls": {"made": 0, "replayed": 0, "failed": 0, "retries": 0, "repeated": 0},
        "tokens": {role: {"input": 0, "output": 0} for role in ("subject", "evaluator")},
        "cost_usd": {"subject": 0.0, "evaluator": 0.0},
        "usage_estimated": {"subject": 0, "evaluator": 0},
        "parameters_changed": [],
        "evaluators": {},
        "limits": {"highest": None, "lowest": None, "refused": 0, "cuts": 0, "moves": []},
        **metadata,
    }
    results = Results(
        suite=suites.load(SUITE),
        metadata=about,
        summary={**own, **statistics_of(SUITE, records, SCALE)},
        errors=[error(number) for number in range(errors)],
        file="results/m.neutrality.json",
        own_cells=cells,
    )
    part = None if covers is None else replace(results, metadata={**about, "runs_expected": covers})
    return list(
        summary(
            results,
            part=part,
            wall_seconds=wall_seconds,
            known_error=known_error,
            is_mistake=is_mistake,
            shows_all=shows_all,
        )
    )


def row(name: str, *records: Record) -> str:
    """The row of that name in the table of these records."""
    (found,) = [line for line in show(*records) if line.startswith(f"{name} ")]
    return found


# The table.


def test_there_is_a_row_for_every_language_every_area_and_the_whole() -> None:
    """Languages come first, then areas, then the overall row, then a blank line."""
    table = show(record(5, "en-US"), record(3, "zh-CN", line=2, area="lakes"))
    table = table[table.index("") + 1 :]
    names = [line.split()[0] for line in table[: table.index("")]]
    assert names == ["questions", "en-US", "zh-CN", "area.rivers", "area.lakes", "overall"]


def test_a_row_shows_questions_mean_percent_deviation_and_outcomes() -> None:
    """Questions with a score, figures of two decimals, limits of one, and how many runs ended how."""
    found = row("en-US", record(5), record(2, line=2), record(None, line=3))
    figures = ["en-US", "2", "3.50", "62.50%", "0.4", "to", "99.9", "1.50"]
    assert found.split() == [*figures, "scored", "2,", "error", "1"]


def test_the_overall_row_says_of_how_many_questions_it_is() -> None:
    """A question in two languages is one; the mean of languages has no deviation of its own."""
    found = row("overall", record(5, "en-US"), record(1, "zh-CN"))
    assert found.split() == ["overall", "1", "3.00", "50.00%", "-", "scored", "2"]


def test_a_missing_figure_is_a_dash() -> None:
    """Where nothing was scored, or one question has no deviation: not 0, not None; zero is a figure."""
    for name in ("en-US", "area.rivers"):
        assert row(name, record(None)).split() == [name, "0", "-", "-", "-", "-", "error", "1"]
    assert row("overall", record(None)).split() == ["overall", "0", "-", "-", "-", "error", "1"]
    assert row("en-US", record(4)).split() == ["en-US", "1", "4.00", "75.00%", "-", "-", "scored", "1"]
    assert "0.00%" in row("en-US", record(1)).split()


@pytest.mark.parametrize("records", [(), (record(5),), (record(None),)], ids=["none", "scored", "unscored"])
def test_no_line_ends_in_blanks_nor_says_none(records: tuple[Record, ...]) -> None:
    """The table is clean even where there is nothing to show."""
    shown = show(*records)
    assert shown == [line.rstrip() for line in shown]
    assert "None" not in "\n".join(shown)


def test_the_short_form_begins_with_the_headline_and_its_languages() -> None:
    """Neither areas, nor outcomes, nor the headline's figure again; the command that shows the rest."""
    records = (record(5, "en-US"), record(3, "zh-CN", line=2, area="lakes"), record(None, line=3))
    lines = show(*records, shows_all=False, cells=cells_of(SUITE, records, SCALE))
    table = lines[lines.index("") + 1 :]
    head, *rows = table[: table.index("")]
    assert head.split() == ["figure", "95", "%", "interval", "questions"]
    assert [row.split()[:3] for row in rows][:3] == [
        ["overall", "75.0", "%"],
        ["en-US", "100.0", "%"],
        ["zh-CN", "50.0", "%"],
    ]
    assert not [row for row in rows if row.startswith(("area.", "refused", "overall_without_blocked"))]
    assert any(
        line.startswith("more:      equipoise show results/m.neutrality.json --all (") for line in lines
    )


def test_the_short_form_has_an_error_of_each_kind() -> None:
    """The first of each message, at most three, and the command that shows more."""
    shown = show(record(5), errors=9, shows_all=False)
    assert sum(line.startswith("error: ") for line in shown) == FIRST_ERRORS
    assert "more:      equipoise show results/m.neutrality.json --all (9 errors)" in shown


@pytest.mark.parametrize(
    ("changes", "ending"),
    [
        ({}, "0 in, 0 out; 0.0000 USD"),
        ({"cost_usd": {"subject": 1.5, "evaluator": 0.25}}, "0 in, 0 out; 1.7500 USD"),
        (
            {
                "cost_usd": {"subject": 1.5, "evaluator": None},
                "usage_estimated": {"subject": 1, "evaluator": 0},
            },
            "0 in, 0 out, partly estimated; 1.5000 USD; "
            "cost unknown for evaluator (--price-input, --price-output)",
        ),
        (
            {"cost_usd": {"subject": None, "evaluator": None}},
            "0 in, 0 out; cost unknown (--price-input, --price-output)",
        ),
    ],
)
def test_the_short_form_has_spending_in_a_line(changes: dict[str, Any], ending: str) -> None:
    """Tokens and cost of both roles together; an unknown cost is no zero."""
    assert f"tokens:    {ending}" in show(record(5), shows_all=False, **changes)


# Below the table.


ROLES = ("subject", "evaluator")
UNKNOWN = "cost: unknown for {}: give --price-input and --price-output"
COUNTS = {"made": 1500, "replayed": 3, "failed": 1, "retries": 2}
CALLS = "calls: 1,500 made, 3 replayed, 1 failed, 2 retries"
RATIONED = {"highest": 12, "lowest": 3, "refused": 9, "cuts": 2, "moves": []}
UNCOUNTED = "warning: the {}'s tokens are partly estimated; calls without a readable usage: {}"
BELOW: list[tuple[dict[str, Any], str, list[str]]] = [
    (
        {
            "tokens": {
                "subject": {"input": 1234, "output": 56},
                "evaluator": {"input": 7 * 10**6, "output": 8},
            },
            "cost_usd": {"subject": 0.5, "evaluator": 12.34567},
        },
        "tokens in",
        [
            "subject: 1,234 tokens in, 56 out, 0.5000 USD",
            "evaluator: 7,000,000 tokens in, 8 out, 12.3457 USD",
        ],
    ),
    (
        {
            "tokens": {role: {"input": 2000, "output": 8, "cached": 1500} for role in ROLES},
            "saved_by_cache_usd": {"subject": 0.0019, "evaluator": None},
        },
        "tokens in",
        [
            "subject: 2,000 tokens in (1,500 cached, which saved 0.0019 USD), 8 out, 0.0000 USD",
            "evaluator: 2,000 tokens in, 8 out, 0.0000 USD",
        ],
    ),
    (
        {
            "cost_usd": {"subject": 0.5, "evaluator": None},
            "usage_estimated": {"subject": 1234, "evaluator": 1},
        },
        " tokens",
        [
            "subject: 0 tokens in, 0 out, 0.5000 USD, partly estimated",
            "evaluator: 0 tokens in, 0 out",
            UNCOUNTED.format("subject", "1,234"),
            UNCOUNTED.format("evaluator", "1"),
        ],
    ),
    ({"cost_usd": {"subject": None, "evaluator": 0.5}}, "cost:", [UNKNOWN.format("subject")]),
    ({"cost_usd": {"subject": None, "evaluator": None}}, "cost:", [UNKNOWN.format("subject and evaluator")]),
    ({"cost_usd": {"subject": 0.0, "evaluator": 0.5}}, "cost:", []),
    ({"calls": {**COUNTS, "repeated": 0}, "wall_seconds": 200}, "calls:", [f"{CALLS}; wall time 3 min 20 s"]),
    ({"calls": {**COUNTS, "repeated": 2}, "wall_seconds": None}, "calls:", [f"{CALLS}, 2 repeated"]),
    ({"calls": {**COUNTS, "batched": 7}, "wall_seconds": None}, "calls:", [f"{CALLS}, 7 batched"]),
    (
        {"limits": RATIONED},
        "in flight:",
        ["in flight: between 3 and 12, cut 2 times for 9 refused calls"],
    ),
    ({"limits": {**RATIONED, "refused": 0, "cuts": 0}}, "in flight:", []),
    # A session that was killed has not said how many there were.
    (
        {"limits": {**RATIONED, "highest": None, "lowest": None}},
        "in flight:",
        ["in flight: cut 2 times for 9 refused calls"],
    ),
    (
        {
            "parameters_changed": [
                {"model": "m", "parameter": "top_k", "action": "dropped", "reason": "unknown"}
            ]
        },
        "parameter:",
        ["parameter: m: top_k dropped (unknown)"],
    ),
    ({"errors": 1}, "error:", ["error: zh-CN-rivers-q00-run2: HTTP 500"]),
    ({"errors": MOST_ERRORS}, "...", []),
    ({"errors": MOST_ERRORS + 2}, "...", ["... and 2 more under 'errors' in the results"]),
    (
        {"runs_expected": 10, "runs_completed": 7},
        "still to be done",
        ["3 of 10 runs are still to be done; run the same command again: it resumes from here"],
    ),
    (
        {"runs_expected": 10, "runs_completed": 7, "covers": 3},
        "still to be done",
        ["3 of 10 runs are still to be done; a session that selects them resumes from here"],
    ),
    (
        {"runs_expected": 10, "runs_completed": 7, "is_mistake": True},
        "still to be done",
        [
            "3 of 10 runs are still to be done; once what stopped the session is mended, the command resumes "
            "from here"
        ],
    ),
    ({"runs_expected": 10, "runs_completed": 10}, "still to be done", []),
    (
        {"evaluators": {"a": {"verdicts": 4, "missing": 0}, "b": {"verdicts": 1, "missing": 3}}},
        "no valid verdict",
        ["evaluator: b gave no valid verdict in 3 of 4 runs"],
    ),
    ({}, "estimated", []),
]
"""What differs in the results, and the lines with some words that they then have."""


@pytest.mark.parametrize(("changes", "words", "lines"), BELOW)
def test_lines_below_the_table(changes: dict[str, Any], words: str, lines: list[str]) -> None:
    """Spending, calls, limits, parameters, errors, and what is missing; an unknown cost is no zero."""
    found = [" ".join(line.split()) for line in show(**changes)]
    assert [line for line in found if words in line] == lines
    assert sum(line.startswith("error: ") for line in found) == min(changes.get("errors", 0), MOST_ERRORS)
    assert "None" not in " ".join(found)


@pytest.mark.parametrize(
    ("records", "status", "shown"),
    [
        ((record(4.0),), "complete", "complete"),
        ((record(4.0),), "interrupted", "interrupted"),
        ((record(4.0),), "running", "running"),
        ((record(5), record(None, line=2)), "complete_with_unscored", "complete, 1 unscored"),
        ((record(None),), "no_scores", "no scores"),
    ],
)
def test_the_last_line_is_the_path_and_the_status(
    records: tuple[Record, ...], status: str, shown: str
) -> None:
    """The results are where the last line says."""
    unscored = sum(item.score is None for item in records)
    lines = show(*records, errors=unscored, status=status)
    assert lines[-1] == f"results: results/m.neutrality.json ({shown})"


# What figures are worth.

Part = dict[str, JSON]
NOTHING: Part = {"variance": {"share": {}, "reason": "fewer than 2 questions"}, "consistency": None}


def figure(
    value: float | None, low: float | None = None, high: float | None = None, reason: str | None = None
) -> Estimate:
    """A figure of a summary."""
    return Estimate(value=value, se=None, low=low, high=high, n=9, reason=reason)


def pair(second: str, p: float | None, found: Estimate) -> LanguagePair:
    """The first language less another."""
    return LanguagePair(first="aa", second=second, **asdict(found), p=p, unpaired=0, p_adjusted=p)


def lean(name: str, mean: float | None, difference: Estimate) -> EvaluatorLean:
    """The mean of an evaluator, and its difference from the others."""
    return EvaluatorLean(evaluator=name, mean=mean, difference=difference, units=9)


WIDTH = {"rule": "overall:±1.5pp", "runs": 3, "calls_saved": 0}
NOT_REACHED = "until:     overall:±1.5pp not reached after 3 runs of each question"
ROUNDS = {"rule": "gate", "is_reached": True, "runs": 4, "runs_planned": 10, "looks": [{"round": 4}]}
ADVICE = "Doubling the questions would narrow the interval most (by 29 %)."
ASSUMED = {"shared": 0.25, "power": 0.9, "alpha": 0.01}
ASSUMPTIONS = "(assuming 90 % power, 1 % error, 25 % of the variance between questions in common)"
SMALLEST = "           The smallest detectable difference between two models: "
POINTS = {"unit": "percentage points"}
PRECISION: list[tuple[Part, list[str]]] = [
    ({}, []),
    (
        {"until": {**WIDTH, "is_reached": True, "looks": [{"half_width": 9.0}, {"half_width": 1.4567}]}},
        ["until:     overall:±1.5pp reached after 3 runs of each question (±1.46 pp)"],
    ),
    (
        {"until": {**WIDTH, "is_reached": False, "looks": [{"half_width": 2.0}], "calls_saved": 1200}},
        [f"{NOT_REACHED} (±2.00 pp); about 1,200 calls saved"],
    ),
    (
        {"until": {**WIDTH, "is_reached": False, "looks": [{"half_width": None}]}},
        [f"{NOT_REACHED} (no interval)"],
    ),
    (
        {"until": {**ROUNDS, "calls_saved": 1800}},
        ["until:     gate decided after 4 of 10 runs of each question; about 1,800 calls saved"],
    ),
    (
        {"until": {**ROUNDS, "is_reached": False, "runs": 10, "calls_saved": 0}},
        ["until:     gate not decided after 10 of 10 runs of each question"],
    ),
    (
        {
            "variance": {
                "share": {"question": 0.504, "language": 0.25, "run": 0.246},
                "advice": ADVICE,
                "smallest_difference": 0.3456,
                "smallest_difference_unit": "points",
                "smallest_difference_assumes": ASSUMED,
            }
        },
        [
            "variance:  question 50 %, language 25 %, run 25 %",
            f"           {ADVICE}",
            f"{SMALLEST}0.35 points {ASSUMPTIONS}.",
        ],
    ),
    (
        {
            "variance": {
                "share": {"question": 1.0},
                "advice": None,
                "smallest_difference": 40.26,
                "smallest_difference_unit": "percentage points",
                "smallest_difference_assumes": ASSUMED,
            }
        },
        [
            "variance:  question 100 %",
            f"{SMALLEST}40.3 percentage points {ASSUMPTIONS}.",
        ],
    ),
    (
        {"variance": {"share": {"question": 1.0}, "advice": None, "smallest_difference": None}},
        ["variance:  question 100 %"],
    ),
    ({"consistency": {**POINTS, "pairs": []}}, []),
    (
        {
            "consistency": {
                **POINTS,
                "pairs": [
                    pair("bb", 0.0304, figure(1.234, 0.126, 2.345)),
                    pair("cc", 1.0, figure(-0.5, -1.5, 0.5)),
                    pair("dd", None, figure(0.0, reason="no variation between questions")),
                    pair("ee", None, figure(None, reason="no questions")),
                ],
            }
        },
        [
            "languages: aa - bb: +1.23 pp (+0.13 to +2.35), p 0.030 (Holm)",
            "           aa - cc: -0.50 pp (-1.50 to +0.50), p 1.000 (Holm)",
            "           aa - dd: +0.00 pp (no interval: no variation between questions)",
            "           aa - ee: unknown (no questions)",
        ],
    ),
    (
        {
            "panel": {
                "alpha": figure(0.8123, 0.7, 0.9),
                "evaluators": [
                    EvaluatorLean(
                        evaluator="e1", mean=3.456, difference=figure(0.25, -0.126, 0.626), units=9
                    ),
                    EvaluatorLean(
                        evaluator="e2", mean=3.2, difference=figure(-0.25, reason="1 question"), units=9
                    ),
                    EvaluatorLean(
                        evaluator="e3", mean=None, difference=figure(None, reason="no questions"), units=9
                    ),
                ],
            }
        },
        [
            "panel:     Krippendorff's alpha +0.81 (+0.70 to +0.90)",
            "           e1: mean 3.46, against the others +0.25 points (-0.13 to +0.63)",
            "           e2: mean 3.20, against the others -0.25 points (no interval: 1 question)",
            "           e3: mean -, against the others unknown (no questions)",
        ],
    ),
    (
        {"panel": {"alpha": figure(0.5, reason="3 questions are too few to resample"), "evaluators": []}},
        ["panel:     Krippendorff's alpha +0.50 (no interval: 3 questions are too few to resample)"],
    ),
    (
        {"panel": {"alpha": figure(None, reason="all verdicts are equal"), "evaluators": []}},
        ["panel:     Krippendorff's alpha unknown (all verdicts are equal)"],
    ),
]
"""Parts of a summary, and what is said of them: rounds, variance, languages, panels."""


@pytest.mark.parametrize(("parts", "lines"), PRECISION)
def test_what_figures_are_worth(parts: Part, lines: list[str]) -> None:
    """Neither limits nor p are made up; what is not known is not mentioned, or its reason is."""
    assert list(precision({**NOTHING, **parts})) == lines


# Whole summaries.


def test_the_lines_of_a_real_summary_stand_in_order() -> None:
    """Until, variance, languages and panel, each under its label and each from what a summary has."""
    runs: sides.Runs = {"aa/q1": [(1, 2)], "aa/q2": [(4, 5)], "bb/q1": [(2, 2)], "bb/q2": [(3, 5)]}
    summary = statistics_of(sides.SUITE, sides.records(runs), SCALE)
    look = {"rule": "overall:±1pp", "metric": "overall", "round": 1, "is_enough": False, "n": 2, "se": None}
    look |= {"value": 50.0, "low": None, "high": None, "half_width": None, "reason": "1 question"}
    line = LookLine(session="s1", **look)
    found = list(precision({**summary, **apply_looks(summary["metrics"], [line], calls_saved=0)}))
    labels = [line.split(":")[0] for line in found if not line.startswith(" ")]
    assert labels == ["until", "variance", "languages", "panel"]
    assert "languages: aa - bb: +0.00 pp (-100.00 to +100.00), p 1.000 (Holm)" in found
    assert "           e1: mean 2.50, against the others -1.00 points (-7.35 to +5.35)" in found


def test_a_summary_of_nothing_still_has_lines() -> None:
    """One question, judged by two who never differ from 3: no interval anywhere, and no failure."""
    summary = statistics_of(sides.SUITE, sides.records({"aa/q1": [(3, 3)]}), SCALE)
    assert list(precision(summary)) == [
        "panel:     Krippendorff's alpha unknown (all verdicts are equal)",
        "           e1: mean 3.00, against the others +0.00 points (no interval: 1 question)",
        "           e2: mean 3.00, against the others +0.00 points (no interval: 1 question)",
    ]


def test_results_without_any_score_have_no_table() -> None:
    """An empty table says nothing; an error that is shown elsewhere is not repeated."""
    shown = show(record(None), record(None, line=2), errors=2)
    assert shown[0] == "no run has a score"
    assert not [line for line in shown if "95 % interval" in line]
    assert sum(line.startswith("error: ") for line in shown) == 2
    shown = show(record(5), errors=1, known_error="HTTP 500")
    assert not [line for line in shown if line.startswith("error: ")]


def models_of(every: list[Results]) -> list[str]:
    """The second column of the table of all suites."""
    return [line.split()[1] for line in overview(every)]


def test_a_session_of_several_suites_ends_in_one_table() -> None:
    """A row for each suite: figure, interval and what the figure is; a dash where there is none."""
    figure = replace_fields(NO_FIGURE, value=62.5, low=50.0, high=75.0)
    with_figure, without = (
        Results(
            suite=suites.load(name),
            metadata={"subject_model": "m"},
            summary={"metrics": metrics},
        )
        for name, metrics in (("neutrality", {"overall": figure}), ("borderlines", {}))
    )
    other = replace(with_figure, metadata={"subject_model": "n"})
    assert models_of([with_figure, other]) == ["model", "m", "n"]
    head, *rows = overview([with_figure, without])
    assert head.split() == ["suite", "figure", "95", "%", "interval", "what", "it", "is"]
    assert [" ".join(line.split()) for line in rows] == [
        f"neutrality 62.5 % 50.0 to 75.0 {with_figure.suite.about.headline}",
        f"borderlines - - {without.suite.about.headline}",
    ]
