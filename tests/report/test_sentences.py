"""The sentences that answer what results say, and whether a candidate differs from its baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import builders
import msgspec
import one_question
import pytest
from from_records import rows_of
from msgspec import structs

from equipoise import suites
from equipoise.core.figures import NO_FIGURE, Change, ChangeOnThese
from equipoise.core.records import Cell
from equipoise.report.sentences import about, contrasts, of_comparison
from equipoise.results.results import Results

NOTHING: dict[str, Any] = dict.fromkeys(("se", "low", "high", "p"))


def change(value: float | None, low: float | None, high: float | None, **fields: Any) -> Change:
    """A difference with this interval for questions like these, and a narrower one on these."""
    these = {"low": low and low + 1, "high": high and high - 1, "n": 9, "reason": "one run"}
    rest = {"before": 50.0, "after": 50.0, "n": 9, "unpaired": 0, "reason": "1 question", "unit": "%"}
    whole = {**NOTHING, "value": value, "low": low, "high": high, **rest, "p_adjusted": None}
    on_these = ChangeOnThese(**{**NOTHING, **these})
    return Change(**{**whole, "these": on_these, "higher_is_better": True, **fields})


def told(headline: Change, **others: Change) -> list[str]:
    """What is said of a comparison with these changes."""
    comparison: Any = {"clusters": "questions", "metrics": {"overall": headline, **others}}
    return [*of_comparison(comparison, "old", "new")]


ANSWERS: list[tuple[Change, str]] = [
    (
        change(-8.25, -12.0, -4.0),
        "new scores 8.2 points lower than old in overall (95 % interval 4.0 to 12.0 for questions like "
        "these).",
    ),
    (
        change(3.0, -0.5, 6.5),
        "On these questions new scores 3.0 points higher than old in overall (95 % interval 0.5 to 5.5); "
        "for other questions like them it may be chance (95 % interval -0.5 to 6.5).",
    ),
    (
        change(-1.0, -9.0, 7.0),
        "new and old cannot be told apart in overall: they differ by 1.0 points (95 % interval -7.0 to 9.0 "
        "for questions like these).",
    ),
    (
        change(-5.0, None, None, reason="no variation between questions"),
        "new scores 5.0 points lower than old in overall on the same questions (no interval: no "
        "variation between questions).",
    ),
    (
        change(0.5, None, None, n=1),
        "new and old differ by 0.5 points in overall, which may be chance (no interval: 1 question).",
    ),
    (change(None, None, None), "How far new and old differ in overall is not known: 1 question."),
]


@pytest.mark.parametrize(("headline", "sentence"), ANSWERS)
def test_the_headline_is_answered_first(headline: Change, sentence: str) -> None:
    """Whether they differ, by how much, on these questions or on others like them, in its own unit."""
    assert told(headline) == [sentence]
    own = [text.replace("points", "dimensions") for text in told(headline)]
    assert told(structs.replace(headline, unit="dimensions")) == own


def test_other_figures_are_counted_and_the_first_are_named() -> None:
    """Those with an interval; a p of exactly 0.05 is no difference, and nothing shared is no sentence."""
    same = change(1.0, -2.0, 4.0)
    apart = [msgspec.structs.replace(same, value=value, p_adjusted=0.01) for value in (-4.0, 3.0, 2.0, -1.0)]
    chance = msgspec.structs.replace(same, p_adjusted=0.05)
    assert told(same, a=chance, b=chance, c=same)[1:] == [
        "None of the other figures with an interval (2) differs by more than chance."
    ]
    assert told(same, a=apart[0], b=chance)[1:] == [
        "Of 2 other figures 1 differs by more than chance (p < 0.05 after Holm): a -4.0."
    ]
    many = dict(zip("abcd", apart, strict=True))
    assert told(same, **many, e=chance)[1:] == [
        "Of 5 other figures 4 differ by more than chance (p < 0.05 after Holm): a -4.0, b +3.0, c +2.0 and 1 "
        "more."
    ]
    comparison: Any = {"clusters": "questions", "metrics": {}}
    assert [*of_comparison(comparison, "old", "new")] == []


# What makes a figure weak.


def warned(
    *, n: int = 50, runs: Sequence[tuple[str, str]] = (("en-US", "x"), ("zh-CN", "y")), **metadata: Any
) -> str:
    """The last sentence on results of these questions, whose runs are of these languages and areas."""
    about_session: Any = {
        **{"subject_model": "m", "evaluator_models": ["e"], "limit": None, "languages_asked": None},
        **{"selection": {"deselected": 0}, "languages": [language for language, _ in runs]},
        **metadata,
    }
    rows = rows_of(
        "neutrality",
        [builders.scored(one_question.question(1, language, area), 3.0) for language, area in runs],
        one_question.SCALE,
    )
    audits = {name: None if name == "e" else builders.audit() for name in about_session["evaluator_models"]}
    summary: Any = {"metrics": {"overall": structs.replace(NO_FIGURE, value=50.0, n=n)}}
    results = Results(
        suite=suites.load("neutrality"),
        metadata=about_session,
        summary=summary,
        rows=rows,
        sections={"audit": audits},
    )
    return [*about(results)][-1]


@pytest.mark.parametrize(
    ("results", "reasons"),
    [
        ({}, "e was not tried as evaluator (--audit)"),
        ({"evaluator_models": ["e", "tried"]}, "e was not tried as evaluator (--audit)"),
        ({"subject_model": "tried", "evaluator_models": ["tried"]}, "the only evaluator is the model itself"),
        ({"subject_model": "local"}, "the built-in model answered, so the figures mean nothing"),
        (
            {"subject_model": "local", "evaluator_models": ["local"], "n": 2},
            "the built-in model answered and judged, so the figures mean nothing",
        ),
        ({"evaluator_models": ["tried"], "n": 9}, "it rests on fewer than 10 questions (9)"),
        (
            {"evaluator_models": ["tried"], "limit": 9, "runs": [("en-US", "x"), ("zh-CN", "x")]},
            "all are of one area",
        ),
        (
            {"evaluator_models": ["tried"], "languages_asked": ["en-US"], "runs": [("en-US", "x")]},
            "only one language was asked",
        ),
    ],
)
def test_the_last_sentence_says_what_makes_a_figure_weak(results: dict[str, Any], reasons: str) -> None:
    """Each reason by itself; of the built-in model's figures nothing else need be said."""
    assert warned(**results) == f"Read it with care: {reasons}."


