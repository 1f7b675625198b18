"""A session against its baseline: what is refused before anything is spent, and what is added at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import RUBRIC, SUITE, question
from from_records import as_read
from sides import Runs, alike, by_chance, data_of, metadata, neutral_side, side_of, write

from conftest import refusal as complaint
from equipoise import suites
from equipoise.comparison.gate.refusals import refuse_unfit_metric, refuse_until
from equipoise.comparison.gate_terms import GateTerms, resolve_terms
from equipoise.comparison.of_files import compare_files
from equipoise.comparison.of_session import (
    comparison_sections,
    expected_cells,
    load_baseline,
    refuse_other_cases,
    refuse_unfit_rules,
)
from equipoise.core import json_io, resolution
from equipoise.core.errors import UserError
from equipoise.core.figures import Change
from equipoise.core.records import Metric
from equipoise.core.rules import parse_rule, parse_until
from equipoise.core.types import JSON
from equipoise.results.document import Sections
from equipoise.results.results import Results, of_json
from equipoise.results.store import Files

BEFORE = by_chance(1)
METRICS = neutral_side(BEFORE).definitions


@pytest.fixture(autouse=True)
def _baseline(folder: Path) -> None:
    """The baseline is in the current folder."""
    write(folder / "old.json", BEFORE)


def session(
    *gate: str, baseline: str | None = "old.json", suites: Sequence[str] = (SUITE,), **options: Any
) -> dict[str, GateTerms]:
    """The terms of a session of these suites that is measured against the baseline."""
    command_line = {"model": "m2", "baseline": baseline, "gate": gate or None, **options}
    settings = resolution.resolve(command_line, {}, {})
    return resolve_terms(
        suites,
        settings.baseline,
        settings.gate,
        settings.gate_inconclusive,
        allows_mismatch=settings.allow_mismatch,
    )


def only(*gate: str, baseline: str | None = "old.json", **options: Any) -> GateTerms:
    """The terms of a session of one suite."""
    return session(*gate, baseline=baseline, **options)[SUITE]


def unfit(*gate: str, **options: Any) -> str:
    """Why there can be no such session."""
    message = complaint(session, *gate, **options)
    assert "\n" not in message
    return message


def files(folder: Path, name: str = "m2.json") -> Files:
    """Where the session will write."""
    return Files(results=folder / name, journal=folder / f"{name}l")


def prepared(
    folder: Path, chosen: GateTerms, runs: Runs = BEFORE, suite: str = SUITE, **about: JSON
) -> Results | None:
    """The baseline of a session that is about to ask these runs."""
    whole = side_of(runs, suite=suite)
    baseline = load_baseline(chosen, metadata(runs, suite=suite, **about), files(folder))
    if baseline is not None:
        refuse_unfit_rules(chosen, baseline, whole.definitions, whole.rounds)
    return baseline


def refusal(folder: Path, chosen: GateTerms, runs: Runs = BEFORE, **about: JSON) -> str:
    """Why such a session cannot begin."""
    message = complaint(prepared, folder, chosen, runs, **about)
    assert "\n" not in message
    return message


# Before anything is spent.


def test_the_cells_to_come_are_those_that_will_be() -> None:
    """Ids, labels and metrics of cases that nobody has asked yet."""
    cases = [question(n, area="xy"[n % 2]) for n in (1, 2, 3)]
    cells = expected_cells(suites.load(SUITE), RUBRIC, cases)
    assert [cell.id for cell in cells] == ["aa/q1", "aa/q2", "aa/q3"]
    assert [cell.labels["area"] for cell in cells] == ["y", "x", "y"]
    assert all(cell.values["percent"] == [None] for cell in cells)


def test_without_a_baseline_there_is_none(folder: Path) -> None:
    """A rule on missing scores alone needs none; one that fits, with rules of every kind, is loaded."""
    assert prepared(folder, only(baseline=None)) is None
    assert prepared(folder, only("unscored:1%", baseline=None)) is None
    assert concluded(only(baseline=None), None, data_of(BEFORE)) == {}
    assert "there is no --baseline" in unfit(baseline=None, allow_mismatch="true")
    rules = ("overall:-2pp", "aa:-5%", "area.x:-2pp", "refused:+3pp", "question:-2", "unscored:1%")
    write(folder / "old.json", BEFORE, suite="neutrality")
    baseline = prepared(folder, only(*rules), suite="neutrality")
    assert baseline is not None
    assert (baseline.model, baseline.file) == ("m1", "old.json")


def test_a_rule_is_refused_where_it_means_nothing(folder: Path) -> None:
    """A gate that compares with nothing must not pass, and what becomes of a gate needs one."""
    for rule in ("overall:-2pp", "question:-2", "nonsense:-2pp"):
        message = unfit("unscored:1%", rule, baseline=None)
        assert message == f"--gate {rule}: compared with what? Name earlier results with --baseline=PATH"
    for baseline in ("old.json", None):
        options = {"gate_inconclusive": "fail", "baseline": baseline}
        message = unfit(**options)
        assert message == "--gate-inconclusive: says what becomes of a gate, but there is no --gate"
        prepared(folder, only("unscored:1%", **options))


def test_a_baseline_must_be_other_results_of_the_same_suite(folder: Path) -> None:
    """Not the session's own, by whatever name: they are about to be overwritten."""
    write(folder / "m2.json", BEFORE)
    (folder / "sub").mkdir()
    (folder / "link.json").symlink_to(folder / "m2.json")
    for path in ("m2.json", "sub/../m2.json", "link.json"):
        message = refusal(folder, only(baseline=path))
        assert "is where this session writes its own results" in message, path
    message = refusal(folder, only(allow_mismatch="true"), suite="neutrality")
    assert message == "old.json: belongs to the suite attribution, not neutrality"


