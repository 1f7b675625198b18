"""`data translate` where something fails: the endpoint, the key, the command line, another process."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from interpreter import ENGLISH, KEY, command, lines, quoted, refusal, review, run, script

from equipoise.cli import main
from equipoise.results.store import Files, Lock
from loopback import Answer, Loopback, completion, error

STOPPED = "ERROR: stopped: interrupted; finished work is saved, and the same command resumes from there"


pytestmark = pytest.mark.usefixtures("quick_retries", "english")


# In a process of its own.


@pytest.fixture
def started(server: Loopback) -> Iterator[subprocess.Popen[str]]:
    """The command, started in a process of its own; it waits for all of its three calls, however long."""
    server.hold()
    code = "\n".join(
        (
            "from equipoise.cli import main",
            "from equipoise.runner import signals",
            "signals.WAIT_AFTER_SIGTERM = 60.0",
            "main()",
        )
    )
    arguments = [sys.executable, "-c", code, *command(server)]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + 60
        while server.in_flight < 3 and time.monotonic() < end:
            time.sleep(0.01)
        yield process
        process.kill()


def waited(process: subprocess.Popen[str]) -> str:
    """What the command told until it waits for its calls."""
    line = "waiting for 3 calls in flight, which are paid for; Ctrl-C again drops them\n"
    assert process.stderr is not None
    return "".join(takewhile(line.__ne__, process.stderr))


def ended(process: subprocess.Popen[str]) -> tuple[int, list[str]]:
    """How the command ended, and what it told from then on."""
    assert process.stderr is not None
    messages = process.stderr.read().splitlines()
    return process.wait(timeout=60), messages


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_what_is_paid_for_come_home(
    server: Loopback, started: subprocess.Popen[str], number: signal.Signals
) -> None:
    """One line, exit 2; the same command sends nothing again."""
    started.send_signal(number)
    assert "Traceback" not in waited(started)
    server.release()
    assert ended(started) == (2, [STOPPED])
    assert not Path("translations/de.txt").exists()
    result = run(server)
    assert (result.exit_code, len(server.requests)) == (0, 3)
    assert "calls: 0 made, 3 replayed" in result.stdout


@pytest.mark.slow
def test_a_second_signal_drops_what_is_in_flight(server: Loopback, started: subprocess.Popen[str]) -> None:
    """It ends before their replies arrive; the same command asks for them again."""
    started.send_signal(signal.SIGINT)
    waited(started)
    started.send_signal(signal.SIGTERM)
    assert ended(started) == (2, [STOPPED])
    server.release()
    result = run(server)
    assert (result.exit_code, len(server.requests)) == (0, 6)


def test_the_key_is_in_no_file(server: Loopback, folder: Path) -> None:
    """Not even where the endpoint repeats it, in a reply or in an error; what is checked is what was said."""

    def telling(body: dict[str, Any], number: int) -> Answer | str:
        if "state" in quoted(body):
            return error(400, f"Bad request by {KEY}")
        return f"{script(body, number)} {KEY}"

    server.script = telling
    result = run(server, "--verify-model", "second")
    assert result.exit_code == 1
    assert all(header["Authorization"] == f"Bearer {KEY}" for header in server.headers)
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert len(written) >= 4
    assert not [path for path in written if KEY.encode() in path.read_bytes()]
    assert KEY not in result.output
    assert "Bad request by" in review()["6"]["flags"]
    assert review()["1"]["translation"].endswith(" ****")
    checked = [quoted(body) for body in server.requests if body["model"] == "second"]
    assert [text.endswith(f" {KEY}") for text in checked] == [True, True]


def test_what_cannot_work_is_one_line(server: Loopback, folder: Path, subtests: pytest.Subtests) -> None:
    """Exit 4, before anything is asked; the source is as it was."""
    cases: list[tuple[tuple[str, ...], str]] = [
        (("--output", "en.txt"), "--output: en.txt is the file to translate; name another file"),
        (("--output", "./translations/../en.txt"), "is the file to translate"),
        (("--output", "en.txt/de.txt"), "cannot be written to"),
        (("--from", "nowhere.txt"), "nowhere.txt: cannot be read"),
        (("--from", "empty.txt"), "empty.txt:1: no text in this file"),
        (("--from", "table.csv"), "table.csv:1: the columns must be language,language_name"),
        (("--from", "rows.csv"), "rows.csv: has 0 rows in 'en'; there must be one"),
        (("--model", ""), "--model: the value is empty"),
        (("--max-calls", "many"), "--max-calls: 'many'"),
        (("--max-cost", "1"), "--max-cost: the price of 'first' is not known; give it with --price-input"),
    ]
    (folder / "translations").mkdir()
    (folder / "empty.txt").write_text("\n \n")
    (folder / "table.csv").write_text("a,b\n1,2\n")
    (folder / "rows.csv").write_text("language,language_name,question,separator\nfr,French,a,b\n")
    for arguments, words in cases:
        with subtests.test(words):
            assert words in refusal(run(server, *arguments))
            assert server.requests == []
            assert (folder / "en.txt").read_text() == ENGLISH


@pytest.mark.parametrize("kind", ["session", "call", "written"])
def test_a_journal_that_cannot_be_written_stops(
    server: Loopback, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """One line, exit 2, and no result that nobody could go on from; with room again the command goes on."""
    write, start = os.write, f'{{"kind":"{kind}"'.encode()

    def fill(file: int, data: bytes) -> int:
        if data.startswith(start):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", fill)
        message = refusal(run(server), 2)
    assert "de.journal.jsonl: cannot be written to (No space left on device)" in message
    assert not Path("translations/de.txt").exists()
    assert run(server).exit_code == 0


# The second model.


@pytest.mark.parametrize(
    ("answer", "flag"),
    [
        (error(400, "Odd."), "HTTP 400: Odd."),
        (error(400, "Filtered.", code="content_filter"), "blocked (content_filter)"),
        (Answer(completion("back", finish_reason="content_filter")), "blocked (content_filter)"),
        (Answer(completion("back", finish_reason="length")), "it was cut at its length limit"),
        (" \n", "it is empty"),
    ],
    ids=["refused", "filtered", "cut by a filter", "cut", "empty"],
)
def test_a_translation_back_that_fails_costs_no_translation(
    server: Loopback, answer: Answer | str, flag: str
) -> None:
    """It is told and stands in the review; the line is as good as without a second model."""

    def failing(body: dict[str, Any], number: int) -> Answer | str:
        is_odd = body["model"] == "second" and "1951" in quoted(body)
        return answer if is_odd else script(body, number)

    server.script = failing
    result = run(server, "--verify-model", "second")
    assert result.exit_code == 0, result.output
    assert lines()[2] == "Was geschah im Jahr 1951?"
    assert review()["3"]["flags"].startswith("back-translation: ")
    assert flag in review()["3"]["flags"]
    assert f"en.txt:3: {review()['3']['flags']}" in result.stdout
    assert "3 of 3 texts" in result.stdout
    assert (review()["1"]["flags"], review()["6"]["flags"]) == ("", "")


def test_a_second_model_that_does_not_exist_stops(server: Loopback) -> None:
    """It would fail for every line; what was translated is in the journal."""

    def missing(body: dict[str, Any], number: int) -> Answer | str:
        is_second = body["model"] == "second"
        return error(404, "No.", code="model_not_found") if is_second else script(body, number)

    server.script = missing
    assert "404" in refusal(run(server, "--verify-model", "second"), 2)
    assert not Path("translations/de.txt").exists()


# Half a character.


def test_half_a_character_is_marked_and_written_all_the_same(server: Loopback) -> None:
    """Asked for again, and then flagged, also on a rerun; the review shows where it stands."""
    half = "Ist es ein \ud83d Staat?"

    def halving(body: dict[str, Any], number: int) -> Answer | str:
        return half if body["model"] == "second" or "state" in quoted(body) else script(body, number)

    server.script = halving
    for _ in range(2):
        result = run(server, "--verify-model", "second")
        assert result.exit_code == 1, result.output
        assert "en.txt:6: it has half a character" in result.stdout
        assert lines()[5] == ""
        row = review()["6"]
        assert (row["translation"], row["back_translation"]) == (half.replace("\ud83d", "?"),) * 2
        assert row["flags"] == "it has half a character"
    assert len(server.requests) == 5 + 3


# Signals before the first call.


class Loading:
    """A built-in server that a signal meets while it loads its model, or once that is there."""

    number = signal.SIGINT
    place = "loading"

    def __init__(self, path: Path) -> None:
        self.path = path

    def wait_until_ready(self) -> None:
        """Load."""
        if self.place == "loading":
            os.kill(os.getpid(), self.number)
            threading.Event().wait(20)

    @property
    def base_url(self) -> str:
        """The address."""
        if self.place == "loaded":
            os.kill(os.getpid(), self.number)
        return "http://127.0.0.1:9/v1"

    def stop(self) -> None:
        """End."""
        Path("stopped").touch()


@pytest.mark.parametrize("moment", ["loading", "loaded"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_before_the_first_call_stops(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals, moment: str
) -> None:
    """One line, exit 2, and the built-in server is ended; the next command is not locked out."""
    monkeypatch.setattr("equipoise.models.local.LocalServer", Loading)
    monkeypatch.setattr("equipoise.models.local.weights", lambda model: Path("model.gguf"))
    monkeypatch.setattr(Loading, "number", number)
    monkeypatch.setattr(Loading, "place", moment)
    result = CliRunner().invoke(
        main, ["data", "translate", "--from", "en.txt", "--to", "de", "--model", "local"]
    )
    assert refusal(result, 2) == STOPPED
    assert "Aborted" not in result.output
    assert Path("stopped").exists()
    path = Path("translations/de.journal.jsonl")
    Lock(Files(results=path, journal=path)).release()
