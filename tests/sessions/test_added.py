"""What commands add to the results of a whole session, against the loopback server."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conftest import JUDGE, Bench
from equipoise.cli import main
from loopback import plain_script


def script(body: dict[str, Any], number: int) -> str:
    """The translator says what it is given in other words."""
    if body["model"] != "translator":
        return plain_script(body, number)
    quoted = re.search(
        r"\[reply (\w+)\]\n(.*?)\n\[end of reply \1\]", body["messages"][-1]["content"], re.DOTALL
    )
    assert quoted
    return f"In other words: {quoted[2]}"


@pytest.mark.slow
def test_a_session_keeps_what_commands_added(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Back-translation and people's scores stand in the results, also when the session is run again."""
    bench.server.script = script
    assert bench.run("--runs", "2").returncode == 0
    monkeypatch.chdir(bench.folder)
    results, runner = str(bench.results_path), CliRunner(env={"COLUMNS": "200"})
    models = ("--translator-model", "translator", "--evaluator-model", JUDGE)
    given = ["judge", "languages", results, *models, "--api-base-url", bench.server.url]
    done = runner.invoke(main, given)
    assert done.exit_code == 0, done.output
    assert runner.invoke(main, ["review", "sample", results, "-o", "anna.csv"]).exit_code == 0
    text = Path("anna.csv").read_text(encoding="utf-8-sig")
    with Path("anna.csv").open("w", encoding="utf-8-sig", newline="") as file:
        rows = [{**row, "score": "3"} for row in csv.DictReader(text.splitlines())]
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    done = runner.invoke(main, ["review", "agree", results, "anna.csv"])
    assert done.exit_code == 0, done.output
    before = json.loads(bench.results_path.read_bytes())
    assert (before["backtranslation"]["translations"], before["people"]["sheets"][0]["scores"]) == (4, 8)
    again = bench.run("--runs", "2")
    assert again.returncode == 0
    assert "gap:       4 replies to 2 questions" in runner.invoke(main, ["show", results, "--all"]).stdout
    after = json.loads(bench.results_path.read_bytes())
    assert [after[name] == before[name] for name in ("backtranslation", "people")] == [True, True]
