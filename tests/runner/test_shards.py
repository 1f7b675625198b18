"""Shards: which questions each one asks, and that what is merged is what one session would have written."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import small_anchors
from asked import DATASET, swayed
from fake_client import Project
from journals import rewrite

import equipoise
from conftest import ROOT, SHIPPED, Bench, resolved, typed
from equipoise.audit.session import SessionAudits
from equipoise.core.errors import CallFailed, UserError
from equipoise.core.types import Call
from equipoise.runner.plan import Plan
from loopback import Answer, Loopback, score_of, verdict

SUITE = "neutrality"
LANGUAGES = ("aa.txt", "bb.txt")
QUESTIONS = 6
SHARDS = 3
JOINED = Path("merged.json")


@pytest.fixture
def six(project: Project) -> Project:
    """A project of six questions in two languages, each with a score of its own."""
    lines = {name: "".join(f"What is {name} {n}?\n" for n in range(QUESTIONS)) for name in LANGUAGES}
    project.write_topics(lines)
    return project


def dealt(project: Project, *, of: int = SHARDS, **options: Any) -> list[bool]:
    """Run every shard; whether each was complete."""
    runs = {"runs": "2", **options}
    return [project.run(shard=f"{number}/{of}", **runs).is_complete for number in range(1, of + 1)]


def shard(number: int, of: int = SHARDS) -> Path:
    """The journal of a shard."""
    return Path("results", "shards", f"subject.{SUITE}.{number}-of-{of}.jsonl")


def merge(*arguments: str, status: int = 0) -> str:
    """What `equipoise merge` says, which ends with this exit status."""
    return typed("merge", "results/shards", "-o", JOINED, *arguments, status=status).output


def refusal(*arguments: str) -> str:
    """The message with which shards are not merged."""
    return typed("merge", "results/shards", "-o", JOINED, *arguments, status=4).stderr


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The figures of results by path, as versions are compared by."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import compare_versions

    return compare_versions


def differences(figures: Any, one: Path, merged: Path) -> list[str]:
    """What differs between the results of one session and those of its shards."""
    sides = [figures.figures(json.loads(path.read_text(encoding="utf-8"))) for path in (one, merged)]
    lines: list[str] = figures.differences(*sides)
    return lines


# Dealing.


FIELDS = {
    "borderlines": "territory",
    "even_handedness": "pair",
    "politicsbench": "scenario",
    "turnabout": "template",
}
"""What the languages, wordings and twins of a suite's cases share, where that is not their `item`."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_every_question_is_in_one_shard(name: str) -> None:
    """In all its languages, wordings and runs; a shard asks in the order of the whole session."""
    plans = [
        Plan(resolved({"model": "m", "shard": text}), ROOT, SessionAudits(ROOT))
        for text in (None, "1/2", "2/2")
    ]
    whole, *parts = (plan.runs(name) for plan in plans)
    for plan, part in zip(plans[1:], parts, strict=True):
        ranks = plan.ranks(name, [run.id for run in part])
        assert [whole[rank].id for rank in ranks] == [run.id for run in part]
        assert ranks == sorted(ranks)
    assert sorted(run.id for part in parts for run in part) == sorted(run.id for run in whole)
    first, second = ({getattr(run.case, FIELDS.get(name, "item")) for run in part} for part in parts)
    assert not first & second


def test_shards_that_cannot_be_are_refused(six: Project) -> None:
    """Before anything is asked, in one line that says why."""
    for text in ("0/3", "4/3", "3", "a/b", "1/0", "-1/3"):
        with pytest.raises(UserError, match="is not a shard such as 3/16"):
            six.run(shard=text)
    with pytest.raises(UserError, match="neutrality has 6 questions, so there can be at most 6 shards"):
        six.run(shard="1/7")
    rules: dict[str, Any] = {"until": "overall:+-1pp", "baseline": "x.json", "gate": ["unscored:1%"]}
    for option, value in rules.items():
        with pytest.raises(UserError, match=f"--{option}: cannot be decided by one shard"):
            six.run(shard="1/3", **{option: value})
    assert six.client.calls == []


