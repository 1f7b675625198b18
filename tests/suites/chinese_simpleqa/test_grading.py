"""How an answer to a question of fact is graded: by letters, by a panel, or without anybody's help."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from fakes import FakeModel
from one_fact import CASE, CHOICE, run

from equipoise.core.errors import CallFailed
from equipoise.core.types import Reply, Token
from equipoise.suites.chinese_simpleqa.dataset import Fact

SCORES = {"A": 2, "C": 1, "B": 0}
RECALLED, REASONED = (replace(CASE, style=style) for style in ("recall", "step_by_step"))
SURE = replace(CASE, is_confident=True)


def test_an_evaluator_sees_question_reference_and_reply() -> None:
    """All accepted spellings, each part between markers with the code of the call."""
    judge = FakeModel("A")
    score = run(CASE, FakeModel("是陆羽。"), judge)
    for name, text in (("question", "茶圣是谁？"), ("reference", "陆羽 / 陸羽"), ("reply", "是陆羽。")):
        assert f"[{name} code-e1]\n{text}\n[end of {name} code-e1]" in judge.call.messages[1]["content"]
    assert judge.call.parameters == {}
    assert (score.outcome, score.value) == ("scored", 2)
    assert score.details == {"grade": "A", "exact": False, "other_language": False}


def letters(**shares: float) -> Reply:
    """An evaluator's reply whose first token has these probabilities."""
    top = {label: math.log(share) for label, share in shares.items()}
    return Reply(text="嗯", tokens=(Token(text="嗯", top={**top, "嗯": math.log(0.3)}),))


GRADED: Sequence[tuple[Sequence[str | Reply], str, str]] = [
    (["A"], "A", "strict"),
    (["(B)"], "B", "strict"),
    (["INCORRECT", "As an AI language model, I cannot assess this.", "B"], "B", "strict"),
    (["C，因为没有作答", "（C）"], "C", "strict"),
    (["回答为Calgene，与标准答案一致，A", "A"], "A", "strict"),
    (["嗯。", letters(A=0.2, B=0.1, C=0.4)], "C", "probabilities"),
    (["嗯。", "嗯。", "嗯。", '{"label": "C"}'], "C", "strict"),
]


def test_a_grade_says_how_it_was_read(subtests: pytest.Subtests) -> None:
    """By its letter alone, or, asked again, by probabilities, at last by a schema; nothing is guessed."""
    for replies, grade, how in GRADED:
        with subtests.test(replies=replies):
            judge = FakeModel(*replies)
            score = run(CASE, FakeModel("不知道"), judge, attempts=4)
            (verdict,) = score.verdicts
            assert (verdict.fields, verdict.attempts) == ({"grade": grade, "how": how}, len(replies))
            assert verdict.raw == tuple(replies[:-1])
            assert (score.outcome, score.value) == ("scored", SCORES[grade])
            assert all(call.parameters["logprobs"] is True for call in judge.history[1:3])
            for call in judge.history[3:]:
                schema = call.parameters["response_format"]["json_schema"]["schema"]
                assert schema["properties"]["label"]["enum"] == ["A", "B", "C"]
                assert "logprobs" not in call.parameters
            for number, call in enumerate(judge.history[1:]):
                *_, wrong, why = call.messages
                assert (wrong["role"], wrong["content"]) == ("assistant", replies[number])
                assert (why["role"], "只回答一个字母" in why["content"]) == ("user", True)


@pytest.mark.parametrize(
    ("reply", "why", "calls"),
    [
        ("嗯。", "no letter", 3),
        (Reply(text="A", blocked="filter"), "blocked by the evaluator's provider (filter)", 1),
    ],
)
def test_without_a_grade_a_run_is_unscored(reply: str | Reply, why: str, calls: int) -> None:
    """Missing and with the reason, never counted as not attempted; what was blocked is not asked again."""
    judge = FakeModel(reply)
    score = run(CASE, FakeModel("陆羽"), judge)
    assert (score.outcome, score.value, score.error) == ("unscored", None, f"no grade: e1: {why}")
    assert (score.details["grade"], score.details["exact"], len(judge.history)) == (None, True, calls)


@pytest.mark.parametrize(
    ("votes", "grade"),
    [("AAB", "A"), ("CCA", "C"), ("BA", "B"), ("ABC", "B"), ("CB", "B"), ("AC", "C"), ("A?", "A")],
)
def test_a_panel_decides_by_majority(votes: str, grade: str) -> None:
    """A tie goes against the answer, B before C before A; who gave no grade has no vote."""
    score = run(CASE, FakeModel("陆羽"), *map(FakeModel, votes), attempts=1)
    assert (score.details["grade"], len(score.verdicts)) == (grade, len(votes))


