"""Chinese SimpleQA: the rubric, what is asked for each option, its results and its figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import builders
import pytest
from fakes import FakeModel
from from_records import cells_of, parts_of, statistics_of
from msgspec import to_builtins
from one_fact import CASE, CHESS, CHOICE, FILE, MILK, RUBRIC, record, run
from plotted import plotted, whole

from conftest import refusal
from equipoise.core.records import Record
from equipoise.core.settings import Sampling
from equipoise.core.types import CONTINUES, Message
from equipoise.suites import chinese_simpleqa as suite
from equipoise.suites.chinese_simpleqa.dataset import Fact

DIRECT = "你是一个回答问题的助手。"
LETTERED = "A. 卢仝\nB. 皎然\nC. 蔡襄\nD. 陆羽"


# The rubric.

FAULTY = [
    ('step_by_step = "', 'steps = "', "asking.step_by_step is missing"),
    ('marker = "', 'mark = "', "asking.marker is missing"),
    ('marker = "答案："', 'marker = " "', "asking.marker must not be empty"),
    ("[few_shot]", "[shots]", "few_shot.example is missing"),
    ("[[few_shot.examples]]", "[[few_shot.others]]", "few_shot.examples needs at least one question"),
    ('question = "水的化学式是什么？"', "question = 5", "few_shot.examples: each needs a question"),
    ("答案：$answer", "答案：", "few_shot.example needs the placeholder $answer"),
    ("$question\n\n$options", "$question", "choice.user needs the placeholder $options"),
    ("[confidence]\nsystem", "[confidence]\nsys", "confidence.system is missing"),
    ('none = "', 'nothing = "', "retrieval.none is missing"),
    ("$reference\n", "", "grading.user needs the placeholder $reference"),
    ('C = "没有', 'D = "没有', "grading.options must be A, B, C: the suite counts them"),
]


def test_a_faulty_rubric_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """With the file and the key."""
    content, path = FILE.read_text(encoding="utf-8"), tmp_path / "chinese_simpleqa.toml"
    for old, new, says in FAULTY:
        with subtests.test(old=old, new=new):
            assert old in content
            path.write_text(content.replace(old, new), encoding="utf-8")
            assert refusal(suite.SUITE.judging.rubric, path).startswith(f"{path}: {says}")


# What is asked.


def messages(case: Fact) -> tuple[Message, ...]:
    """What the subject is sent."""
    subject = FakeModel("陆羽")
    run(case, subject, FakeModel("A"))
    return subject.call.messages


@pytest.mark.parametrize(
    ("changes", "words", "user"),
    [
        ({}, [DIRECT], "茶圣是谁？"),
        ({"style": "recall"}, ["知识", RUBRIC.marker], "茶圣是谁？"),
        ({"style": "step_by_step"}, ["推理", RUBRIC.marker], "茶圣是谁？"),
        ({"is_confident": True}, [DIRECT, "\n", "confidence"], "茶圣是谁？"),
        ({"options": CHOICE.options}, [f"{DIRECT}\n{RUBRIC.choice_system}"], f"茶圣是谁？\n\n{LETTERED}"),
    ],
)
def test_options_change_the_instruction(changes: Any, words: Sequence[str], user: str) -> None:
    """The question stands alone, before its options by letter in their order."""
    system, question = messages(replace(CASE, **changes))
    assert (system["role"], question) == ("system", Message(role="user", content=user))
    assert system["content"].startswith(DIRECT[:-1])
    assert [word for word in words if word not in system["content"]] == []


def test_a_text_of_examples_is_continued() -> None:
    """Up to the end of the answer's line, with no system message; as far as the user says, if at all."""
    for sampling, room in ((Sampling(), 64), (Sampling(max_tokens=9), 9)):
        subject, case = FakeModel("陆羽"), replace(CASE, style="few_shot")
        assert builders.evaluate(suite, case, RUBRIC, subject, FakeModel("A"), sampling=sampling).value == 2
        (message,) = subject.call.messages
        assert message["content"].startswith("问题：水的化学式是什么？\n答案：H2O\n\n问题：")
        assert message["content"].endswith("答案：木星\n\n问题：茶圣是谁？\n答案：")
        assert subject.call.parameters == {CONTINUES: True, "max_tokens": room, "stop": ["\n"]}
        assert suite.foresee(case, RUBRIC)[0].prompt == message["content"]


