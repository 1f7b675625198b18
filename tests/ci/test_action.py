"""The GitHub Action, whose steps are run as a runner does it, the GitLab template and the pre-commit hook."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
import yaml
from ci_scripts import GATE, script
from forge import Forge, serving

from conftest import ALL_OPTIONS, ROOT, Bench
from fates import Fates
from loopback import JUDGE, SUBJECT, plain_script

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
TEMPLATE = yaml.safe_load((ROOT / ".gitlab" / "equipoise.gitlab-ci.yml").read_text(encoding="utf-8"))
KEY = "sk-a-key-that-nobody-may-see"
OWN = {"suites", "arguments", "results", "time_limit", "name", "extras", "project", "commit"}
"""Variables of the scripts and of the template that are no options of a session."""
EXPRESSION = re.compile(r"\$\{\{ *(.+?) *\}\}")


@pytest.fixture
def forge() -> Iterator[Forge]:
    """A pull request to comment on."""
    with serving() as forge:
        yield forge


# What the files say.


def test_no_input_is_part_of_a_command() -> None:
    """Nor anything else of a context: a title of a pull request could be a command."""
    runs = [step for step in STEPS if "run" in step]
    assert len(runs) == 3
    for step in runs:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        named = re.findall(r'"\$GITHUB_ACTION_PATH/(\.ci/[^"]+)"', step["run"])
        assert [(ROOT / name).is_file() for name in named] == [True]


def test_every_input_is_described_and_used() -> None:
    """No step reads another; what the scripts read are options of a session, or their own."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8").partition("\nruns:\n")[2]
    assert {*re.findall(r"inputs\.([\w-]+)", text)} == {*ACTION["inputs"]}
    assert [name for name, entry in ACTION["inputs"].items() if not entry["description"].endswith(".")] == []
    variables = [name for step in STEPS for name in step.get("env", {}) if name != "GITHUB_TOKEN"]
    options = {option.name for option in ALL_OPTIONS} | OWN
    assert {re.sub("^(INPUT|EQUIPOISE)_", "", name).lower() for name in variables} <= options
    assert {name.removeprefix("EQUIPOISE_").lower() for name in TEMPLATE[".equipoise"]["variables"]} <= OWN


def test_keys_are_no_inputs() -> None:
    """The token of the comment aside, which the comment's step alone gets."""
    assert [name for name in ACTION["inputs"] if re.search("key|secret|password", name)] == []
    assert [step["name"] for step in STEPS if "token" in str(step)] == ["Comment on the pull request"]


def test_other_actions_are_of_github_and_of_a_version() -> None:
    """What is done after a failure is done always."""
    used = {step["uses"]: step.get("if", "") for step in STEPS if "uses" in step}
    assert [name for name in used if not re.fullmatch(r"actions/[\w/-]+@v\d+", name)] == []
    late = [name for name, condition in used.items() if condition.startswith("always()")]
    assert [name.partition("@")[0] for name in late] == ["actions/cache/save", "actions/upload-artifact"]


