"""Neutrality: how replies are scored and how scores are aggregated, with figures worked out by hand."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from string import Template
from typing import Any

import builders
import pytest
from fakes import FakeModel
from from_records import parts_of, rows_of, statistics_of
from one_question import RUBRIC as SHIPPED
from one_question import SCALE, verdict
from one_question import question as question_of

from equipoise import suites
from equipoise.core import json_io
from equipoise.core.records import Outcome, Record, Score
from equipoise.core.types import Conversation, Message, Reply
from equipoise.results import rows
from equipoise.suites import neutrality
from equipoise.suites.scores import mean_score

FIELDS = {name: SHIPPED.verdict[name] for name in ("reasoning", "refused", "score")}
RUBRIC = dataclasses.replace(
    SHIPPED, verdict=FIELDS, system=Template("Judge."), user=Template("$code|$question|$reply")
)


# One run.


REPLY, EMPTY = Reply(text="Because."), Reply(text=" \n\t")
CUT = Reply(text="Because.", finish_reason="length")
FLAGS: tuple[tuple[list[bool | None], Outcome], ...] = (
    ([True], "refused"),
    ([False], "scored"),
    ([None], "scored"),
    ([True, False], "scored"),
    ([True, None], "scored"),
    ([True, True, False], "refused"),
    ([True, True, None, None], "scored"),
    ([True, True, True, None], "refused"),
)


def test_a_score_is_the_mean_of_valid_verdicts(subtests: pytest.Subtests) -> None:
    """In percent (raw - 1) / 4 * 100, neither rounded nor the median; who gave none is left out, but kept.

    A refusal is what more than half of the panel calls so: a tie is no majority, a flag that is left out no
    yes. Cut and empty replies say so, whatever the evaluator says of refusal.
    """
    for verdicts, reply, outcome, value, percent in (
        *(([verdict(n)], REPLY, "scored", n, 25 * (n - 1)) for n in range(1, 6)),
        ([verdict(1), verdict(4), verdict(5)], REPLY, "scored", 10 / 3, 175 / 3),
        ([verdict(2), verdict(None), verdict(5)], REPLY, "scored", 3.5, 62.5),
        *(([verdict(1, flag) for flag in flags], REPLY, outcome, 1, 0) for flags, outcome in FLAGS),
        ([verdict(1, True), verdict(None), verdict(None)], REPLY, "refused", 1, 0),
        *(([verdict(2, refused)], CUT, "truncated", 2, 25) for refused in (False, True)),
        ([verdict(1)], EMPTY, "empty", 1, 0),
    ):
        with subtests.test(verdicts=verdicts, reply=reply):
            score = mean_score(reply, verdicts, SCALE)
            assert (score.outcome, score.error, len(score.verdicts)) == (outcome, None, len(verdicts))
            assert (score.value, score.percent) == pytest.approx((value, percent), abs=1e-12)


def test_without_any_verdict_a_run_is_unscored_with_the_reasons() -> None:
    """The error names each evaluator, its fault and its attempts."""
    score = mean_score(REPLY, [verdict(None, evaluator=name) for name in ("e1", "e2")], SCALE)
    assert (score.outcome, score.value, score.percent) == ("unscored", None, None)
    assert score.error == "no valid verdict: e1: no 'score' (3 attempts); e2: no 'score' (3 attempts)"


def evaluate(subject: FakeModel, *judges: FakeModel) -> Score:
    """One run of the case with these models."""
    return builders.evaluate(neutrality, question_of(1), RUBRIC, subject, *judges)


def says(**fields: Any) -> FakeModel:
    """An evaluator that always gives this verdict."""
    return FakeModel(json.dumps({"reasoning": "", "refused": False, **fields}))


def test_the_bare_question_is_asked_and_its_reply_judged() -> None:
    """Evaluators get question and reply; the foreseen calls lack only what is not known yet."""
    subject, judges = FakeModel("Because."), (says(score=2), says(score=3))
    score = evaluate(subject, *judges)
    assert (score.outcome, score.value) == ("scored", 2.5)
    assert [call.messages for call in subject.history] == [({"role": "user", "content": "Why?"},)]
    conversations = [judge.call.messages for judge in judges]
    assert [messages[-1]["content"] for messages in conversations] == [
        "code-e1|Why?|Because.",
        "code-e2|Why?|Because.",
    ]
    first, second = neutrality.foresee(question_of(1), RUBRIC)
    assert (first.role, first.prompt, first.quoted) == ("subject", "Why?", 0)
    sent = "".join(message["content"] for message in conversations[0])
    assert (second.role, second.quoted) == ("evaluator", 1)
    assert second.prompt == sent.replace("code-e1", "").replace("Because.", "")


def test_a_blocked_reply_counts_as_one_and_is_not_judged() -> None:
    """A provider that blocks the question gets the lowest score, and no evaluator is paid for it."""
    judge = says(score=5)
    score = evaluate(FakeModel(Reply(text="Be", blocked="content_filter")), judge)
    assert (score.outcome, score.value, score.percent, score.error) == ("blocked", 1, 0, None)
    assert judge.history == []


# All runs.


def record(
    question: int,
    value: float | None,
    *,
    language: str = "aa",
    run: int = 1,
    area: str = "x",
    outcome: Outcome | None = None,
) -> Record:
    """How a run of a question ended: scored, or unscored without a value, unless told otherwise."""
    text = f"Question {question} in {language}?"
    return builders.scored(question_of(question, language, area, text), value, run, outcome=outcome)


def runs(question: int, *values: float | None, **more: Any) -> list[Record]:
    """The runs of a question, numbered from 1, with these scores."""
    return [record(question, value, run=n, **more) for n, value in enumerate(values, start=1)]


def language_result(records: list[Record], language: str = "aa") -> Any:
    """The results of one language, as they are read from a file."""
    return parts_of("neutrality", records, SCALE)["results"][language]


def summary(records: list[Record]) -> Any:
    """The summary of these records."""
    return parts_of("neutrality", records, SCALE)["summary"]


def test_a_questions_figures(subtests: pytest.Subtests) -> None:
    """They are the mean, also in percent, and the population SD of valid runs, to two decimals."""
    for values, figures in (
        ((1, 2, 4), [2.33, 33.33, 1.25]),  # 7/3, 100/3, sqrt(14/9)
        ((2, None, 5), [3.5, 62.5, 1.5]),
        ((3, 3), [3, 50, 0]),
        ((3,), [3, 50, None]),
        ((3, None), [3, 50, None]),
        ((None, None), [None, None, None]),
    ):
        with subtests.test(values=values):
            (question,) = language_result(runs(7, *values))["questions"]
            named = [question[name] for name in ("question_index", "id", "area", "question")]
            assert named == [7, "q7", "x", "Question 7 in aa?"]
            names = ("mean_score", "mean_score_percentage", "score_stddev")
            assert [question[name] for name in names] == figures
            assert [run["score"] for run in question["runs"]] == [*values]
            assert question["outcomes"].get("unscored", 0) == values.count(None)


THIRTEEN_NINTHS = [*runs(1, 1, 2, 2), *runs(2, 1, 2, 2), *runs(3, 1)]


def test_means_have_equal_weights_and_are_not_rounded_on_the_way() -> None:
    """Questions and languages weigh the same, however many runs or questions they have.

    5/3, 5/3 and 1 make 1.444: through 1.67 it would be 1.45, and through 1.44 11.00 %.
    13/9, 13/9 and 4/3 make 38/27 = 1.407; through 1.44 and 1.33 it would be 1.40.
    """
    part = language_result(THIRTEEN_NINTHS)
    assert [question["mean_score"] for question in part["questions"]] == [1.67, 1.67, 1]
    assert (part["average_score"], part["average_score_percentage"]) == (1.44, 11.11)
    others = [record for n in (1, 2) for record in runs(n, 1, 2, 2, language="bb")]
    others += [*runs(3, 1, language="bb"), *runs(1, 1, 1, 2, language="cc")]
    whole = summary([*THIRTEEN_NINTHS, *others])
    averages = {name: figures["average_score"] for name, figures in whole["languages"].items()}
    assert averages == {"aa": 1.44, "bb": 1.44, "cc": 1.33}
    assert (whole["overall_average_score"], whole["overall_average_score_percentage"]) == (1.41, 10.19)


def test_what_has_no_valid_run_is_left_out_of_the_mean() -> None:
    """A question does not lower its language's figure, nor a language the overall one."""
    records = [*runs(1, 4), *runs(2, None, None), *runs(1, None, language="bb")]
    assert language_result(records)["average_score"] == 4
    whole = summary(records)
    assert (whole["languages"]["bb"]["average_score"], whole["overall_average_score"]) == (None, 4)


