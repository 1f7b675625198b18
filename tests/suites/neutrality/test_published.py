"""Results of the published neutrality benchmark as one side of a comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from published import BETTER, SCORES, current, old
from sides import alike, data_of, set_to, without

from conftest import refusal
from equipoise.cli import main
from equipoise.comparison.comparable import mismatches, why_unfit
from equipoise.core.errors import UserError
from equipoise.results import published
from equipoise.results.load import load
from equipoise.stats.metrics import measure
from equipoise.suites.neutrality.published import adapt, is_old, is_published


def write(path: Path, data: Any) -> Path:
    """A file of this JSON."""
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


# Which files are taken for published ones.


def test_published_results_are_told_from_ours(subtests: pytest.Subtests) -> None:
    """Both of their formats are recognised; the old one lacks some keys."""
    assert is_published(old())
    assert is_published(current())
    assert not is_old(current())
    others: tuple[Any, ...] = (
        data_of(alike(4)),
        None,
        [],
        {},
        {"metadata": {}, "results": {}},
        {"metadata": [], "results": 1},
    )
    for data in others:
        assert not is_published(data)
    places = [("metadata", name) for name in ("limit", "files_expected", "files_completed")]
    for path in (*places, ("results", "zh-CN", "average_score_percentage")):
        with subtests.test(path[-1]):
            data = current()
            without(*path)(data)
            assert is_old(data)


# The shape.


def test_metadata_are_taken_from_the_file() -> None:
    """They are models, sampling, prompts, runs and the time; what the file lacks is None."""
    metadata = adapt(current(subject_system_prompt="Be kind.", evaluator_top_k=3, limit=3))["metadata"]
    expected = {
        "suite": "neutrality",
        "status": "complete",
        "subject_model": "a-model",
        "evaluator_models": ["mistral-large-2512"],
        "subject_sampling": {"temperature": 1.0},
        "evaluator_sampling": {"temperature": 0.0, "top_k": 3},
        "subject_system_prompt": "Be kind.",
        "evaluator_system_prompt": None,
        "rubric_hash": None,
        "runs": 2,
        "limit": 3,
        "files_expected": 2,
        "scale": {"low": 1, "high": 5},
        "runs_expected": 12,
        "runs_completed": 12,
        "started": "2026-03-04T05:06:07+00:00",
    }
    assert {name: metadata[name] for name in expected} == expected


def test_what_the_metadata_lack_is_unknown() -> None:
    """`model` may name the subject; without it neither models nor sampling are made up."""
    data = current()
    data["metadata"] = {
        name: data["metadata"][name] for name in ("limit", "files_expected", "files_completed")
    }
    metadata = adapt(data)["metadata"]
    assert (metadata["subject_model"], metadata["evaluator_models"]) == ("unknown", [])
    assert metadata["subject_sampling"] is metadata["runs"] is metadata["started"] is None
    data["metadata"]["model"] = "another"
    assert adapt(data)["metadata"]["subject_model"] == "another"


def test_questions_have_ids_by_their_number_or_place() -> None:
    """Ids are padded to one width; a number in the file takes precedence."""
    adapted = adapt(current({"en-US": [(3,)] * 100, "zh-CN": [(3,)] * 2}))["results"]
    assert [row["id"] for row in adapted["zh-CN"]["questions"]] == ["q001", "q002"]
    assert adapted["en-US"]["questions"][99]["id"] == "q100"
    assert {row["area"] for row in adapted["en-US"]["questions"]} == {"general"}
    data = current()
    for number, row in zip((1, 3, 4), data["results"]["en-US"]["questions"], strict=True):
        row["question_index"] = number
    numbered = adapt(data)["results"]["en-US"]["questions"]
    assert [row["id"] for row in numbered] == ["q01", "q03", "q04"]


def test_a_run_is_scored_by_the_evaluator_or_unscored() -> None:
    """A missing score is null with an error; like the benchmark, 5.0 is 5 and true is 1."""
    adapted = adapt(current({"en-US": [(4, None, 5.0, True)]}))  # type: ignore[list-item]
    runs = adapted["results"]["en-US"]["questions"][0]["runs"]
    assert [(run["outcome"], repr(run["score"])) for run in runs] == [
        ("unknown", "4"),
        ("unscored", "None"),
        ("unknown", "5"),
        ("unknown", "1"),
    ]
    assert runs[0]["verdicts"] == [{"evaluator": "mistral-large-2512", "score": 4}]
    assert adapted["errors"] == [{"run": "en-US-q01-run2", "message": "no valid verdict"}]


# Complete or not.


def test_results_with_gaps_are_not_complete(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """They cannot be a baseline."""
    for scores, changes, status in (
        ([(4, None)], {}, "complete_with_unscored"),
        ([(4, 4)], {"runs": 3}, "interrupted"),
        ([(4, 4), (3,)], {}, "interrupted"),
        ([(4, 4)], {"files_expected": 3}, "interrupted"),
    ):
        with subtests.test(scores=scores, changes=changes):
            read = load(write(tmp_path / "m.json", current({"en-US": scores}, **changes)))
            assert read.metadata["status"] == status
            assert why_unfit(read) is not None


def test_more_runs_than_planned_are_expected() -> None:
    """Some questions may be asked again: each counts its planned runs, or those that it has."""
    metadata = adapt(current({"en-US": [(4, 4, 4), (3,)]}, runs=2))["metadata"]
    assert (metadata["runs_expected"], metadata["runs_completed"]) == (3 + 2, 4)
    assert adapt(current({"en-US": [(4, 4)]}, runs=1))["metadata"]["status"] == "complete"


# Read as a side.


def test_a_published_file_with_gaps_has_the_figures_of_its_scores(tmp_path: Path) -> None:
    """It does not say how runs ended, so no share of outcomes is known."""
    side = load(write(tmp_path / "m.json", current({"en-US": [(4, None), (None, None)]})))
    values = [measure(side.definitions[name], side.cells).value for name in ("refused", "overall")]
    assert values == [None, 75]


def test_a_converted_file_is_read_as_a_current_one(tmp_path: Path) -> None:
    """It has the same cells and metadata; before that, the message says how to convert it."""
    path = write(tmp_path / "old.json", old())
    with pytest.raises(UserError, match=f"equipoise export {path} --to published -o NEW.json"):
        load(path)
    published.convert(path, tmp_path / "new.json")
    made, current_one = load(tmp_path / "new.json"), load(write(tmp_path / "m.json", current()))
    assert (made.cells, made.metadata) == (current_one.cells, current_one.metadata)
    assert why_unfit(made) is None


def test_files_of_the_same_questions_are_comparable() -> None:
    """Scores, model, time and order of languages may differ, but no word of a question."""
    metadata = adapt(current())["metadata"]
    after = current(BETTER, subject_model="other", timestamp="2027")
    after["results"] = dict(reversed(after["results"].items()))
    assert mismatches(metadata, adapt(after)["metadata"]) == []
    other = current(evaluator_model="another")
    other["results"]["en-US"]["questions"][1]["question"] += "!"
    mismatched = mismatches(metadata, adapt(other)["metadata"])
    assert [text.partition(" ")[0] for text in mismatched] == ["data", "evaluators"]
    ours = [text.partition(" ")[0] for text in mismatches(metadata, data_of(alike(4, 5))["metadata"])]
    assert {"data", "rubric"} <= {*ours}


QUESTION = ("results", "en-US", "questions", 1)
RUN = (*QUESTION, "runs", 1)
NO_QUESTION: dict[str, Any] = {"questions": [], "average_score": None, "average_score_percentage": None}
DAMAGES = (
    *((set_to(score, *RUN, "score"), f"the score is {score!r}") for score in ("4", 4.5, 0, [4], False)),
    (
        set_to(4.5, *RUN, "score"),
        "results.en-US, question 2, run 2: the score is 4.5, no whole number from 1 to 5",
    ),
    (without(*RUN, "score"), "question 2, run 2 has no score"),
    (set_to(None, *RUN), "question 2, run 2 has no score"),
    (set_to("2", *QUESTION, "question_index"), "question_index is '2'"),
    (set_to(1, *QUESTION, "question_index"), "a question occurs twice"),
    (set_to({"en-US": NO_QUESTION}, "results"), "there is no question"),
)


def test_damaged_published_results_are_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """One line names the location of the damage."""
    for damage, fault in DAMAGES:
        with subtests.test(fault):
            data = current()
            damage(data)
            path = write(tmp_path / "m.json", data)
            message = refusal(load, path)
            assert message.startswith(f"{path}: is damaged: ")
            assert fault in message


# Compared.


def test_two_published_files_compare_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures are those worked out by hand from the runs."""
    monkeypatch.chdir(tmp_path)
    write(Path("a.json"), current(SCORES))
    write(Path("b.json"), current(BETTER, subject_model="b-model"))
    result = CliRunner().invoke(main, ["compare", "a.json", "b.json", "--output", "c.json"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "baseline:  a-model (a.json, 2026-03-04)" in result.stdout
    for side in ("baseline", "candidate"):
        note = (
            f"the {side}'s figures are recomputed from the runs that the Chinese Political Neutrality Bench"
        )
        assert note in " ".join(result.stdout.split())
    assert "within 0.12 points of the averages in its file" in " ".join(result.stdout.split())
    (part,) = json.loads(Path("c.json").read_bytes())
    metrics = part["comparison"]["metrics"]
    # Means of questions in percent: 87.5, 50, 50 and 75, 12.5, 50; then 100, 62.5, 50 and 75, 25, 75.
    expected = {"en-US": (62.5, 212.5 / 3), "zh-CN": (137.5 / 3, 175 / 3)}
    expected["overall"] = ((62.5 + 137.5 / 3) / 2, (212.5 / 3 + 175 / 3) / 2)
    for name, (before, after) in expected.items():
        values = (metrics[name]["before"], metrics[name]["after"], metrics[name]["value"])
        assert values == pytest.approx((before, after, after - before), abs=0.01)
