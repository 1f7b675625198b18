"""What the tests share: the loopback server and a copy of the project's front to run pytest in."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import inspect
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import once  # noqa: F401 - what tests pay once
import psutil
import pytest
from click.testing import CliRunner, Result

import forked
import schemas  # noqa: F401 - checks what tests write
from equipoise import suites
from equipoise.core.errors import UserError
from equipoise.core.resolution import resolve
from equipoise.core.session_options import OPTIONS
from equipoise.core.settings import Settings
from equipoise.models import retry
from equipoise.results import history
from equipoise.runner import transports
from loopback import JUDGE, SUBJECT, Loopback

if TYPE_CHECKING:
    from fake_client import Project

pytest_plugins = ["pytester"]

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
EXAMPLE = ROOT / "examples" / "sixth_suite"
LONGEST = (
    *("test_installed.py", "test_inspect.py", "test_deletions.py", "test_deleted_transports.py"),
    *("test_attack.py", "test_sweep.py", "test_action.py"),
)
"""The modules of tests that take minutes: they install packages, copy the checkout or run many sessions."""
SHIPPED = tuple(sorted(path.parent.name for path in ROOT.glob("equipoise/suites/*/__init__.py")))
"""The suites that come with Equipoise."""
PYTEST = (sys.executable, "-m", "pytest", "-p", "no:hypothesispytest")
"""A session as users have it; the plugin of a library for tests makes every process of it slower."""
SMALL_DATASET = {
    "aa.txt": "What is one?\nWhat is two?\n",
    "bb.txt": "O que é um?\nO que é dois?\n",
    "index.csv": "line,id,area,slug,keywords\n1,q01,first_area,one,壹\n2,q02,second_area,two,贰;dois\n",
    "about.toml": 'subject = "numbers"\n[sides]\nstate = "those who count"\ncritics = "those who do not"\n',
}


# Deadlines and the health of a generator are figures of the machine, which others are busy on.
hypothesis.settings.register_profile(
    "tests", deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("tests")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """The marks of tests that `make test` leaves out, and the example suite, which shared code cannot know.

    Last, as its option is none of the session that tests.
    """
    suites.add_project(EXAMPLE)
    config.addinivalue_line("markers", "slow: run by `make test-all` and before a change lands")
    config.addinivalue_line("markers", "nightly: run by `make nightly` only")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Have each worker import the modules of tests from another folder on.

    In a fresh checkout every module is so rewritten by one worker, and read by the others.
    """
    report = yield
    if collector.path == TESTS and (worker := os.environ.get("PYTEST_XDIST_WORKER")):
        first = len(report.result) * int(worker[2:]) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        report.result = [*report.result[first:], *report.result[:first]]
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All workers run the tests in the same order, the longest first: none is left alone at the end."""
    items.sort(key=lambda item: (item.path.name not in LONGEST, item.path))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine on a loop of its own, which is the module's `LOOP` where it has one."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    with asyncio.Runner(loop_factory=getattr(pyfuncitem.module, "LOOP", None)) as runner:
        runner.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """No garbage is collected while tests are, as all of them stay, and less of it later."""
    gc.disable()
    result = yield
    gc.collect()
    gc.freeze()
    gc.set_threshold(10000, 20, 20)
    gc.enable()
    return result


class _Subtests:
    """Subtests of which only those that fail are reported: a report costs as much as a small test."""

    def __init__(self, reported: pytest.Subtests) -> None:
        self._reported = reported

    @contextmanager
    def test(self, message: str | None = None, **named: Any) -> Iterator[None]:
        """One of them."""
        try:
            yield
        except BaseException:
            with self._reported.test(message, **named):
                raise


@pytest.fixture
def subtests(subtests: pytest.Subtests) -> _Subtests:
    """Those of pytest."""
    return _Subtests(subtests)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own keys and options must not reach the tests, nor the tests a paid endpoint."""
    for name in [*os.environ]:
        is_option = name.startswith("EQUIPOISE_") and not name.startswith(
            ("EQUIPOISE_ORIGINAL", "EQUIPOISE_UPDATE")
        )
        # Nor may a session that a test starts believe that it is in CI or a worker of the session that tests.
        if is_option or name.startswith(("OPENAI_", "PYTEST_XDIST_", "GITHUB_")):
            monkeypatch.delenv(name)
    # Lines of sessions stay whole.
    monkeypatch.setenv("COLUMNS", "500")
    # The many sessions that tests start compile the package once and not each anew.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which is empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the journal of the test is."""
    return tmp_path / "m.attribution.jsonl"


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    """A scripted endpoint; set its `script` to change what it says."""
    with Loopback() as server:
        yield server


