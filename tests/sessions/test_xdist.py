"""Whole sessions with workers: one engine asks for all of them, whatever becomes of them."""

from __future__ import annotations

import os
import subprocess

import pytest

from conftest import Bench

ALL = 2 * 2 * 5
SHUFFLED = """\
import random
import pytest

def pytest_itemcollected(item):
    item.add_marker(pytest.mark.xdist_group("second" if "second_area" in item.nodeid else "first"))

def pytest_collection_modifyitems(items):
    random.Random(1).shuffle(items)
"""
SLOW = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize("dist", ["loadfile", "loadgroup", "worksteal", "no"])
def test_every_way_to_distribute_asks_each_call_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, dist: str
) -> None:
    """Schedulers of xdist serve, in any order of tests; `load` is that of all other sessions."""
    bench.run("-n", "2", "--dist", dist, *bench.plugin(monkeypatch, SHUFFLED), status=0)
    assert len(bench.server.requests) == 2 * ALL
    assert bench.results()["metadata"]["status"] == "complete"


@SLOW
def test_each_worker_runs_every_test_on_the_same_record(bench: Bench) -> None:
    """--dist each: one call, as many fetches as workers."""
    done = bench.run("--dist", "each", "--tx", "2*popen", "--runs", "1", status=0)
    assert "8 passed" in done.stdout
    assert len(bench.server.requests) == 8


LOOKS = """\
import pathlib, sys

def pytest_sessionfinish(session):
    if hasattr(session.config, "workerinput"):
        found = {"openai", "numpy", "scipy", "aiohttp"} & set(sys.modules)
        pathlib.Path(session.config.workerinput["workerid"]).write_text(" ".join(sorted(found)))
"""


@SLOW
def test_workers_import_neither_client_nor_statistics(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have no engine: what asking and measuring needs is loaded once, where it is done."""
    plugin = bench.plugin(monkeypatch, LOOKS)
    # Not forked: a fork has everything imported.
    subprocess.run(bench.command("-n", "2", *plugin), cwd=bench.folder, capture_output=True, check=True)
    assert [(bench.folder / name).read_text() for name in ("gw0", "gw1")] == ["", ""]


DYING = """\
import os, pathlib

def pytest_runtest_teardown(item):
    told = pathlib.Path("has_died")
    if "first_area-q01_one-run2" in item.nodeid and not told.exists():
        told.write_text("")
        os._exit(9)
"""


@SLOW
@pytest.mark.parametrize("restarts", [(), ("--max-worker-restart", "0")], ids=["replaced", "not_replaced"])
def test_a_worker_that_dies_costs_no_call(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, restarts: tuple[str, ...]
) -> None:
    """xdist fails its test; the record stands in the results all the same."""
    done = bench.run("-n", "1", *bench.plugin(monkeypatch, DYING), *restarts)
    assert done.returncode != 0
    if not restarts:
        assert len(bench.server.requests) == 2 * ALL
        assert bench.results()["metadata"]["status"] == "complete"
        return
    bench.run("-n", "1", *restarts, status=0)
    assert len(bench.server.requests) == 2 * ALL


@SLOW
@pytest.mark.parametrize("hook", ["pytest_collection_modifyitems", "pytest_collection_finish"])
def test_a_worker_that_dies_before_it_has_work_loses_no_run(bench: Bench, hook: str) -> None:
    """Its replacement gets its share, and every run is asked."""
    (bench.folder / "conftest.py").write_text(
        "import os, pathlib, pytest\n"
        "pytest_plugins = ['equipoise.plugin']\n"
        # Before xdist tells the controller that this worker is ready for work.
        "@pytest.hookimpl(tryfirst=True)\n"
        f"def {hook}(session):\n"
        "    if os.environ.get('PYTEST_XDIST_WORKER') == 'gw1' and not pathlib.Path('died').exists():\n"
        "        pathlib.Path('died').touch()\n"
        "        os._exit(1)\n"
    )
    done = bench.run("-n", "2")
    assert (bench.folder / "died").exists()
    assert bench.results()["metadata"]["runs_completed"] == ALL, done.stdout


ALL_DYING = """\
import os

def pytest_runtest_teardown():
    if "PYTEST_XDIST_WORKER" in os.environ:
        os._exit(9)
"""


@SLOW
def test_where_all_workers_are_dead_what_is_in_flight_is_saved(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine needs no worker: every call that was begun is kept, and none is made again."""
    plugin = bench.plugin(monkeypatch, ALL_DYING)
    bench.server.delay = 0.2
    done = bench.run("-n", "2", "--concurrency", "3", "--max-worker-restart", "0", *plugin)
    assert done.returncode != 0
    begun = len(bench.server.requests)
    assert 0 < begun == len(bench.journal("call")) < 2 * ALL, done.stdout
    assert bench.results()["metadata"]["runs_completed"] == len(bench.journal("record")) > 0
    bench.server.delay = 0.0
    bench.run("-n", "2", status=0)
    assert len(bench.server.requests) == 2 * ALL


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--tx", "ssh=elsewhere", "--dist", "load"), "--tx ssh=elsewhere: workers fetch their records"),
        pytest.param(("--looponfail",), "--looponfail: would make calls", marks=SLOW),
    ],
    ids=["remote", "looponfail"],
)
def test_ways_that_cannot_work_are_refused(bench: Bench, arguments: tuple[str, ...], says: str) -> None:
    """One line, before anything is asked."""
    assert says in bench.refusal(*arguments)


@SLOW
def test_a_temporary_folder_with_a_long_path_does_no_harm(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path of a socket may be about 100 bytes long; another folder is taken then."""
    folder = bench.folder / ("long" * 30)
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", os.fspath(folder))
    bench.run("-n", "1", "--runs", "1", status=0)