def test_the_hook_is_a_command_that_there_is() -> None:
    """Run where topics or rubrics change."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *arguments = hook["entry"].split()
    done = subprocess.run(
        [Path(sys.executable).with_name(program), *arguments, "--help"], capture_output=True, check=False
    )
    assert (done.returncode, hook["pass_filenames"]) == (0, False)
    changed = ["topics/neutrality/en-US.txt", "rubric/neutrality.toml", "README.md", "docs/topics/x"]
    assert [bool(re.search(hook["files"], path)) for path in changed] == [True, True, False, False]


def test_examples_set_inputs_that_there_are() -> None:
    """In the page on gates and in the README."""
    for page in ("README.md", "docs/ci.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
        used = [step for step in _dicts(blocks) if str(step.get("uses", "")).startswith("OWNER/equipoise@")]
        assert used, page
        assert {name for step in used for name in step["with"]} <= {*ACTION["inputs"]}


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _dicts(part)


# What the script runs.


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"MODEL": "m"}, "run all --junitxml=results/junit.xml"),
        (
            {"MODEL": "m", "SUITES": "a,b", "ARGUMENTS": "-n 4 -k 'x and $(y)'"},
            "run a,b --junitxml=results/junit.xml -n 4 -k <x and $(y)>",
        ),
        (
            {"RESULTS": "r/a.json r/b", "BASELINE": "base", "GATE": "g.toml,overall:-2pp", "MODEL": "m"},
            "gate r/a.json r/b --gate=g.toml --gate=overall:-2pp --baseline=base --output=results/gate.json "
            "--junitxml=results/junit.xml",
        ),
        ({}, "model: name the model to ask"),
        ({"MODEL": "m", "ARGUMENTS": "--api-key=sk-1"}, "arguments: --api-key would show the key"),
        ({"MODEL": "m", "ARGUMENTS": "-k 'x"}, "arguments: No closing quotation"),
        ({"MODEL": "m", "TIME_LIMIT": "1h"}, "time-limit: '1h' is not a number of minutes"),
        ({"MODEL": "m", "NAME": "a/b"}, "name: 'a/b' may have letters"),
    ],
)
def test_inputs_become_arguments(variables: Mapping[str, str], expected: str) -> None:
    """An argument is one, whatever it contains; what is wrong is said before anything is asked."""
    run = script("run")
    try:
        arguments, _ = run.plan(run.settings({f"INPUT_{name}": value for name, value in variables.items()}))
        line = " ".join(f"<{word}>" if " " in word else word for word in arguments)
    except ValueError as error:
        line = str(error)
    assert line.startswith(expected)


def test_an_input_goes_before_a_variable_and_an_empty_one_does_not() -> None:
    """An input that is left out is an empty text."""
    variables = {"EQUIPOISE_RUNS": "3", "INPUT_RUNS": "", "EQUIPOISE_MODEL": "a", "INPUT_MODEL": "b"}
    settings = script("run").settings(variables)
    assert (settings["EQUIPOISE_RUNS"], settings["EQUIPOISE_MODEL"]) == ("3", "b")


# What the steps do.


class Runner:
    """Runs the steps of the action in a folder as GitHub does, with these inputs and variables."""

    def __init__(self, folder: Path, environment: Mapping[str, str], inputs: Mapping[str, str]) -> None:
        self._folder = folder
        self._files = {name: folder / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        files = {name: str(path) for name, path in self._files.items()}
        self._environment = {**environment, **files, "GITHUB_WORKSPACE": str(folder)}
        outside = {"github.job": "gate", "strategy.job-index": "0", "github.token": "ghs_token"}
        defaults = {name: entry.get("default", "") for name, entry in ACTION["inputs"].items()}
        self._values = {f"inputs.{name}": self._filled(defaults[name], outside) for name in defaults}
        self._values |= {f"inputs.{name}": value for name, value in inputs.items()}
        self.statuses: dict[str, int] = {}
        self.log = ""

    def run(self) -> None:
        """Run all steps but the first, which installs: after a failure those alone that always run."""
        for step in STEPS[1:]:
            condition = step.get("if", "")
            has_failed = any(self.statuses.values()) and not condition.startswith("always()")
            if "run" in step and not has_failed and all(map(self._holds, condition.split(" && "))):
                self._run(step)

    @property
    def outputs(self) -> dict[str, str]:
        """The action's outputs."""
        values = {name: output["value"] for name, output in ACTION["outputs"].items()}
        return {name: self._filled(value, self._values) for name, value in values.items()}

    @property
    def summary(self) -> str:
        """The summary of the job."""
        return self._files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")

    def _run(self, step: Mapping[str, Any]) -> None:
        env = {name: self._filled(value, self._values) for name, value in step["env"].items()}
        folder = self._folder / self._filled(step["working-directory"], self._values)
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            command, cwd=folder, env={**self._environment, **env}, capture_output=True, text=True, check=False
        )
        self.log += done.stdout + done.stderr
        self.statuses[step["name"]] = done.returncode
        if "id" in step:
            lines = self._files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines()
            outputs = dict(line.split("=", 1) for line in lines)
            self._values |= {f"steps.{step['id']}.outputs.{name}": value for name, value in outputs.items()}

    def _filled(self, text: str, values: Mapping[str, str]) -> str:
        return EXPRESSION.sub(lambda match: values[match[1]], text)

    def _holds(self, condition: str) -> bool:
        if condition in ("", "always()"):
            return True
        name, operator, value = condition.split()
        return (self._values.get(name, "") == value.strip("'")) is (operator == "==")


