"""Results of a user's own suite at every door: all cases are there, and a 4 on a scale of 1 to 5 is 75 %."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sixth_suite
from fake_client import FakeClient

import equipoise as api
from conftest import typed

PANEL = ["judge", "other"]
OPTIONS: dict[str, Any] = {"model": "subject", "evaluator_model": PANEL, "api_base_url": "http://x/v1"}
RUNS = 2 * sixth_suite.CASES
OVERALL = 100 / 3
"""Of two questions of twelve, one in each language, at 75 and the others at 25."""


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    """The endpoint."""
    fake = FakeClient(sixth_suite.script)
    monkeypatch.setattr("equipoise.models.client.Client", lambda *endpoint, **options: fake)
    return fake


@pytest.fixture
def results(client: FakeClient, tmp_path: Path) -> Iterator[Path]:
    """The results of two runs of each case."""
    with sixth_suite.project(tmp_path / "own"):
        path = api.run(sixth_suite.SUITE, **OPTIONS, runs=2).path
        assert path is not None
        yield path


def test_the_results_are_valid_and_have_a_panel(results: Path) -> None:
    """They are what the schema describes; figures, and agreement of the evaluators, are computed."""
    assert typed("data", "validate", results).stdout == "no findings in 1 file\n"
    data = json.loads(results.read_bytes())
    summary = data["summary"]
    assert summary["metrics"]["overall"]["value"] == pytest.approx(OVERALL, abs=0.01)
    assert [lean["evaluator"] for lean in summary["panel"]["evaluators"]] == PANEL
    assert summary["panel"]["alpha"]["value"] == 1
    assert {name: part["verdicts"] for name, part in data["metadata"]["evaluators"].items()} == dict.fromkeys(
        PANEL, RUNS
    )


@pytest.mark.slow
def test_people_review_its_replies(results: Path) -> None:
    """A sheet of all replies is written, filled in and read again, and people agree with evaluators."""
    done = typed("review", "sample", results, "-n", RUNS, "-o", "anna.csv")
    assert "5: Every contested claim is attributed" in done.stdout
    rows = list(csv.DictReader(io.StringIO(Path("anna.csv").read_text(encoding="utf-8-sig"), newline="")))
    assert len({row["id"] for row in rows}) == RUNS
    assert {row["language"] for row in rows} == {"en", "pt"}
    for row in rows:
        assert row["question"] in row["reply"]
        row["score"] = "4" if row["question"] in sixth_suite.FOURS else "2"
    with Path("anna.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    shown = typed("review", "agree", results, "anna.csv").stdout
    assert f"anna: {RUNS} scores" in shown
    people = json.loads(results.read_bytes())["people"]
    assert people["levels"] == [1, 2, 3, 4, 5]
    pairs = {pair["second"]: pair for pair in people["agreement"]}
    assert {name: (pair["replies"], pair["kappa"]["value"]) for name, pair in pairs.items()} == dict.fromkeys(
        PANEL, (RUNS, 1.0)
    )
    typed("report", results, "-o", "page.html")


def test_a_blocked_reply_has_its_percentage(client: FakeClient, results: Path) -> None:
    """The lowest level is 0 % in each run and in the figure, and none of it is an evaluator's score."""
    from equipoise.core.types import Reply

    client.script = lambda call: (
        Reply(text="", blocked="content_filter") if call.role == "subject" else sixth_suite.script(call)
    )
    blocked = api.run(sixth_suite.SUITE, **OPTIONS, output="blocked.json")
    assert {(run.outcome, run.score, run.percent) for run in blocked.rows} == {("blocked", 1, 0)}
    assert blocked.metrics["overall"].value == 0
    done = typed("review", "sample", "blocked.json", "-o", "sheet.csv", status=4)
    assert "no reply in it has a score by an evaluator" in done.output


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("item", "theme", "the case 'en-housing-rent_control' has no 'item'"),
        ('item=row["id"]', "item='same'", "'en-elections-compulsory_voting' are both the question 'en/same'"),
        (
            "    options=(LENGTH,),",
            "    options=(LENGTH,), question=lambda case: replace(question_row(case), cluster='one'),",
            "have the cluster 'one' and the stratum 'en'; give each version of a cluster a stratum of its ",
        ),
    ],
)
def test_cases_that_make_no_questions_are_refused_before_a_call(
    client: FakeClient, tmp_path: Path, old: str, new: str, message: str
) -> None:
    """One lacks a field that its question needs; two are the same in results."""
    with sixth_suite.project(tmp_path / "own") as folder:
        module = folder / "suites" / sixth_suite.SUITE / "__init__.py"
        text = module.read_text()
        text = text.replace("import dataclass\n", "import dataclass\n\nfrom msgspec.structs import replace\n")
        text = text.replace("import Data, Suite", "import Data, Suite, question_row")
        module.write_text(text.replace(old, new))
        with pytest.raises(api.UserError, match=re.escape(message)):
            api.run(sixth_suite.SUITE, **OPTIONS)
    assert client.calls == []


def test_a_value_may_be_true(client: FakeClient, tmp_path: Path) -> None:
    """Results have it as 1, so that they can be read again."""
    with sixth_suite.project(tmp_path / "own") as folder:
        module = folder / "suites" / sixth_suite.SUITE / "__init__.py"
        values = 'values=lambda record, *_: {"judged": record.outcome == "scored", "percent": record.percent}'
        module.write_text(module.read_text().replace("    options=", f"    {values},\n    options="))
        path = api.run(sixth_suite.SUITE, **OPTIONS).path
        assert path is not None
        assert typed("data", "validate", path).stdout == "no findings in 1 file\n"
        assert {run.values["judged"] for run in api.load(path).rows} == {1.0}
