"""What is found for a question: by words in a corpus, or by a function of the user's own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import refusal
from equipoise.core.errors import CallFailed
from equipoise.core.options import parse_function
from equipoise.suites.chinese_simpleqa.retrieval import (
    MAX_PASSAGE_LENGTH,
    Passage,
    check,
    corpus_entry,
    read_passages,
    retrieve,
)

TEXTS = {
    "tea": "陆羽是唐代人，他写了《茶经》，被后人称为茶圣。",
    "chess": "围棋棋盘有三百六十一个交叉点，棋子分黑白两色。",
    "paper": "蔡伦是东汉宦官，他改进了造纸术。",
    "zebra": "The zebra is an African horse with stripes.",
}


def folder(path: Path, **files: str) -> Path:
    """A folder of these files, `_` in a name before its ending."""
    path.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (path / ".".join(name.rsplit("_", 1))).write_text(content, encoding="utf-8")
    return path


def ask(question: str, corpus: Path, retriever: str | None = None) -> list[Passage]:
    """What is found for a question."""
    return asyncio.run(retrieve(question, str(corpus), retriever))


# Corpora.

SENTENCES = "".join(f"这是第{number}句话，说的是茶。" for number in range(120))
LONG = "长" * (2 * MAX_PASSAGE_LENGTH) + "。"


def test_pieces_are_whole_sentences_of_a_bounded_length(tmp_path: Path) -> None:
    """Nothing is lost, no sentence is cut, and no piece is blank."""
    pieces_read = [item.text for item in read_passages(folder(tmp_path, a_txt=SENTENCES))]
    assert ("".join(pieces_read), len(pieces_read) > 1) == (SENTENCES, True)
    assert all(MAX_PASSAGE_LENGTH - 20 < len(piece) <= MAX_PASSAGE_LENGTH for piece in pieces_read[:-1])
    assert all(piece.endswith("。") for piece in pieces_read)
    for text, pieces in [
        (f"短句。{LONG}短句！", ["短句。", LONG, "短句！"]),
        ("  Pi is 3.14.\n圆周率。 \n", ["Pi is 3.14.\n圆周率。"]),
        *((text, []) for text in ("", " ", "\n\n", "\t\n ")),
    ]:
        passages = read_passages(folder(tmp_path, a_txt=text) / "a.txt")
        assert [(item.id, item.text) for item in passages] == [
            (f"a.txt#{number}", piece) for number, piece in enumerate(pieces, start=1)
        ]


def test_a_folder_is_read_with_all_below_it(tmp_path: Path) -> None:
    """Texts and JSON Lines, in the order of names; other files are left alone."""
    line = {"id": "one", "title": "题目", "text": "正文。"}
    lines = f'{json.dumps(line)}\n\n{{"text": "丙。"}}\n'
    corpus = folder(tmp_path / "books", a_txt="甲。", b_md="# 乙", c_jsonl=lines, d_csv="丁")
    folder(corpus / "deep", e_txt="戊。")
    assert [(item.id, item.text) for item in read_passages(corpus)] == [
        *(("a.txt#1", "甲。"), ("b.md#1", "# 乙"), ("one#1", "题目\n正文。")),
        *(("c.jsonl:3#1", "丙。"), ("e.txt#1", "戊。")),
    ]


@pytest.mark.parametrize("line", ['{"title": "t"}', '{"text": 5}'])
def test_a_line_without_a_text_is_refused(tmp_path: Path, line: str) -> None:
    """With file and line."""
    path = folder(tmp_path, a_jsonl=f'{{"text": "茶"}}\n\n{line}\n') / "a.jsonl"
    assert refusal(list, read_passages(tmp_path)) == f"{path}:3: needs a 'text'"


def test_a_corpus_that_cannot_be_searched_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One without a word, or for which a package is missing; a function of the user's own needs neither."""
    folder(tmp_path, a_csv="茶", b_txt=" \n", c_txt="！！！\n\n")
    says = f"--retrieval: {tmp_path}: has no text; it takes .txt, .md, .jsonl"
    assert refusal(check, tmp_path, None) == says
    check(folder(tmp_path, d_md="茶"), None)
    monkeypatch.setitem(sys.modules, "rjieba", None)
    says = "--retrieval needs the extra 'retrieval'; run: pip install bm25s rjieba"
    assert refusal(check, tmp_path, None) == says
    check(tmp_path / "nowhere", "os.path:join")


def test_a_corpus_is_named_without_its_path(tmp_path: Path) -> None:
    """By its name and a digest that changes with any file's content or name, also one that is not UTF-8."""
    corpus = folder(tmp_path / "x" / "books", a_txt="甲", b_txt="乙")
    entry = corpus_entry(corpus)
    assert ({*entry}, entry["name"], len(entry["sha256"])) == ({"name", "sha256"}, "books", 64)
    assert corpus_entry(folder(tmp_path / "y" / "books", a_txt="甲", b_txt="乙")) == entry
    odd = folder(tmp_path / "odd" / "books", a_txt="甲")
    others = [
        folder(tmp_path / "changed" / "books", a_txt="甲", b_txt="丙"),
        folder(tmp_path / "renamed" / "books", a_txt="甲", c_txt="乙"),
        folder(tmp_path / "fewer" / "books", a_txt="甲"),
    ]
    Path(os.fsdecode(bytes(odd) + b"/\xff.txt")).write_text("乙", encoding="utf-8")
    digests = {corpus_entry(other)["sha256"] for other in (corpus, odd, *others)}
    assert len(digests) == 5
    assert corpus_entry(corpus / "a.txt")["name"] == "a.txt"


