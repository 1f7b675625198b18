"""What a terminal shows of results: columns, spending, errors, time spans, and what figures are worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import builders
import pytest
from from_records import parts_of, statistics_of

from conftest import ROOT
from equipoise.core.records import Outcome, Record, Verdict
from equipoise.core.types import JSON
from equipoise.report.terminal import MOST_ERRORS, duration, precision, span, summary
from equipoise.results.summary import with_looks
from equipoise.suites import neutrality
from equipoise.suites.neutrality import table
from equipoise.suites.neutrality.dataset import Question

RUBRIC = neutrality.rubric(ROOT / "rubric" / "neutrality.toml")


def record(score: float | None, language: str = "en-US", *, line: int = 1, area: str = "rivers") -> Record:
    """One run of a question, scored or not."""
    outcome: Outcome = "error" if score is None else "scored"
    case = builders.question(line, language, area, item=f"q{line:02d}")
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
    **metadata: Any,
) -> list[str]:
    """The lines for these records, a number of errors and changes of the metadata; `covers` of a part."""
    own = parts_of("neutrality", records, RUBRIC.scale)["summary"]
    data: dict[str, Any] = {
        "metadata": {
            "status": "complete",
            "evaluator_models": ["judge"],
            "runs_expected": len(records),
            "runs_completed": len(records),
            "calls": {"made": 0, "replayed": 0, "failed": 0, "retries": 0},
            "tokens": {role: {"input": 0, "output": 0} for role in ("subject", "evaluator")},
            "cost_usd": {"subject": 0.0, "evaluator": 0.0},
            "usage_estimated": {"subject": 0, "evaluator": 0},
            "parameters_changed": [],
            "evaluators": {},
            "limits": {"highest": None, "lowest": None, "refused": 0, "cuts": 0, "moves": []},
            **metadata,
        },
        "summary": {**own, **statistics_of("neutrality", records, RUBRIC.scale)},
        "errors": [error(number) for number in range(errors)],
        **({} if covers is None else {"covers": covers}),
    }
    return list(
        summary(
            table(data["summary"]),
            data,
            path="results/m.neutrality.json",
            wall_seconds=wall_seconds,
            known_error=known_error,
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
    names = [line.split()[0] for line in table[: table.index("")]]
    assert names == ["questions", "en-US", "zh-CN", "area.rivers", "area.lakes", "overall"]


def test_a_row_shows_questions_mean_percent_deviation_and_outcomes() -> None:
    """Questions with a score, figures of two decimals, limits of one, and how many runs ended how."""
    found = row("en-US", record(5), record(2, line=2), record(None, line=3))
    figures = ["en-US", "2", "3.50", "62.50%", "0.4", "to", "99.9", "1.50"]
    assert found.split() == [*figures, "scored", "2,", "error", "1"]


def test_the_overall_row_has_neither_questions_nor_deviation() -> None:
    """The whole is a mean of languages: it has no number of questions of its own."""
    found = row("overall", record(5, "en-US"), record(1, "zh-CN"))
    assert found.split() == ["overall", "3.00", "50.00%", "-", "scored", "2"]


def test_a_missing_figure_is_a_dash() -> None:
    """Where nothing was scored, or one question has no deviation: not 0, not None; zero is a figure."""
    for name in ("en-US", "area.rivers"):
        assert row(name, record(None)).split() == [name, "0", "-", "-", "-", "-", "error", "1"]
    assert row("overall", record(None)).split() == ["overall", "-", "-", "-", "error", "1"]
    assert row("en-US", record(4)).split() == ["en-US", "1", "4.00", "75.00%", "-", "-", "scored", "1"]
    assert "0.00%" in row("en-US", record(1)).split()


@pytest.mark.parametrize(
    ("heading", "figures"),
    [("questions", ("1", "10")), ("mean", ("5.00", "1.00")), ("percent", ("100.00%", "0.00%"))],
)
def test_figures_end_under_the_end_of_their_heading(heading: str, figures: tuple[str, str]) -> None:
    """Columns of figures are aligned to the right, however wide names and figures are."""
    head, english, chinese, *_ = show(
        record(5, "en-US"),
        *[record(1, "zh-Hant-long-name", line=n) for n in range(1, 11)],
    )
    end = head.index(heading) + len(heading)
    assert (english[:end].split()[-1], chinese[:end].split()[-1]) == figures
    assert english[end] == chinese[end] == " "


def test_outcomes_begin_under_their_heading() -> None:
    """The last column is aligned to the left."""
    head, *rows = show(record(5, "en-US"), record(None, "zh-CN", area="a_rather_long_area"))
    start = head.index("how runs ended")
    assert [line[start:] for line in rows[: rows.index("")]] == [
        *("scored 1", "error 1"),
        *("scored 1", "error 1"),
        "scored 1, error 1",
    ]


@pytest.mark.parametrize("records", [(), (record(5),), (record(None),)], ids=["none", "scored", "unscored"])
def test_no_line_ends_in_blanks_nor_says_none(records: tuple[Record, ...]) -> None:
    """The table is clean even where there is nothing to show."""
    shown = show(*records)
    assert shown == [line.rstrip() for line in shown]
    assert "None" not in "\n".join(shown)


# Below the table.


def test_spending_is_shown_by_role() -> None:
    """Tokens have thousands separators, money four decimals."""
    shown = show(
        tokens={"subject": {"input": 1234, "output": 56}, "evaluator": {"input": 7_000_000, "output": 8}},
        cost_usd={"subject": 0.5, "evaluator": 12.34567},
    )
    assert "subject:   1,234 tokens in, 56 out, 0.5000 USD" in shown
    assert "evaluator: 7,000,000 tokens in, 8 out, 12.3457 USD" in shown


def test_cached_prompt_tokens_and_calls_in_batches_are_told() -> None:
    """What they saved, where that is known, and how many calls came in batches."""
    shown = show(
        record(5),
        tokens={role: {"input": 2000, "output": 8, "cached": 1500} for role in ("subject", "evaluator")},
        saved_by_cache_usd={"subject": 0.0019, "evaluator": None},
        calls={"made": 9, "replayed": 0, "failed": 0, "retries": 0, "batched": 7},
    )
    assert "subject:   2,000 tokens in (1,500 cached, which saved 0.0019 USD), 8 out, 0.0000 USD" in shown
    assert "evaluator: 2,000 tokens in, 8 out, 0.0000 USD" in shown
    assert any(
        line.startswith("calls:     9 made, 0 replayed, 0 failed, 0 retries, 7 batched") for line in shown
    )


def test_an_unknown_cost_is_said_once(subtests: pytest.Subtests) -> None:
    """Never shown as zero; the other role keeps its own, and it says what to do."""
    for subject, evaluator, told in (
        (None, 0.5, ["cost: unknown for subject: give --price-input and --price-output"]),
        (None, None, ["cost: unknown for subject and evaluator: give --price-input and --price-output"]),
        (0.0, 0.5, []),
    ):
        with subtests.test(subject=subject, evaluator=evaluator):
            shown = show(cost_usd={"subject": subject, "evaluator": evaluator})
            assert [" ".join(line.split()) for line in shown if "unknown" in line] == told
            priced = [line.partition(":")[0] for line in shown if line.endswith(" USD")]
            known = {"subject": subject, "evaluator": evaluator}
            assert priced == [role for role, cost in known.items() if cost is not None]


def test_calls_and_time_are_shown() -> None:
    """Calls that were made, replayed and repeated are told apart."""
    counts = {"made": 1500, "replayed": 3, "failed": 1, "retries": 2}
    shown = show(calls={**counts, "repeated": 0}, wall_seconds=200)
    assert "calls:     1,500 made, 3 replayed, 1 failed, 2 retries; wall time 3 min 20 s" in shown
    shown = show(calls={**counts, "repeated": 2}, wall_seconds=200)
    assert "calls:     1,500 made, 3 replayed, 1 failed, 2 retries, 2 repeated; wall time 3 min 20 s" in shown


def test_a_time_that_nobody_measured_is_not_shown() -> None:
    """Results that are made of a journal later say nothing of how long it took."""
    shown = show(calls={"made": 1, "replayed": 0, "failed": 0, "retries": 0}, wall_seconds=None)
    assert "calls:     1 made, 0 replayed, 0 failed, 0 retries" in shown


@pytest.mark.parametrize(
    ("limits", "line"),
    [
        (
            {"highest": 12, "lowest": 3, "refused": 9, "cuts": 2},
            "in flight: between 3 and 12, cut 2 times for 9 refused calls",
        ),
        ({"highest": 12, "lowest": 8, "refused": 0, "cuts": 0}, None),
        ({"highest": None, "lowest": None, "refused": 0, "cuts": 0}, None),
    ],
    ids=["cut", "never_cut", "not_known"],
)
def test_a_limit_that_was_cut_is_shown(limits: dict[str, Any], line: str | None) -> None:
    """Where endpoints refused calls it is told how often, and how many calls were in flight at once."""
    shown = [found for found in show(limits={**limits, "moves": []}) if found.startswith("in flight:")]
    assert shown == ([] if line is None else [line])


def test_a_limit_of_a_session_that_was_killed_is_shown() -> None:
    """A session that could not say how many calls were in flight still tells how often they were cut."""
    limits: dict[str, Any] = {"highest": None, "lowest": None, "refused": 0, "cuts": 2, "moves": []}
    (line,) = [found for found in show(limits=limits) if found.startswith("in flight:")]
    assert "cut 2 times" in line
    assert "None" not in line


def test_parameters_that_an_endpoint_did_not_take_are_shown() -> None:
    """A dropped or renamed parameter is told with its reason."""
    change = {"model": "m", "parameter": "top_k", "action": "dropped", "reason": "unknown"}
    assert "parameter: m: top_k dropped (unknown)" in show(parameters_changed=[change])


def test_errors_are_shown_with_their_place() -> None:
    """An error says which question and run it belongs to."""
    assert "error: zh-CN-rivers-q00-run2: HTTP 500" in show(errors=1)


@pytest.mark.parametrize(
    ("errors", "rest"),
    [(MOST_ERRORS, []), (MOST_ERRORS + 2, ["... and 2 more under 'errors' in the results"])],
    ids=["just_all", "too_many"],
)
def test_many_errors_are_cut_and_counted(errors: int, rest: list[str]) -> None:
    """The first ten errors are shown and the others counted."""
    shown = show(errors=errors)
    assert sum(line.startswith("error: ") for line in shown) == MOST_ERRORS
    assert [line for line in shown if line.startswith("...")] == rest


@pytest.mark.parametrize(("done", "told"), [(7, ["3 of 10"]), (10, [])], ids=["some", "none"])
def test_missing_runs_are_told(done: int, told: list[str]) -> None:
    """Runs without a record are counted, and only where there are any."""
    shown = show(runs_expected=10, runs_completed=done)
    assert [line.split(" runs")[0] for line in shown if "still to be done" in line] == told


def test_missing_runs_are_told_with_what_to_type() -> None:
    """The same command, unless it was to ask a part only."""
    (whole,) = (line for line in show(runs_expected=10, runs_completed=7) if "still to be done" in line)
    assert whole.endswith("; run the same command again: it resumes from here")
    shown = show(runs_expected=10, runs_completed=7, covers=3)
    told = [line for line in shown if "still to be done" in line]
    assert told == ["3 of 10 runs are still to be done; a session that selects them resumes from here"]


@pytest.mark.parametrize("status", ["complete", "interrupted", "running"])
def test_the_last_line_is_the_path_and_the_status(status: str) -> None:
    """The results are where the last line says."""
    assert show(record(4.0), status=status)[-1] == f"results: results/m.neutrality.json ({status})"


@pytest.mark.parametrize("status", ["no_scores", "interrupted"])
def test_results_without_any_score_say_so(status: str) -> None:
    """Those of earlier versions, too, which called them interrupted."""
    lines = show(record(None), errors=1, status=status)
    assert lines[-1] == "results: results/m.neutrality.json (no scores)"


# Time spans.


def test_a_duration_is_given_in_its_two_largest_units() -> None:
    """A tenth of a second below ten seconds, then seconds, minutes, hours."""
    spans = [
        (0, "0.0 s"),
        (0.04, "0.0 s"),
        (3.14, "3.1 s"),
        (10, "10 s"),
        (42.4, "42 s"),
        (59.4, "59 s"),
        (59.7, "1 min 00 s"),
        (60, "1 min 00 s"),
        (65, "1 min 05 s"),
        (200, "3 min 20 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h 00 min"),
        (3600, "1 h 00 min"),
        (7500, "2 h 05 min"),
        (90000, "25 h 00 min"),
    ]
    assert [(seconds, duration(seconds)) for seconds, _ in spans] == spans


def test_an_evaluator_without_verdicts_is_named() -> None:
    """A member of a panel that gives no verdict is told of, also where the others stand in for it."""
    evaluators = {"a": {"verdicts": 4, "missing": 0}, "b": {"verdicts": 1, "missing": 3}}
    shown = show(record(4), evaluators=evaluators)
    assert "evaluator: b gave no valid verdict in 3 of 4 runs" in shown
    assert not any(line.startswith("evaluator: a gave") for line in shown)


def test_estimated_tokens_are_a_warning() -> None:
    """The cost that they are part of is marked, and it says how many calls these were."""
    shown = show(
        cost_usd={"subject": 0.5, "evaluator": None},
        usage_estimated={"subject": 1234, "evaluator": 1},
    )
    assert "subject:   0 tokens in, 0 out, 0.5000 USD, partly estimated" in shown
    assert "evaluator: 0 tokens in, 0 out" in shown
    for role, count in (("subject", "1,234"), ("evaluator", "1")):
        told = f"the {role}'s tokens are partly estimated; calls without a readable usage: {count}"
        assert f"warning:   {told}" in shown
    assert not any("estimated" in line for line in show())


# What figures are worth.

Part = dict[str, JSON]
NOTHING: Part = {"variance": {"share": {}, "reason": "fewer than 2 questions"}, "consistency": None}
SCALE = RUBRIC.scale


def figure(
    value: float | None, low: float | None = None, high: float | None = None, reason: str | None = None
) -> Part:
    """A figure of a summary."""
    return {"value": value, "se": None, "low": low, "high": high, "n": 9, "reason": reason}


def shown(**parts: JSON) -> list[str]:
    """The lines of a summary with these parts."""
    return list(precision({**NOTHING, **parts}))


def test_where_nothing_is_known_nothing_is_said() -> None:
    """One question in one language, judged by one evaluator, is worth no line."""
    assert shown() == []


# Rounds.


@pytest.mark.parametrize(
    ("is_reached", "half_width", "line"),
    [
        (True, 1.4567, "until:     overall:±1.5pp reached after 3 runs of each question (±1.46 pp)"),
        (False, 2.0, "until:     overall:±1.5pp not reached after 3 runs of each question (±2.00 pp)"),
        (False, None, "until:     overall:±1.5pp not reached after 3 runs of each question (no interval)"),
    ],
)
def test_a_width_was_reached_or_not(is_reached: bool, half_width: float | None, line: str) -> None:
    """After how many runs, and how narrow the last look was, of several."""
    looks = [{"half_width": 9.0}, {"half_width": half_width}]
    until = {"rule": "overall:±1.5pp", "is_reached": is_reached, "runs": 3, "looks": looks}
    assert shown(until=until) == [line]
    assert shown(until={**until, "calls_saved": 1200}) == [f"{line}; about 1,200 calls saved"]


def test_a_gate_was_decided_or_not() -> None:
    """After how many of the rounds that were planned, and what the others would have cost."""
    until = {"rule": "gate", "is_reached": True, "runs": 4, "runs_planned": 10, "looks": [{"round": 4}]}
    assert shown(until={**until, "calls_saved": 1800}) == [
        "until:     gate decided after 4 of 10 runs of each question; about 1,800 calls saved"
    ]
    assert shown(until={**until, "is_reached": False, "runs": 10, "calls_saved": 0}) == [
        "until:     gate not decided after 10 of 10 runs of each question"
    ]


# Variance.


def test_where_the_variance_lies_with_advice() -> None:
    """Whole percent of each component, the advice as it is, the smallest difference in points."""
    variance = {
        "share": {"question": 0.504, "language": 0.25, "run": 0.246},
        "advice": "Doubling the questions would narrow the interval most (by 29 %).",
        "smallest_difference": 0.3456,
    }
    assert shown(variance=variance) == [
        "variance:  question 50 %, language 25 %, run 25 %",
        "           Doubling the questions would narrow the interval most (by 29 %).",
        "           The smallest detectable difference between two models: 0.35 points.",
    ]


def test_the_smallest_difference_names_what_it_assumes() -> None:
    """What a design can see depends on it: power, error, and what two models have in common."""
    assumed = {"shared": 0.25, "power": 0.9, "alpha": 0.01}
    variance = {
        "share": {"question": 1.0},
        "smallest_difference": 0.5,
        "smallest_difference_assumes": assumed,
    }
    assert shown(variance=variance)[1] == (
        "           The smallest detectable difference between two models: 0.50 points "
        "(assuming 90 % power, 1 % error, 25 % of the variance between questions in common)."
    )


@pytest.mark.parametrize(
    "more", [{}, {"advice": None, "smallest_difference": None}], ids=["left_out", "null"]
)
def test_variance_without_advice_is_one_line(more: Part) -> None:
    """What is not known is not mentioned."""
    assert shown(variance={"share": {"question": 1.0}, **more}) == ["variance:  question 100 %"]


# Languages.


def pair(second: str, p: float | None, **found: JSON) -> Part:
    """The first language less another."""
    return {"first": "aa", "second": second, **found, "p_adjusted": p}


def test_each_pair_of_languages_has_a_line_under_one_label() -> None:
    """Signed difference and limits in points, and the adjusted p."""
    found = {
        "unit": "percentage points",
        "pairs": [
            pair("bb", 0.0304, **figure(1.234, 0.126, 2.345)),
            pair("cc", 1.0, **figure(-0.5, -1.5, 0.5)),
        ],
    }
    assert shown(consistency=found) == [
        "languages: aa - bb: +1.23 pp (+0.13 to +2.35), p 0.030 (Holm)",
        "           aa - cc: -0.50 pp (-1.50 to +0.50), p 1.000 (Holm)",
    ]


def test_a_pair_without_an_interval_says_why() -> None:
    """Neither limits nor p are made up; without a common question there is no difference at all."""
    found = {
        "unit": "percentage points",
        "pairs": [
            pair("bb", None, **figure(0.0, reason="no variation between questions")),
            pair("cc", None, **figure(None, reason="no questions")),
        ],
    }
    assert shown(consistency=found) == [
        "languages: aa - bb: +0.00 pp (no interval: no variation between questions)",
        "           aa - cc: unknown (no questions)",
    ]


def test_without_pairs_there_is_no_line() -> None:
    """No language had a valid run."""
    assert shown(consistency={"unit": "percentage points", "pairs": []}) == []


# Panels.


def test_how_a_panel_agrees_and_leans() -> None:
    """Alpha has no unit; each evaluator has its mean and how far it is from the others."""
    panel = {
        "alpha": figure(0.8123, 0.7, 0.9),
        "evaluators": [
            {"evaluator": "e1", "mean": 3.456, "difference": figure(0.25, -0.126, 0.626)},
            {"evaluator": "e2", "mean": 3.2, "difference": figure(-0.25, reason="1 question")},
            {"evaluator": "e3", "mean": None, "difference": figure(None, reason="no questions")},
        ],
    }
    assert shown(panel=panel) == [
        "panel:     Krippendorff's alpha +0.81 (+0.70 to +0.90)",
        "           e1: mean 3.46, against the others +0.25 points (-0.13 to +0.63)",
        "           e2: mean 3.20, against the others -0.25 points (no interval: 1 question)",
        "           e3: mean -, against the others unknown (no questions)",
    ]


@pytest.mark.parametrize(
    ("alpha", "said"),
    [
        (figure(0.5, reason="3 questions are too few to resample"),
         "+0.50 (no interval: 3 questions are too few to resample)"),
        (figure(None, reason="all verdicts are equal"), "unknown (all verdicts are equal)"),
    ],
)  # fmt: skip
def test_an_alpha_without_an_interval_says_why(alpha: Mapping[str, JSON], said: str) -> None:
    """As any other figure."""
    found = shown(panel={"alpha": alpha, "evaluators": []})
    assert found == [f"panel:     Krippendorff's alpha {said}"]


# Whole summaries.


def records(scores: Mapping[tuple[str, int], tuple[int, int]]) -> list[Record]:
    """One run of each question in each language, judged by two evaluators."""
    return [
        Record(
            case=Question(
                id=f"{language}-q{question}",
                language=language,
                area="x",
                item=f"q{question}",
                index=question,
                question="Why?",
            ).to_json(),
            run=1,
            outcome="scored",
            score=sum(given) / 2,
            percent=SCALE.percent(sum(given) / 2),
            verdicts=tuple(
                Verdict(evaluator=name, fields={"score": score}, attempts=1)
                for name, score in zip(("e1", "e2"), given, strict=True)
            ),
        )
        for (language, question), given in scores.items()
    ]


def test_the_lines_of_a_real_summary_stand_in_order() -> None:
    """Until, variance, languages and panel, each under its label and each from what a summary has."""
    scores = {("aa", 1): (1, 2), ("aa", 2): (4, 5), ("bb", 1): (2, 2), ("bb", 2): (3, 5)}
    summary = statistics_of("neutrality", records(scores), SCALE)
    look = {"rule": "overall:±1pp", "metric": "overall", "round": 1, "is_enough": False, "n": 2, "se": None}
    look |= {"value": 50.0, "low": None, "high": None, "half_width": None, "reason": "1 question"}
    found = list(precision({**summary, **with_looks(summary["metrics"], [look])}))
    labels = [line.split(":")[0] for line in found if not line.startswith(" ")]
    assert labels == ["until", "variance", "languages", "panel"]
    assert "languages: aa - bb: +0.00 pp (-100.00 to +100.00), p 1.000 (Holm)" in found
    assert "           e1: mean 2.50, against the others -1.00 points (-7.35 to +5.35)" in found


def test_a_summary_of_nothing_still_has_lines() -> None:
    """One question, judged by two who never differ from 3: no interval anywhere, and no failure."""
    summary = statistics_of("neutrality", records({("aa", 1): (3, 3)}), SCALE)
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


def test_all_runs_done_but_some_without_a_score() -> None:
    """Complete, and how many are unscored."""
    shown = show(record(5), record(None, line=2), errors=1, status="complete_with_unscored")
    assert shown[-1] == "results: results/m.neutrality.json (complete, 1 unscored)"


def test_a_range_of_durations_is_short() -> None:
    """In whole numbers of one unit if both have the same."""
    spans = [
        ((0.2, 3.4), "0 to 3 s"),
        ((4.6, 5.4), "5 s"),
        ((40.0, 89.0), "40 to 89 s"),
        ((40.0, 180.0), "40 s to 3 min"),
        ((100.0, 5000.0), "2 to 83 min"),
        ((300.0, 7200.0), "5 min to 2 h"),
        ((7200.0, 180_000.0), "2 to 50 h"),
    ]
    assert [(ends, span(*ends)) for ends, _ in spans] == spans
