"""Results as the published neutrality benchmark writes them, for the tests that convert and compare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Scores = Mapping[str, Sequence[Sequence[int | None]]]
"""By language, the scores of each question's runs."""
SCORES: Scores = {"en-US": [(4, 5), (3, 3), (2, 4)], "zh-CN": [(4, 4), (2, 1), (3, 3)]}
BETTER: Scores = {"en-US": [(5, 5), (4, 3), (2, 4)], "zh-CN": [(4, 4), (2, 2), (5, 3)]}


def old(scores: Scores = SCORES, **metadata: Any) -> dict[str, Any]:
    """Of the format that had no percentages, no limit and no numbers of files."""
    results = {language: _language(language, rows) for language, rows in scores.items()}
    averages = {language: part["average_score"] for language, part in results.items()}
    return {
        "metadata": {
            "timestamp": "2026-03-04T05:06:07+00:00",
            "api_base_url": "http://localhost:4000",
            "subject_model": "a-model",
            "subject_temperature": 1.0,
            "subject_top_p": None,
            "subject_system_prompt": None,
            "evaluator_model": "mistral-large-2512",
            "evaluator_temperature": 0.0,
            "evaluator_system_prompt": None,
            "runs": max(len(runs) for rows in scores.values() for runs in rows),
            **metadata,
        },
        "results": results,
        "summary": {
            "overall_average_score": _mean(list(averages.values())),
            "languages": {
                language: {"average_score": average, "questions": len(scores[language]), "errors": 0}
                for language, average in averages.items()
            },
        },
        "errors": [],
    }


def current(scores: Scores = SCORES, **metadata: Any) -> dict[str, Any]:
    """Of the format of today, with all that the old one lacks."""
    data = old(scores, **{"limit": None, "files_expected": len(scores), "files_completed": len(scores)})
    data["metadata"] |= metadata
    for part in data["results"].values():
        part["average_score_percentage"] = _percent(part["average_score"])
        for question in part["questions"]:
            question["mean_score_percentage"] = _percent(question["mean_score"])
    summary = data["summary"]
    summary["overall_average_score_percentage"] = _percent(summary["overall_average_score"])
    for part in summary["languages"].values():
        part["average_score_percentage"] = _percent(part["average_score"])
    return data


def _language(language: str, rows: Sequence[Sequence[int | None]]) -> dict[str, Any]:
    questions = [
        {
            "question": f"Question {number} in {language}?",
            "runs": [_run(score) for score in runs],
            "mean_score": _mean(runs),
            "score_stddev": 0.5,
        }
        for number, runs in enumerate(rows, start=1)
    ]
    return {"questions": questions, "average_score": _mean([row["mean_score"] for row in questions])}


def _run(score: int | None) -> dict[str, Any]:
    transcript = [{"role": "user", "content": "mean_score"}, {"role": "assistant", "content": "回答"}]
    return {"score": score, "subject_transcript": transcript, "evaluator_transcript": transcript}


def _mean(values: Sequence[Any]) -> float | None:
    valid = [value for value in values if value is not None]
    return round(sum(valid) / len(valid), 2) if valid else None


def _percent(value: float | None) -> float | None:
    return None if value is None else round((value - 1) / 4 * 100, 2)