@pytest.fixture
def environment(tmp_path: Path, forge: Forge) -> dict[str, str]:
    """The variables of a job that a pull request has started, with this checkout as the action."""
    action = tmp_path / "action"
    action.mkdir()
    (action / ".ci").symlink_to(ROOT / ".ci")
    (action / ".venv").symlink_to(sys.prefix)
    event = {"pull_request": {"number": 7, "head": {"sha": "0123456789abcdef"}}}
    (tmp_path / "event.json").write_text(json.dumps(event), encoding="utf-8")
    return {
        **{"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OPENAI_API_KEY": KEY},
        **{"GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(action), "GITHUB_API_URL": forge.url},
        **{"GITHUB_REPOSITORY": "o/r", "GITHUB_RUN_ID": "5", "GITHUB_SERVER_URL": "https://forge.example"},
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
    }


def test_a_usage_error_is_told_everywhere(tmp_path: Path, environment: dict[str, str], forge: Forge) -> None:
    """In the outputs, the summary and the comment, which tell nothing of an earlier attempt."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "summary.md").write_text("**Gate: PASS**\n", encoding="utf-8")
    runner = Runner(tmp_path, environment, {})
    runner.run()
    assert runner.statuses == {"Ask, judge, compare": 4, "Comment on the pull request": 0}
    assert runner.log == "ERROR: model: name the model to ask, or in results the results to gate\n"
    assert runner.outputs == {"exit-status": "4", "verdict": "error", "results": "results"}
    assert runner.summary.startswith("## Equipoise: no verdict\n\nExit status 4: usage error")
    marker, source = "<!-- equipoise: equipoise-gate-0 -->", "Commit 0123456789, [job]"
    assert forge.bodies[0].startswith(f"{marker}\n{runner.summary}\n{source}")


@pytest.mark.slow
def test_the_action_fails_where_the_gate_does(
    bench: Bench, environment: dict[str, str], forge: Forge
) -> None:
    """With the gate's exit status; table, page, reports and comment are there all the same."""
    bench.server.script = Fates(judge={"What is one?": repeat("I would rather not say.")})
    inputs = {
        **{"model": SUBJECT, "evaluator-model": JUDGE, "api-base-url": bench.server.url, "runs": "1"},
        **{
            "suites": "neutrality",
            "gate": "unscored:1%",
            "arguments": "--evaluator-attempts 1 -k 'aa or bb'",
        },
    }
    runner = Runner(bench.folder, environment, inputs)
    runner.run()
    assert runner.statuses == {"Ask, judge, compare": 7, "Comment on the pull request": 0}, runner.log
    assert runner.outputs == {"exit-status": "7", "verdict": "fail", "results": "results"}
    assert "::error title=" in runner.log
    assert "unscored:1%" in runner.summary
    (comment,) = forge.bodies
    assert runner.summary in comment
    written = {path.name for path in (bench.folder / "results").iterdir()}
    assert {"junit.xml", "report.html", "summary.md", f"{SUBJECT}.neutrality.json"} <= written
    assert {headers["Authorization"] for headers in bench.server.headers} == {f"Bearer {KEY}"}
    files = [path.read_text(encoding="utf-8") for path in bench.folder.glob("results/*") if path.is_file()]
    assert [text for text in (*files, runner.log, runner.summary, comment) if KEY in text] == []


@pytest.mark.slow
@pytest.mark.parametrize("end", ["cancelled", "time limit"])
def test_a_job_that_ends_early_can_be_resumed(bench: Bench, end: str) -> None:
    """It stops with 2, though an endpoint hangs, and the next attempt repeats no finished call."""
    environment = {
        **{"PATH": os.environ["PATH"], "INPUT_MODEL": SUBJECT, "INPUT_EVALUATOR_MODEL": JUDGE},
        **{"INPUT_API_BASE_URL": bench.server.url, "INPUT_SUITES": "neutrality", "INPUT_RUNS": "1"},
    }
    command = [sys.executable, str(GATE / "run.py")]
    bench.server.script = lambda body, number: _hanging_from(bench, 2, body, number)
    limit = {} if end == "cancelled" else {"INPUT_TIME_LIMIT": "0.2"}
    first = subprocess.Popen(command, cwd=bench.folder, env={**environment, **limit})
    while len(bench.server.requests) < 4 and first.poll() is None:
        time.sleep(0.01)
    if end == "cancelled":
        # As GitHub does it, with 7.5 seconds between.
        first.send_signal(signal.SIGINT)
        time.sleep(1)
        first.send_signal(signal.SIGTERM)
    assert first.wait(120) == 2
    requests = len(bench.server.requests)
    bench.server.script = plain_script
    bench.server.release()
    assert subprocess.run(command, cwd=bench.folder, env=environment, check=False).returncode == 0
    assert bench.results()["metadata"]["status"] == "complete"
    assert len(bench.server.requests) < requests + 8


def _hanging_from(bench: Bench, call: int, body: dict[str, Any], number: int) -> str:
    """The plain answer; from this call on none leaves."""
    if number == call:
        bench.server.hold()
    return plain_script(body, number)


@pytest.mark.slow
def test_the_template_installs_a_clean_clone(bench: Bench, forge: Forge) -> None:
    """Its three scripts, in the order of GitLab: install, ask and gate, write the note."""
    job = TEMPLATE[".equipoise"]
    environment = {
        **{**os.environ, "PYTHONPATH": "", "VIRTUAL_ENV": "", "OPENAI_API_KEY": KEY},
        **{"CI_SERVER_URL": "https://gitlab.example", "CI_JOB_TOKEN": "token"},
        **{"EQUIPOISE_PROJECT": ROOT.as_uri(), "EQUIPOISE_COMMIT": "HEAD", "EQUIPOISE_NAME": "gate"},
        **{"EQUIPOISE_MODEL": SUBJECT, "EQUIPOISE_EVALUATOR_MODEL": JUDGE, "EQUIPOISE_RUNS": "1"},
        **{"EQUIPOISE_API_BASE_URL": bench.server.url, "EQUIPOISE_SUITES": "neutrality"},
        **{"GITLAB_TOKEN": "glpat", "CI_MERGE_REQUEST_IID": "7", "CI_API_V4_URL": forge.url},
        **{"CI_PROJECT_ID": "9", "CI_COMMIT_SHA": "0" * 40, "CI_JOB_URL": "https://gitlab.example/1"},
    }
    shutil.rmtree(bench.folder / "topics")  # The questions are those of the clone.
    for part in ("before_script", "script", "after_script"):
        text = "\n".join(job[part])
        done = subprocess.run(
            ["sh", "-e", "-c", text],
            cwd=bench.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert bench.results()["metadata"]["runs_completed"] == 150
    assert (bench.folder / job["artifacts"]["reports"]["junit"]).exists()
    assert forge.bodies[0].startswith("<!-- equipoise: gate -->\n")
