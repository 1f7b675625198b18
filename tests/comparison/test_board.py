"""Many models side by side: what shares a table, what does not, and what a table knows of its models."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import builders
import pytest

import pages
from equipoise import suites
from equipoise.comparison.board import board
from equipoise.comparison.comparable import must_agree
from equipoise.comparison.entry import CASES, Entry, entry
from equipoise.comparison.trend import split_version, trend
from equipoise.results.results import of_json

Data = dict[str, Any]
Change = Callable[[Data], object]
AUDIT = builders.audit()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """The results of one model."""
    path = pages.write(tmp_path_factory.mktemp("base") / "a.json", "model-a", questions=4)
    data: Data = json.loads(path.read_bytes())
    data["metadata"]["subject_sampling"] = {"temperature": 1.0, "max_tokens": 100}
    data["metadata"]["evaluator_sampling"] = {"temperature": 0.0, "max_tokens": 100}
    data["audit"] = dict.fromkeys(pages.JUDGES, AUDIT)
    return data


def of(data: Data, number: int = 0) -> Entry:
    """Its entry."""
    return entry(of_json(f"{number}.json", data, f"digest {number}"), number)


def changed(data: Data, change: Change, model: str = "model-b") -> Data:
    """The same results of another model, with this difference."""
    other = copy.deepcopy(data)
    other["metadata"]["subject_model"] = model
    change(other)
    return other


def put(name: str, value: Any) -> Change:
    """Another value in the metadata."""
    return lambda data: data["metadata"].update({name: value})


def sampling(role: str, **more: Any) -> Change:
    """Another parameter in a role's sampling."""
    return lambda data: data["metadata"][f"{role}_sampling"].update(more)


def dropped(role: str, model: str, parameter: str, action: str) -> Change:
    """A parameter that an endpoint did not take."""
    row = {"role": role, "model": model, "parameter": parameter, "action": action}
    return lambda data: data["metadata"]["parameters_changed"].append(row)


def audits(**of_judges: Any) -> Change:
    """Other audits, by what follows "judge-"."""
    return lambda data: data["audit"].update({f"judge-{name}": audit for name, audit in of_judges.items()})


def without_question(data: Data) -> None:
    """Asked one question less."""
    for part in data["results"].values():
        del part["questions"][0]


def other_question(data: Data) -> None:
    """Asked as many questions, of which one is another."""
    for part in data["results"].values():
        part["questions"][0].update(id="q99_x", cluster="q99")


def other_panel(data: Data) -> None:
    """Judged by one more."""
    data["metadata"]["evaluator_models"].append("judge-c")
    data["audit"]["judge-c"] = AUDIT


MIXES: Mapping[str, Change] = {
    "data": put("data_hash", "f" * 64),
    "dataset with other data": lambda data: data["metadata"].update(dataset="open", data_hash="e" * 64),
    "rubric": put("rubric_hash", "f" * 64),
    "rubric version": put("rubric_version", "99"),
    "subject and sides": put("about", {"topic": "tea"}),
    "scale": put("scale", {"low": 0, "high": 10}),
    "evaluators": put("evaluator_models", ["judge-a", "judge-z"]),
    "one evaluator": put("evaluator_models", ["judge-a"]),
    "a larger panel": other_panel,
    "evaluators' temperature": sampling("evaluator", temperature=1.0),
    "evaluators' top_p": sampling("evaluator", top_p=0.5),
    "evaluators' length": sampling("evaluator", max_tokens=5),
    "evaluators' system prompt": put("evaluator_system_prompt", "Be strict."),
    "subject's temperature": sampling("subject", temperature=0.0),
    "subject's top_p": sampling("subject", top_p=0.5),
    "subject's length": sampling("subject", max_tokens=5),
    "subject's system prompt": put("subject_system_prompt", "Be neutral."),
    "languages": lambda data: data["results"].pop("pt-BR"),
    "fewer questions": without_question,
    "other questions": other_question,
    "subject's temperature dropped": dropped("subject", "model-b", "temperature", "dropped"),
    "evaluator's top_p renamed": dropped("evaluator", "judge-a", "top_p", "renamed"),
    "not audited": lambda data: data.update(audit={}),
    "one evaluator not audited": audits(b=None),
    "audit not complete": audits(a={**AUDIT, "state": "incomplete"}),
    "evaluator changed since its audit": audits(b={**AUDIT, "differs": ["the model was x, now y"]}),
    "recomputed from published runs": put("recomputed_from", "another benchmark"),
}
"""What two results of one suite may differ in, each of which keeps them apart."""
FREE: Mapping[str, Change] = {
    "nothing but the model": lambda data: None,
    "the order of the panel": lambda data: data["metadata"]["evaluator_models"].reverse(),
    "the name of the same data": put("dataset", "renamed"),
    "the number of runs": put("runs", 9),
    "when it was asked": put("started", "2027-01-01T00:00:00+00:00"),
    "the program's version": put("equipoise_version", "9.9.9"),
    "the cost": put("cost_usd", {"subject": None, "evaluator": None}),
    "a change that is not about sampling": dropped("subject", "model-b", "logprobs", "dropped"),
}


