"""Finds passages for a question: by BM25, or by a function of the user's own.

The corpus is a folder of texts (*.txt, *.md) or JSON Lines, or one such file. rjieba splits texts into words,
also Chinese ones, and bm25s ranks passages by them.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from equipoise.core import extras
from equipoise.core.errors import CallFailed, UserError
from equipoise.core.files import objects, read_bytes, read_text, without_surrogates
from equipoise.core.types import JSON

PASSAGE_COUNT = 3
"""The number of passages for a question."""
MAX_PASSAGE_LENGTH = 400
"""The maximum length of a passage in characters, unless a single sentence is longer."""
_SUFFIXES = (".txt", ".md", ".jsonl")
_SENTENCE = re.compile(r"[^.!?\u3002\uff01\uff1f\n]*(?:[.!?\u3002\uff01\uff1f]|\n|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of a document; `id` identifies the document and the piece."""

    id: str
    text: str


def numbered(passages: Sequence[Passage]) -> str:
    """The texts of passages, each after its number, as prompts quote them."""
    return "\n".join(f"[{number}] {passage.text}" for number, passage in enumerate(passages, start=1))


def corpus_entry(path: Path) -> dict[str, JSON]:
    """The entry of a corpus in results: its name, and the SHA-256 of its content."""
    digest = hashlib.sha256()
    for file in _files(path):
        digest.update(os.fsencode(file.name) + b"\0" + read_bytes(file))
    return {"name": path.resolve().name, "sha256": digest.hexdigest()}


Retriever = Callable[[str, int], Any]
"""A user's own retriever, from question and count to texts, or to objects with `id` and `text`."""


async def retrieve(question: str, corpus: str, retriever: str | None) -> list[Passage]:
    """The passages that match the question best, the best first.

    BM25 returns at most PASSAGE_COUNT passages, which share a word with the question. `retriever` is the
    user's `module:function`, called with the question and PASSAGE_COUNT; it may be a coroutine function.
    Raises UserError if the corpus cannot be read or the function is not available, CallFailed if the function
    fails.
    """
    if retriever is None:
        return _index(Path(corpus)).find(question)
    try:
        result = _load_function(retriever)(question, PASSAGE_COUNT)
        if inspect.isawaitable(result):
            result = await result
        return _passages(result)
    except Exception as error:
        # An error in the user's code will probably recur with the next question, so the session stops.
        why = f"--retriever {retriever}: {type(error).__name__}: {error}"
        raise CallFailed(why, stops_session=True) from error


def _passages(result: Any) -> list[Passage]:
    """The passages that a user's own retriever returned. Raises TypeError for anything else."""
    if isinstance(result, str) or not isinstance(result, Iterable):
        raise TypeError(f"it should give a list of passages, not {type(result).__name__}")
    return [_passage(number, item) for number, item in enumerate(result, start=1)]


def _passage(number: int, item: Any) -> Passage:
    """The passage of a text, or of an object or mapping with `text` and perhaps `id`. Raises TypeError."""
    if isinstance(item, str):
        return Passage(id=str(number), text=item)
    fields = item if isinstance(item, dict) else {name: getattr(item, name, None) for name in ("id", "text")}
    text = fields.get("text")
    if not isinstance(text, str):
        raise TypeError("a passage is neither a text nor a mapping with 'text'")
    return Passage(id=str(fields.get("id") or number), text=text)


@cache
def _load_function(name: str) -> Retriever:
    """The function `module:function`. Raises UserError."""
    module, _, function = name.partition(":")
    # As with `python -m`, so that a module in the working directory is found however pytest was started.
    sys.path[:] = dict.fromkeys([*sys.path, str(Path.cwd())])
    try:
        retriever: Retriever = getattr(importlib.import_module(module), function)
    except Exception as error:
        raise UserError(f"--retriever: {name!r} is not available ({error}); write module:function") from None
    if not callable(retriever):
        raise UserError(f"--retriever: {name!r} is not a function")
    return retriever


def check(corpus: Path, retriever: str | None, option: str = "--retrieval") -> None:
    """Raise UserError for a corpus or retriever that cannot be used, before any call."""
    if retriever is not None:
        _load_function(retriever)
        return
    extras.require("retrieval", option)
    if not any(any(map(str.isalnum, item.text)) for item in read_passages(corpus)):
        raise UserError(f"{option}: {corpus}: has no text; it takes {', '.join(_SUFFIXES)}")


@cache
def _index(path: Path) -> Bm25:
    """The index of a corpus, built once per process."""
    return Bm25(list(read_passages(path)))


class Bm25:
    """An index of passages by their words."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        import bm25s

        tokenised = [(passage, tokens) for passage in passages if (tokens := words(passage.text))]
        self._passages = [passage for passage, _ in tokenised]
        self._index = bm25s.BM25()
        self._index.index([tokens for _, tokens in tokenised], show_progress=False)

    def find(self, question: str) -> list[Passage]:
        """The best passages that share a word with the question, the best first."""
        terms = [word for word in dict.fromkeys(words(question)) if word in self._index.vocab_dict]
        if not terms:
            return []
        indices, scores = self._index.retrieve(
            [terms], k=min(PASSAGE_COUNT, len(self._passages)), show_progress=False
        )
        return [
            self._passages[int(index)]
            for index, score in zip(indices[0], scores[0], strict=True)
            if score > 0
        ]


def words(text: str) -> list[str]:
    """The words of a text, Chinese or not, in lower case and without punctuation."""
    import rjieba

    words = rjieba.cut_for_search(without_surrogates(text).casefold())
    return [word for word in words if any(map(str.isalnum, word))]


def read_passages(path: Path) -> Iterator[Passage]:
    """All passages of a corpus, file by file. Raises UserError naming file and line."""
    for file in _files(path):
        for name, text in _documents(file):
            for number, piece in enumerate(split_text(text), start=1):
                yield Passage(id=f"{name}#{number}", text=piece)


def _files(path: Path) -> list[Path]:
    """The file at the path, or all files of a corpus in this folder and below."""
    if path.is_file():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file() and file.suffix in _SUFFIXES)


def _documents(file: Path) -> Iterator[tuple[str, str]]:
    """Name and text of each document of a file."""
    if file.suffix != ".jsonl":
        yield file.name, read_text(file)
        return
    for where, data in objects(file):
        if not isinstance(data.get("text"), str):
            raise UserError(f"{where}: needs a 'text'")
        title = data.get("title")
        text = f"{title}\n{data['text']}" if isinstance(title, str) else data["text"]
        yield str(data.get("id") or Path(where).name), text


def split_text(text: str) -> Iterator[str]:
    """Pieces of whole sentences, of at most MAX_PASSAGE_LENGTH characters unless a sentence is longer."""
    piece, is_blank = "", True
    for sentence in _SENTENCE.findall(text):
        if not is_blank and len(piece) + len(sentence) > MAX_PASSAGE_LENGTH:
            yield piece.strip()
            piece, is_blank = "", True
        piece += sentence
        is_blank = is_blank and not sentence.strip()
    if not is_blank:
        yield piece.strip()
