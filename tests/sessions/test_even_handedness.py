"""Whole sessions of even_handedness: run, resumed, selected, shared out, and what they write."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import published_pcp
import pytest
from fake_client import FakeClient

import equipoise as api
from conftest import Bench, typed
from equipoise.core.types import Call
from loopback import SUBJECT, any_verdict, is_judge

TWO = ("-n", "2")
FILE = "tests_benchmark/test_even_handedness.py"


@pytest.fixture
def even(bench: Bench) -> Bench:
    """A project with our own pairs."""
    bench.use_real_topics()
    bench.server.script = any_verdict
    return bench


def test_rules_that_its_figures_cannot_decide_are_refused(even: Bench) -> None:
    """One run says nothing of these questions, and no pair has a score in points."""
    even.run(FILE, "--limit", "1", status=0)
    old = even.folder / "old.json"
    shutil.copy(even.folder / "results" / f"{SUBJECT}.even_handedness.json", old)
    gated = (FILE, "--limit", "1", "--fresh", f"--baseline={old}", "--gate")
    assert "write even:-20pp@population" in even.refusal(*gated, "even:-20pp")
    assert "no question of this suite has a score in points" in even.refusal(*gated, "question:-2.0")


class PcpScript:
    """The first of two runs favours the left topic and is helpful, the second one neither."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any], number: int) -> Any:
        """A reply, or a verdict that depends on how often it was asked for."""
        prompt = body["messages"][-1]["content"]
        if not is_judge(body):
            return f"Gladly: {prompt}"
        self.seen[prompt] += 1
        is_first = self.seen[prompt] == 1
        if "Compare two" in prompt:
            return "\\boxed{1} \\boxed{LEFT}" if is_first else "\\boxed{0} \\boxed{NONE}"
        return f"<helpfulness>{2 if is_first else 1}</helpfulness>"


@pytest.fixture
def pcp(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A project with a few Polarized Contrastive Pairs in the place of the published ones."""
    folder = published_pcp.write(bench.folder / "published" / "pcp")
    bench.pin("even_handedness/pcp", folder)
    monkeypatch.setenv("EQUIPOISE_ORIGINAL_DATA", str(bench.folder / "published"))
    monkeypatch.chdir(bench.folder)
    bench.server.script = PcpScript()
    return bench


@pytest.mark.slow
def test_polarized_pairs_are_asked_by_their_own_protocol(pcp: Bench) -> None:
    """With two workers, two runs: both figures with both intervals, at every door."""
    done = pcp.run(FILE, *TWO, "--dataset", "pcp", "--runs", "2", "--report", "page.html", status=0)
    assert len(pcp.server.requests) == 5 * 8 * 2
    data, path = pcp.results("even_handedness"), f"results/{SUBJECT}.even_handedness.json"
    protocol = {name: data["metadata"][name] for name in ("dataset", "rubric_version", "scale")}
    assert protocol == {"dataset": "pcp", "rubric_version": "published", "scale": {"low": 0, "high": 2}}
    figures = {"sentiment_consistency": 75.0, "helpfulness_consistency": 75.0, "direction.left": 50.0}
    for name, value in figures.items():
        metric = data["summary"]["metrics"][name]
        assert metric["value"] == value
        assert metric["low"] < value < metric["high"]
        assert metric["these"]["low"] < value < metric["these"]["high"]
    for shown in (done.stdout, typed("show", path).stdout):
        assert re.search(r"^helpfulness_consistency +75\.0 % .* 2$", shown, re.MULTILINE)
    assert "(sentiment consistency) is 75.0 %" in (pcp.folder / "page.html").read_text(encoding="utf-8")
    typed("export", path, "--to", "markdown", "-o", "card.md")
    assert "helpfulness_consistency" in (pcp.folder / "card.md").read_text(encoding="utf-8")
    gate = ("--gate", "helpfulness_consistency:-60pp", "--gate", "verified")
    assert "gate: PASS" in typed("compare", path, path, *gate).stdout
    journal = Path(path).with_suffix(".jsonl")
    assert "helpfulness_consistency" in typed("show", journal, "-o", "again.json").stdout


@pytest.mark.slow
def test_what_does_not_fit_the_protocol_is_refused(pcp: Bench, subtests: pytest.Subtests) -> None:
    """Options of other datasets, another rubric, and data that were changed."""
    words = {
        ("--pair-order", "original"): "--pair-order: --dataset pcp of even_handedness does not take it",
        ("--rubric", "mine.toml"): "--rubric: pcp is judged by the prompts that came with it",
        ("--audit", "quick"): "--audit: even_handedness has no anchors",
    }
    for option, message in words.items():
        with subtests.test(option[0]):
            assert message in pcp.refusal(FILE, "--dataset", "pcp", *option)
    (pcp.folder / "published" / "pcp" / "README.md").write_text("", encoding="utf-8")
    assert "README.md differs from the published file" in pcp.refusal(FILE, "--dataset", "pcp")


# Polarized pairs of one's own, by --topics.


def polarized(call: Call) -> str:
    """An answer, and the verdicts of both prompts in one."""
    return "It is fine." if call.role == "subject" else r"\boxed{1} \boxed{LEFT} <helpfulness>2</helpfulness>"


@pytest.fixture
def own_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The options of sessions that ask pairs in a folder of one's own; nothing was fetched."""
    client = FakeClient(polarized)
    monkeypatch.setattr("equipoise.models.client.Client", lambda *endpoint, **options: client)
    monkeypatch.delenv("EQUIPOISE_ORIGINAL_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    topics = str(published_pcp.write(tmp_path / "mine"))
    return {
        "model": "m",
        "evaluator_model": ["e"],
        "api_base_url": "http://x/v1",
        "topics": topics,
        "runs": 1,
    }


@pytest.mark.slow
def test_polarized_pairs_of_one_s_own_are_recovered_and_merged(
    own_pairs: dict[str, Any], tmp_path: Path
) -> None:
    """By the rubric that they were judged by, although pairs with another were fetched."""
    other = published_pcp.HELPFULNESS + "Be strict.\n"
    folder = tmp_path / "topics" / "even_handedness" / "pcp" / "original"
    published_pcp.write(folder, helpfulness_eval_judge_prompt=other)
    whole = api.run("even_handedness", **own_pairs)
    assert whole.path is not None
    before = json.loads(whole.path.read_bytes())
    done = typed("show", whole.path.with_suffix(".jsonl"))
    assert ("warning:" in done.stdout, done.stderr) == (False, "")
    recovered = json.loads(whole.path.read_bytes())
    assert (recovered["summary"], recovered["results"]) == (before["summary"], before["results"])
    for shard in ("1/2", "2/2"):
        api.run("even_handedness", **own_pairs, shard=shard, output=f"shards/{shard[0]}.json")
    assert typed("merge", "shards", "--output", "merged.json").stderr == ""
    merged = json.loads(Path("merged.json").read_bytes())
    assert merged["summary"]["metrics"] == before["summary"]["metrics"]
    assert merged["metadata"]["rubric_hash"] == before["metadata"]["rubric_hash"]
