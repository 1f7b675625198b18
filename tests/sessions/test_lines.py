"""The lines that users type, without and with workers: ids, metadata, exit statuses, keys of results.

`tests/golden/lines` keeps what they give. EQUIPOISE_UPDATE_GOLDEN=1 writes its files anew, if all of these
tests run one by one: whatever changes there, changes for everyone who has such a line in a script.
"""

from __future__ import annotations

import json
import lzma
import os
import shutil
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, SHIPPED, Bench
from equipoise import suites
from equipoise.suites import politicsbench
from fates import Fates, write_dataset
from loopback import SUBJECT, Answer, Script, any_verdict, completion, error, is_judge, question_of, verdict

Workers = tuple[str, str]

GOLDEN = ROOT / "tests" / "golden" / "lines"
UNSTABLE = ("metadata.limits.moves[", "metadata.package_versions.")
"""Keys that depend on how busy the machine is, and on what is installed."""
TIMES = {"call_latency", "queue_time"}
AREA = "hong_kong"


def refuse_changed(name: str, lines: Sequence[str]) -> None:
    """Raise AssertionError that shows where lines are not those of a golden file."""
    path = GOLDEN / name
    if os.environ.get("EQUIPOISE_UPDATE_GOLDEN"):
        content = "".join(f"{line}\n" for line in lines).encode()
        path.write_bytes(lzma.compress(content) if path.suffix == ".xz" else content)
    refuse_others(kept(name), lines)


def refuse_others(wanted: Sequence[str], lines: Sequence[str]) -> None:
    """Raise AssertionError that shows the first differences."""
    changed = unified_diff(wanted, lines, "kept", "now", lineterm="", n=0)
    assert wanted == lines, "\n".join(islice(changed, 40))


def kept(name: str) -> list[str]:
    """The lines of a golden file."""
    content = (GOLDEN / name).read_bytes()
    return (lzma.decompress(content) if name.endswith(".xz") else content).decode().splitlines()


def key_paths(data: Any, left_out: tuple[str, ...] = ()) -> list[str]:
    """The path of each key, sorted; a `?` marks one that some of the objects there lack.

    The items of a list are alike (`[]`), and so are the values of an object of objects (`*`), such as metrics
    by their names. Paths that begin with one of `left_out` are left out.
    """
    objects = Counter[str]()
    present = Counter[tuple[str, str]]()
    for path, value in _objects(data, ""):
        objects[path] += 1
        present.update((path, key) for key in value)
    lines = (
        f"{path}.{key}".lstrip(".") + ("?" if count < objects[path] else "")
        for (path, key), count in present.items()
    )
    return sorted(line for line in lines if not line.startswith(left_out))


