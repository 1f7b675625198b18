"""What a terminal says that figures are worth, part by part."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conftest import ROOT
from equipoise import suites
from equipoise.records import Record, Verdict
from equipoise.suites import neutrality
from equipoise.topics import Question
from equipoise.types import JSON
from equipoise.uncertainty import looked, summarise
from equipoise.worth import lines

Part = dict[str, JSON]
NOTHING: Part = {"variance": {"share": {}, "reason": "fewer than 2 questions"}, "consistency": None}
RUBRIC = neutrality.rubric(ROOT / "rubric" / "neutrality.toml")
SCALE = RUBRIC.scale


def figure(
    value: float | None, low: float | None = None, high: float | None = None, reason: str | None = None
) -> Part:
    """A figure of a summary."""
    return {"value": value, "se": None, "low": low, "high": high, "n": 9, "reason": reason}


def shown(**parts: JSON) -> list[str]:
    """The lines of a summary with these parts."""
    return list(lines({**NOTHING, **parts}))


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
        "           The smallest difference of two models that it can see: 0.35 points.",
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
        "           The smallest difference of two models that it can see: 0.50 points "
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
        "languages: aa less bb: +1.23 pp (+0.13 to +2.35), p 0.030 (Holm)",
        "           aa less cc: -0.50 pp (-1.50 to +0.50), p 1.000 (Holm)",
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
        "languages: aa less bb: +0.00 pp (no interval: no variation between questions)",
        "           aa less cc: unknown (no questions)",
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
    summary = summarise(
        suites.load("neutrality"), neutrality.aggregate(records(scores), RUBRIC).results, SCALE
    )
    look = {"rule": "overall:±1pp", "metric": "overall", "round": 1, "is_enough": False, "n": 2, "se": None}
    look |= {"value": 50.0, "low": None, "high": None, "half_width": None, "reason": "1 question"}
    found = list(lines({**summary, **looked(summary["metrics"], [look])}))
    labels = [line.split(":")[0] for line in found if not line.startswith(" ")]
    assert labels == ["until", "variance", "languages", "panel"]
    assert "languages: aa less bb: +0.00 pp (-100.00 to +100.00), p 1.000 (Holm)" in found
    assert "           e1: mean 2.50, against the others -1.00 points (-7.35 to +5.35)" in found


def test_a_summary_of_nothing_still_has_lines() -> None:
    """One question, judged by two who never differ from 3: no interval anywhere, and no failure."""
    summary = summarise(
        suites.load("neutrality"), neutrality.aggregate(records({("aa", 1): (3, 3)}), RUBRIC).results, SCALE
    )
    assert list(lines(summary)) == [
        "panel:     Krippendorff's alpha unknown (all verdicts are equal)",
        "           e1: mean 3.00, against the others +0.00 points (no interval: 1 question)",
        "           e2: mean 3.00, against the others +0.00 points (no interval: 1 question)",
    ]
