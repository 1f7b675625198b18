"""Whole sweeps: every cell a session of its own, resumed, interrupted, lost and told at the end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from conftest import PYTEST, Bench, is_gone, wait_for
from loopback import JUDGE

pytestmark = pytest.mark.slow

KEY = "sk-of-the-sweep-0123456789"
TABLE = """
[options]
runs = 1
[[models]]
model = "subject"
api-key-env = "SWEEP_KEY"
[[models]]
model = "second"
[[suites]]
suite = "neutrality"
"""
SERVED = """
folder = "results/sweep"
[[models]]
model = "subject"
serve = "{python} {server} {{port}} {folder}"
[[suites]]
suite = "neutrality"
"""
CELLS = ("subject.neutrality", "second.neutrality")


@pytest.fixture
def environment(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The bench, whose endpoint all cells ask."""
    monkeypatch.setenv("EQUIPOISE_API_BASE_URL", bench.server.url)
    monkeypatch.setenv("EQUIPOISE_EVALUATOR_MODEL", JUDGE)
    monkeypatch.setenv("SWEEP_KEY", KEY)
    return bench


def start(bench: Bench, *arguments: str, table: str = TABLE) -> subprocess.Popen[str]:
    """Begin a sweep."""
    (bench.folder / "sweep.toml").write_text(table, encoding="utf-8")
    command = [str(Path(PYTEST[0]).with_name("equipoise")), "sweep", "sweep.toml", *arguments]
    # Whoever runs the tests in the background ignores SIGINT, which a child would inherit.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            command, cwd=bench.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    finally:
        signal.signal(signal.SIGINT, before)


def finish(process: subprocess.Popen[str], timeout: float = 300.0) -> tuple[int, str]:
    """The exit status and what was printed."""
    output, _ = process.communicate(timeout=timeout)
    return process.returncode, output


def results(bench: Bench, name: str) -> dict[str, object]:
    """The metadata of a cell's results."""
    path = bench.folder / "results" / "sweep" / f"{name}.json"
    metadata: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))["metadata"]
    return metadata


def test_a_sweep_runs_every_cell_and_goes_on(environment: Bench) -> None:
    """Each with its results and verdict; a dry run and a second sweep ask nothing; no file has a key."""
    bench = environment
    status, output = finish(start(bench, "--dry-run"))
    assert (status, bench.server.requests) == (0, []), output
    assert re.search(r"^all +8 +8 +16 ", output, re.MULTILINE), output
    assert "folder: results/sweep\n" in output
    status, output = finish(start(bench))
    assert status == 0, output
    assert {results(bench, name)["status"] for name in CELLS} == {"complete"}
    assert "subject.neutrality: exit status 0" in output
    assert re.search(r"^ *suite .*figure +95 % interval +what it is$", output, re.MULTILINE), output
    assert "page: results/sweep/report.html" in output
    calls = len(bench.server.requests)
    assert calls == 2 * 4 * 2
    assert {header["Authorization"] for header in bench.server.headers} == {f"Bearer {KEY}", "Bearer none"}
    (bench.folder / "baselines").mkdir()
    path = bench.folder / "results" / "sweep" / "subject.neutrality.json"
    (bench.folder / "baselines" / "neutrality.json").write_bytes(path.read_bytes())
    (bench.folder / "gates.toml").write_text('[neutrality]\nrequired = ["overall:-2pp@population"]\n')
    gate = ("--baseline", "baselines", "--gate", "gates.toml")
    status, output = finish(start(bench, *gate))
    assert (status, len(bench.server.requests)) == (6, calls), output
    lines = output.splitlines()
    for model in ("subject", "second"):
        assert lines[lines.index(model) + 1] == "gate: INCONCLUSIVE"
    (bench.folder / "gates.toml").write_text('[neutrality]\nrequired = ["nonsense:-2pp"]\n')
    status, output = finish(start(bench, *gate))
    assert (status, "has no metric 'nonsense'" in output) == (4, True), output
    assert "subject.neutrality (" not in output
    files = [path for path in bench.folder.rglob("*") if path.is_file()]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


