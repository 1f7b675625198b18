"""The stages that make questions: each rule on hand-written rows, with models that say what they are told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from job_models import Models, judged, made

from conftest import ROOT
from equipoise.core.errors import CallFailed
from equipoise.core.files import write_objects
from equipoise.core.types import JSON, Call, Reply
from equipoise.suites.chinese_simpleqa import prompts as fact_prompts
from equipoise.suites.chinese_simpleqa.dataset import facts
from equipoise.suites.chinese_simpleqa.from_documents import prompts
from equipoise.suites.chinese_simpleqa.from_documents.stages import (
    Pipeline,
    as_question,
    drop_near_duplicates,
    mark_near_duplicates,
)
from equipoise.suites.construct_contract import Stage, StageResult
from equipoise.suites.selection import Selection

PROMPTS = prompts.load(ROOT / "rubric" / "construct_simpleqa.toml")
FACTS = fact_prompts.load(ROOT / "rubric" / "chinese_simpleqa.toml")
DOCUMENT = {"id": "tea", "title": "茶圣", "subtopic": "tcm", "text": "陆羽是唐代人，他写了《茶经》。"}
QUESTION = {**DOCUMENT, "question": "《茶经》的作者是谁？", "answer": "陆羽"}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Where answers are looked up."""
    path = tmp_path / "corpus.jsonl"
    texts = {"tea": DOCUMENT["text"], "paper": "蔡伦改进了造纸术。", "zebra": "斑马生活在非洲。"}
    write_objects(path, [{"id": name, "text": text} for name, text in texts.items()])
    return path


@pytest.fixture
def pipeline(corpus: Path) -> Pipeline:
    """Documents of 10 to 20 characters, two solvers."""
    return Pipeline(
        prompts=PROMPTS,
        fact_rubric=FACTS,
        min_length=10,
        max_length=20,
        corpus=corpus,
        retriever=None,
        critic_index=0,
        solver_indices=[1, 2],
    )


def stage(pipeline: Pipeline, name: str) -> Stage:
    """The stage of that name."""
    (found,) = [
        item
        for item in (*pipeline.stages_before_annotation(), *pipeline.stages_after_annotation())
        if item.name == name
    ]
    return found


def put(pipeline: Pipeline, name: str, row: Mapping[str, JSON], models: Models) -> StageResult:
    """What a stage makes of one row."""
    by_row = stage(pipeline, name).by_row
    assert by_row is not None

    async def do() -> StageResult:
        return await by_row(row, models.job_models)

    return asyncio.run(do())


GOOD = made(QUESTION["question"], QUESTION["answer"])

# Documents.


def test_documents_have_a_length(pipeline: Pipeline, subtests: pytest.Subtests) -> None:
    """Of letters and digits, both limits included."""
    cases: list[tuple[str, str | None]] = [
        ("茶" * 9, "too short: 9 characters"),
        ("茶" * 10, None),
        ("茶，" * 10, None),
        ("茶" * 20, None),
        ("茶" * 21, "too long: 21 characters"),
        ("，" * 500, "too short: 0 characters"),
    ]
    for text, reason in cases:
        with subtests.test(ascii(text)):
            all_rows = stage(pipeline, "length").all_rows
            assert all_rows is not None
            assert [item.reason for item in all_rows([{"id": "a", "text": text}])] == [reason]


def test_a_poor_document_is_dropped(pipeline: Pipeline, subtests: pytest.Subtests) -> None:
    """Below 3 of 5; the model has read title and text."""
    cases: list[tuple[int, str | None]] = [
        (1, "poor quality: 空话"),
        (2, "poor quality: 空话"),
        (3, None),
        (5, None),
    ]
    for score, reason in cases:
        with subtests.test(ascii(score)):
            models = Models(json.dumps({"reasoning": "空话", "score": score}))
            assert put(pipeline, "quality", DOCUMENT, models) == StageResult(row=DOCUMENT, reason=reason)
            (call,) = models.calls
            assert (call.model, call.role) == ("maker", "subject")
            assert f"{DOCUMENT['title']}\n{DOCUMENT['text']}" in call.messages[1]["content"]


def test_without_a_verdict_nothing_goes_on(pipeline: Pipeline, subtests: pytest.Subtests) -> None:
    """Three times asked, then dropped; a score out of range is none."""
    cases: list[str] = ["quality", "criteria", "verification", "safety"]
    for name in cases:
        with subtests.test(ascii(name)):
            models = Models(
                "嗯。", '{"reasoning": "好", "score": 6}', '{"reasoning": "好", "verdict": "maybe"}'
            )
            assert put(pipeline, name, QUESTION, models).reason == f"no verdict on {name}"
            assert len(models.calls) == 3


