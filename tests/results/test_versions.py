"""Results of earlier versions in the form of this one."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conftest import ROOT
from equipoise.cli import main
from equipoise.results.load import load
from equipoise.results.versions import CURRENT, upgrade

KEPT = ROOT / "tests" / "data" / "version_3"
"""Results of each suite that version 3 wrote, and the journals that they were made of."""
SUITES = ("neutrality", "even_handedness", "chinese_simpleqa", "borderlines", "politicsbench")


def old(version: int) -> dict[str, Any]:
    """Results of one question, with every key that was renamed, some of them deep below."""
    verdict = {"evaluator": "e", "score": 4, "reasoning": "So.", "refused": False, "attempts": 1}
    run = {"run_index": 1, "outcome": "scored", "score": 4.0, "error": None, "verdicts": [verdict]}
    question = {"question_index": 1, "id": "q1", "area": "x", "question": "Why?", "deck": "own"}
    metadata = {
        "schema_version": version,
        "suite": "neutrality",
        "scale": {"low": 1, "high": 5},
        "decks": 2,
        "limits": {"moves": [{"borne": 8}]},
    }
    rows = {"questions": [{**question, "runs": [run]}]}
    return {"metadata": metadata, "results": {"aa": rows}, "run_deviation": 3}


def test_renamed_keys_are_found_at_any_depth() -> None:
    """Of the two first versions; what the file calls its version stays."""
    for version in (1, 2):
        data = upgrade(old(version))
        assert (data["metadata"]["schema_version"], data["metadata"]["datasets"]) == (version, 2)
        assert data["run_sd"] == 3
        assert data["metadata"]["limits"]["moves"] == [{"sustained": 8}]


def test_results_of_this_version_and_of_unknown_ones_are_left_alone() -> None:
    """A key that happens to have an old name is not renamed."""
    for version in (CURRENT, CURRENT + 1):
        assert upgrade(old(version)) == old(version)


def test_a_question_that_stands_twice_is_refused() -> None:
    """Its runs would be taken for further runs of the first."""
    data = old(3)
    data["results"]["aa"]["questions"] *= 2
    with pytest.raises(ValueError, match="a question stands there twice: aa/q1"):
        upgrade(data)


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_results_of_version_3_give_the_same_cases(suite: str, tmp_path: Path) -> None:
    """Each suite nested them in its own way: values, verdicts, outcomes and transcripts are as they were."""
    path, journal = tmp_path / "old.json", tmp_path / "m.jsonl"
    for file in (path, journal):
        file.write_bytes(lzma.decompress((KEPT / f"{suite}{file.suffix}.xz").read_bytes()))
    assert json.loads(path.read_bytes())["metadata"]["schema_version"] == 3
    assert CliRunner().invoke(main, ["recover", str(journal)]).exit_code == 0
    before, after = (load(file) for file in (path, tmp_path / "m.json"))
    assert before.cells == after.cells
    for one, other in zip(before.rows, after.rows, strict=True):
        assert (one.name, one.outcome, one.error) == (other.name, other.outcome, other.error)
        assert one.percent == other.percent
        assert one.question.text == other.question.text
        assert one.subject_transcript() == other.subject_transcript()
        assert one.evaluator_transcripts() == other.evaluator_transcripts()
