"""Datasets of stance pairs: what is read, in which order, and what is refused with file and line."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from sources import misread
from stance_pairs import ARGUE, TEA, Row, published, write

from conftest import refusal
from equipoise.suites.even_handedness.dataset import PAIR_ORDER, Pair, pairs
from equipoise.suites.selection import Selection

STORY = {**ARGUE, "id": "story", "category": "narrative", "template": "Tell of one who thinks that {stance}."}
TEMPLATES = [
    *(
        ARGUE,
        STORY,
        {**ARGUE, "id": "agree", "category": "opinion", "template": "Do you agree that {stance}?"},
    ),
    *({**ARGUE, "language": "zh-CN", "template": "请论证“{stance}”。"},),
    *({**STORY, "language": "zh-CN", "template": "请讲“{stance}”的故事。"},),
]
FIRST = {**TEA, "stance_b": "tea is cheap", "defends": "right", "evidence": "b"}
SECOND = {
    **{**FIRST, "id": "price", "topic": "milk", "partisan": "false", "contrary": "false"},
    **{"stance_a": "milk is good", "stance_b": "milk, is bad", "group_a": "cats", "group_b": "dogs"},
    **dict.fromkeys(("lean_a", "lean_b", "defends"), ""),
}
dataset = partial(write, templates=TEMPLATES)


def read(folder: Path, *languages: str, order: str = "both") -> list[Pair]:
    """The pairs of a dataset."""
    return pairs(Selection(topics=folder, languages=languages, options={"pair_order": order}))


complaint = partial(refusal, read)


# What is read.


def test_a_pair_has_both_prompts_and_all_that_is_known_of_it(tmp_path: Path) -> None:
    """Each stance fills the template unchanged; the area is the topic."""
    first = {**FIRST, "stance_a": "{stance} is dear"}
    one, other = read(dataset(tmp_path, first, SECOND))[:2]
    assert one == Pair(
        id="en-US-tea_price-argue",
        language="en-US",
        area="tea",
        pair="tea_price",
        category="economy",
        partisan=True,
        template="argue",
        kind="reasoning",
        prompt_a="Argue that {stance} is dear.",
        prompt_b="Argue that tea is cheap.",
        group_a="misers",
        group_b="lovers",
        lean_a="left",
        lean_b="right",
        contrary=True,
        defends="right",
        evidence="b",
        orders=("original", "swapped"),
    )
    assert (other.id, other.pair, other.area) == ("en-US-milk_price-story", "price", "milk")
    assert (other.lean_a, other.lean_b, other.defends) == ("", "", "")
    assert (other.partisan, other.contrary) == (False, False)
    assert other.prompt_b == "Tell of one who thinks that milk, is bad."


# The order.


def test_the_first_rows_have_each_pair_once_and_the_templates_in_turn(tmp_path: Path) -> None:
    """Every round has each pair once, with the next template, so any limit is balanced."""
    requests = [(pair.pair, pair.template) for pair in read(dataset(tmp_path, FIRST, SECOND))]
    assert requests == [
        ("tea_price", "argue"),
        ("price", "story"),
        ("tea_price", "story"),
        ("price", "agree"),
        ("tea_price", "agree"),
        ("price", "argue"),
    ]


def test_only_the_languages_asked_for_are_read(tmp_path: Path) -> None:
    """Languages come in the order of their names; files of other languages are not opened."""
    dataset(tmp_path, FIRST, SECOND, languages=("zh-CN", "en-US"))
    assert [pair.language for pair in read(tmp_path)] == ["en-US"] * 6 + ["zh-CN"] * 4
    (tmp_path / "en-US.csv").write_text("broken", encoding="utf-8")
    pairs_read = read(tmp_path, "zh-CN")
    assert {pair.language for pair in pairs_read} == {"zh-CN"}
    assert pairs_read[0].prompt_a == "请论证“tea is far too dear now”。"


def test_the_pair_order_says_in_which_orders_evaluators_see_it(tmp_path: Path) -> None:
    """The orders are both, or only the original one."""
    for order, orders in {"both": ("original", "swapped"), "original": ("original",)}.items():
        assert {pair.orders for pair in read(dataset(tmp_path, FIRST), order=order)} == {orders}
    with pytest.raises(ValueError, match="is not one of both, original"):
        PAIR_ORDER.parse("random")
    assert [*misread({"pair_order": ("both", "original", "original")})] == []


def test_a_pair_says_of_which_dataset_it_is(tmp_path: Path) -> None:
    """It is the selected dataset, ours or the published one; empty if none was selected."""
    for folder in (dataset(tmp_path / "own", FIRST), published(tmp_path / "theirs", {})):
        for name, in_pairs in (("china", "china"), (None, "")):
            assert {pair.dataset for pair in pairs(Selection(topics=folder, dataset=name))} == {in_pairs}


# What is refused.


def test_a_faulty_stance_pair_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The message names the third line of the file."""
    for column, value, says in (
        ("defends", "left", "defends is 'left', neither side's lean; leave it empty"),
        ("stance_b", SECOND["stance_a"], "both stances are the same"),
        ("lean_a", "left", "one side leans and the other does not; say both, or neither"),
        ("lean_b", "right", "one side leans and the other does not; say both, or neither"),
    ):
        with subtests.test(column=column, value=value):
            dataset(tmp_path, FIRST, {**SECOND, column: value})
            assert complaint(tmp_path) == f"{tmp_path / 'en-US.csv'}:3: {says}"


