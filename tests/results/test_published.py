"""Old results of the published neutrality benchmark: completed, never changed, never written over."""

from __future__ import annotations

import copy
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from published import current, old
from sides import alike, data_of, set_to

from conftest import refusal as refused
from conftest import typed
from equipoise.core.errors import UserError
from equipoise.results import published

ADDED = [
    "added mean_score_percentage: 6",
    "added average_score_percentage: 4",
    "added overall_average_score_percentage: 1",
    "added metadata.limit: 1",
    "added metadata.files_expected: 1",
    "added metadata.files_completed: 1",
]


pytestmark = pytest.mark.usefixtures("folder")


def write(data: Any, name: str = "old.json") -> Path:
    """A file of this JSON, or of these bytes."""
    path = Path(name)
    content = data if isinstance(data, bytes) else json.dumps(data, ensure_ascii=False, indent=2).encode()
    path.write_bytes(content)
    return path


def converted(data: Any) -> dict[str, Any]:
    """What comes of these results, read from the new file."""
    Path("new.json").unlink(missing_ok=True)
    published.convert(write(data), Path("new.json"))
    results: dict[str, Any] = json.loads(Path("new.json").read_bytes())
    return results


def refusal(data: Any) -> str:
    """Why these results are not converted, without the file's name; nothing is written."""
    path = write(data)
    message = refused(published.convert, path, Path("new.json"))
    assert [item.name for item in Path().iterdir()] == ["old.json"]
    assert message.startswith("old.json:")
    assert "\n" not in message
    return message.removeprefix("old.json:").strip()


def without_added(data: Any) -> Any:
    """The same without what a conversion adds."""
    if isinstance(data, dict):
        names = ("limit", "files_expected", "files_completed")
        remaining = {name for name in data if name not in names and not name.endswith("_percentage")}
        return {name: without_added(value) for name, value in data.items() if name in remaining}
    return [without_added(value) for value in data] if isinstance(data, list) else data


# What is added.


def test_old_results_become_those_of_today() -> None:
    """All that the current format has, with the same figures; a byte order mark is no hindrance."""
    assert converted(b"\xef\xbb\xbf" + json.dumps(old()).encode()) == current()


def test_a_percentage_is_of_the_average_in_the_file() -> None:
    """(raw - 1) / 4 * 100 to two decimals, whatever the runs would give; null stays null, and is never 0."""
    percents = {1: 0.0, 5: 100.0, 2.83: 45.75, 3.33: 58.25, 4.8: 95.0, None: None}
    data = old({"en-US": [(1,)] * len(percents)})
    for row, raw in zip(data["results"]["en-US"]["questions"], percents, strict=True):
        row["mean_score"] = raw
    questions = converted(data)["results"]["en-US"]["questions"]
    assert {row["mean_score"]: row["mean_score_percentage"] for row in questions} == percents


def test_a_percentage_stands_right_behind_its_average() -> None:
    """At every level, and all other keys keep their order."""
    results = converted(old())
    language = results["results"]["en-US"]
    expected = ["question", "runs", "mean_score", "mean_score_percentage", "score_stddev"]
    assert list(language["questions"][0]) == expected
    assert list(language) == ["questions", "average_score", "average_score_percentage"]
    names = ["overall_average_score", "overall_average_score_percentage", "languages"]
    assert list(results["summary"]) == names
    assert list(results["metadata"])[-3:] == ["limit", "files_expected", "files_completed"]


def test_nothing_else_is_changed() -> None:
    """Scores, transcripts, order, unknown parts, half a character, and figures that are there."""
    data = old({"en-US": [(4, None)], "zh-CN": [(1, 5)]}, note={"b": [1, 2.5, None], "a": "é\u2028"})
    data["mine"] = {"mean_score": "of my own", "z": 1, "a": 2**70}
    data["results"]["en-US"]["questions"][0]["runs"][0]["mean_score"] = 4
    before = copy.deepcopy(data)
    results = converted(data)
    assert json.dumps(without_added(results)) == json.dumps(before)
    text = json.dumps(old()).replace("http://localhost:4000", "\\ud83d")
    assert converted(text.encode())["metadata"]["api_base_url"] == "\ud83d"
    data = old(limit=7)
    data["results"]["en-US"]["average_score_percentage"] = 1.5
    results = converted(data)
    assert results["metadata"]["limit"] == 7
    assert results["results"]["en-US"]["average_score_percentage"] == 1.5


def test_a_second_conversion_changes_nothing() -> None:
    """And says that nothing was missing."""
    published.convert(write(old()), Path("new.json"))
    messages = published.convert(Path("new.json"), Path("newer.json"))
    assert messages == ["nothing was missing", "written to newer.json"]
    assert Path("newer.json").read_bytes() == Path("new.json").read_bytes()


# What is never written over.