# Merging.


def test_merged_shards_are_one_session(six: Project, figures: Any) -> None:
    """Every figure, interval, outcome, error and transcript; a later session asks only what failed."""
    six.client.script = _faulty
    six.run(runs="2")
    calls = len(six.client.calls)
    dealt(six)
    assert len(six.client.calls) == 2 * calls
    merge(status=1)
    assert differences(figures, six.results_path, JOINED) == []
    resumed = six.run(runs="2", output=str(JOINED))
    assert [record.outcome for record in resumed.records].count("error") == 4
    assert len(six.client.calls) == 2 * calls + 4


def _faulty(call: Call) -> str | Exception:
    """A third of the questions is never answered."""
    text = str(call.messages)
    if "aa.txt 3" in text or "bb.txt 4" in text:
        return CallFailed("It is broken.")
    return verdict(score_of(text[-40:])) if call.role == "evaluator" else f"An answer to: {call.messages}"


def test_what_cannot_be_merged_is_named(six: Project, tmp_path: Path) -> None:
    """Missing, doubled, interrupted and other shards, with what to do; nothing is written."""
    dealt(six)
    content = shard(2).rename(tmp_path / "kept.jsonl").read_bytes()
    assert "missing shards: 2/3" in refusal()
    lines = content.splitlines(keepends=True)
    lines.remove(next(line for line in lines if line.startswith(b'{"kind":"record"')))
    shard(2).write_bytes(b"".join(lines))
    message = refusal()
    assert "unfinished shards: 2/3 (1 runs left); " in message
    assert "equipoise run neutrality --model subject --shard 2/3 --output=results/shards/" in message
    shard(2).write_bytes(content)
    shard(2).with_name("copy.jsonl").write_bytes(content)
    assert "the same shard of one result" in refusal()
    shard(2).with_name("copy.jsonl").unlink()
    shard(2).unlink()
    six.run(shard="2/4", runs="2")
    assert "2-of-4.jsonl: is shard 2/4, but " in refusal()
    shard(2, 4).unlink()
    six.run(shard="2/3", runs="3", fresh=True)
    assert "runs is 3, but 2 in " in refusal()
    six.run(model="other", shard="1/3", runs="2")
    assert "--output: is for one result, but there are neutrality (other), neutrality (subject)" in refusal()
    assert not JOINED.exists()
    typed("merge", "topics", status=4)


def test_a_merge_that_was_killed_is_made_again(six: Project) -> None:
    """Before or after its journal was in place: the next one leaves nothing of it, and the same results."""
    dealt(six)
    merge()
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    half_written = JOINED.with_name(f".{JOINED.stem}.jsonl.{process.pid}")
    half_written.write_bytes(b"half")
    JOINED.unlink()
    before = {path.name for path in Path().iterdir()} - {half_written.name} | {JOINED.name}
    merge()
    assert {path.name for path in Path().iterdir()} == before


def test_archived_shards_are_not_merged(six: Project) -> None:
    """A shard that was asked anew stands beside its earlier journal, of which nothing is read."""
    dealt(six)
    six.client.script = lambda call: verdict(1) if call.role == "evaluator" else "Hm."
    assert six.run(shard="2/3", runs="2", fresh=True).is_complete
    assert len([*Path("results/shards/archive").glob("*.jsonl")]) == 1
    merge()
    rows = json.loads(shard(2).with_suffix(".json").read_text())["results"]
    merged = json.loads(JOINED.read_text())["results"]
    anew = {question["id"] for question in rows["aa"]["questions"]}
    again = [item for item in merged["aa"]["questions"] if item["id"] in anew]
    assert [run["score"] for item in again for run in item["runs"]] == [1] * 4


def test_two_shards_in_one_file_are_refused(six: Project) -> None:
    """Behind each other, as `cat` joins them: neither is lost, and no count is below 0."""
    dealt(six)
    shard(1).write_bytes(shard(1).read_bytes() + shard(2).read_bytes())
    assert "is several journals in one file, those of 1/3 and 2/3; give each its own file" in refusal()
    assert not JOINED.exists()