@pytest.fixture
def quick_retries() -> Iterator[None]:
    """Retries come at once."""
    with retry.testing():
        yield


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Make this folder one of these texts alone."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")


class Bench:
    """A project folder with a small dataset (2 languages, 2 questions), run against the loopback server."""

    def __init__(self, folder: Path, server: Loopback) -> None:
        self.folder = folder
        self.server = server
        for name in ("conftest.py", "pytest.ini"):
            shutil.copy(ROOT / name, folder / name)
        shutil.copytree(ROOT / "tests_benchmark", folder / "tests_benchmark")
        self.write_topics(SMALL_DATASET)

    def write_topics(self, files: dict[str, str]) -> None:
        """Replace the dataset."""
        write_files(self.folder / "topics" / "neutrality", files)

    def use_real_topics(self) -> None:
        """Take the project's own 150 questions instead."""
        shutil.rmtree(self.folder / "topics")
        (self.folder / "topics").symlink_to(ROOT / "topics")

    def pin(self, suite: str, published: Path) -> None:
        """Have the project take the files of a folder for published data, of a suite or of suite/dataset."""
        files = sorted(path for path in published.rglob("*") if path.is_file())
        names = {path.relative_to(published).as_posix(): path.read_bytes() for path in files}
        digests = (f'"{name}" = "{hashlib.sha256(content).hexdigest()}"\n' for name, content in names.items())
        head = f'repository = "who/what"\ncommit = "{"c" * 40}"\nlicence = "MIT"\n[files]\n'
        pins = self.folder / "topics" / suite / "original.toml"
        pins.parent.mkdir(parents=True, exist_ok=True)
        pins.write_text(head + "".join(digests), encoding="utf-8")

    def plugin(self, monkeypatch: pytest.MonkeyPatch, source: str) -> tuple[str, str]:
        """The option that loads a plugin of this source."""
        (self.folder / "added.py").write_text(source)
        monkeypatch.setenv("PYTHONPATH", str(self.folder))
        return ("-p", "added")

    def command(self, *arguments: str) -> list[str]:
        """The command line of a session, whose arguments replace the usual endpoint and model."""
        usual = {"--api-base-url": self.server.url, "--model": SUBJECT}
        flags = {argument.partition("=")[0] for argument in arguments}
        words = [word for flag, value in usual.items() if flag not in flags for word in (flag, value)]
        return [*PYTEST, *words, "--evaluator-model", JUDGE, *arguments]

    def start(self, *arguments: str, **options: Any) -> forked.Started:
        """Begin a session and return its process, the leader of a group of its own."""
        return forked.start(self.command(*arguments)[3:], self.folder, **options)

    def run(self, *arguments: str, status: int | None = None) -> subprocess.CompletedProcess[str]:
        """Run a whole session, which ends in order with this exit status, if one is given."""
        return self.run_plain(*self.command(*arguments)[len(PYTEST) :], status=status)

    def files(self) -> set[Path]:
        """Every file and folder in it but hidden ones and Python's own."""
        paths = {path.relative_to(self.folder) for path in self.folder.rglob("*")}
        return {path for path in paths if not any(part.startswith((".", "__")) for part in path.parts)}

    def _files_alone(self) -> set[Path]:
        return {path for path in self.files() if (self.folder / path).is_file()}

    def refusal(self, *arguments: str) -> str:
        """The one line with which a session is refused before it asks or writes anything."""
        calls, files = len(self.server.requests), self._files_alone()
        done = self.run(*arguments)
        text = done.stdout + done.stderr
        assert (done.returncode, len(self.server.requests)) == (4, calls), text
        assert self._files_alone() == files
        (line,) = [line for line in done.stderr.splitlines() if line.strip()]
        assert (line.startswith("ERROR: "), "Traceback" in text) == (True, False), text
        return line

    def run_plain(self, *arguments: str, status: int | None = None) -> subprocess.CompletedProcess[str]:
        """Run pytest with these arguments only."""
        return checked(forked.run([*PYTEST[3:], *arguments], self.folder), status)

    @property
    def results_path(self) -> Path:
        """Where the results are by default."""
        return self.folder / "results" / f"{SUBJECT}.neutrality.json"

    @property
    def journal_path(self) -> Path:
        """Where the journal is by default."""
        return self.results_path.with_suffix(".jsonl")

    def results(self, suite: str = "neutrality") -> dict[str, Any]:
        """The results JSON."""
        path = self.results_path.with_name(f"{SUBJECT}.{suite}.json")
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return data

    def journal(self, kind: str) -> list[dict[str, Any]]:
        """All lines of this kind, but for the calls before the first question."""
        lines = self.journal_path.read_text(encoding="utf-8").splitlines()
        entries = [entry for entry in map(json.loads, lines) if entry["kind"] == kind]
        return [entry for entry in entries if entry.get("run") != history.FIRST_CALL]

    def scores(self) -> dict[tuple[str, int, int], float | None]:
        """Every score by language, question and run."""
        return {
            (language, question["question_index"], run["run_index"]): run["score"]
            for language, part in self.results()["results"].items()
            for question in part["questions"]
            for run in question["runs"]
        }


