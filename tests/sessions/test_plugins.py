"""Whole sessions under pytest's own options and other plugins: what is paid for, and that it is so once."""

from __future__ import annotations

from collections import Counter
from itertools import repeat

import pytest

from conftest import Bench
from fates import Fates
from loopback import Answer, is_judge, plain_script, question_of

RUNS = 4
"""Runs of the small dataset, each asked once: two calls."""
BOTH = pytest.mark.parametrize("workers", [("-n", "0"), pytest.param(("-n", "2"), marks=pytest.mark.slow)])
SKIPPED = """\
import pytest

def pytest_collection_modifyitems(items):
    for item in items:
        if "first_area" in item.nodeid:
            item.add_marker(pytest.mark.skip(reason='left out by a plugin'))
"""


def asked(bench: Bench) -> set[str]:
    """All questions that a call was about."""
    return {question_of(body) for body in bench.server.requests}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "mark", "ended", "without"),
    [
        (("-n", "0"), "skip(reason='left out by a plugin')", "skipped", ()),
        (("-n", "2"), "xfail(run=False)", "xfailed", ("-p", "added", "--runxfail")),
    ],
    ids=["skip", "xfail"],
)
def test_what_is_not_run_costs_no_call(
    bench: Bench,
    workers: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
    mark: str,
    ended: str,
    without: tuple[str, ...],
) -> None:
    """Runs that a mark leaves out are not asked, and results are made; without the mark they are asked."""
    source = SKIPPED.replace("skip(reason='left out by a plugin')", mark)
    plugin = bench.plugin(monkeypatch, source)
    done = bench.run(*workers, *plugin, "--runs", "1")
    assert f"2 passed, 2 {ended}" in done.stdout
    assert asked(bench) == {"What is two?", "O que é dois?"}
    bench.run(*workers, *without, "--runs", "1", status=0)
    assert len(bench.server.requests) == 2 * RUNS


REPEATING = """\
def pytest_addoption(parser):
    parser.addoption("--count", type=int, default=1)
    parser.addoption("--repeat-scope", default="function")
    parser.addoption("--flake-finder", dest="flake_finder_enable", action="store_true")
"""
"""The options of pytest-repeat and pytest-flakefinder."""


@pytest.mark.parametrize("option", ["--count=3", "--flake-finder"])
def test_repeated_tests_are_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    """In one line, with the option that asks several times."""
    plugin = bench.plugin(monkeypatch, REPEATING)
    line = bench.refusal(*plugin, option)
    assert line.startswith(f"ERROR: {option.partition('=')[0]}: repeats tests")
    assert "--runs N" in line


@pytest.mark.slow
def test_where_all_is_skipped_nothing_is_written(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """No call, no journal; a condition skips as a plain mark does."""
    source = SKIPPED.replace('"first_area"', '"test_"').replace("skip(", "skipif(True, ")
    done = bench.run("-n", "2", *bench.plugin(monkeypatch, source), "--runs", "1")
    assert "4 skipped" in done.stdout
    assert bench.server.requests == []
    assert not bench.journal_path.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "workers"), [("--ff", ("-n", "0")), ("--sw", ("-n", "2")), ("--lf", ("-n", "2"))]
)
def test_ways_to_go_on_from_failures_pay_for_them_alone(
    bench: Bench, workers: tuple[str, str], option: str
) -> None:
    """The next sessions ask again what has failed, and nothing else; in the end all is there."""
    bench.server.script = Fates(judge={"O que é um?": repeat("No verdict.")})
    flags = (*workers, option, "--runs", "1", "--evaluator-attempts", "1")
    assert bench.run(*flags).returncode in (1, 2)
    bench.server.script = plain_script
    bench.run(*flags, status=0)
    calls = Counter((is_judge(body), question_of(body)) for body in bench.server.requests)
    assert calls == {call: 1 + (call == (True, "O que é um?")) for call in calls}
    assert len(calls) == 2 * RUNS
    assert bench.results()["metadata"]["status"] == "complete"


LIMITED = """\
import pytest

def pytest_collection_modifyitems(items):
    items[-1].add_marker(pytest.mark.timeout(1, method="thread"))
"""


@pytest.mark.slow
def test_a_time_limit_that_ends_the_process_costs_no_call(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pytest-timeout's thread ends the process that asks; the same command goes on from its journal."""
    last = "O que é dois?"
    bench.server.script = lambda body, number: (
        Answer(delay=60) if question_of(body) == last else plain_script(body, number)
    )
    done = bench.run("--runs", "1", *bench.plugin(monkeypatch, LIMITED))
    assert "Timeout" in done.stdout + done.stderr
    assert done.returncode == 1
    bench.server.script = plain_script
    bench.run("--runs", "1", status=0)
    calls = Counter((is_judge(body), question_of(body)) for body in bench.server.requests)
    assert calls == {call: 1 + (call == (False, last)) for call in calls}
    assert len(calls) == 2 * RUNS


AGAIN = """

def pytest_runtest_protocol(item, nextitem):
    from _pytest.runner import runtestprotocol

    runtestprotocol(item, nextitem=nextitem, log=False)
    item._initrequest()
"""


@BOTH
def test_reruns_get_the_same_record(bench: Bench, workers: tuple[str, str]) -> None:
    """A test that is run again, as plugins do with those that failed, asks nothing anew."""
    conftest = bench.folder / "conftest.py"
    conftest.write_text(conftest.read_text(encoding="utf-8") + AGAIN, encoding="utf-8")
    bench.run(*workers, "--runs", "1", status=0)
    assert len(bench.server.requests) == 2 * RUNS


@pytest.mark.slow
def test_a_process_that_ends_does_not_search_what_it_holds(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is called last at the end of the program finds nothing left to the garbage collector."""
    plugin = bench.plugin(
        monkeypatch, "import atexit, gc\natexit.register(lambda: print('tracked:', len(gc.get_objects())))\n"
    )
    done = bench.run(*plugin, status=0)
    assert int(done.stdout.rpartition("tracked:")[2]) < 100


@pytest.mark.slow
def test_a_case_stands_where_pytest_would_find_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """File, line and name of every test are those that pytest would find out for each anew."""
    plugin = bench.plugin(
        monkeypatch,
        "def pytest_collection_finish(session):\n"
        "    for item in session.items:\n"
        "        assert item.location == type(item).location.func(item)\n"
        "    print('compared:', len(session.items))\n",
    )
    done = bench.run("--collect-only", *plugin)
    assert (done.returncode, f"compared: {5 * RUNS}" in done.stdout) == (0, True), done.stdout


LOGGING = """\
import logging

def pytest_runtest_call(item):
    logging.getLogger("added").error("a record of %s", item.name)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("flags", "is_shown"), [((), False), (("--log-cli-level=ERROR",), True)])
def test_log_records_are_captured_where_an_option_asks_for_them(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], is_shown: bool
) -> None:
    """Otherwise pytest's plugin for them is left out, and nothing else changes."""
    done = bench.run(*flags, *bench.plugin(monkeypatch, LOGGING), "--runs", "1", status=0)
    assert ("ERROR    added:" in done.stdout) is is_shown
