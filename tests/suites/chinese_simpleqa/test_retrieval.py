"""What is found for a question: by words in a corpus, or by a function of the user's own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conftest import refusal
from equipoise.core.errors import CallFailed
from equipoise.core.options import parse_existing, parse_function
from equipoise.suites.chinese_simpleqa.retrieval import (
    MAX_PASSAGE_LENGTH,
    PASSAGE_COUNT,
    Bm25,
    Passage,
    check,
    corpus_entry,
    read_passages,
    retrieve,
    split_text,
    words,
)

TEXTS = {
    "tea": "陆羽是唐代人，他写了《茶经》，被后人称为茶圣。",
    "chess": "围棋棋盘有三百六十一个交叉点，棋子分黑白两色。",
    "paper": "蔡伦是东汉宦官，他改进了造纸术。",
    "zebra": "The zebra is an African horse with stripes.",
}
INDEX = Bm25([Passage(id=name, text=text) for name, text in TEXTS.items()])


def folder(place: Path, **files: str) -> Path:
    """A folder of these files, `_` in a name before its ending."""
    place.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (place / ".".join(name.rsplit("_", 1))).write_text(content, encoding="utf-8")
    return place


def ask(
    question: str, corpus: Path, retriever: str | None = None, count: int = PASSAGE_COUNT
) -> list[Passage]:
    """What is found for a question."""
    return asyncio.run(retrieve(question, str(corpus), retriever, count))


# Texts.


def test_pieces_are_whole_sentences_of_a_bounded_length() -> None:
    """Nothing is lost, none is longer than it may be."""
    text = "".join(f"这是第{number}句话，说的是茶。" for number in range(120))
    found = list(split_text(text))
    assert "".join(found) == text
    assert len(found) > 1
    assert all(MAX_PASSAGE_LENGTH - 20 < len(piece) <= MAX_PASSAGE_LENGTH for piece in found[:-1])
    assert all(piece.endswith("。") for piece in found)


def test_a_sentence_is_not_cut() -> None:
    """However long it is; what stands around it goes into pieces of its own."""
    long = "长" * (2 * MAX_PASSAGE_LENGTH) + "。"
    assert list(split_text(f"短句。{long}短句！")) == ["短句。", long, "短句！"]


def test_a_blank_text_has_no_piece(subtests: pytest.Subtests) -> None:
    """So it is no passage."""
    for text in ("", " ", "\n\n", "\t\n "):
        with subtests.test(text=text):
            assert list(split_text(text)) == []


def test_short_lines_stay_together() -> None:
    """In one piece, with a number's point within it."""
    assert list(split_text("  Pi is 3.14.\n圆周率。 \n")) == ["Pi is 3.14.\n圆周率。"]


def test_words_of_two_scripts() -> None:
    """Chinese is cut into words; others are in small letters; punctuation is none."""
    found = words("《茶经》的作者 Lu Yu，生于733年！")
    assert {"茶经", "作者", "lu", "yu", "733"} <= set(found)
    assert not {"《", "》", "，", "！", " "} & set(found)
    assert words("。！ ") == []


# Finding.


def test_the_passage_that_fits_comes_first(subtests: pytest.Subtests) -> None:
    """Among several, with its text."""
    for question, best in (
        ("被称为茶圣的唐代人是谁？", "tea"),
        ("围棋棋盘上有多少个交叉点？", "chess"),
        ("谁改进了造纸术？", "paper"),
        ("Which animal is a ZEBRA?", "zebra"),
    ):
        with subtests.test(question=question, best=best):
            found = INDEX.find(question, 3)
            assert found[0] == Passage(id=best, text=TEXTS[best])
            assert len({item.id for item in found}) == len(found) <= 3


def test_what_shares_no_word_is_not_found() -> None:
    """Nor does a question of punctuation alone find anything."""
    assert INDEX.find("量子色动力学", 3) == []
    assert INDEX.find("？！", 3) == []
    assert [item.id for item in INDEX.find("造纸术", 3)] == ["paper"]


def test_no_more_is_found_than_asked_for_or_there_is() -> None:
    """The best of them."""
    question = "唐代的茶圣、棋盘的交叉点、东汉的造纸术"
    assert len(INDEX.find(question, 1)) == 1
    assert {item.id for item in INDEX.find(question, 9)} == {"tea", "chess", "paper"}