def test_passages_stand_before_the_question(tmp_path: Path) -> None:
    """Numbered; their ids are kept, and where none is found that is said."""
    (tmp_path / "a.txt").write_text("陆羽被称为茶圣。", encoding="utf-8")
    case = replace(CASE, corpus=str(tmp_path))
    system, user = messages(case)
    assert user["content"] == "资料：\n[1] 陆羽被称为茶圣。\n\n问题：茶圣是谁？"
    assert system["content"] == f"{DIRECT}\n{RUBRIC.retrieval_system}"
    assert run(case, FakeModel("陆羽"), FakeModel("A")).details["passages"] == ["a.txt#1"]
    other = replace(case, question="quark?")
    assert "资料：\n（没有检索到资料）" in messages(other)[1]["content"]
    assert run(other, FakeModel(""), FakeModel("A")).details["passages"] == []


def test_what_is_foreseen_is_what_is_asked() -> None:
    """The subject's prompt and the grading one; a choice has no evaluator."""
    judge = FakeModel("A")
    run(CASE, FakeModel("陆羽"), judge)
    subject, evaluator = suite.foresee(CASE, RUBRIC)
    assert (subject.role, subject.prompt) == ("subject", f"{DIRECT}\n茶圣是谁？")
    assert (evaluator.role, evaluator.quoted) == ("evaluator", 1)
    sent = "".join(message["content"] for message in judge.call.messages)
    assert evaluator.prompt == sent.replace("code-e1", "").replace("\n陆羽\n", "\n\n")
    assert [item.role for item in suite.foresee(CHOICE, RUBRIC)] == ["subject"]


# All runs.

RECORDS = [
    *(record(CASE, "AA"), record(MILK, "CC"), record(CHESS, "BA")),
    *(record(CASE, "BB", 2), record(MILK, "AA", 2, "好" * 20), record(CHESS, "??", 2)),
]


def summary(records: Sequence[Record] = RECORDS) -> dict[str, Any]:
    """The whole summary, with the parts that all suites share."""
    own = parts_of("chinese_simpleqa", records, RUBRIC.scale)["summary"]
    return {**own, **statistics_of("chinese_simpleqa", records, RUBRIC.scale)}


NAMES = ("f", "correct", "incorrect", "not_attempted", "correct_given_attempted")


def test_a_summary_by_hand() -> None:
    """A twice, B twice, C once; what has no grade is in none of the shares."""
    whole = summary()
    metrics = whole["metrics"]

    def values(suffix: str) -> list[float]:
        return [metrics[f"{name}{suffix}"].value for name in NAMES]

    assert values("") == pytest.approx([400 / 9, 40, 40, 20, 50], abs=1e-5)
    assert values(".topic.drinks") == pytest.approx([400 / 7, 50, 25, 25, 200 / 3], abs=1e-5)
    assert values(".topic.games") == values(".kind.number") == [0, 0, 100, 0, 0]
    assert metrics["f.subtopic.chess"].value == 0
    groups = ("topic.drinks", "topic.games", "kind.person", "kind.number")
    by_subtopic = {f"f.subtopic.{name}" for name in ("tea", "milk", "chess")}
    assert {*metrics} == {*NAMES, *(f"{name}.{group}" for name in NAMES for group in groups)} | by_subtopic
    assert tuple(metrics)[:5] == NAMES
    assert [metrics[name].higher_is_better for name in NAMES] == [True, True, False, None, True]
    chess = {"n": 1, **dict.fromkeys(NAMES, 0), "incorrect": 100}
    assert (whole["outcomes"], whole["subtopic"]["chess"]) == ({"scored": 5, "unscored": 1}, chess)
    assert whole["grades_read"] == {"strict": 10, "probabilities": 0}
    alone = whole["evaluators_alone"]
    assert (alone["e1"]["correct"], alone["e2"]["correct"], alone["e1"]["n"]) == (40, 60, 5)
    assert {"calibration", "letters"}.isdisjoint(whole)


