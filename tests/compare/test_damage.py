"""Results that are damaged, odd or hostile, and figures that differ by rounding only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sides import Runs, alike, by_chance, data_of, set_to, side_of, without, write, write_data

from equipoise.cli import main
from equipoise.compare import gate
from equipoise.compare.baseline import load
from equipoise.compare.compare import compare
from equipoise.compare.release import conclude
from equipoise.core import settings
from equipoise.core.errors import UserError
from equipoise.core.rules import parse_rule
from equipoise.report import comparison as comparing
from equipoise.report import github

BEFORE = by_chance(1)
RUN = ("results", "aa", "questions", 0, "runs", 0)
CHANGES = ("metadata", "parameters_changed")
CHANGED = {"role": "subject", "model": "m", "parameter": "top_k", "action": "dropped", "reason": "HTTP 400"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two results."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "old.json", BEFORE)
    write(tmp_path / "new.json", by_chance(2, 0.3), subject_model="m2")
    return tmp_path


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(set_to({"low": 1, "high": 1}, "metadata", "scale"), id="scale_of_one_level"),
        pytest.param(without("metadata", "runs_expected"), id="no_runs_expected"),
        pytest.param(without("metadata", "runs_completed"), id="no_runs_completed"),
        pytest.param(set_to(5, "errors"), id="errors_number"),
        pytest.param(set_to([{}], "metadata", "response_models"), id="response_models_empty_row"),
        pytest.param(set_to(None, "metadata", "response_models"), id="response_models_null"),
        pytest.param(set_to(None, "metadata", "parameters_changed"), id="parameters_changed_null"),
        pytest.param(set_to([{}], "metadata", "parameters_changed"), id="parameters_changed_empty_row"),
        pytest.param(set_to([{**CHANGED, "role": None}], *CHANGES), id="changed_role_null"),
        pytest.param(set_to([{**CHANGED, "model": 5}], *CHANGES), id="changed_model_number"),
        pytest.param(set_to([{**CHANGED, "parameter": ["x"]}], *CHANGES), id="changed_parameter_list"),
        pytest.param(set_to([{**CHANGED, "action": None}], *CHANGES), id="changed_action_null"),
        pytest.param(without("metadata", "subject_model"), id="no_subject_model"),
        pytest.param(set_to(["x"], "results", "aa", "questions", 0, "area"), id="area_list"),
        pytest.param(set_to(["x"], "results", "aa", "questions", 0, "id"), id="id_list"),
        pytest.param(set_to(99, *RUN, "verdicts", 0, "score"), id="score_off_the_scale"),
    ],
)
def test_a_damaged_file_is_refused(folder: Path, damage: Any) -> None:
    """In one line, before anything is computed of it."""
    data = data_of(BEFORE)
    damage(data)
    with pytest.raises(UserError):
        load(write_data(folder / "x.json", data))


def test_a_parameter_that_an_endpoint_changed_is_no_damage(folder: Path) -> None:
    """The row that the damaged ones above are made of is read."""
    assert load(write(folder / "x.json", BEFORE, parameters_changed=[CHANGED])).model == "m1"


def test_a_score_that_is_no_number_is_refused(folder: Path) -> None:
    """NaN is no score."""
    text = (folder / "old.json").read_text()
    place = text.index('"score":', text.index('"verdicts":['))
    (folder / "x.json").write_text(text[:place] + '"score":NaN' + text[place + len('"score":x') :])
    with pytest.raises(UserError):
        load(folder / "x.json")


def test_a_question_that_stands_there_twice_is_refused(folder: Path) -> None:
    """Nobody knows which of the two is meant."""
    data = data_of(BEFORE)
    questions = data["results"]["aa"]["questions"]
    questions[1]["id"] = questions[0]["id"]
    write_data(folder / "x.json", data)
    result = CliRunner().invoke(main, ["compare", "x.json", "x.json"])
    assert result.exit_code == 4, repr(result.exception)


def test_a_language_of_which_nothing_was_asked_decides_nothing() -> None:
    """An interrupted session has its results and its gate."""
    part = {cell: runs for cell, runs in BEFORE.items() if not cell.startswith("cc")}
    chosen = settings.resolve({"model": "m2", "baseline": "old.json", "gate": ["cc:-5%"]}, {}, {})
    found = conclude(chosen, side_of(BEFORE), data_of(part, status="interrupted"), Path("m2.json"))
    assert found["gate"]["verdict"] == "inconclusive"


def test_an_area_without_a_shared_question_decides_nothing() -> None:
    """With --allow-mismatch, both have area x but share no cell of it."""
    before: Runs = {**alike(4, languages=["aa"], area="y"), "aa/q8/x": [4]}
    after: Runs = {**alike(4, languages=["aa"], area="y"), "aa/q9/x": [4]}
    options = {"model": "m2", "baseline": "old.json", "gate": ["area.x:-2pp"], "allow_mismatch": "true"}
    chosen = settings.resolve(options, {}, {})
    found = conclude(chosen, side_of(before), data_of(after), Path("m2.json"))
    assert found["gate"]["verdict"] == "inconclusive"


@pytest.mark.parametrize("name", ["a|b", "a\nb", "a\n\n# b", "<img src=x>", "a`b", "a\rb"])
def test_a_name_cannot_break_out_of_markdown(name: str) -> None:
    """It stays in its line, brings no HTML, and no cell or code span begins or ends with it."""
    newer = side_of(by_chance(2), subject_model=name)
    text = github.markdown("m", compare(side_of(BEFORE), newer).to_json(), None)
    (line,) = [line for line in text.splitlines() if line.endswith("against m1 (m1.json)")]
    assert line.startswith(("a", "&lt;img"))
    assert "<" not in text
    assert "`" not in line.replace("\\`", "")


def test_a_mismatch_is_marked_for_several_candidates(folder: Path) -> None:
    """Every line of figures says so."""
    write(folder / "m2.json", by_chance(2), data_hash="d1")
    result = CliRunner().invoke(main, ["compare", "old.json", "m2.json", "m2.json", "--allow-mismatch"])
    figures = [line for line in result.stdout.splitlines() if "%" in line and line.strip()[0] != "("]
    assert [line for line in figures if not line.endswith("[mismatch]")] == []


def test_a_mismatch_is_marked_in_the_gate(folder: Path) -> None:
    """Every ruling says so."""
    write(folder / "m2.json", by_chance(2), data_hash="d1")
    arguments = ["compare", "old.json", "m2.json", "--allow-mismatch", "--gate=overall:-2pp"]
    shown = CliRunner().invoke(main, arguments).stdout.splitlines()
    assert all("mismatch" in line for line in shown if line.startswith("gate "))


@pytest.mark.parametrize(
    "change", [{"subject_model": "m\n::error::x"}, {"subject_system_prompt": "a\n::error::x"}]
)
def test_what_files_say_breaks_no_line(change: Any) -> None:
    """A line of its own would be a workflow command in Actions."""
    newer = side_of(BEFORE, **change)
    found = compare(side_of(BEFORE), newer, allows_mismatch=True).to_json()
    assert all(line.isprintable() for line in comparing.lines(found))


def test_float_noise_is_no_fall() -> None:
    """Two runs of a panel, mean 8 1/3 % each time."""
    before: Runs = {"aa/q1": [(1, 1, 1), (1, 2, 2)]}
    after: Runs = {"aa/q1": [(1, 1, 2), (1, 1, 2)]}
    for one, other in ((before, after), (after, before)):
        found = compare(side_of(one), side_of(other))
        assert (found.fell, found.rose) == ([], [])


def test_float_noise_is_not_worse() -> None:
    """The language's mean is the same to the last digit but for the sum's rounding."""
    comparison = compare(side_of(by_chance(1)), side_of(by_chance(2, 0.3)))
    change = comparison.changes["aa"]
    assert change.before == pytest.approx(change.after, abs=1e-12)
    assert gate.judge(parse_rule("aa:-0"), comparison).verdict == "pass"


def test_more_questions_would_decide() -> None:
    """Five questions that all fell 25 points; the sixth would decide."""
    comparison = compare(side_of(alike(4, questions=5)), side_of(alike(3, questions=5)))
    why = gate.judge(parse_rule("overall:-2pp"), comparison).why
    assert "no number of runs or questions would decide" not in why


def test_an_output_that_cannot_be_written_is_a_usage_error(folder: Path) -> None:
    """One line, exit 4."""
    result = CliRunner().invoke(main, ["compare", "old.json", "new.json", "--output", str(folder)])
    assert (result.exit_code, result.stderr[:6]) == (4, "ERROR:"), repr(result.exception)


def test_a_job_summary_that_cannot_be_written_ends_nothing(folder: Path) -> None:
    """A session that is done must not end in a traceback for a summary."""
    github.publish("m", None, {"rules": [], "verdict": "pass"}, {"GITHUB_STEP_SUMMARY": "no/summary.md"})


def test_half_a_character_in_a_name_can_be_shown(folder: Path) -> None:
    """Half a character in a model's name, as JSON may have it."""
    text = (folder / "new.json").read_text().replace('"m2"', '"m\\ud83d"')
    (folder / "new.json").write_text(text)
    result = CliRunner().invoke(main, ["compare", "old.json", "new.json"])
    assert result.exit_code == 0, repr(result.exception)
