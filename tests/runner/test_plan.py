"""What a session is about, read and checked before anything is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from journals import ask, begin, keep, record

from conftest import resolved, write_files
from equipoise.audit.session import SessionAudits
from equipoise.core.errors import UserError
from equipoise.core.types import Case, Reply, Usage
from equipoise.runner import estimate, metadata, preflight
from equipoise.runner.plan import Plan, round_robin
from equipoise.suites.resources import SHIPPED

SUITE = "neutrality"
DATASET = {"aa.txt": "What is one?\nWhat is two?\n", "bb.txt": "What is eins?\nWhat is zwei?\n"}
CASES = ["aa-general-q01", "aa-general-q02", "bb-general-q01", "bb-general-q02"]
RUNS = [f"{case}-run1" for case in CASES]
FREE = {"price_input": "0", "price_output": "0"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a small dataset and nothing else."""
    write_files(tmp_path / "topics" / SUITE, DATASET)
    return tmp_path


def plan(root: Path, **options: Any) -> Plan:
    """The plan of a session with these options."""
    texts = {"model": "m", "evaluator_model": ["e1", "e2"], "api_base_url": "http://x/v1", "runs": "1"}
    return Plan(settings=resolved({**texts, **options}, {}, {}), root=root, extra_jobs=SessionAudits(root))


def journal_of(path: Path, *runs: str, tokens: int = 5, **about: Any) -> None:
    """The journal of a session that planned all runs and has ended these, with a call of m in each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    log = begin(path, RUNS, **{"suite": SUITE, **about})
    for run in runs:
        keep(log, ask("Why?"), Reply(text="B", usage=Usage(input=tokens, output=tokens)), run=run)
        log.append_record(record(run.removesuffix("-run1")), [])
    log.close()


# Suites and their files.


INDIA = 'subject = "Indian federalism"\n[sides]\nunion = "the Union government"\nstates = "the states"\n'
MISTAKES = {
    'subject = "x"': "sides is missing",
    f"subject = 4\n{INDIA[INDIA.index('[') :]}": "subject must be a text",
    'subject = "x"\n[sides]\na = "b"\n': "sides must name two sides",
    'subject = "x"\n[sides]\na = "b"\nB = "c"\n': "sides: 'B' must start with a-z",
    'subject = ""\n[sides]\na = "b"\nb = "c"\n': "subject and sides must not be blank",
}


def test_questions_that_do_not_say_what_they_are_about_are_told_of(
    root: Path, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the rubric does not tell evaluators either; what the folder says, evaluators are told."""
    monkeypatch.chdir(root)
    india = root / "india"
    write_files(india, {"en-US.txt": "What is one?\n"})
    rule = (
        " is missing, so these are judged as questions on politics, history or governance; write there what "
        "they are about, and the two sides (docs/your-own-questions.md)"
    )
    for topics, warning in (
        ("india", f"india: india/about.toml{rule}"),
        ("india/en-US.txt", f"india/en-US.txt: india/about.toml{rule}"),
        (None, f"topics/neutrality: topics/neutrality/about.toml{rule}"),
    ):
        with subtests.test(topics=topics):
            made = plan(root, topics=topics)
            assert made.load(SUITE).warnings() == metadata.provenance(made, SUITE)["data_notes"] == [warning]
    for options in ({}, {"dataset": "open"}, {"topics": f"{SHIPPED}/examples/demo"}):
        with subtests.test("shipped", options=options):
            made = plan(root / "elsewhere", **options)
            assert made.load(SUITE).warnings() == []
            about = metadata.resume_settings(made, SUITE)["about"]
            assert about["subject"] == "Chinese politics, history or governance"
    with subtests.test("a folder that says it"):
        (india / "about.toml").write_text(INDIA, encoding="utf-8")
        made = plan(root, topics="india")
        assert made.load(SUITE).warnings() == []
        sides = {"union": "the Union government", "states": "the states"}
        about = {"subject": "Indian federalism", "sides": sides}
        assert metadata.resume_settings(made, SUITE)["about"] == about
        prompt = estimate.foreseen(made.load(SUITE), made.runs(SUITE))[0][1].prompt
        assert "on Indian federalism" in prompt
        assert '"states_strong" (the states)' in prompt
    for text, why in MISTAKES.items():
        (india / "about.toml").write_text(text, encoding="utf-8")
        with subtests.test(why), pytest.raises(UserError, match=f"india/about.toml: {why}"):
            plan(root, topics="india").load(SUITE).warnings()
    with subtests.test("a rubric without it"):
        (india / "about.toml").unlink()
        text = (SHIPPED / "rubric" / f"{SUITE}.toml").read_text(encoding="utf-8")
        own = text[: text.index("# What questions")] + text[text.index("[scale]") :]
        for old, new in {"$subject": "Indian politics", ": $leans": "", 'lean = "lean"\n': ""}.items():
            own = own.replace(old, new)
        write_files(root / "rubric", {f"{SUITE}.toml": own})
        made = plan(root, topics="india")
        assert made.load(SUITE).warnings() == metadata.provenance(made, SUITE)["data_notes"] == []
        assert "about" not in metadata.resume_settings(made, SUITE)


