"""Characters that a terminal obeys, and commands to CI jobs, in every option, every command and every answer.

What has to hold: no output has one of them, no line begins as a workflow command does, and no session shows
how it failed. Options are given on the command line, in the environment and in pytest.ini.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping

import click
import pytest
from click.testing import CliRunner

from attacks.sessions import bed, judge_says, subject_says
from attacks.tally import Harm, Size, Tally
from conftest import ALL_OPTIONS, Bench, is_orderly
from equipoise.cli import main
from loopback import JUDGE, SUBJECT, Answer, Script, completion, error, verdict

HOSTILE: Mapping[str, str] = {
    "a command": "::error::x\x1b[2J\x1b]0;passed\x07",
    "C1": "x\x9b2J\x85::error::y",
    "bidi": "x\u202ey\u2066z\u200b",
    "a carriage return": "x\r::error::y",
    "a line": "x\n::error::y",
    "separators": "x\u2028::error::y\u2029\x1c",
    "half a character": "x\udc9b::error::y",
}
SOURCES = ("command line", "environment", "pytest.ini")
LINES = ("a line", "a carriage return", "separators", "half a character")
"""What no pytest.ini can hold in one value."""
SAMPLED = 11
"""Of a sample every such option and answer is tried."""
SMALL = {"model": SUBJECT, "evaluator_model": JUDGE, "runs": "1", "limit": "1", "language": "aa"}
LOUD = ("-v", "-rA", "--junitxml=junit.xml", "--max-retries", "0", "--evaluator-attempts", "1")
FILLED = {"model": "m", "evaluator_model": "m", "translator": "m", "language": "aa", "to": "csv"}
"""What a command needs beside the parameter that is attacked; files are named that there are not."""


def attack(size: Size) -> Tally:
    """Options of sessions, parameters of commands, and what an endpoint says."""
    tally = Tally("control characters")
    _options(size, tally)
    _commands(size, tally)
    for name, script in _scripts() if size.is_full else [*_scripts()][::SAMPLED]:
        with tally.attack(f"an endpoint {name}") as harm, bed(script, delay=0.0) as bench:
            _session(bench, harm, {}, "", "")
    return tally


def is_harmless(output: str) -> bool:
    """Whether a terminal only prints this, and a CI job only shows it."""
    kinds = {unicodedata.category(character) for character in {*output} - {"\n"}}
    lines = [line.strip() for line in output.split("\n")]
    commands = [line for line in lines if line.startswith("::") or "##[" in line or "##vso[" in line]
    return not kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"} and not commands


# Options of sessions.


def _options(size: Size, tally: Tally) -> None:
    dice = size.dice("control characters")
    for number, option in enumerate(ALL_OPTIONS):
        for source in SOURCES:
            allowed = [name for name in HOSTILE if source != "pytest.ini" or name not in LINES]
            name = dice.choice(allowed)
            # On a command line a switch has no value.
            is_tried = size.is_full or (number + SOURCES.index(source)) % SAMPLED == 0
            if not is_tried or (option.switch and source == "command line"):
                continue
            with tally.attack(f"{name} in {option.flag}, {source}") as harm, bed(delay=0.0) as bench:
                _session(bench, harm, {option.name: HOSTILE[name]}, source, option.flag)


def _session(bench: Bench, harm: Harm, given: Mapping[str, str], source: str, flag: str) -> None:
    """A session of one run with this option from this source, and all others from pytest.ini."""
    base = {**SMALL, "api_base_url": bench.server.url, **(given if source == "pytest.ini" else {})}
    with (bench.folder / "pytest.ini").open("a", encoding="utf-8") as ini:
        ini.writelines(f"equipoise_{name} = {value}\n" for name, value in base.items())
    arguments = [f"{flag}={value}" for value in given.values() if source == "command line"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GITHUB_ACTIONS", "true")
        for name, value in given.items() if source == "environment" else ():
            patch.setenv(f"EQUIPOISE_{name.upper()}", value)
        done = bench.run_plain(*arguments, *LOUD)
    output = done.stdout + done.stderr
    harm.expect(is_orderly(output), output[-800:])
    harm.expect(is_harmless(output), ascii(output[-1500:]))
    for file in bench.folder.glob("junit.xml"):
        harm.expect(is_harmless(file.read_text(encoding="utf-8")), "in JUnit's report")


# Commands.


def _commands(size: Size, tally: Tally) -> None:
    found = [*_parameters(main, [])]
    for path, command, parameter in found if size.is_full else found[::3]:
        for name, text in HOSTILE.items():
            with tally.attack(f"{name} in {' '.join(path)} {parameter.name}") as harm:
                _invoke([*path, *_arguments(command, parameter, text)], harm)


def _parameters(
    group: click.Group, path: list[str]
) -> Iterator[tuple[list[str], click.Command, click.Parameter]]:
    """Every parameter of every command that takes a text; `run` and `fetch` would start something."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _parameters(command, [*path, name])
        elif command is not None and name not in ("run", "fetch", "init"):
            for parameter in command.params:
                if not getattr(parameter, "is_flag", False):
                    yield [*path, name], command, parameter


def _arguments(command: click.Command, attacked: click.Parameter, text: str) -> Iterator[str]:
    """A command line with this text for a parameter, and something for all others that are needed."""
    for parameter in command.params:
        if parameter is not attacked and not parameter.required:
            continue
        value = text if parameter is attacked else FILLED.get(str(parameter.name), "nowhere.json")
        if isinstance(parameter, click.Option):
            yield parameter.opts[-1]
        yield value


def _invoke(arguments: list[str], harm: Harm) -> None:
    runner = CliRunner()
    with runner.isolated_filesystem(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("GITHUB_ACTIONS", "true")
        # Not an endpoint: a command that gets so far must not call one that is there.
        patch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
        result = runner.invoke(main, arguments)
        is_ended = result.exception is None or isinstance(result.exception, SystemExit)
        harm.expect(is_ended, f"{result.exception!r}")
        harm.expect(is_harmless(result.output), ascii(result.output[-800:]))


# Endpoints.


def _scripts() -> Iterator[tuple[str, Script]]:
    for kind, text in HOSTILE.items():
        if kind == "half a character":
            continue
        for name, answer in {
            "replies": completion(f"{text}\n{text}"),
            "names a model": completion("Yes.", model=text),
            "ends for a reason": completion("Yes.", finish_reason=text),
            "has a fingerprint": {**completion("Yes."), "system_fingerprint": text, "provider": text},
            "answers oddly": {"choices": text},
        }.items():
            yield f"{name} with {kind}", subject_says(Answer(answer))
        yield f"judges with {kind}", judge_says(verdict(3, reasoning=text))
        yield f"does not judge but sends {kind}", judge_says(text)
        for status in (400, 401, 404, 422, 429, 500):
            refused = error(status, text, code=text, param=text)
            yield f"refuses with {status} and {kind}", subject_says(refused)
