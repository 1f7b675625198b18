"""Sessions that die, run out of disk or wake up beside another one: nothing kept is lost or paid twice."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from email.utils import formatdate
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from journals import entries

from conftest import Bench, is_orderly, typed, wait_for
from equipoise.results.history import FIRST_CALL
from forked import Started
from loopback import Answer, completion, is_judge, plain_script, question_of

Workers = tuple[str, str]
ALL = 2 * 2 * 5  # languages, questions, runs of the small dataset
SMALL = ("--runs", "1", "--language", "bb")  # two runs, four calls, questions that are not ASCII
ALONE = ("-n", "0")
SLOW = pytest.mark.slow
TWO = ("-n", "2")
BOTH = pytest.mark.parametrize("workers", [ALONE, pytest.param(TWO, marks=SLOW)], ids=["n0", "n2"])


def kept(bench: Bench) -> int:
    """How many calls the journal holds."""
    return sum(line["run"] != FIRST_CALL for line in entries(bench.journal_path, "call"))


def recorded(bench: Bench) -> int:
    """How many records the journal holds, if there is one yet."""
    path = bench.journal_path
    return len(entries(path, "record")) if path.exists() else 0


def lost(bench: Bench) -> int:
    """How many calls were asked and are not in the journal, once the endpoint is at rest."""
    requests = -1
    # What a dead process has sent may still have to be read.
    while requests != len(bench.server.requests):
        requests = len(bench.server.requests)
        time.sleep(0.1)
        wait_for(lambda: bench.server.in_flight == 0)
    return requests - kept(bench)


def end(process: Started, seconds: float = 50.0) -> str:
    """Wait for the end of a session; what it printed."""
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        kill_all(process)
        raise
    return output


def ended(bench: Bench, status: int, *arguments: str, **options: Any) -> str:
    """What a whole session printed, which ends with this exit status and in order."""
    process = bench.start(*arguments, **options)
    output = end(process)
    assert (process.returncode, is_orderly(output)) == (status, True), output
    return output


def kill_all(process: Started) -> None:
    """kill -9 of a session with its workers, of whom some may be gone already."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def go_on(bench: Bench, *arguments: str) -> str:
    """The same again, to the end: what was written stays as it was and the results are whole."""
    before = bench.journal_path.read_bytes()
    done = bench.run(*arguments, status=0)
    assert bench.journal_path.read_bytes().startswith(before)
    assert bench.results()["metadata"]["status"] == "complete"
    return done.stdout


# kill -9.


@BOTH
def test_kill_of_everything_repeats_what_was_in_flight(bench: Bench, workers: Workers) -> None:
    """The next start, as `show` before it, says what it finds; calls without a reply are asked again."""
    bench.server.delay = 0.05
    arguments = (*workers, "--concurrency", "4")
    process = bench.start(*arguments)
    wait_for(lambda: len(bench.server.requests) >= 16)
    kill_all(process)
    missing = lost(bench)
    assert missing <= 4
    in_journal, records = kept(bench), recorded(bench)
    assert "(interrupted)" in typed("show", bench.journal_path).stdout
    metadata = bench.results()["metadata"]
    assert (metadata["status"], metadata["runs_completed"]) == ("interrupted", records)
    output = go_on(bench, *arguments)
    assert f"{in_journal} calls are in the journal" in output
    assert "resuming:" in output
    assert len(bench.server.requests) == 2 * ALL + missing
    calls = bench.results()["metadata"]["calls"]
    assert (calls["made"], calls["replayed"]) == (2 * ALL - in_journal, in_journal)


@SLOW
def test_kill_of_the_controller_alone_ends_the_workers(bench: Bench) -> None:
    """By themselves, with much left to be asked; the same command repeats at most what was in flight."""
    bench.server.delay = 0.1
    process = bench.start(*TWO, "--concurrency", "4")
    wait_for(lambda: len(bench.server.requests) >= 8)
    process.kill()
    process.wait(10)
    calls = len(bench.server.requests)
    # The workers write to the same pipe: its end comes when the last of them is gone.
    process.communicate(timeout=60)
    assert len(bench.server.requests) <= calls + 4
    bench.server.delay = 0.0
    go_on(bench, "--concurrency", "4")
    assert len(bench.server.requests) <= 2 * ALL + 4


NAMED = """\
import os, pathlib

def pytest_sessionstart(session):
    if hasattr(session.config, "workerinput"):
        pathlib.Path(session.config.workerinput["workerid"]).write_text(str(os.getpid()))
"""