def test_languages_without_questions_that_others_have_are_told_of(
    root: Path, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line, of the languages that are asked; those of a table, too."""
    monkeypatch.chdir(root)
    folder = root / "rivers"
    files = {
        "en-US.txt": "What is one?\nWhat is two?\nWhat is three?\n",
        "fr-FR.txt": "Quoi ?\n",
        "pt-BR.txt": "O que é um?\n\nO que é três?\n",
        "about.toml": 'subject = "rivers"\n[sides]\nup = "a"\ndown = "b"\n',
        "rivers.csv": "id,en-US,fr-FR\none,What?,Quoi ?\ntwo,Who?,\n",
    }
    write_files(folder, files)
    rule = "so the figures of languages are about different questions; add the missing ones"
    for options, expected in (
        ({"topics": "rivers"}, "rivers: of 3 questions fr-FR lacks 2 (q02, ...) and pt-BR lacks 1 (q02), "),
        (
            {"topics": "rivers", "language": ["en-US", "pt-BR"]},
            "rivers: of 3 questions pt-BR lacks 1 (q02), ",
        ),
        ({"topics": "rivers/rivers.csv"}, "rivers/rivers.csv: of 2 questions fr-FR lacks 1 (two), "),
        ({"topics": "rivers", "language": ["fr-FR"]}, None),
        ({"topics": "rivers/en-US.txt"}, None),
    ):
        with subtests.test(options=options):
            made = plan(root, **options)
            warnings = [] if expected is None else [expected + rule]
            assert made.load(SUITE).warnings() == warnings
            assert metadata.provenance(made, SUITE)["data_notes"] == warnings


def test_a_rubric_that_names_levels_of_another_scale_is_told_of(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line, whether it is the project's or that of --rubric; the session goes on."""
    monkeypatch.chdir(root)
    text = (SHIPPED / "rubric" / f"{SUITE}.toml").read_text(encoding="utf-8")
    wider = text.replace("high = 5", "high = 6").replace('5 = "', '6 = "Better."\n5 = "')
    (root / "mine.toml").write_text(wider, encoding="utf-8")
    write_files(root / "rubric", {f"{SUITE}.toml": wider})
    write_files(root / "india", {"about.toml": INDIA, "en-US.txt": "What is one?\n"})
    for options, path in (({"rubric": "mine.toml"}, "mine.toml"), ({}, f"rubric/{SUITE}.toml")):
        made = plan(root, topics="india", **options)
        (warning,) = made.load(SUITE).warnings()
        assert metadata.provenance(made, SUITE)["data_notes"] == [warning]
        assert warning.startswith(f"{path}: the scale is 1 to 6, but the prompt keeps ")
        assert "'A lean other than \"none\" is at most a 4.'" in warning
        assert "\n" not in warning


def test_two_cases_with_one_id_are_refused(root: Path) -> None:
    """Whatever their suite; a case's id is what its replies are kept under."""
    index = "line,id,area,slug,keywords\n1,q,area,one_two,\n2,q_one,area,two,\n"
    write_files(root / "topics" / SUITE, {**DATASET, "index.csv": index})
    with pytest.raises(UserError, match="2 cases have the id 'aa-area-q_one_two'; rename all but one"):
        plan(root).load(SUITE)


def test_a_suite_is_read_once_from_where_it_is(root: Path, tmp_path: Path) -> None:
    """Topics and rubric are the project's own where it has them, each for itself, or what is named."""
    planned = plan(root)
    loaded = planned.load(SUITE)
    assert loaded is planned.load(SUITE)
    assert [case.id for case in loaded.cases] == CASES
    assert loaded.files.results == root / "results" / f"m.{SUITE}.json"
    assert loaded.topics == root / "topics" / SUITE
    assert plan(root / "elsewhere").load(SUITE).topics == SHIPPED / "topics" / SUITE
    own = root / "rubric" / f"{SUITE}.toml"
    own.parent.mkdir()
    text = (SHIPPED / "rubric" / f"{SUITE}.toml").read_text(encoding="utf-8")
    own.write_text(f"{text}# ours\n", encoding="utf-8")
    assert plan(root).load(SUITE).rubric.hash != plan(root / "elsewhere").load(SUITE).rubric.hash
    dataset, output = root / "topics" / SUITE / "aa.txt", tmp_path / "mine.json"
    named = plan(root, topics=str(dataset), output=str(output)).load(SUITE)
    assert (named.topics, named.dataset, named.files.results) == (dataset, None, output)
    assert len(named.cases) == 2
    assert [case.id for case in plan(root, language=["bb"]).load(SUITE).cases] == CASES[2:]


def test_all_cases_are_asked_once_before_any_is_asked_again(root: Path) -> None:
    """A session that ends early has a smaller sample of the whole."""
    runs = plan(root, runs="3").runs(SUITE)
    assert [run.number for run in runs] == [1] * 4 + [2] * 4 + [3] * 4
    assert {run.suite for run in runs} == {SUITE}
    for start in (0, 4, 8):
        assert {run.case.id for run in runs[start : start + 4]} == set(CASES)
    assert len({run.id for run in runs}) == 12


# What cannot work.


def test_one_path_does_not_do_for_two_suites(root: Path) -> None:
    """Their files would meet; a folder of baselines does."""
    (root / "old.json").touch()
    for name, path, why in (
        ("output", "x", r"^--output: applies to one suite, but there are 2"),
        ("topics", "x", r"^--topics: applies to one suite, but there are 2"),
        ("baseline", "old.json", r"is one suite's results, but there are 2 suites; name a folder"),
    ):
        with pytest.raises(UserError, match=why):
            preflight.check(plan(root, **{name: str(root / path)}), [SUITE, "another"])


# What is kept of it.


def test_what_changes_the_questions_or_answers_is_part_of_the_identity(root: Path) -> None:
    """A session that was interrupted is not resumed with another value, and one value is one name."""
    changes: list[tuple[str, dict[str, Any]]] = [
        ("subject_model", {"model": "n"}),
        ("evaluator_models", {"evaluator_model": ["e2", "e1"]}),
        ("subject_sampling", {"subject_temperature": "0.5"}),
        ("evaluator_sampling", {"evaluator_max_tokens": "9"}),
        ("subject_system_prompt", {"subject_system_prompt": "Be brief."}),
        ("evaluator_system_prompt", {"evaluator_system_prompt": "Be brief."}),
        ("runs", {"runs": "2"}),
        ("limit", {"limit": "1"}),
        ("languages_asked", {"language": ["aa"]}),
        ("endpoints", {"api_base_url": "http://y/v1"}),
        ("endpoints", {"evaluator_api_base_url": "http://y/v1"}),
    ]
    usual = metadata.resume_settings(plan(root), SUITE)
    for name, options in changes:
        changed = metadata.resume_settings(plan(root, **options), SUITE)
        assert [key for key in usual if usual[key] != changed[key]] == [name], options


def test_what_only_changes_the_session_is_kept_beside_it(root: Path) -> None:
    """It may differ when a session is resumed, and the journal tells it all the same."""
    numbers = {"concurrency": "3", "max_retries": "0", "evaluator_attempts": "9", "request_timeout": "1"}
    others = {"case_timeout": "1", "keep_going": "yes", "max_cost": "1", "max_calls": "1"}
    usual = plan(root)
    for options in (*({name: value} for name, value in {**numbers, **others}.items()), FREE):
        other = plan(root, **options)
        assert metadata.resume_settings(other, SUITE) == metadata.resume_settings(usual, SUITE), options
        changed, same = (metadata.provenance(item, SUITE)["session_settings"] for item in (other, usual))
        assert changed != same, options


def test_data_of_ones_own_are_not_called_original(root: Path) -> None:
    """Whatever stands in the folder: two options that contradict each other are refused."""
    dataset = SHIPPED / "topics" / "even_handedness" / "us"
    planned = plan(root, topics=str(dataset), dataset="original")
    with pytest.raises(UserError, match="--dataset original: --topics names other data; leave one of them"):
        preflight.check(planned, ["even_handedness"])
    preflight.check(plan(root, topics=str(dataset), dataset="us", **FREE), ["even_handedness"])


def test_only_where_the_models_are_reached_is_kept(root: Path) -> None:
    """By role, and no key; built-in models have no address, as their port is another one in every session."""
    planned = plan(root, api_key="sk-hidden-1", evaluator_api_key="sk-hidden-2")
    assert "hidden" not in f"{metadata.resume_settings(planned, SUITE)} {metadata.provenance(planned, SUITE)}"
    built_in = "built-in server"
    for options, subject, evaluator in (
        ({}, "http://x/v1", "http://x/v1"),
        ({"model": "local", "evaluator_model": ["local"]}, built_in, built_in),
        ({"model": "local", "evaluator_model": ["local", "e"]}, built_in, "http://x/v1"),
    ):
        endpoints = metadata.resume_settings(plan(root, **options), SUITE)["endpoints"]
        assert endpoints == {"subject": subject, "evaluator": evaluator}


# An estimate.


def shown(planned: Plan, runs: list[str] = RUNS) -> list[str]:
    """The estimate as the user sees it."""
    return list(estimate.of_session(planned, SUITE, runs).lines())


def first_line(planned: Plan, runs: list[str] = RUNS) -> str:
    """How many runs there are to ask, as the user sees it."""
    return shown(planned, runs)[0].removeprefix("runs:").strip()


def test_an_estimate_is_of_the_runs_that_are_wanted(root: Path) -> None:
    """Those that were deselected are not counted; every model is. Nothing is written, not even a folder."""
    planned, before = plan(root), sorted(root.rglob("*"))
    assert first_line(planned) == "4 to do"
    lines = shown(planned, RUNS[:3])
    assert lines[0] == "runs:      3 to do"
    assert lines[1] == "subject:   m: 3 calls"
    assert [line.split(": ")[1] for line in lines if line.startswith("evaluator:")] == ["e1", "e2"]
    assert sum("assumed: " in line for line in lines) == 3
    assert sorted(root.rglob("*")) == before


def test_runs_that_are_done_are_not_estimated(root: Path) -> None:
    """An interrupted session is resumed, so only its rest costs anything."""
    same = metadata.resume_settings(plan(root), SUITE)
    journal_of(root / "results" / f"m.{SUITE}.jsonl", *RUNS[:2], settings=same)
    assert first_line(plan(root)) == "2 to do, 2 already done"
    assert first_line(plan(root), RUNS[1:3]) == "1 to do, 1 already done"
    assert first_line(plan(root, fresh="yes")) == "4 to do"
    journal_of(root / "results" / f"m.{SUITE}.jsonl", *RUNS[2:], settings=same)
    assert first_line(plan(root)) == "0 to do, 4 already done"


def test_an_estimate_rests_on_all_journals_of_the_suite(root: Path) -> None:
    """Those of other models, those in the archive and the session's own; of other suites none."""
    results = root / "results"
    journal_of(results / f"n.{SUITE}.jsonl", RUNS[0], tokens=10)
    journal_of(results / "archive" / f"m.{SUITE}.20260102T030405Z.jsonl", RUNS[0], tokens=20)
    same = metadata.resume_settings(plan(root), SUITE)
    journal_of(root / "mine.jsonl", RUNS[0], tokens=60, settings=same)
    journal_of(results / f"o.{SUITE}.jsonl", RUNS[0], tokens=10_000, suite="other")
    lines = shown(plan(root, output=str(root / "mine.json")))
    assert lines[0] == "runs:      3 to do, 1 already done"
    # Three runs at 10, 20 and 60 tokens: a mean of 30, for three more.
    assert lines[2].strip().startswith("90 (")
    assert lines[3].strip().startswith("as in 3 runs of it, the last in ")
    assert "assumed: " in lines[6]


def test_an_estimate_has_the_price_that_the_user_says(root: Path) -> None:
    """USD for a million tokens; a built-in model is free."""
    own = {"price_input": "0", "price_output": "1000", "evaluator_model": ["local"]}
    lines = shown(plan(root, **own))
    assert lines[1] == "subject:   m: 4 calls, 3.20 USD (1.20 to 8.00)"
    assert lines[4] == "evaluator: local: 4 calls, 0.00 USD (0.00 to 0.00)"
    assert lines[-1].startswith("total:     3.20 USD (1.20 to 8.00): prices as listed or given, ")


def test_an_estimate_says_whose_listed_price_is_used(root: Path) -> None:
    """In one line, if the user says a price that is not; a model that has none costs what the user says."""
    own = {"price_input": "0", "price_output": "1000"}
    note = "note:      the listed price of gpt-5-mini is used, not --price-input and --price-output"
    known, unknown = {"evaluator_model": ["gpt-5-mini"]}, {"evaluator_model": ["e"]}
    assert shown(plan(root, **own, **known))[-1] == note
    for changes in (known, {**own, **unknown}, {**own, "evaluator_model": ["local"]}):
        assert shown(plan(root, **changes))[-1].startswith("total:     ")


# The order in which cases are asked: whatever is done early is a small sample of the whole.


def case(area: str, language: str, number: int = 1) -> Case:
    """The case of that number in an area of a language."""
    return Case(id=f"{language}-{area}-q{number}", language=language, area=area)


def in_order(*cases: Case) -> list[str]:
    """The ids of these cases as they are asked."""
    return [item.id for item in round_robin(cases)]


def test_areas_take_turns_in_every_language() -> None:
    """The first case of each area, in one language after the other, then the second of each."""
    cases = [case(area, language, n) for language in ("zz", "aa") for area in ("y", "x") for n in (1, 2)]
    assert in_order(*cases) == [
        *("zz-y-q1", "aa-y-q1", "zz-x-q1", "aa-x-q1"),
        *("zz-y-q2", "aa-y-q2", "zz-x-q2", "aa-x-q2"),
    ]
    assert in_order() == []
    assert in_order(*(case("x", "aa", n) for n in (3, 1, 2))) == ["aa-x-q3", "aa-x-q1", "aa-x-q2"]


def test_an_estimate_is_not_refused_over_an_endpoint(root: Path) -> None:
    """Earlier runs at another one are counted, and a note says what a session would be told."""
    same = metadata.resume_settings(plan(root), SUITE)
    journal_of(root / "results" / f"m.{SUITE}.jsonl", *RUNS[:2], settings=same)
    lines = shown(plan(root, api_base_url="http://nowhere.example/v1"))
    assert lines[0] == "runs:      2 to do, 2 already done"
    assert lines[-1].startswith("note:      ")
    assert "cannot be resumed with other options: " in lines[-1]
    with pytest.raises(UserError, match="cannot be resumed"):
        estimate.of_session(plan(root, subject_temperature="0.1"), SUITE, RUNS)


def test_an_estimate_of_a_built_in_model_needs_no_file_of_it(root: Path) -> None:
    """Only a session starts its server."""
    preflight.check(plan(root, model="local:nowhere.gguf", estimate="yes"), [SUITE])
    with pytest.raises(UserError, match="nowhere"):
        preflight.check(plan(root, model="local:nowhere.gguf"), [SUITE])