def of_suites(base: Data) -> Iterator[tuple[str, Data, Data]]:
    """For each option of a suite that matters, two results that differ in it alone."""
    for name in suites.names():
        empty = {**base, "results": {}, "metadata": {**base["metadata"], "suite": name}}
        shared = must_agree("none of these")
        for key, label in must_agree(name).items():
            if key not in shared and key != "dataset":
                yield f"{name}: {label}", empty, changed(empty, put(key, "another"))


def test_results_that_differ_in_what_matters_share_no_table(base: Data, subtests: pytest.Subtests) -> None:
    """More than 30 kinds of mix, each in two tables, the second with its reason in words."""
    mixes = [(name, base, changed(base, change)) for name, change in MIXES.items()]
    mixes += of_suites(base)
    assert len(mixes) >= 30
    for name, first, second in mixes:
        with subtests.test(name):
            (section,) = board([of(first, 0), of(second, 1)]).sections
            assert [[item.place for item in table.entries] for table in section.tables] == [[0], [1]]
            main, other = section.tables
            assert not main.reasons
            assert other.reasons
            assert all(": " in reason and len(reason) < 220 for reason in other.reasons)
            assert board([of(second, 0), of(first, 1)]).sections[0].tables[1].reasons
    with subtests.test("another suite"):
        another = {**base, "results": {}, "metadata": {**base["metadata"], "suite": "politicsbench"}}
        assert len(board([of(base, 0), of(another, 1)]).sections) == 2


def test_what_does_not_matter_is_no_reason(base: Data, subtests: pytest.Subtests) -> None:
    """Two models that differ in it stand in one table."""
    for name, change in FREE.items():
        with subtests.test(name):
            (section,) = board([of(base, 0), of(changed(base, change), 1)]).sections
            assert [len(table.entries) for table in section.tables] == [2]


def test_a_table_has_its_models_once_the_largest_first(base: Data) -> None:
    """Reasons are against the largest; the same file twice is named as left out, no run stands last."""
    small = changed(base, put("subject_system_prompt", "Be neutral."), "model-a")
    entries = [of(small, 0), *(of(changed(base, FREE["the cost"], f"m-{n}"), n) for n in (1, 2))]
    first, second = board(entries).sections[0].tables
    assert [item.model for item in first.entries] == ["m-1", "m-2"]
    assert second.reasons == ["subject's system prompt: Be neutral., there none"]
    assert first.first.settings[CASES]["cases"] == 12
    twice = [of(base, 0), entry(of_json("copy.json", base, "digest 0"), 1)]
    without_copy = board(twice)
    assert len(without_copy.sections[0].tables[0].entries) == 1
    assert without_copy.left_out == ["copy.json: has the same results as 0.json; left out"]
    (section,) = board([of({**base, "results": {}}, 0), of(base, 1)]).sections
    assert [table.first.value is None for table in section.tables] == [True, False]
    assert section.tables[0].scored == []
    assert section.tables[0].trends == []


def test_families_are_told_by_the_numbers_at_the_end(subtests: pytest.Subtests) -> None:
    """Versions and dates, of any name however hostile."""
    for name, wanted in (
        ("gpt-x-1", ("gpt-x", (1,))),
        ("gpt-x-v2.10", ("gpt-x", (2, 10))),
        ("gpt-x-2026-01-31", ("gpt-x", (2026, 1, 31))),
        ("qwen3:8b", ("qwen3:8b", ())),
        ("model", ("model", ())),
        ("-7", ("-7", ())),
        ("", ("", ())),
        ("a-\u0661", ("a-\u0661", ())),
        ("a" + "-1" * 50_000, ("a" + "-1" * 49_994, (1,) * 6)),
    ):
        with subtests.test(name[:20]):
            assert split_version(name) == wanted


def test_a_trend_is_that_of_a_comparison(tmp_path: Path) -> None:
    """Releases in the order of their versions, each with its change from the one before."""
    sides = []
    for number, (model, level) in enumerate((("m-10", 3.6), ("m-9", 2.6), ("other", 3.0))):
        path = pages.write(tmp_path / f"{number}.json", model, level=level, seed=number)
        sides.append(of_json(str(path), json.loads(path.read_bytes()), str(number)))
    (table,) = board([entry(item, n) for n, item in enumerate(sides)]).sections[0].tables
    (releases,) = table.trends
    assert (releases.family, [item.model for item in releases.releases]) == ("m", ["m-9", "m-10"])
    first, second = trend([sides[1], sides[0]])["releases"]
    none, change = releases.changes
    expected = second["change"]
    assert none is None
    assert change is not None
    assert expected is not None
    limits = ("value", "low", "high", "p")
    assert [getattr(change, name) for name in limits] == pytest.approx(
        [getattr(expected, name) for name in limits], abs=1e-5
    )
    assert change.excludes_zero
    values = [item["figure"].value for item in (first, second)]
    assert [item.value for item in releases.releases] == pytest.approx(values)


def test_a_model_stands_once_by_its_latest_results(base: Data) -> None:
    """Earlier ones are its trend."""
    later = changed(base, put("started", "2027-01-01T00:00:00+00:00"), "model-a")
    (table,) = board([of(later, 0), of(base, 1)]).sections[0].tables
    assert ([item.place for item in table.entries], [item.place for item in table.earlier]) == ([0], [1])
    (releases,) = table.trends
    assert [item.place for item in releases.releases] == [1, 0]
    assert releases.changes[1] is not None
    assert not releases.changes[1].excludes_zero
