"""Asks the suites, or gates results that exist, and leaves all that a CI job keeps in `results/`.

Inputs are variables: EQUIPOISE_X, or INPUT_X, which goes first. None is ever part of a shell's command. The
exit status is that of the session. Of the CI it knows only the two files that GitHub Actions reads.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from equipoise.runner.exit_status import MEANINGS

RESULTS = Path("results")
SUMMARY = RESULTS / "summary.md"
VERDICTS = {0: "pass", 1: "unscored", 2: "interrupted", 6: "inconclusive", 7: "fail", 8: "waiting"}
"""A word for each exit status; `error` for any other."""
KEYS = {"--api-key": "OPENAI_API_KEY", "--evaluator-api-key": "EQUIPOISE_EVALUATOR_API_KEY"}
"""Options that are not taken from inputs, and the variables that are."""


def settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a session: inputs of an action that are set are options of Equipoise."""
    given = [name for name, value in environment.items() if name.startswith("INPUT_") and value.strip()]
    return {**environment, **{name.replace("INPUT", "EQUIPOISE", 1): environment[name] for name in given}}


def plan(variables: Mapping[str, str]) -> tuple[list[str], float]:
    """The arguments of `equipoise`, and its time limit in seconds. Raises ValueError."""
    name = variables.get("EQUIPOISE_NAME") or "equipoise"
    if not re.fullmatch(r"[\w.-]+", name, re.ASCII):
        # No cache, artifact or comment can be called so; GitHub would say it when all is paid for.
        raise ValueError(f"name: {name!r} may have letters, digits, '.', '_' and '-' only")
    return _command(variables), _time_limit(variables)


def _command(variables: Mapping[str, str]) -> list[str]:
    more = _arguments(variables.get("EQUIPOISE_ARGUMENTS", ""))
    junit = f"--junitxml={RESULTS / 'junit.xml'}"
    if results := variables.get("EQUIPOISE_RESULTS", "").split():
        return ["gate", *results, *_gate(variables), f"--output={RESULTS / 'gate.json'}", junit, *more]
    if not variables.get("EQUIPOISE_MODEL"):
        raise ValueError("model: name the model to ask, or in results the results to gate")
    return ["run", variables.get("EQUIPOISE_SUITES") or "all", junit, *more]


def _arguments(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"arguments: {error}") from None
    if keys := [flag for word in words if (flag := word.partition("=")[0]) in KEYS]:
        variable = KEYS[keys[0]]
        raise ValueError(f"arguments: {keys[0]} would show the key; set {variable} as a variable")
    return words


def _gate(variables: Mapping[str, str]) -> list[str]:
    """The options of a gate, which a session takes from its variables and a command does not."""
    rules = variables.get("EQUIPOISE_GATE", "").replace(",", " ").split()
    once = {"--baseline": "EQUIPOISE_BASELINE", "--gate-inconclusive": "EQUIPOISE_GATE_INCONCLUSIVE"}
    given = [f"{flag}={variables[name]}" for flag, name in once.items() if variables.get(name)]
    return [*(f"--gate={rule}" for rule in rules), *given]


def _time_limit(variables: Mapping[str, str]) -> float:
    minutes = variables.get("EQUIPOISE_TIME_LIMIT") or "0"
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", minutes):
        raise ValueError(f"time-limit: {minutes!r} is not a number of minutes")
    return float(minutes) * 60


def run(arguments: Sequence[str], variables: Mapping[str, str], seconds: float) -> int:
    """The exit status of the command, to which the signals for this process are passed on."""
    program = Path(sys.executable).with_name("equipoise")
    # In a group of its own: a signal to all of this process's group must not reach it twice.
    process = subprocess.Popen([program, *arguments], env=variables, process_group=0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: process.send_signal(number))
    signal.signal(signal.SIGALRM, lambda *_: process.terminate())
    signal.setitimer(signal.ITIMER_REAL, seconds)
    status = process.wait()
    return status if status >= 0 else 128 - status


def publish(status: int, environment: Mapping[str, str]) -> None:
    """Append to the job's outputs and its summary, where it has them."""
    if not SUMMARY.exists():
        why = MEANINGS.get(status, "see the log of the job")
        SUMMARY.write_text(f"## Equipoise: no verdict\n\nExit status {status}: {why}.\n", encoding="utf-8")
    results = os.path.relpath(RESULTS, environment.get("GITHUB_WORKSPACE") or ".")
    lines = {"exit-status": status, "verdict": VERDICTS.get(status, "error"), "results": results}
    _append(environment.get("GITHUB_OUTPUT"), "".join(f"{name}={value}\n" for name, value in lines.items()))
    _append(environment.get("GITHUB_STEP_SUMMARY"), SUMMARY.read_text(encoding="utf-8"))


def _append(file: str | None, text: str) -> None:
    if file:
        with open(file, "a", encoding="utf-8") as stream:
            stream.write(text)


def main(environment: Mapping[str, str]) -> int:
    """Run, publish, and return the exit status."""
    variables = settings(environment)
    RESULTS.mkdir(exist_ok=True)
    SUMMARY.unlink(missing_ok=True)
    try:
        arguments, seconds = plan(variables)
    except ValueError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        status = 4
    else:
        report = {"EQUIPOISE_REPORT": str(RESULTS / "report.html"), **variables}
        # The session writes its summary where the comment finds it, too.
        status = run(arguments, {**report, "GITHUB_STEP_SUMMARY": str(SUMMARY.absolute())}, seconds)
    publish(status, environment)
    return status


if __name__ == "__main__":
    sys.exit(main(os.environ))