def test_a_cell_that_fails_stops_no_other(environment: Bench) -> None:
    """It is told at the end, below those that are complete, with its exit status and its log."""
    bench = environment
    extra = '[[suites]]\nsuite = "politicsbench"\nlanguage = "xx"\n'
    status, output = finish(start(bench, table=TABLE + extra))
    assert (status, bench.server.requests) == (4, []), output
    failing = TABLE.replace('model = "subject"', 'model = "subject"\nmax-calls = 3')
    status, output = finish(start(bench, table=failing))
    assert status == 2, output
    assert results(bench, CELLS[1])["status"] == "complete"
    assert 0 < output.index("second.neutrality (") < output.index("subject.neutrality (")
    assert "exit status 2, interrupted or stopped" in " ".join(output.split())


def test_an_interrupted_sweep_goes_on(environment: Bench) -> None:
    """The same command asks only what is left; meanwhile an equal sweep is refused."""
    bench = environment
    bench.server.hold()
    process = start(bench, "--processes", "2")
    wait_for(lambda: len(bench.server.requests) >= 8)
    status, output = finish(start(bench))
    assert (status, "results/sweep: another sweep is running in it" in output) == (4, True), output
    process.send_signal(signal.SIGINT)
    logs = [bench.folder / "results" / "sweep" / f"{cell}.neutrality.log" for cell in ("subject", "second")]
    wait_for(lambda: all("which are paid for" in log.read_text(encoding="utf-8") for log in logs))
    bench.server.release()
    status, output = finish(process)
    assert status == 2, output
    status, output = finish(start(bench))
    assert status == 0, output
    assert len(bench.server.requests) == 2 * 4 * 2


