"""What the user asks of pytest: which suites, which runs of them, whether anything is to be run at all.

Needs nothing of pytest but the configuration that it is handed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from equipoise.errors import UserError
from equipoise.naming import suite_and_run, suites_in

EXAMPLES = """\
  pytest -n 8 --model gpt-x                       the neutrality benchmark
  pytest --model gpt-x -k hong_kong               one topic area
  pytest tests_benchmark/test_borderlines.py --model gpt-x    another suite
  pytest --model local --limit 2 --runs 1         no key, no network: the built-in model"""


def suites_asked_for(config: Any) -> list[str]:
    """The suites whose files the command line names."""
    folder = config.invocation_params.dir
    return suites_in(config.rootpath, (folder / str(argument).split("::")[0] for argument in config.args))


def only_looks(config: Any) -> bool:
    """Whether pytest was asked to show something and to run nothing."""
    flags = ("collectonly", "showfixtures", "show_fixtures_per_test", "setupplan", "cacheshow")
    return any(getattr(config.option, name, None) not in (None, False) for name in flags)


def is_worker(config: Any) -> bool:
    """Whether this process is one of xdist's workers."""
    return hasattr(config, "workerinput")


def distributes(config: Any) -> bool:
    """Whether this process hands its tests to workers."""
    return bool(config.pluginmanager.hasplugin("dsession"))


def refuse_elsewhere(config: Any) -> None:
    """Raise UserError for ways to run tests that would have to ask in another place or time than this."""
    if getattr(config.option, "looponfail", False):
        raise UserError("--looponfail: would ask again after every change of a file; run pytest without it")
    specs = getattr(config.option, "tx", None) or []
    far = next((spec for spec in specs if not spec.rpartition("*")[2].startswith("popen")), None)
    if far is not None:
        raise UserError(f"--tx {far}: workers fetch their records on this machine; use -n N or --tx N*popen")


def planned(nodes: Sequence[str]) -> dict[str, list[str]]:
    """The runs of each suite among all tests that are left after selection."""
    plan: dict[str, list[str]] = {}
    for suite, run in filter(None, map(suite_and_run, nodes)):
        plan.setdefault(suite, []).append(run)
    return plan
