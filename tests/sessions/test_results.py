"""The results JSON of a whole session against a golden file."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from conftest import ROOT, Bench
from loopback import Answer, completion, error, is_judge, question_of, verdict

GOLDEN = ROOT / "tests" / "golden" / "neutrality.json"
VOLATILE = {"started", "finished", "git_commit", "git_dirty", "python_version", "package_versions", "latency"}
VOLATILE |= {"endpoints", "equipoise_version", "highest", "lowest", "last"}
PLACES = {"first_run": "RUN", "first_call": 1, "last_call": 1}
"""What depends on the order in which calls end, with what stands for it."""


def script(body: dict[str, Any], number: int) -> Any:
    """One question is scored, one refused, one blocked, one never gets a valid verdict."""
    question = question_of(body)
    if is_judge(body):
        answers = {"What is two?": verdict(1, refused=True), "O que é um?": "No verdict."}
        return answers.get(question, verdict(4))
    if question == "O que é dois?":
        return error(400, "The response was filtered.", code="content_filter")
    message = {"reasoning_content": "Let me think."}
    return Answer(completion(f"About: {question}", message=message))


def masked(name: str, value: Any) -> Any:
    """A mask of a volatile value; the endpoints, which `equipoise show` looks at, have one for each role."""
    return dict.fromkeys(value, "*") if name == "endpoints" else "*"


def stable(value: Any) -> Any:
    """The data with everything masked that differs from run to run."""
    if isinstance(value, dict):
        placed = {name: PLACES.get(name, member) for name, member in value.items()}
        return {
            name: masked(name, member) if name in VOLATILE or name.endswith("_hash") else stable(member)
            for name, member in placed.items()
        }
    if isinstance(value, list):
        return [stable(item) for item in value]
    return re.sub(r"\b[0-9a-f]{16}\b", "CODE", value) if isinstance(value, str) else value


def test_results_are_as_they_were(bench: Bench) -> None:
    """Every key, figure and transcript of runs that end in four ways, as readable text.

    EQUIPOISE_UPDATE_GOLDEN=1 writes the golden file anew.
    """
    bench.server.script = script
    bench.run("--runs", "2", "--evaluator-attempts", "2", status=1)
    text = bench.results_path.read_text(encoding="utf-8")
    assert "O que é um?" in text
    assert text.startswith('{\n  "metadata": {')
    assert text.endswith("}\n")
    stable_text = json.dumps(stable(json.loads(text)), ensure_ascii=False, indent=2) + "\n"
    if os.environ.get("EQUIPOISE_UPDATE_GOLDEN"):
        GOLDEN.write_text(stable_text, encoding="utf-8")
    assert stable_text == GOLDEN.read_text(encoding="utf-8")
    judged = [body for body in bench.server.requests if is_judge(body)]
    assert "Let me think." in text
    assert "Let me think." not in json.dumps(judged)