# Finding.


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("被称为茶圣的唐代人是谁？", "tea paper"),
        ("围棋棋盘上有多少个交叉点？", "chess"),
        ("谁改进了造纸术？", "paper tea"),
        ("Which animal is a ZEBRA?", "zebra"),
        # Three of four are found.
        ("唐代的茶圣、棋盘的交叉点、东汉的造纸术、zebra", "paper chess tea"),
        # What shares no word, as punctuation alone does, is not found.
        ("量子色动力学", ""),
        ("？！", ""),
    ],
)
def test_the_passages_that_fit_best_come_first(tmp_path: Path, question: str, names: str) -> None:
    """By the words of either script, in small letters; no more than three."""
    lines = "".join(f"{json.dumps({'id': name, 'text': text})}\n" for name, text in TEXTS.items())
    passages = ask(question, folder(tmp_path, a_jsonl=lines))
    assert passages == [Passage(id=f"{name}#1", text=TEXTS[name]) for name in names.split()]


# A function of the user's own.


NUMBERS = count(1)


def retriever(
    monkeypatch: pytest.MonkeyPatch, result: Any, is_async: bool = False
) -> tuple[str, list[tuple[str, int]]]:
    """The name of a user's function that gives this result, and its calls; a name found is kept."""
    calls: list[tuple[str, int]] = []

    async def later() -> Any:
        return result

    def find(question: str, count: int) -> Any:
        calls.append((question, count))
        return later() if is_async else result

    name = f"mine_{next(NUMBERS)}"
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(find=find))
    return f"{name}:find", calls


def thing(text: Any, name: str | None = None) -> Any:
    """An object that somebody's retriever may give."""
    return SimpleNamespace(text=text, id=name)


GIFTS: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "none": ([], []),
    "texts": (["甲", "乙"], [("1", "甲"), ("2", "乙")]),
    "mappings": ([{"text": "甲", "id": 7, "score": 0.5}, {"text": "乙"}], [("7", "甲"), ("2", "乙")]),
    "objects": ((thing("甲", "x"), thing("乙")), [("x", "甲"), ("2", "乙")]),
    "mixed": (["甲", {"text": "乙"}, thing("丙")], [("1", "甲"), ("2", "乙"), ("3", "丙")]),
}
ODD: dict[str, list[Any]] = {
    "a passage is neither a text": [
        ["甲", bad] for bad in (5, None, {"id": "x"}, {"text": 5}, thing(None), ["甲"])
    ],
    "it should give a list of passages": [None, "一段文字", 5],
}


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("name", GIFTS)
def test_a_function_may_give_texts_mappings_or_objects(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, is_async: bool
) -> None:
    """At once or later; it gets the question and the count, and the corpus is not read."""
    gift, passages = GIFTS[name]
    mine, calls = retriever(monkeypatch, gift, is_async)
    shown = ask("谁？", tmp_path / "nowhere", mine)
    assert ([(item.id, item.text) for item in shown], calls) == (passages, [("谁？", 3)])


@pytest.mark.parametrize(
    ("reason", "gift"), [(reason, gift) for reason, gifts in ODD.items() for gift in gifts]
)
def test_what_is_no_list_of_passages_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reason: str, gift: Any
) -> None:
    """The session ends, as every further question would fail alike; a text would be taken by letters."""
    mine, _ = retriever(monkeypatch, gift)
    with pytest.raises(CallFailed, match=rf"--retriever {mine}: TypeError: {reason}") as caught:
        ask("谁？", tmp_path, mine)
    assert caught.value.stops_session


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("no_such_module_here:find", "is not available"),
        ("json:no_such_function", "is not available"),
        ("sys:maxsize", "is not a function"),
    ],
)
def test_a_function_that_cannot_be_had_is_refused(tmp_path: Path, name: str, says: str) -> None:
    """Before anything is asked."""
    assert refusal(check, tmp_path, name).startswith(f"--retriever: {name!r} {says}")


def test_a_functions_name_is_module_and_function(subtests: pytest.Subtests) -> None:
    """Blanks around it do not count; another name is refused."""
    assert [parse_function(name) for name in ("a:b", "a.b_c:d1", " a:b ")] == ["a:b", "a.b_c:d1", "a:b"]
    for name in ("", "a", "a:", ":b", "a:b:c", "a.:b", "a-b:c", "a:b.c", "a b:c", "1:2"):
        with subtests.test(name=name), pytest.raises(ValueError, match="is not module:function"):
            parse_function(name)
