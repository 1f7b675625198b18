"""`equipoise init`: what it writes for all suites, for one, and for a new one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conftest import ROOT, SHIPPED
from equipoise import suites
from equipoise.cli import main
from equipoise.cli.init import PROJECT


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, which is empty; suites of it are forgotten at the end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(suites, "__path__", [*suites.__path__])
    for name in ("budget", "school"):
        monkeypatch.setattr(suites, name, None, raising=False)
    before = {*sys.modules}
    yield tmp_path
    for name in {*sys.modules} - before:
        if name.startswith(f"{suites.__name__}."):
            del sys.modules[name]
    forget()


def forget() -> None:
    """What this process knows of suites, as if it were a new one."""
    for known in (suites.names, suites.load, suites.options):
        known.cache_clear()


def init(*arguments: str) -> Result:
    """The command with these arguments."""
    return CliRunner().invoke(main, ["init", *arguments])


def files(folder: Path) -> set[str]:
    """All files below a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def named_in_readme(folder: Path) -> list[str]:
    """The paths in the first column of the table in README.md."""
    rows = re.findall(r"^\| (`.*?) \|", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    return [name for row in rows for name in re.findall("`(.*?)`", row)]


@pytest.mark.slow
def test_a_project_has_all_that_can_be_edited(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all suites, and is written nowhere where there is one."""
    assert init("mine").exit_code == 0
    mine = folder / "mine"
    assert {path.name for path in mine.iterdir()} == {*PROJECT, "README.md"}
    for name in ("conftest.py", "rubric/neutrality.toml", "topics/neutrality/en-US.txt"):
        assert (mine / name).read_bytes() == (ROOT / name).read_bytes()
    assert not [name for name in files(mine) if "original" in name]
    monkeypatch.chdir(mine)
    validated = CliRunner().invoke(main, ["data", "validate"]).output
    assert validated.startswith("no findings in "), validated
    monkeypatch.chdir(folder)
    again = init("mine")
    assert again.exit_code == 4
    assert (
        "has conftest.py, pytest.ini, tests_benchmark, topics, rubric already; nothing was written"
        in again.output
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_a_suite_alone_has_nothing_of_others(folder: Path, name: str) -> None:
    """Its data, its rubric, its test, and a README that names them."""
    done = init("--suite", name, "mine")
    assert (done.exit_code, f"cd mine && equipoise run {name} --model M" in done.output) == (0, True)
    paths = files(folder / "mine")
    assert len(paths) <= 25
    shared = {"conftest.py", "pytest.ini", "README.md", f"rubric/{name}.toml"}
    test = f"tests_benchmark/test_{name}.py"
    assert {file for file in paths if not file.startswith(f"topics/{name}/")} == {*shared, test}
    assert not [file for file in paths if "original" in file]
    settings = (folder / "mine" / "pytest.ini").read_text(encoding="utf-8")
    assert f"testpaths = {test}\n" in settings
    listed = named_in_readme(folder / "mine")
    assert all((folder / "mine" / path).exists() for path in listed if path != "results/")
    assert {f"topics/{name}/", f"rubric/{name}.toml", test, "conftest.py", "pytest.ini"} <= {*listed}


def test_a_new_suite_has_its_name_everywhere(folder: Path) -> None:
    """In paths and texts; its data are valid, and it is listed."""
    assert init("--new-suite", "budget").exit_code == 0
    paths = files(folder)
    assert {"suites/budget/__init__.py", "topics/budget/questions.csv", "rubric/budget.toml"} <= paths
    texts = [(folder / name).read_text(encoding="utf-8") for name in paths]
    assert not [text for text in texts if "attribution" in text.lower()]
    assert "suites/budget/" in named_in_readme(folder)
    assert CliRunner().invoke(main, ["data", "validate"]).output == "no findings in 3 files\n"
    assert "12 cases x 1 = 12 runs" in CliRunner().invoke(main, ["suites", "budget"]).output


def test_suites_are_added_to_a_project(folder: Path) -> None:
    """What all share stays as it is; two new suites do not get in each other's way."""
    assert init("--new-suite", "budget").exit_code == 0
    (folder / "README.md").write_text("Mine.\n")
    for arguments in (("--new-suite", "school"), ("--suite", "neutrality")):
        added = init(*arguments)
        assert (added.exit_code, "conftest.py" in added.output) == (0, False), added.output
    assert (folder / "README.md").read_text() == "Mine.\n"
    forget()
    listed = CliRunner().invoke(main, ["suites", "budget", "school", "neutrality"])
    assert listed.exit_code == 0, listed.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--new-suite", "a-b"), "--new-suite: 'a-b' is not a word of a-z, 0-9 and _, which begins"),
        (("--new-suite", "class"), "--new-suite: 'class' is not a word"),
        (("--new-suite", "neutrality"), "--new-suite: 'neutrality' is taken"),
        (("--new-suite", "contract"), "--new-suite: 'contract' is taken"),
        (("--suite", "neutralty"), "did you mean 'neutrality'?"),
        (("--suite", "neutrality", "--new-suite", "x"), "--suite and --new-suite: give one of them"),
        (("--rubric", "--new-suite", "x"), "--rubric and --new-suite: give one of them"),
        (("--rubric", "--suite", "neutralty"), "did you mean 'neutrality'?"),
    ],
)
def test_what_cannot_be_made_is_refused(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    """In one line, and nothing is written."""
    done = init(*arguments)
    assert (done.exit_code, message in done.output, files(folder)) == (4, True, set()), done.output


def test_a_project_of_another_kind_is_left_alone(folder: Path) -> None:
    """Its pytest.ini does not load the plugin."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    done = init("--new-suite", "budget")
    assert (done.exit_code, files(folder)) == (4, {"pytest.ini"})
    assert "has pytest.ini already; nothing was written" in done.output


# A rubric alone.


def test_a_rubric_is_had_without_a_project(folder: Path) -> None:
    """In one file, with how to use it; never over one that is there."""
    done = init("--rubric")
    assert (done.exit_code, files(folder)) == (0, {"rubric.toml"}), done.output
    shipped = (ROOT / "rubric" / "neutrality.toml").read_bytes()
    assert (folder / "rubric.toml").read_bytes() == shipped
    assert "equipoise run neutrality --rubric rubric.toml --model M\n" in done.output
    assert "about.toml beside the questions names their subject and the two sides" in done.output
    assert CliRunner().invoke(main, ["data", "validate", "rubric.toml"]).output == "no findings in 1 file\n"
    again = init("--rubric", "--suite", "politicsbench")
    assert (again.exit_code, "rubric.toml: is there already" in again.output) == (4, True)
    assert (folder / "rubric.toml").read_bytes() == shipped


@pytest.mark.parametrize("name", SHIPPED)
def test_every_suite_has_a_rubric_to_edit(folder: Path, name: str) -> None:
    """Which is valid, whatever its file is called."""
    done = init("--rubric", "--suite", name, "mine")
    assert (done.exit_code, files(folder)) == (0, {"mine/rubric.toml"}), done.output
    assert f"equipoise run {name} --rubric mine/rubric.toml" in done.output
    assert CliRunner().invoke(main, ["data", "validate", "mine/rubric.toml"]).exit_code == 0


# Names that do not agree.


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("suites/budget", "", "suites/school"),
        ("tests_benchmark/test_budget.py", "", "tests_benchmark/test_school.py"),
        ("rubric/budget.toml", "", "rubric/school.toml"),
        ("topics/budget", "", "topics/school"),
        ("suites/budget/__init__.py", 'name="budget"', 'name="school"'),
        ("tests_benchmark/test_budget.py", 'mark.suite("budget")', 'mark.suite("school")'),
        ("tests_benchmark/test_budget.py", "def test_budget", "def test_school"),
    ],
)
def test_a_half_renamed_suite_is_told_what_to_rename(folder: Path, path: str, old: str, new: str) -> None:
    """In one line at every door: the list of suites, `equipoise run`, a session without pytest."""
    assert init("--new-suite", "budget").exit_code == 0
    if old:
        text = (folder / path).read_text(encoding="utf-8")
        (folder / path).write_text(text.replace(old, new), encoding="utf-8")
    else:
        (folder / path).rename(folder / new)
    done = CliRunner().invoke(main, ["suites"])
    assert done.exit_code == 4
    (line,) = [line for line in done.output.splitlines() if "half renamed" in line]
    assert (f"in {path} write {old}" if old else f"rename {new} to {path}") in line
    assert ('in suites/school/__init__.py write name="school"; ' in line) == (path == "suites/budget")


def test_a_folder_of_other_questions_is_no_half_renamed_suite(folder: Path) -> None:
    """Nor is a second rubric: both are what --topics and --rubric name."""
    assert init("--new-suite", "budget").exit_code == 0
    (folder / "topics" / "poll").mkdir()
    (folder / "rubric" / "strict.toml").touch()
    assert CliRunner().invoke(main, ["suites", "budget"]).exit_code == 0
