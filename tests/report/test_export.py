"""Results in the formats of others, which their own schemas and readers accept."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from asked import swayed
from click.testing import Result
from fake_client import Project, plain
from formulas import calculated

import equipoise
from conftest import ROOT, typed
from equipoise.core.errors import CallFailed
from equipoise.core.spreadsheet import add_guards, remove_guards
from equipoise.core.types import Call, Reply, Usage
from equipoise.report.export import every_eval_ever
from equipoise.results import store, table
from equipoise.results.load import load

OPTIONS: dict[str, Any] = {
    "model": "subject",
    "evaluator_model": ["judge"],
    "api_base_url": "http://x/v1",
    "runs": 2,
}
PUBLISHED = ROOT / "tests" / "data" / "every_eval_ever"
HALF = "half \ud83d of one"


def script(call: Call) -> Any:
    """One question fails, one is answered with half a character and with reasoning."""
    if call.role == "subject" and "O que é dois?" in str(call.messages):
        return CallFailed("HTTP 400: Too long.", status=400)
    if call.role == "subject" and "What is two?" in str(call.messages):
        return Reply(
            text=HALF, reasoning="Hm.", finish_reason="stop", usage=Usage(input=7, output=5), latency=0.5
        )
    return plain(call)


@pytest.fixture
def project(project: Project) -> Project:
    """Of neutrality, which has rates and datasets."""
    project.write_topics()
    return project


@pytest.fixture
def results(project: Project) -> Path:
    """The results of a session in which 2 of 8 runs have no score."""
    project.client.script = script
    path = equipoise.run("neutrality", **OPTIONS).path
    assert path is not None
    return path


def export(*arguments: object) -> Result:
    """The command, which ends well."""
    return typed("export", *arguments)


def refusal(*arguments: object) -> str:
    """The one line with which it refuses."""
    done = typed("export", *arguments, status=4)
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


# Tables.


@pytest.mark.parametrize("to", ["csv", "parquet", "jsonl"])
def test_tables_have_a_row_for_each_run(results: Path, to: str) -> None:
    """What a reader of the format gets is what the file says, a missing score null and not zero."""
    import polars

    done = export(results, "--to", to)
    assert done.stdout == f"runs.{to}: 8 runs of 1 file\n"
    assert done.stderr == "left out: figures, and conversations with evaluators\n"
    path = Path(f"runs.{to}")
    readers: Mapping[str, Callable[[Path], Any]] = {
        "csv": polars.read_csv,
        "parquet": polars.read_parquet,
        "jsonl": polars.read_ndjson,
    }
    frame = readers[to](path)
    # The reader of lines keeps no order of more than 32 columns.
    columns = [*json.loads(path.read_text().splitlines()[0])] if to == "jsonl" else frame.columns
    assert columns[: len(table.COLUMNS)] == [column.name for column in table.COLUMNS]
    assert frame["score"].to_list() == [run.score for run in load(results).rows]
    assert frame["score"].null_count() == 2
    two = frame.filter((frame["case"] == "q02_two") & (frame["language"] == "aa")).to_dicts()[0]
    assert (two["prompt"], two["reply"]) == ("What is two?", "half ? of one")
    assert (two["question"], two["label.area"], two["value.refused"]) == ("What is two?", "second_area", 0.0)
    assert (two["input_tokens"], two["output_tokens"], two["latency"]) == (7, 5, 0.5)
    assert frame["input_tokens"].null_count() == 2
    assert json.loads(two["transcript"])[0]["messages"][0] == {"role": "user", "content": "What is two?"}
    assert json.loads(two["verdicts"])[0]["evaluator"] == "judge"
    failed = frame.filter(frame["outcome"] == "error").to_dicts()
    assert [row["error"] for row in failed] == ["HTTP 400: Too long."] * 2


def test_a_spreadsheet_calculates_nothing(project: Project) -> None:
    """Texts are guarded, names of columns, too, and come back; a negative number stays a number."""
    import polars

    formula = "=1+1;=2\n- a"
    project.client.script = lambda call: formula if call.role == "subject" else plain(call)
    path = equipoise.run("neutrality", **OPTIONS).path
    assert path is not None
    data = json.loads(path.read_bytes())
    for row in (row for part in data["results"].values() for row in part["questions"]):
        row["details"] = {"x;=y": "-", "less": -1.5}
    path.write_text(json.dumps(data), encoding="utf-8")
    export(path, "--to", "csv")
    content = Path("runs.csv").read_bytes().decode()
    assert calculated(content) == []
    rows = list(csv.DictReader(io.StringIO(content, newline="")))
    assert {row["reply"] for row in rows} == {"'=1+1;'=2\n'- a"}
    assert {remove_guards(row["reply"]) for row in rows} == {formula}
    assert {(row["case.less"], row["case.x;'=y"]) for row in rows} == {("-1.5", "'-")}
    export(path, "--to", "jsonl")
    assert set(polars.read_ndjson("runs.jsonl")["reply"]) == {formula}


def test_results_of_several_suites_share_a_table(results: Path) -> None:
    """A column that only one has is null for the other; its kind is that of its values."""
    import polars

    data = json.loads(results.read_bytes())
    for row in (row for part in data["results"].values() for row in part["questions"]):
        row["details"] = {"colour": "red", "weight": 1, "is_new": True, "odd": [1]}
        row["runs"][0]["details"] = {"odd": "text"}
    store.write_json(Path("other/x.json"), {"metadata": "not results"})
    Path("other/changed.json").write_text(json.dumps(data), encoding="utf-8")
    frame = table.to_polars([*load(results).table_runs(), *load(Path("other/changed.json")).table_runs()])
    assert frame["case.colour"].to_list() == [None] * 8 + ["red"] * 8
    types = [frame[f"case.{name}"].dtype for name in ("weight", "is_new", "odd")]
    assert types == [polars.Int64, polars.Boolean, polars.String]
    assert frame["case.odd"][8] == "[1]"


def test_folders_are_searched(results: Path) -> None:
    """Without archive and audits; other JSON files are named in one line."""
    archived = results.parent / "archive" / "old.json"
    archived.parent.mkdir()
    archived.write_bytes(results.read_bytes())
    store.write_json(results.parent / "audits" / "judge.neutrality.json", {"suite": "neutrality"})
    (results.parent / "comparison.json").write_text("[]", encoding="utf-8")
    done = export("results", results, "--to", "jsonl")
    assert done.stdout == "runs.jsonl: 8 runs of 1 file\n"
    assert "skipped: results/comparison.json is not an Equipoise results file" in done.stderr
    assert "audits" not in done.stderr
    for name in "abc":
        (results.parent / f"{name}.json").write_text("[]", encoding="utf-8")
    more = export("results", results, "--to", "jsonl").stderr.splitlines()
    assert [line for line in more if line.startswith("skipped: ")] == [
        "skipped: 4 JSON files that are not Equipoise results: "
        "results/a.json, results/b.json, results/c.json, ..."
    ]


# Every Eval Ever.


def registry(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]], Path]:
    """The one aggregate below a folder, its instances, and its path."""
    (path,) = folder.rglob("*.json")
    aggregate = json.loads(path.read_bytes())
    samples = folder / aggregate["detailed_evaluation_results"]["file_path"]
    return aggregate, [json.loads(line) for line in samples.read_bytes().splitlines()], path


def test_the_registry_gets_files_by_its_schema(results: Path) -> None:
    """Both kinds, as it publishes them; what it cannot take is said."""
    done = export(results, "--to", "every_eval_ever", "--organization", "Us", "--developer", "acme")
    aggregate, instances, path = registry(Path("every_eval_ever"))
    for name, entries in (("eval", [aggregate]), ("instance_level_eval", instances)):
        schema = json.loads((PUBLISHED / f"{name}.schema.json").read_bytes())
        validator = jsonschema_rs.validator_for(schema)
        assert [error.message for item in entries for error in validator.iter_errors(item)] == []
    assert path.relative_to("every_eval_ever").parts[:4] == (
        "data",
        "equipoise_neutrality",
        "acme",
        "subject",
    )
    assert aggregate["source_metadata"]["source_organization_name"] == "Us"
    (tokens,) = (item["token_usage"] for item in instances if item["sample_id"] == "aa/q02_two/run1")
    assert (tokens["input_tokens"], tokens["output_tokens"], tokens["total_tokens"]) == (7, 5, 12)
    assert "left out: 2 runs without a score, which the format requires" in done.stderr
    assert aggregate["detailed_evaluation_results"]["additional_details"]["runs_without_a_score"] == "2"
    samples = (path.parent / f"{path.stem}_samples.jsonl").read_bytes()
    assert aggregate["detailed_evaluation_results"]["checksum"] == hashlib.sha256(samples).hexdigest()
    assert aggregate["detailed_evaluation_results"]["total_rows"] == len(instances) == 6


def test_the_registry_is_told_which_scores_are_better(project: Project) -> None:
    """A lower one, a higher one, or neither, which its format has no word for."""
    project.client.script = swayed
    path = equipoise.run("neutrality", **OPTIONS).path
    assert path is not None
    export(path, "--to", "every_eval_ever")
    aggregate, *_ = registry(Path("every_eval_ever"))
    configs = [result["metric_config"] for result in aggregate["evaluation_results"]]
    better = {config["metric_name"]: config["lower_is_better"] for config in configs}
    undirected = {config["metric_name"] for config in configs if config["additional_details"]}
    figures = {name: figure.higher_is_better for name, figure in load(path).metrics.items() if name in better}
    assert {True, False, None} == {*figures.values()}
    assert better == {name: higher is False for name, higher in figures.items()}
    assert undirected == {name for name, higher in figures.items() if higher is None}


def test_the_registry_wants_a_developer() -> None:
    """A model's id has one, and is the name of a folder; the built-in model's weights are open."""
    assert every_eval_ever.model_id("gpt-x", "openai") == "openai/gpt-x"
    assert every_eval_ever.model_id("acme/gpt-x:free", "openai") == "acme/gpt-x_free"
    details = every_eval_ever.model_info("local", "x")["additional_details"]
    assert details == {"deployment_type": "self_deployed", "model_availability": "open_weights"}


def test_results_without_any_score_have_no_instances(project: Project) -> None:
    """No empty file is left, and the aggregate names none."""
    project.client.script = lambda call: CallFailed("HTTP 400: Too long.", status=400)
    path = equipoise.run("neutrality", **OPTIONS).path
    assert "left out: figures without a value: overall" in export(path, "--to", "every_eval_ever").stderr
    (aggregate,) = (json.loads(file.read_bytes()) for file in Path("every_eval_ever").rglob("*.json"))
    assert "detailed_evaluation_results" not in aggregate
    assert list(Path("every_eval_ever").rglob("*.jsonl")) == []


# What all are made of.


def test_only_parquet_and_inspect_need_more(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is named with the command that installs it."""
    for library, to, package in (("inspect_ai", "inspect", "inspect-ai"), ("polars", "parquet", "polars")):
        monkeypatch.setitem(sys.modules, library, None)
        assert refusal(results, "--to", to).endswith(f"is not installed; run: pip install {package}")
    for to in ("csv", "jsonl", "markdown", "every_eval_ever"):
        export(results, "--to", to)
    assert export(results, "--to", "markdown", "-o", "card.md").stdout == "card.md: 1 table\n"
    assert Path("card.md").read_text(encoding="utf-8") in export(results, "--to", "markdown").stdout


