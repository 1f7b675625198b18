"""Jobs outside of pytest: order, failures, several models, time limits, and a journal over sessions."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from journals import entries

from equipoise.core.errors import CallFailed, SessionStopped, UserError
from equipoise.core.resolution import resolve
from equipoise.core.settings import Settings
from equipoise.core.types import Message
from equipoise.judge.judge import JobModels
from equipoise.models.counters import CounterSnapshot
from equipoise.runner.jobs import Job, open_jobs
from loopback import Answer, Loopback, completion, error, question_of


def settings(server: Loopback, **options: Any) -> Settings:
    """The settings of a command with a model and two evaluators."""
    texts = {"model": "worker", "evaluator_model": ["first", "second"], "api_base_url": server.url}
    return resolve({**texts, "max_retries": "0", **options}, {}, {})


class Done(NamedTuple):
    """What became of a session with one lot of jobs."""

    results: list[Any]
    totals: CounterSnapshot


def run_jobs(
    settings: Settings, path: Path, jobs: list[Job[Any]], on_done: Callable[[], None] = lambda: None
) -> Done:
    """A session with these jobs."""
    with open_jobs(settings, path) as session:
        results = session.run(jobs, on_done)
    return Done(results, session.totals)


def asking(name: str) -> Job[str]:
    """A job that asks the model for its own name."""

    async def do(models: JobModels) -> str:
        return (await models.model.complete((Message(role="user", content=name),))).text

    return Job(name=name, do=do)


def echo(body: dict[str, Any], number: int) -> str:
    """Whoever is asked says who it is and what it was asked."""
    return f"{body['model']}: {question_of(body)}"


@pytest.fixture
def server(loopback: Loopback) -> Loopback:
    """The endpoint."""
    loopback.script = echo
    return loopback


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Where the journal will be."""
    return tmp_path / "new" / "work.jsonl"


def jobs(count: int) -> list[Job[Any]]:
    """So many that ask, by the names job0, job1, ..."""
    return [asking(f"job{number}") for number in range(count)]


def test_a_code_is_of_one_job_and_purpose_and_the_same_when_it_goes_on(
    server: Loopback, journal: Path
) -> None:
    """So what one prompt shows cannot close the quotation of another, and no request is paid for twice."""

    def telling(name: str) -> Job[list[str]]:
        async def do(models: JobModels) -> list[str]:
            return [models.code("critique"), models.code("generation")]

        return Job(name=name, do=do)

    wanted = [telling(f"job{number}") for number in range(2)]
    first, again = (run_jobs(settings(server), journal, wanted).results for _ in range(2))
    other = run_jobs(
        settings(server), journal.with_name("other.jsonl"), [telling(f"job{number}") for number in range(2)]
    ).results
    codes = [code for results in (*first, *other) if isinstance(results, list) for code in results]
    assert first == again
    assert len(set(codes)) == len(codes) == 8
    assert all(len(code) == 16 for code in codes)


def test_results_stand_in_the_order_of_the_jobs(server: Loopback, journal: Path) -> None:
    """Whichever reply came first; calls are made side by side."""

    def slow_first(body: dict[str, Any], number: int) -> Answer | str:
        return Answer(completion(echo(body, number)), delay=0.2 - 0.02 * min(number, 9))

    server.script = slow_first
    ticks: list[None] = []
    done = run_jobs(settings(server), journal, jobs(8), lambda: ticks.append(None))
    assert done.results == [f"worker: {job.name}" for job in jobs(8)]
    assert (len(ticks), done.totals.made, done.totals.replayed) == (8, 8, 0)
    assert server.peak > 1


