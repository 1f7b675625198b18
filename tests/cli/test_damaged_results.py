"""Damaged results at every reader: the field is named by its path, with what is wrong there."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from fake_client import Project
from sides import set_to

import equipoise
from equipoise.cli import main
from equipoise.core.errors import ContradictoryResultsWarning, UserError
from equipoise.report.page import board_page, page

SOUND, SHEET = Path("sound.json"), Path("sheet.csv")
RUN = ("results", "aa", "questions", 0, "runs", 0)
MESSAGE = (*RUN, "evaluator_transcripts", 0, "messages", 0)


def command(*arguments: str) -> Callable[[Path], str | None]:
    """What a command says of a file, in one line; None where it reads it all the same."""

    def read(path: Path) -> str | None:
        done = invoke(path, arguments)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.stderr if done.exit_code == 4 else None

    return read


def invoke(path: Path, arguments: Sequence[str]) -> Result:
    """What comes of a command, with the file in the place of {}."""
    return CliRunner().invoke(main, [argument.format(path) for argument in arguments])


def refused(use: Callable[[Path], object]) -> Callable[[Path], str | None]:
    """What a function says of it; None where it takes it all the same."""

    def read(path: Path) -> str | None:
        try:
            use(path)
        except UserError as error:
            return str(error)
        return None

    return read


COMMANDS = {
    "show": ("show", "{}"),
    "show -k": ("show", "{}", "-k", "a"),
    "compare": ("compare", "{}", str(SOUND), "--allow-mismatch"),
    "csv": ("export", "{}", "--to", "csv", "-o", "x.csv"),
    "markdown": ("export", "{}", "--to", "markdown"),
    "registry": ("export", "{}", "--to", "every_eval_ever", "-o", "registry"),
    "review": ("review", "sample", "{}", "-n", "2", "-o", str(SHEET)),
}
READERS = {
    **{name: command(*arguments) for name, arguments in COMMANDS.items()},
    "report": refused(lambda path: page.write(path.with_suffix(".html"), [path])),
    "board": refused(lambda path: board_page.write(path.with_suffix(".html"), [path])),
    "load": refused(lambda path: operator.attrgetter("metrics", "table", "rows")(equipoise.load(path))),
}
EVERY = frozenset(READERS)
TRANSCRIPTS = frozenset(("show -k", "csv", "registry"))
DAMAGES: Sequence[tuple[tuple[str | int, ...], Any, frozenset[str]]] = [
    (("metadata", "evaluator_models", 0), None, EVERY),
    (("metadata", "scale", "low"), "?", EVERY),
    (("errors",), {}, EVERY),
    ((*RUN, "score"), "?", frozenset(("csv", "registry", "load"))),
    ((*RUN, "verdicts"), None, EVERY),
    (MESSAGE, "?", TRANSCRIPTS),
    (("summary", "metrics"), [], frozenset(("show", "report", "board", "load"))),
    (("summary", "metrics", "overall", "low"), "?", frozenset(("report", "board"))),
    (("audit", "judge"), {}, frozenset(("report", "board"))),
    (("metadata", "cost_usd"), {"subject": "?"}, frozenset(("report", "board"))),
    (("summary", "metrics", "overall", "value"), math.inf, EVERY),
    (("summary", "metrics", "overall", "high"), -math.inf, EVERY),
    (("summary", "metrics", "overall", "these", "low"), math.inf, EVERY),
    (("metadata", "scale", "high"), math.nan, EVERY),
]
"""A field, what stands there, and the readers that cannot do without it."""


@pytest.mark.slow
def test_every_reader_names_the_damaged_field(project: Project, subtests: pytest.Subtests) -> None:
    """In one line with the file; a reader that does not need the field goes on without a word."""
    project.run(runs="2")
    sound, path = project.results_path.read_bytes(), Path("damaged.json")
    SOUND.write_bytes(sound)
    SHEET.unlink(missing_ok=True)
    assert [name for name, read in READERS.items() if read(SOUND)] == []
    for keys, value, needing in DAMAGES:
        pointer = "/".join(("", *map(str, keys)))
        damaged = json.loads(sound)
        set_to(value, *keys)(damaged)
        path.write_text(json.dumps(damaged), encoding="utf-8")
        for name, read in READERS.items():
            with subtests.test(name, pointer=pointer):
                SHEET.unlink(missing_ok=True)
                message = read(path)
                assert message is not None or name not in needing
                assert message is None or f"{path}: is damaged: {pointer}: " in message


@pytest.mark.slow
def test_runs_that_were_edited_beside_their_summary_are_told_at_every_reader(
    project: Project, subtests: pytest.Subtests
) -> None:
    """In one line with the file and both figures, on the page too; results as written are not doubted."""
    project.run(runs="2")
    sound, path = project.results_path.read_bytes(), Path("edited.json")
    SOUND.write_bytes(sound)
    data = json.loads(sound)
    was = data["summary"]["metrics"]["overall"]["value"]
    for question in data["results"]["aa"]["questions"]:
        for run in question["runs"]:
            run["values"]["percent"] = run["score_percentage"] = 100.0
    path.write_text(json.dumps(data), encoding="utf-8")
    reason = f"edited.json: its summary says overall {was:.6g}, its runs come to "
    gate = ("gate", "{}", "--baseline", str(SOUND), "--gate", "overall:-100pp@population")
    commands = {**COMMANDS, "gate": gate, "report": ("report", "{}", "-o", "report.html")}
    for name, arguments in commands.items():
        with subtests.test(name):
            for file in (SOUND, path):
                SHEET.unlink(missing_ok=True)
                done = invoke(file, arguments)
                assert done.exit_code in (0, 6, 7), done.output
                assert done.stderr.count(f"warning: {reason}") == (file == path)
    with pytest.warns(ContradictoryResultsWarning, match=reason):
        equipoise.load(path)
    assert f"its summary says overall {was:.6g}" in Path("report.html").read_text(encoding="utf-8")