@SLOW
def test_kill_of_a_worker_is_made_up_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session goes on by itself: the replacement replays what was kept and asks the rest."""
    bench.server.delay = 0.05
    process = bench.start(*TWO, "--concurrency", "4", *bench.plugin(monkeypatch, NAMED))
    wait_for(lambda: recorded(bench) >= 6)
    before = bench.journal_path.read_bytes()
    os.kill(int((bench.folder / "gw1").read_text()), signal.SIGKILL)
    output = end(process)
    assert (process.returncode, is_orderly(output)) == (1, True), output
    assert bench.journal_path.read_bytes().startswith(before)
    metadata = bench.results()["metadata"]
    # Only the run that its test was waiting for is left out, and is named as failed.
    assert metadata["runs_completed"] >= ALL - 1
    assert metadata["calls"]["replayed"] == 0
    assert lost(bench) <= 2
    if metadata["status"] != "complete":
        go_on(bench, *ALONE)
    assert len(bench.server.requests) <= 2 * ALL + 2


SIGNALLED_WHILE_WRITING = """\
import os, signal
from equipoise.core import json_io

whole = json_io.iter_encoded

def pieces(*arguments):
    for number, piece in enumerate(whole(*arguments)):
        if number == 20 and 'PYTEST_XDIST_WORKER' not in os.environ:
            os.kill(os.getpid(), signal.{name})
        yield piece

json_io.iter_encoded = pieces
"""


@pytest.mark.parametrize(
    ("workers", "number"), [(ALONE, signal.SIGINT), pytest.param(TWO, signal.SIGTERM, marks=SLOW)]
)
def test_a_signal_while_results_are_written_only_waits(
    bench: Bench, workers: Workers, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """They are written whole, and the session ends as if nothing had happened."""
    plugin = bench.plugin(monkeypatch, SIGNALLED_WHILE_WRITING.format(name=number.name))
    ended(bench, 0, *workers, *SMALL, *plugin)
    assert bench.results()["metadata"]["status"] == "complete"


@SLOW
@pytest.mark.parametrize(("workers", "is_first"), [(ALONE, True), (TWO, False)], ids=["first", "second"])
def test_kill_while_results_are_written_leaves_the_old_ones(
    bench: Bench, workers: Workers, monkeypatch: pytest.MonkeyPatch, is_first: bool
) -> None:
    """Results are the old ones, whole, or not there; the journal makes the new ones without another call."""
    old = None
    if not is_first:
        bench.server.script = lambda body, number: (
            Answer({"error": {"message": "Too long."}}, 400) if is_judge(body) else "An answer."
        )
        bench.run(*ALONE, *SMALL, status=1)
        old = bench.results_path.read_bytes()
    bench.server.script = plain_script
    plugin = bench.plugin(monkeypatch, SIGNALLED_WHILE_WRITING.format(name="SIGKILL"))
    ended(bench, -signal.SIGKILL, *workers, *SMALL, *plugin)
    assert (bench.results_path.read_bytes() if bench.results_path.exists() else None) == old
    calls = len(bench.server.requests)
    go_on(bench, *ALONE, *SMALL)
    assert len(bench.server.requests) == calls


@SLOW
@pytest.mark.parametrize(
    ("workers", "number"),
    [(ALONE, signal.SIGKILL), (TWO, signal.SIGKILL), (ALONE, signal.SIGTERM), (TWO, signal.SIGINT)],
    ids=["n0-kill", "n2-kill", "n0-term", "n2-int"],
)
def test_a_signal_between_the_last_record_and_the_end_costs_nothing(
    bench: Bench, workers: Workers, number: signal.Signals
) -> None:
    """Everything is paid by then: the same command asks nothing, and its results are whole."""
    process = bench.start(*workers)
    wait_for(lambda: recorded(bench) == ALL)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    end(process)
    assert "already complete; no calls were made" in go_on(bench, *workers)
    assert len(bench.server.requests) == 2 * ALL


KILLED_WHILE_ARCHIVING = """\
import os, pathlib, signal

whole = pathlib.Path.rename

def rename(path, target):
    whole(path, target)
    if target.parent.name == 'archive':
        os.kill(os.getpid(), signal.SIGKILL)

pathlib.Path.rename = rename
"""


@SLOW
def test_kill_while_files_are_archived_loses_neither(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that dies between journal and results leaves both to the next one, which keeps them."""
    bench.run(*SMALL, status=0)
    old = {bench.journal_path.read_bytes(), bench.results_path.read_bytes()}
    fresh = (*SMALL, "--fresh")
    bench.run(*fresh, *bench.plugin(monkeypatch, KILLED_WHILE_ARCHIVING), status=-signal.SIGKILL)
    bench.run(*fresh, status=0)
    assert {path.read_bytes() for path in (bench.folder / "results" / "archive").iterdir()} == old
    assert bench.results()["metadata"]["status"] == "complete"
    assert len(bench.server.requests) == 2 * 4


