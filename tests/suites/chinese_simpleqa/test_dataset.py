"""Questions of fact: what is read of both layouts, offered, and refused with file and line."""

from __future__ import annotations

import json
from functools import partial
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


def dataset(folder: Path, *rows: Any, name: str = "questions") -> Path:
    """A dataset of these rows; of two of them where none is given. A text stands as it is."""
    (folder / "subtopics.csv").write_text(TABLE, encoding="utf-8")
    lines = [
        row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)
        for row in rows or (FIRST, SECOND)
    ]
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def read(topics: Path, *languages: str, **options: Any) -> list[Fact]:
    """The questions of a dataset."""
    return facts(Selection(topics=topics, languages=languages, options=options))


complaint = partial(refusal, read)


# What is read.


def test_a_question_has_all_that_is_known_of_it(tmp_path: Path) -> None:
    """The area is the topic; the slug and both names are further words; the answer comes first."""
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
    """Names become slugs by the table; ids are numbered; a pair of names that nobody knows has no slug."""
    other = {**PUBLISHED, "id": "5aa3c2a0e7e5", "secondary_category": "酒"}
    first, second = read(dataset(tmp_path, PUBLISHED, other, name="chinese_simpleqa"))
    shown = (first.id, first.item, first.topic, first.subtopic, first.keywords, first.kind)
    assert shown == (
        *("zh-CN-drinks-milk_q0001", "milk_q0001", "drinks", "milk", ("milk", "奶", "饮料"), None),
    )
    assert (second.id, second.keywords) == ("zh-CN-general-general_q0002", ("general", "酒", "饮料"))
    assert first.accepted == ("乳",)


def test_without_a_table_the_projects_own_counts(tmp_path: Path) -> None:
    """Its slugs and its names."""
    path = tmp_path / "mine.jsonl"
    row = {**PUBLISHED, "primary_category": "中华文化", "secondary_category": "中医"}
    path.write_text(json.dumps(row), encoding="utf-8")
    assert [fact.id for fact in read(path)] == ["zh-CN-chinese_culture-tcm_q0001"]


def test_a_users_file_needs_three_keys_only(tmp_path: Path) -> None:
    """Id, question and answer; the area is the general one, and a byte order mark does no harm."""
    path = tmp_path / "mine.jsonl"
    path.write_text('\ufeff{"id": "a", "question": "谁？", "answer": "我"}', encoding="utf-8")
    (fact,) = read(path, "zh-CN")
    assert (fact.id, fact.area, fact.subtopic) == ("zh-CN-general-a", "general", "general")
    assert (fact.keywords, fact.accepted, fact.kind, fact.options) == (("general",), ("我",), None, ())


def test_our_layout_comes_before_the_published(tmp_path: Path) -> None:
    """Where a folder has both."""
    dataset(tmp_path, PUBLISHED, name="chinese_simpleqa")
    assert len(read(tmp_path)) == 1
    assert [fact.item for fact in read(dataset(tmp_path))] == ["tea_1", "chess_1"]


def test_how_it_is_asked_is_kept(tmp_path: Path) -> None:
    """Style, confidence, corpus and retriever, as the user says; in JSON the corpus has no path."""
    corpus = tmp_path / "somewhere" / "books"
    corpus.mkdir(parents=True)
    (corpus / "a.txt").write_text("茶", encoding="utf-8")
    (fact, *_) = read(dataset(tmp_path), confidence=True, retrieval=corpus)
    told = (fact.style, fact.is_confident, fact.corpus, fact.retriever)
    assert told == ("direct", True, str(corpus), None)
    written = fact.to_json()
    assert (written["corpus"], "keywords" in written) == ("books", False)
    assert "somewhere" not in json.dumps(written)
    assert read(tmp_path)[0].to_json()["corpus"] is None


# What is offered.


def test_a_choice_is_offered_in_a_fixed_order(tmp_path: Path) -> None:
    """That of the code points, wherever the answer stands in it."""
    first, second = read(dataset(tmp_path), answer_format="choice")
    assert first.options == tuple(sorted(["陆羽", "皎然", "卢仝", "蔡襄"]))
    assert second.options == ("324", "361", "400", "81")
    assert read(tmp_path)[0].options == ()


