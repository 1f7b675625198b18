"""The table of a sweep: which cells it makes, what each costs, and what is refused before anything starts."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from conftest import ROOT, refusal
from equipoise.audit.session import SessionAudits
from equipoise.core.errors import UserError
from equipoise.results import store
from equipoise.runner import forecast, processes
from equipoise.runner.cells import SweepCell, load
from equipoise.runner.processes import CellEnd
from equipoise.runner.sweep import Overview

TABLE = """
folder = "out"
[options]
runs = 2
limit = 3
[[models]]
model = "a/b"
[[models]]
model = "c"
runs = 1
api-key-env = "C_KEY"
serve = "serve --name {model} --port={port}"
gpus = 0.5
[[suites]]
suite = "neutrality"
language = ["en-US", "pt-BR"]
[[suites]]
suite = "chinese_simpleqa"
[[settings]]
name = "cold"
subject-temperature = 0
keep-going = true
[[settings]]
name = "warm"
[[exclude]]
model = "c"
suite = "neutrality"
setting = "warm"
"""


def cells(folder: Path, text: str = TABLE) -> dict[str, SweepCell]:
    """The cells of a table by name."""
    (folder / "sweep.toml").write_text(text, encoding="utf-8")
    return {cell.name: cell for cell in load(folder / "sweep.toml", folder).cells}


@pytest.fixture(autouse=True)
def _a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("C_KEY", "sk-of-c-1234567890")


def test_cells_are_models_by_suites_by_settings(tmp_path: Path) -> None:
    """Less those that are excluded; what a later axis sets goes before what an earlier one does."""
    by_name = cells(tmp_path)
    assert len(by_name) == 2 * 2 * 2 - 1
    served = by_name["c.chinese_simpleqa.cold"]
    assert served.settings.runs == 1
    assert (served.settings.subject.temperature, served.settings.keep_going) == (0, True)
    assert (served.gpus, served.cpus, served.keys) == (0.5, 1, {"api_key": "C_KEY"})
    assert "sk-of-c" not in str(served.arguments())
    assert served.environment({"C_KEY": "x"})["EQUIPOISE_API_KEY"] == "x"
    plain = next(cell for cell in by_name.values() if cell.model == "a/b" and cell.suite == "neutrality")
    assert plain.arguments()[:4] == ["--runs=2", "--limit=3", "--language=en-US", "--language=pt-BR"]
    assert {cell.files.results.parent for cell in by_name.values()} == {tmp_path / "out"}


def test_an_option_of_a_later_axis_goes_before_that_of_an_earlier_one(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """The axes are suites, models and settings; options that all cells share come first."""
    rows = ("[options]", 'suite = "neutrality"', '"a/b"', 'name = "warm"')
    name = store.file_name("a/b")
    text = TABLE.replace("runs = 2\n", "").replace("runs = 1\n", "")
    for runs, row in enumerate(rows, start=2):
        text = text.replace(f"{row}\n", f"{row}\nruns = {runs}\n", 1)
        with subtests.test(row):
            cell = cells(tmp_path, text)[f"{name}.neutrality.warm"]
            assert cell.settings.runs == runs


NAME_IT = "c: api-key-env names the variable that holds the key"
UNSET = "which should hold a key, is not set"
TWICE = '[[settings]]\nname = "cold"\n[[settings]]\nname = "warm"'
REST = 'folder = "out"\nexclude = 1\n[[models]]\nmodel = "c"\n[[suites]]\nsuite = "neutrality"'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("folder = ", "fold = ", "fold: there is no such table"),
        ('folder = "out"', "folder = 1", "folder: is not a path"),
        ('folder = "out"', 'folder = ""', "folder: is not a path"),
        ("runs = 1", "rums = 1", "[[models]] 2: there is no option 'rums'"),
        ("runs = 1", 'runs = "x"', "c.neutrality.cold: --runs"),
        ("runs = 1", 'api-key = "sk-1"', "name its variable with api-key-env"),
        ("runs = 1", "fresh = true", "would ask everything again"),
        ("runs = 1", 'batch = "subject"', "run the sessions one by one"),
        ("runs = 1", "runs = [1, 2]", "runs: must be one text or number"),
        ("keep-going = true", "keep-going = 1", "keep-going: must be true or false"),
        ('suite = "neutrality"\nlanguage', 'suite = "other"\nlanguage', "there is no suite 'other'"),
        ('model = "c"\nsuite', 'model = "d"\nsuite', "there is no model 'd'"),
        ('[[settings]]\nname = "warm"', TWICE, "2 rows make"),
        ("{port}", "8000", "serve is a command in which {port}"),
        ("C_KEY", "D_KEY", f"the variable D_KEY, {UNSET}"),
        ('"C_KEY"', "1", f"{NAME_IT}, such as MY_KEY, not the key"),
        ('"C_KEY"', '["C_KEY"]', NAME_IT),
        ("C_KEY", "sk-proj-1234567890", NAME_IT),
        ("C_KEY", "gsk_1234567890", f"the variable that api-key-env names, {UNSET}"),
        ('"c"\nruns', '"c\\u2028d"\nruns', r"[[models]] 2: 'c\u2028d' has control or invisible"),
        ("[[models]]", "[models]", "is not TOML"),
        ("gpus = 0.5", "gpus = -1", "gpus is a number from 0 up"),
        ("serve = ", "ready = ", "ready is about a server: add serve"),
        ("gpus = 0.5", 'ready = "health"', "ready is a path that begins with /"),
        ("gpus = 0.5", "ready = 1", "ready is a path that begins with /"),
        ("[[exclude]]", "[exclude]", "exclude: write its rows as [[exclude]]"),
        (TABLE, REST, "exclude: write its rows as [[exclude]]"),
    ],
)
def test_a_table_that_cannot_run_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    """In one line that names the file and the row."""
    line = refusal(cells, tmp_path, TABLE.replace(old, new))
    assert line.startswith("sweep.toml: ") or str(tmp_path) in line
    assert message in line
    assert "1234567890" not in line


def test_a_table_without_a_folder_takes_one_of_its_own(tmp_path: Path) -> None:
    """Under results/, by the name of the table."""
    by_name = cells(tmp_path, TABLE.replace('folder = "out"', ""))
    assert {cell.folder for cell in by_name.values()} == {tmp_path / "results" / "sweep"}


def test_a_sweep_of_too_many_cells_is_refused_at_once(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Before they are made: rows multiply."""
    models = "".join(f'[[models]]\nmodel = "m{number}"\n' for number in range(150))
    settings = "".join(f'[[settings]]\nname = "s{number}"\n' for number in range(100))
    suite = '[[suites]]\nsuite = "neutrality"\n'
    for text, message in (
        (models + settings + suite, "it makes 15,000 cells; at most 10,000: write several sweeps"),
        (suite * 2_000, "suites: has 2,000 rows; at most 1,000: write several sweeps"),
    ):
        with subtests.test(message), pytest.raises(UserError, match=message):
            cells(tmp_path, f'folder = "out"\n{text}')


