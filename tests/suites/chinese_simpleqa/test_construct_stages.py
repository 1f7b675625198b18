"""The stages that make questions: each rule on hand-written rows, with models that say what they are told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from job_models import Models, Said, judged, made

from conftest import ROOT
from equipoise.core.errors import CallFailed
from equipoise.core.files import write_objects
from equipoise.core.types import JSON, Call, Reply
from equipoise.suites.chinese_simpleqa import prompts as fact_prompts
from equipoise.suites.chinese_simpleqa.from_documents import prompts
from equipoise.suites.chinese_simpleqa.from_documents.stages import (
    Pipeline,
    drop_near_duplicates,
    mark_near_duplicates,
)
from equipoise.suites.construct_contract import Stage, StageResult

DOCUMENT = {"id": "tea", "title": "茶圣", "subtopic": "tcm", "text": "陆羽是唐代人，他写了《茶经》。"}
QUESTION = {**DOCUMENT, "question": "《茶经》的作者是谁？", "answer": "陆羽"}
NEAR = {**QUESTION, "question": "《茶经》的作者是何人？", "near": QUESTION["question"]}
ANOTHER = "唐代第一部论茶的书是谁写的？"
GOOD, YES, NO = made(QUESTION["question"], "陆羽"), judged("yes"), judged("no")
SAME = f"near-duplicate: of {QUESTION['question']}"


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    """Documents of 10 to 20 characters, two solvers, three texts to look answers up in."""
    texts = {"tea": DOCUMENT["text"], "paper": "蔡伦改进了造纸术。", "zebra": "斑马生活在非洲。"}
    write_objects(tmp_path / "corpus.jsonl", [{"id": name, "text": text} for name, text in texts.items()])
    return Pipeline(
        prompts=prompts.load(ROOT / "rubric" / "construct_simpleqa.toml"),
        fact_rubric=fact_prompts.load(ROOT / "rubric" / "chinese_simpleqa.toml"),
        min_length=10,
        max_length=20,
        corpus=tmp_path / "corpus.jsonl",
        retriever=None,
        critic_index=0,
        solver_indices=[1, 2],
    )


def stages(pipeline: Pipeline) -> dict[str, Stage]:
    """All stages by name."""
    every = (*pipeline.stages_before_annotation(), *pipeline.stages_after_annotation())
    return {stage.name: stage for stage in every}


def put(pipeline: Pipeline, name: str, row: Mapping[str, JSON], models: Models) -> StageResult:
    """What a stage makes of one row."""
    by_row = stages(pipeline)[name].by_row
    assert by_row is not None

    async def do() -> StageResult:
        return await by_row(row, models.job_models)

    return asyncio.run(do())


def purpose(call: Call) -> str:
    """What a call of the maker is for."""
    return str(call.parameters["response_format"]["json_schema"]["name"])


# Documents and questions.


def test_documents_have_a_length(pipeline: Pipeline) -> None:
    """Of letters and digits, both limits included."""
    all_rows = stages(pipeline)["length"].all_rows
    assert all_rows is not None
    texts = ("茶" * 9, "，" * 500, "茶" * 10, "茶，" * 10, "茶" * 20, "茶" * 21)
    assert [item.reason for item in all_rows([{"id": "a", "text": text} for text in texts])] == [
        *("too short: 9 characters", "too short: 0 characters", None, None, None),
        "too long: 21 characters",
    ]


@pytest.mark.parametrize("name", ["criteria", "verification", "safety"])
def test_a_question_is_dropped_for_a_reason(pipeline: Pipeline, name: str) -> None:
    """The maker's own words; without a verdict, asked for three times, nothing goes on."""
    good, bad = ("pass", "fail") if name == "verification" else ("yes", "no")
    for verdict, reason in ((good, None), (bad, f"{name}: 理由"), ("maybe", f"no verdict on {name}")):
        models = Models(judged(verdict))
        assert put(pipeline, name, QUESTION, models).reason == reason
        assert [call.model for call in models.calls] == ["maker"] * (3 if verdict == "maybe" else 1)
        shown = models.calls[0].messages[1]["content"]
        assert QUESTION["question"] in shown
        assert f"[answer code-of-{name}]\n陆羽\n[end of answer code-of-{name}]" in shown


@pytest.mark.parametrize(
    ("score", "reason"), [(2, "poor quality: 空话"), (3, None), (6, "no verdict on quality")]
)
def test_a_poor_document_is_dropped(pipeline: Pipeline, score: int, reason: str | None) -> None:
    """Below 3 of 5; the model has read title and text."""
    models = Models(json.dumps({"reasoning": "空话", "score": score}))
    assert put(pipeline, "quality", DOCUMENT, models) == StageResult(row=DOCUMENT, reason=reason)
    assert f"{DOCUMENT['title']}\n{DOCUMENT['text']}" in models.calls[0].messages[1]["content"]


