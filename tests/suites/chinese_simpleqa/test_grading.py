"""How an answer to a question of fact is graded: by letters, by a panel, or without anybody's help."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from one_fact import CASE, CHOICE, FakeModel, run

from equipoise.core.errors import CallFailed
from equipoise.core.types import Reply, Token


def test_an_evaluator_sees_question_reference_and_reply() -> None:
    """All accepted spellings, each part between markers with the code of the call."""
    judge = FakeModel("A")
    found = run(CASE, FakeModel("是陆羽。"), judge)
    system, user = judge.history[0].messages
    assert "A" in system["content"]
    for name, text in (("question", "茶圣是谁？"), ("reference", "陆羽 / 陸羽"), ("reply", "是陆羽。")):
        assert f"[{name} code-e1]\n{text}\n[end of {name} code-e1]" in user["content"]
    assert judge.history[0].parameters == {}
    assert (found.outcome, found.value) == ("scored", 2)
    assert found.details == {"grade": "A", "exact": False, "other_language": False}


def letters(**shares: float) -> Reply:
    """An evaluator's reply whose first token has these probabilities."""
    top = {label: math.log(share) for label, share in shares.items()}
    return Reply(text="嗯", tokens=(Token(text="嗯", top={**top, "嗯": math.log(0.3)}),))


def test_a_grade_says_how_it_was_read(subtests: pytest.Subtests) -> None:
    """By its letter alone, or, asked again, by probabilities, at last by a schema; nothing is guessed."""
    for said, grade, how, attempts in (
        (["A"], "A", "strict", 1),
        (["(B)"], "B", "strict", 1),
        (["NOT_ATTEMPTED", "C"], "C", "strict", 2),
        (["INCORRECT", "As an AI language model, I cannot assess this.", "B"], "B", "strict", 3),
        (["C，因为没有作答", "（C）"], "C", "strict", 2),
        (["嗯。", "B"], "B", "strict", 2),
        (["Correct", "A"], "A", "strict", 2),
        (["回答为Calgene，与标准答案一致，A", "A"], "A", "strict", 2),
        (["嗯。", letters(A=0.2, B=0.1, C=0.4)], "C", "probabilities", 2),
        (["嗯。", "嗯。", "嗯。", '{"label": "C"}'], "C", "strict", 4),
    ):
        with subtests.test(said=said, grade=grade):
            judge = FakeModel(*said)
            found = run(CASE, FakeModel("不知道"), judge, attempts=4)
            (verdict,) = found.verdicts
            assert (verdict.fields, verdict.attempts) == ({"grade": grade, "how": how}, attempts)
            assert verdict.raw == tuple(said[: attempts - 1])
            assert (found.outcome, found.value) == ("scored", {"A": 2, "B": 0, "C": 1}[grade])
            assert all(call.parameters["logprobs"] is True for call in judge.history[1:3])
            for call in judge.history[3:]:
                schema = call.parameters["response_format"]["json_schema"]["schema"]
                assert ("logprobs" in call.parameters, schema["properties"]["label"]["enum"]) == (
                    False,
                    ["A", "B", "C"],
                )
            for number, call in enumerate(judge.history[1:], start=1):
                *_, wrong, why = call.messages
                assert (wrong["role"], wrong["content"]) == ("assistant", said[number - 1])
                assert (why["role"], "只回答一个字母" in why["content"]) == ("user", True)


def test_without_a_grade_a_run_is_unscored() -> None:
    """Missing and with the reason, never counted as not attempted; what was blocked is not asked again."""
    blocked = Reply(text="A", blocked="filter")
    for said, why, calls in (
        ("嗯。", "no grade: e1: no letter", 3),
        (blocked, "no grade: e1: blocked by the evaluator's provider (filter)", 1),
    ):
        judge = FakeModel(said)
        found = run(CASE, FakeModel("陆羽"), judge)
        assert (found.outcome, found.value, found.error) == ("unscored", None, why)
        assert (found.details["grade"], found.details["exact"], len(judge.history)) == (None, True, calls)


def test_what_says_nothing_is_not_attempted(subtests: pytest.Subtests) -> None:
    """No evaluator is paid for it."""
    for case in (CASE, CHOICE):
        for reply, outcome in (
            (Reply(text="陆羽", blocked="filter"), "blocked"),
            (Reply(text=" \n"), "empty"),
            (Reply(text="", finish_reason="length"), "empty"),
        ):
            with subtests.test(case=case, reply=reply):
                judge = FakeModel("A")
                found = run(case, FakeModel(reply), judge)
                assert (found.outcome, found.value, found.details) == (outcome, 1, {"grade": "C"})
                assert judge.history == []


def test_a_reply_that_was_cut_is_graded_and_says_so() -> None:
    """As far as it goes."""
    cut = Reply(text="陆", finish_reason="length")
    assert run(CASE, FakeModel(cut), FakeModel("B")).outcome == "truncated"
    assert run(CHOICE, FakeModel(replace(cut, text="D"))).outcome == "truncated"