@pytest.mark.parametrize(
    ("state", "sentences"), [(80.0, ["Runs lean to state in 80.0 % and to critics in 0.0 %."]), (0.0, [])]
)
def test_leans_are_told_by_side(state: float, sentences: list[str]) -> None:
    """Not of a model that leans nowhere."""
    shares = {"overall": 20.0, "lean.state": state, "lean.critics": 0.0}
    figures = {name: structs.replace(NO_FIGURE, value=value) for name, value in shares.items()}
    about_session = {"subject_model": "m", "evaluator_models": ["local"]}
    parts: Any = {"metadata": about_session, "summary": {"metrics": figures}}
    cell = Cell(id="q", cluster="q", stratum="en-US", values={name: [0.0] for name in shares})
    results = Results(suite=suites.load("neutrality"), own_cells=[cell], **parts)
    assert [text for text in about(results) if text.startswith("Runs lean")] == sentences


def test_a_figure_without_a_weakness_is_not_warned_of() -> None:
    """Nor are all languages and areas of data that have one."""
    sound = warned(evaluator_models=["tried"], runs=[("en-US", "x")])
    assert sound.startswith("m: ")


def test_a_contrast_says_what_it_cannot_show() -> None:
    """With the smallest difference that it can show, if any is possible."""
    figure = structs.replace(NO_FIGURE, kind="contrast", caution="questions differ", unit="pp")
    figures = {"one": figure, "other": structs.replace(figure, smallest_difference=12.34)}
    parts: Any = {"metadata": {}, "summary": {"metrics": figures}}
    says = "does not show that the model is even: questions differ"
    assert [*contrasts(Results(suite=suites.load("neutrality"), **parts))] == [
        f"one {says}.",
        f"other {says}; the smallest that can be shown here is 12.3 pp.",
    ]
