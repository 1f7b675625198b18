"""The package as it is published: built, checked, installed, and used in folders that have nothing of it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import subprocess
import tarfile
import zipfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from installed import SUPPORTED, Environment, pythons, uv

from conftest import ROOT, SHIPPED
from equipoise.cli.init import PROJECT
from loopback import JUDGE, SUBJECT, Loopback, plain_script

pytestmark = pytest.mark.slow
DOCUMENT = "Ada Lovelace published her notes on the Analytical Engine in 1843. " * 20

PYTESTS = ("pytest==8.4.*", "pytest==9.0.*", "pytest")
XDISTS = ("pytest-xdist==3.6.*", "pytest-xdist==3.7.*", "pytest-xdist")
"""From the oldest that the metadata allow to the newest that there is."""
SWEEP = f"""
folder = "out"
[options]
limit = 1
runs = 1
api-base-url = "{{url}}"
evaluator-model = "{JUDGE}"
[[models]]
model = "{SUBJECT}"
[[suites]]
suite = "neutrality"
"""


def script(body: dict[str, Any], number: int) -> str:
    """A translator, and the models of every other command."""
    return "Pourquoi ?" if body["model"] == "translator" else plain_script(body, number)


@pytest.fixture
def endpoint(loopback: Loopback) -> tuple[str, ...]:
    """The options of an endpoint that answers all commands."""
    loopback.script = script
    return ("--api-base-url", loopback.url)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> tuple[Path, Path]:
    """The sdist of this project, and the wheel that is built from the sdist: once for all workers."""
    own = tmp_path_factory.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / "dist"
    with (folder.with_suffix(".lock")).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not any(folder.glob("*.whl")):
            uv("build", "--quiet", "--out-dir", folder)
    (sdist,), (wheel,) = (list(folder.glob(kind)) for kind in ("*.tar.gz", "*.whl"))
    return sdist, wheel


def tracked() -> set[str]:
    """Every file that git tracks."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(listed.stdout.splitlines())


def is_page(path: str) -> bool:
    """Whether a file of the project is one that `equipoise docs` shows."""
    return path in ("README.md", "CHANGELOG.md") or (path.startswith("docs/") and path.endswith(".md"))


def publish(folder: Path, suite: str) -> str:
    """A mirror with one file for a suite, by the pins of the project in this folder; its address."""
    content = b"Why?\n"
    pins = folder / "topics" / suite / "original.toml"
    pins.parent.mkdir(parents=True)
    about = f'repository = "who/what"\ncommit = "{"c" * 40}"\nlicence = "MIT"\n'
    head = f'{about}defects = ["it is short"]\n[files]\n'
    pins.write_text(f'{head}"en-US.txt" = "{hashlib.sha256(content).hexdigest()}"\n', encoding="utf-8")
    mirror = folder / "mirror" / "who" / "what" / "raw" / ("c" * 40)
    mirror.mkdir(parents=True)
    (mirror / "en-US.txt").write_bytes(content)
    return (folder / "mirror").as_uri()