def test_where_nothing_was_attempted_f_is_nothing_and_without_answers_there_is_none() -> None:
    """0 by definition, null where no run has a grade, as after a failed call."""
    idle = summary([record(CASE, "C")])["metrics"]
    assert (idle["f"].value, idle["correct_given_attempted"].value) == (0, 0)
    failed = Record(case=CASE.to_json(), run=2, outcome="error", score=None, error="no route")
    nobody = summary([record(CASE, "?"), failed])
    assert {metric.value for metric in nobody["metrics"].values()} == {None}
    json.dumps(to_builtins(summary([])["metrics"]), allow_nan=False)


def test_an_evaluator_can_be_left_out() -> None:
    """As if it had not been in the panel; what needed no evaluator stays."""
    chess = cells_of("chinese_simpleqa", RECORDS, RUBRIC.scale)[2]
    assert (chess.values["correct"], chess.verdicts) == ([0, None], {"e1": [0, None], "e2": [2, None]})
    chess = cells_of("chinese_simpleqa", RECORDS, RUBRIC.scale, "e1")[2]
    assert (chess.values["correct"], chess.verdicts) == ([1, None], {"e2": [2, None]})
    empty = record(MILK, "AA", 3, text="")
    (milk,) = cells_of("chinese_simpleqa", [empty], RUBRIC.scale, "e1")
    assert (milk.values["not_attempted"], milk.verdicts) == ([1], {})


def test_side_studies_are_made_where_there_is_something_to_study() -> None:
    """The best of several runs; stated confidence; the letters that were chosen."""
    assert summary()["best_of"] == [
        {"tries": 1, "questions": 3, "prefix": pytest.approx(100 / 3), "unbiased": pytest.approx(100 / 3)},
        {"tries": 2, "questions": 2, "prefix": 100, "unbiased": 100},
    ]
    sure, unsure = replace(CASE, is_confident=True), replace(MILK, is_confident=True)
    reply = '{"answer": "陆羽", "confidence": 80}'
    records = [record(sure, "A", text=reply), record(unsure, "B"), record(sure, "?", 2, text=reply)]
    curve = summary(records)["calibration"]
    assert (curve["n"], curve["confidence"], curve["accuracy"], curve["ece"]) == (1, 80, 100, 20)
    assert curve["unparsed"] == 1
    texts = ("D", "A", "A", "I do not know at all.")
    choices = summary([record(CHOICE, "C", number, text) for number, text in enumerate(texts, start=1)])
    assert choices["letters"] == {"A": 2, "B": 0, "C": 0, "D": 1, "none": 1}
    assert (choices["metrics"]["correct"].value, choices["other_language"]) == (25, 1)


def test_topics_calibration_and_tries_are_shown() -> None:
    """The five shares by topic, the bins that have answers, and the curve over tries."""
    cases = (CASE, CHESS)
    records = [record(case, vote, run) for case in cases for run, vote in ((1, "B"), (2, "A"))]
    stated = [
        replace(record, details={**record.details, "confidence": 80.0 + record.run}) for record in records
    ]
    rows = plotted("chinese_simpleqa", whole("chinese_simpleqa", stated, RUBRIC.scale))
    shares = {(row["row"], row["column"]): row["value"] for row in rows["by-topic"]}
    assert (shares["overall", "CO"], shares["games", "IN"], shares["games", "NA"]) == (50.0, 50.0, 0.0)
    assert [(row["x"], row["value"], row["answers"]) for row in rows["calibration"]] == [(81.5, 50.0, 4)]
    tries = [(row["x"], row["value"]) for row in rows["best-of"] if row["series"] == "the first k tries"]
    assert tries == [(1, 0.0), (2, 100.0)]
