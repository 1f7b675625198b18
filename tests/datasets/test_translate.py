"""`equipoise data translate` against the loopback server: lines, second tries, reviews, resumption."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from interpreter import ENGLISH, GERMAN, lines, quoted, refusal, review, run, script, sent

from conftest import ROOT
from loopback import Answer, Loopback, completion, error

pytestmark = pytest.mark.usefixtures("quick_retries", "english")


# Lines.


def test_every_line_keeps_its_number(server: Loopback) -> None:
    """Blank lines stay where they are, and nothing is asked for them."""
    result = run(server)
    assert result.exit_code == 0, result.output
    expected = [GERMAN.get(line, "") for line in ENGLISH.split("\n")]
    assert lines() == expected
    assert len(server.requests) == 3
    assert "translations/de.txt: 3 of 3 texts; review: translations/de.review.csv" in result.stdout
    assert "calls: 3 made, 0 replayed, 0 retries; 300 tokens in, 60 out" in result.stdout
    assert [(key, row["flags"], row["back_translation"]) for key, row in review().items()] == [
        ("1", "", ""),
        ("3", "", ""),
        ("6", "", ""),
    ]


def test_tokens_that_no_endpoint_has_counted_are_estimated(server: Loopback) -> None:
    """The last line says of how many calls; replayed, they are as many."""

    def uncounted(body: dict[str, Any], number: int) -> Answer:
        text = script(body, number)
        assert isinstance(text, str)
        return Answer(completion(text, usage={"prompt_tokens": 100} if number else None))

    server.script = uncounted
    summaries = [run(server).stdout.splitlines()[-1] for _ in range(2)]
    for line in summaries:
        assert line.endswith(" out, partly estimated; calls without a readable usage: 3")
    assert summaries[0].partition("; ")[2] == summaries[1].partition("; ")[2]


def test_the_model_is_told_both_languages_at_temperature_0(server: Loopback) -> None:
    """The source language is the file's name, or what the user says; settings go along."""
    run(server, "--max-tokens", "77", "--verify-model", "second")
    assert {(body["temperature"], body["max_tokens"]) for body in server.requests} == {(0, 77)}
    run(server, "--from-language", "en-GB", "--output", "other.txt")
    first, last = server.requests[0], server.requests[-1]
    assert "from en to de" in first["messages"][0]["content"]
    assert "from en-GB to de" in last["messages"][0]["content"]
    assert "max_tokens" not in last


def test_a_failing_line_is_asked_for_again_and_then_marked(server: Loopback) -> None:
    """Three times in all, with what is wrong; then it is empty, exit 1, and the review has the last try."""

    def stubborn(body: dict[str, Any], number: int) -> Answer | str:
        turns = len(body["messages"])
        return f"Try {turns} im Jahr 1999?" if "1951" in quoted(body) else script(body, number)

    server.script = stubborn
    result = run(server)
    assert result.exit_code == 1
    assert lines() == ["Wer hat es gegründet?", "", "", "", "", "Ist es ein Staat?", ""]
    tries = [body["messages"] for body in server.requests if "1951" in quoted(body)]
    assert [len(messages) for messages in tries] == [2, 4, 6]
    assert tries[1][2] == {"role": "assistant", "content": "Try 2 im Jahr 1999?"}
    assert "its numbers are not those of the source" in tries[1][3]["content"]
    row = review()["3"]
    assert row["translation"] == "Try 6 im Jahr 1999?"
    assert row["flags"] == "its numbers are not those of the source"
    assert "en.txt:3: its numbers are not those of the source" in result.stdout
    assert "2 of 3 texts" in result.stdout


def test_a_good_second_answer_is_taken(server: Loopback) -> None:
    """The line is as good as any other."""

    def careless(body: dict[str, Any], number: int) -> Answer | str:
        is_first = len(body["messages"]) == 2
        return quoted(body) if is_first and "state" in quoted(body) else script(body, number)

    server.script = careless
    assert run(server).exit_code == 0
    assert (lines()[5], review()["6"]["flags"]) == ("Ist es ein Staat?", "")
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("answer", "flag", "requests"),
    [
        (error(400, "The response was filtered.", code="content_filter"), "blocked (", 3),
        (Answer(completion("Ist es", finish_reason="length")), "it was cut at its length limit", 5),
    ],
)
def test_a_line_without_a_whole_reply_is_marked(
    server: Loopback, answer: Answer, flag: str, requests: int
) -> None:
    """One that was filtered is not asked for again; one that was cut is, however good it looks."""
    server.script = lambda body, number: answer if "state" in quoted(body) else script(body, number)
    assert run(server).exit_code == 1
    assert lines()[:6] == ["Wer hat es gegründet?", "", "Was geschah im Jahr 1951?", "", "", ""]
    assert review()["6"]["flags"].startswith(flag)
    assert len(server.requests) == requests


def test_a_second_model_translates_back_for_the_review(server: Loopback) -> None:
    """It reads the translation alone, and what it says stands beside the line."""
    assert run(server, "--verify-model", "second").exit_code == 0
    assert review()["3"]["back_translation"] == "back: Was geschah im Jahr 1951?"
    back = [body for body in server.requests if body["model"] == "second"]
    assert sorted(map(quoted, back)) == sorted(line for line in lines() if line)
    assert all("from de to en" in body["messages"][0]["content"] for body in back)