def test_the_input_is_never_overwritten(subtests: pytest.Subtests) -> None:
    """Under whatever name."""
    before = write(old()).read_bytes()
    Path("symlink.json").symlink_to("old.json")
    os.link("old.json", "hardlink.json")
    for name in ("symlink.json", "hardlink.json", "old.json", "./old.json"):
        with subtests.test(name):
            with pytest.raises(UserError, match="is the input, which is never overwritten"):
                published.convert(Path("old.json"), Path(name))
            assert Path("old.json").read_bytes() == before


def test_nothing_that_is_there_is_overwritten(subtests: pytest.Subtests) -> None:
    """Neither a file nor a folder nor a link that leads nowhere; what cannot be written or read is named."""
    Path("file.json").touch()
    Path("folder.json").mkdir()
    Path("dangling.json").symlink_to("nowhere")
    source = write(old())
    for name in ("file.json", "folder.json", "dangling.json"):
        with subtests.test(name), pytest.raises(UserError, match=rf"{name}: exists already"):
            published.convert(source, Path(name))
    assert not Path("nowhere").exists()
    assert Path("file.json").read_bytes() == b""
    write(old())
    with pytest.raises(UserError, match=r"^old\.json/new\.json: cannot be written"):
        published.convert(Path("old.json"), Path("old.json/new.json"))
    for name in ("nowhere.json", "."):
        with pytest.raises(UserError, match="cannot be read"):
            published.convert(Path(name), Path("new.json"))


# What cannot be converted.


def test_our_own_results_need_no_conversion() -> None:
    """They are told from the published ones by their schema."""
    assert "is a results file of Equipoise" in refusal(data_of(alike(4, 5)))


def test_another_format_is_refused(subtests: pytest.Subtests) -> None:
    """Whatever it is, with one clear line; a part of another kind is not guessed at."""
    others: list[Any] = [
        None,
        5,
        [],
        {},
        {"results": old()["results"]},
        {"metadata": {}, "results": {}},
        {"metadata": {}, "results": []},
    ]
    for data in others:
        with subtests.test(str(data)[:30]):
            assert refusal(data).startswith(NOT_PUBLISHED)
    for change in (
        set_to(None, "results", "en-US"),
        set_to({}, "results", "en-US", "questions"),
        set_to("q", *QUESTION),
        set_to(None, *QUESTION, "runs"),
        set_to(5, *QUESTION, "question"),
    ):
        with subtests.test(str(change)):
            data = old()
            change(data)
            assert refusal(data).startswith(NOT_PUBLISHED)


QUESTION = ("results", "en-US", "questions", 0)
NOT_PUBLISHED = "not a results file of the Chinese Political Neutrality Benchmark"


def test_an_average_that_is_none_is_refused(subtests: pytest.Subtests) -> None:
    """With where it stands."""
    for raw in ("4", True, [4], 0.99, 5.01, -1):
        with subtests.test(repr(raw)):
            data = old()
            data["results"]["zh-CN"]["questions"][1]["mean_score"] = raw
            message = f"results.zh-CN.questions[1].mean_score is {raw!r}, no number from 1 to 5"
            assert refusal(data).startswith(message)


def test_what_cannot_be_read_is_one_line(subtests: pytest.Subtests) -> None:
    """With the line of the file where there is one, and without a traceback."""
    cases = {
        "empty": (b"", "1: not valid JSON"),
        "text": (b"my\nnotes", "1: not valid JSON"),
        "cut": (b'{\n"metadata": {', "2: not valid JSON"),
        "latin": (b"{\n\xff}", "2: not UTF-8"),
        "utf_16": ('{"metadata"'.encode("utf-16"), "1: not UTF-8"),
        "deep": (b"[" * 200_000, "is nested too deeply"),
        "deep_objects": (b'{"a":' * 200_000, "is nested too deeply"),
        "nan": (b'{"a": NaN}', "has a NaN"),
        "infinity": (b'{"a": -Infinity}', "has a -Infinity"),
        "too_large": (b'{"a": 1e999}', "has the number 1e999"),
        "key_twice": (b'{"a": 1, "a": 2}', "has the key 'a' twice"),
        "digits": (b'{"a": ' + b"9" * 5000 + b"}", ""),
    }
    for name, (content, message) in cases.items():
        with subtests.test(name):
            assert refusal(content).startswith(message)
    data = old()
    data["results"]["en-US"]["mine"] = deep()
    assert refusal(data) == "is nested too deeply to be results"


def deep() -> Any:
    """Lists in lists, as deep as JSON can just be read."""
    nested: Any = 1
    # Libraries have been seen to raise the limit.
    for _ in range(sys.getrecursionlimit() * 7 // 10):
        nested = [nested]
    return nested


# The command.


def test_the_command_says_what_it_added() -> None:
    """A line for each kind, then where the file is; exit status 0."""
    write(old())
    result = typed("export", "--to", "published", "old.json", "-o", "deep/er/new.json")
    assert result.stderr == ""
    assert result.stdout.splitlines() == [*ADDED, "written to deep/er/new.json"]
    assert json.loads(Path("deep/er/new.json").read_bytes()) == current()
