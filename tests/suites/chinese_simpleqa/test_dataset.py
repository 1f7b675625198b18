"""Questions of fact: what is read of both layouts, offered, and refused with file and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import refusal
from equipoise.suites.chinese_simpleqa.dataset import Fact, facts
from equipoise.suites.selection import Selection

TABLE = """\
subtopic,subtopic_name,topic,topic_name
tea,茶,drinks,饮料
milk,奶,drinks,饮料
chess,棋,games,游戏
"""
FIRST: dict[str, Any] = {
    "id": "tea_1",
    "subtopic": "tea",
    "question": "茶圣是谁？",
    "answer": "陆羽",
    "kind": "person",
    "variants": ["陸羽"],
    "distractors": ["皎然", "卢仝", "蔡襄"],
}
SECOND: dict[str, Any] = {
    "id": "chess_1",
    "subtopic": "chess",
    "question": "围棋棋盘有几个交叉点？",
    "answer": "361",
    "distractors": ["324", "400", "81"],
}
PUBLISHED: dict[str, Any] = {
    "id": "5aa3c2a0e7e4",
    "primary_category": "饮料",
    "secondary_category": "奶",
    "question": "奶是什么？",
    "answer": "乳",
    "urls": ["https://example.org/"],
}


def dataset(folder: Path, *rows: dict[str, Any], name: str = "questions") -> Path:
    """A dataset of these rows, or of the first two."""
    (folder / "subtopics.csv").write_text(TABLE, encoding="utf-8")
    lines = "".join(f"{json.dumps(row)}\n" for row in rows or (FIRST, SECOND))
    (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return folder


def read(topics: Path, *languages: str, **options: Any) -> list[Fact]:
    """The questions of a dataset."""
    return facts(Selection(topics=topics, languages=languages, options=options))


# What is read.


def test_a_question_has_all_that_is_known_of_it(tmp_path: Path) -> None:
    """The area is the topic; the slug and both names are further words; the answer comes first."""
    dataset(tmp_path, PUBLISHED, name="chinese_simpleqa")
    first, second = read(dataset(tmp_path))
    assert first == Fact(
        id="zh-CN-drinks-tea_1",
        language="zh-CN",
        area="drinks",
        keywords=("tea", "茶", "饮料"),
        item="tea_1",
        topic="drinks",
        subtopic="tea",
        kind="person",
        question="茶圣是谁？",
        accepted=("陆羽", "陸羽"),
    )
    assert (second.id, second.kind, second.accepted) == ("zh-CN-games-chess_1", None, ("361",))


def test_the_published_layout_is_read(tmp_path: Path) -> None:
    """Names become slugs by the table, or the project's own; ids are numbered; unknown names have no slug."""
    other = {**PUBLISHED, "secondary_category": "酒", "id": "5aa3c2a0e7e5"}
    first, second = read(dataset(tmp_path, PUBLISHED, other, name="chinese_simpleqa"))
    shown = (first.id, first.item, first.topic, first.subtopic, first.accepted, first.kind)
    assert shown == ("zh-CN-drinks-milk_q0001", "milk_q0001", "drinks", "milk", ("乳",), None)
    assert first.keywords == ("milk", "奶", "饮料")
    assert (second.id, second.keywords) == ("zh-CN-general-general_q0002", ("general", "酒", "饮料"))
    path = tmp_path / "alone" / "mine.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps({**PUBLISHED, "primary_category": "中华文化", "secondary_category": "中医"}))
    assert [fact.id for fact in read(path)] == ["zh-CN-chinese_culture-tcm_q0001"]


def test_a_users_file_needs_three_keys_only(tmp_path: Path) -> None:
    """Id, question and answer; the area is the general one, and a byte order mark does no harm."""
    path = tmp_path / "mine.jsonl"
    path.write_text('\ufeff{"id": "a", "question": "谁？", "answer": "我"}', encoding="utf-8")
    (fact,) = read(path, "zh-CN")
    assert (fact.id, fact.area, fact.subtopic) == ("zh-CN-general-a", "general", "general")
    assert (fact.keywords, fact.accepted, fact.kind, fact.options) == (("general",), ("我",), None, ())


def test_how_it_is_asked_is_kept(tmp_path: Path) -> None:
    """Style, confidence, corpus and retriever, as the user says; in JSON the corpus has no path."""
    corpus = tmp_path / "somewhere" / "books"
    corpus.mkdir(parents=True)
    (corpus / "a.txt").write_text("茶", encoding="utf-8")
    plain, sure = (
        read(dataset(tmp_path), **options)[0] for options in ({}, {"confidence": True, "retrieval": corpus})
    )
    settings = (sure.style, sure.is_confident, sure.corpus, sure.retriever)
    assert settings == ("direct", True, str(corpus), None)
    written = sure.to_json()
    assert (written["corpus"], "keywords" in written, plain.to_json()["corpus"]) == ("books", False, None)
    assert "somewhere" not in json.dumps(written)


