"""The Python API: what scripts and notebooks load, compare, gate and run."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import published
import pytest
from builders import SUITE
from fake_client import ALL, Project, plain

import equipoise
from equipoise.core.errors import CallFailed, EquipoiseError, SessionStopped, UserError
from equipoise.core.types import Call
from equipoise.results import schema

OPTIONS: dict[str, Any] = {
    "model": "subject",
    "evaluator_model": ["judge"],
    "api_base_url": "http://x/v1",
    "runs": 2,
}


def test_the_import_loads_nothing() -> None:
    """Neither the parts of the package nor any library: `import equipoise` has to be quick.

    No module has the name of a function: importing it would bind the name in the package, in its place.
    """
    script = "import sys; before = {*sys.modules}; import equipoise; print(sorted({*sys.modules} - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    parts = ("equipoise.report", "equipoise.comparison", "equipoise.suites", "numpy", "orjson", "asyncio")
    assert [name for name in parts if f"'{name}'" in done.stdout] == []
    specs = {name: find_spec(f"equipoise.{name}") for name in equipoise.__all__}
    # A folder that a checkout has left without modules has no origin.
    assert [name for name, spec in specs.items() if spec is not None and spec.origin is not None] == []


def test_a_suite_is_run_without_pytest(project: Project) -> None:
    """On the same engine: results, journal, and a second call that asks nothing."""
    results = equipoise.run(SUITE, **OPTIONS)
    assert (results.suite.name, results.model, results.status) == (SUITE, "subject", "complete")
    assert (results.path, project.journal_path.is_file()) == (project.results_path, True)
    loaded = equipoise.load(project.results_path)
    assert (results.digest, results.to_json().keys()) == (loaded.digest, loaded.to_json().keys())
    assert (results.metadata, results.summary, results.cells) == (
        loaded.metadata,
        loaded.summary,
        loaded.cells,
    )
    assert [run.subject for run in results.rows] == [run.subject for run in loaded.rows]
    calls = len(project.client.calls)
    assert calls == 2 * ALL * 2 // 5
    assert equipoise.run(SUITE, **OPTIONS).metrics == results.metrics
    assert len(project.client.calls) == calls
    assert len(equipoise.run(SUITE, **{**OPTIONS, "runs": 3}).rows) == 12
    assert len(project.client.calls) == calls * 3 / 2


def test_a_suite_is_run_where_a_loop_runs(project: Project) -> None:
    """As in a notebook."""

    async def cell() -> str:
        return equipoise.run(SUITE, **OPTIONS, limit=1, language="aa").status

    assert asyncio.run(cell()) == "complete"
    assert project.client.count("subject") == 2


def test_published_results_are_loaded(tmp_path: Path) -> None:
    """With every run, though they do not say how runs ended; figures are computed."""
    path = tmp_path / "published.json"
    path.write_text(json.dumps(published.current()), encoding="utf-8")
    results = equipoise.load(path)
    assert {run.outcome for run in results.rows} == {"unknown"}
    assert results.metrics["overall"].value == pytest.approx((62.5 + 137.5 / 3) / 2, abs=1e-6)


def test_a_run_without_a_score_is_data(project: Project) -> None:
    """It raises nothing, and stands among the errors."""
    failed = CallFailed("HTTP 400: Too long.", status=400)

    def script(call: Call) -> Any:
        return failed if call.role == "subject" and "one" in str(call.messages) else plain(call)

    project.client.script = script
    results = equipoise.run(SUITE, **OPTIONS)
    assert (results.status, len(results.errors)) == ("complete_with_unscored", 2)
    assert [run.error for run in results.rows if run.score is None] == ["HTTP 400: Too long."] * 2


def test_a_session_that_stops_says_how_far_it_is(project: Project) -> None:
    """What is done is saved, and the same call resumes it."""
    with pytest.raises(SessionStopped, match=r"finished work is saved.* \(\d of 8 runs\)$"):
        equipoise.run(SUITE, **OPTIONS, max_calls=3)
    assert equipoise.load(project.results_path).status == "no_scores"
    calls = len(project.client.calls)
    assert equipoise.run(SUITE, **OPTIONS).status == "complete"
    assert len(project.client.calls) < calls + 2 * ALL * 2 // 5


def test_files_of_options_are_read(project: Project, tmp_path: Path) -> None:
    """.env and config=, and the environment is left as it was."""
    (tmp_path / ".env").write_text("EQUIPOISE_RUNS=1\n")
    (tmp_path / "session.toml").write_text('runs = 4\nlanguage = "aa"\n')
    options = {name: value for name, value in OPTIONS.items() if name != "runs"}
    about = equipoise.run(SUITE, **options, config="session.toml").metadata
    assert (about["runs_expected"], about["languages"]) == (2, ["aa"])
    assert "EQUIPOISE_RUNS" not in os.environ


@pytest.mark.parametrize(
    ("suite", "options", "message"),
    [
        ("atribution", OPTIONS, "there is no suite 'atribution'; did you mean 'attribution'? "),
        (SUITE, {}, "which model? Name it with model="),
        (SUITE, {**OPTIONS, "limits": 1}, "there is no option 'limits' here; did you mean 'limit'?"),
        (SUITE, {**OPTIONS, "estimate": True}, "there is no option 'estimate' here; "),
        (SUITE, {**OPTIONS, "limit": "a"}, "--limit: 'a' is not "),
        (SUITE, {**OPTIONS, "pair_order": "original"}, "--pair-order: attribution does not take it"),
        ("neutrality", {**OPTIONS, "dataset": "mars"}, "--dataset mars: neutrality has no such dataset; "),
    ],
)
def test_what_cannot_be_run_is_refused(
    project: Project, suite: str, options: dict[str, Any], message: str
) -> None:
    """In one line, before anything is asked."""
    with pytest.raises(UserError) as refused:
        equipoise.run(suite, **options)
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)
    assert project.client.calls == []


def test_a_panel_is_run(project: Project) -> None:
    """Its agreement is in the summary, by evaluator, and follows the schema as all that is written does."""
    results = equipoise.run(SUITE, **{**OPTIONS, "evaluator_model": ["judge", "other"]})
    assert results.summary["panel"]["without"].keys() == {"judge", "other"}
    assert [item.name for item in results.rows[0].evaluators] == ["judge", "other"]
    assert results.path is not None
    assert schema.problems(json.loads(results.path.read_bytes())) == []


# Results.


@pytest.fixture
def results(project: Project) -> Any:
    """The results of a session."""
    return equipoise.run(SUITE, **OPTIONS)


def test_results_have_types(project: Project) -> None:
    """Figures with intervals by name, rates too, runs with their conversations, a table of themselves."""
    project.write_topics()
    results = equipoise.run("neutrality", **OPTIONS)
    overall = results.metrics["overall"]
    assert next(iter(results.metrics)) == "overall"
    assert (overall.unit, overall.n, overall.confidence, len(overall.by_run)) == ("%", 2, 0.95, 2)
    refused = results.metrics["refused"]
    assert refused.high is not None
    assert refused.low == refused.value == 0.0 < refused.high
    assert results.summary["outcomes"] == {"scored": 8}
    first = results.rows[0]
    assert (first.language, first.id, first.number, first.outcome) == ("aa", "q01_one", 1, "scored")
    assert [message["role"] for message in first.subject[0].messages] == ["user", "assistant"]
    assert [item.name for item in first.evaluators] == ["judge"]
    first_line, *_, last_line = repr(results).splitlines()
    assert first_line.startswith("subject: the mean score of answers, blocked ones as 0 %, is ")
    assert last_line == "<Results of 'subject' on neutrality: 8 of 8 runs, complete>"
    assert repr(equipoise.load(["results"])) == first_line
    assert results.audits == dict.fromkeys(results.metadata["evaluator_models"])
    assert results._repr_html_().startswith(f"<p>{first_line}</p>")
    assert "<table><tr><th></th>" in results._repr_html_()
    cautioned = replace(results, metadata={**results.metadata, "cautions": ["1 < 2 runs"]})
    assert "<p>caution: 1 &lt; 2 runs</p><table>" in cautioned._repr_html_()


def test_intervals_on_these_questions_are_taken_over(results: Any) -> None:
    """Where a file has both, both are there."""
    data = json.loads(results.path.read_bytes())
    these = {"se": 1.0, "low": 2.0, "high": 3.0, "n": 4, "reason": None}
    data["summary"]["metrics"]["overall"] |= {"caution": "many answers are missing", "these": these}
    results.path.write_text(json.dumps(data), encoding="utf-8")
    overall = equipoise.load(results.path).metrics["overall"]
    assert overall.caution == "many answers are missing"
    assert {name: getattr(overall.these, name) for name in these} == these


def test_transcripts_are_read_when_they_are_asked_for(results: Any) -> None:
    """From the file that was loaded: one that has changed since is refused."""
    loaded = equipoise.load(results.path)
    runs = loaded.rows
    content = results.path.read_bytes()
    results.path.write_bytes(content + b"\n")
    with pytest.raises(UserError, match="has changed since it was loaded"):
        print(runs[0].subject)
    results.path.write_bytes(content)
    assert runs[0].subject[0].replies[0]["content"] == "An answer to: What is one?"
    assert runs[0].score is not None


def test_results_are_tables(results: Any) -> None:
    """Of runs and of figures, by column, as data frames take them."""
    import pandas
    import polars

    runs, figures = polars.DataFrame(results.runs()), pandas.DataFrame(results.figures())
    assert runs["score"].to_list() == [run.score for run in results.rows]
    assert runs["prompt"][0] == "What is one?"
    assert list(figures["metric"]) == list(results.metrics)
    for name, figure in results.metrics.items():
        (row,) = figures[figures["metric"] == name].to_dict("records")
        assert (row["value"], row["n"], row["unit"]) == (figure.value, figure.n, figure.unit)
        assert figure.low is None or (row["low"], row["these_high"]) == (figure.low, figure.these.high)


def test_a_folder_is_loaded_whole(results: Any) -> None:
    """All results in it and in its subfolders but the archive, with common tables."""
    folder = results.path.parent
    for name in ("other/b.json", "archive/c.json"):
        copy = folder / name
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(results.path.read_bytes())
    (folder / "notes.json").write_text("{}", encoding="utf-8")
    loaded = equipoise.load(folder)
    assert [item.path for item in loaded] == [folder / "other" / "b.json", results.path]
    assert len(loaded.runs()["score"]) == 2 * len(results.rows)
    assert len(loaded.figures()["value"]) == 2 * len(results.metrics)
    (folder / "empty").mkdir()
    with pytest.raises(UserError, match="no results files"):
        equipoise.load(folder / "empty")


# Comparisons.


def test_results_are_compared_and_gated(results: Any) -> None:
    """By paths or as they were loaded; by one rule or several, and what is no rule is refused."""
    for sources in ((results, results.path), (str(results.path), results)):
        comparison = equipoise.compare(*sources)
        assert comparison.changes["overall"].difference.value == 0.0
        assert comparison.mismatches == []
        answer, *_, name = repr(comparison).splitlines()
        assert "do not differ in overall (no interval" in answer
        assert name == "<Comparison of 'subject' with 'subject' on attribution: 3 metrics>"
    gate = equipoise.gate(results, results, "unscored:0%")
    assert (gate.verdict, gate.passes) == ("pass", True)
    assert [ruling.rule for ruling in gate.rulings] == ["unscored:0%"]
    inconclusive = equipoise.gate(results, results, ["overall:-2pp", "unscored:0%"])
    assert (inconclusive.passes, inconclusive.rulings[0].verdict) == (False, "inconclusive")
    refused = {"there are no rules": [], "'much' is not a rule": "much", "no metric 'tea'": "tea:-2pp"}
    for message, rules in refused.items():
        with pytest.raises(EquipoiseError, match=message):
            equipoise.gate(results, results, rules)