# Questions.


def test_a_question_keeps_id_and_subtopic(pipeline: Pipeline) -> None:
    """And where it comes from; blanks around it go."""
    models = Models(made(" 《茶经》的作者是谁？ ", "陆羽 "), judged("yes"))
    found = put(pipeline, "generation", DOCUMENT, models)
    about = {"id": "tea", "subtopic": "tcm", "document": "tea"}
    assert found == StageResult(row={**about, "question": "《茶经》的作者是谁？", "answer": "陆羽"})
    assert [call.model for call in models.calls] == ["maker", "critic"]


def test_feedback_reaches_the_generator(pipeline: Pipeline) -> None:
    """It sees its own question as it gave it, and what is to be mended; the mended one is accepted."""
    models = Models(made("谁是作者？", "陆羽"), judged("no", "没说是什么书"), GOOD, judged("yes"))
    assert put(pipeline, "generation", DOCUMENT, models).row["question"] == QUESTION["question"]
    again = models.calls[2].messages
    assert json.loads(again[2]["content"]) == {"question": "谁是作者？", "answer": "陆羽"}
    assert (again[2]["role"], again[3]["role"]) == ("assistant", "user")
    assert "没说是什么书" in again[3]["content"]


def test_a_question_that_is_never_right_is_dropped(pipeline: Pipeline) -> None:
    """After two rounds of feedback; the last criticism is the reason, the document is what is kept."""
    models = Models(said=lambda call, n: GOOD if call.model == "maker" else judged("no", f"不行{n}"))
    assert put(pipeline, "generation", DOCUMENT, models) == StageResult(
        row=DOCUMENT, reason="criticised: 不行5"
    )
    assert [call.model for call in models.calls] == ["maker", "critic"] * 3


def test_an_answer_inside_the_question_is_seen_without_a_critic(pipeline: Pipeline) -> None:
    """However it is written there."""
    models = Models(made("《茶经》是陆 羽写的吗？", "「陆羽」"), GOOD, judged("yes"))
    assert put(pipeline, "generation", DOCUMENT, models).reason is None
    assert [call.model for call in models.calls] == ["maker", "maker", "critic"]
    assert "the question holds its answer" in models.calls[1].messages[3]["content"]


def test_a_figure_in_another_number_is_no_answer(pipeline: Pipeline) -> None:
    """3 does not stand in 2003: the question goes on, and so it does where it is rewritten."""
    question = made("2003年的大会选出了几位主席？", "3")
    assert put(pipeline, "generation", DOCUMENT, Models(question, judged("yes"))).reason is None
    said = {"rewriting": question, "criteria": judged("yes"), "verification": judged("pass")}
    models = Models(said=lambda call, number: said[building_name(call)])
    assert put(pipeline, "rewriting", {**NEAR, "answer": "3"}, models).reason is None


def test_a_generator_without_a_question_is_asked_three_times(pipeline: Pipeline) -> None:
    """Then the document is dropped."""
    models = Models("我不会。")
    assert put(pipeline, "generation", DOCUMENT, models).reason == "no question in the answer"
    assert len(models.calls) == 3


def test_a_question_is_dropped_for_a_reason(pipeline: Pipeline, subtests: pytest.Subtests) -> None:
    """The model's own words, behind the name of the rule."""
    cases: list[tuple[str, str, str | None]] = [
        ("criteria", "yes", None),
        ("criteria", "no", "criteria: 理由"),
        ("verification", "pass", None),
        ("verification", "fail", "verification: 理由"),
        ("safety", "yes", None),
        ("safety", "no", "safety: 理由"),
    ]
    for name, verdict, reason in cases:
        with subtests.test(f"{name} {verdict}"):
            models = Models(judged(verdict))
            assert put(pipeline, name, QUESTION, models).reason == reason
            asked = models.calls[0].messages[1]["content"]
            assert QUESTION["question"] in asked
            assert f"[answer code-of-{name}]\n{QUESTION['answer']}\n[end of answer code-of-{name}]" in asked


def test_answers_are_looked_up(pipeline: Pipeline) -> None:
    """The passage that fits best is shown first, and its name is kept; others that fit nowhere are not."""
    models = Models(judged("pass"))
    found = put(pipeline, "verification", QUESTION, models)
    assert found.row["passages"] == ["tea#1"]
    asked = models.calls[0].messages[1]["content"]
    assert f"[passages code-of-verification]\n[1] {DOCUMENT['text']}\n" in asked
    assert "斑马" not in asked