def test_the_forecast_of_cells(tmp_path: Path) -> None:
    """Runs, calls, money and hours of each and of all; models without a price make the sum unknown."""
    for name in ("topics", "rubric", "tests_benchmark"):
        (tmp_path / name).symlink_to(ROOT / name)
    text = TABLE.replace("limit = 3", "limit = 3\nprice-input = 1\nprice-output = 2")
    (tmp_path / "sweep.toml").write_text(text, encoding="utf-8")
    forecasts = forecast.forecast_cells(
        load(tmp_path / "sweep.toml", tmp_path), tmp_path, SessionAudits(tmp_path)
    )
    one = next(item for name, item in forecasts.items() if name.endswith("neutrality.cold"))
    assert (one.runs, one.left, one.calls) == (3 * 2 * 2, 3 * 2 * 2, 3 * 2 * 2 * 2)
    assert one.seconds == pytest.approx((24 + (12 * 800 + 12 * 250) / 50) / 32)
    assert one.cost
    table = list(forecast.lines(forecasts, 100))
    assert table[-2].split()[0] == "all"


def test_the_overview_names_what_ended_and_what_runs(tmp_path: Path) -> None:
    """With the runs that each journal has, counted as it grows."""
    by_name = cells(tmp_path)
    first_cell, second, *_ = by_name.values()
    overview = Overview(list(by_name.values()), dict.fromkeys(by_name, 12))
    second.log.parent.mkdir()
    second.log.touch()
    second.files.journal.write_bytes(b'{"kind":"session"}\n{"kind":"record"}\n{"kind":"rec')
    overview.note(first_cell, CellEnd(status=7, seconds=61.0))
    assert overview.line(200) == f"1/7 cells done | 1 failed | {second.name} 1/12"
    with second.files.journal.open("ab") as file:
        file.write(b'ord"}\n')
    assert f"{second.name} 2/12" in overview.line(200)
    assert overview.take_notices() == [f"{first_cell.name}: exit status 7 after 1 min 01 s (1 of 7)"]


def test_an_interrupted_cell_does_not_wait_for_the_lock_of_another_session(tmp_path: Path) -> None:
    """It would be a minute, in which the interrupted sweep does not end."""
    cell = next(iter(cells(tmp_path).values()))
    cell.folder.mkdir()
    stop = threading.Event()
    stop.set()
    lock = store.lock(cell.files)
    try:
        end = processes.run(cell, ROOT, {}, stop)
    finally:
        lock.release()
    assert end.status == processes.INTERRUPTED
    assert cell.files.results.name in end.reason
    assert end.seconds < 30
