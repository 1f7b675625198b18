"""Summaries of Chinese SimpleQA results, besides metrics with intervals. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from equipoise.core.records import Record, Verdict
from equipoise.core.types import JSON
from equipoise.suites.chinese_simpleqa.dataset import LETTERS
from equipoise.suites.chinese_simpleqa.scoring import CORRECT, GRADES, best_of, calibration, shares

Questions = Sequence[Mapping[str, JSON]]


def about(case: Mapping[str, JSON]) -> dict[str, JSON]:
    """The fields of a question in the results, besides its runs."""
    names = ("item", "topic", "subtopic", "kind", "question", "accepted", "options")
    return {"id": case["id"], **{name: case[name] for name in names}}


def run(record: Record) -> dict[str, JSON]:
    """One run of a question in the results."""
    told = record.details
    return {
        "run_index": record.run,
        "outcome": record.outcome,
        "score": record.score,
        "error": record.error,
        "grade": told.get("grade"),
        "exact": told.get("exact"),
        "other_language": told.get("other_language"),
        **{name: told[name] for name in ("chosen", "confidence", "passages") if name in told},
        "verdicts": [_verdict(verdict) for verdict in record.verdicts],
        "subject_transcript": record.subject_transcript,
        "evaluator_transcripts": record.evaluator_transcripts,
    }


def _verdict(verdict: Verdict) -> dict[str, JSON]:
    fields = verdict.fields or {}
    found = {
        "evaluator": verdict.evaluator,
        "grade": fields.get("grade"),
        "how": fields.get("how"),
        "attempts": verdict.attempts,
    }
    return found if verdict.error is None else {**found, "error": verdict.error}


# All questions.


def _grades(questions: Questions) -> list[str]:
    return [run["grade"] for row in questions for run in row["runs"] if run["grade"] is not None]


def figures(questions: Questions) -> dict[str, JSON]:
    """The number of graded answers, and their shares."""
    grades = _grades(questions)
    counts = [grades.count(grade) for grade in GRADES]
    return {"n": len(grades), **shares(*counts)}


def by(group: str, questions: Questions) -> dict[str, JSON]:
    """The same figures by topic, subtopic or kind of answer."""
    names = dict.fromkeys(row[group] for row in questions if row[group] is not None)
    return {name: figures([row for row in questions if row[group] == name]) for name in names}


def grading(questions: Questions) -> dict[str, JSON]:
    """How grades were read, and each evaluator's own figures."""
    given = [item for row in questions for run in row["runs"] for item in run["verdicts"] if item["grade"]]
    by_evaluator: dict[str, list[str]] = {}
    for item in given:
        by_evaluator.setdefault(item["evaluator"], []).append(item["grade"])
    return {
        "grades_read": {
            how: sum(item["how"] == how for item in given) for how in ("strict", "probabilities")
        },
        "evaluators_alone": {
            name: {"n": len(grades), **shares(*(grades.count(grade) for grade in GRADES))}
            for name, grades in by_evaluator.items()
        },
    }


def studies(questions: Questions) -> dict[str, JSON]:
    """Calibration if confidence was asked for; best of several runs; the letters of choices."""
    runs = [run for row in questions for run in row["runs"]]
    found: dict[str, JSON] = {}
    if any("confidence" in run for run in runs):
        graded = [run for run in runs if run["grade"] is not None]
        pairs = [
            (run["confidence"], run["grade"] == CORRECT)
            for run in graded
            if run.get("confidence") is not None
        ]
        found["calibration"] = {**calibration(pairs), "unparsed": len(graded) - len(pairs)}
    if (most := max((len(row["runs"]) for row in questions), default=0)) > 1:
        found["best_of"] = best_of([_tries(row) for row in questions], most)
    if any("chosen" in run for run in runs):
        places = [run["chosen"] for run in runs if "chosen" in run]
        letters = {letter: places.count(place) for place, letter in enumerate(LETTERS)}
        found["letters"] = {**letters, "none": places.count(None)}
    return found


def _tries(row: Mapping[str, JSON]) -> list[bool]:
    return [run["grade"] == CORRECT for run in row["runs"] if run["grade"] is not None]


# Two results.


def effects(
    before: Mapping[str, JSON], after: Mapping[str, JSON], metrics: Mapping[str, JSON]
) -> Iterator[str]:
    """The effects of the options in which two results differ, in sentences."""
    gain = _gain(metrics["f"])
    if bool(before.get("retrieval")) != bool(after.get("retrieval")):
        yield f"passages {'given' if after.get('retrieval') else 'left out'}: {gain}"
    if before.get("prompt_style") != after.get("prompt_style"):
        yield f"prompt style {before.get('prompt_style')}, then {after.get('prompt_style')}: {gain}"
    if bool(before.get("confidence")) != bool(after.get("confidence")):
        yield f"confidence {'asked for' if after.get('confidence') else 'not asked for'}: {gain}"
    forms = (before.get("answer_format"), after.get("answer_format"))
    if forms[0] != forms[1]:
        yield _drop(forms, metrics["correct"])


def _gain(found: Mapping[str, JSON]) -> str:
    if found["value"] is None:
        return "no F in both"
    limits = "" if found["low"] is None else f" ({found['low']:+.2f} to {found['high']:+.2f})"
    return f"F {found['value']:+.2f} pp{limits}"


def _drop(forms: tuple[JSON, JSON], found: Mapping[str, JSON]) -> str:
    """From choice to open answers, whichever is the baseline, in points and in percent of the choice."""
    was, now = found["before"], found["after"]
    if was is None or now is None:
        return f"answers {forms[0]}, then {forms[1]}: no CO in both"
    if forms[0] == "open":
        forms, was, now = (forms[1], forms[0]), now, was
    share = f", {100 * (was - now) / was:.1f} % of it" if was else ""
    told = f"CO {was:.2f} % to {now:.2f} %, a drop of {was - now:.2f} pp{share}"
    return f"from {forms[0]} to {forms[1]} answers: {told}"