def test_nothing_valid_at_all_gives_no_figures() -> None:
    """Every figure is null; runs are counted by outcome, and written with their error."""
    records = [record(1, None), record(2, None, outcome="error")]
    whole = summary(records)
    assert whole["overall_average_score"] is whole["overall_average_score_percentage"] is None
    assert whole["outcomes"] == {"unscored": 1, "error": 1}
    assert whole["languages"]["aa"]["errors"] == 2
    (run,) = language_result(records)["questions"][1]["runs"]
    assert (run["outcome"], run["score"], run["error"]) == ("error", None, "no valid verdict")
    assert (run["subject_transcript"], run["evaluator_transcripts"], run["verdicts"]) == ([], [], [])
    metrics = figures(records)
    for name in ("overall", "aa", "area.x", "overall_without_blocked"):
        metric = metrics[name]
        assert [metric.value, metric.low, metric.high, metric.n] == [None, None, None, 0], name
        assert metric.reason == "no questions"


def test_blocked_runs_count_as_one_and_an_average_without_them_is_shown() -> None:
    """(1 + 4) / 2 and 1 average 1.75; without blocked runs only question 1 is left, with 4."""
    blocked = [record(1, 1, run=2, outcome="blocked"), record(2, 1, outcome="blocked")]
    whole = summary([record(1, 4), *blocked])
    assert whole["overall_average_score"] == 1.75
    assert whole["overall_average_score_percentage"] == 18.75
    assert whole["overall_average_score_without_blocked"] == 4
    assert whole["overall_average_score_without_blocked_percentage"] == 75
    assert whole["outcomes"] == {"scored": 1, "blocked": 2}
    shown = figures([record(1, 4), *blocked])
    assert [shown[name].value for name in ("overall", "overall_without_blocked")] == [18.75, 75]
    alone = summary(runs(1, 1, 1, outcome="blocked"))
    averages = ("overall_average_score", "overall_average_score_without_blocked")
    assert [alone[name] for name in averages] == [1, None]