def _objects(value: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All objects with their paths, those inside others, too."""
    if isinstance(value, list):
        for item in value:
            yield from _objects(item, f"{path}[]")
    elif isinstance(value, dict):
        yield path, value
        is_map = _has_only_objects(value)
        for key, item in value.items():
            yield from _objects(item, f"{path}.{'*' if is_map else key}")


def _has_only_objects(value: Mapping[str, Any]) -> bool:
    present = [item for item in value.values() if item is not None]
    return bool(present) and all(isinstance(item, dict) for item in present)


def ids(cases: Iterable[str]) -> list[str]:
    """The node ids of these cases."""
    return [case.partition(" ")[0] for case in cases]


def collected(bench: Bench, *arguments: str) -> list[str]:
    """The node ids that pytest lists for a line, of which it asks nothing."""
    done = bench.run("--collect-only", "-q", *arguments, status=0)
    assert bench.server.requests == []
    listed = done.stdout.splitlines()
    return listed[: listed.index("")]


def json_cases(folder: Path) -> list[str]:
    """The cases in the file that --json-report writes: id, outcome and metadata, in pytest's order."""
    tests = json.loads((folder / ".report.json").read_text(encoding="utf-8"))["tests"]
    return [f"{test['nodeid']} {test['outcome']} {masked(metadata(test))}" for test in tests]


def metadata(test: Mapping[str, Any]) -> Mapping[str, Any]:
    """The metadata of a run; of a gate's case, which has none, its properties."""
    properties = {name: value for pair in test["user_properties"] for name, value in pair.items()}
    if "[" not in test["nodeid"]:
        assert "metadata" not in test
        return properties
    assert test["metadata"] == properties
    return dict(test["metadata"])


def masked(properties: Mapping[str, Any]) -> str:
    """The properties as JSON, with the type alone of times and sentences."""
    stable = {
        name: kind(value) if name in TIMES or name == "why" else value for name, value in properties.items()
    }
    assert all(float(properties[name]) >= 0 for name in TIMES & properties.keys())
    return json.dumps(stable, ensure_ascii=False)


def kind(value: str | float) -> str:
    """The type of a value in JSON."""
    return "<text>" if isinstance(value, str) else "<number>"


def junit_cases(path: Path) -> Iterator[str]:
    """The cases in a report of JUnit: class, name, how it ended, and properties."""
    (suite,) = ET.parse(path).getroot()
    for case in suite:
        tags = [child.tag for child in case if child.tag != "properties"]
        properties = {str(item.get("name")): item.get("value") for item in case.iter("property")}
        ended = "+".join(tags) or "passed"
        yield f"{case.get('classname')}.{case.get('name')} {ended} {masked(properties)}"


# The benchmark: pytest -n 8 --model X.


@cache
def numbers() -> dict[str, int]:
    """The project's questions by their line in their file, so that no score depends on their wording."""
    files = (ROOT / "topics" / "neutrality").glob("*.txt")
    texts = [path.read_text(encoding="utf-8").splitlines() for path in files]
    return {question: line for lines in texts for line, question in enumerate(lines)}


def by_number(body: dict[str, Any], number: int) -> str:
    """Scores from 1 to 5 in turn; each tenth question is refused."""
    line = numbers()[question_of(body)]
    return verdict(line % 5 + 1, refused=line % 10 == 0) if is_judge(body) else "An answer."


@pytest.fixture
def real(bench: Bench) -> Bench:
    """A project with our own 150 questions."""
    bench.use_real_topics()
    bench.server.script = by_number
    return bench


@pytest.mark.slow
@pytest.mark.parametrize("number", ["0", "8"])
def test_the_benchmark(real: Bench, number: str) -> None:
    """`pytest -n 8 --model X`: 750 cases in order, the metadata of each, and the keys of the results."""
    real.run("-n", number, "--json-report", status=0)
    cases = json_cases(real.folder)
    if number == "0":
        refuse_changed("neutrality.txt", cases)
    refuse_others(sorted(kept("neutrality.txt")), sorted(cases))
    assert len(cases) == 750
    refuse_changed("neutrality.keys.txt", key_paths(real.results(), UNSTABLE))


def test_the_benchmark_is_listed(real: Bench, workers: Workers) -> None:
    """`pytest --model X --collect-only -q`: the 750 ids, in order."""
    refuse_others(ids(kept("neutrality.txt")), collected(real, *workers))


def test_one_area(real: Bench, workers: Workers) -> None:
    """`pytest --model X -k hong_kong`: the cases of this area, as if all were asked."""
    real.run(*workers, "-k", AREA, "--json-report", status=0)
    cases = [case for case in kept("neutrality.txt") if f"-{AREA}-" in case]
    assert len(cases) == 60
    refuse_others(sorted(cases), sorted(json_cases(real.folder)))
    refuse_changed(f"{AREA}.keys.txt", key_paths(real.results(), UNSTABLE))


# All suites: pytest tests_benchmark --model X.


@pytest.mark.slow
def test_all_suites_are_listed(real: Bench) -> None:
    """`pytest tests_benchmark --model X --collect-only -q`: how many ids of each suite, and which."""
    nodes = collected(real, "tests_benchmark", "-n", "2")
    refuse_changed("all_suites.xz", nodes)
    counts = Counter(node.partition("::")[0] for node in nodes)
    refuse_changed("all_suites.txt", [f"{file} {count}" for file, count in counts.items()])
    assert [node for node in nodes if "::test_neutrality[" in node] == ids(kept("neutrality.txt"))


@pytest.mark.slow
def test_all_suites(real: Bench, workers: Workers, subtests: pytest.Subtests) -> None:
    """`pytest tests_benchmark --model X`, an item of each suite, whose panel and temperature are its own."""
    real.server.script = any_verdict
    models = ("--model", SUBJECT, "--api-base-url", real.server.url)
    part = ("--limit", "1", "--runs", "1")
    real.run_plain("tests_benchmark", *models, *part, "--json-report", *workers, status=0)
    refuse_changed("all_suites.cases.txt", sorted(json_cases(real.folder)))
    for name in SHIPPED:
        with subtests.test(name):
            refuse_changed(f"all_suites.{name}.keys.txt", key_paths(real.results(name), UNSTABLE))
            about = real.results(name)["metadata"]
            is_own = name == politicsbench.SUITE.name
            usual = ["mistral-large-2512"] if suites.load(name).judging.form else []
            panel = [*politicsbench.DEFAULTS["evaluator_model"]] if is_own else usual
            assert (about["status"], about["evaluator_models"]) == ("complete", panel)
            assert about["subject_sampling"]["temperature"] == (0.7 if is_own else 1)
    sent = {(body["model"], body.get("temperature")) for body in real.server.requests}
    assert {temperature for model, temperature in sent if model == SUBJECT} == {0.5, 0.7, 1.0}


# Reports of tests: --json-report and --junitxml.


@pytest.fixture
def every_outcome(bench: Bench) -> Bench:
    """A project with a question for each way in which a run ends."""
    outcomes = ("scored", "refused", "blocked", "truncated", "empty", "unscored", "error")
    write_dataset(bench, [f"What is {outcome}?" for outcome in outcomes])
    answers = {
        "blocked": error(400, "The response was filtered.", code="content_filter"),
        "truncated": Answer(completion("An answer that", finish_reason="length")),
        "empty": Answer(completion("")),
        "error": error(400, "Too long."),
    }
    verdicts = {"refused": verdict(1, refused=True), "unscored": "No verdict."}
    bench.server.script = Fates(
        {f"What is {name}?": [answer] * 9 for name, answer in answers.items()},
        {f"What is {name}?": [text] * 9 for name, text in verdicts.items()},
    )
    return bench


ONCE = ("--runs", "1", "--evaluator-attempts", "1")


def test_reports_of_tests(every_outcome: Bench, workers: Workers) -> None:
    """`--json-report` and `--junitxml FILE`: exit status 1, and each way in which a run ends in both."""
    every_outcome.run(*workers, *ONCE, "--json-report", "--junitxml", "junit.xml", status=1)
    refuse_changed("json_report.txt", sorted(json_cases(every_outcome.folder)))
    refuse_changed("junit.txt", sorted(junit_cases(every_outcome.folder / "junit.xml")))
    refuse_changed("every_outcome.keys.txt", key_paths(every_outcome.results(), UNSTABLE))


# Releases: --baseline OLD --gate RULE.

RELEASES = {
    "pass": (0, "overall:-2pp", lambda number: 4),
    "fail": (7, "overall:-2pp", lambda number: 2),
    "inconclusive": (6, "overall:-2pp@population", lambda number: 1 + 4 * (number % 2)),
}
"""The exit status, the rule, and the score of a question by its number, where each had a 4 before."""


def scoring(score: Callable[[int], int]) -> Script:
    """The script in which the scores of questions depend on their numbers."""
    return lambda body, _: verdict(score(int(question_of(body)[-2]))) if is_judge(body) else "An answer."


@pytest.mark.parametrize(
    ("name", "workers"),
    [
        ("fail", "0"),
        pytest.param("pass", "2", marks=pytest.mark.slow),
        pytest.param("inconclusive", "2", marks=pytest.mark.slow),
    ],
)
def test_a_gated_release(bench: Bench, name: str, workers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--baseline OLD --gate RULE`: exit status, cases, keys of the comparison and the gate, job summary."""
    status, rule, score = RELEASES[name]
    write_dataset(bench, [f"What is item {number}?" for number in range(8)])
    bench.server.script = scoring(lambda number: 4)
    bench.run("--runs", "2", status=0)
    shutil.copy(bench.results_path, bench.folder / "old.json")
    bench.server.script = scoring(score)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(bench.folder / "summary.md"))
    gated = ("--baseline", "old.json", "--gate", rule, "--json-report", "--junitxml=junit.xml")
    done = bench.run("-n", workers, "--runs", "2", "--fresh", *gated, status=status)
    cases = [*json_cases(bench.folder), *junit_cases(bench.folder / "junit.xml")]
    keys = [line for line in key_paths(bench.results()) if line.startswith(("comparison", "gate"))]
    refuse_changed(f"gate.{name}.txt", [*(case for case in cases if "[" not in case), *keys])
    assert f"gate {name.upper()}: {rule}" in done.stdout
    assert f" title=neutrality%3A gate {name.upper()}::{rule}: " in done.stdout
    assert "16 passed in" in done.stdout or f"16 passed, 1 gate {name.upper()} in" in done.stdout
    summary = (bench.folder / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith(f"**Gate: {name.upper()}: ")
    assert bench.results()["comparison"]["baseline"]["file"] == "old.json"


# Exit statuses of lines that end otherwise; those of runs and gates are above.


def test_a_line_that_selects_nothing(bench: Bench, workers: Workers) -> None:
    """`pytest --model X -k WORD` with a word that no case has: 5, with the words that there are."""
    done = bench.run(*workers, "-k", "no_such_area")
    assert (done.returncode, bench.server.requests) == (5, []), done.stdout + done.stderr
    shown = " ".join(done.stdout.split())
    assert "neutrality: nothing was selected; there are the areas first_area, second_area and" in shown
    assert "the languages aa, bb" in shown