def test_options_are_shuffled_by_question_and_seed(tmp_path: Path) -> None:
    """The same at every call; 0 is no seed; each other one has its own order of the same options."""
    rows = [{**SECOND, "id": f"q{number}"} for number in range(40)]
    dataset(tmp_path, *rows)
    plain, again, *seeded = (
        [fact.options for fact in read(tmp_path, answer_format="shuffled", **options)]
        for options in ({}, {"seed": 0}, {"seed": 1}, {"seed": 2})
    )
    assert plain == again
    assert len({tuple(found) for found in (plain, *seeded)}) == 3
    for found in (plain, *seeded):
        assert {tuple(sorted(options)) for options in found} == {("324", "361", "400", "81")}
        assert {options.index("361") for options in found} == {0, 1, 2, 3}
    # One question's order does not hang on the others.
    assert read(dataset(tmp_path, rows[7]), answer_format="shuffled")[0].options == plain[7]


def test_a_choice_needs_three_wrong_answers(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """All different, none of them accepted; an open question needs none."""
    for form in ("choice", "shuffled"):
        for wrong in (
            None,
            ["皎然", "卢仝"],
            ["皎然", "皎然", "卢仝"],
            ["皎然", "卢仝", "陸羽"],
            ["皎然", "卢仝", "蔡襄", "甲"],
        ):
            with subtests.test(form=form, wrong=wrong):
                row = {**FIRST, "distractors": wrong}
                if wrong is None:
                    del row["distractors"]
                dataset(tmp_path, SECOND, row)
                said = f"--answer-format {form} needs 3 different wrong 'distractors'"
                path = tmp_path / "questions.jsonl"
                assert complaint(tmp_path, answer_format=form) == f"{path}:2: {said}"
                assert len(read(tmp_path)) == 2


def test_options_with_half_a_character_are_shuffled(tmp_path: Path) -> None:
    """They are valid JSON."""
    wrong = ["皎然\ud83d", "卢仝", "蔡襄"]
    [fact] = read(dataset(tmp_path, json.dumps({**FIRST, "distractors": wrong})), answer_format="shuffled")
    assert {*fact.options} == {"陆羽", *wrong}


# What is refused.


def test_a_question_of_an_unknown_subtopic_is_refused(tmp_path: Path) -> None:
    """With its line, and the table that lacks it."""
    path = dataset(tmp_path, FIRST, {**SECOND, "subtopic": "go"}) / "questions.jsonl"
    assert complaint(tmp_path) == f"{path}:2: there is no subtopic 'go' in subtopics.csv"


def test_a_file_without_a_question_is_refused(tmp_path: Path) -> None:
    """So is a folder without a file, a path that is not there, a file that is not UTF-8."""
    assert complaint(tmp_path) == f"{tmp_path}: no questions.jsonl in this folder"
    assert complaint(tmp_path / "no.jsonl").startswith(f"{tmp_path / 'no.jsonl'}: ")
    path = dataset(tmp_path, " \n") / "questions.jsonl"
    assert complaint(tmp_path) == f"{path}:1: no question in this file; write one JSON object a line"
    path.write_bytes(b'{"id": "a"}\n\xff\n')
    assert complaint(tmp_path) == f"{path}:2: not UTF-8; save the file as UTF-8"


def test_options_that_do_not_go_together_are_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Before any file is opened."""
    for options, says in (
        ({"prompt_style": "few_shot", "answer_format": "choice"}, "--prompt-style few_shot: "),
        ({"seed": 1}, "--seed: shuffles options; add --answer-format shuffled"),
        ({"seed": 1, "answer_format": "choice"}, "--seed: "),
        ({"prompt_style": "few_shot", "confidence": True}, "--prompt-style few_shot: "),
        ({"prompt_style": "few_shot", "retrieval": Path("/nowhere")}, "--prompt-style few_shot: "),
        ({"confidence": True, "answer_format": "choice"}, "--confidence: is asked for beside an open answer"),
        ({"confidence": True, "answer_format": "shuffled"}, "--confidence: "),
        ({"retriever": "json:loads"}, "--retriever: needs --retrieval"),
    ):
        with subtests.test(options=options, says=says):
            assert complaint(tmp_path / "nowhere", **options).startswith(says)


def test_a_corpus_is_looked_at_before_anything_is_asked(tmp_path: Path) -> None:
    """One without a text, or a function that is not there."""
    dataset(tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert complaint(tmp_path, retrieval=empty).startswith(f"--retrieval: {empty}: has no text")
    missing = complaint(tmp_path, retrieval=empty, retriever="json:no_such_function")
    assert missing.startswith("--retriever: 'json:no_such_function' is not available")
    assert len(read(tmp_path, retrieval=empty, retriever="json:loads")) == 2