# Corpora.


def test_a_folder_is_read_with_all_below_it(tmp_path: Path) -> None:
    """Texts and JSON Lines, in the order of names; other files are left alone."""
    line = {"id": "one", "title": "题目", "text": "正文。"}
    corpus = folder(
        tmp_path / "books",
        a_txt="甲。",
        b_md="# 乙",
        c_jsonl=f"{json.dumps(line)}\n\n" + '{"text": "丙。"}\n',
        d_csv="丁",
    )
    folder(corpus / "deep", e_txt="戊。")
    assert list(read_passages(corpus)) == [
        Passage(id="a.txt#1", text="甲。"),
        Passage(id="b.md#1", text="# 乙"),
        Passage(id="one#1", text="题目\n正文。"),
        Passage(id="c.jsonl:3#1", text="丙。"),
        Passage(id="e.txt#1", text="戊。"),
    ]


def test_one_file_is_a_corpus(tmp_path: Path) -> None:
    """Pieces of a document are numbered."""
    long = "茶。" * MAX_PASSAGE_LENGTH
    path = folder(tmp_path, a_txt=long) / "a.txt"
    assert [item.id for item in read_passages(path)] == ["a.txt#1", "a.txt#2"]
    assert ask("茶", path)[0].id in ("a.txt#1", "a.txt#2")


def test_a_faulty_line_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """With file and line, as a text that is not UTF-8 is."""
    for line, says in (
        ("{", "not valid JSON: "),
        ("[]", "is not a JSON object"),
        ('{"title": "t"}', "needs a 'text'"),
        ('{"text": 5}', "needs a 'text'"),
    ):
        with subtests.test(line=line, says=says):
            path = folder(tmp_path, a_jsonl=f'{{"text": "茶"}}\n\n{line}\n') / "a.jsonl"
            assert refusal(list, read_passages(tmp_path)).startswith(f"{path}:3: {says}")


def test_a_corpus_without_text_is_refused(tmp_path: Path) -> None:
    """Nor one of punctuation alone is taken; the message says what would be read."""
    folder(tmp_path, a_csv="茶", b_txt=" \n", c_txt="！！！\n\n")
    assert (
        refusal(check, tmp_path, None) == f"--retrieval: {tmp_path}: has no text; it takes .txt, .md, .jsonl"
    )
    check(folder(tmp_path, d_md="茶"), None)


def test_a_corpus_is_named_without_its_path(tmp_path: Path) -> None:
    """By its name and a digest that changes with any file's content or name, and with nothing else."""
    corpus = folder(tmp_path / "x" / "books", a_txt="甲", b_txt="乙")
    told = corpus_entry(corpus)
    assert set(told) == {"name", "sha256"}
    assert (told["name"], len(told["sha256"])) == ("books", 64)
    assert str(tmp_path) not in json.dumps(told)
    assert corpus_entry(folder(tmp_path / "y" / "books", a_txt="甲", b_txt="乙")) == told
    others = [
        folder(tmp_path / "changed" / "books", a_txt="甲", b_txt="丙"),
        folder(tmp_path / "renamed" / "books", a_txt="甲", c_txt="乙"),
        folder(tmp_path / "fewer" / "books", a_txt="甲"),
    ]
    assert len({told["sha256"], *(corpus_entry(other)["sha256"] for other in others)}) == 4
    assert corpus_entry(corpus / "a.txt")["name"] == "a.txt"


def test_a_corpus_may_have_a_file_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    """It is part of the digest."""
    plain = corpus_entry(folder(tmp_path, a_txt="甲"))
    Path(os.fsdecode(bytes(tmp_path) + b"/\xff.txt")).write_text("乙", encoding="utf-8")
    assert corpus_entry(tmp_path)["sha256"] != plain["sha256"]


# A function of the user's own.


class Thing:
    """What somebody's retriever may give."""

    def __init__(self, text: Any, name: str | None = None) -> None:
        self.text = text
        self.id = name


