"""Whole sessions against the loopback server: what pytest selects, shows and ends with."""

from __future__ import annotations

import re
from typing import Any

import pytest

from conftest import SMALL_DATASET, Bench
from loopback import Answer, completion, error, is_judge, question_of, score_of

Workers = tuple[str, str]
ALL = 2 * 2 * 5  # languages, questions, runs of the small dataset


def test_a_session_asks_judges_and_shows_every_run_once(bench: Bench, workers: Workers) -> None:
    """One subject and one evaluator call each, a digit, the table, what it cost, and where it is kept."""
    bench.server.delay = 0.02
    done = bench.run(*workers, "--concurrency", "7", "--api-key", "sk-planted-key", "-v", status=0)
    assert (bench.server.count(judge=False), bench.server.count(judge=True)) == (ALL, ALL)
    assert 1 < bench.server.peak <= 7
    assert set(bench.scores().items()) >= {(("aa", 1, run), score_of("What is one?")) for run in range(1, 6)}
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert sum("SCORE " in line for line in lines) == ALL
    assert any(line.startswith("overall ") and line.endswith(" 2") for line in lines)
    calls = "calls: 40 made, 0 replayed, 0 failed, 0 retries; wall time"
    assert any(line.startswith(calls) for line in lines)
    assert "results: results/subject.neutrality.json (complete)" in lines
    assert "key=****" in done.stdout
    assert "planted" not in done.stdout


@pytest.mark.slow
def test_warnings_come_with_the_session(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """On its data, once and behind the opening line; that verdicts will vary, that a key may be none."""
    monkeypatch.setenv("OPENAI_API_KEY", "planted")
    texts = {name: text for name, text in SMALL_DATASET.items() if name != "index.csv"}
    bench.write_topics({**texts, "bb.txt": "O que é um?\n"})
    done = bench.run("-n", "2", "--runs", "1", "--evaluator-temperature", "0.5", status=0)
    assert "3 passed" in done.stdout
    lines = done.stdout.splitlines()
    (warning,) = [line for line in lines if "WARNING" in line]
    assert lines.index(warning) == 1
    assert warning.startswith("WARNING: topics/neutrality: of 2 questions bb lacks 1 (q02), so the figures")
    assert bench.results()["metadata"]["data_notes"] == [warning.removeprefix("WARNING: ")]
    assert "evaluator's temperature is 0.5, not 0" in done.stdout
    assert done.stdout.count("OPENAI_API_KEY: the key has fewer than 16 characters") == 1
    assert "planted" not in done.stdout + done.stderr


# Selecting.


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (("-k", "first_area and bb"), 5),
        (("-k", "贰", "-m", 'language(name="aa")'), 5),
        pytest.param(
            ("-m", 'area(name="second_area")', "--language", "bb", "-n", "2"), 5, marks=pytest.mark.slow
        ),
    ],
    ids=["words", "native-mark", "workers"],
)
def test_a_selection_asks_its_runs_and_no_others(
    bench: Bench, selection: tuple[str, ...], expected: int
) -> None:
    """And the metadata tell of it."""
    bench.run(*selection, status=0)
    assert bench.server.count(judge=False) == expected
    metadata = bench.results()["metadata"]
    assert metadata["runs_expected"] == metadata["runs_completed"] == expected
    filters = {
        name: selection[selection.index(flag) + 1] if flag in selection else None
        for name, flag in (("keyword", "-k"), ("mark", "-m"))
    }
    if any(filters.values()):
        total = ALL // 2 if "--language" in selection else ALL
        assert metadata["selection"] == {**filters, "deselected": total - expected}


@pytest.mark.slow
def test_looking_needs_no_model_and_writes_nothing(bench: Bench, subtests: pytest.Subtests) -> None:
    """What pytest can show of a suite, it shows without a model and without files, with workers too."""
    for flags in (
        ("--fixtures-per-test",),
        ("--cache-show",),
        ("--setup-plan", "-n", "2"),
        ("--co", "-q", "-n", "2"),
    ):
        with subtests.test(flags=flags):
            assert bench.run_plain(*flags).returncode in (0, 5)
            assert bench.run(*flags).returncode in (0, 5)
            assert bench.server.requests == []
            assert not (bench.folder / "results").exists()