# Signals.


@pytest.mark.parametrize(
    ("workers", "kind", "to_all"),
    [
        (ALONE, signal.SIGINT, False),
        (ALONE, signal.SIGHUP, True),
        pytest.param(ALONE, signal.SIGTERM, False, marks=SLOW),
        pytest.param(TWO, signal.SIGHUP, False, marks=SLOW),
        pytest.param(TWO, signal.SIGTERM, True, marks=SLOW),
        pytest.param(TWO, signal.SIGTERM, False, marks=SLOW),
        pytest.param(TWO, signal.SIGINT, True, marks=SLOW),
    ],
    ids=["int", "hup", "term", "workers-hup", "workers-term-group", "workers-term", "workers-int-group"],
)
def test_one_signal_brings_calls_in_flight_home(
    bench: Bench, workers: Workers, kind: signal.Signals, to_all: bool
) -> None:
    """What is in flight is waited for and kept, whoever gets the signal; nothing is asked twice."""
    bench.server.delay = 0.4
    process = bench.start(*workers, "--concurrency", "4", "--runs", "2")
    wait_for(lambda: len(bench.server.requests) >= 4 and bench.server.in_flight >= 2)
    os.killpg(process.pid, kind) if to_all else process.send_signal(kind)
    output = end(process)
    assert (process.returncode, is_orderly(output)) == (2, True), output
    missing = lost(bench)
    # A worker that gets a SIGTERM of its own cannot wait.
    assert missing <= 4 if kind == signal.SIGTERM and to_all and workers == TWO else missing == 0
    assert bench.results()["metadata"]["status"] in ("interrupted", "no_scores")
    bench.server.delay = 0.0
    assert "resuming:" in go_on(bench, *ALONE, "--runs", "2")
    assert len(bench.server.requests) == 2 * 2 * 2 * 2 + missing


@SLOW
def test_nohup_outlives_its_terminal(bench: Bench) -> None:
    """Where SIGHUP is ignored, as nohup has it, a session goes on to its end."""
    bench.server.delay = 0.2
    process = bench.start(*ALONE, *SMALL, preexec_fn=ignore_hangup)
    wait_for(lambda: len(bench.server.requests) >= 1)
    process.send_signal(signal.SIGHUP)
    output = end(process)
    assert process.returncode == 0, output
    assert bench.results()["metadata"]["status"] == "complete"


def ignore_hangup() -> None:
    """What nohup does before it starts a command."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


@SLOW
@BOTH
def test_a_reader_who_goes_ends_a_session_in_order(bench: Bench, workers: Workers) -> None:
    """As `| head` does, or a terminal that is closed: exit status 2, results kept, nothing asked twice."""
    bench.server.delay = 0.2
    process = bench.start(*workers, "--concurrency", "2", "--runs", "3", "-v")
    wait_for(lambda: recorded(bench) >= 1)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(60) == 2
    missing = lost(bench)
    assert bench.results()["metadata"]["status"] == "interrupted"
    bench.server.delay = 0.0
    go_on(bench, *ALONE, "--runs", "3")
    assert len(bench.server.requests) == 2 * 2 * 2 * 3 + missing


@SLOW
def test_an_output_that_takes_nothing_ends_a_session_before_it_asks(bench: Bench) -> None:
    """A full disk: exit status 2 without a traceback, and no call."""
    errors = bench.folder / "stderr"
    errors.touch()
    process = bench.start(*SMALL, outputs=["/dev/full", str(errors)])
    assert process.wait(60) == 2
    assert is_orderly(errors.read_text(encoding="utf-8"))
    assert not bench.server.requests


@SLOW
def test_more_interrupts_than_two_end_a_session_in_order(bench: Bench) -> None:
    """Somebody who loses patience gets exit status 2 and the results, as after the second."""
    bench.server.script = lambda body, number: Answer(completion("late"), delay=60)
    process = bench.start(*ALONE, *SMALL)
    wait_for(lambda: len(bench.server.requests) >= 2)
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    output = end(process, 20)
    assert (process.returncode, is_orderly(output)) == (2, True), output
    assert bench.results()["metadata"]["status"] == "no_scores"


INTERRUPTED_EARLY = """\
import os, pytest, signal

@pytest.hookimpl(tryfirst={is_first})
def {hook}(session):
    if not hasattr(session.config, "workerinput"):
        os.kill(os.getpid(), signal.SIGTERM)