def test_answers_are_looked_up(pipeline: Pipeline) -> None:
    """The passage that fits best is shown first, and its name is kept; others that fit nowhere are not."""
    models = Models(judged("pass"))
    assert put(pipeline, "verification", QUESTION, models).row["passages"] == ["tea#1"]
    shown = models.calls[0].messages[1]["content"]
    assert f"[passages code-of-verification]\n[1] {DOCUMENT['text']}\n" in shown
    assert "斑马" not in shown


HELD = made("《茶经》是陆 羽写的吗？", "「陆羽」")
IN_2003 = made("2003年的大会选出了几位主席？", "3")
GENERATED: Sequence[tuple[Sequence[str], str, str]] = [
    ([made(" 《茶经》的作者是谁？ ", "陆羽 "), YES], "《茶经》的作者是谁？", "maker critic"),
    ([made("谁是作者？", "陆羽"), NO, GOOD, YES], "《茶经》的作者是谁？", "maker critic maker critic"),
    # An answer inside the question is seen without a critic, however it is written; 3 is not in 2003.
    ([HELD, GOOD, YES], "《茶经》的作者是谁？", "maker maker critic"),
    ([IN_2003, YES], "2003年的大会选出了几位主席？", "maker critic"),
    # After two rounds of feedback the last criticism is the reason.
    ([GOOD, NO, GOOD, NO, GOOD, judged("no", "不行")], "criticised: 不行", "maker critic " * 3),
    ([GOOD, *"嗯嗯嗯"] * 3, "criticised: no verdict", "maker critic critic critic " * 3),
    (["我不会。"], "no question in the answer", "maker maker maker"),
]


def test_a_question_is_generated_and_criticised(pipeline: Pipeline, subtests: pytest.Subtests) -> None:
    """It keeps the id, the subtopic and where it comes from, and goes on once the critic accepts it."""
    for replies, outcome, names in GENERATED:
        with subtests.test(outcome):
            models = Models(*replies)
            stage_result = put(pipeline, "generation", DOCUMENT, models)
            assert [call.model for call in models.calls] == names.split()
            if "？" in outcome:
                answer = "3" if "2003" in outcome else "陆羽"
                about = {"id": "tea", "subtopic": "tcm", "document": "tea"}
                assert stage_result == StageResult(row={**about, "question": outcome, "answer": answer})
            else:
                assert stage_result == StageResult(row=DOCUMENT, reason=outcome)


@pytest.mark.parametrize("first", [made("谁？", "陆羽"), HELD])
def test_feedback_reaches_the_generator(pipeline: Pipeline, first: str) -> None:
    """It sees its own question as it gave it, and what is to be mended."""
    replies, feedback = ([], "the question holds its answer") if first == HELD else ([NO], "理由")
    models = Models(first, *replies, GOOD, YES)
    put(pipeline, "generation", DOCUMENT, models)
    *_, own, why = [call for call in models.calls if call.model == "maker"][1].messages
    assert (own["role"], json.loads(own["content"])) == ("assistant", json.loads(first))
    assert (why["role"], feedback in why["content"]) == ("user", True)


# Difficulty.


def answering(known: Sequence[str], grade: str | None = None, **replies: Any) -> Said:
    """Solvers of which these know the answer, or give these replies, and a critic who grades them."""

    def said(call: Call, number: int) -> Any:
        if call.model == "critic":
            return grade or ("A" if "是陆羽" in call.messages[1]["content"] else "B")
        return replies.get(call.model[-1], "是陆羽。" if call.model in known else "是蔡伦。")

    return said


BLOCKED, REFUSED = Reply(text="陆羽", blocked="content_filter"), CallFailed("HTTP 400: Too odd.")
BOTH = ("solver-a", "solver-b")
ODD = {"failed_solvers": {"solver-a": "HTTP 400: Too odd."}}
SOLVED: Sequence[tuple[Said, Sequence[str], dict[str, JSON]]] = [
    *((answering(known), known, {}) for known in (BOTH, BOTH[:1], BOTH[1:], ())),
    # A filter, an empty reply, or a critic without a letter.
    (answering((), "A", a=BLOCKED, b=Reply(text=" ")), (), {}),
    (answering((), "嗯"), (), {}),
    # One that is refused knows nothing, and the refusal stands beside the question.
    (answering((), "A", a=REFUSED), BOTH[1:], ODD),
    (answering((), "B", a=REFUSED), (), ODD),
]


def test_only_what_all_know_is_too_easy(pipeline: Pipeline, subtests: pytest.Subtests) -> None:
    """One solver that is wrong keeps a question; solvers see the question alone, and there may be none."""
    assert stages(replace(pipeline, solver_indices=[]))["difficulty"].skipped == "no --solver"
    for solutions, solvers, more in SOLVED:
        with subtests.test(solvers=solvers, more=more):
            models = Models(answer=solutions)
            reason = "too easy: all models know it" if solvers == BOTH else None
            row = {**QUESTION, "solved_by": [*solvers], **more}
            assert put(pipeline, "difficulty", QUESTION, models) == StageResult(row=row, reason=reason)
            conversations = [call.messages for call in models.calls if call.model != "critic"]
            assert [messages[-1]["content"] for messages in conversations] == [QUESTION["question"]] * 2
            assert QUESTION["answer"] not in str(conversations)