# Difficulty.


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        (("solver-a", "solver-b"), "too easy: all models know it"),
        (("solver-a",), None),
        (("solver-b",), None),
        ((), None),
    ],
)
def test_only_what_all_know_is_too_easy(
    pipeline: Pipeline, known: tuple[str, ...], reason: str | None
) -> None:
    """One solver that is wrong keeps a question."""

    def said(call: Call, number: int) -> str:
        if call.model == "critic":
            return "A" if "是陆羽" in call.messages[1]["content"] else "B"
        return "是陆羽。" if call.model in known else "是蔡伦。"

    models = Models(said=said)
    found = put(pipeline, "difficulty", QUESTION, models)
    assert (found.reason, found.row["solved_by"]) == (reason, list(known))
    asked = [call for call in models.calls if call.model != "critic"]
    assert all(call.messages[-1]["content"] == QUESTION["question"] for call in asked)
    assert QUESTION["answer"] not in str([call.messages for call in asked])


@pytest.mark.parametrize(
    ("reply", "grade"),
    [(Reply(text="陆羽", blocked="content_filter"), "A"), (Reply(text=" "), "A"), (Reply(text="x"), "嗯")],
)
def test_what_is_no_answer_or_has_no_grade_is_not_known(pipeline: Pipeline, reply: Reply, grade: str) -> None:
    """A filter, an empty reply, or a critic without a letter."""
    models = Models(said=lambda call, n: grade if call.model == "critic" else reply)
    found = put(pipeline, "difficulty", QUESTION, models)
    assert (found.reason, found.row["solved_by"]) == (None, [])


@pytest.mark.parametrize(("grade", "solved"), [("A", ["solver-b"]), ("B", [])])
def test_a_solver_that_is_refused_knows_nothing(pipeline: Pipeline, grade: str, solved: list[str]) -> None:
    """The question stays, whatever the other one says, and the refusal stands beside it."""

    def said(call: Call, number: int) -> Any:
        return CallFailed("HTTP 400: Too odd.") if call.model == "solver-a" else grade

    models = Models(said=said)
    found = put(pipeline, "difficulty", QUESTION, models)
    expected = {"solved_by": solved, "failed_solvers": {"solver-a": "HTTP 400: Too odd."}}
    assert found == StageResult(row={**QUESTION, **expected})
    assert [call.model for call in models.calls] == ["solver-a", "solver-b", "critic"]


def test_a_solver_that_stops_all_lets_the_other_come_home(pipeline: Pipeline) -> None:
    """What the other one said is paid for and graded; then the failure is raised."""

    def said(call: Call, number: int) -> Any:
        return CallFailed("HTTP 500", stops_session=True) if call.model == "solver-a" else "B"

    models = Models(said=said)
    with pytest.raises(CallFailed):
        put(pipeline, "difficulty", QUESTION, models)
    assert [call.model for call in models.calls] == ["solver-a", "solver-b", "critic"]


def test_without_solvers_nothing_is_too_easy(pipeline: Pipeline) -> None:
    """The stage is skipped, and says why."""
    without = [
        item.skipped
        for item in replace(pipeline, solver_indices=[]).stages_before_annotation()
        if item.name == "difficulty"
    ]
    assert without == ["no --solver"]
    assert stage(pipeline, "difficulty").skipped is None


# Near-duplicates.


def test_a_near_duplicate_is_marked() -> None:
    """With the earlier question; the first one and others are as they were."""
    rows = [
        {**QUESTION, "id": "a"},
        {**QUESTION, "id": "b", "question": "谁改进了造纸术？"},
        {**QUESTION, "id": "c", "question": "《茶经》的作者是何人？"},
    ]
    found = mark_near_duplicates(rows)
    assert [item.row for item in found[:2]] == rows[:2]
    assert (found[2].row["near"], found[2].reason) == (QUESTION["question"], None)


def test_the_nearest_earlier_question_is_named() -> None:
    """The most alike of them, whatever their punctuation; of two that are as alike the first."""
    texts = ["《茶经》的作者是何人？", "《茶经》的作者是谁？", "茶经的作者是谁", "茶经的作者是谁?"]
    found = mark_near_duplicates(
        [{**QUESTION, "id": str(place), "question": text} for place, text in enumerate(texts)]
    )
    assert [item.row.get("near") for item in found] == [None, texts[0], texts[1], texts[1]]


