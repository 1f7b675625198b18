"""Logs that Inspect's own reader opens, in an environment with the extra, which brings many packages."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import sixth_suite
from fake_client import Project, plain
from installed import Environment

import equipoise
from conftest import ROOT
from equipoise.core import json_io
from equipoise.core.errors import CallFailed
from equipoise.core.types import Call, Reply, Usage

pytestmark = pytest.mark.slow
READ = """
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log
(info,) = list_eval_logs("logs")
log = read_eval_log(info)
print(json.dumps({
    "status": log.status, "task": log.eval.task, "model": log.eval.model, "epochs": log.eval.config.epochs,
    "metrics": {n: [m.value, m.metadata] for n, m in log.results.scores[0].metrics.items()},
    "scored": [log.results.scores[0].scored_samples, log.results.scores[0].unscored_samples],
    "usage": {n: [u.input_tokens, u.output_tokens] for n, u in log.stats.model_usage.items()},
    "samples": [{
        "id": s.id, "epoch": s.epoch, "input": s.input, "roles": [m.role for m in s.messages],
        "said": s.output.completion, "by": s.output.model, "score": s.scores and s.scores["neutrality"].value,
        "why": s.scores and s.scores["neutrality"].explanation,
        "stop": s.output.choices and s.output.stop_reason,
        "error": s.error and s.error.message, "area": s.metadata["area"],
    } for s in log.samples],
}))
"""
LARGE = """
import json, sys
from pathlib import Path
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries, write_eval_log
from equipoise.report.export import inspect
from equipoise.results.load import load
(small,) = list_eval_logs("logs")
inspect.MOST_IN_EVAL = 7
path = str(inspect.write(load(Path(sys.argv[1])), Path("large")))
log = read_eval_log(path)
write_eval_log(log, "theirs.json")
assert path.endswith(".json") and len(log.samples) == 8
assert json.loads(Path(path).read_bytes()) == json.loads(Path("theirs.json").read_bytes())
assert log.model_dump() == read_eval_log(small).model_dump()
assert read_eval_log(path, header_only=True).results == log.results
found = {(summary.id, summary.epoch): summary for summary in read_eval_log_sample_summaries(path)}
assert found == {(summary.id, summary.epoch): summary for summary in read_eval_log_sample_summaries(small)}
"""


def script(call: Call) -> CallFailed | Reply | BaseException | str:
    """One question fails, one reply is cut and has half a character, and so has who answered."""
    if call.role == "subject" and "What is one?" in str(call.messages):
        return CallFailed("HTTP 400: Too long.", status=400)
    if call.role == "subject" and "What is two?" in str(call.messages):
        used = Usage(input=7, output=5)
        return Reply(
            text="half \ud83d", reasoning="Hm.", finish_reason="length", usage=used, model="m \ud83d"
        )
    return plain(call)


def test_inspect_opens_its_logs(project: Project, tmp_path: Path) -> None:
    """Messages, scores, metadata and usage are in their places, in logs of few runs and of many."""
    project.write_topics()
    project.client.script = script
    options = {"model": "subject", "evaluator_model": "judge", "api_base_url": "http://x/v1"}
    project.write_topics()
    results = equipoise.run("neutrality", **options, runs=2)
    inspect = Environment(tmp_path / "env", [f"equipoise[inspect] @ {ROOT.as_uri()}"])
    done = inspect.run("equipoise", "export", str(results.path), "--to", "inspect", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    read = inspect.run("python", "-c", READ, folder=tmp_path)
    assert read.returncode == 0, read.stderr
    log = json.loads(read.stdout)
    assert (log["status"], log["task"], log["model"]) == ("success", "equipoise/neutrality", "subject")
    assert (log["epochs"], log["scored"]) == (2, [6, 2])
    overall, precision = log["metrics"]["overall"]
    figure = results.metrics["overall"]
    assert {**precision, "value": overall} == json_io.loads(json_io.dumps(figure))
    samples = {(sample["id"], sample["epoch"]): sample for sample in log["samples"]}
    assert len(samples) == len(log["samples"]) == 8
    failed, cut = samples["aa/q01_one", 1], samples["aa/q02_two", 2]
    assert (failed["score"], failed["error"]) == (None, "HTTP 400: Too long.")
    assert (cut["input"], cut["roles"], cut["said"]) == ("What is two?", ["user", "assistant"], "half ?")
    assert (cut["stop"], cut["area"], cut["error"]) == ("max_tokens", "second_area", None)
    assert cut["by"] == "m ?"
    assert cut["score"] == next(run.score for run in results.rows if run.id == "q02_two")
    assert cut["why"].startswith("judge: {")
    assert log["usage"]["subject"] == [2 * 7 + 4 * 100, 2 * 5 + 4 * 20]
    large = inspect.run("python", "-c", LARGE, str(results.path), folder=tmp_path)
    assert large.returncode == 0, large.stderr
    with sixth_suite.project(tmp_path / "own") as own:
        project.client.script = sixth_suite.script
        path = equipoise.run(sixth_suite.SUITE, **options).path
        done = inspect.run("equipoise", "export", str(path), "--to", "inspect", folder=own)
        assert done.returncode == 0, done.stderr
        read = inspect.run("python", "-c", READ.replace("neutrality", sixth_suite.SUITE), folder=own)
        assert read.returncode == 0, read.stderr
        scores = Counter(sample["score"] for sample in json.loads(read.stdout)["samples"])
        assert scores == {4: 2, 2: sixth_suite.CASES - 2}
