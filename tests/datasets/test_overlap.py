"""Our texts beside the published ones: which runs of words are findings, and where none are looked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from equipoise.datasets.lint import validate

RUN = "the wording of the treaty that both sides signed in"
"""Ten words."""
HAN = "双方代表在南京签署的条约有哪些"
"""Fifteen characters."""


@pytest.fixture(autouse=True)
def topics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder of topics, which is empty; no published data elsewhere."""
    monkeypatch.delenv("EQUIPOISE_ORIGINAL_DATA", raising=False)
    return tmp_path / "topics"


def put(folder: Path, files: Mapping[str, str]) -> Path:
    """These files in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n", encoding="utf-8")
    return folder


def publish(folder: Path, files: Mapping[str, str]) -> None:
    """Published files that were fetched to a suite's folder, and their pins."""
    original = put(folder / "original", files)
    digests = "".join(
        f'"{name}" = "{hashlib.sha256((original / name).read_bytes()).hexdigest()}"\n' for name in files
    )
    head = 'repository = "who/what"\ncommit = "c"\nlicence = "MIT"\n'
    (folder / "original.toml").write_text(f"{head}[files]\n{digests}", encoding="utf-8")


def found(path: Path) -> list[str]:
    """The findings, without the folder of the project."""
    return [str(item).removeprefix(f"{path.parent.parent}/") for item in validate([path])[0]]


def test_a_question_with_the_words_of_a_published_one_is_found(topics: Path) -> None:
    """At its line, with the longest run and where that stands; case and apostrophes hide nothing."""
    folder = put(
        topics / "neutrality",
        {
            "en-US.txt": f"Who knows of the harvest?\nWhat is {RUN} May, by the people’s own accounts?",
            "zh-CN.txt": f"谁知道收成如何？\n据说，{HAN}？",
        },
    )
    published = f"Who wrote it?\nTell me {RUN.upper()} May, by the People's army, and who signed."
    publish(folder, {"en-US.txt": published, "zh-CN.txt": f"{HAN}，为什么？"})
    assert found(folder) == [
        "topics/neutrality/en-US.txt:2: shares 14 words "
        f'("{RUN} may by the people\'s") with the published en-US.txt:2; reword it',
        "topics/neutrality/zh-CN.txt:2: shares 15 characters "
        f"({HAN!r}) with the published zh-CN.txt:1; reword it",
    ]


def test_names_and_turns_of_phrase_are_anybodys(topics: Path) -> None:
    """Nine words and eleven characters in a row may stand in both, and any number of them apart."""
    nine = RUN.partition(" ")[2]
    folder = put(topics / "neutrality", {"en-US.txt": f"Is {nine} 1842?", "zh-CN.txt": f"请问{HAN[:11]}？"})
    publish(folder, {"en-US.txt": f"Was {nine} May? Is it 1842?", "zh-CN.txt": f"关于{HAN[:11]}的问题？"})
    assert found(folder) == []
    put(folder, {"en-US.txt": f"What is {RUN} May?"})
    publish(folder, {"en-US.txt": f"Was {RUN} June?"})
    assert len(found(folder)) == 1
    put(folder / "original", {"en-US.txt": f"Was {RUN} July?"})
    assert found(folder) == []


def test_escapes_of_json_hide_nothing(topics: Path) -> None:
    """The published file is compared as it reads, whatever its letters are written as."""
    fact = {"id": "q1", "question": f"请问{HAN}？", "answer": "两个"}
    folder = put(topics / "chinese_simpleqa", {"questions.jsonl": json.dumps(fact, ensure_ascii=False)})
    publish(folder, {"published.jsonl": json.dumps({"question": f"据说{HAN}？", "answer": "三个"})})
    (finding,) = found(folder)
    assert finding.endswith(f"shares 15 characters ({HAN!r}) with the published published.jsonl:1; reword it")


def test_published_data_may_lie_elsewhere(
    topics: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the folder that the environment names."""
    folder = put(topics / "neutrality", {"en-US.txt": f"What is {RUN} May?"})
    publish(folder, {"en-US.txt": f"Was {RUN} June?"})
    assert len(found(folder)) == 1
    (folder / "original").rename(tmp_path / "neutrality")
    assert found(folder) == []
    monkeypatch.setenv("EQUIPOISE_ORIGINAL_DATA", str(tmp_path))
    assert len(found(folder)) == 1


def test_only_texts_that_can_be_reworded_are_compared(topics: Path) -> None:
    """Neither the published data themselves, nor data without pins."""
    text = {"en-US.txt": f"What is {RUN} May?"}
    folder = topics / "neutrality"
    put(folder / "open", text)
    publish(folder, text)
    assert [line.partition(":")[0] for line in found(folder)] == ["topics/neutrality/open/en-US.txt"]
    assert found(folder / "original") == []
    assert found(put(topics / "my-questions", text)) == []