def test_others_stand_in_for_an_evaluator_that_fails() -> None:
    """Its verdict says why it is missing; where all fail the call has failed."""
    failed = FakeModel(CallFailed("no route"))
    score = run(CASE, FakeModel("陆羽"), failed, FakeModel("A"))
    assert (score.value, score.verdicts[0].fields, score.verdicts[0].error) == (2, None, "no route")
    with pytest.raises(CallFailed):
        run(CASE, FakeModel("陆羽"), failed)


NOTHING = [
    (Reply(text="陆羽", blocked="filter"), "blocked"),
    (Reply(text=" \n"), "empty"),
    (Reply(text="", finish_reason="length"), "empty"),
]


@pytest.mark.parametrize("case", [CASE, CHOICE])
def test_what_says_nothing_is_not_attempted(case: Fact) -> None:
    """No evaluator is paid for it; a reply that was cut is graded and says so."""
    for reply, outcome in NOTHING:
        judge = FakeModel("A")
        score = run(case, FakeModel(reply), judge)
        assert (score.outcome, score.value, score.details) == (outcome, 1, {"grade": "C"})
        assert judge.history == []
    cut = FakeModel(Reply(text="D", finish_reason="length"))
    assert run(case, cut, FakeModel("B")).outcome == "truncated"


REPLIES: Sequence[tuple[Fact, str, str, bool]] = [
    # Behind the last marker where one was asked for and something stands behind it; else all of it.
    (CASE, "答案：陆羽", "答案：陆羽", False),
    (RECALLED, "茶圣写了《茶经》。\n答案：陆羽\n", "陆羽", False),
    (REASONED, "答案：皎然？不对。\n答案： 陆羽", "陆羽", False),
    (RECALLED, "茶圣写了《茶经》。\n答案: 陆羽", "陆羽", False),
    (RECALLED, "我记得答案是陆羽。", "我记得答案是陆羽。", False),
    (RECALLED, "陆羽。答案：", "陆羽。答案：", False),
    # The language is that of the whole reply, but for the keys of an object.
    (CASE, "The sage of tea was Lu Yu.", "The sage of tea was Lu Yu.", True),
    (RECALLED, "The sage of tea lived in the Tang dynasty.\n答案：陆羽", "陆羽", True),
    (SURE, '{"answer": "陆羽", "confidence": 80}', "陆羽", False),
    (SURE, '{"answer": "it is Lu Yu", "confidence": 80}', "it is Lu Yu", True),
    (SURE, "陆羽，八成把握", "陆羽，八成把握", False),
    # A choice that no plain rule reads is graded, too.
    (CHOICE, "The answer is D.", "The answer is D.", True),
    (CHOICE, "我选D", "我选D", False),
    (CHOICE, "答案：A\n不对。答案：D。", "答案：A\n不对。答案：D。", False),
    (CHOICE, "A或D", "A或D", False),
]


def test_what_of_a_reply_is_graded(subtests: pytest.Subtests) -> None:
    """And in which language it is; a choice with its options, confidence beside the grade."""
    for case, text, graded, is_other in REPLIES:
        with subtests.test(text=text):
            judge = FakeModel("A")
            score = run(case, FakeModel(text), judge)
            shown = judge.call.messages[1]["content"]
            assert f"[reply code-e1]\n{graded}\n[end of reply" in shown
            assert all(option in shown for option in case.options)
            assert (score.value, score.details["other_language"]) == (2, is_other)
            assert score.details.get("exact", "choice") == ("choice" if case.options else graded == "陆羽")
            assert score.details.get("chosen") is None
            confidence = 80 if "80" in text else None
            assert score.details.get("confidence", "none") == (confidence if case is SURE else "none")


@pytest.mark.parametrize(
    ("text", "index", "grade"),
    [
        *(("D", 3, "A"), ("答案：D", 3, "A"), ("陆羽", 3, "A"), ("A. 卢仝", 0, "B")),
        ("先想一想，B不对。\n答案：**D**", 3, "A"),
    ],
)
def test_a_choice_that_stands_alone_is_read_without_an_evaluator(text: str, index: int, grade: str) -> None:
    """By letter, by words, or behind the marker: right or wrong."""
    judge = FakeModel("A")
    score = run(CHOICE, FakeModel(text), judge)
    assert score.details == {"chosen": index, "grade": grade, "other_language": False}
    assert (score.outcome, score.verdicts, judge.history) == ("scored", (), [])