def test_a_failure_is_the_result_of_its_job(server: Loopback, journal: Path) -> None:
    """The others are done all the same, and the next session asks for it alone."""
    server.script = lambda body, n: error(400, "Odd.") if question_of(body) == "job1" else echo(body, n)
    done = run_jobs(settings(server), journal, jobs(3))
    assert [str(item)[:11] for item in done.results] == ["worker: job", "subject 'wo", "worker: job"]
    assert isinstance(done.results[1], CallFailed)
    assert "HTTP 400: Odd." in str(done.results[1])
    server.script = echo
    again = run_jobs(settings(server), journal, jobs(3))
    assert again.results == [f"worker: {job.name}" for job in jobs(3)]
    assert (again.totals.made, again.totals.replayed, len(server.requests)) == (1, 2, 4)


def test_a_defect_of_ours_is_raised(server: Loopback, journal: Path) -> None:
    """It is no result, and not taken for a failed call; what else was paid for is in the journal."""

    async def divide(models: JobModels) -> str:
        return str(1 / 0)

    with pytest.raises(ZeroDivisionError):
        run_jobs(settings(server), journal, [asking("job0"), Job(name="bad", do=divide)])
    assert len(entries(journal, "call")) == 1


def test_several_models_work_on_one_job(server: Loopback, journal: Path) -> None:
    """A model and its evaluators, by place; the next session replays each of them."""

    async def do(models: JobModels) -> list[str]:
        messages = (Message(role="user", content="who?"),)
        return [(await model.complete(messages)).text for model in (models.model, *models.evaluators)]

    for _ in range(2):
        done = run_jobs(settings(server), journal, [Job(name="all", do=do)])
        assert done.results == [["worker: who?", "first: who?", "second: who?"]]
    assert [body["model"] for body in server.requests] == ["worker", "first", "second"]
    assert len(done.totals.tokens) == 3


@pytest.mark.slow
def test_a_job_that_takes_too_long_has_failed(server: Loopback, journal: Path) -> None:
    """Others are not held up by it."""

    def hanging(body: dict[str, Any], number: int) -> Answer | str:
        text = echo(body, number)
        return Answer(completion(text), delay=20) if "job0" in text else text

    server.script = hanging
    done = run_jobs(settings(server, case_timeout="2"), journal, jobs(2))
    assert str(done.results[0]) == "took longer than 2 s"
    assert done.results[1] == "worker: job1"


def test_a_line_that_a_crash_has_cut_is_asked_for_again(server: Loopback, journal: Path) -> None:
    """And nothing but that; a line that lacks no more than its end is whole."""
    run_jobs(settings(server, concurrency="1"), journal, jobs(2))
    content = journal.read_bytes()
    # Behind the calls stands how many were in flight.
    end = content.index(b'{"kind":"limit"')
    for cut, replayed in ((1, 2), (30, 1)):
        journal.write_bytes(content[: end - cut])
        again = run_jobs(settings(server), journal, jobs(2))
        assert again.results == ["worker: job0", "worker: job1"]
        assert again.totals.replayed == replayed


@pytest.mark.parametrize("status", [401, 404])
def test_what_would_fail_for_all_stops(server: Loopback, journal: Path, status: int) -> None:
    """A mistake of the user's before the first answer, which leaves no journal; later with how to go on."""
    refused = error(status, "No such key or model.")
    server.script = lambda body, number: refused
    with pytest.raises(UserError, match=rf"^subject 'worker': HTTP {status}: "):
        run_jobs(settings(server, concurrency="1"), journal, jobs(5))
    assert (len(server.requests), journal.exists()) == (1, False)
    server.script = lambda body, number: "Yes." if len(server.requests) < 3 else refused
    mended = "finished work is saved, and once that is mended, the command resumes from there"
    with pytest.raises(SessionStopped, match=rf"^stopped: .*{status}.*; {mended}$"):
        run_jobs(settings(server, concurrency="1"), journal, jobs(5))
    assert journal.exists()


def test_a_mistake_in_a_later_session_keeps_the_journal(server: Loopback, journal: Path) -> None:
    """Nothing is asked with a wrong key, but what earlier sessions have paid for stays."""
    run_jobs(settings(server), journal, jobs(2))
    content = journal.read_bytes()
    server.script = lambda body, number: error(401, "No such key.")
    with pytest.raises(UserError, match=r"^subject 'worker': HTTP 401: "):
        run_jobs(settings(server), journal, jobs(3))
    assert journal.read_bytes().startswith(content)


