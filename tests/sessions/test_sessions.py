"""Whole sessions against the loopback server: what is asked, what is kept, how they end."""

from __future__ import annotations

import json
import os
import signal
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Bench
from loopback import Answer, completion, error, is_judge, plain_script, question_of, score_of, verdict

Workers = tuple[str, str]
ALL = 2 * 2 * 5  # languages, questions, runs of the small dataset


def answering(subject: Any = None, judge: Any = None) -> Callable[[dict[str, Any], int], Any]:
    """A script in which one of the two roles says something else than usual."""

    def script(body: dict[str, Any], number: int) -> Any:
        special = judge if is_judge(body) else subject
        return plain_script(body, number) if special is None else special

    return script


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


# Asking.


def test_every_run_is_asked_and_judged_once(bench: Bench, workers: Workers) -> None:
    """Each question x language x run makes one subject and one evaluator call."""
    done = bench.run(*workers)
    assert done.returncode == 0, done.stdout
    assert (bench.server.count(judge=False), bench.server.count(judge=True)) == (ALL, ALL)
    asked = [question_of(body) for body in bench.server.requests if not is_judge(body)]
    assert {question: asked.count(question) for question in asked} == {
        "What is one?": 5,
        "What is two?": 5,
        "O que é um?": 5,
        "O que é dois?": 5,
    }


def test_scores_do_not_depend_on_the_number_of_workers(bench: Bench) -> None:
    """No xdist, two and eight workers write the same scores."""
    found = []
    for number in ("0", "2", "8"):
        assert bench.run("-n", number, "--fresh").returncode == 0
        found.append(bench.scores())
    assert found[0] == found[1] == found[2]
    assert found[0]["aa", 1, 1] == score_of("What is one?")


def test_the_ceiling_is_reached(bench: Bench) -> None:
    """As many calls as --concurrency allows are in flight at once."""
    bench.server.delay = 0.05
    bench.run("--concurrency", "7")
    assert bench.server.peak == 7


@pytest.mark.parametrize("ceiling", [1, 3])
def test_the_ceiling_holds_over_all_workers(bench: Bench, workers: Workers, ceiling: int) -> None:
    """Never more than --concurrency calls are in flight, also where workers outnumber it."""
    bench.server.delay = 0.02
    done = bench.run("-n", "4" if workers[1] != "0" else "0", "--concurrency", str(ceiling), "--runs", "2")
    assert done.returncode == 0, done.stdout
    assert bench.server.peak <= ceiling


def test_only_what_was_set_is_sent(bench: Bench) -> None:
    """Beside the benchmark's two temperatures no generation parameter goes out by itself."""
    bench.run("--runs", "1")
    sent = {frozenset(body) - {"response_format"} for body in bench.server.requests}
    assert sent == {frozenset({"model", "messages", "temperature"})}
    temperatures = {is_judge(body): body["temperature"] for body in bench.server.requests}
    assert temperatures == {False: 1, True: 0}


def test_sampling_options_reach_the_endpoint(bench: Bench) -> None:
    """What the user sets is sent, to the role it was set for, and stands in the metadata."""
    bench.run(
        *("--runs", "1", "--limit", "1", "--language", "aa"),
        *("--subject-top-p", "0.9", "--subject-top-k", "40", "--subject-max-tokens", "77"),
        *("--subject-temperature", "none", "--subject-system-prompt", "Be brief."),
        *("--evaluator-max-tokens", "99"),
    )
    subject, judge = bench.server.requests
    assert {name: subject[name] for name in ("top_p", "top_k", "max_tokens")} == {
        "top_p": 0.9,
        "top_k": 40,
        "max_tokens": 77,
    }
    assert "temperature" not in subject
    assert subject["messages"][0] == {"role": "system", "content": "Be brief."}
    assert judge["max_tokens"] == 99
    assert bench.results()["metadata"]["subject_sampling"] == {"top_p": 0.9, "top_k": 40, "max_tokens": 77}


def test_evaluator_temperature_other_than_zero_warns(bench: Bench) -> None:
    """A warning says that verdicts will vary."""
    done = bench.run("--runs", "1", "--evaluator-temperature", "0.5")
    assert done.returncode == 0
    assert "evaluator's temperature is 0.5, not 0" in done.stdout


