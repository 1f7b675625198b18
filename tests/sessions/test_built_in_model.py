"""Whole sessions on the built-in model, for real."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Bench

pytestmark = pytest.mark.slow
TINY = ("--limit", "1", "--runs", "1", "--language", "aa", "--subject-max-tokens", "12")


def servers_of(folder: Path) -> list[str]:
    """The process ids of the built-in servers that sessions in this folder have started."""
    process_ids = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            is_here = (process / "cwd").readlink() == folder
        except OSError:  # it has just ended
            continue
        if b"equipoise.models.local" in words and is_here:
            process_ids.append(process.name)
    return process_ids


def test_a_session_on_the_built_in_model(bench: Bench) -> None:
    """Real replies and real verdicts by schema; no server is left behind, no path gets into the files."""
    local = ("--model", "local", "--evaluator-max-tokens", "400", "--output", "results/out.json")
    bench.run_plain(*local, *TINY, "-n", "2", status=0)
    text = (bench.folder / "results" / "out.json").read_text(encoding="utf-8")
    [run] = json.loads(text)["results"]["aa"]["questions"][0]["runs"]
    assert run["subject_transcript"][-1]["content"]
    assert run["verdicts"][0]["score"] in {1, 2, 3, 4, 5}
    assert ".gguf" not in text
    assert "site-packages" not in text
    assert servers_of(bench.folder) == []


def test_a_file_that_is_no_model_is_a_usage_error(bench: Bench, tmp_path: Path) -> None:
    """One line, exit 4."""
    (tmp_path / "bad.gguf").write_bytes(b"not a model")
    done = bench.run_plain("--model", f"local:{tmp_path / 'bad.gguf'}", *TINY, status=4)
    assert "the built-in server could not load bad.gguf" in done.stderr


def test_judgements_come_from_real_probabilities(bench: Bench) -> None:
    """Of the first token, for a pair of our own; nothing is sampled in their place."""
    bench.use_real_topics()
    options = ("--limit", "1", "--subject-max-tokens", "30", "--subject-temperature", "0")
    done = bench.run_plain("tests_benchmark/test_even_handedness.py", "--model", "local", *options)
    text = (bench.folder / "results" / "local.even_handedness.json").read_text(encoding="utf-8")
    data = json.loads(text)
    assert data["metadata"]["runs_completed"] == data["metadata"]["runs_expected"] > 0, done.stdout
    methods = data["summary"]["methods"]["local"]
    assert (methods["logprobs"], methods["samples"], methods["missing"]) == (6, 0, 0)
    assert 0 < methods["mass"] <= 1