def test_a_panel_decides_by_majority(subtests: pytest.Subtests) -> None:
    """A tie goes against the answer; who gave no grade has no vote."""
    for votes, grade in (("AAB", "A"), ("ABC", "B"), ("AC", "C"), ("A?", "A")):
        with subtests.test(votes=votes, grade=grade):
            found = run(CASE, FakeModel("陆羽"), *map(FakeModel, votes), attempts=1)
            assert (found.details["grade"], len(found.verdicts)) == (grade, len(votes))


def test_others_stand_in_for_an_evaluator_that_fails() -> None:
    """Its verdict says why it is missing; where all fail the call has failed."""
    failed = FakeModel(CallFailed("no route"))
    found = run(CASE, FakeModel("陆羽"), failed, FakeModel("A"))
    assert (found.value, found.verdicts[0].fields, found.verdicts[0].error) == (2, None, "no route")
    with pytest.raises(CallFailed):
        run(CASE, FakeModel("陆羽"), failed)


def test_what_is_graded_stands_behind_the_last_marker(subtests: pytest.Subtests) -> None:
    """Where one was asked for and something stands behind it; else all of it."""
    for style, text, graded in (
        ("direct", "答案：陆羽", "答案：陆羽"),
        ("recall", "茶圣写了《茶经》。\n答案：陆羽\n", "陆羽"),
        ("step_by_step", "答案：皎然？不对。\n答案： 陆羽", "陆羽"),
        ("recall", "茶圣写了《茶经》。\n答案: 陆羽", "陆羽"),
        ("recall", "我记得是陆羽。", "我记得是陆羽。"),
        ("recall", "陆羽。答案：", "陆羽。答案："),
    ):
        with subtests.test(style=style, text=text):
            judge = FakeModel("A")
            found = run(replace(CASE, style=style), FakeModel(text), judge)
            shown = judge.history[0].messages[1]["content"]
            assert f"[reply code-e1]\n{graded.strip()}\n[end of reply" in shown
            assert found.details["exact"] is (graded == "陆羽")


def test_confidence_is_kept_beside_the_grade() -> None:
    """The answer alone is graded; a reply that is no such object is graded whole, without a confidence."""
    for text, graded, told in (
        ('{"answer": "陆羽", "confidence": 80}', "陆羽", 80),
        ("陆羽，八成把握", "陆羽，八成把握", None),
    ):
        judge = FakeModel("A")
        found = run(replace(CASE, is_confident=True), FakeModel(text), judge)
        assert (found.details["confidence"], found.value) == (told, 2)
        assert f"\n{graded}\n[end of reply" in judge.history[0].messages[1]["content"]


def test_a_choice_that_stands_alone_is_read_without_an_evaluator(subtests: pytest.Subtests) -> None:
    """By letter, by words, or behind the marker: right or wrong."""
    for text, place, grade in (
        ("D", 3, "A"),
        ("答案：D", 3, "A"),
        ("陆羽", 3, "A"),
        ("A. 卢仝", 0, "B"),
        ("先想一想，B不对。\n答案：**D**", 3, "A"),
    ):
        with subtests.test(text=text, place=place):
            judge = FakeModel("A")
            found = run(CHOICE, FakeModel(text), judge)
            assert found.details == {"chosen": place, "grade": grade, "other_language": False}
            assert (found.outcome, found.verdicts, judge.history) == ("scored", (), [])


def test_any_other_choice_is_graded_with_its_options(subtests: pytest.Subtests) -> None:
    """What the plain rule leaves is not taken for no attempt."""
    for text in ("我选D", "不知道", "答案：A\n不对。答案：D。", "A或D"):
        with subtests.test(text):
            judge = FakeModel("A")
            found = run(CHOICE, FakeModel(text), judge)
            assert (found.details["chosen"], found.details["grade"]) == (None, "A")
            asked = judge.history[0].messages[1]["content"]
            assert all(option in asked for option in CHOICE.options)


def test_the_language_is_that_of_the_whole_reply(subtests: pytest.Subtests) -> None:
    """Not of the answer behind a marker alone; of choices too; the keys of an object do not count.

    An answer in another language is graded like any other.
    """
    recalled, sure = replace(CASE, style="recall"), replace(CASE, is_confident=True)
    for case, text, is_other in (
        (CASE, "The sage of tea was Lu Yu.", True),
        (recalled, "The sage of tea lived in the Tang dynasty.\n答案：陆羽", True),
        (recalled, "茶圣生活在唐代。\n答案：陆羽", False),
        (CHOICE, "The answer is D.", True),
        (CHOICE, "答案：D", False),
        (sure, '{"answer": "陆羽", "confidence": 80}', False),
        (sure, '{"answer": "it is Lu Yu", "confidence": 80}', True),
    ):
        with subtests.test(text):
            found = run(case, FakeModel(text), FakeModel("A"))
            assert (found.details["other_language"], found.value) == (is_other, 2)
