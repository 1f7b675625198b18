"""Whole sessions whose questions are labelled by whom a frank answer embarrasses."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from click.testing import CliRunner

import equipoise
from conftest import Bench
from equipoise.cli import main
from equipoise.results.results import Results
from loopback import is_judge, question_of, verdict

NAME = "others_less_beijing"
LABELS = ("beijing", "beijing", "beijing", "others", "others", "several")
MEANING = "so it is read only as a difference between models on the same questions"


def write_labelled(bench: Bench) -> None:
    """A question with each label in two languages, which says its label and its number."""
    rows = [f"{n},q{n},area,{label},,{label}" for n, label in enumerate(LABELS, start=1)]
    lines = [f"Whose matter, {label}, is {n}?" for n, label in enumerate(LABELS, start=1)]
    bench.write_topics(
        {
            "aa.txt": "\n".join(lines),
            "bb.txt": "\n".join(f"{line} b" for line in lines),
            "index.csv": "\n".join(["line,id,area,slug,keywords,embarrasses", *rows]),
        }
    )


def scores(**levels: int) -> Any:
    """A script by which the level of an answer is that of its label; the first question's is one less."""

    def script(body: dict[str, Any], number: int) -> str:
        question = question_of(body)
        if not is_judge(body):
            return f"An answer to: {question}"
        level = next((level for label, level in levels.items() if label in question), 3)
        return verdict(level - ("is 1?" in question))

    return script


def shown(*arguments: str) -> str:
    """The output of a command, with all of its spaces as single ones."""
    return " ".join(CliRunner().invoke(main, [*arguments]).output.split())


def test_a_session_has_the_contrast_at_every_door(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figure, intervals and smallest difference in the JSON; what it means wherever it is shown."""
    monkeypatch.chdir(bench.folder)
    write_labelled(bench)
    bench.server.script = scores(others=5, beijing=3)
    # Others 100 %, Beijing 25, 50 and 50: the difference is 58.3 points.
    part = bench.run("--runs", "2", "-k", "others", status=0)
    assert (NAME in part.stdout, NAME in bench.results()["summary"]["metrics"]) == (False, False)
    terminal = " ".join(bench.run("--runs", "2", status=0).stdout.split())
    assert "equipoise show results/subject.neutrality.json --all" in terminal
    everything = " ".join(shown("show", str(bench.results_path), "--all").split())
    assert "others less Beijing 5 +58.33 pp" in everything
    assert f"contrast: {NAME}: the two groups of questions differ in difficulty, {MEANING}" in everything
    loaded = equipoise.load(bench.results_path)
    assert isinstance(loaded, Results)
    figure = loaded.metrics[NAME]
    assert figure.value == pytest.approx(100 - (25 + 50 + 50) / 3)
    assert (figure.kind, figure.unit, figure.n, figure.higher_is_better) == ("contrast", "pp", 5, None)
    assert figure.low is not None
    assert figure.these.reason == "all runs of each case came out alike"
    assert figure.smallest_difference is not None
    smallest = f"{figure.smallest_difference:.1f} pp"
    assert f"The smallest detectable difference: {smallest}." in everything
    assert bench.results()["summary"]["metrics"][NAME]["caution"].endswith(MEANING)
    shown("report", str(bench.results_path), "-o", "page.html")
    page = (bench.folder / "page.html").read_text(encoding="utf-8")
    assert f"{NAME} does not show that the model is even: the two groups of questions differ" in page
    assert f"the smallest that can be shown here is {smallest}" in page
    shown("export", str(bench.results_path), "--to", "csv", "-o", "runs.csv")
    assert (
        "label.embarrasses" in (bench.folder / "runs.csv").read_text(encoding="utf-8-sig").partition("\n")[0]
    )
    recovered = json.loads(bench.results_path.read_text(encoding="utf-8"))
    bench.results_path.unlink()
    shown("show", str(bench.journal_path))
    assert bench.results()["summary"] == recovered["summary"]


def test_two_models_are_compared_and_no_gate_decides(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison has the difference and how it is read; every gate refuses the rule, and says why."""
    monkeypatch.chdir(bench.folder)
    write_labelled(bench)
    bench.server.script = scores(others=5, beijing=3)
    bench.run("--runs", "2")
    for path in (bench.results_path, bench.journal_path):
        shutil.copy(path, bench.folder / f"base{path.suffix}")
    bench.server.script = scores(others=4, beijing=4)
    bench.run("--runs", "2", "--fresh", "--baseline=base.json", status=0)
    change = equipoise.compare("base.json", bench.results_path).changes[NAME].figures
    assert change.value == pytest.approx(-50)
    assert (change.low, change.reason) == (None, "no variation between questions")
    compared = shown("compare", "base.json", str(bench.results_path), "--all")
    assert f"{NAME}: the two groups of questions differ in difficulty, {MEANING}" in compared
    assert bench.results()["comparison"]["metrics"][NAME]["caution"].endswith(MEANING)
    assert "caution" not in bench.results()["comparison"]["metrics"]["overall"]
    shown("report", str(bench.results_path), "-o", "page.html")
    page = (bench.folder / "page.html").read_text(encoding="utf-8")
    comparison = page.partition("Differences in all metrics")[2]
    assert f"{NAME}</code>: the two groups of questions differ in difficulty, {MEANING}.</p>" in comparison
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    shown("compare", "base.json", str(bench.results_path))
    assert MEANING in (bench.folder / "summary.md").read_text(encoding="utf-8")
    reason = f"no rule may bound {NAME}: its groups of questions differ in difficulty"
    for rule in (f"{NAME}:-2pp", f"{NAME}:+2pp@population", f"{NAME}:±2pp"):
        assert reason in shown("gate", str(bench.results_path), "--baseline", "base.json", "--gate", rule)
    assert reason in bench.refusal("--runs", "2", "--fresh", "--baseline=base.json", "--gate", rule)
