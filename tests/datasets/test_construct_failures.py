"""`equipoise data construct simpleqa` where it cannot work: documents, corpus, endpoint, another process."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from interpreter import refusal

from equipoise.cli import main
from equipoise.results.store import Files, Lock
from loopback import Answer, Loopback, error

KEY = "sk-a-key-that-nobody-may-see"
TEXT = "陆羽是唐代人，他写了《茶经》。"
ROW = {"id": "tea", "text": TEXT}


@pytest.fixture(autouse=True)
def _documents(folder: Path) -> None:
    put("documents.jsonl", ROW, {**ROW, "id": "chess"})


def put(name: str, *rows: dict[str, Any]) -> None:
    """Write a file of JSON Lines."""
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def run(server: Loopback, *arguments: str) -> Result:
    """What comes of the command."""
    files = ("--documents", "documents.jsonl", "--folder", "made", "--least", "5", "--no-annotators")
    endpoint = ("--model", "maker", "--api-base-url", server.url, "--api-key", KEY, "--max-retries", "0")
    return CliRunner().invoke(main, ["data", "construct", "simpleqa", *files, *endpoint, *arguments])


def test_faulty_documents_are_named(loopback: Loopback, subtests: pytest.Subtests) -> None:
    """By file and line, before anything is asked: the suite would refuse their questions."""
    cases: list[tuple[str, str]] = [
        ('{"id": "a"}\n', "documents.jsonl:1: needs the texts id, text"),
        ('{"id": 1, "text": "x"}\n', "documents.jsonl:1: needs the texts id, text"),
        ("[]\n", "documents.jsonl:1: is not a JSON object"),
        ("\n{\n", "documents.jsonl:2: not valid JSON"),
        ('{"id": "a", "text": "x"}\n' * 2, "documents.jsonl:2: the id 'a' is taken by an earlier line"),
        ('{"id": "A-1", "text": "x"}\n', "documents.jsonl:1: id is 'A-1'; use a-z, 0-9 and _ only"),
        ("\n", "documents.jsonl: has no text"),
    ]
    for lines, words in cases:
        with subtests.test(words):
            Path("documents.jsonl").write_text(lines)
            assert words in refusal(run(loopback))
            assert loopback.requests == []


def test_what_cannot_work_is_one_line(loopback: Loopback, subtests: pytest.Subtests) -> None:
    """Exit 4, nothing is asked, and questions that were made before stay."""
    Path("made").mkdir()
    Path("made/questions.jsonl").write_text("earlier\n")
    cases: list[tuple[tuple[str, ...], str]] = [
        (("--documents", "nowhere.jsonl"), "nowhere.jsonl: cannot be read (No such file or directory)"),
        (("--corpus", "nowhere"), "nowhere: has no text"),
        (("--retriever", "nowhere:find"), "--retriever: 'nowhere:find' is not available"),
        (("--folder", "documents.jsonl/made"), "cannot be written to (Not a directory)"),
        (("--model", ""), "--model: the value is empty"),
        (("--max-cost", "1"), "--max-cost: the price of 'maker' is not known"),
    ]
    for arguments, words in cases:
        with subtests.test(words):
            assert words in refusal(run(loopback, *arguments))
            assert loopback.requests == []
            assert Path("made/questions.jsonl").read_text() == "earlier\n"


def test_two_at_once_are_refused(loopback: Loopback) -> None:
    """The second one names the process and the journal."""
    Path("made").mkdir()
    path = Path("made/construct.journal.jsonl")
    lock = Lock(Files(results=path, journal=path))
    Path("made/questions.jsonl").write_text("of the first\n")
    message = refusal(run(loopback))
    lock.release()
    assert Path("made/questions.jsonl").read_text() == "of the first\n"
    assert re.search(r"made/construct\.journal\.jsonl: process \d+ is using it", message)
    assert loopback.requests == []


def test_a_row_whose_call_fails_is_dropped_for_now(loopback: Loopback) -> None:
    """With the reason; the same command asks for it again. The key stands in no file."""

    def odd(body: dict[str, Any], number: int) -> Answer | str:
        is_first = number == 0
        return error(400, f"Odd {KEY}") if is_first else json.dumps({"reasoning": f"空 {KEY}", "score": 1})

    loopback.script = odd
    result = run(loopback, "--concurrency", "1")
    assert result.exit_code == 0, result.output
    funnel = json.loads(Path("made/funnel.json").read_text(encoding="utf-8"))
    assert funnel[1]["reasons"] == {"call failed": 1, "poor quality": 1}
    assert run(loopback).exit_code == 0
    funnel = json.loads(Path("made/funnel.json").read_text(encoding="utf-8"))
    assert (funnel[1]["reasons"], len(loopback.requests)) == ({"poor quality": 2}, 3)
    written = [path for path in Path("made").rglob("*") if path.is_file()]
    assert not [path for path in written if KEY.encode() in path.read_bytes()]
    assert KEY not in result.output


def test_a_placeholder_for_a_key_edits_no_document(loopback: Loopback) -> None:
    """Every stage shows the models what the document says; the user is warned that files are masked."""
    put("documents.jsonl", {"id": "tea", "text": "A secret tea, known to the secretary."})
    loopback.script = lambda body, number: '{"reasoning": "A secret.", "score": 5}'
    result = run(loopback, "--api-key", "secret")
    assert result.exit_code == 0, result.output
    prompts = [body["messages"][1]["content"] for body in loopback.requests]
    assert len(prompts) > 1
    assert all("A secret tea, known to the secretary." in text for text in prompts)
    assert "A **** tea, known to the secretary." in Path("made/2_quality.jsonl").read_text()
    assert result.stderr.count("warning: --api-key: the key has fewer than 16 characters") == 1


def test_where_nothing_is_left_there_are_no_questions(loopback: Loopback) -> None:
    """Every stage has its files, the questions' is empty, and nobody is asked."""
    result = run(loopback, "--least", "5000")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == "made/questions.jsonl: 0 questions"
    assert Path("made/questions.jsonl").read_bytes() == b""
    assert len(list(Path("made").glob("*.dropped.jsonl"))) == 11
    assert loopback.requests == []


def test_half_a_character_ends_nothing(loopback: Loopback) -> None:
    """In a document or in a reason: both stand in the files as escapes, and on the screen; on a rerun too."""
    put("documents.jsonl", {**ROW, "text": f"{TEXT}\ud83d"})
    loopback.script = lambda body, number: '{"reasoning": "空\\ud83d", "score": 1}'
    for _ in range(2):
        result = run(loopback)
        assert result.exit_code == 0, result.output
        assert "poor quality 1 (tea: 空\\ud83d)" in result.stdout
    (line,) = Path("made/2_quality.dropped.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["text"] == f"{TEXT}\ud83d"
    assert json.loads(line)["dropped"] == "poor quality: 空\ud83d"


def test_a_place_that_cannot_be_written_is_one_line(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """As one that is taken by a folder, or on a full disk."""
    for name in ("funnel.json", "questions.jsonl", "1_length.jsonl"):
        with subtests.test(name):
            (Path(name) / name).mkdir(parents=True)
            assert "cannot be written to (" in refusal(run(loopback, "--folder", name))

    def fill(path: Path, data: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("equipoise.results.store.write_json", fill)
    assert "made/funnel.json: cannot be written to (No space left on device)" in refusal(run(loopback))