def test_a_solver_that_stops_all_lets_the_other_come_home(pipeline: Pipeline) -> None:
    """What the other one said is paid for and graded; then the failure is raised."""
    models = Models(answer=answering((), a=CallFailed("HTTP 500", stops_session=True)))
    with pytest.raises(CallFailed):
        put(pipeline, "difficulty", QUESTION, models)
    assert [call.model for call in models.calls] == ["solver-a", "solver-b", "critic"]


# Near-duplicates.


def asking(*questions: str) -> list[dict[str, JSON]]:
    """Rows with these questions."""
    return [{**QUESTION, "id": str(index), "question": text} for index, text in enumerate(questions)]


CHAIN = asking("甲乙丙丁戊己庚辛壬癸", "甲乙丙丁戊己庚辛子丑", "丙丁戊己庚辛子丑寅卯")


def test_a_near_duplicate_is_marked_with_the_nearest_earlier_question() -> None:
    """Whatever their punctuation; of two that are as alike the first; others are as they were."""
    texts = [
        "谁改进了造纸术？",
        "《茶经》的作者是何人？",
        "《茶经》的作者是谁？",
        "茶经的作者是谁",
        "茶经的作者是谁?",
    ]
    marked = mark_near_duplicates(asking(*texts))
    assert [item.row.get("near") for item in marked] == [None, None, texts[1], texts[2], texts[2]]
    assert ([item.row for item in marked[:2]], {item.reason for item in marked}) == (
        asking(*texts[:2]),
        {None},
    )
    assert ["near" in item.row for item in mark_near_duplicates(CHAIN)] == [False, True, True]


def test_only_a_question_that_stays_is_in_the_way() -> None:
    """Of a chain of three, in which the outer two are not alike, the last one stays."""
    assert [item.reason is None for item in drop_near_duplicates(CHAIN)] == [True, False, True]
    rows = [QUESTION, {**NEAR, "question": ANOTHER}, {**NEAR, "question": ANOTHER.removesuffix("？")}]
    reasons = [None, None, f"near-duplicate: of {ANOTHER}"]
    assert [item.reason for item in drop_near_duplicates(rows)] == reasons


REWRITTEN: Sequence[tuple[dict[str, JSON], str, tuple[str, str], str | None]] = [
    # Alike as well, or with the answer, or none: nobody judges it.
    *((NEAR, new, ("", ""), SAME) for new in ("《茶经》的作者是谁呢？", "陆羽写了哪部论茶的书？", " ")),
    # Else it is judged again as a new question; the answer stays.
    (NEAR, ANOTHER, ("yes", "pass"), None),
    (NEAR, ANOTHER, ("no", ""), "criteria: 理由"),
    (NEAR, ANOTHER, ("yes", "fail"), "verification: 理由"),
    ({**NEAR, "answer": "3"}, "2003年的大会选出了几位主席？", ("yes", "pass"), None),
]


def by_purpose(replies: Mapping[str, str]) -> Said:
    """A maker and judges that reply by what a call is for."""
    return lambda call, number: replies[purpose(call)]


def test_a_near_duplicate_is_asked_in_another_way_or_dropped(
    pipeline: Pipeline, subtests: pytest.Subtests
) -> None:
    """With passages of its own; what is like nothing is left alone, and nobody is asked."""
    for row, new, (criteria, verification), reason in REWRITTEN:
        with subtests.test(new, criteria=criteria, verification=verification):
            replies = {"criteria": judged(criteria), "verification": judged(verification)}
            replies["rewriting"] = made(new, "别的答案")
            models = Models(answer=by_purpose(replies))
            stage_result = put(pipeline, "rewriting", {**row, "passages": ["old#1"]}, models)
            assert (stage_result.reason, stage_result.row["answer"]) == (reason, row["answer"])
            judges = {"": [], "no": ["criteria"], "yes": ["criteria", "verification"]}[criteria]
            assert [*dict.fromkeys(map(purpose, models.calls))] == ["rewriting", *judges]
            if judges:
                assert (stage_result.row["question"], stage_result.row["rewritten_from"]) == (
                    new,
                    NEAR["question"],
                )
                assert all(new in call.messages[1]["content"] for call in models.calls[1:])
            assert ("old#1" in stage_result.row["passages"]) == (criteria != "yes")
    models = Models("x")
    assert put(pipeline, "rewriting", QUESTION, models) == StageResult(row=QUESTION)
    assert models.calls == []