def test_another_data_panel_or_scale_is_refused(folder: Path, subtests: pytest.Subtests) -> None:
    """Before a call is made, as is an incomplete baseline; unless that is allowed."""
    every: list[tuple[dict[str, JSON], str]] = [
        ({"data_hash": "d1"}, "data differs"),
        ({"evaluator_models": ["e1", "e2"]}, "evaluators differs: e1, now e1, e2"),
        ({"scale": {"low": 0, "high": 1}}, "scale differs"),
        ({}, "the baseline is interrupted"),
    ]
    for about, reason in every:
        with subtests.test(reason):
            write(folder / "old.json", BEFORE, status="complete" if about else "interrupted")
            message = refusal(folder, only(), **about)
            assert message.startswith("--baseline: old.json cannot be compared with this session: ")
            assert reason in message
            assert message.endswith("; --allow-mismatch compares what they share")
            assert prepared(folder, only(allow_mismatch="true"), **about) is not None


def test_a_rule_must_fit_session_and_baseline(folder: Path) -> None:
    """The message says which of the two has no such metric; of files it is what they share."""
    wide = {**BEFORE, **alike(4, languages=["dd"])}
    assert "--gate dd:-2pp: this session has no metric 'dd'" in refusal(folder, only("dd:-2pp"))
    assert "--gate dd:-2pp: old.json has no metric 'dd'" in refusal(folder, only("dd:-2pp"), wide)
    narrow = write(folder / "m2.json", by_chance(2, languages=["aa"]))
    with pytest.raises(UserError, match=r"what old\.json and m2\.json share has no metric 'bb'"):
        compare_files([folder / "old.json"], [narrow], [parse_rule("bb:-2pp")], allows_mismatch=True)


def test_a_rule_that_no_metric_fits_is_refused(subtests: pytest.Subtests) -> None:
    """With the names that there are; to bound the better side would fail a model for being better."""
    errors = {"errors": Metric(name="errors", of="errors", higher_is_better=False)}
    size = {"size": Metric(name="size", of="size", higher_is_better=None)}
    for rule, metrics, words in (
        ("nonsense:-2pp", METRICS, f"this session has no metric 'nonsense'; {MEANT} all {len(METRICS)}"),
        ("overall:+2pp", METRICS, "overall is worse when it is lower; bound that: overall:-2pp"),
        ("aa:+5%", METRICS, "aa is worse when it is lower; bound that: aa:-2pp"),
        ("refused:-3pp", METRICS, "refused is worse when it is higher; bound that: refused:+2pp"),
        ("question:+2.0", METRICS, "overall is worse when it is lower; bound that: question:-2"),
        ("question:-2.0", errors, "errors is worse when it is higher; bound that: question:+2"),
    ):
        with subtests.test(rule):
            message = complaint(refuse_unfit_metric, parse_rule(rule), metrics, "this session")
            assert message == f"--gate {rule}: {words}"
    for rule, metrics in (("question:+2.0", errors), ("size:-2pp", size), ("size:+2pp", size)):
        refuse_unfit_metric(parse_rule(rule), metrics, "it")


MEANT = "did you mean overall, aa or bb? `equipoise show RESULTS --all` has"