NEAR = {**QUESTION, "question": "《茶经》的作者是何人？", "near": QUESTION["question"]}
ANOTHER = "唐代第一部论茶的书是谁写的？"


def test_a_near_duplicate_that_stays_one_is_dropped(pipeline: Pipeline, subtests: pytest.Subtests) -> None:
    """Where the new question is alike as well, or holds the answer, or is none; nobody judges it."""
    cases: list[str] = ["《茶经》的作者是谁呢？", "陆羽写了哪部论茶的书？", " "]
    for new in cases:
        with subtests.test(ascii(new)):
            models = Models(made(new, "别的答案"))
            found = put(pipeline, "rewriting", NEAR, models)
            assert found.reason == f"near-duplicate: of {QUESTION['question']}"
            assert {building_name(call) for call in models.calls} == {"rewriting"}


def building_name(call: Call) -> str:
    """What a call of the maker is for."""
    return str(call.parameters["response_format"]["json_schema"]["name"])


@pytest.mark.parametrize(
    ("criteria", "verification", "reason"),
    [
        ("yes", "pass", None),
        ("no", "pass", "criteria: 理由"),
        ("yes", "fail", "verification: 理由"),
    ],
)
def test_what_is_asked_in_another_way_is_judged_again(
    pipeline: Pipeline, criteria: str, verification: str, reason: str | None
) -> None:
    """As a new question, with passages of its own; the answer stays."""
    said = {"rewriting": made(ANOTHER, "别的答案"), "criteria": judged(criteria)}
    said["verification"] = judged(verification)
    models = Models(said=lambda call, number: said[building_name(call)])
    found = put(pipeline, "rewriting", {**NEAR, "passages": ["old#1"]}, models)
    assert (found.row["question"], found.row["answer"], found.reason) == (ANOTHER, "陆羽", reason)
    assert found.row["rewritten_from"] == NEAR["question"]
    later = models.calls[1:]
    assert [building_name(call) for call in later] == list(said)[1 : 2 if criteria == "no" else 3]
    assert all(ANOTHER in call.messages[1]["content"] for call in later)
    if criteria == "yes":
        assert "old#1" not in found.row["passages"]


def test_two_that_were_rewritten_alike_are_one() -> None:
    """The first of them stays, whatever each was a near-duplicate of before."""
    rows = [
        {**QUESTION, "id": "a"},
        {**NEAR, "id": "b", "question": ANOTHER},
        {**NEAR, "id": "c", "question": "唐代第一部论茶的书是谁写的"},
    ]
    assert [item.reason for item in drop_near_duplicates(rows)] == [
        None,
        None,
        f"near-duplicate: of {ANOTHER}",
    ]


def test_only_a_question_that_stays_is_in_the_way() -> None:
    """Of a chain of three, in which the outer two are not alike, the last one stays."""
    texts = ["甲乙丙丁戊己庚辛壬癸", "甲乙丙丁戊己庚辛子丑", "丙丁戊己庚辛子丑寅卯"]
    rows = [{**QUESTION, "id": str(place), "question": text} for place, text in enumerate(texts)]
    assert ["near" in item.row for item in mark_near_duplicates(rows)] == [False, True, True]
    assert [item.reason is None for item in drop_near_duplicates(rows)] == [True, False, True]


def test_safety_is_asked_of_questions_as_they_are_in_the_end(pipeline: Pipeline) -> None:
    """Nothing changes a question behind it."""
    assert [item.name for item in pipeline.stages_after_annotation()] == [
        "duplicates",
        "rewriting",
        "safety",
        "distinct",
    ]


def test_what_is_like_nothing_is_not_rewritten(pipeline: Pipeline) -> None:
    """Nobody is asked."""
    models = Models("x")
    assert put(pipeline, "rewriting", QUESTION, models) == StageResult(row=QUESTION)
    assert models.calls == []


def test_questions_load_in_the_suite(tmp_path: Path) -> None:
    """With a subtopic or without."""
    rows = [QUESTION, {**QUESTION, "id": "other", "subtopic": None}]
    write_objects(tmp_path / "questions.jsonl", list(map(as_question, rows)))
    found = facts(Selection(topics=tmp_path))
    assert [(case.item, case.subtopic, case.accepted) for case in found] == [
        ("tea", "tcm", ("陆羽",)),
        ("other", "general", ("陆羽",)),
    ]