def test_limits_hold_over_all_lots_of_jobs(server: Loopback, journal: Path) -> None:
    """Of one command: what one lot has sent counts for the next."""
    limited = settings(server, max_calls="5", concurrency="1")
    with open_jobs(limited, journal) as session:
        assert session.run([]) == []
        assert len(session.run(jobs(3))) == 3
        assert session.totals.sent == 3
        with pytest.raises(SessionStopped, match="--max-calls 5 is used up: requests sent: 5"):
            session.run([asking(f"other{number}") for number in range(9)])
    assert len(server.requests) == 5


def test_without_a_model_nothing_begins(server: Loopback, journal: Path) -> None:
    """No folder, no journal."""
    with pytest.raises(UserError, match="--model: name the model"):
        run_jobs(resolve({"api_base_url": server.url}, {}, {}), journal, [asking("a")])
    assert not journal.parent.exists()


@pytest.mark.parametrize("unknown", ["model", "evaluator_model"])
def test_a_limit_of_cost_needs_a_price_of_every_model(server: Loopback, journal: Path, unknown: str) -> None:
    """What has none would cost nothing for ever; with a price it is done, and nothing begins before."""
    texts = {"model": "gpt-4o", "evaluator_model": "gpt-4o", unknown: "nobody-knows-it", "max_cost": "1"}
    with pytest.raises(UserError, match=r"^--max-cost: the price of 'nobody-knows-it' is not known; "):
        run_jobs(settings(server, **texts), journal, [asking("a")])
    assert (journal.parent.exists(), server.requests) == (False, [])
    prices = {"price_input": "1", "price_output": "1"}
    assert len(run_jobs(settings(server, **texts, **prices), journal, [asking("a")]).results) == 1


def test_a_proxy_that_is_not_supported_is_refused(
    server: Loopback, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is asked."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "socks5://127.0.0.1:9")
    with pytest.raises(UserError, match=r"^HTTP_PROXY: 'socks5://127\.0\.0\.1:9' is not the URL of an HTTP"):
        run_jobs(settings(server), journal, [asking("a")])
    assert server.requests == []


def test_a_signal_stops_though_all_came_home(server: Loopback, journal: Path) -> None:
    """What was wanted is stopped, not half of it; the next time everything is there already."""

    def interrupted(name: str) -> Job[str]:
        async def do(models: JobModels) -> str:
            text = await asking(name).do(models)
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0.05)
            return text

        return Job(name=name, do=do)

    with pytest.raises(SessionStopped, match=r"^stopped: interrupted; finished work is saved"):
        run_jobs(settings(server), journal, [interrupted("job0")])
    again = run_jobs(settings(server), journal, [asking("job0")])
    assert (again.results, again.totals.replayed, len(server.requests)) == (["worker: job0"], 1, 1)


def test_patience_with_calls_in_flight_ends(
    server: Loopback, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that was interrupted waits no longer for what is in flight, and says how much that is."""
    monkeypatch.setattr("equipoise.runner.signals.LONGEST_WAIT", 0.01)
    notices: list[str] = []
    sent = threading.Event()

    def late(body: dict[str, Any], number: int) -> Answer:
        sent.set()
        return Answer(completion("late"), delay=600)

    server.script = late

    async def interrupt(models: JobModels) -> str:
        await asyncio.to_thread(sent.wait)
        os.kill(os.getpid(), signal.SIGINT)
        return ""

    with (
        pytest.raises(SessionStopped, match=r"^stopped: interrupted; "),
        open_jobs(settings(server), journal, tell=notices.append) as session,
    ):
        session.run([*jobs(1), Job(name="interrupt", do=interrupt)])
    assert notices == ["waiting for 1 calls in flight, which are paid for; Ctrl-C again drops them"]
    assert entries(journal, "call") == []
