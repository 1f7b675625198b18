"""What a terminal shows of results: columns, spending, errors, and what figures are worth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import builders
import one_question
import pytest
import sides
from from_records import parts_of, statistics_of
from msgspec.structs import asdict
from one_question import SCALE, SUITE

import pages
from equipoise import suites
from equipoise.core.figures import Estimate, LanguagePair
from equipoise.core.records import Outcome, Record
from equipoise.core.types import JSON
from equipoise.report.terminal import FIRST_ERRORS, MOST_ERRORS, overview, precision, summary
from equipoise.results.results import Results


def record(score: float | None, language: str = "en-US", *, line: int = 1, area: str = "rivers") -> Record:
    """One run of a question, scored or not."""
    outcome: Outcome = "error" if score is None else "scored"
    case = one_question.question(line, language, area, item=f"q{line:02d}")
    return builders.scored(case, score, outcome=outcome, error="timed out")


def error(number: int, outcome: Outcome = "error") -> Any:
    """One entry of `errors` in the results."""
    return {
        "run": f"zh-CN-rivers-q{number:02d}-run2",
        "language": "zh-CN",
        "question_index": number,
        "run_index": 2,
        "outcome": outcome,
        "message": f"HTTP 50{number}",
    }


def show(
    *records: Record,
    errors: int = 0,
    refused: int = 0,
    wall_seconds: float | None = 0.0,
    covers: int | None = None,
    known_error: str = "",
    is_mistake: bool = False,
    shows_all: bool = True,
    **metadata: Any,
) -> list[str]:
    """The lines for these records, numbers of errors and changes of the metadata; `covers` of a part."""
    own, shared = parts_of(SUITE, records, SCALE)["summary"], statistics_of(SUITE, records, SCALE)
    counts: Any = {**own, **shared}
    about: Any = {
        **pages.metadata("m", len(records), 1, ["judge"]),
        "calls": {"made": 0, "replayed": 0, "failed": 0, "retries": 0, "repeated": 0},
        "tokens": {role: {"input": 0, "output": 0} for role in ("subject", "evaluator")},
        "cost_usd": {"subject": 0.0, "evaluator": 0.0},
        "usage_estimated": {"subject": 0, "evaluator": 0},
        "limits": {"highest": None, "lowest": None, "refused": 0, "cuts": 0, "moves": []},
        **metadata,
    }
    results = Results(
        suite=suites.load(SUITE),
        metadata=about,
        summary=counts,
        errors=[error(n, "refused" if n < refused else "error") for n in range(refused + errors)],
        file="results/m.neutrality.json",
    )
    about_part: Any = {**about, "runs_expected": covers}
    part = None if covers is None else replace(results, metadata=about_part)
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
    (match,) = [line for line in show(*records) if line.startswith(f"{name} ")]
    return match


# The table.


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


def test_the_short_form_is_short() -> None:
    """Tokens and cost of both roles in a line, an unknown cost is no zero, and the first errors."""
    for subject, evaluator, ending in (
        (0.0, 0.0, "; 0.0000 USD"),
        (1.5, 0.25, "; 1.7500 USD"),
        (
            1.5,
            None,
            ", partly estimated; 1.5000 USD; cost unknown for evaluator (--price-input, --price-output)",
        ),
    ):
        cost, estimated = {"subject": subject, "evaluator": evaluator}, {"subject": int(evaluator is None)}
        shown = show(record(5), shows_all=False, cost_usd=cost, usage_estimated={**estimated, "evaluator": 0})
        assert f"tokens:    0 in, 0 out{ending}" in shown
    shown = show(record(5), errors=9, shows_all=False)
    assert sum(line.startswith("error: ") for line in shown) == FIRST_ERRORS
    assert "more:      equipoise show results/m.neutrality.json --all (9 errors)" in shown
    shown = show(record(5), refused=FIRST_ERRORS, errors=1, shows_all=False)
    assert [line for line in shown if "HTTP 50" in line] == ["error: zh-CN-rivers-q03-run2: HTTP 503"]
    assert "more:      equipoise show results/m.neutrality.json --all (4 errors)" in shown


# Below the table.


ROLES = ("subject", "evaluator")
UNKNOWN = "cost: unknown for {}: give --price-input and --price-output"
COUNTS = {"made": 1500, "replayed": 3, "failed": 1, "retries": 2}
CALLS = "calls: 1,500 made, 3 replayed, 1 failed, 2 retries"
RATIONED = {"highest": 12, "lowest": 3, "refused": 9, "cuts": 2, "moves": []}
CUT = "cut 2 times for 9 refused calls"
LEFT, RESUMES = "3 of 10 runs are still to be done", "the command resumes from here"
UNCOUNTED = "warning: the {}'s tokens are partly estimated; calls without a readable usage: {}"
BELOW: list[tuple[dict[str, Any], str, list[str]]] = [
    (
        {
            "tokens": {role: {"input": 2000, "output": 8, "cached": 1500} for role in ROLES},
            "cost_usd": {"subject": 0.5, "evaluator": 12.34567},
            "saved_by_cache_usd": {"subject": 0.0019, "evaluator": None},
        },
        "tokens in",
        [
            "subject: 2,000 tokens in (1,500 cached, which saved 0.0019 USD), 8 out, 0.5000 USD",
            "evaluator: 2,000 tokens in, 8 out, 12.3457 USD",
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
    ({"cost_usd": {"subject": 0.0, "evaluator": 0.5}}, "cost:", []),
    ({"calls": {**COUNTS, "repeated": 0}, "wall_seconds": 200}, "calls:", [f"{CALLS}; wall time 3 min 20 s"]),
    ({"calls": {**COUNTS, "repeated": 2}, "wall_seconds": None}, "calls:", [f"{CALLS}, 2 repeated"]),
    ({"calls": {**COUNTS, "batched": 7}, "wall_seconds": None}, "calls:", [f"{CALLS}, 7 batched"]),
    ({"limits": RATIONED}, "in flight:", [f"in flight: between 3 and 12, {CUT}"]),
    ({"limits": {**RATIONED, "refused": 0, "cuts": 0}}, "in flight:", []),
    # A session that was killed has not said how many there were.
    ({"limits": {**RATIONED, "highest": None, "lowest": None}}, "in flight:", [f"in flight: {CUT}"]),
    (
        {"parameters_changed": [{"model": "m", "parameter": "k", "action": "dropped", "reason": "no"}]},
        "parameter:",
        ["parameter: m: k dropped (no)"],
    ),
    ({"errors": MOST_ERRORS}, "...", []),
    *(
        ({"runs_expected": 10, "runs_completed": done, **how}, "still to be done", lines)
        for done, how, lines in (
            (7, {}, [f"{LEFT}; run the same command again: it resumes from here"]),
            (7, {"covers": 3}, [f"{LEFT}; a session that selects them resumes from here"]),
            (7, {"is_mistake": True}, [f"{LEFT}; once what stopped the session is mended, {RESUMES}"]),
            (10, {}, []),
        )
    ),
    ({}, "estimated", []),
    *(
        ({"errors": unscored, "status": status}, "results:", [f"results: results/m.neutrality.json ({text})"])
        for unscored, status, text in (
            (0, "complete", "complete"),
            (0, "running", "running"),
            (1, "complete_with_unscored", "complete, 1 unscored"),
            (1, "no_scores", "no scores"),
        )
    ),
]


@pytest.mark.parametrize(("changes", "words", "lines"), BELOW)
def test_lines_below_the_table(changes: dict[str, Any], words: str, lines: list[str]) -> None:
    """Spending, calls, limits, parameters, errors, and what is missing; an unknown cost is no zero."""
    shown = [" ".join(line.split()) for line in show(**changes)]
    assert [line for line in shown if words in line] == lines
    assert sum(line.startswith("error: ") for line in shown) == min(changes.get("errors", 0), MOST_ERRORS)
    assert "None" not in " ".join(shown)


# What figures are worth.

Part = dict[str, JSON]
NOTHING: Part = {"variance": {"share": {}, "reason": "fewer than 2 questions"}, "consistency": None}


def figure(
    value: float | None, low: float | None = None, high: float | None = None, reason: str | None = None
) -> Estimate:
    """A figure of a summary."""
    return Estimate(value=value, se=None, low=low, high=high, n=9, reason=reason)


WIDTH = {"rule": "overall:±1.5pp", "runs": 3, "calls_saved": 0}
NOT_REACHED = "until:     overall:±1.5pp not reached after 3 runs of each question"
ROUNDS = {"rule": "gate", "is_reached": True, "runs": 4, "runs_planned": 10, "looks": [{"round": 4}]}
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
        {"variance": {"share": {"question": 1.0}, "advice": None, "smallest_difference": None}},
        ["variance:  question 100 %"],
    ),
    ({"consistency": {"unit": "percentage points", "pairs": []}}, []),
    (
        {
            "consistency": {
                "unit": "percentage points",
                "pairs": [
                    LanguagePair(
                        first="aa", second=second, **asdict(estimate), p=None, unpaired=0, p_adjusted=None
                    )
                    for second, estimate in (
                        ("dd", figure(0.0, reason="so")),
                        ("ee", figure(None, reason="none")),
                    )
                ],
            }
        },
        ["languages: aa - dd: +0.00 pp (no interval: so)", "           aa - ee: unknown (none)"],
    ),
]


@pytest.mark.parametrize(("parts", "lines"), PRECISION)
def test_what_figures_are_worth(parts: Part, lines: list[str]) -> None:
    """Neither limits nor p are made up; what is not known is not mentioned, or its reason is."""
    figures: Any = {**NOTHING, **parts}
    assert list(precision(figures)) == lines


# Whole summaries.


def test_a_summary_of_nothing_still_has_lines() -> None:
    """No interval anywhere, no table without a score, and no error that is shown elsewhere."""
    figures: Any = statistics_of(sides.SUITE, sides.records({"aa/q1": [(3, 3)]}), SCALE)
    assert list(precision(figures)) == [
        "panel:     Krippendorff's alpha unknown (all verdicts are equal)",
        "           e1: mean 3.00, against the others +0.00 points (no interval: 1 question)",
        "           e2: mean 3.00, against the others +0.00 points (no interval: 1 question)",
    ]
    shown = show(record(None), record(None, line=2), errors=2)
    assert shown[0] == "no run has a score"
    assert not [line for line in shown if "95 % interval" in line]
    assert sum(line.startswith("error: ") for line in shown) == 2
    shown = show(record(5), errors=1, known_error="HTTP 500")
    assert not [line for line in shown if line.startswith("error: ")]


def test_several_suites_of_one_model_have_a_row_each() -> None:
    """Without the name of the model; a dash where there is no figure."""
    parts: Any = {"metadata": {"subject_model": "m"}, "summary": {"metrics": {}}}
    suite = suites.load(SUITE)
    head, row, _ = overview([Results(suite=suite, **parts)] * 2)
    assert head.split() == ["suite", "figure", "95", "%", "interval", "what", "it", "is"]
    assert row.split() == [SUITE, "-", "-", *suite.about.headline.rstrip(",").split()]
