"""Results read back as one side of a comparison: what is no results file, and what keeps two apart."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sides import SCALE, Runs, alike, data_of, metadata, set_to, side_of, without, write, write_data

from equipoise.compare.baseline import (
    changes,
    is_unfit,
    load,
    mismatches,
    missing_cells,
    sent_otherwise,
    side,
)
from equipoise.core.errors import UserError
from equipoise.core.types import JSON

RUNS: Runs = {"aa/q1": (4, 5), "aa/q2": (2, 3), "bb/q1": ("blocked", "error")}


def refusal(path: Path) -> str:
    """The one line in which a file is refused; it begins with the file's name."""
    with pytest.raises(UserError) as found:
        load(path)
    message = str(found.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


# What can be loaded.


def test_a_side_is_what_the_file_says(tmp_path: Path) -> None:
    """Model, metrics, scale and cells come from the file, and its digest identifies it."""
    path = write(tmp_path / "m.json", RUNS, subject_model="a model")
    found = load(path)
    assert (found.model, found.suite.NAME) == ("a model", "neutrality")
    assert found.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (found.scale.low, found.scale.high) == (SCALE.low, SCALE.high)
    assert [cell.id for cell in found.cells] == ["aa/q1", "aa/q2", "bb/q1"]
    assert [cell.values["percent"] for cell in found.cells] == [[75, 100], [25, 50], [0, None]]
    assert [*found.metrics][:4] == ["overall", "aa", "bb", "area.x"]


def test_the_file_is_named_as_a_user_reads_it_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative where it is below the current folder."""
    path = write(tmp_path / "m.json", RUNS)
    assert load(path).file == str(path)
    monkeypatch.chdir(tmp_path)
    assert load(path).file == "m.json"


def test_a_side_of_this_session_is_that_of_its_file(tmp_path: Path) -> None:
    """But for the digest, which a session has not got yet."""
    path = write(tmp_path / "m.json", RUNS)
    loaded, made = load(path), side("m.json", data_of(RUNS))
    assert (made.cells, made.metadata, made.data) == (loaded.cells, loaded.metadata, loaded.data)
    assert made.digest is None


def test_transcripts_are_not_kept(tmp_path: Path) -> None:
    """Large results do not stay in memory: metadata and errors are all that is needed besides the cells."""
    found = load(write(tmp_path / "m.json", RUNS))
    assert {*found.data} == {"metadata", "errors"}


def test_about_identifies_a_side_in_a_comparison() -> None:
    """File, digest, model, dates, runs and status; nothing else."""
    assert side_of(RUNS, status="interrupted").about() == {
        "file": "m1.json",
        "sha256": None,
        "subject_model": "m1",
        "started": "2026-01-02T03:04:05+00:00",
        "finished": "2026-01-02T04:05:06+00:00",
        "runs": 2,
        "status": "interrupted",
    }


def test_results_of_the_first_schema_can_be_a_baseline(tmp_path: Path) -> None:
    """What was kept before there were intervals has all that a comparison needs."""
    assert load(write(tmp_path / "m.json", RUNS, schema_version=1)).model == "m1"


@pytest.mark.parametrize(("version", "key"), [(2, "deck"), (3, "dataset")])
def test_the_dataset_is_known_by_the_key_of_its_version(tmp_path: Path, version: int, key: str) -> None:
    """Earlier versions called it a deck; anything below that, too, is read under its present key."""
    found = load(write(tmp_path / "m.json", RUNS, schema_version=version, **{key: "own"}))
    assert found.metadata["dataset"] == "own"
    assert "deck" not in found.metadata


# What cannot.


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """And so is a folder, each with the reason."""
    assert refusal(tmp_path / "nowhere.json") == "cannot be read (No such file or directory)"
    assert refusal(tmp_path) == "cannot be read (Is a directory)"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"my notes", id="text"),
        pytest.param(b'{"metadata": {', id="cut_short"),
        pytest.param(b"\xff\xfe\x00", id="binary"),
        pytest.param(b"[" * 200_000, id="deep"),
        pytest.param(b"null", id="null"),
        pytest.param(b"5", id="number"),
        pytest.param(b'"metadata"', id="string"),
        pytest.param(b"[]", id="list"),
        pytest.param(b"{}", id="object"),
        pytest.param(b'{"metadata": null, "results": {}}', id="no_metadata"),
        pytest.param(b'{"metadata": [], "results": {}}', id="metadata_list"),
        pytest.param(b'{"metadata": {"suite": "neutrality"}, "results": {}}', id="no_schema"),
        pytest.param(b'{"metadata": {"schema_version": 3}, "results": {}}', id="no_suite"),
        pytest.param(b'{"metadata": {"schema_version": 3, "suite": "neutrality"}}', id="no_results"),
        pytest.param(b'{"kind":"session","format":1}\n{"kind":"record"}\n', id="journal"),
    ],
)
def test_what_is_no_results_file_is_refused(tmp_path: Path, content: bytes) -> None:
    """Whatever else the file may be: one line, and no traceback."""
    path = tmp_path / "m.json"
    path.write_bytes(content)
    assert refusal(path) == "is not an Equipoise results file"


@pytest.mark.parametrize("version", [0, 4, "2", None, [2]])
def test_another_schema_is_refused(tmp_path: Path, version: JSON) -> None:
    """Results of a later Equipoise are not guessed at."""
    message = refusal(write(tmp_path / "m.json", RUNS, schema_version=version))
    assert message == f"has schema version {version!r}; this Equipoise reads 1, 2, 3"


@pytest.mark.parametrize("suite", ["nonsense", "", None, ["neutrality"], "../neutrality"])
def test_an_unknown_suite_is_refused(tmp_path: Path, suite: JSON) -> None:
    """A name from a file is never imported unless there is such a suite."""
    message = refusal(write(tmp_path / "m.json", RUNS, suite=suite))
    assert message == f"there is no suite {suite!r}"


QUESTION = ("results", "aa", "questions", 0)
RUN = (*QUESTION, "runs", 0)
DAMAGES = {
    "no_errors": without("errors"),
    "no_scale": without("metadata", "scale"),
    "no_low": without("metadata", "scale", "low"),
    "scale_null": set_to(None, "metadata", "scale"),
    "scale_of_texts": set_to({"low": "1", "high": "5"}, "metadata", "scale"),
    "results_list": set_to([], "results"),
    "results_null": set_to(None, "results"),
    "language_null": set_to(None, "results", "aa"),
    "no_questions": without("results", "aa", "questions"),
    "questions_null": set_to(None, "results", "aa", "questions"),
    "question_text": set_to("q1", *QUESTION),
    "no_id": without(*QUESTION, "id"),
    "no_area": without(*QUESTION, "area"),
    "no_runs": without(*QUESTION, "runs"),
    "runs_number": set_to(5, *QUESTION, "runs"),
    "run_null": set_to(None, *RUN),
    "no_outcome": without(*RUN, "outcome"),
    "no_verdicts": without(*RUN, "verdicts"),
    "verdict_null": set_to([None], *RUN, "verdicts"),
    "no_score": without(*RUN, "verdicts", 0, "score"),
    "score_text": set_to("4", *RUN, "verdicts", 0, "score"),
    "score_list": set_to([4], *RUN, "verdicts", 0, "score"),
    "evaluator_list": set_to(["e"], *RUN, "verdicts", 0, "evaluator"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_results_are_refused(tmp_path: Path, damage: Callable[[Any], None]) -> None:
    """A part that is missing or of another kind is a damage that is named, not a crash."""
    data = data_of(RUNS)
    damage(data)
    assert refusal(write_data(tmp_path / "m.json", data)).startswith("is damaged: ")


@pytest.mark.parametrize("character", ["\n", "\r", "\a", "\x9b"], ids=ascii)
def test_a_file_cannot_write_on_the_terminal(tmp_path: Path, character: str) -> None:
    """What stands in a file or in its name is shown with escapes."""
    path = write(tmp_path / f"a{character}b.json", RUNS, suite=f"a{character}b")
    with pytest.raises(UserError) as found:
        load(path)
    assert str(found.value).isprintable()


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


@pytest.mark.parametrize(("key", "name", "value"), [(key, *rest) for key, rest in FIELDS.items()])
def test_what_must_agree_is_named_where_it_differs(key: str, name: str, value: JSON) -> None:
    """The field and both its values, and no other."""
    before, after = metadata(RUNS), metadata(RUNS, **{key: value})
    assert mismatches(before, after) == [f"{name} differs: {before[key]}, now {value}"]


def test_two_sessions_alike_do_not_mismatch() -> None:
    """The model, the dates, the number of runs and who answered may well differ."""
    other = metadata(
        alike(4, 4, 4), subject_model="m2", started="2027", status="interrupted", response_models=[{}]
    )
    assert mismatches(metadata(RUNS), other) == []


def test_every_mismatch_is_told_in_a_stable_order() -> None:
    """First the suite, then data, rubric and scale, then who judged and how it was asked."""
    other = metadata(RUNS, **{key: value for key, (_, value) in reversed(FIELDS.items())})
    words = [text.partition(" differs")[0] for text in mismatches(metadata(RUNS), other)]
    assert words == [name for name, _ in FIELDS.values()]


def test_a_long_value_is_cut() -> None:
    """A system prompt of a page makes no message of a page: 60 characters at most."""
    (text,) = mismatches(metadata(RUNS), metadata(RUNS, subject_system_prompt="x" * 61))
    assert text == f"subject's system prompt differs: None, now {'x' * 57}..."
    (text,) = mismatches(metadata(RUNS), metadata(RUNS, subject_system_prompt="x" * 60))
    assert text.endswith(f"now {'x' * 60}")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("abc", "cab", []),
        ("", "", []),
        ("abc", "ab", ["only the baseline has c"]),
        ("ab", "abcd", ["only the candidate has c and 1 more"]),
        ("xaby", "abz", ["only the baseline has x and 1 more", "only the candidate has z"]),
        ("ab", "", ["only the baseline has a and 1 more"]),
    ],
)
def test_cells_that_only_one_has_are_named(before: str, after: str, expected: list[str]) -> None:
    """The first of them and how many more there are, for each side; the order does not matter."""
    assert missing_cells([*before], [*after]) == expected


@pytest.mark.parametrize("status", ["interrupted", "incomplete", "running", None])
def test_only_complete_results_can_be_a_baseline(status: str | None) -> None:
    """A baseline with missing runs would flatter or blame whoever comes after it."""
    assert is_unfit(metadata(RUNS)) is None
    expected = f"the baseline is {status}: not every run has a score"
    assert is_unfit(metadata(RUNS, status=status)) == expected


# What keeps no two apart, but should be known.


def answered(role: str, model: str = "m", **parts: JSON) -> dict[str, JSON]:
    """A row that says which model and fingerprint answered, as the metadata have it."""
    found = {"response_model": "m-1", "system_fingerprint": "f1", "calls": 3, **parts}
    return {"role": role, "model": model, **found}


def told(before: list[dict[str, JSON]], after: list[dict[str, JSON]]) -> list[str]:
    """What there is to know of who answered."""
    return changes(*(metadata(RUNS, response_models=rows) for rows in (before, after)))


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("response_model", "response model"),
        ("system_fingerprint", "system fingerprint"),
        ("provider", "provider"),
    ],
)
@pytest.mark.parametrize("role", ["subject", "evaluator"])
def test_another_answering_model_fingerprint_or_provider_is_told(role: str, part: str, words: str) -> None:
    """The same name may be served by something else by now."""
    found = told([answered(role, **{part: "old"})], [answered(role, **{part: "new"})])
    assert found == [f"{role} m: the {words} was old, now new"]


def test_who_answered_as_before_is_no_news() -> None:
    """Neither the number of calls nor the order of the rows is."""
    rows = [answered("subject"), answered("evaluator"), answered("evaluator", system_fingerprint="f2")]
    assert told(rows, [{**row, "calls": 9} for row in reversed(rows)]) == []


def test_another_subject_is_no_news() -> None:
    """Only who has the same name in both is held against itself."""
    assert told([answered("subject", "m1")], [answered("subject", "m2", response_model="other")]) == []
    assert told([answered("subject")], [answered("evaluator", response_model="other")]) == []


def test_what_was_not_said_is_unknown() -> None:
    """An endpoint that gives no fingerprint is not one with the fingerprint None."""
    found = told([answered("subject", system_fingerprint=None)], [answered("subject")])
    assert found == ["subject m: the system fingerprint was unknown, now f1"]


def test_many_names_are_cut() -> None:
    """Three are shown, in order, and the number of the rest."""
    rows = [answered("subject", system_fingerprint=f"f{n}") for n in (5, 3, 1, 4, 2)]
    found = told(rows, [answered("subject")])
    assert found == ["subject m: the system fingerprint was f1, f2, f3 and 2 more, now f1"]


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
    assert sent_otherwise(plain, other) == []
    assert changes(plain, other) == changes(other, plain) == expected
    assert changes(other, other) == []


@pytest.mark.parametrize("parameter", ["temperature", "top_p", "top_k"])
@pytest.mark.parametrize("action", ["dropped", "renamed to heat", "replaced by 1"])
def test_sampling_that_an_endpoint_changed_for_one_only_is_a_mismatch(parameter: str, action: str) -> None:
    """Replies were drawn in another way, whatever the settings say; which of the two it was is told."""
    plain = metadata(RUNS)
    other = metadata(RUNS, parameters_changed=[learned(parameter=parameter, action=action)])
    words = f"sampling as sent differs: subject's {parameter} was {action} in the"
    assert sent_otherwise(plain, other) == [f"{words} candidate only"]
    assert sent_otherwise(other, plain) == [f"{words} baseline only"]
    assert changes(plain, other) == []


def test_sampling_that_both_endpoints_changed_alike_is_none() -> None:
    """Of two subjects, whatever they are called; but dropped is not renamed."""
    dropped, renamed = learned(), learned(action="renamed to heat")
    before = metadata(RUNS, parameters_changed=[dropped])
    assert sent_otherwise(before, metadata(RUNS, parameters_changed=[{**dropped, "model": "m2"}])) == []
    assert sent_otherwise(before, metadata(RUNS, parameters_changed=[renamed])) == [
        "sampling as sent differs: subject's temperature was dropped in the baseline only",
        "sampling as sent differs: subject's temperature was renamed to heat in the candidate only",
    ]


def test_the_sampling_of_each_evaluator_is_its_own() -> None:
    """That another one of the panel had no temperature either does not make two panels alike."""
    rows = [{**learned("evaluator"), "model": name} for name in ("e1", "e2")]
    before, after = (metadata(RUNS, parameters_changed=[row]) for row in rows)
    assert sent_otherwise(before, after) == [
        "sampling as sent differs: evaluator e1's temperature was dropped in the baseline only",
        "sampling as sent differs: evaluator e2's temperature was dropped in the candidate only",
    ]


def test_metadata_of_the_first_schema_may_lack_these_parts() -> None:
    """Nothing is known then, and nothing told."""
    bare = metadata(RUNS)
    del bare["response_models"], bare["parameters_changed"]
    assert changes(bare, metadata(RUNS)) == []