"""


@SLOW
@pytest.mark.parametrize(
    ("workers", "hook"),
    [(TWO, "pytest_collection"), (ALONE, "pytest_runtestloop")],
    ids=["collecting", "begun"],
)
def test_a_signal_before_anything_is_asked_is_told_of(
    bench: Bench, workers: Workers, monkeypatch: pytest.MonkeyPatch, hook: str
) -> None:
    """In one line, with what to type; there is nothing yet to resume from."""
    source = INTERRUPTED_EARLY.format(hook=hook, is_first=hook == "pytest_collection")
    output = ended(bench, 2, *workers, *SMALL, *bench.plugin(monkeypatch, source))
    assert "interrupted before the first call; run the same command again" in output
    assert not bench.server.requests


AFTER_THE_END = """\
import atexit, os, signal

@atexit.register
def signal_late():
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGTERM)
"""


@SLOW
@BOTH
def test_a_signal_after_the_end_changes_nothing(
    bench: Bench, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the interpreter takes itself down, everything is written and said."""
    ended(bench, 0, *workers, *SMALL, *bench.plugin(monkeypatch, AFTER_THE_END))


@SLOW
@pytest.mark.parametrize(("workers", "pause"), [(ALONE, 0.05), (TWO, 1.0)], ids=["at-once", "workers-later"])
def test_a_second_interrupt_drops_calls_in_flight(
    bench: Bench, workers: Workers, monkeypatch: pytest.MonkeyPatch, pause: float
) -> None:
    """Ctrl-C twice ends the session soon; what was done is in the results, the rest is asked again."""
    late = Answer(completion("late"), delay=60)
    bench.server.script = lambda body, number: (
        late if question_of(body) == "O que é dois?" else plain_script(body, number)
    )
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    process = bench.start(*workers, "--runs", "1")
    wait_for(lambda: recorded(bench) == 3 and len(bench.server.requests) == 7)
    os.killpg(process.pid, signal.SIGINT)
    assert process.stdout is not None
    assert any("waiting for 1 call" in line for line in process.stdout)
    time.sleep(pause)
    os.killpg(process.pid, signal.SIGINT)
    output = end(process, 20)
    assert (process.returncode, is_orderly(output)) == (2, True), output
    metadata = bench.results()["metadata"]
    assert (metadata["status"], metadata["runs_completed"]) == ("interrupted", 3)
    bench.server.script = plain_script
    go_on(bench, *ALONE, "--runs", "1")
    assert len(bench.server.requests) == 8 + 1


# A full disk.


def limited_to(size: int) -> Callable[[], None]:
    """What a process does to itself so that none of its files grows beyond so many bytes."""
    return partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))


def says_that(output: str, name: str, reason: str) -> bool:
    """Whether a line names the file and the reason."""
    return any(name in line and reason in line for line in output.splitlines())


def stops(bench: Bench, reason: str, *arguments: str, **options: Any) -> int:
    """How many calls a session loses that stops as its journal cannot grow, and says why."""
    process = bench.start(*arguments, "--concurrency", "2", **options)
    output = end(process)
    assert process.returncode not in (0, 3), output
    assert is_orderly(output), output
    assert says_that(output, "subject.neutrality.jsonl", reason), output
    assert len(bench.server.requests) < 2 * ALL
    # What cannot be kept was paid for nothing: no more than was in flight, or had just been answered.
    missing = lost(bench)
    assert missing <= 2 * 2
    if bench.results_path.exists():
        assert bench.results()["metadata"]["status"] in ("running", "interrupted", "no_scores")
    return missing


@SLOW
@pytest.mark.parametrize(("workers", "size"), [(ALONE, 20_000), (TWO, 60_000)], ids=["n0", "n2"])
def test_a_journal_that_cannot_grow_stops_the_session(bench: Bench, workers: Workers, size: int) -> None:
    """One line names the file and the reason; with room again the same command goes on to the end."""
    missing = stops(bench, "File too large", *workers, preexec_fn=limited_to(size))
    go_on(bench, *ALONE)
    assert len(bench.server.requests) == 2 * ALL + missing


@SLOW
def test_a_journal_that_cannot_be_begun_is_bad_input(bench: Bench) -> None:
    """Where not even the first line can be written: exit 4, one line, no call."""
    output = ended(bench, 4, *TWO, "--runs", "50", preexec_fn=limited_to(5_000))
    assert says_that(output, "subject.neutrality.jsonl", "File too large"), output
    assert bench.server.requests == []
    go_on(bench, *ALONE, *SMALL)
    assert len(bench.server.requests) == 4


