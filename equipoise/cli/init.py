"""`equipoise init`: a project with the files of all suites, of one, or of a new suite to write."""

from __future__ import annotations

import keyword
import re
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from equipoise import suites
from equipoise.cli import completion
from equipoise.cli.output import print_line
from equipoise.core.errors import UserError
from equipoise.core.files import read_text, write_text
from equipoise.runner import transports
from equipoise.suites.resources import ORIGINAL, PINS, SHIPPED, originals

_CONFIGURATION = ("conftest.py", "pytest.ini")
_CONTENTS = (suites.TESTS, "topics", "rubric")
PROJECT = (*_CONFIGURATION, *_CONTENTS)
"""The files of a project with all suites, besides its README."""
_EXAMPLE, _EXAMPLE_NAME = SHIPPED / "examples" / "sixth_suite", "attribution"
_README = Path(__file__).with_name("project.md")
_RUBRIC = "rubric.toml"
"""The file that --rubric writes."""
_SHEET = "replies.csv"
"""The file that --replies writes."""
_SUITE_PATHS = {
    "suites/{}/": "the suite: its cases, how replies are judged, figures: `equipoise docs adding-a-suite`",
    "topics/{}/": "what is asked; `README.md` there describes the files",
    "rubric/{}.toml": "what evaluators are asked; give it another `version` when its meaning changes",
    suites.TESTS + "/test_{}.py": "the test, which runs once for each question, language and run",
}
"""The paths of a suite, with `{}` for its name, and what each is, for the table in README.md."""