def test_damaged_lines_of_a_shard_are_told(six: Project) -> None:
    """They are left out of what is merged, with the shard that has them."""
    dealt(six)
    lines = shard(2).read_bytes().splitlines(keepends=True)
    shard(2).write_bytes(b"".join([*lines[:-1], b"{broken\n", lines[-1]]))
    assert "2-of-3.jsonl: damaged lines skipped: 1 (" in merge()


def test_results_that_a_session_added_to_are_not_replaced(six: Project) -> None:
    """Merging again replaces what was merged, but nothing that was asked since."""
    six.client.script = _faulty
    dealt(six)
    merge(status=1)
    merge(status=1)
    six.run(runs="2", output=str(JOINED))
    assert "a session has added runs to these results" in refusal()


@pytest.mark.slow
def test_the_merge_has_the_comparison_and_the_gate(six: Project) -> None:
    """As a session has them, with its exit statuses; a rule that cannot be decided is refused."""
    six.run(runs="2")
    dealt(six)
    base = f"--baseline={six.results_path}"
    assert "gate PASS: overall:-2pp" in merge(base, "--gate", "overall:-2pp", "--gate", "verified")
    assert json.loads(JOINED.read_text())["gate"]["verdict"] == "pass"
    assert "compared with what?" in refusal("--gate", "overall:-2pp")
    assert "has no metric 'x'" in refusal(base, "--gate", "x:-2pp")
    assert "has no audit of judge" in refusal("--gate", "audit.lean:+-5pp")
    six.client.script = lambda call: verdict(1) if call.role == "evaluator" else "Hm."
    dealt(six, fresh=True)
    merge(base, "--gate", "overall:-2pp", status=7)


