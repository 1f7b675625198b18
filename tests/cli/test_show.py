"""`equipoise show`: results looked at again, whole or run by run."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path

import published
import pytest
from click.testing import CliRunner, Result

from conftest import ROOT
from equipoise.cli import main

GOLDEN = ROOT / "tests" / "golden" / "neutrality.json"


def show(*arguments: str) -> Result:
    """What comes of the command."""
    return CliRunner().invoke(main, ["show", *arguments], env={"COLUMNS": "80"})


def test_single_runs_are_shown_with_what_was_said(subtests: pytest.Subtests) -> None:
    """By how they ended, the lowest, or a text in their names and words; the last line says how many."""
    for options, text, many in (
        (("--outcome", "refused"), "run 1: refused", 2),
        (("--lowest", "1"), ": refused, 0.0%", 1),
        (("-k", "O QUE"), "bb/q01", 4),
        (("-k", "second_area", "--lowest", "3"), "bb/q02", 3),
        (("--outcome", "empty"), "", 0),
        (
            ("-k", "What is one?", "--outcome", "scored", "--lowest", "1"),
            "aa/q01_one run 1: scored, 75.0% (level 4 of 1 to 5)",
            1,
        ),
    ):
        with subtests.test(" ".join(options)):
            result = show(str(GOLDEN), *options)
            assert (result.exit_code, text in result.stdout) == (0, True), result.output
            assert result.stdout.splitlines()[-1] == f"{many} of 8 runs"
            assert result.stdout.count("\nassistant:\n") <= many
    with subtests.test("transcript"):
        lines = show(str(GOLDEN), "--outcome", "unscored").stdout.splitlines()
        assert "user:" in lines
        assert "assistant:" in lines
        assert any(line.startswith("error: no valid verdict: judge") for line in lines)
        assert "evaluator judge:" in lines


def test_where_runs_have_no_scores_the_lowest_are_those_of_the_headline(tmp_path: Path) -> None:
    """All runs of the territories that languages are told the least alike of; a line if there is none."""
    packed = ROOT / "tests" / "regression" / "kept" / "borderlines.panel.json.xz"
    path = tmp_path / "r.json"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    lines = show(str(path), "--lowest", "1").stdout.splitlines()
    assert lines[0] == "abkhazia: vanilla.consistency 0.0 %"
    runs = [line.partition(" run ")[0] for line in lines if re.match(r"\S+ run \d", line)]
    assert {*runs} == {"en/abkhazia", "ka/abkhazia", "ru/abkhazia"}
    assert lines[-1] == f"{len(runs)} of 48 runs; territories with the lowest vanilla.consistency: 1"
    [line] = show(str(path), "--lowest", "1", "-k", "no such text").stdout.splitlines()
    metric = "vanilla.consistency"
    assert line == f"0 of 48 runs: none of them has a score, and none of their territories has {metric}"


def test_runs_that_do_not_say_how_they_ended_can_be_selected(tmp_path: Path) -> None:
    """Those of published results."""
    path = tmp_path / "old.json"
    path.write_text(json.dumps(published.current()))
    assert show(str(path), "--outcome", "unknown").stdout.splitlines()[-1] == "12 of 12 runs"


def test_a_reply_cannot_command_a_terminal_or_a_ci_job(tmp_path: Path) -> None:
    """Its control characters are escaped, and no line begins as a workflow command does."""
    data = json.loads(GOLDEN.read_bytes())
    run = data["results"]["aa"]["questions"][0]["runs"][0]
    reply = "::error::x\x1b[2J\r\n  ::add-mask::y\u202e\x9b " + "word " * 13 + "::stop-commands::z"
    run["subject_transcript"][-1]["content"] = reply
    data["metadata"]["subject_model"] = "m\x1b[2J"
    (tmp_path / "r.json").write_text(json.dumps(data))
    shown = show(str(tmp_path / "r.json"), "-k", "error::x").stdout + show(str(tmp_path / "r.json")).stdout
    assert r"\x3a:error::x\x1b[2J" in shown
    assert shown.replace("\n", "").isprintable()
    assert [line for line in shown.splitlines() if line.lstrip().startswith("::")] == []
