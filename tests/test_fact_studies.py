"""Two results of chinese_simpleqa: judged again, compared as a study, compared for a release."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from test_fact_sessions import FILE, every_way, grade, results, row_of, simple

from conftest import Bench
from equipoise.cli import main
from loopback import JUDGE, is_judge

__all__ = ["simple"]


def asked(bench: Bench, *options: str) -> Path:
    """The results of a session with these options, under a name of their own."""
    assert bench.run(FILE, *options).returncode == 0
    path = bench.folder / "results" / "subject.chinese_simpleqa.json"
    kept = bench.folder / f"kept{len(list(bench.folder.glob('kept*.json')))}.json"
    path.rename(kept)
    path.with_suffix(".jsonl").rename(kept.with_suffix(".jsonl"))
    return kept


def judged_anew(bench: Bench, *options: str) -> subprocess.CompletedProcess[str]:
    """A session that is told of no subject."""
    endpoint = ("--api-base-url", bench.server.url, "--evaluator-model", JUDGE)
    return bench.run_plain(FILE, *endpoint, *options)


@pytest.fixture
def corpus(simple: Bench) -> Path:
    """A folder with a text."""
    folder = simple.folder / "books"
    folder.mkdir()
    (folder / "a.txt").write_text("茶艺第1问的答案是茶艺之1。", encoding="utf-8")
    return folder


@every_way
def test_replies_to_passages_are_judged_anew(simple: Bench, corpus: Path, workers: tuple[str, str]) -> None:
    """With the same corpus, though it is named again; the subject is asked nothing."""
    first = asked(simple, f"--retrieval={corpus}")
    before = simple.server.count(judge=False)
    done = judged_anew(simple, *workers, f"--rejudge={first}", f"--retrieval={corpus}", "--output=again.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert simple.server.count(judge=False) == before
    again = json.loads((simple.folder / "again.json").read_text(encoding="utf-8"))
    assert again["summary"]["correct"] == json.loads(first.read_text(encoding="utf-8"))["summary"]["correct"]


def test_another_corpus_cannot_be_judged_anew(simple: Bench, corpus: Path) -> None:
    """One line that names the one that it takes; also where none is named."""
    first = asked(simple, f"--retrieval={corpus}")
    done = judged_anew(simple, f"--rejudge={first}")
    assert done.returncode == 4
    assert "--retrieval: the earlier results were asked with books; name the same" in done.stderr
    (corpus / "b.txt").write_text("还有一段。", encoding="utf-8")
    assert judged_anew(simple, f"--rejudge={first}", f"--retrieval={corpus}").returncode == 4


def test_a_study_tells_what_an_option_did(simple: Bench, corpus: Path) -> None:
    """The two differ in that option alone, which is no mismatch then."""
    plain, helped = asked(simple), asked(simple, f"--retrieval={corpus}")
    done = CliRunner().invoke(main, ["compare", str(plain), str(helped)])
    assert done.exit_code == 0, done.output
    assert "effect:    passages given: F +0.00 pp" in done.output
    assert "MISMATCH" not in done.output


def ill_informed(body: dict[str, Any], number: int) -> str:
    """Knows the answers of one topic; those of tea only with its text, or where they are offered."""
    if is_judge(body):
        return grade(body)
    row, text = row_of(body), json.dumps(body["messages"], ensure_ascii=False)
    knows = row["subtopic"] == "chess" or (row["subtopic"] == "tea" and ("A. " in text or "资料：" in text))
    return str(row["answer"]) if knows else "别的"


def test_a_study_measures_what_it_tells(simple: Bench, corpus: Path) -> None:
    """Two of six answers are known, and two more with passages or among options."""
    simple.server.script = ill_informed
    plain, helped = asked(simple), asked(simple, f"--retrieval={corpus}")
    offered = asked(simple, "--answer-format", "choice")

    def told(before: Path, after: Path) -> str:
        done = CliRunner().invoke(main, ["compare", str(before), str(after)])
        assert done.exit_code == 0, done.output
        assert "MISMATCH" not in done.output
        return done.output

    assert "effect:    passages given: F +33.33 pp" in told(plain, helped)
    assert "effect:    passages left out: F -33.33 pp" in told(helped, plain)
    drop = "effect:    from choice to open answers: CO 66.67 % to 33.33 %, a drop of 33.33 pp, 50.0 % of it"
    assert drop in told(plain, offered)
    assert drop in told(offered, plain)


def test_a_release_that_is_asked_in_another_way_is_refused(simple: Bench) -> None:
    """By a gate of `compare`, and by a session with a baseline."""
    plain, other = asked(simple), asked(simple, "--prompt-style", "recall")
    done = CliRunner().invoke(main, ["compare", str(plain), str(other), "--gate", "f:-2pp"])
    assert done.exit_code == 4
    assert "prompt style differs: direct, now recall" in done.output
    session = simple.run(FILE, "--prompt-style", "recall", f"--baseline={plain}", "--gate", "f:-2pp")
    assert session.returncode == 4
    assert "prompt style differs: direct, now recall" in session.stderr


def test_a_gate_takes_the_five_figures(simple: Bench) -> None:
    """A baseline of the same questions, asked in the same way."""
    plain = asked(simple)
    done = simple.run(FILE, f"--baseline={plain}", "--gate", "f:-2pp", "--gate", "incorrect:+5pp")
    assert done.returncode in (0, 6), done.stdout + done.stderr
    assert [rule["rule"] for rule in results(simple)["gate"]["rules"]] == ["f:-2pp", "incorrect:+5pp"]
