"""Grades of short answers and their metrics: shares, calibration, best of several tries. Pure.

With A correct, B incorrect and C not attempted of n: CO = A/n, IN = B/n, NA = C/n, CGA = A/(A+B), and F the
harmonic mean of CO and CGA, 2A/(2n-C) (He and others 2024, Chinese SimpleQA).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from equipoise.core.types import JSON
from equipoise.stats import mean

CORRECT, INCORRECT, NOT_ATTEMPTED = "A", "B", "C"
GRADES = (CORRECT, INCORRECT, NOT_ATTEMPTED)
_TIE_ORDER = (INCORRECT, NOT_ATTEMPTED, CORRECT)
"""The order of precedence in a tie."""
GRADE_SCORES: Mapping[str, float] = {CORRECT: 2.0, NOT_ATTEMPTED: 1.0, INCORRECT: 0.0}
"""The score of each grade."""
BINS = 10
"""The number of bins of stated confidence."""


def five_metrics(correct: float, incorrect: float, not_attempted: float) -> dict[str, float | None]:
    """CO, IN, NA, CGA and F in percent, 0 to 100; all None if there is no answer.

    CGA and F are 0 if nothing was attempted.
    """
    n, attempted = correct + incorrect + not_attempted, correct + incorrect
    if not n:
        return dict.fromkeys(("correct", "incorrect", "not_attempted", "correct_given_attempted", "f"))
    return {
        "correct": 100 * correct / n,
        "incorrect": 100 * incorrect / n,
        "not_attempted": 100 * not_attempted / n,
        "correct_given_attempted": 100 * correct / attempted if attempted else 0.0,
        "f": 200 * correct / (2 * n - not_attempted) if attempted else 0.0,
    }


def majority_grade(grades: Sequence[str]) -> str | None:
    """The grade that most evaluators gave, the first of them in _TIE_ORDER; None without grades."""
    return max(_TIE_ORDER, key=grades.count) if grades else None


def best_of(outcomes: Sequence[Sequence[bool]], runs: int) -> list[dict[str, JSON]]:
    """The share of questions with a correct answer among k tries, for each k up to `runs`, in percent.

    `outcomes` says for each question which of its answers, in order, are correct. `prefix` takes the first k
    answers; `unbiased` is the mean of 1 - C(n-c, k) / C(n, k), with n answers of which c are correct. Only
    questions with at least k answers count.
    """
    curve: list[dict[str, JSON]] = []
    for k in range(1, runs + 1):
        enough = [answers for answers in outcomes if len(answers) >= k]
        curve.append(
            {
                "tries": k,
                "questions": len(enough),
                "prefix": mean([100.0 * any(answers[:k]) for answers in enough]),
                "unbiased": mean(
                    [100.0 * _chance_of_correct(len(answers), sum(answers), k) for answers in enough]
                ),
            }
        )
    return curve


def _chance_of_correct(n: int, correct: int, k: int) -> float:
    """The probability that k of n answers, drawn without replacement, include a correct one."""
    return 1 - math.comb(n - correct, k) / math.comb(n, k)


def in_percent(stated: Sequence[float | None]) -> list[float | None]:
    """Stated confidences in percent, the unit that was asked for; None if unknown.

    If no confidence is above 1, all are taken as shares of 1. Otherwise a fraction below 1 may be a share or
    a percentage, so it is unknown.
    """
    known = [value for value in stated if value is not None]
    if known and max(known) <= 1:
        return [None if value is None else 100 * value for value in stated]
    return [None if value is None or 0 < value < 1 else value for value in stated]


def calibration(answers: Sequence[tuple[float, bool]]) -> dict[str, JSON]:
    """Mean confidence and accuracy, both 0 to 100, of all answers and in ten bins, closed on the left.

    `answers` are pairs of the stated confidence, 0 to 100, and whether the answer is correct. The last bin
    also includes 100. `ece` is the expected calibration error: the mean distance between confidence and
    accuracy over the bins, weighted by their numbers of answers, in percentage points.
    """
    rows = []
    for low, high in pairwise(range(0, 101, 100 // BINS)):
        inside = [pair for pair in answers if low <= pair[0] < high or pair[0] == high == 100]
        rows.append({"low": low, "high": high, **_bin(inside)})
    gaps = [row["n"] * abs(row["confidence"] - row["accuracy"]) for row in rows if row["n"]]
    return {"bins": rows, **_bin(answers), "ece": math.fsum(gaps) / len(answers) if answers else None}


def _bin(answers: Sequence[tuple[float, bool]]) -> dict[str, JSON]:
    return {
        "n": len(answers),
        "confidence": mean([confidence for confidence, _ in answers]),
        "accuracy": mean([100.0 * is_correct for _, is_correct in answers]),
    }
