"""Whole sessions under pytest's own options and other plugins: what is paid for, and that it is so once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from conftest import Bench
from loopback import Answer, is_judge, plain_script, question_of

Workers = tuple[str, str]
RUNS = 4
"""Runs of the small dataset, each asked once: two calls."""
SKIPPED = """\
import pytest

def pytest_collection_modifyitems(items):
    for item in items:
        if "first_area" in item.nodeid:
            item.add_marker(pytest.mark.{mark})
"""


def add_plugin(bench: Bench, monkeypatch: pytest.MonkeyPatch, source: str) -> tuple[str, str]:
    """Write a plugin, and return the option that loads it."""
    (bench.folder / "added.py").write_text(source)
    monkeypatch.setenv("PYTHONPATH", str(bench.folder))
    return ("-p", "added")


def asked(bench: Bench) -> set[str]:
    """All questions that a call was about."""
    return {question_of(body) for body in bench.server.requests}


@pytest.mark.parametrize("mark", ["skip(reason='not now')", "skipif(True, reason='not now')"])
def test_what_is_skipped_costs_no_call(
    bench: Bench, workers: Workers, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    """A mark that leaves runs out leaves out their calls; without it they are asked."""
    plugin = add_plugin(bench, monkeypatch, SKIPPED.format(mark=mark))
    done = bench.run(*workers, *plugin, "--runs", "1")
    assert "2 passed, 2 skipped" in done.stdout
    assert asked(bench) == {"What is two?", "O que é dois?"}
    assert bench.run(*workers, "--runs", "1").returncode == 0
    assert len(bench.server.requests) == 2 * RUNS


def test_where_all_is_skipped_nothing_is_written(
    bench: Bench, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No call, no journal."""
    plugin = add_plugin(bench, monkeypatch, SKIPPED.format(mark="skip").replace('"first_area"', '"test_"'))
    done = bench.run(*workers, *plugin, "--runs", "1")
    assert "4 skipped" in done.stdout
    assert bench.server.requests == []
    assert not bench.journal_path.exists()


def failing(body: dict[str, Any], number: int) -> str:
    """Of one question the evaluator never gives a verdict."""
    is_bad = is_judge(body) and question_of(body) == "O que é um?"
    return "No verdict." if is_bad else plain_script(body, number)


@pytest.mark.parametrize("option", ["--ff", "--sw"])
def test_ways_to_go_on_from_failures_pay_for_them_alone(bench: Bench, workers: Workers, option: str) -> None:
    """The next sessions ask again what has failed, and nothing else; in the end all is there."""
    bench.server.script = failing
    flags = (*workers, option, "--runs", "1", "--evaluator-attempts", "1")
    assert bench.run(*flags).returncode in (1, 2)
    bench.server.script = plain_script
    done = bench.run(*flags)
    assert done.returncode == 0, done.stdout
    calls = Counter((is_judge(body), question_of(body)) for body in bench.server.requests)
    assert calls == {call: 1 + (call == (True, "O que é um?")) for call in calls}
    assert len(calls) == 2 * RUNS
    assert bench.results()["metadata"]["status"] == "complete"


LIMITED = """\
import pytest

def pytest_collection_modifyitems(items):
    items[-1].add_marker(pytest.mark.timeout(1, method="thread"))
"""


def test_a_time_limit_that_ends_the_process_costs_no_call(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pytest-timeout's thread ends the process that asks; the same command goes on from its journal."""
    last = "O que é dois?"
    bench.server.script = lambda body, number: (
        Answer(delay=60) if question_of(body) == last else plain_script(body, number)
    )
    done = bench.run("--runs", "1", *add_plugin(bench, monkeypatch, LIMITED))
    assert "Timeout" in done.stdout + done.stderr
    assert done.returncode == 1
    bench.server.script = plain_script
    assert bench.run("--runs", "1").returncode == 0
    calls = Counter((is_judge(body), question_of(body)) for body in bench.server.requests)
    assert calls == {call: 1 + (call == (False, last)) for call in calls}
    assert len(calls) == 2 * RUNS