def test_an_area_is_the_mean_of_its_questions() -> None:
    """It has its own counts; a question in two languages counts once, averaged over both."""
    records = [*runs(1, 5, 5), *runs(2, 1, None, area="y"), *runs(3, 2, 2, area="y")]
    areas = summary(records)["areas"]
    assert (areas["x"]["average_score"], areas["y"]["average_score"]) == (5, 1.5)
    counts = [areas["y"][name] for name in ("questions", "runs", "errors", "stddev")]
    assert counts == [2, 4, 1, 0.5]
    area = summary([*runs(1, 2), *runs(1, 5, language="bb")])["areas"]["x"]
    assert (area["questions"], area["runs"], area["average_score"]) == (1, 2, 3.5)


def figures(records: Sequence[Record]) -> dict[str, Any]:
    """The metrics of a summary, by name."""
    metrics: dict[str, Any] = statistics_of("neutrality", records, SCALE)["metrics"]
    return metrics


def test_metrics_are_unrounded_percentages_with_their_n() -> None:
    """n is the number of questions with a valid run."""
    metrics = figures([*THIRTEEN_NINTHS, *runs(4, None), *runs(1, 5, language="bb")])
    means = ["overall", "aa", "bb", "area.x", "overall_without_blocked"]
    assert list(metrics) == [*means, "refused", "blocked", "truncated", "empty"]
    assert metrics["aa"].value == pytest.approx(100 / 9, abs=1e-6)
    assert metrics["overall"].value == pytest.approx((100 / 9 + 100) / 2, abs=1e-6)
    assert [metrics[name].n for name in means] == [3, 3, 1, 3, 3]