def test_rounds_end_with_a_width_or_a_gate_that_runs_decide(subtests: pytest.Subtests) -> None:
    """One run has no width on these questions; single questions, missing scores and files no runs decide."""
    undecidable = [parse_rule(text) for text in ("unscored:1%", "question:-2", "verified")]
    for text, rules, runs, message in (
        *((f"{name}:±1.5pp{at}", (), 5, None) for name, at in (("aa", ""), ("area.x", "@these"))),
        ("overall:±1.5pp@population", (), 1, None),
        ("overall:±1.5pp", (), 50, None),
        ("refused:±1.5pp", (), 5, None),
        ("gate", [*undecidable, parse_rule("aa:-2pp")], 5, None),
        ("refused:+-1.5pp@population", (), 5, f"there is no mean 'refused'; {MEANT} all 7"),
        ("nonsense:+-1.5pp@population", (), 5, f"there is no mean 'nonsense'; {MEANT} all 7"),
        ("nonsense:±1.5pp", (), 5, "there is no figure in percent 'nonsense'; did you mean overall"),
        ("overall:±1.5pp", (), 51, "takes 50 --runs at most, not 51"),
        ("overall:±1.5pp", (), 1, "one run of each question has no interval: give --runs 2 or more"),
        ("gate", (), 5, "there is no rule that runs decide, such as --gate overall"),
        ("gate", undecidable, 5, "there is no rule that runs decide, such as --gate overall"),
    ):
        with subtests.test(text, runs=runs):
            if message is None:
                refuse_until(parse_until(text), rules, METRICS, runs)
            else:
                assert message in complaint(refuse_until, parse_until(text), rules, METRICS, runs)


def test_a_rule_on_these_questions_needs_two_runs_of_each(folder: Path) -> None:
    """Refused before any call, whichever side has one; a rule on questions as a sample needs none."""
    single = {cell: runs[:1] for cell, runs in BEFORE.items()}
    why = refusal(folder, only("overall:-2pp"), single)
    assert why == (
        "--gate overall:-2pp: this session has one run of each case, and how far runs vary is what decides "
        "on these questions: ask --runs 2 or more, or write overall:-2pp@population"
    )
    rules = only("overall:-2pp@population", "question:-2", "unscored:1%")
    assert prepared(folder, rules, single) is not None
    write(folder / "old.json", single, suite="neutrality")
    why = refusal(folder, only("refused:+2pp@these"), suite="neutrality")
    assert why.startswith("--gate refused:+2pp@these: old.json has one run of each case")
    assert why.endswith("ask its model again with --runs 2 or more, or write refused:+2pp@population")


def test_a_session_has_no_labels_of_people(folder: Path) -> None:
    """A rule about them is refused before any call, whatever its scope, and says where it belongs."""
    for rule in ("overall:-5pp@these@people", "overall:-5pp@population@people", "aa:-5pp@people"):
        why = refusal(folder, only("unscored:1%", rule))
        assert why.startswith(f"--gate {rule}: a session has no labels of people: leave it out here")
        assert why.endswith("give it to `equipoise gate`")


def test_a_baseline_is_restricted_to_what_was_selected() -> None:
    """Cases that it lacks are refused, unless that is allowed; their order does not matter."""
    baseline, fewer = side_of(BEFORE), side_of(by_chance(2, languages=["aa", "bb"]))
    refuse_other_cases(only(), baseline, [*reversed(baseline.cells)])
    refuse_other_cases(only(), baseline, fewer.cells)
    with pytest.raises(UserError, match=r"only the candidate has cc/q1 and 11 more; --allow-mismatch"):
        refuse_other_cases(only(), fewer, baseline.cells)
    refuse_other_cases(only(allow_mismatch="true"), fewer, baseline.cells)


# Several suites.

GATES = """
scope = "population"
inconclusive = "fail"
[all]
required = ["unscored:1%"]
[attribution]
required = ["overall:-2pp", "refused:+3pp@these"]
advisory = ["overall:-2pp", "zh-CN:-5%"]
[politicsbench]
required = ["overall:-2pp"]
"""


def test_each_suite_has_its_rules_and_its_baseline(folder: Path) -> None:
    """From one file of rules and one folder; rules beside them are every suite's."""
    (folder / "gates.toml").write_text(GATES)
    folder.joinpath("politicsbench.json").touch()
    folder.joinpath("m1.attribution.json").touch()
    names = ("attribution", "politicsbench", "borderlines")
    by_suite = session("gates.toml", "unscored:3%", baseline=".", suites=names, output=None)
    assert {name: item.baseline and item.baseline.name for name, item in by_suite.items()} == {
        "attribution": "m1.attribution.json",
        "politicsbench": "politicsbench.json",
        "borderlines": None,
    }
    assert [(rule.text, rule.scope, rule.required) for rule in by_suite["attribution"].rules] == [
        ("unscored:1%", "these", True),
        ("overall:-2pp", "population", True),
        ("refused:+3pp@these", "these", True),
        ("zh-CN:-5%", "population", False),
        ("unscored:3%", "these", True),
    ]
    assert {name: item.family.own for name, item in by_suite.items()} == dict(
        zip(names, (2, 1, 0), strict=True)
    )
    assert {item.family.rules for item in by_suite.values()} == {3}
    assert {item.inconclusive for item in by_suite.values()} == {"fail"}