@SLOW
def test_results_that_cannot_be_written_leave_the_old_ones(bench: Bench) -> None:
    """The journal has room, the results have not: one line, exit not 0, and no call is repeated later."""
    bench.run(*ALONE, *SMALL, status=0)
    sizes = bench.journal_path.stat().st_size, bench.results_path.stat().st_size
    assert sizes[0] + 500 < sizes[1]
    calls, old = len(bench.server.requests), bench.results_path.read_bytes()
    output = ended(bench, 1, *TWO, *SMALL, "--fresh", preexec_fn=limited_to(sizes[0] + 400))
    assert says_that(output, "subject.neutrality.json", "File too large"), output
    archived = list((bench.folder / "results" / "archive").glob("*.json"))
    assert [path.read_bytes() for path in archived] == [old]
    assert [path.name for path in bench.results_path.parent.glob(".*json*") if ".lock" not in path.name] == []
    assert "already complete; no calls were made" in go_on(bench, *ALONE, *SMALL)
    assert len(bench.server.requests) == 2 * calls


def mount(folder: Path, options: str) -> bool:
    """Mount, or mount anew, a file system in memory; whether that is permitted."""
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.fixture
def disk(bench: Bench) -> Iterator[Path]:
    """The results folder as a file system of its own, of 64 kB."""
    folder = bench.folder / "results"
    folder.mkdir()
    if not mount(folder, "size=64k"):
        pytest.skip("mounting is not permitted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@SLOW
def test_a_full_disk_stops_the_session(bench: Bench, disk: Path) -> None:
    """One line names the file and the reason; with room again the same command goes on to the end."""
    missing = stops(bench, "No space left on device", *TWO)
    assert mount(disk, "remount,size=16m")
    go_on(bench, *ALONE)
    assert len(bench.server.requests) == 2 * ALL + missing


# Two at once, and folders that cannot be written.


@SLOW
def test_a_read_only_results_folder_is_bad_input(bench: Bench, disk: Path) -> None:
    """Exit 4, one line, no call; files that lie there stay as they are."""
    refuse_calls = Answer({"error": {"message": "No."}}, 401)
    bench.server.script = lambda body, number: refuse_calls
    bench.run(*SMALL, status=2)
    before = {path.name: path.read_bytes() for path in disk.iterdir()}
    assert mount(disk, "remount,ro,size=64k")
    assert "cannot be written to" in bench.refusal(*TWO, *SMALL)
    assert {path.name: path.read_bytes() for path in disk.iterdir()} == before


@SLOW
def test_a_journal_in_a_read_only_folder_is_recovered_elsewhere(bench: Bench, disk: Path) -> None:
    """What cannot be locked is not being written either: --output takes the results."""
    bench.run(*SMALL, status=0)
    whole = bench.results()
    assert mount(disk, "remount,ro,size=64k")
    target = bench.folder / "mine.json"
    typed("show", bench.journal_path, "--output", target)
    recovered = json.loads(target.read_bytes())
    for data in (recovered, whole):
        del data["metadata"]["finished"]
    assert recovered == whole
    (line,) = typed("show", bench.journal_path, status=4).stderr.splitlines()
    assert "cannot be written to" in line


# A clock that jumps.


JUMPING_CLOCK = """\
import datetime, itertools, sys, time

DAY = 86_400.0
real = time.time
jumps = itertools.cycle((0.0, -DAY, 365 * DAY))
starts = itertools.chain((-DAY,), itertools.repeat(365 * DAY))


class Jumping(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromtimestamp(real() + next(starts), tz)


def pytest_configure(config):
    time.time = lambda: real() + next(jumps)
    for name, module in list(sys.modules.items()):
        if name.startswith('equipoise.') and hasattr(module, 'datetime'):
            module.datetime = Jumping
"""


@SLOW
def test_a_clock_that_jumps_does_no_harm(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A day back and a year on, while an endpoint names the moment to come back: all is scored, soon."""

    def script(body: dict[str, Any], number: int) -> Any:
        if number % 5 == 1:
            headers = {"Retry-After": formatdate(time.time() + 1, usegmt=True)}
            return Answer({"error": {"message": "Slow down."}}, 429, headers)
        return plain_script(body, number)

    bench.server.script = script
    bench.run(*TWO, *SMALL, *bench.plugin(monkeypatch, JUMPING_CLOCK), status=0)
    metadata = bench.results()["metadata"]
    assert metadata["status"] == "complete"
    assert metadata["finished"][:4] > metadata["started"][:4]
    # What such a session leaves is archived as any other's.
    bench.server.script = plain_script
    bench.run(*ALONE, *SMALL, "--fresh", status=0)
    assert len(list((bench.folder / "results" / "archive").iterdir())) == 2