@pytest.mark.parametrize("to", ["csv", "jsonl"])
def test_tables_are_written_as_polars_writes_them(results: Path, to: str) -> None:
    """Byte for byte: numbers, nulls beside empty texts, and what has to stand in quotes."""
    import polars

    odd = ["", None, 'a "b"', "a,b", "a\nb", "a\rb", "a;b", "a\\b", "\N{LINE SEPARATOR}", "\0"]
    numbers = [0.0, -0.0, 1e-5, 1e-7, 1 / 3, 1e16, 1.5e300, -2, 7, None]
    data = json.loads(results.read_bytes())
    rows = [row for part in data["results"].values() for row in part["questions"]]
    runs = [run for row in rows for run in row["runs"]]
    for index, run in enumerate(runs * 2):
        run["details"] |= {f"text{index // len(runs)}": odd[index % len(odd)]}
        run["details"] |= {
            f"number{index // len(runs)}": numbers[index % len(numbers)],
            "is": bool(index % 3),
        }
    results.write_text(json.dumps(data), encoding="utf-8")
    export(results, "--to", to)
    frame = table.to_polars(load(results).table_runs())
    if to == "csv":
        guards = polars.col(polars.String).map_elements(add_guards, polars.String)
        frame = frame.with_columns(guards).rename(add_guards)
    written = frame.write_csv() if to == "csv" else frame.write_ndjson()
    assert Path(f"runs.{to}").read_bytes() == written.encode()
