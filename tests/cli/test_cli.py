"""The command `equipoise`: what it shows, and how it says that something cannot be done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import sixth_suite
from click.testing import CliRunner, Result
from journals import SETTINGS, record, write

from conftest import ROOT
from equipoise.cli import main
from equipoise.core.errors import SessionStopped
from equipoise.runner.signals import stop_message

ABOUT: dict[str, Any] = {"suite": "neutrality", "settings": {**SETTINGS, "rubric_hash": "another"}}


pytestmark = pytest.mark.usefixtures("folder")


def run(*arguments: str) -> Result:
    """What comes of a command line."""
    return CliRunner().invoke(main, arguments)


def words(text: str) -> list[str]:
    """The lines of a text with single blanks, without empty ones."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def error(result: Result) -> str:
    """The one line in which a command said that the input cannot work."""
    assert (result.exit_code, result.stdout) == (4, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("ERROR: ")
    return line


# show, of a journal.


def test_a_journal_is_shown_as_a_session_would_show_it(folder: Path) -> None:
    """Scores, calls, errors, what is missing and where the results are."""
    write(
        folder / "m.jsonl",
        *(record("a"), record("b", "error", "HTTP 500: Down.")),
        plan=("a-run1", "b-run1", "c-run1"),
        **ABOUT,
    )
    result = run("show", "m.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    shown = words(result.stdout)
    assert {"Of 2 runs, 1 was lost to errors.", "overall 75.0 % - 1"} <= {*shown}
    assert any(line.startswith("calls: 0 made, 0 replayed, 0 failed, 0 retries") for line in shown)
    assert "error: b-run1: HTTP 500: Down." in shown
    assert any(line.startswith("1 of 3 runs are still to be done") for line in shown)
    assert "results: m.json (interrupted)" in shown
    assert not any("wall time" in line for line in shown)
    assert json.loads((folder / "m.json").read_bytes())["metadata"]["runs_completed"] == 2


def test_warnings_about_a_journal_come_last(folder: Path) -> None:
    """What the user should know of cut lines and of the rubric stands below the results."""
    write(folder / "m.jsonl", record("a"), plan=["a-run1"], **ABOUT)
    with (folder / "m.jsonl").open("ab") as file:
        file.write(b'{"kind":"record","ru')
    shown = words(run("show", "m.jsonl").stdout)
    cut, rubric = shown[-2:]
    assert cut.startswith("warning: ")
    assert "damaged lines" in cut
    assert rubric.startswith("warning: the rubric has changed since")


@pytest.mark.slow
def test_a_journal_needs_neither_endpoint_nor_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that no session would take do no harm, and the client is not even loaded."""
    write(folder / "m.jsonl", record("a"), plan=["a-run1"], **ABOUT)
    monkeypatch.setenv("OPENAI_BASE_URL", "nonsense")
    monkeypatch.setenv("EQUIPOISE_RUNS", "nonsense")
    script = (
        "import sys; from equipoise.cli import main; main(['show', 'm.jsonl'], standalone_mode=False); "
        "print([name for name in ('openai', 'aiohttp', 'pytest') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


# Mistakes.


def test_a_name_cannot_write_on_the_terminal() -> None:
    """A line break or a terminal's command in a name is shown as an escape."""
    for character in ("\n", "\r", "\a", "\x9b"):
        assert character not in error(run("show", f"a{character}b.jsonl")), ascii(character)
    for arguments in (("--no\x1b[2J",), ("show", "--no\n::error::x"), ("no\x9b\u202e",)):
        result = run(*arguments)
        assert (result.exit_code, result.stdout) == (4, "")
        assert result.stderr.replace("\n", "").isprintable(), arguments
        assert "\n::" not in result.stderr, arguments


def test_a_name_of_invisible_characters_is_refused() -> None:
    """Of a model, a language or a publisher, in one line with the name escaped."""
    construct = "data construct simpleqa --documents d.jsonl --folder f"
    for flag, command in (
        ("--model", construct),
        ("--critic", f"{construct} --model m"),
        ("--to", "data translate --from en.txt"),
        ("--verify-model", "data translate --from en.txt --to pt"),
        ("--evaluator-model", "judge audit"),
        ("--translator-model", "judge languages r.json"),
        ("--developer", "export r.json --to every_eval_ever"),
    ):
        line = error(run(*command.split(), flag, "::error::x\x1b[2J"))
        assert line.startswith(rf"ERROR: {flag}: '::error::x\x1b[2J' has control or invisible characters"), (
            line
        )


def test_commands_that_ask_models_read_env(folder: Path) -> None:
    """They name its variables, and a mistake by its line; other commands say nothing of it."""
    (folder / ".env").write_text("OPENAI_API_KEY=sk-planted-in-env\nEQUIPOISE_CONCURRENCY=many\n")
    (folder / "en.txt").write_text("Why?\n")
    done = run("data", "translate", "--from", "en.txt", "--to", "pt", "--model", "m")
    assert done.exit_code == 4
    assert done.stderr.splitlines() == [
        ".env: OPENAI_API_KEY, EQUIPOISE_CONCURRENCY",
        "ERROR: .env:2: EQUIPOISE_CONCURRENCY: 'many' is not a whole number from 1 up",
    ]
    assert ".env" not in run("show", "nowhere.jsonl").stderr
    assert "OPENAI_API_KEY" not in os.environ


def test_a_defect_of_ours_is_not_taken_for_a_mistake(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else is raised comes through."""
    write(folder / "m.jsonl", record("a"), plan=["a-run1"], **ABOUT)

    def fail(*arguments: Any, **more: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr("equipoise.results.build.build", fail)
    assert isinstance(run("show", "m.jsonl").exception, RuntimeError)


def test_a_stopped_command_ends_with_2(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a limit or by the user: one line, which says that finished work is saved."""
    for stop, says in (
        (SessionStopped("enough\n"), "enough"),
        (KeyboardInterrupt(), stop_message("interrupted")),
    ):

        def stop_at_once(*arguments: Any, stop: BaseException = stop, **more: Any) -> None:
            raise stop

        monkeypatch.setattr("equipoise.results.recover.recover", stop_at_once)
        result = run("show", "m.jsonl")
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"ERROR: {says}" in result.stderr


def test_validate_holds_results_against_the_schema(folder: Path) -> None:
    """Beside data; each problem with its place, of thousands the first ones; other versions are refused."""
    write(folder / "m.jsonl", record("a"), plan=("a-run1",), **ABOUT)
    assert run("show", "m.jsonl", "--output", "m.json").exit_code == 0
    (folder / "aa.txt").write_text("What is one?\n", encoding="utf-8")
    assert run("data", "validate", "m.json", "aa.txt").stdout == "no findings in 2 files\n"
    (folder / "found").mkdir()
    for name in ("m.json", "n.json", "other.json"):
        text = "[]" if name == "other.json" else (folder / "m.json").read_text(encoding="utf-8")
        (folder / "found" / name).write_text(text, encoding="utf-8")
    assert run("data", "validate", "found").stdout == "no findings in 2 files\n"
    data = json.loads((folder / "m.json").read_text(encoding="utf-8"))
    data["metadata"]["status"], data["errors"] = "done", [{}] * 5
    (folder / "m.json").write_text(json.dumps(data), encoding="utf-8")
    result = run("data", "validate", "m.json")
    lines = result.stdout.splitlines()
    assert (result.exit_code, result.stderr) == (1, "21 findings in 1 file\n")
    assert lines[0].startswith("m.json: /metadata/status: invalid enum value 'done'")
    assert lines[-1] == "m.json: and 26 more"
    data["metadata"]["schema_version"] = 2
    (folder / "m.json").write_text(json.dumps(data), encoding="utf-8")
    assert error(run("data", "validate", "m.json")).endswith(
        "m.json: has schema version 2; this schema is version 1"
    )


def test_schema_prints_the_schema_of_results() -> None:
    """As it is published: `export --to schema > docs/results.schema.json` brings it in step."""
    with sixth_suite.unknown():
        printed = run("export", "--to", "schema").stdout
    jsonschema_rs.meta.validate(json.loads(printed))
    assert printed == (ROOT / "docs" / "results.schema.json").read_text(encoding="utf-8")


# Help.


def test_the_version_is_the_packages() -> None:
    """The same as in every results file; help names what there is, and without a command it is shown."""
    assert run("--version").stdout.split()[-1] == version("equipoise")
    assert (run().exit_code, "equipoise run SUITE --model M" in run().stdout) == (0, True)
    for arguments, words in ((("data",), ("validate", "construct")), (("show",), ("journal", "--output"))):
        shown = run(*arguments, "--help").stdout
        assert all(word in shown for word in words)