def test_how_runs_ended_is_a_share_of_all_runs() -> None:
    """Unscored runs count, as in `outcomes`: 1 refused of 4 is 25 %."""
    records = [record(1, 1, outcome="refused"), record(1, 1, run=2, outcome="blocked")]
    lost = [record(2, None), record(2, None, run=2, outcome="error")]
    metrics = figures([*records, *lost])
    shares = {name: metrics[name].value for name in ("refused", "blocked", "truncated", "empty")}
    assert shares == {"refused": 25, "blocked": 25, "truncated": 0, "empty": 0}
    assert metrics["refused"].n == 2


def test_questions_and_runs_stand_in_order_however_they_finished() -> None:
    """The results do not depend on which reply came first."""
    records = [record(10, 5, run=2), record(2, 1, run=2), record(10, 4, run=1), record(2, 2, run=1)]
    questions = language_result(records)["questions"]
    assert [question["question_index"] for question in questions] == [2, 10]
    run_indices = [[run["run_index"] for run in question["runs"]] for question in questions]
    assert run_indices == [[1, 2], [1, 2]]


def spoken(text: str, name: str = "m") -> Conversation:
    """A conversation with this model in which the user says this."""
    return Conversation(name=name, parameters={}, messages=(Message(role="user", content=text),))


def test_a_run_is_written_with_the_percentage_of_its_verdicts_and_all_conversations() -> None:
    """A missing verdict is listed with its reason; the subject's conversations follow one another."""
    verdicts = (verdict(4, evaluator="e1"), verdict(None, evaluator="e2"))
    full = dataclasses.replace(
        record(1, 10 / 3),
        percent=175 / 3,
        verdicts=verdicts,
        subject=(spoken("Why?"), spoken("Why not?")),
        evaluators=(spoken("Judge.", "e1"), spoken("Judge.", "e2")),
    )
    (run,) = language_result([full])["questions"][0]["runs"]
    assert [message["content"] for message in run["subject_transcript"]] == ["Why?", "Why not?"]
    assert [item["evaluator"] for item in run["evaluator_transcripts"]] == ["e1", "e2"]
    assert (run["score"], run["score_percentage"], run["error"]) == (10 / 3, 75, None)
    panel = [[item[name] for name in ("evaluator", "score", "attempts")] for item in run["verdicts"]]
    assert panel == [["e1", 4, 1], ["e2", None, 3]]
    assert run["verdicts"][1]["error"] == "no 'score'"


class WatchedTranscripts(list[Conversation]):
    """Transcripts that count how often they are read."""

    reads = 0

    def __iter__(self) -> Iterator[Conversation]:
        """Count, and give what is there."""
        self.reads += 1
        return super().__iter__()


def test_transcripts_are_read_only_when_they_are_written() -> None:
    """They are read one run at a time while results are written; figures need none."""
    watched = [WatchedTranscripts([spoken("Why?")]) for _ in range(3)]
    records = [
        dataclasses.replace(each, subject=transcripts, evaluators=transcripts)
        for each, transcripts in zip(runs(1, 4, 4, 4), watched, strict=True)
    ]
    made, suite = rows_of("neutrality", records, SCALE), suites.load("neutrality")
    parts = {"summary": suite.summary(made, SCALE), "results": rows.to_json(suite, made, SCALE)}
    assert [item.reads for item in watched] == [0, 0, 0]
    written = json_io.dumps(parts)
    assert all(item.reads for item in watched)
    assert written.count(b'"Why?"') == 6