# Bad input.


@pytest.mark.parametrize("number", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_without_a_model_pytest_says_how_to_name_one(bench: Bench, number: str) -> None:
    """Exit 4, one error and the lines to type, and nothing is asked."""
    done = bench.run_plain("-n", number, status=4)
    assert "ERROR: which model? Name it with --model:" in done.stderr
    assert "pytest -n 8 --model gpt-x" in done.stderr


def test_a_misspelt_option_is_guessed(bench: Bench) -> None:
    """Ours and pytest's, in one line that repeats no value, which may be a key."""
    guessed = bench.refusal("--modle", "x", "--maxfial=1", "--api-kye=sk-secret", "-n", "2")
    assert guessed == "ERROR: " + "; ".join(
        f"{misspelt}: there is no such option; did you mean {meant}?"
        for misspelt, meant in (
            ("--modle", "--model"),
            ("--maxfial", "--maxfail"),
            ("--api-kye", "--api-key"),
        )
    )
    unlike = bench.refusal("--nothing-like-it")
    assert unlike == "ERROR: --nothing-like-it: there is no such option; `pytest --help` lists all"


def test_a_second_test_would_pay_twice(bench: Bench) -> None:
    """Another test that asks for the fixture is refused before anything is asked."""
    path = bench.folder / "tests_benchmark" / "test_neutrality.py"
    path.write_text(path.read_text() + "\n\ndef test_more(record):\n    assert record.score\n")
    done = bench.run(status=2)
    assert "only test_neutrality in tests_benchmark/test_neutrality.py runs this suite" in done.stdout
    assert bench.server.requests == []


def test_errors_of_other_files_end_a_session_unless_told_otherwise(bench: Bench) -> None:
    """Before anything is asked; with pytest's own option to go on, all runs are asked."""
    (bench.folder / "tests_benchmark" / "test_broken.py").write_text("import no_such_module\n")
    arguments = ("tests_benchmark/test_neutrality.py", "tests_benchmark/test_broken.py", "--runs", "1")
    done = bench.run(*arguments)
    assert (done.returncode, bench.server.requests) == (2, [])
    assert "no_such_module" in done.stdout
    done = bench.run(*arguments, "--continue-on-collection-errors")
    assert (done.returncode, "4 passed, 1 error" in done.stdout) == (1, True)
    assert bench.results()["metadata"]["status"] == "complete"


@pytest.mark.slow
def test_our_own_tests_need_no_model(bench: Bench) -> None:
    """A session without any suite runs as plain pytest does."""
    (bench.folder / "test_plain.py").write_text("def test_plain():\n    pass\n")
    bench.run_plain("test_plain.py", "-n", "2", status=0)


# How sessions end.


@pytest.mark.slow
def test_a_refused_key_ends_the_session_and_not_with_the_slowest_call(bench: Bench) -> None:
    """Exit 2, and one line; where another call hangs, no longer is waited for it than a call may take."""

    def script(body: dict[str, Any], number: int) -> Any:
        if question_of(body) == "What is one?":
            return Answer(completion("late"), delay=120)
        return error(401, "Wrong key.")

    bench.server.script = script
    done = bench.run("-n", "2", "--runs", "1", "--concurrency", "16", "--request-timeout", "2", status=2)
    (message,) = [line for line in done.stdout.splitlines() if "Wrong key." in line]
    assert "subject 'subject': HTTP 401: Wrong key.; no key was given: set it in OPENAI_API_KEY" in message
    assert not re.search("FAILURES|assert|how runs ended|short test summary", done.stdout)
    assert bench.results()["metadata"]["status"] == "no_scores"


def test_stops_at_the_first_failure_with_x(bench: Bench, workers: Workers) -> None:
    """-x ends the session; what was paid for is kept."""
    bench.server.script = lambda body, number: "No verdict." if is_judge(body) else "An answer."
    bench.server.delay = 0.05
    done = bench.run(*workers, "-x", "--evaluator-attempts", "1", "--concurrency", "2")
    assert done.returncode in (1, 2)
    assert "stopping after 1 failures" in done.stdout
    assert len(bench.server.requests) < 2 * ALL
    assert len(bench.journal("call")) == len(bench.server.requests)