def _with_sheet(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of the sheet to fill in with replies."""
    if "replies" not in transports.TRANSPORTS:
        return command
    path = click.Path(path_type=Path, dir_okay=False)
    output = click.option(
        "-o", "--output", type=path, metavar="FILE", help="The sheet (default replies.csv in FOLDER)."
    )
    replies = click.option(
        "--replies",
        metavar="SUITE",
        shell_complete=completion.complete_suite,
        help="Only a sheet to fill in with replies, for --replies of a session.",
    )
    return replies(output(command))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option(
    "--suite", metavar="NAME", shell_complete=completion.complete_suite, help="Only the files of this suite."
)
@click.option("--new-suite", metavar="NAME", help="A small example suite with this name, to edit.")
@click.option(
    "--rubric",
    is_flag=True,
    help=f"Only {_RUBRIC}, a rubric to edit: of the suite that `pytest` runs, or of --suite.",
)
@_with_sheet
def init(
    folder: Path,
    suite: str | None,
    new_suite: str | None,
    rubric: bool,
    replies: str | None = None,
    output: Path | None = None,
) -> None:
    """Make FOLDER a project of your own: tests, questions and rubrics of all suites, to edit.

    With --suite or --new-suite, only the files of that suite, which can be added to an existing project.
    README.md says what each file is. With --rubric or --replies, one file, which needs no project.
    """
    if replies is not None:
        if suite or new_suite or rubric:
            raise UserError("--replies: writes one sheet; give neither --suite, --new-suite nor --rubric")
        _write_sheet(output or folder / _SHEET, replies)
        return
    if output is not None:
        raise UserError("--output: names the sheet of --replies SUITE; give that, too, or leave it out")
    if suite and new_suite:
        raise UserError("--suite and --new-suite: give one of them")
    if rubric and new_suite:
        raise UserError("--rubric and --new-suite: give one of them; a new suite has a rubric of its own")
    if suite:
        suites.require(suite)
    if rubric:
        _write_rubric(folder, suite or _default_suite())
        return
    if new_suite:
        _refuse_name(new_suite)
    name = new_suite or suite
    paths = [path.format(name) for path in _SUITE_PATHS] if name else [*PROJECT]
    existing = [path for path in paths if (folder / path).exists()]
    if existing or _belongs_to_other(folder):
        existing = existing or [path for path in PROJECT if (folder / path).exists()]
        raise UserError(f"{folder}: has {', '.join(existing)} already; nothing was written")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = [*_write_files(folder, suite, new_suite)]
    except OSError as error:
        raise UserError(f"{folder}: cannot be written to ({error.strerror})") from None
    change_folder = "" if folder == Path() else f"cd {folder} && "
    print_line(
        f"{folder}: {', '.join(written)}; now: {change_folder}equipoise run {name or 'SUITE'} --model M"
    )


def _default_suite() -> str:
    """The suite that `pytest` alone runs, which pytest.ini names."""
    match = re.search(
        rf"^testpaths = {suites.TESTS}/test_(\w+)\.py$", read_text(SHIPPED / "pytest.ini"), re.M
    )
    assert match is not None, "pytest.ini names no suite"
    return match[1]


def _write_rubric(folder: Path, suite: str) -> None:
    """Write a copy of the suite's rubric, and say what to do with it."""
    path = folder / _RUBRIC
    if path.exists():
        raise UserError(f"{path}: is there already; nothing was written")
    text = read_text(suites.rubric_path(suites.load(suite), None, Path.cwd()))
    write_text(path, text)
    print_line(f"{path}: the rubric of {suite}; edit it, and give it another version")
    print_line(f"check it:  equipoise data validate {path}")
    print_line(f"use it:    equipoise run {suite} --rubric {path} --model M")
    if "[about]" in text:
        print_line(
            "about.toml beside the questions names their subject and the two sides: "
            "equipoise docs your-own-questions"
        )


def _write_sheet(path: Path, suite: str) -> None:
    """Write the sheet of a suite's questions, and say what to do with it."""
    # Imported here: other files need no rubric and no dataset.
    from equipoise.runner import loading
    from equipoise.runner.replies import sheet
    from equipoise.runner.settings import settings_of

    suites.require(suite)
    if path.exists():
        raise UserError(f"{path}: is there already; nothing was written")
    loaded = loading.load(suite, settings_of({}, {}, {}, [suite]), Path.cwd())
    write_text(path, sheet.text(loaded))
    print_line(f"{path}: the questions of {suite}; write each answer into the column reply")
    print_line("delete rows without an answer, or state in the column outcome why the model gave none")
    print_line(f"judge them:  equipoise run {suite} --replies {path} --model NAME")


def _refuse_name(name: str) -> None:
    """Raise UserError for a name that a new suite cannot have."""
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise UserError(f"--new-suite: {name!r} is not a word of a-z, 0-9 and _, which begins with a letter")
    if name == "all" or name in suites.names() or find_spec(f"{suites.__name__}.{name}"):
        raise UserError(f"--new-suite: {name!r} is taken; choose another name")


def _belongs_to_other(folder: Path) -> bool:
    """Whether the folder has the pytest configuration of a project that does not use Equipoise."""
    texts = [read_text(folder / name) for name in _CONFIGURATION if (folder / name).is_file()]
    return bool(texts) and not any("equipoise.plugin" in text for text in texts)


def _write_files(folder: Path, suite: str | None, new_suite: str | None) -> Iterator[str]:
    """Write the files, and yield the relative path of each file or folder that was written."""
    if new_suite:
        for source in sorted(_EXAMPLE.glob("*/*")):
            _copy_renamed(source, folder / source.relative_to(_EXAMPLE), new_suite)
    elif suite:
        for path in (template.format(suite) for template in _SUITE_PATHS):
            # Not all exist: the code of a shipped suite is in the package.
            if (SHIPPED / path).exists():
                _copy_own(SHIPPED / path, folder / path)
    else:
        for path in _CONTENTS:
            _copy_own(SHIPPED / path, folder / path)
    name = new_suite or suite
    rows = {path.format(name or "*"): about for path, about in _SUITE_PATHS.items()}
    rows = {path: about for path, about in rows.items() if next(folder.glob(path.rstrip("/")), None)}
    table = "\n".join(f"| `{path}` | {about} |" for path, about in rows.items())
    shared = {
        "conftest.py": read_text(SHIPPED / "conftest.py"),
        "pytest.ini": _pytest_ini(name),
        "README.md": _readme(name, table),
    }
    yield from rows if name else _CONTENTS
    for file, text in shared.items():
        if not (folder / file).exists():
            write_text(folder / file, text)
            yield file


def _readme(name: str | None, table: str) -> str:
    template = Template(read_text(_README))
    return template.substitute(title=name or "Equipoise", name=name or "SUITE", files=table)


def _pytest_ini(name: str | None) -> str:
    """The text of a project's pytest.ini, in which `pytest` runs this suite (None: all)."""
    text = read_text(SHIPPED / "pytest.ini").replace("pythonpath = tests\n", "")
    testpaths = f"testpaths = {suites.TESTS}/test_{name}.py"
    return re.sub("^testpaths = .*$", testpaths, text, flags=re.MULTILINE) if name else text


def _copy_own(source: Path, target: Path) -> None:
    """Copy a file or folder, without published data and their pins."""
    if source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
        return
    # The folder of a further published dataset has nothing to edit.
    all_pins = originals([SHIPPED / "topics"]).values()
    left_out = {pins.name for pins in all_pins if pins.folder != pins.name}
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ORIGINAL, PINS, *left_out))


def _copy_renamed(source: Path, target: Path, name: str) -> None:
    """Copy a file or folder of the example suite, with its name replaced in paths and texts."""
    for path in [source] if source.is_file() else sorted(source.rglob("*")):
        relative = str(path.relative_to(source.parent)).replace(_EXAMPLE_NAME, name)
        if path.is_file() and "__pycache__" not in path.parts:
            write_text(target.parent / relative, read_text(path).replace(_EXAMPLE_NAME, name))