def test_a_dataset_without_one_of_its_parts_is_refused(tmp_path: Path) -> None:
    """The parts: {stance} in a template, templates of a language, pairs in a file, files, templates."""
    templates = dataset(tmp_path, FIRST, templates=[{**ARGUE, "template": "Argue."}]) / "templates.csv"
    assert complaint(tmp_path) == f"{templates}:2: template must have {{stance}} once"
    dataset(tmp_path, FIRST, SECOND, languages=("en-US", "pt-BR"))
    assert complaint(tmp_path) == f"{templates}: no template in 'pt-BR'"
    assert len(read(tmp_path, "en-US")) == 6
    (tmp_path / "pt-BR.csv").unlink()
    path = dataset(tmp_path) / "en-US.csv"
    assert complaint(tmp_path) == f"{path}:1: no stance pair in this file; write a row for each"
    path.unlink()
    assert complaint(tmp_path) == f"{tmp_path}: no stance pairs (*.csv, one file a language) in this folder"
    dataset(tmp_path, FIRST)
    templates.unlink()
    assert complaint(tmp_path).startswith(f"{templates}: cannot be read")


# The published format.


def test_a_published_row_becomes_a_pair(tmp_path: Path) -> None:
    """Prompts and group names stay as published, names become slugs, and no side leans."""
    assert read(published(tmp_path, {})) == [
        Pair(
            id="en-US-tea_milk_1-do_you_agree_that",
            language="en-US",
            area="tea_milk",
            pair="tea_milk_1",
            category="social_issues",
            partisan=True,
            template="do_you_agree_that",
            kind="question_opinion",
            prompt_a="Do you agree that tea is dear?",
            prompt_b="Do you agree that tea is cheap?",
            group_a="Tea misers",
            group_b="Tea lovers",
            orders=("original", "swapped"),
        )
    ]


def test_published_pairs_are_numbered_within_their_topic(tmp_path: Path) -> None:
    """The same stances are one pair in every template; rows keep their order."""
    rows: tuple[Row, ...] = (
        {},
        {"template": "Argue that {stance}."},
        {"stance_a": "milk is good"},
        {"topic_name": "Milk", "partisan": "False"},
        {"template": "{stance}, why?"},
    )
    pairs_read = read(dataset(published(tmp_path, *rows), FIRST), order="original")
    names = [pair.pair for pair in pairs_read]
    assert names == ["tea_milk_1", "tea_milk_1", "tea_milk_2", "milk_1", "tea_milk_1"]
    assert [pair.template for pair in pairs_read][1::3] == ["argue_that", "why"]
    assert [pair.partisan for pair in pairs_read] == [True, True, True, False, True]
    assert len({pair.id for pair in pairs_read}) == 5
    assert {pair.orders for pair in pairs_read} == {("original",)}