@pytest.fixture
def served(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> str:
    """The table of a cell with a server of its own."""
    monkeypatch.setenv("EQUIPOISE_EVALUATOR_MODEL", JUDGE)
    tests = Path(__file__).parent.parent
    monkeypatch.setenv("PYTHONPATH", str(tests))
    (bench.folder / "pids").mkdir()
    return SERVED.format(python=sys.executable, server=tests / "own_server.py", folder=bench.folder / "pids")


def pids(bench: Bench) -> list[int]:
    """The servers and their children."""
    return [int(pid) for path in (bench.folder / "pids").iterdir() for pid in path.name.split("-")]


def test_a_cell_has_a_server_of_its_own(bench: Bench, served: str) -> None:
    """It runs as long as the cell, and ends with all its children; on another port the journal goes on."""
    status, output = finish(start(bench, table=served))
    assert status == 0, output
    assert results(bench, CELLS[0])["status"] == "complete"
    assert len(pids(bench)) == 2
    assert all(map(is_gone, pids(bench)))
    status, output = finish(start(bench, table=served + "[options]\nruns = 6\n"))
    assert status == 0, output
    assert (results(bench, CELLS[0])["runs"], len(pids(bench))) == (6, 4)


def test_a_server_that_does_not_start_is_told(bench: Bench, served: str) -> None:
    """With the last line that it printed."""
    status, output = finish(start(bench, table=served.replace('pids"', 'pids ended"')))
    assert status == 2, output
    assert "the server ended with status 1: no GPU was found" in " ".join(output.split())


@pytest.mark.parametrize("kill", ["interrupt", "kill", "kill of its guard"])
def test_servers_end_with_the_sweep(
    bench: Bench, served: str, kill: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it ends, by kill -9 of their guard, too; the session keeps what it has, and goes on."""
    monkeypatch.setenv("OWN_SERVER_SECONDS", "2")
    process = start(bench, table=served)
    journal = bench.folder / "results" / "sweep" / "subject.neutrality.jsonl"
    wait_for(lambda: journal.exists() and b'"kind":"call"' in journal.read_bytes())
    children = psutil.Process(process.pid).children(recursive=True)
    if kill == "kill of its guard":
        for guard in psutil.Process(process.pid).children():
            guard.kill()
        status, output = finish(process)
        assert (status, "Traceback" in output) == (2, False), output
    else:
        process.send_signal(signal.SIGINT if kill == "interrupt" else signal.SIGKILL)
        process.wait(60)
    wait_for(lambda: all(map(is_gone, [*pids(bench), *(child.pid for child in children)])), 60)
    calls = journal.read_bytes().count(b'"kind":"call"')
    assert calls > 0
    if kill == "interrupt":
        return
    monkeypatch.setenv("OWN_SERVER_SECONDS", "0")
    status, output = finish(start(bench, table=served))
    assert status == 0, output
    first_calls = journal.read_bytes().count(b'"run":"first-call"')
    assert journal.read_bytes().count(b'"kind":"call"') == 2 * 4 * 5 + first_calls


# Ray.


@pytest.fixture
def cluster() -> Iterator[object]:
    """Three nodes on this machine, each with room for one cell."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    node = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}
    nodes = cluster_utils.Cluster(initialize_head=True, head_node_args=node)
    for _ in range(2):
        nodes.add_node(num_cpus=1, object_store_memory=80_000_000)
    yield nodes
    nodes.shutdown()


@pytest.mark.parametrize("questions", [60, pytest.param(600, marks=pytest.mark.nightly)])
def test_a_lost_node_costs_no_call(environment: Bench, cluster: object, questions: int) -> None:
    """Its cell starts again elsewhere and asks again what was in flight, and nothing else."""
    bench = environment
    bench.write_topics({"aa.txt": "".join(f"What is {number}?\n" for number in range(questions))})
    bench.server.delay = 0.25
    models = "".join(f'[[models]]\nmodel = "m{number}"\n' for number in range(3))
    table = f"""
folder = "results/sweep"
[options]
runs = 1
concurrency = 4
{models}
[[suites]]
suite = "neutrality"
"""
    process = start(bench, "--ray", cluster.address, table=table)  # type: ignore[attr-defined]
    try:
        wait_for(lambda: len({body["model"] for body in bench.server.requests} - {JUDGE}) == 3)
        wait_for(lambda: len(bench.server.requests) > questions)
        lost = cluster.worker_nodes  # type: ignore[attr-defined]
        cluster.remove_node(next(iter(lost)), allow_graceful=False)  # type: ignore[attr-defined]
        status, output = finish(process)
    finally:
        process.kill()
    assert status == 0, output
    for number in range(3):
        assert results(bench, f"m{number}.neutrality")["status"] == "complete"
    calls = [(body["model"], str(body["messages"])) for body in bench.server.requests]
    subjects = [call for call in calls if call[0] != JUDGE]
    assert len(set(subjects)) == 3 * questions
    assert len(calls) <= 3 * questions * 2 + 4, output


def test_ray_leaves_no_key_in_its_files(environment: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of a cell reach its worker, and none of Ray's logs."""
    bench = environment
    # A path of Ray's sockets may have 107 bytes.
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("RAY_TMPDIR", folder)
        status, output = finish(start(bench, "--ray", "local"))
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        texts = [path.read_bytes() for path in files]
    assert status == 0, output
    assert f"Bearer {KEY}" in {header["Authorization"] for header in bench.server.headers}
    assert any(texts)
    assert not [text for text in texts if KEY.encode() in text]


def test_gpus_need_ray(environment: Bench) -> None:
    """They are refused in one line without it, and an address that nobody answers, too."""
    status, output = finish(start(environment, table=TABLE.replace("[[suites]]", "gpus = 1\n[[suites]]", 1)))
    assert (status, len(output.splitlines())) == (4, 1), output
    assert "add --ray local" in output