def test_a_key_that_may_be_a_placeholder_warns(
    bench: Bench, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, with the variable and without the key."""
    monkeypatch.setenv("OPENAI_API_KEY", "planted")
    done = bench.run(*workers, "--runs", "1", "--limit", "1")
    assert done.returncode == 0
    assert done.stdout.count("OPENAI_API_KEY: the key has fewer than 16 characters") == 1
    assert "planted" not in done.stdout + done.stderr


def test_a_panel_scores_by_the_mean_of_its_valid_verdicts(bench: Bench, workers: Workers) -> None:
    """Two evaluators that say 2 and 5 make 3.5; one that says nonsense does not count."""
    says = {"judge": verdict(2), "judge-b": verdict(5), "judge-c": "no idea"}
    bench.server.script = lambda body, number: says.get(body["model"], "An answer.")
    panel = ("--evaluator-model", "judge-b", "--evaluator-model", "judge-c", "--evaluator-attempts", "2")
    assert bench.run(*workers, *panel, "--runs", "1").returncode == 0
    assert set(bench.scores().values()) == {3.5}
    verdicts = bench.results()["results"]["aa"]["questions"][0]["runs"][0]["verdicts"]
    assert [(item["evaluator"], item["score"], item["attempts"]) for item in verdicts] == [
        ("judge", 2, 1),
        ("judge-b", 5, 1),
        ("judge-c", None, 2),
    ]


# Selecting.


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (("-k", "first_area"), 10),
        (("-k", "first_area and bb"), 5),
        (("-k", "贰"), 10),
        (("-m", 'area(name="second_area")'), 10),
        (("-m", 'language(name="aa")'), 10),
        (("--language", "bb"), 10),
        (("--limit", "1"), 10),
        (("--runs", "2"), 8),
    ],
    ids=["area", "area-language", "native", "mark-area", "mark-language", "language", "limit", "runs"],
)
def test_selection(bench: Bench, workers: Workers, selection: tuple[str, str], expected: int) -> None:
    """A selection asks its runs and no others, and the metadata tell of it."""
    assert bench.run(*workers, *selection).returncode == 0
    assert bench.server.count(judge=False) == expected
    metadata = bench.results()["metadata"]
    assert metadata["runs_expected"] == metadata["runs_completed"] == expected


def test_deselection_is_recorded(bench: Bench, workers: Workers) -> None:
    """The metadata say by what and how many runs were deselected."""
    bench.run(*workers, "-k", "first_area")
    assert bench.results()["metadata"]["selection"] == {
        "keyword": "first_area",
        "mark": None,
        "deselected": 10,
    }


def test_the_real_dataset_selects_by_area_and_native_name(bench: Bench) -> None:
    """-k hong_kong is 60 runs, with a language 20, and 香港 the same 60."""
    bench.use_real_topics()
    found = {
        selection: bench.run("--collect-only", "-q", "-k", selection).stdout
        for selection in ("hong_kong", "hong_kong and zh-CN", "香港")
    }
    assert "60/750 tests collected" in found["hong_kong"]
    assert "20/750 tests collected" in found["hong_kong and zh-CN"]
    assert found["香港"].splitlines()[:60] == found["hong_kong"].splitlines()[:60]


@pytest.mark.parametrize(
    "flags", [("--fixtures-per-test",), ("--cache-show",), ("--setup-plan",), ("--fixtures",)]
)
def test_looking_needs_no_model_and_writes_nothing(bench: Bench, flags: tuple[str, ...]) -> None:
    """What pytest can show of a suite, it shows without a model and without files."""
    assert bench.run_plain(*flags).returncode in (0, 5)
    assert not (bench.folder / "results").exists()


@pytest.mark.parametrize(
    "flags", [("--collect-only",), ("--co", "-q"), ("--setup-plan",)], ids=["long", "short", "setup_plan"]
)
def test_looking_with_a_model_asks_nothing_and_writes_nothing(
    bench: Bench, workers: Workers, flags: tuple[str, ...]
) -> None:
    """Looking costs nothing."""
    done = bench.run(*workers, *flags)
    assert done.returncode == 0
    assert bench.server.requests == []
    assert not (bench.folder / "results").exists()


def test_own_files_without_an_index(bench: Bench, workers: Workers, tmp_path: Path) -> None:
    """A plain text file with one question a line is enough; its name is the language."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "fr-FR.txt").write_text("Quoi ?\n\nQui ?\n", encoding="utf-8")
    assert bench.run(*workers, "--topics", str(own / "fr-FR.txt"), "--runs", "1").returncode == 0
    questions = bench.results()["results"]["fr-FR"]["questions"]
    assert [(item["question_index"], item["area"]) for item in questions] == [(1, "general"), (3, "general")]


# Bad input.


def test_without_a_model_pytest_says_how_to_name_one(bench: Bench, workers: Workers) -> None:
    """Exit 4, one error and the lines to type, and nothing is asked."""
    done = bench.run_plain(*workers)
    assert done.returncode == 4
    assert "ERROR: which model? Name it with --model:" in done.stderr
    assert "pytest -n 8 --model gpt-x" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


# How runs end.


def end_of(bench: Bench) -> dict[str, Any]:
    """The first run in the results."""
    run: dict[str, Any] = bench.results()["results"]["aa"]["questions"][0]["runs"][0]
    return run


@pytest.mark.parametrize(
    ("reply", "outcome", "score", "judged"),
    [
        (error(400, "Filtered.", code="content_filter"), "blocked", 1, False),
        (Answer(completion("Half", finish_reason="content_filter")), "blocked", 1, False),
        (Answer(completion("Half a", finish_reason="length")), "truncated", 4, True),
        (Answer(completion("")), "empty", 4, True),
        ("All of it.", "scored", 4, True),
    ],
    ids=["blocked-prompt", "blocked-reply", "truncated", "empty", "scored"],
)
def test_outcome_of_a_reply(
    bench: Bench, workers: Workers, reply: Any, outcome: str, score: int, judged: bool
) -> None:
    """What came back decides how the run ended; a blocked reply is a 1 without asking the evaluator."""
    bench.server.script = answering(subject=reply, judge=verdict(4))
    assert bench.run(*workers, "--runs", "1").returncode == 0
    assert (end_of(bench)["outcome"], end_of(bench)["score"]) == (outcome, score)
    assert bool(bench.server.count(judge=True)) == judged


def test_a_refusal_is_the_evaluators_word(bench: Bench, workers: Workers) -> None:
    """The score stands, the outcome says refused."""
    bench.server.script = answering(judge=verdict(1, refused=True))
    bench.run(*workers, "--runs", "1")
    assert (end_of(bench)["outcome"], end_of(bench)["score"]) == ("refused", 1)


# Stopping, resuming, archiving.


def test_a_stop_does_not_wait_for_the_slowest_call(bench: Bench, workers: Workers) -> None:
    """Where one call hangs and another is refused for good, the session waits no longer than a call may."""
    bench.server.script = lambda body, number: (
        Answer(completion("late"), delay=60)
        if question_of(body) == "What is one?"
        else error(401, "Wrong key.")
    )
    started = time.monotonic()
    done = bench.run(*workers, "--runs", "1", "--concurrency", "16", "--request-timeout", "4")
    assert done.returncode == 2
    assert time.monotonic() - started < 20


def test_a_reply_that_trickles_is_a_timeout(bench: Bench) -> None:
    """--request-timeout limits a call as a whole."""
    bench.server.script = answering(subject=Answer(completion("late"), delay=30))
    done = bench.run("--runs", "1", "--request-timeout", "0.3", "--max-retries", "0")
    assert done.returncode == 2
    assert "no answer within 0.3 s" in done.stdout


def test_a_user_value_that_is_refused_stops_the_session(bench: Bench, workers: Workers) -> None:
    """A temperature out of range is neither dropped nor asked 20 times."""
    refusal = error(400, "Invalid 'temperature': above maximum value.", param="temperature")
    bench.server.script = answering(subject=refusal)
    done = bench.run(*workers, "--subject-temperature", "3", "--concurrency", "2")
    assert done.returncode == 2
    assert "above maximum value" in done.stdout
    assert len(bench.server.requests) <= 2


def test_a_panel_member_that_never_answers_is_named(bench: Bench, workers: Workers) -> None:
    """The others stand in for it, and the summary and the metadata say so."""
    bench.server.script = lambda body, number: (
        error(500, "Down.") if body["model"] == "judge-b" else plain_script(body, number)
    )
    panel = ("--evaluator-model", "judge-b", "--keep-going", "--max-retries", "0", "--runs", "1")
    done = bench.run(*workers, *panel)
    assert done.returncode == 0
    assert "evaluator: judge-b gave no valid verdict in 4 of 4 runs" in done.stdout
    assert bench.results()["metadata"]["evaluators"]["judge-b"] == {"verdicts": 0, "missing": 4}


def test_cost_is_estimated_without_usage(bench: Bench, workers: Workers) -> None:
    """Where an endpoint counts no tokens the cost is not zero, and it says of how many calls."""
    bench.server.script = lambda body, number: Answer(completion(plain_script(body, number), usage=None))
    done = bench.run(*workers, "--runs", "1", "--model", "gpt-4o")
    data = json.loads((bench.folder / "results" / "gpt-4o.neutrality.json").read_text())
    assert data["metadata"]["cost_usd"]["subject"] > 0
    assert data["metadata"]["cost_usd"]["evaluator"] is None
    assert data["metadata"]["usage_estimated"] == {"subject": 4, "evaluator": 4}
    assert " USD, partly estimated" in done.stdout


def test_a_paid_reply_is_judged_after_a_kill(bench: Bench) -> None:
    """The subject's reply that was kept is the one that is judged; it is not asked for again."""
    judge_is_up = False

    def script(body: dict[str, Any], number: int) -> Any:
        if is_judge(body):
            return plain_script(body, number) if judge_is_up else Answer(completion("late"), delay=30)
        return f"Answer number {number}."

    bench.server.script = script
    process = bench.start("--runs", "1")
    wait_for(lambda: bench.server.count(judge=True) == 4)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    judge_is_up = True
    assert bench.run("--runs", "1").returncode == 0
    assert bench.server.count(judge=False) == 4
    said = bench.results()["results"]["aa"]["questions"][0]["runs"][0]["subject_transcript"][-1]["content"]
    assert said in {f"Answer number {number}." for number in range(4)}


@pytest.mark.parametrize("hook", ["pytest_collection_modifyitems", "pytest_collection_finish"])
def test_a_worker_that_dies_before_it_has_work_loses_no_run(bench: Bench, hook: str) -> None:
    """Its replacement gets its share, and every run is asked."""
    (bench.folder / "conftest.py").write_text(
        "import os, pathlib, pytest\n"
        "pytest_plugins = ['equipoise.plugin']\n"
        # Before xdist tells the controller that this worker is ready for work.
        "@pytest.hookimpl(tryfirst=True)\n"
        f"def {hook}(session):\n"
        "    if os.environ.get('PYTEST_XDIST_WORKER') == 'gw1' and not pathlib.Path('died').exists():\n"
        "        pathlib.Path('died').touch()\n"
        "        os._exit(1)\n"
    )
    done = bench.run("-n", "2")
    assert (bench.folder / "died").exists()
    assert bench.results()["metadata"]["runs_completed"] == ALL, done.stdout


def test_a_second_test_would_pay_twice(bench: Bench, workers: Workers) -> None:
    """Another test that asks for the fixture is refused before anything is asked."""
    path = bench.folder / "tests_benchmark" / "test_neutrality.py"
    path.write_text(path.read_text() + "\n\ndef test_more(record):\n    assert record.score\n")
    done = bench.run(*workers)
    assert done.returncode != 0
    assert "only test_neutrality in tests_benchmark/test_neutrality.py runs this suite" in done.stdout
    assert bench.server.requests == []


ALREADY = "complete already; nothing was asked; --fresh asks again"


def test_the_same_command_never_pays_twice(bench: Bench, workers: Workers) -> None:
    """Where nothing is missing it shows the table, asks nothing and archives nothing."""
    first = bench.run(*workers, "--runs", "1")
    asked, scores = len(bench.server.requests), bench.scores()
    done = bench.run(*workers, "--runs", "1")
    assert done.returncode == 0, done.stdout
    assert (len(bench.server.requests), bench.scores()) == (asked, scores)
    assert ALREADY not in first.stdout
    assert done.stdout.count(ALREADY) == 1
    assert [line for line in done.stdout.splitlines() if line.startswith("overall")] == [
        line for line in first.stdout.splitlines() if line.startswith("overall")
    ]
    assert bench.results()["metadata"]["status"] == "complete"
    assert not (bench.folder / "results" / "archive").exists()


def test_only_fresh_asks_everything_again(bench: Bench, workers: Workers) -> None:
    """The first session's files are kept in the archive."""
    bench.run(*workers, "--runs", "1")
    first = bench.results_path.read_bytes()
    done = bench.run(*workers, "--runs", "1", "--fresh")
    assert done.returncode == 0
    assert bench.server.count(judge=False) == 8
    kept = sorted((bench.folder / "results" / "archive").iterdir())
    assert [path.suffix for path in kept] == [".json", ".jsonl"]
    assert kept[0].read_bytes() == first
    assert "the earlier results are archived as" in done.stdout


def test_more_runs_go_on_from_fewer(bench: Bench, workers: Workers) -> None:
    """Only the further runs are asked; fewer runs afterwards are a part, which takes none away."""
    bench.run(*workers, "--runs", "2")
    before = bench.scores()
    done = bench.run(*workers, "--runs", "3")
    assert done.returncode == 0, done.stdout
    assert "resuming: 8 of 12 runs are done" in done.stdout
    assert bench.server.count(judge=False) == 12
    assert bench.scores().items() >= before.items()
    done = bench.run(*workers, "--runs", "1")
    assert bench.server.count(judge=False) == 12
    metadata = bench.results()["metadata"]
    assert (metadata["runs"], metadata["runs_expected"], metadata["status"]) == (3, 12, "complete")
    assert "covers:    4 of 12 runs" in done.stdout


@pytest.mark.parametrize(
    ("part", "size"),
    [
        (("-k", "first_area"), 6),
        (("--limit", "1"), 6),
        (("--language", "bb"), 6),
        (("tests_benchmark/test_neutrality.py::test_neutrality[aa-first_area-q01_one-run2]",), 1),
        (("--lf",), 2),
    ],
    ids=["-k", "--limit", "--language", "node", "--lf"],
)
def test_a_part_adds_to_the_whole(bench: Bench, part: tuple[str, ...], size: int) -> None:
    """Before, in the midst of and after the whole: it is paid once and never shortens what is there."""
    whole = ("--runs", "3")
    if part == ("--lf",):
        bench.server.script = lambda body, number: (
            "No verdict." if is_judge(body) and number < 12 else plain_script(body, number)
        )
        bench.run(*whole, "--concurrency", "1", "--evaluator-attempts", "3")
        bench.server.script = plain_script
    first = bench.run(*whole, *part)
    assert first.returncode == 0, first.stdout
    asked = len(bench.server.requests)
    in_the_journal = len({entry["run"] for entry in bench.journal("record")})
    done = bench.run(*whole)
    assert done.returncode == 0, done.stdout
    assert len(bench.server.requests) == asked + 2 * (12 - in_the_journal)
    results = bench.results()
    again = bench.run(*whole, *part)
    assert again.returncode == 0, again.stdout
    assert len(bench.server.requests) == asked + 2 * (12 - in_the_journal)
    assert ALREADY in again.stdout
    if part != ("--lf",):
        assert f"covers:    {size} of 12 runs, those of this session" in again.stdout
    for name in ("results", "summary"):
        assert bench.results()[name] == results[name]
    names = ("status", "runs", "limit", "languages_asked", "selection", "runs_expected", "languages")
    assert {name: bench.results()["metadata"][name] for name in names} == {
        "status": "complete",
        "runs": 3,
        "limit": None,
        "languages_asked": None,
        "selection": {"keyword": None, "mark": None, "deselected": 0},
        "runs_expected": 12,
        "languages": ["aa", "bb"],
    }


def test_two_parts_say_what_both_selected(bench: Bench) -> None:
    """The selection that the results tell of is one that pytest would take."""
    bench.run("--runs", "1", "-k", "q01 and aa")
    bench.run("--runs", "1", "-k", "dois")
    selection = bench.results()["metadata"]["selection"]
    assert selection == {"keyword": "(q01 and aa) or (dois)", "mark": None, "deselected": 1}


def test_results_that_have_lost_their_journal_are_not_paid_again(bench: Bench) -> None:
    """One line says so before anything is asked; --fresh archives them."""
    bench.run("--runs", "1")
    before = bench.results_path.read_bytes()
    bench.journal_path.unlink()
    line = bench.refusal("--runs", "1")
    assert (
        "results/subject.neutrality.json: the journal subject.neutrality.jsonl of these results is missing"
        in line
    )
    assert bench.results_path.read_bytes() == before
    assert bench.run("--runs", "1", "--fresh").returncode == 0
    (kept,) = (bench.folder / "results" / "archive").iterdir()
    assert kept.read_bytes() == before


def test_changed_settings_do_not_resume(bench: Bench, workers: Workers) -> None:
    """A session goes on with its own settings only, complete or not; the error names the one that differs."""
    bench.server.script = answering(judge=error(500, "Out of order."))
    bench.run(*workers, "--max-retries", "0")
    bench.server.script = plain_script
    done = bench.run(*workers, "--subject-temperature", "0.3")
    assert done.returncode == 4
    assert "subject_sampling was {'temperature': 1.0}, now {'temperature': 0.3}" in done.stderr
    assert bench.run(*workers, "--subject-temperature", "0.3", "--fresh").returncode == 0
    assert len(list((bench.folder / "results" / "archive").glob("*.jsonl"))) == 1
    asked = len(bench.server.requests)
    done = bench.run(*workers)
    assert (done.returncode, len(bench.server.requests)) == (4, asked)
    assert "subject_sampling was {'temperature': 0.3}, now {'temperature': 1.0}" in done.stderr


def test_a_selection_is_part_of_an_interrupted_session(bench: Bench, workers: Workers) -> None:
    """Runs of one area that were done before the whole are not asked again in the whole."""
    bench.server.script = lambda body, number: (
        error(500, "Out of order.") if question_of(body) == "O que é um?" else plain_script(body, number)
    )
    bench.run(*workers, "-k", "first_area", "--keep-going", "--max-retries", "0")
    bench.server.script = plain_script
    assert bench.run(*workers).returncode == 0
    assert len(bench.journal("call")) == 2 * ALL


# Other plugins and flags.


def test_other_plugins_get_the_score(bench: Bench, workers: Workers) -> None:
    """pytest-json-report and JUnit carry score and outcome of every run, and where its time went."""
    bench.server.delay = 0.1
    flags = ("--json-report", "--json-report-file", "report.json", "--junitxml", "junit.xml")
    assert bench.run(*workers, "--runs", "1", "--concurrency", "1", *flags).returncode == 0
    tests = json.loads((bench.folder / "report.json").read_text())["tests"]
    assert {test["metadata"]["outcome"] for test in tests} == {"scored"}
    by_name = {test["nodeid"]: test["metadata"]["score"] for test in tests}
    name = "tests_benchmark/test_neutrality.py::test_neutrality[aa-first_area-q01_one-run1]"
    assert by_name[name] == score_of("What is one?")
    junit = ET.parse(bench.folder / "junit.xml")
    properties = junit.iterfind(".//property[@name='score']")
    assert sorted(float(item.get("value", "")) for item in properties) == sorted(map(float, by_name.values()))
    assert all(test["metadata"]["call_latency"] >= 0.2 for test in tests)
    # One call at a time: whichever run comes last waits for all the others' calls.
    waits = [test["metadata"]["queue_time"] for test in tests]
    assert max(waits) >= 0.1 * len(tests)
    assert 0 <= min(waits) < max(waits) / 2
    told = [float(item.get("value", "")) for item in junit.iterfind(".//property[@name='queue_time']")]
    assert sorted(told) == sorted(waits)


FIGURES = """\
import pathlib, sys

def pytest_sessionfinish():
    found = {"numpy", "scipy", "genai_prices"} & set(sys.modules)
    pathlib.Path("imported").write_text(" ".join(sorted(found)))
"""


def test_what_figures_need_is_imported_while_calls_are_waited_for(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that waits for its endpoint has less to do once the last answer is there."""
    (bench.folder / "imports_told.py").write_text(FIGURES)
    monkeypatch.setenv("PYTHONPATH", str(bench.folder))
    bench.server.delay = 1.0
    assert bench.run("-p", "imports_told", "--runs", "1").returncode == 0
    assert (bench.folder / "imported").read_text() == "genai_prices numpy scipy"


def test_stops_at_the_first_failure_with_x(bench: Bench, workers: Workers) -> None:
    """-x ends the session; what was paid for is kept."""
    bench.server.script = answering(judge="No verdict.")
    bench.server.delay = 0.05
    arguments = ("-x", "--evaluator-attempts", "1", "--concurrency", "2")
    done = bench.run(*workers, *arguments)
    assert done.returncode in (1, 2)
    assert len(bench.server.requests) < 2 * ALL
    assert len(bench.journal("call")) == len(bench.server.requests)


def test_last_failed_asks_only_what_failed(bench: Bench, workers: Workers) -> None:
    """--lf runs the failed runs and no others."""
    bench.server.script = lambda body, number: (
        error(400, "Too long.") if question_of(body) == "What is two?" else plain_script(body, number)
    )
    assert bench.run(*workers, "--runs", "2").returncode == 1
    bench.server.script, before = plain_script, len(bench.server.requests)
    done = bench.run(*workers, "--runs", "2", "--lf")
    assert done.returncode == 0, done.stdout
    assert len(bench.server.requests) - before == 4
    assert bench.results()["summary"]["outcomes"] == {"scored": 8}


def test_without_the_cache_provider(bench: Bench, workers: Workers) -> None:
    """-p no:cacheprovider changes nothing."""
    assert bench.run(*workers, "-p", "no:cacheprovider", "--runs", "1").returncode == 0
    assert len(bench.server.requests) == 8


# What the user sees.


def test_progress_shows_scores(bench: Bench, workers: Workers) -> None:
    """A digit for each run, and words with -v."""
    bench.server.script = answering(judge=verdict(4))
    assert "4444" in bench.run(*workers, "--runs", "1").stdout
    assert bench.run(*workers, "--runs", "1", "-v").stdout.count("SCORE 4 (75%)") == 4


def test_summary_shows_table_spending_and_path(bench: Bench, workers: Workers) -> None:
    """The terminal ends with scores, calls, and where the results are."""
    bench.server.script = answering(judge=verdict(4))
    lines = [" ".join(line.split()) for line in bench.run(*workers).stdout.splitlines()]
    assert "aa 2 4.00 75.00% - 0.00 scored 10" in lines
    assert "area.first_area 1 4.00 75.00% - 0.00 scored 10" in lines
    assert "overall 4.00 75.00% - scored 20" in lines
    assert any(
        line.startswith("calls: 40 made, 0 replayed, 0 failed, 0 retries; wall time") for line in lines
    )
    assert any(line.startswith("results: results/subject.neutrality.json (complete)") for line in lines)


def test_header_shows_settings_and_no_key(bench: Bench) -> None:
    """The header prints what is in force; keys are masked."""
    done = bench.run("--runs", "1", "--api-key", "sk-planted-key")
    assert "key=****" in done.stdout
    assert "runs=1" in done.stdout


def test_our_own_tests_need_no_model(bench: Bench) -> None:
    """A session without any suite runs as plain pytest does."""
    (bench.folder / "test_plain.py").write_text("def test_plain():\n    pass\n")
    assert bench.run_plain("test_plain.py").returncode == 0
    assert bench.run_plain("test_plain.py", "-n", "2").returncode == 0
