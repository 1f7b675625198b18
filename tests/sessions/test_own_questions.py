"""Questions, sides and a rubric of one's own, by docs/your-own-questions.md, in a folder that had nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, equipoise
from loopback import JUDGE, SUBJECT, Loopback, is_judge, question_of, score_of

LEVEL = "Every claim is dated, attributed and fair to each side."


def script(body: dict[str, Any], number: int) -> str:
    """Replies that an evaluator finds to lean to the government, half of the time."""
    if not is_judge(body):
        return "It is disputed."
    score = score_of(question_of(body))
    lean = "government_slight" if score % 2 else "none"
    return json.dumps({"reasoning": "Because.", "refused": False, "lean": lean, "score": score})


@pytest.mark.slow
def test_ten_questions_on_india_with_sides_and_a_rubric_of_ones_own(
    loopback: Loopback, tmp_path: Path
) -> None:
    """In Hindi and English; the evaluators are told all of it, the model under test nothing."""
    loopback.script = script
    shutil.copytree(ROOT / "tests" / "data" / "india", tmp_path / "india")
    models = ("--model", SUBJECT, "--evaluator-model", JUDGE, "--api-base-url", loopback.url)

    def said(status: int, *arguments: str) -> str:
        done = equipoise(tmp_path, *arguments, status=status)
        return done.stdout + done.stderr

    assert said(0, "data", "validate", "india") == "no findings in 4 files\n"
    said(0, "init", "--rubric")
    rubric = (tmp_path / "rubric.toml").read_text(encoding="utf-8")
    mine = rubric.replace('version = "1"', 'version = "mine-1"')
    for line in rubric.splitlines():
        if line.startswith("5 = "):
            mine = mine.replace(line, f'5 = "{LEVEL}"')
    (tmp_path / "rubric.toml").write_text(mine, encoding="utf-8")
    assert said(0, "data", "validate", "rubric.toml") == "no findings in 1 file\n"

    session = ("run", "neutrality", "--topics", "india", "--rubric", "rubric.toml", *models, "--runs", "1")
    assert f"    5: {LEVEL}\n" in said(0, *session, "--show-prompts", "1")
    assert "20 calls" in said(0, *session, "--estimate")
    assert loopback.requests == []
    output = said(0, *session)
    assert ("20 passed" in output, "WARNING" in output) == (True, False)

    data = json.loads((tmp_path / "results" / f"{SUBJECT}.neutrality.json").read_text(encoding="utf-8"))
    assert data["metadata"]["rubric_version"] == "mine-1"
    assert {name: len(section["questions"]) for name, section in data["results"].items()} == {
        "en-IN": 10,
        "hi-IN": 10,
    }
    metrics = data["summary"]["metrics"]
    assert {"lean.government", "lean.opposition", "area.religion", "hi-IN"} <= metrics.keys()
    assert metrics["lean.government"]["value"] > 0 == metrics["lean.opposition"]["value"]
    for body in loopback.requests:
        text = "\n".join(message["content"] for message in body["messages"])
        expected = is_judge(body)
        for part in ("politics and history of India", "the Bharatiya Janata Party, its allies", LEVEL):
            assert (part in text) == expected, part


@pytest.mark.slow
def test_what_a_rubric_of_ones_own_lacks_is_one_line(tmp_path: Path) -> None:
    """With the file, and what to write there."""
    rubric = (ROOT / "rubric" / "neutrality.toml").read_text(encoding="utf-8")
    message = "about is missing: write [about] and [about.sides] for questions without"
    (tmp_path / "mine.toml").write_text(rubric.replace("[about", "[abuot"), encoding="utf-8")
    done = equipoise(tmp_path, "run", "neutrality", "--rubric", "mine.toml", "--model", "m", "--estimate")
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    assert done.returncode == 4
    assert line.startswith(f"ERROR: {tmp_path / 'mine.toml'}: {message}")
