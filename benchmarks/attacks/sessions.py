"""Whole sessions under attack: what they are compared with, how they are taken up again, what was lost."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from journals import entries

from attacks.tally import Harm
from conftest import Bench, is_orderly
from forked import Started
from loopback import Answer, Loopback, Script, is_judge, plain_script

ALL = 2 * 2 * 5
"""Languages, questions and runs of the small dataset."""
CALLS = 2 * ALL
IN_FLIGHT = 4
DELAY = 0.03
PATIENCE = 120.0
OFTEN = 4
"""Sessions that may be needed to complete one that was stopped."""
OF_THE_TIME = ("started", "finished", "calls", "limits", "tokens", "cost_usd", "sessions")
"""Parts of the metadata that say how a session went, and not what came of it."""
OF_THE_BED = (
    *("endpoints", "max_cost", "max_calls", "price_per_million", "usage_estimated"),
    *("subject_sampling", "evaluator_sampling", "git_commit", "git_dirty"),
)
"""Parts that say how it was started."""
OF_A_CALL = ("latency", "retries", "usage")
OF_THE_ORDER = ("first_run", "first_call", "last_call", "calls")
"""Which of the calls a model answered: others come first where some are asked again."""


@contextmanager
def bed(script: Script = plain_script, *, delay: float = DELAY) -> Iterator[Bench]:
    """A project in a folder of its own, and its endpoint."""
    with tempfile.TemporaryDirectory() as folder, Loopback(script, delay=delay) as server:
        yield Bench(Path(folder), server)


def subject_says(answer: Answer) -> Script:
    """The script in which the subject gives this answer to everything."""
    return lambda body, number: plain_script(body, number) if is_judge(body) else answer


def judge_says(text: str) -> Script:
    """The script in which the evaluator says this of everything."""
    return lambda body, number: text if is_judge(body) else plain_script(body, number)


def wait_for(condition: Callable[[], bool], process: Started) -> None:
    """Wait until the condition holds, or the process has ended."""
    end = time.monotonic() + PATIENCE
    while not condition() and process.poll() is None:
        if time.monotonic() > end:
            raise TimeoutError("waited in vain")
        time.sleep(0.005)


def ended(process: Started) -> str:
    """Wait for the end of a session; what it printed."""
    try:
        return process.communicate(timeout=PATIENCE)[0]
    except subprocess.TimeoutExpired:
        kill_group(process, signal.SIGKILL)
        raise


def kill_group(process: Started, number: int) -> None:
    """A signal to a session and its workers, of whom some may be gone already."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def records(bench: Bench) -> int:
    """How many records the journal holds, if there is one yet."""
    path = bench.journal_path
    return len(entries(path, "record")) if path.exists() else 0


def calls(bench: Bench) -> list[str]:
    """The ids of all calls in the journal, if there is one yet."""
    path = bench.journal_path
    return [str(entry["id"]) for entry in entries(path, "call")] if path.exists() else []


def outcome(bench: Bench) -> dict[str, Any]:
    """What results say but for times, codes of calls, and how the session went."""
    data = bench.results()
    for name in (*OF_THE_TIME, *OF_THE_BED):
        data["metadata"].pop(name, None)
    return dict(json.loads(re.sub(r"\b[0-9a-f]{16}\b", "code", json.dumps(_without_times(data)))))


def _without_times(data: Any) -> Any:
    if isinstance(data, list):
        return [_without_times(item) for item in data]
    if isinstance(data, dict):
        kept = data.keys() - {*OF_A_CALL, *OF_THE_ORDER}
        return {name: _without_times(item) for name, item in data.items() if name in kept}
    return data


@cache
def undisturbed() -> dict[str, Any]:
    """What an uninterrupted session comes to."""
    with bed(delay=0.0) as bench:
        done = bench.run("-n", "0", "--concurrency", str(IN_FLIGHT))
        assert done.returncode == 0, done.stdout + done.stderr
        return outcome(bench)


def go_on(bench: Bench, harm: Harm, *arguments: str) -> None:
    """The same command until it is complete; nothing that was kept may be lost."""
    before = bench.journal_path.read_bytes() if bench.journal_path.exists() else b""
    for _ in range(OFTEN):
        done = bench.run("--concurrency", str(IN_FLIGHT), *arguments)
        harm.expect(is_orderly(done.stdout + done.stderr), f"{done.stdout}{done.stderr}"[-1500:])
        if done.returncode == 0:
            break
    else:
        harm.expect(False, f"not complete: {done.stdout}{done.stderr}"[-1500:])
    after = bench.journal_path.read_bytes()
    harm.lost += 0 if after.startswith(before) else max(1, before.count(b'"kind":"call"'))


def compare(bench: Bench, harm: Harm, *, again: int, sent: int | None = None) -> None:
    """Hold a session that is complete against an undisturbed one; `again` calls may have been repeated.

    `sent` is the number of requests, None for those of the bed's own server.
    """
    harm.twice += max(0, (len(bench.server.requests) if sent is None else sent) - CALLS - again)
    expected, found = undisturbed(), outcome(bench)
    for language, content in expected["results"].items():
        harm.changed += content != found["results"].get(language)
    for part in ("results", "metadata", "summary", "errors"):
        harm.said += [f"{part}{where}" for where in _differences(expected[part], found[part])][:5]


def _differences(expected: Any, found: Any) -> Iterator[str]:
    """Where two structures differ, and how."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in {**expected, **found}:
            for where in _differences(expected.get(name), found.get(name)):
                yield f".{name}{where}"
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, pair in enumerate(zip(expected, found, strict=True)):
            for where in _differences(*pair):
                yield f"[{number}]{where}"
    elif expected != found:
        yield f": {expected!r:.200} is now {found!r:.200}"
