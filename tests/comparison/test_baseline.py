"""Results read back as one side of a comparison: what is no results file, and what keeps two apart."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from sides import SCALE, SUITE, Runs, alike, data_of, metadata, set_to, side_of, without, write, write_data

from conftest import refusal as refused
from equipoise.comparison.comparable import allowed_differences, mismatches, sampling_differences, why_unfit
from equipoise.comparison.verify import load_verified
from equipoise.core.types import JSON
from equipoise.results.document import RunError
from equipoise.results.load import load

RUNS: Runs = {"aa/q1": (4, 5), "aa/q2": (2, 3), "bb/q1": ("blocked", "error")}
NO_SCORE = cast("RunError", {})
"""A run without a score, of which only the number counts."""


def refusal(path: Path) -> str:
    """The one line in which a file is refused; it begins with the file's name."""
    message = refused(load, path)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


# What can be loaded.


def test_a_side_is_what_the_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Model, metrics, scale, cells and digest; rows of large results do not stay in memory."""
    path = write(tmp_path / "m.json", RUNS, subject_model="a model")
    loaded = load(path)
    assert (loaded.model, loaded.suite.name) == ("a model", SUITE)
    assert loaded.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (loaded.scale.low, loaded.scale.high) == (SCALE.low, SCALE.high)
    assert [cell.id for cell in loaded.cells] == ["aa/q1", "aa/q2", "bb/q1"]
    assert [cell.values["percent"] for cell in loaded.cells] == [[75, 100], [25, 50], [0, None]]
    assert [*loaded.definitions] == ["overall", "aa", "bb"]
    path = write(tmp_path / "m.json", RUNS)
    assert load(path).file == str(path)
    monkeypatch.chdir(tmp_path)
    assert load(path).file == "m.json"
    path = write(tmp_path / "m.json", RUNS)
    side = load_verified(path)
    assert side.cells == load(path).cells
    assert (side.rows, side.cued_rows) == ((), ())


# What cannot.


def test_what_is_no_results_file_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Whatever else the file may be, or where there is none: one line, and no traceback."""
    assert refusal(tmp_path / "nowhere.json") == "cannot be read (No such file or directory)"
    assert refusal(tmp_path) == "is a folder; name the results files in it"
    path = tmp_path / "m.json"
    for content in (
        b"",
        b"my notes",
        b'{"metadata": {',
        b"\xff\xfe\x00",
        b"[" * 200_000,
        b"null",
        b"5",
        b'"metadata"',
        b"[]",
        b"{}",
        b'{"metadata": null, "results": {}}',
        b'{"metadata": [], "results": {}}',
        b'{"metadata": {"suite": "attribution"}, "results": {}}',
        b'{"metadata": {"schema_version": 1}, "results": {}}',
        b'{"metadata": {"schema_version": 1, "suite": "attribution"}}',
        b'{"kind":"session","format":1}\n{"kind":"record"}\n',
    ):
        with subtests.test(content=content[:60]):
            path.write_bytes(content)
            assert refusal(path) == "is not an Equipoise results file"
    journal = path.rename(tmp_path / "m.attribution.jsonl")
    hint = "; a journal's results are m.attribution.json"
    assert refusal(journal) == f"is not an Equipoise results file{hint}"