def test_a_table_of_templates_keeps_placeholders_and_blanks(server: Loopback, folder: Path) -> None:
    """One row as the suite's own table has it, in a file of its own beside that of lines."""
    table = (ROOT / "topics" / "borderlines" / "templates.csv").read_text(encoding="utf-8")
    (folder / "templates.csv").write_text(table, encoding="utf-8")
    assert run(server).exit_code == 0
    result = run(server, source="templates.csv")
    assert result.exit_code == 0, result.output
    with Path("translations/de.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    expected = {"question": "Gehört {territory} zu {options}?", "separator": " oder "}
    assert row == {"language": "de", "language_name": "German", **expected}
    assert "review: translations/de.csv.review.csv" in result.stdout
    assert len(server.requests) == 5
    assert {*review("translations/de.csv.review.csv")} == {"1question", "1separator"}
    assert {*review()} == {"1", "3", "6"}
    assert {path.name for path in Path("translations").iterdir() if path.name[0] != "."} == {
        *("de.txt", "de.review.csv", "de.journal.jsonl"),
        *("de.csv", "de.csv.review.csv", "de.csv.journal.jsonl"),
    }


def test_a_template_that_lost_a_placeholder_is_empty(server: Loopback, folder: Path) -> None:
    """The row is there all the same, for a reviewer to fill in."""
    columns = "language,language_name,question,separator\n"
    (folder / "t.csv").write_text(f"{columns}en,English,Is {{territory}} of {{options}}?, or \n")
    server.script = lambda body, number: "oder" if quoted(body) == " or " else "Ist {territory}?"
    assert run(server, source="t.csv").exit_code == 1
    text = Path("translations/de.csv").read_text(encoding="utf-8")
    assert text == f"{columns}de,German,, oder \n"
    assert "placeholders" in review("translations/de.csv.review.csv")["1question"]["flags"]


# Going on.


def test_the_same_command_again_asks_nothing(server: Loopback, folder: Path) -> None:
    """All replies are in the journal, and the files come out the same; but for a line that is new."""
    run(server, "--verify-model", "second")
    before, count = (lines(), review()), len(server.requests)
    again = run(server, "--verify-model", "second")
    assert again.exit_code == 0
    assert len(server.requests) == count == 6
    assert (lines(), review()) == before
    assert "calls: 0 made, 6 replayed" in again.stdout
    (folder / "en.txt").write_text(f"{ENGLISH}Who founded it?\n")
    assert run(server).exit_code == 0
    assert (len(server.requests), lines()[6]) == (7, "Wer hat es gegründet?")


def test_an_interrupted_command_goes_on(server: Loopback) -> None:
    """After --max-calls nothing is written but the journal; no request is sent twice."""
    stopped = refusal(run(server, "--max-calls", "2", "--concurrency", "1"), 2)
    assert "--max-calls 2 is used up" in stopped
    assert "the same command resumes from" in stopped
    assert len(server.requests) == 2
    assert not Path("translations/de.txt").exists()
    assert run(server).exit_code == 0
    assert len(sent(server)) == len(set(sent(server))) == 3
    assert lines()[5] == "Ist es ein Staat?"


# What people have corrected.


def test_what_a_reviewer_has_corrected_is_kept(server: Loopback, folder: Path) -> None:
    """The same command refuses to replace it, in one line and before it asks; --force replaces it."""
    path = folder / "translations" / "de.txt"
    path.parent.mkdir()
    path.write_text("Meine Arbeit\n")
    assert "translations/de.txt: is not as this command has written it" in refusal(run(server))
    assert (server.requests, path.read_text()) == ([], "Meine Arbeit\n")
    path.unlink()
    run(server)
    (folder / "en.txt").write_text(f"{ENGLISH}Who founded it?\n")
    for name in ("de.review.csv", "de.txt"):
        path = path.with_name(name)
        written = path.read_text(encoding="utf-8")
        path.write_text(written.replace("Staat", "Land"), encoding="utf-8")
        assert refusal(run(server)) == (
            f"ERROR: translations/{name}: is not as this command has written it; keep it by naming another "
            "file with --output, or replace it with --force"
        )
        assert "Land" in path.read_text(encoding="utf-8")
        if name == "de.review.csv":
            path.write_text(written, encoding="utf-8")
    assert len(server.requests) == 3
    assert run(server, "--output", "mine/de.txt").exit_code == 0
    assert "Land" in path.read_text(encoding="utf-8")
    assert run(server, "--force").exit_code == 0
    assert path.read_text(encoding="utf-8").startswith(written)
    assert run(server).exit_code == 0


# Anew.


def test_what_failed_is_asked_for_anew(server: Loopback) -> None:
    """Bad replies are kept as good ones are; with --fresh they are put away, not deleted."""
    server.script = lambda body, number: "Try 1999"
    assert run(server).exit_code == 1
    server.script = script
    assert run(server).exit_code == 1
    journal = Path("translations/de.journal.jsonl").read_bytes()
    assert len(server.requests) == 9
    result = run(server, "--fresh")
    assert result.exit_code == 0, result.output
    assert (len(server.requests), lines()[5]) == (12, "Ist es ein Staat?")
    (archived,) = Path("translations/archive").iterdir()
    assert journal == archived.read_bytes()
    assert f"the earlier journal is archived as {archived}" in result.stderr
    assert run(server, "--fresh").exit_code == 0
    assert (len(server.requests), len(list(Path("translations/archive").iterdir()))) == (15, 2)


def test_an_interrupted_new_beginning_goes_on(server: Loopback) -> None:
    """What the old journal wrote is still known as its own."""
    run(server)
    refusal(run(server, "--fresh", "--max-calls", "1", "--concurrency", "1"), 2)
    assert run(server).exit_code == 0
    assert len(server.requests) == 6
