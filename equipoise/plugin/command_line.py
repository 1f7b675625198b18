"""What pytest's command line asks for: which suites, how many workers, or only a listing of tests."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from equipoise import suites
from equipoise.core.errors import UserError
from equipoise.core.options import Option
from equipoise.plugin.terminal import suite_and_run

if TYPE_CHECKING:
    import pytest

COMMAND = "equipoise_command"
"""The ini option for the command that started the session."""
PYTEST = "pytest"
"""The value of COMMAND, unless another command such as `equipoise run` has started the session."""


_OTHER_NAMES: Mapping[str, str] = {
    "--judge": "--evaluator-model",
    "--judge-model": "--evaluator-model",
    "--grader": "--evaluator-model",
    "--grader-model": "--evaluator-model",
    "--models": "--model, once for each",
    "--base-url": "--api-base-url",
    "--provider": "--api-base-url",
    "--epochs": "--runs",
    "--repeat": "--runs",
    "--repeats": "--runs",
    "--samples": "--limit",
    "--num-samples": "--limit",
    "--temperature": "--subject-temperature",
    "--max-tokens": "--subject-max-tokens",
    "--system-prompt": "--subject-system-prompt",
    "--max-connections": "--concurrency",
    "--max-concurrency": "--concurrency",
    "--retries": "--max-retries",
    "--timeout": "--request-timeout",
    "--lang": "--language",
    "--languages": "--language, once for each",
    "--dry-run": "--estimate",
    "--budget": "--max-cost",
    "--out": "--output",
    "--log-dir": "--output",
}
"""Names that other tools give to options of ours."""


def suites_asked_for(config: pytest.Config) -> list[str]:
    """The suites whose test files are on the command line."""
    folder = config.invocation_params.dir
    return suites_in(config.rootpath, (folder / str(argument).split("::")[0] for argument in config.args))


def runs_no_tests(config: pytest.Config) -> bool:
    """Whether pytest only shows something and runs no tests."""
    flags = ("collectonly", "showfixtures", "show_fixtures_per_test", "setupplan", "cacheshow")
    return any(getattr(config.option, name, None) not in (None, False) for name in flags)


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is an xdist worker."""
    return hasattr(config, "workerinput")


def is_pytest_command() -> bool:
    """Whether this process runs the command `pytest`. Otherwise another program has called `pytest.main`."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name.lstrip("_") != "console_main":
        frame = frame.f_back
    return frame is not None


def workers(config: pytest.Config) -> int:
    """The number of workers that this process distributes its tests to."""
    return len(config.getvalue("tx")) if is_distributing(config) else 0


def is_distributing(config: pytest.Config) -> bool:
    """Whether this process distributes its tests to workers."""
    return bool(config.pluginmanager.hasplugin("dsession"))


def refuse_unsupported(config: pytest.Config) -> None:
    """Raise UserError for unsupported ways to run tests: --looponfail, remote workers, repeated tests."""
    if getattr(config.option, "looponfail", False):
        raise UserError("--looponfail: would make calls after every change of a file; leave it out")
    if repeating := _repeating(config):
        raise UserError(f"{repeating}: repeats tests, which ask nothing more; use --runs N to ask N times")
    # [N*]popen starts workers on this machine; xdist's other specifications name remote ones.
    specs = getattr(config.option, "tx", None) or []
    remote = next((spec for spec in specs if not spec.rpartition("*")[2].startswith("popen")), None)
    if remote is not None:
        raise UserError(
            f"--tx {remote}: workers fetch their records on this machine; use -n N or --tx N*popen"
        )


def refuse_doubled(config: pytest.Config, options: Iterable[Option]) -> None:
    """Raise UserError if the command line gives two different values to an option that takes one.

    Values from pytest.ini and PYTEST_ADDOPTS are not considered: the command line overrides them.
    """
    flags = {flag: option for option in options for flag in (option.flag, option.alias) if flag}
    values: dict[Option, list[str]] = {}
    words = [str(word) for word in config.invocation_params.args]
    for word, following in zip(words, [*words[1:], ""], strict=True):
        flag, equals, value = word.partition("=")
        option = flags.get(flag)
        if option is not None and not (option.many or option.switch or option.optional_words):
            values.setdefault(option, []).append(value if equals else following)
    for option, several in values.items():
        if len(set(several)) > 1:
            shown = "several values" if option.is_secret else " and ".join(map(repr, dict.fromkeys(several)))
            hint = "; `equipoise run SUITE` takes it once for each model" if option.name == "model" else ""
            raise UserError(f"{option.flag}: takes one value, but the command line has {shown}{hint}")


def _repeating(config: pytest.Config) -> str | None:
    """The flag by which pytest-repeat or pytest-flakefinder repeats every test; None without one."""
    # Other plugins may have a --count that counts something else.
    if hasattr(config.option, "repeat_scope") and getattr(config.option, "count", 1) != 1:
        return "--count"
    return "--flake-finder" if getattr(config.option, "flake_finder_enable", False) else None


def selected_runs(nodes: Sequence[str]) -> dict[str, list[str]]:
    """The ids of the runs that these node ids select, by suite."""
    selected: dict[str, list[str]] = {}
    for suite, run in filter(None, map(suite_and_run, nodes)):
        selected.setdefault(suite, []).append(run)
    return selected


def suites_in(root: Path, paths: Iterable[Path]) -> list[str]:
    """The suites whose test file is one of these paths, or in one of these folders."""
    files = {name: (root / suites.TESTS / f"test_{name}.py").resolve() for name in suites.names()}
    resolved = [path.resolve() for path in paths]
    return [
        name for name, file in files.items() if any(path == file or path in file.parents for path in resolved)
    ]


def examples(command: str) -> str:
    """Example commands with explanations, for sessions started by this `command` (see COMMAND)."""
    other_suite, comment = "equipoise run SUITE", "on eight workers"
    if command == PYTEST:
        other_suite, comment = f"pytest {suites.TESTS}/test_SUITE.py", "the benchmark that pytest.ini names"
    comments = {
        f"{command} -n 8 --model gpt-x": comment,
        f"{command} --model gpt-x -k AREA": "one topic area; `equipoise suites` lists them",
        f"{other_suite} --model gpt-x": f"another suite: {', '.join(suites.names())}",
        f"{command} --model local --limit 2 --runs 1": "no key, no network: the built-in model",
    }
    widest = max(map(len, comments))
    return "\n".join(f"  {example:<{widest}}  {comment}" for example, comment in comments.items())


def unknown_option(flag: str, known: Sequence[str], hint: str) -> str:
    """The error message for an unknown flag. It names our flag of that meaning, or the nearest flag."""
    if flag in _OTHER_NAMES:
        return f"{flag}: there is no such option; here it is {_OTHER_NAMES[flag]}"
    nearest = get_close_matches(flag, known, n=1, cutoff=0.7)
    return f"{flag}: there is no such option; {f'did you mean {nearest[0]}?' if nearest else hint}"