def test_another_schema_or_suite_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Later results are not guessed at, an unknown name is not imported, and what is shown is escaped."""
    versions: list[JSON] = [0, 2, "1", None, [1]]
    for version in versions:
        with subtests.test(version=version):
            message = refusal(write(tmp_path / "m.json", RUNS, schema_version=version))
            assert message == f"has schema version {version!r}; this Equipoise reads 1"
    data = data_of(RUNS)
    suites: list[JSON] = ["nonsense", "", None, [SUITE], f"../{SUITE}"]
    for suite in suites:
        with subtests.test(suite=suite):
            set_to(suite, "metadata", "suite")(data)
            assert refusal(write_data(tmp_path / "m.json", data)) == f"there is no suite {suite!r}"
    for character in "\n\r\a\x9b":
        data = data_of(RUNS)
        set_to(f"a{character}b", "metadata", "suite")(data)
        path = write_data(tmp_path / f"a{character}b.json", data)
        assert refused(load, path).isprintable(), ascii(character)


def same_id(data: Any) -> None:
    """Give two questions of a language one id."""
    first, second = data["results"]["aa"]["questions"]
    second["id"] = first["id"]


QUESTION = ("results", "aa", "questions", 0)
RUN = (*QUESTION, "runs", 0)
DAMAGES = {
    "no_errors": without("errors"),
    "scale_of_texts": set_to({"low": "1", "high": "5"}, "metadata", "scale"),
    "scale_of_one_level": set_to({"low": 1, "high": 1}, "metadata", "scale"),
    "language_null": set_to(None, "results", "aa"),
    "no_id": without(*QUESTION, "id"),
    "score_text": set_to("4", *RUN, "verdicts", 0, "score"),
    "id_twice": same_id,
    "value_off_the_scale": set_to(999, *RUN, "values", "percent"),
}


def test_damaged_results_are_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """A part that is missing, of another kind or impossible is a damage that is named, not a crash."""
    for name, damage in DAMAGES.items():
        with subtests.test(name):
            data = data_of(RUNS)
            damage(data)
            message = refusal(write_data(tmp_path / "m.json", data))
            assert message.startswith(("is damaged: /", "is damaged: aa/", "is damaged: a question"))
    path = write(tmp_path / "m.json", RUNS)
    path.write_text(re.sub(r'("verdicts":\[\{.*?"score":)4', r"\1NaN", path.read_text(), count=1))
    refusal(path)


# Whether two can be compared.


FIELDS = {
    "suite": ("suite", "other"),
    "data_hash": ("data", "d1"),
    "rubric_hash": ("rubric", "r1"),
    "scale": ("scale", {"low": 0, "high": 5}),
    "evaluator_models": ("evaluators", ["e1", "e2"]),
    "evaluator_sampling": ("evaluators' sampling", {"temperature": 0.5}),
    "evaluator_system_prompt": ("evaluators' system prompt", "Be strict."),
    "subject_sampling": ("subject's sampling", {}),
    "subject_system_prompt": ("subject's system prompt", "Be kind."),
}


def test_what_must_agree_is_named_where_it_differs(subtests: pytest.Subtests) -> None:
    """The field and both its values, and no other; model, dates, runs and who answered may well differ."""
    for key, (name, value) in FIELDS.items():
        with subtests.test(key):
            before, after = metadata(RUNS), metadata(RUNS, **{key: value})
            earlier = cast("Mapping[str, JSON]", before)[key]
            values = "" if key in ("data_hash", "rubric_hash") else f": {earlier}, now {value}"
            plain = values.replace("['e1']", "e1").replace("['e1', 'e2']", "e1, e2")
            assert mismatches(before, after) == [f"{name} differs{plain}"]
    before = metadata(RUNS, rubric_version="3")
    after = metadata(RUNS, rubric_hash="r1", rubric_version="mine-1")
    assert mismatches(before, after) == ["rubric differs: 3, now mine-1"]
    free: dict[str, JSON] = {"subject_model": "m2", "started": "2027", "status": "interrupted"}
    assert mismatches(metadata(RUNS), metadata(alike(4, 4, 4), **free, response_models=[{}])) == []


def test_every_mismatch_is_told_in_a_stable_order() -> None:
    """Suite, data, rubric, scale, then who judged and how it was asked, of a long prompt the beginning."""
    other = metadata(RUNS, **{key: value for key, (_, value) in reversed(FIELDS.items())})
    words = [text.partition(" differs")[0] for text in mismatches(metadata(RUNS), other)]
    assert words == [name for name, _ in FIELDS.values()]
    before, after = (metadata(RUNS, suite="neutrality", dataset=name) for name in ("own", "open"))
    assert mismatches(before, after) == []
    words = [text.partition(":")[0] for text in mismatches(before, {**after, "data_hash": "another"})]
    assert words == ["data differs", "dataset differs"]
    (text,) = mismatches(metadata(RUNS), metadata(RUNS, subject_system_prompt="x" * 61))
    assert text == f"subject's system prompt differs: None, now {'x' * 57}..."
    (text,) = mismatches(metadata(RUNS), metadata(RUNS, subject_system_prompt="x" * 60))
    assert text.endswith(f"now {'x' * 60}")


def test_only_complete_results_can_be_a_baseline(subtests: pytest.Subtests) -> None:
    """One with missing runs would flatter its candidates; one of a hundred, or what a rule says, may be."""
    assert why_unfit(side_of(RUNS)) is None
    for status in ("interrupted", "incomplete", "running", None):
        reason = f"the baseline is {status}: not every run has a score"
        assert why_unfit(side_of(RUNS, status=status, runs_completed=5)) == reason
    for unscored, most, expected in (
        (1, 1.0, None),
        (2, 1.0, "2 of 100 runs of the baseline have no score, more than unscored:1% allows"),
        (2, 2.5, None),
        (1, 0.0, "1 of 100 runs of the baseline have no score, more than unscored:0% allows"),
    ):
        with subtests.test(unscored=unscored, most=most):
            status = "complete_with_unscored"
            planned = metadata(RUNS, status=status, runs_expected=100, runs_completed=100)
            side = replace(side_of(RUNS), metadata=planned, errors=[NO_SCORE] * unscored)
            assert why_unfit(side, most) == expected
    missing = metadata(RUNS, status="interrupted", runs_expected=100, runs_completed=99)
    assert why_unfit(replace(side_of(RUNS), metadata=missing, errors=[NO_SCORE])) is not None


# What keeps no two apart, but should be known.


def answered(role: str, model: str = "m", **parts: JSON) -> dict[str, JSON]:
    """A row that says which model and fingerprint answered, as the metadata have it."""
    answer = {"response_model": "m-1", "system_fingerprint": "f1", "calls": 3, **parts}
    return {"role": role, "model": model, **answer}


def told(before: Sequence[dict[str, JSON]], after: Sequence[dict[str, JSON]]) -> list[str]:
    """What there is to know of who answered."""
    return allowed_differences(*(metadata(RUNS, response_models=[*rows]) for rows in (before, after)))


PANEL = [answered("subject"), answered("evaluator"), answered("evaluator", system_fingerprint="f2")]
NEWS: dict[str, tuple[Sequence[dict[str, JSON]], Sequence[dict[str, JSON]], list[str]]] = {
    "calls and order": (PANEL, [{**row, "calls": 9} for row in reversed(PANEL)], []),
    "another subject": ([answered("subject", "m1")], [answered("subject", "m2", response_model="other")], []),
    "another role": ([answered("subject")], [answered("evaluator", response_model="other")], []),
    "what was not said": (
        [answered("subject", system_fingerprint=None)],
        [answered("subject")],
        ["subject m: the system fingerprint was unknown, now f1"],
    ),
    "many": (
        [answered("subject", system_fingerprint=f"f{n}") for n in (5, 3, 1, 4, 2)],
        [answered("subject")],
        ["subject m: the system fingerprint was f1, f2, f3 and 2 more, now f1"],
    ),
    **{
        f"{part} of the {role}": (
            [answered(role, **{part: "old"})],
            [answered(role, **{part: "new"})],
            [f"{role} m: the {part.replace('_', ' ')} was old, now new"],
        )
        for part in ("response_model", "system_fingerprint", "provider")
        for role in ("subject", "evaluator")
    },
}
"""Who answered before and after, and what is told: the same name may be served by something else by now."""


def test_who_answers_otherwise_than_before_is_told(subtests: pytest.Subtests) -> None:
    """Only who has the same name in both is held against itself; what metadata lack is not known."""
    for name, (before, after, expected) in NEWS.items():
        with subtests.test(name):
            assert told(before, after) == expected
    bare: Any = metadata(RUNS)
    del bare["response_models"], bare["parameters_changed"]
    assert allowed_differences(bare, metadata(RUNS)) == []


def learned(
    role: str = "subject", parameter: str = "temperature", action: str = "dropped"
) -> dict[str, JSON]:
    """A row that says which parameter an endpoint would not take."""
    return {"role": role, "model": "m", "parameter": parameter, "action": action, "reason": "HTTP 400"}


def test_a_parameter_that_only_one_could_send_is_told() -> None:
    """Whichever of the two it was: they were not asked alike."""
    plain = metadata(RUNS)
    changed = [learned(parameter="max_tokens", action="renamed to max_completion_tokens")]
    other = metadata(RUNS, parameters_changed=[*changed, learned("evaluator", "response_format")])
    expected = [
        "evaluator: response_format was dropped in one of the two only",
        "subject: max_tokens was renamed to max_completion_tokens in one of the two only",
    ]
    assert sampling_differences(plain, other) == []
    assert allowed_differences(plain, other) == allowed_differences(other, plain) == expected
    assert allowed_differences(other, other) == []


def test_sampling_that_an_endpoint_changed_for_one_only_is_a_mismatch() -> None:
    """Whatever the settings say; which of the two it was is told, by each evaluator of a panel."""
    plain, words = metadata(RUNS), "sampling as sent differs: "
    for parameter, action in (("temperature", "dropped"), ("top_p", "renamed to heat"), ("top_k", "dropped")):
        changed = metadata(RUNS, parameters_changed=[learned(parameter=parameter, action=action)])
        change = f"{words}subject's {parameter} was {action} in the"
        assert sampling_differences(plain, changed) == [f"{change} candidate only"]
        assert sampling_differences(changed, plain) == [f"{change} baseline only"]
        assert allowed_differences(plain, changed) == []
    dropped, renamed = learned(), learned(action="renamed to heat")
    first, second = ({**learned("evaluator"), "model": name} for name in ("e1", "e2"))
    for one, other, differences in (
        (dropped, {**dropped, "model": "m2"}, []),
        (
            dropped,
            renamed,
            ["subject's temperature was dropped", "subject's temperature was renamed to heat"],
        ),
        (first, second, [f"evaluator {name}'s temperature was dropped" for name in ("e1", "e2")]),
    ):
        before, after = (metadata(RUNS, parameters_changed=[row]) for row in (one, other))
        sides = zip(differences, ("baseline", "candidate"), strict=False)
        expected = [f"{words}{change} in the {side} only" for change, side in sides]
        assert sampling_differences(before, after) == expected
