"""Results held against their journal: edited ones are noticed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from journals import rewrite

from conftest import ROOT, Bench, typed
from loopback import SUBJECT


@pytest.fixture
def pair(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two results files of one session with their journals, in folders of their own."""
    bench.run("--runs", "2", status=0)
    monkeypatch.chdir(bench.folder)
    for name in ("old", "new"):
        shutil.copytree("results", name)
    return Path("old", bench.results_path.name), Path("new", bench.results_path.name)


def compared(*files: Path, status: int) -> str:
    """What `equipoise compare` makes of them, where a gate requires that both are verified."""
    return typed("compare", *files, "--gate", "verified", status=status).output


def test_a_baseline_is_kept_as_the_documentation_says(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its journal, so that a later release can be gated by `verified`."""
    bench.run("--runs", "2", status=0)
    monkeypatch.chdir(bench.folder)
    _, _, behind = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8").partition("## Keep the baseline\n")
    for line in re.findall(r"^(?:mkdir|cp) .*", behind, re.MULTILINE):
        command = line.partition("#")[0].replace("gpt-x-1", SUBJECT)
        subprocess.run(shlex.split(command), check=True)
    shown = compared(Path("baselines", "neutrality.json"), bench.results_path, status=0)
    assert shown.count(", verified against its journal") == 2
    assert "gate PASS: verified" in shown


@pytest.mark.slow
def test_what_was_edited_or_cannot_be_told_is_said(
    pair: tuple[Path, Path], subtests: pytest.Subtests
) -> None:
    """Other scores, another journal, a journal that is damaged, no journal."""
    _, path = pair
    beside = path.with_suffix(".jsonl")
    results, journal = path.read_text(encoding="utf-8"), beside.read_text(encoding="utf-8")
    data = json.loads(results)
    for run in data["results"]["aa"]["questions"][0]["runs"]:
        run["score"] = 6 - run["score"]
    headline = json.loads(results)
    headline["summary"]["overall_average_score"] = 5.0
    shorter = json.loads(results)
    del shorter["results"]["aa"]
    less = "".join(line for line in journal.splitlines(keepends=True) if '"kind":"record"' not in line)
    old = journal.replace('"format":', '"format":9', 1)
    for name, content, journal_text, why in (
        ("edited", json.dumps(data), journal, "it does not say what its journal says"),
        ("another headline", json.dumps(headline), journal, "it does not say what its journal says"),
        ("a language less", json.dumps(shorter), journal, "it does not say what its journal says"),
        ("of another journal", results, less, "it was not made of the verdicts in its journal"),
        ("of another version", results, old, "its journal is of another version"),
        ("without", results, None, "its journal is not next to it"),
    ):
        path.write_text(content, encoding="utf-8")
        beside.unlink(missing_ok=True)
        if journal_text is not None:
            beside.write_text(journal_text, encoding="utf-8")
        with subtests.test(name):
            shown = compared(*pair, status=7)
            assert why in shown
            assert "gate FAIL: verified" in shown


@pytest.mark.slow
def test_scores_that_the_calls_contradict_are_not_verified(pair: tuple[Path, Path], bench: Bench) -> None:
    """Also where results were built again from such a journal, with the right checksums, or a session was."""
    _, path = pair
    beside = path.with_suffix(".jsonl")
    score = re.compile(rb'"outcome":"scored","score":(\d)\.0')
    first = score.search(beside.read_bytes())
    assert first is not None
    other = b'"outcome":"scored","score":%d.0' % (5 if first[1] == b"1" else 1)
    rewrite(beside, first[0], other)
    typed("show", beside)
    assert "runs are not what the calls in its journal come to, such as " in compared(*pair, status=7)
    shutil.copy(beside, bench.journal_path)
    done = bench.run("--runs", "2", f"--baseline={pair[0]}", "--gate", "verified", status=7)
    assert "gate FAIL: verified" in done.stdout