class Retriever:
    """A function `find` in a module of the user's, which gives what it is told and keeps its calls."""

    def __init__(self, module: ModuleType) -> None:
        self.name = f"{module.__name__}:find"
        self.gives: Any = []
        self.is_async = False
        self.calls: list[tuple[str, int]] = []
        module.find = self._find  # type: ignore[attr-defined]

    def _find(self, question: str, count: int) -> Any:
        self.calls.append((question, count))
        return self._later() if self.is_async else self.gives

    async def _later(self) -> Any:
        return self.gives


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Retriever:
    """The user's, under a name of its own in every test: a function is kept once it is found."""
    module = ModuleType(f"mine_{tmp_path.name}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return Retriever(module)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_function_may_give_texts_mappings_or_objects(
    mine: Retriever, tmp_path: Path, subtests: pytest.Subtests, is_async: bool
) -> None:
    """At once or later; it gets the question and the count, and the corpus is not read."""
    mine.is_async = is_async
    gifts: dict[str, tuple[Any, list[tuple[str, str]]]] = {
        "none": ([], []),
        "texts": (["甲", "乙"], [("1", "甲"), ("2", "乙")]),
        "mappings": ([{"text": "甲", "id": 7, "score": 0.5}, {"text": "乙"}], [("7", "甲"), ("2", "乙")]),
        "objects": ((Thing("甲", "x"), Thing("乙")), [("x", "甲"), ("2", "乙")]),
        "mixed": (["甲", {"text": "乙"}, Thing("丙")], [("1", "甲"), ("2", "乙"), ("3", "丙")]),
    }
    for name, (given, found) in gifts.items():
        with subtests.test(name):
            mine.gives = given
            shown = ask("谁？", tmp_path / "nowhere", mine.name, 2)
            assert [(item.id, item.text) for item in shown] == found
            assert mine.calls.pop() == ("谁？", 2)


def test_what_is_no_list_of_passages_is_refused(
    mine: Retriever, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """The session ends, as every further question would fail alike; a text would be taken by letters."""
    odd = [["甲", bad] for bad in (5, None, {"id": "x"}, {"text": 5}, Thing(None), ["甲"])]
    for given in (*odd, None, "一段文字", 5):
        said = "a passage is neither a text" if given in odd else "it should give a list of passages"
        with subtests.test(str(given)):
            mine.gives = given
            with pytest.raises(CallFailed, match=rf"--retriever \w+:find: TypeError: {said}") as caught:
                ask("谁？", tmp_path, mine.name)
            assert caught.value.stops_session


def test_a_function_that_cannot_be_had_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Before anything is asked."""
    for name, says in (
        ("no_such_module_here:find", "is not available"),
        ("json:no_such_function", "is not available"),
        ("sys:maxsize", "is not a function"),
    ):
        with subtests.test(name=name, says=says):
            assert refusal(check, tmp_path, name).startswith(f"--retriever: {name!r} {says}")


def test_a_functions_name_is_module_and_function(subtests: pytest.Subtests) -> None:
    """Blanks around it do not count."""
    for name in ("a:b", "a.b_c:d1", " a:b "):
        with subtests.test(name=name):
            assert parse_function(name) == name.strip()


def test_another_name_is_refused(subtests: pytest.Subtests) -> None:
    """It says what it should be."""
    for name in ("", "a", "a:", ":b", "a:b:c", "a.:b", "a-b:c", "a:b.c", "a b:c", "1:2"):
        with subtests.test(name=name), pytest.raises(ValueError, match="is not module:function"):
            parse_function(name)


def test_a_corpus_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file or a folder, by its whole path, `~` being the user's home."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    folder(tmp_path, a_txt="茶")
    assert parse_existing("a.txt") == parse_existing("~/a.txt") == tmp_path / "a.txt"
    assert parse_existing(str(tmp_path)) == tmp_path
    with pytest.raises(ValueError, match="is not an existing file or folder"):
        parse_existing("b.txt")


def test_passages_without_the_extra_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any call, in one line; a retriever of the user's own needs no package of ours."""
    (tmp_path / "one.txt").write_text("A text.", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "rjieba", None)
    message = "--retrieval needs the extra 'retrieval'; run: pip install bm25s rjieba"
    assert refusal(check, tmp_path, None) == message
    check(tmp_path, "os.path:join")