# What is offered.


def test_a_choice_is_offered_in_a_fixed_order(tmp_path: Path) -> None:
    """That of the code points, wherever the answer stands in it; half a character does no harm."""
    odd = {**FIRST, "id": "odd", "distractors": ["皎然\ud83d", "卢仝", "蔡襄"]}
    dataset(tmp_path, FIRST, SECOND, odd)
    expected = [("卢仝", "皎然", "蔡襄", "陆羽"), ("324", "361", "400", "81")]
    assert [fact.options for fact in read(tmp_path, answer_format="choice")][:2] == expected
    assert {*read(tmp_path, answer_format="shuffled")[2].options} == {"陆羽", *odd["distractors"]}


def test_options_are_shuffled_by_question_and_seed(tmp_path: Path) -> None:
    """The same at every call; 0 is no seed; each other one has its own order of the same options."""
    rows = [{**SECOND, "id": f"q{number}"} for number in range(40)]
    dataset(tmp_path, *rows)
    plain, again, *seeded = (
        [fact.options for fact in read(tmp_path, answer_format="shuffled", **options)]
        for options in ({}, {"seed": 0}, {"seed": 1}, {"seed": 2})
    )
    assert plain == again
    assert len({tuple(orders) for orders in (plain, *seeded)}) == 3
    for orders in (plain, *seeded):
        assert {tuple(sorted(options)) for options in orders} == {("324", "361", "400", "81")}
        assert {options.index("361") for options in orders} == {0, 1, 2, 3}
    # One question's order does not hang on the others.
    assert read(dataset(tmp_path, rows[7]), answer_format="shuffled")[0].options == plain[7]


@pytest.mark.parametrize("form", ["choice", "shuffled"])
@pytest.mark.parametrize("wrong", ["", "皎然 卢仝", "皎然 皎然 卢仝", "皎然 卢仝 陸羽", "皎然 卢仝 蔡襄 甲"])
def test_a_choice_needs_three_wrong_answers(tmp_path: Path, form: str, wrong: str) -> None:
    """All different, none of them accepted; an open question needs none."""
    path = dataset(tmp_path, SECOND, {**FIRST, "distractors": wrong.split()}) / "questions.jsonl"
    says = f"{path}:2: --answer-format {form} needs 3 different wrong 'distractors'"
    assert refusal(read, tmp_path, answer_format=form) == says
    assert len(read(tmp_path)) == 2


# What is refused.


def test_a_file_without_a_question_is_refused(tmp_path: Path) -> None:
    """So is a folder without a file, a path that is not there, and a subtopic that the table lacks."""
    assert refusal(read, tmp_path) == f"{tmp_path}: no questions.jsonl in this folder"
    assert refusal(read, tmp_path / "no.jsonl").startswith(f"{tmp_path / 'no.jsonl'}: ")
    path = dataset(tmp_path, FIRST, {**SECOND, "subtopic": "go"}) / "questions.jsonl"
    assert refusal(read, tmp_path) == f"{path}:2: there is no subtopic 'go' in subtopics.csv"
    path.write_text(" \n", encoding="utf-8")
    assert refusal(read, tmp_path) == f"{path}:1: no question in this file; write one JSON object a line"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"prompt_style": "few_shot", "answer_format": "choice"}, "--prompt-style few_shot: "),
        ({"prompt_style": "few_shot", "confidence": True}, "--prompt-style few_shot: "),
        ({"prompt_style": "few_shot", "retrieval": Path("/nowhere")}, "--prompt-style few_shot: "),
        ({"prompt_style": "recall", "confidence": True}, "--confidence: the answer is a JSON object alone"),
        ({"confidence": True, "answer_format": "choice"}, "--confidence: is asked for beside an open answer"),
        ({"confidence": True, "answer_format": "shuffled"}, "--confidence: is asked for beside an open"),
        ({"seed": 1}, "--seed: shuffles options; add --answer-format shuffled"),
        ({"seed": 1, "answer_format": "choice"}, "--seed: shuffles options"),
        ({"retriever": "json:loads"}, "--retriever: needs --retrieval"),
        ({"retrieval": Path("/nowhere"), "retriever": "json:no"}, "--retriever: 'json:no' is not available"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tmp_path: Path, options: dict[str, Any], says: str
) -> None:
    """Before any file is opened."""
    assert refusal(read, tmp_path / "nowhere", **options).startswith(says)