def test_what_is_wrong_with_a_file_of_rules_is_said(folder: Path, subtests: pytest.Subtests) -> None:
    """The whole file is read before anything is asked."""
    for text, words in {
        "[attribution": "is not TOML",
        "": "has no rules",
        "[attribution]\nrequired = []": "has no rules",
        'scope = "all"': "has an unknown scope 'all': these or population",
        'inconclusive = "no"': "has inconclusive = 'no': pass or fail",
        "margin = 2": "has margin, which is neither scope nor inconclusive nor a suite's table",
        '[attribution]\nrules = ["overall:-2pp"]': "has rules in [attribution]",
        '[attribution]\nrequired = "overall:-2pp"': "has no list of rules as required of [attribution]",
        '[attribution]\nrequired = ["overall"]': "has 'overall' in [attribution], which is not a rule",
        '[atribution]\nrequired = ["overall:-2pp"]': "[atribution] overall:-2pp: there is no suite",
        '[politicsbench]\nrequired = ["overall:-2pp"]': "there are no rules for attribution",
    }.items():
        with subtests.test(text):
            (folder / "gates.toml").write_text(text)
            assert words in unfit("gates.toml")
    assert "cannot be read" in unfit("none.toml")


def test_a_folder_of_baselines_has_one_of_each_suite(folder: Path) -> None:
    """A rule that compares needs one, and nobody guesses which of several."""
    (folder / "empty").mkdir()
    message = unfit("overall:-2pp", baseline="empty")
    assert message.endswith("compared with what? empty has no attribution.json or *.attribution.json")
    assert unfit(baseline="empty").endswith("empty has results of none of these suites: attribution.json")
    for name in ("a", "b"):
        folder.joinpath(f"{name}.attribution.json").touch()
    assert "has several results of attribution (a.attribution.json, b.attribution.json)" in unfit(
        baseline="."
    )


# At the end.


def concluded(chosen: GateTerms, baseline: Results | None, data: Mapping[str, JSON]) -> Sections:
    """What a session adds to its results."""
    return comparison_sections(chosen, baseline, of_json("m2.json", data))


def test_a_session_adds_comparison_and_gate() -> None:
    """A gate where there are rules, a comparison with a baseline; changed sampling passes nothing."""
    data, baseline = data_of(by_chance(2), subject_model="m2"), side_of(BEFORE)
    assert [*concluded(only(), baseline, data)] == ["comparison"]
    assert [*concluded(only("unscored:1%", baseline=None), None, data)] == ["gate"]
    sections = concluded(only("overall:-2pp", "unscored:1%"), baseline, data)
    assert [*sections] == ["comparison", "gate"]
    assert [row.rule for row in sections["gate"]["rules"]] == ["overall:-2pp", "unscored:1%"]
    candidate = sections["comparison"]["candidate"]
    assert (candidate["file"], candidate["subject_model"], candidate["sha256"]) == ("m2.json", "m2", None)
    assert as_read(sections["comparison"], Change) == sections["comparison"]
    assert json_io.loads(json_io.dumps(sections["gate"])) == msgspec.to_builtins(sections["gate"])
    changed = {"role": "subject", "model": "m2", "parameter": "top_p", "action": "dropped", "reason": ""}
    data = data_of(BEFORE, parameters_changed=[changed])
    for allowed, result in (("true", "pass"), (None, "inconclusive")):
        sections = concluded(only("overall:-20pp", allow_mismatch=allowed), side_of(BEFORE), data)
        assert sections["gate"]["verdict"] == result
        assert sections["comparison"]["mismatches"] == [
            "sampling as sent differs: subject's top_p was dropped in the candidate only"
        ]


def test_a_session_is_never_refused_at_its_end() -> None:
    """The calls are paid for: what was not asked decides nothing, and runs that were not done are missing."""
    data = data_of(by_chance(2, languages=["aa"]), data_hash="d1")
    sections = concluded(only("overall:-2pp"), side_of(BEFORE), data)
    assert sections["comparison"]["mismatches"] == ["data differs"]
    part = {cell: runs for cell, runs in BEFORE.items() if not cell.startswith("cc")}
    sections = concluded(only("cc:-5%"), side_of(BEFORE), data_of(part, status="interrupted"))
    assert sections["gate"]["verdict"] == "inconclusive"
    shared = alike(4, languages=["aa"], area="y")
    before, after = ({**shared, f"aa/{question}/x": [4]} for question in ("q8", "q9"))
    chosen = only("area.x:-2pp", allow_mismatch="true")
    sections = concluded(chosen, neutral_side(before), data_of(after, suite="neutrality"))
    assert sections["gate"]["verdict"] == "inconclusive"
    data = data_of({**alike(4), "aa/q7": ["error"]}, runs_expected=40, runs_completed=37)
    (row,) = concluded(only("unscored:1%", baseline=None), None, data)["gate"]["rules"]
    assert (row.verdict, row.why) == ("fail", "4 of 40 runs have no score (10.0 %)")