def test_the_package_is_whole_and_works_in_an_empty_folder(
    built: tuple[Path, Path], tmp_path: Path, endpoint: tuple[str, ...], subtests: pytest.Subtests
) -> None:
    """Every command that a user of the wheel types, without the checkout, by the newest Python and pytest."""
    sdist, wheel = built
    with subtests.test("metadata"):
        tools = Environment(tmp_path / "tools", ["twine"])
        checked = tools.run("twine", "check", "--strict", str(sdist), str(wheel), folder=tmp_path)
        assert checked.returncode == 0, checked.stdout + checked.stderr
    with subtests.test("sdist"), tarfile.open(sdist) as tarball:
        names = {name.partition("/")[2] for name in tarball.getnames()}
        assert tracked() - names == set()
    with subtests.test("wheel"), zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        own = (*PROJECT, "examples/sixth_suite")
        shipped = [path for path in tracked() if path.startswith(own)]
        assert {f"equipoise/shipped/{path}" for path in shipped} - names == set()
        assert {f"equipoise/shipped/{path}" for path in tracked() if is_page(path)} - names == set()
        assert [name for name in names if "/original/" in name or "__pycache__" in name] == []
    paths = pythons()
    environment = Environment(
        tmp_path / "environment", [wheel, PYTESTS[-1], XDISTS[-1]], paths[max(paths, key=SUPPORTED.index)]
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    models = ("--model", SUBJECT, "--evaluator-model", JUDGE, *endpoint)
    part = (*models, "--runs", "1", "-k", "hong_kong and q21")

    def said(status: int, *command: str, folder: Path = empty) -> str:
        done = environment.run(*command, folder=folder)
        text = done.stdout + done.stderr
        assert done.returncode == status, text
        assert "Traceback (most recent call last)" not in text
        return text

    with subtests.test("run"):
        assert "3 passed" in said(0, "equipoise", "run", "neutrality", *part, "-n", "2")
        assert {path.name for path in empty.iterdir()} == {"results", ".pytest_cache"}
        again = ("--baseline", f"results/{SUBJECT}.neutrality.json", "--output", "new.json")
        assert "against the baseline" in said(0, "equipoise", "run", "neutrality", *part, *again)
        listed = said(0, "equipoise", "run", "all", "--collect-only", "-q", "--limit", "1", "--runs", "1")
        assert all(f"test_{name}[" in listed for name in SHIPPED)
    with subtests.test("sweep"):
        (empty / "sweep.toml").write_text(SWEEP.format(url=endpoint[1]), encoding="utf-8")
        assert "page: out/report.html" in said(0, "equipoise", "sweep", "sweep.toml")
        output = said(4, "equipoise", "sweep", "sweep.toml", "--ray", "local")
        assert "--ray: Ray is not installed; run: pip install ray" in output
    with subtests.test("docs"):
        assert "## Exit statuses" in said(0, "equipoise", "docs", "gate")
        path = Path(said(0, "equipoise", "docs", "trust", "--path").strip())
        assert path.is_relative_to(tmp_path / "environment")
        assert path.is_file()
    with subtests.test("export"):
        assert said(0, "equipoise", "export", "new.json", "--to", "csv")
        output = said(4, "equipoise", "export", "new.json", "--to", "parquet")
        assert output == "ERROR: polars is not installed; run: pip install polars\n"
    with subtests.test("local"):
        output = said(4, "equipoise", "run", "neutrality", "--model", "local")
        assert "ERROR: the built-in model needs the package xllamacpp; run: pip install " in output
    with subtests.test("figures"):
        assert "page: " in said(0, "equipoise", "report", "new.json", "-o", "page.html")
        # The figures of a page need no extra.
        assert "<svg" in (empty / "page.html").read_text(encoding="utf-8")
        output = said(4, "equipoise", "report", "new.json", "--figures", "figures")
        needs = "equipoise report --figures needs the extra 'plots'"
        assert output == f"ERROR: {needs}; run: pip install vl-convert-python\n"
    with subtests.test("passages"):
        (empty / "books").mkdir()
        (empty / "books" / "one.txt").write_text("One.\n", encoding="utf-8")
        output = said(4, "equipoise", "run", "chinese_simpleqa", *models, "--retrieval", "books")
        assert "--retrieval needs the extra 'retrieval'; run: pip install bm25s rjieba" in output
    with subtests.test("translate"):
        (empty / "en-US.txt").write_text("Why?\n", encoding="utf-8")
        job = ("--from", "en-US.txt", "--to", "fr-FR", "--model", "translator", *endpoint)
        assert "1 of 1 texts" in said(0, "equipoise", "data", "translate", *job)
        assert (empty / "translations" / "fr-FR.txt").read_text(encoding="utf-8") == "Pourquoi ?\n"
    with subtests.test("construct"):
        line = json.dumps({"id": "ada", "text": DOCUMENT})
        (empty / "documents.jsonl").write_text(line + "\n", encoding="utf-8")
        job = ("--documents", "documents.jsonl", "--folder", "work", "--model", SUBJECT, *endpoint)
        output = said(4, "equipoise", "data", "construct", "simpleqa", *job)
        assert "--corpus needs the extra 'retrieval'; run: pip install bm25s rjieba" in output
        environment.install("bm25s", "rjieba")
        assert "calls: " in said(0, "equipoise", "data", "construct", "simpleqa", *job)
    with subtests.test("validate"):
        assert "topics: no such folder here" in said(4, "equipoise", "data", "validate")
        assert "no findings in 1 file" in said(0, "equipoise", "data", "validate", "new.json")
    with subtests.test("fetch"):
        site = publish(empty, "neutrality")
        assert "en-US.txt: fetched (1 of 1)" in said(
            0, "equipoise", "data", "fetch", "neutrality", "--site", site
        )
        original = (*models, "--dataset", "original", "--runs", "1")
        assert "1 passed" in said(0, "equipoise", "run", "neutrality", *original, "--output", "original.json")
        about = json.loads((empty / "original.json").read_text(encoding="utf-8"))["metadata"]
        assert (about["dataset"], "it is short" in about["data_notes"]) == ("original", True)
    with subtests.test("init"):
        said(0, "equipoise", "init", "mine")
        mine = empty / "mine"
        topics = mine / "topics" / "neutrality"
        for name in ("index.csv", "facts.toml"):
            (topics / name).unlink()
        for path in topics.glob("*.txt"):
            path.write_text("My own question?\n", encoding="utf-8")
        output = said(0, "pytest", *models, "--runs", "1", folder=mine)
        assert "3 passed" in output
        results = (mine / "results" / f"{SUBJECT}.neutrality.json").read_text(encoding="utf-8")
        assert "My own question?" in results
        assert "no calls were made" in said(
            0, "equipoise", "run", "neutrality", *models, "--runs", "1", folder=mine
        )
        assert "no findings in" in said(0, "equipoise", "data", "validate", folder=mine)
    with subtests.test("init of one suite, and of a new one"):
        for kind, name in (("--suite", "neutrality"), ("--new-suite", "budget")):
            said(0, "equipoise", "init", kind, name, name)
            project = empty / name
            output = said(0, "equipoise", "run", name, *models, "--runs", "1", "--limit", "1", folder=project)
            assert " passed" in output
            assert "no findings in" in said(0, "equipoise", "data", "validate", folder=project)
            assert said(0, "equipoise", "suites", name, folder=project).startswith(name)
    with subtests.test("nothing else"):
        other = tmp_path / "other"
        other.mkdir()
        assert "equipoise/plugin" not in said(5, "pytest", "--trace-config", folder=other)


def whole_sessions(folder: Path, python: str, packages: Sequence[str | Path], url: str) -> None:
    """Run a small session in a fresh environment with these packages, without workers and with two."""
    environment = Environment(folder / "environment", packages, python)
    models = ("--model", SUBJECT, "--evaluator-model", JUDGE, "--api-base-url", url)
    part = ("--runs", "1", "-k", "hong_kong and q21")
    for workers in ("0", "2"):
        output = ("-n", workers, "--output", f"out{workers}.json")
        done = environment.run("equipoise", "run", "neutrality", *models, *part, *output, folder=folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "3 passed" in done.stdout
        about = json.loads((folder / f"out{workers}.json").read_text(encoding="utf-8"))["metadata"]
        assert about["status"] == "complete"


def test_the_oldest_of_what_is_supported(
    built: tuple[Path, Path], tmp_path: Path, loopback: Loopback
) -> None:
    """The oldest Python here with the oldest pytest and xdist; the test above has the newest."""
    paths = pythons()
    packages = (built[1], PYTESTS[0], XDISTS[0])
    whole_sessions(tmp_path, paths[min(paths, key=SUPPORTED.index)], packages, loopback.url)


@pytest.mark.nightly
def test_every_python_with_every_pytest_and_xdist(
    built: tuple[Path, Path], tmp_path: Path, loopback: Loopback, subtests: pytest.Subtests
) -> None:
    """All that the metadata promise; for a Python that is not on this machine, there must be wheels."""
    wheel, paths = built[1], pythons()
    for number, (python, *packages) in enumerate(product(SUPPORTED, PYTESTS, XDISTS)):
        with subtests.test(python=python, packages=packages):
            folder = tmp_path / str(number)
            folder.mkdir()
            if python in paths:
                whole_sessions(folder, paths[python], (wheel, *packages), loopback.url)
            else:
                wanted = folder / "wanted.in"
                wanted.write_text("\n".join((f"equipoise @ {wheel.as_uri()}", *packages)), encoding="utf-8")
                options = ("--quiet", "--python-version", python, "--only-binary", ":all:")
                assert "scipy==" in uv("pip", "compile", *options, wanted)