def test_a_job_summary_names_each_merged_model(
    six: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `equipoise gate` does: two models are two releases, and have headings of their own."""
    for model in ("one", "other"):
        dealt(six, of=2, model=model)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    typed("merge", "results/shards", "--gate", "unscored:1%")
    headings = [line for line in (tmp_path / "summary.md").read_text().splitlines() if line.startswith("#")]
    assert headings == [f"## Equipoise: {model}: {SUITE}" for model in ("one", "other")]


def test_one_merged_result_that_lacks_scores_decides_the_status(six: Project) -> None:
    """Whatever the other models' results have; a merged session began when its first shard did."""
    dealt(six, of=2, model="one")
    six.client.script = _faulty
    dealt(six, of=2, model="other")
    rewrite(Path("results", "shards", f"one.{SUITE}.2-of-2.jsonl"), b'"started":"20', b'"started":"19')
    typed("merge", "results/shards", status=1)
    metadata = json.loads(Path("results", f"one.{SUITE}.json").read_text())["metadata"]
    assert metadata["started"].startswith("19")


@pytest.mark.parametrize("options", [{"audit": "quick"}, {"asker": "mirror"}], ids=str)
def test_merged_shards_have_the_audit_and_those_who_ask(
    project: Project, figures: Any, options: dict[str, Any]
) -> None:
    """Anchors are judged in one shard, and each asking is in one, as one session had them."""
    project.write_topics(DATASET)
    small_anchors.write(project.root)
    project.client.script = lambda call: small_anchors.sound(call.messages, lambda: swayed(call))
    project.run(runs="2", **options)
    calls = len(project.client.calls)
    dealt(project, of=2, **options)
    assert len(project.client.calls) == 2 * calls
    merge()
    assert differences(figures, project.results_path, JOINED) == []


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """An endpoint with faults, whose replies depend on nothing but what they are about."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from scripted import answer

    def script(body: dict[str, Any], number: int) -> Answer:
        status, reply = answer(body, recovers=False)
        # Else two like answers on one connection would be asked once more.
        return Answer({**reply, "id": f"x-{number}"}, status)

    with Loopback(script) as server:
        yield server


MORE: dict[str, dict[str, Any]] = {
    "chinese_simpleqa": {"limit": 20, "runs": 2},
    "neutrality": {"limit": 16, "runs": 2},
    "politicsbench": {"limit": 16, "language": "en-US"},
}


@pytest.mark.slow
@pytest.mark.parametrize("suite", SHIPPED)
def test_shards_are_one_session_in_every_suite(
    suite: str, scripted: Loopback, figures: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five, or as many as there are questions, with a panel and every way in which runs end."""
    monkeypatch.chdir(tmp_path)
    options: dict[str, Any] = {
        **{"model": "subject", "evaluator_model": ["judge-a", "judge-b"], "api_base_url": scripted.url},
        **MORE.get(suite, {"limit": 16}),
    }
    whole = equipoise.run(suite, **options)
    shards = min(5, len({row.question.cluster for row in whole.rows}))
    for number in range(1, shards + 1):
        equipoise.run(suite, shard=f"{number}/{shards}", **options)
    merge(status=int(any(row.score is None for row in whole.rows)))
    differing = differences(figures, tmp_path / "results" / f"subject.{suite}.json", JOINED)
    # No shard knows of the questions that --limit has left out.
    assert [name for name in differing if "/selection/deselected" not in name] == []


@pytest.mark.slow
def test_killed_shards_go_on(bench: Bench, figures: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four shards that are killed at random moments ask again at most what was in flight."""
    monkeypatch.chdir(bench.folder)
    bench.write_topics({name: "".join(f"What is {name} {n}?\n" for n in range(8)) for name in LANGUAGES})
    bench.run("--concurrency", "4", status=0)
    requests = len(bench.server.requests)
    bench.server.delay = 0.05
    moments = random.Random(1)  # noqa: S311 - not a secret
    for number in range(1, 5):
        part = ("--shard", f"{number}/4", "--concurrency", "4")
        until = len(bench.server.requests) + moments.randrange(5, requests // 4)
        process = bench.start(*part)
        while len(bench.server.requests) < until and process.poll() is None:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
        bench.run(*part, status=0)
    assert len(bench.server.requests) <= 2 * requests + 4 * 4
    merge()
    differing = differences(figures, bench.results_path, JOINED)
    assert [line for line in differing if "/metadata/calls/" not in line] == []


# Schedulers.

EXAMPLES = ROOT / "examples" / "shards"


@pytest.mark.slow
def test_the_examples_for_schedulers_are_joined(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command, with the variables that its scheduler sets, asks one shard; merged they are complete."""
    programs = Path(sys.executable).parent
    for name, value in {
        **{"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "MODEL": "subject"},
        **{"EQUIPOISE_API_BASE_URL": bench.server.url, "EQUIPOISE_EVALUATOR_MODEL": "judge"},
        **{"SLURM_SUBMIT_DIR": str(bench.folder)},
    }.items():
        monkeypatch.setenv(name, value)
    for script, variable, first in (
        ((EXAMPLES / "slurm.sh").read_text(), "SLURM_ARRAY_TASK_ID", 1),
        (_command("kubernetes.yaml", "- equipoise run"), "JOB_COMPLETION_INDEX", 0),
    ):
        for number in range(2):
            monkeypatch.setenv(variable, str(first + number))
            # The project here has two questions.
            _shell(script.replace("/16", "/2"), bench.folder)
        assert _shell("equipoise merge results/shards", bench.folder).endswith("(complete)\n")
        shutil.rmtree(bench.folder / "results" / "shards")
    monkeypatch.setenv("EQUIPOISE_SHARD", "1/2")
    _shell(_command("github.yml", "run: .venv/bin/pytest").replace("run: .venv/bin/", ""), bench.folder)
    assert (bench.folder / "results/shards/subject.neutrality.1-of-2.json").exists()


def _command(file: str, start: str) -> str:
    """The command in an example that begins so."""
    lines = [line.strip() for line in (EXAMPLES / file).read_text().splitlines()]
    return next(line for line in lines if line.startswith(start)).removeprefix("- ")


def _shell(script: str, folder: Path) -> str:
    command = ["bash", "-c", script]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
