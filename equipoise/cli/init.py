"""`equipoise init`: a project with the files of all suites, of one, or of a new suite to write."""

from __future__ import annotations

import keyword
import re
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from equipoise import suites
from equipoise.cli import completion
from equipoise.cli.output import print_line
from equipoise.core.errors import UserError
from equipoise.core.files import read_text, write_text
from equipoise.suites.resources import ORIGINAL, PINS, SHIPPED, originals

PROJECT = ("conftest.py", "pytest.ini", suites.TESTS, "topics", "rubric")
"""The files of a project with all suites, besides its README."""
_EXAMPLE, _EXAMPLE_NAME = SHIPPED / "examples" / "sixth_suite", "attribution"
_README = Path(__file__).with_name("project.md")
_ROWS = {
    "suites/{}/": "the suite: its cases, how replies are judged, figures: `equipoise docs adding-a-suite`",
    "topics/{}/": "what is asked; `README.md` there describes the files",
    "rubric/{}.toml": "what evaluators are asked; give it another `version` when its meaning changes",
    suites.TESTS + "/test_{}.py": "the test, which runs once for each question, language and run",
}
"""The parts of a suite, with `{}` for its name, and what each is."""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option(
    "--suite", metavar="NAME", shell_complete=completion.complete_suites, help="Only the files of this suite."
)
@click.option("--new-suite", metavar="NAME", help="A small example suite with this name, to edit.")
def init(folder: Path, suite: str | None, new_suite: str | None) -> None:
    """Make FOLDER a project of your own: tests, questions and rubrics of all suites, to edit.

    With --suite or --new-suite, only the files of that suite, which can be added to an existing project.
    README.md says what each file is.
    """
    if suite and new_suite:
        raise UserError("--suite and --new-suite: give one of them")
    if suite:
        suites.require(suite)
    if new_suite:
        _refuse_name(new_suite)
    name = new_suite or suite
    parts = [part.format(name) for part in _ROWS] if name else [*PROJECT]
    taken = [part for part in parts if (folder / part).exists()]
    if taken or not _is_free(folder):
        existing = taken or [item for item in PROJECT if (folder / item).exists()]
        raise UserError(f"{folder}: has {', '.join(existing)} already; nothing was written")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = [*_write(folder, suite, new_suite)]
    except OSError as error:
        raise UserError(f"{folder}: cannot be written to ({error.strerror})") from None
    where = "" if folder == Path() else f"cd {folder} && "
    print_line(f"{folder}: {', '.join(written)}; now: {where}equipoise run {name or 'SUITE'} --model M")


def _refuse_name(name: str) -> None:
    """Raise UserError for a name that a new suite cannot have."""
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise UserError(f"--new-suite: {name!r} is not a word of a-z, 0-9 and _, which begins with a letter")
    if name == "all" or name in suites.names() or find_spec(f"{suites.__name__}.{name}"):
        raise UserError(f"--new-suite: {name!r} is taken; choose another name")


def _is_free(folder: Path) -> bool:
    """Whether the folder has no pytest configuration, or that of a project of Equipoise."""
    texts = [read_text(folder / name) for name in PROJECT[:2] if (folder / name).is_file()]
    return not texts or any("equipoise.plugin" in text for text in texts)


def _write(folder: Path, suite: str | None, new_suite: str | None) -> Iterator[str]:
    """Write the files, and yield the name of each part that was written."""
    if new_suite:
        for path in sorted(_EXAMPLE.glob("*/*")):
            _copy_renamed(path, folder / path.relative_to(_EXAMPLE), new_suite)
    elif suite:
        for part in (item.format(suite) for item in _ROWS):
            if (SHIPPED / part).exists():
                _copy(SHIPPED / part, folder / part)
    else:
        for part in PROJECT[2:]:
            _copy(SHIPPED / part, folder / part)
    name = new_suite or suite
    rows = {part.format(name or "*"): about for part, about in _ROWS.items()}
    rows = {part: about for part, about in rows.items() if next(folder.glob(part.rstrip("/")), None)}
    files = "\n".join(f"| `{part}` | {about} |" for part, about in rows.items())
    shared = {
        "conftest.py": read_text(SHIPPED / "conftest.py"),
        "pytest.ini": _settings(name),
        "README.md": _readme(name, files),
    }
    yield from rows if name else PROJECT[2:]
    for file, text in shared.items():
        if not (folder / file).exists():
            write_text(folder / file, text)
            yield file


def _readme(name: str | None, files: str) -> str:
    template = Template(read_text(_README))
    return template.substitute(title=name or "Equipoise", name=name or "SUITE", files=files)


def _settings(name: str | None) -> str:
    """The text of a project's pytest.ini, in which `pytest` runs this suite (None: all)."""
    text = read_text(SHIPPED / "pytest.ini").replace("pythonpath = tests\n", "")
    test = f"testpaths = {suites.TESTS}/test_{name}.py"
    return re.sub("^testpaths = .*$", test, text, flags=re.MULTILINE) if name else text


def _copy(source: Path, target: Path) -> None:
    """Copy a file or folder, without published data, the pins of these, and earlier editions."""
    if source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
        return
    pinned = originals([SHIPPED / "topics"]).values()
    left_out = {name for pins in pinned for name in pins.unchanged}
    left_out |= {pins.name for pins in pinned if pins.folder != pins.name}
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ORIGINAL, PINS, *left_out))


def _copy_renamed(source: Path, target: Path, name: str) -> None:
    """Copy a file or folder of the example suite, with its name replaced in paths and texts."""
    for path in [source] if source.is_file() else sorted(source.rglob("*")):
        relative = str(path.relative_to(source.parent)).replace(_EXAMPLE_NAME, name)
        if path.is_file() and "__pycache__" not in path.parts:
            write_text(target.parent / relative, read_text(path).replace(_EXAMPLE_NAME, name))