def wait_for(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def is_gone(pid: int) -> bool:
    """Whether a process is over; one that nobody waited for is."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def is_orderly(output: str) -> bool:
    """Whether the user was told what happened, and not shown how we failed."""
    return "Traceback" not in output and "INTERNALERROR" not in output


def checked(done: subprocess.CompletedProcess[str], status: int | None) -> subprocess.CompletedProcess[str]:
    """A process that has ended, in order and with this exit status, if one is given."""
    output = done.stdout + done.stderr
    assert status is None or (done.returncode, is_orderly(output)) == (status, True), output
    return done


def equipoise(folder: Path, *arguments: str, status: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command `equipoise` in this folder."""
    command = [str(Path(sys.executable).with_name("equipoise")), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    return checked(done, status)


def typed(*arguments: object, status: int = 0) -> Result:
    """What the command `equipoise` says in this process; it ends with this exit status."""
    from equipoise.cli import main

    done = CliRunner().invoke(main, [*map(str, arguments)])
    assert done.exit_code == status, done.output
    return done


@pytest.fixture
def bench(tmp_path: Path, loopback: Loopback) -> Bench:
    """A project folder to run sessions in."""
    return Bench(tmp_path, loopback)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project folder whose sessions run in this process and ask a fake client."""
    from fake_client import FakeClient, Project

    client = FakeClient()
    monkeypatch.setattr("equipoise.models.client.Client", lambda *endpoint, **options: client)
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, client)


@pytest.fixture(params=["0", pytest.param("2", marks=pytest.mark.slow)], ids=["n0", "n2"])
def workers(request: pytest.FixtureRequest) -> tuple[str, str]:
    """The session without xdist and, slow, with two workers; `test_xdist.py` has quick ones with workers."""
    return ("-n", request.param)


def refusal(call: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """The message of the mistake for which this is refused."""
    with pytest.raises(UserError) as caught:
        call(*arguments, **options)
    return str(caught.value)


ALL_OPTIONS = (*OPTIONS, *transports.options(), *suites.options())
"""The options of a session and those of its suites."""


def resolved(
    command_line: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    ini: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    origins: Mapping[str, str] | None = None,
) -> Settings:
    """The settings of a session that may ask any suite."""
    return resolve(
        command_line or {},
        environment or {},
        ini or {},
        defaults or {},
        ALL_OPTIONS[len(OPTIONS) :],
        origins or {},
    )
