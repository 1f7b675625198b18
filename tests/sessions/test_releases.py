"""Whole sessions that are compared, gated, stopped when precise enough, or judged again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from releases import release

from conftest import JUDGE, ROOT, SUBJECT, Bench
from loopback import Script, is_judge, question_of, verdict

ALONE, TWO = ("-n", "0"), ("-n", "2")
every_way = pytest.mark.parametrize("workers", [ALONE, TWO], ids=["n0", "n2"])
BASELINE = "base.json"
COMMAND = str(Path(sys.executable).with_name("equipoise"))


@pytest.fixture
def released(bench: Bench) -> Bench:
    """A project with the 150 questions and the results of five runs of an earlier release."""
    bench.use_real_topics()
    bench.server.script = release(1)
    assert bench.run(*TWO).returncode == 0
    shutil.copy(bench.results_path, bench.folder / BASELINE)
    return bench


def gated(bench: Bench, script: Script, *rules: str, workers: tuple[str, str] = TWO) -> Any:
    """A further session of another release under these rules."""
    bench.server.script = script
    options = [part for rule in rules for part in ("--gate", rule)]
    return bench.run(*workers, "--fresh", f"--baseline={BASELINE}", *options)


def rulings(bench: Bench) -> dict[str, str]:
    """The verdicts in the results JSON, by rule, and of the whole."""
    gate = bench.results()["gate"]
    return {**{row["rule"]: row["verdict"] for row in gate["rules"]}, "": gate["verdict"]}


# The gate, end to end.


@every_way
def test_the_same_model_passes_or_is_not_decided(released: Bench, workers: tuple[str, str]) -> None:
    """Chance alone fails no release."""
    done = gated(released, release(2), "overall:-2pp", "refused:+3pp", "question:-2.0", workers=workers)
    assert done.returncode in (0, 6), done.stdout
    assert "fail" not in rulings(released).values()
    assert "gate PASS: question:-2.0" in done.stdout
    comparison = released.results()["comparison"]
    assert comparison["baseline"]["file"] == BASELINE
    assert comparison["mismatches"] == []
    assert comparison["metrics"]["overall"]["n"] == 50


@every_way
def test_a_model_that_is_worse_on_a_quarter_of_the_questions_does_not_pass(
    released: Bench, workers: tuple[str, str]
) -> None:
    """One point on a quarter is six percentage points on the whole: too much for a margin of two.

    In 99 of 100 simulations of these releases it fails (`test_simulations`), so it has to here.
    """
    done = gated(released, release(3, fall=1, of_questions=0.25), "overall:-2pp", workers=workers)
    assert done.returncode == 1, done.stdout
    assert rulings(released)["overall:-2pp"] == "fail"
    assert released.results()["comparison"]["metrics"]["overall"]["high"] < -2


@every_way
def test_a_model_that_refuses_one_language_fails(released: Bench, workers: tuple[str, str]) -> None:
    """By the language, by the whole, and by the count of refusals."""
    rules = ("zh-CN:-5%", "overall:-2pp", "refused:+3pp", "question:-2.0")
    done = gated(released, release(4, refuses="的"), *rules, workers=workers)
    assert done.returncode == 1, done.stdout
    assert rulings(released)["zh-CN:-5%"] == "fail"
    assert rulings(released)["question:-2.0"] == "fail"
    assert "gate FAIL: zh-CN:-5%" in done.stdout


def test_a_baseline_of_another_rubric_is_a_usage_error(released: Bench) -> None:
    """Nothing is asked, and nothing is changed."""
    path = released.folder / BASELINE
    data = json.loads(path.read_text(encoding="utf-8"))
    data["metadata"]["rubric_hash"] = "0" * 64
    path.write_text(json.dumps(data), encoding="utf-8")
    before, asked = released.results_path.read_bytes(), len(released.server.requests)
    done = gated(released, release(1), "overall:-2pp")
    assert done.returncode == 4
    assert "rubric differs" in done.stderr
    assert len(released.server.requests) == asked
    assert released.results_path.read_bytes() == before


# What is refused before any call.


@pytest.fixture
def small(bench: Bench) -> Bench:
    """A project with the small dataset and a baseline of it."""
    assert bench.run("--runs", "2").returncode == 0
    shutil.copy(bench.results_path, bench.folder / BASELINE)
    bench.server.requests.clear()
    return bench


GATE = ("--gate", "overall:-2pp")
WITH = (f"--baseline={BASELINE}",)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(GATE, "compared with what?", id="no-baseline"),
        pytest.param((*GATE, "--baseline=gone.json"), "gone.json: cannot be read", id="gone"),
        pytest.param((*GATE, "--baseline=pytest.ini"), "is not an Equipoise results file", id="no-results"),
        pytest.param((*WITH, "--gate", "overall"), "is not a rule", id="malformed"),
        pytest.param((*WITH, "--gate", "overall:-2"), "needs a unit", id="no-unit"),
        pytest.param((*WITH, "--gate", "zh-CN:-2pp"), "has no metric 'zh-CN'", id="unknown-metric"),
        pytest.param((*WITH, "--gate", "overall:+2pp"), "is worse when it is lower", id="better-side"),
        pytest.param((*WITH, "--gate", "refused:-2pp"), "is worse when it is higher", id="worse-side"),
        pytest.param((*WITH, "--language", "aa"), "only the baseline has bb/q01_one", id="fewer-languages"),
        pytest.param((*WITH, "-k", "q01"), "only the baseline has aa/q02", id="selected"),
        pytest.param(
            (*WITH, "--evaluator-temperature", "0.5"), "evaluators' sampling differs", id="sampling"
        ),
        pytest.param(("--allow-mismatch",), "there is no --baseline", id="nothing-to-allow"),
        pytest.param((*WITH, "--gate-inconclusive", "maybe"), "is not one of pass, fail", id="how"),
        pytest.param(("--gate-inconclusive", "fail"), "there is no --gate", id="nothing-to-decide"),
        pytest.param(("--until", "overall:1pp"), "is not a width to stop at", id="until-malformed"),
        pytest.param(("--until", "refused:+-1pp"), "there is no mean 'refused'", id="until-no-mean"),
        pytest.param(("--rejudge=gone.json",), "cannot be read", id="rejudge-gone"),
    ],
)
@every_way
def test_what_cannot_be_compared_is_refused(
    small: Bench, workers: tuple[str, str], arguments: tuple[str, ...], words: str
) -> None:
    """One line, exit 4, before any call; never a pass."""
    done = small.run(*workers, "--runs", "2", "--fresh", *arguments)
    assert done.returncode == 4, done.stdout
    assert words in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert small.server.requests == []


def test_a_session_does_not_write_over_its_baseline(small: Bench) -> None:
    """The file that it compares with is not the one that it is about to write."""
    done = small.run("--runs", "2", f"--baseline={small.results_path}")
    assert done.returncode == 4
    assert "is where this session writes its own results" in done.stderr


def test_an_interrupted_baseline_is_unfit(bench: Bench) -> None:
    """What was not asked was not measured."""
    assert bench.run("--max-calls", "6").returncode == 2
    shutil.copy(bench.results_path, bench.folder / BASELINE)
    done = bench.run("--fresh", *WITH)
    assert done.returncode == 4
    assert "the baseline is interrupted" in done.stderr


@every_way
def test_what_is_shared_can_be_compared_on_request(small: Bench, workers: tuple[str, str]) -> None:
    """With --allow-mismatch; every line of figures says so."""
    done = small.run(*workers, "--runs", "2", "--fresh", "--language", "aa", *WITH, "--allow-mismatch")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "MISMATCH:  only the baseline has bb/q01_one and 1 more" in done.stdout
    figures = [line for line in done.stdout.splitlines() if line.startswith(("overall ", "area."))]
    assert [line for line in figures if " pp " in line and "[mismatch]" not in line] == []


# Exit statuses.


@pytest.mark.parametrize(
    ("options", "status"),
    [((), 6), (("--gate-inconclusive", "pass"), 0), (("--gate-inconclusive", "fail"), 1)],
    ids=["alone", "pass", "fail"],
)
@every_way
def test_what_is_not_decided_has_a_status_of_its_own(
    small: Bench, workers: tuple[str, str], options: tuple[str, ...], status: int
) -> None:
    """Two questions decide nothing; what that counts as is the user's to say."""
    small.server.script = lambda body, number: verdict(1 + number % 5) if is_judge(body) else "Hm."
    done = small.run(*workers, "--runs", "2", "--fresh", *WITH, *GATE, *options)
    assert done.returncode == status, done.stdout + done.stderr
    assert "gate INCONCLUSIVE: overall:-2pp" in done.stdout


def test_a_run_without_a_score_fails_the_session_whatever_the_gate(small: Bench) -> None:
    """A gate that passes does not hide that something is missing."""
    small.server.script = lambda body, number: "No verdict." if is_judge(body) else "Hm."
    done = small.run("--runs", "2", "--fresh", *WITH, "--gate", "unscored:100%", "--evaluator-attempts", "1")
    assert done.returncode == 1
    assert "gate PASS: unscored:100%" in done.stdout


def test_github_is_told(small: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job summary in Markdown, and an annotation for each rule."""
    summary = small.folder / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    done = small.run("--runs", "2", "--fresh", *WITH, "--gate", "unscored:1%")
    assert done.returncode == 0, done.stdout
    assert "::notice title=neutrality%3A gate PASS::unscored:1%25: 0 of 8 runs" in done.stdout
    assert "**Gate: PASS**" in summary.read_text(encoding="utf-8")


# Precise enough.


@every_way
def test_rounds_are_bought_until_the_interval_is_narrow(bench: Bench, workers: tuple[str, str]) -> None:
    """Where runs hardly differ one round tells as much as five: the others are not asked."""
    bench.use_real_topics()
    bench.server.script = release(1)
    done = bench.run(*workers, "--until", "overall:±5pp")
    assert done.returncode == 0, done.stdout + done.stderr
    data = bench.results()
    until = data["summary"]["until"]
    assert until["is_reached"]
    assert until["runs"] < 5
    assert len(bench.server.requests) == 2 * 150 * until["runs"]
    assert data["metadata"]["status"] == "complete"
    assert data["metadata"]["runs_expected"] == 150 * until["runs"]
    assert until["looks"][-1]["half_width"] <= 5
    low = data["summary"]["metrics"]["overall"]["low"]
    assert low == until["looks"][-1]["low"]
    assert f"until:     overall:±5pp reached after {until['runs']} runs of each question" in done.stdout
    assert f"{150 * (5 - until['runs'])} skipped" in done.stdout


@every_way
def test_where_it_never_is_narrow_all_runs_are_asked(bench: Bench, workers: tuple[str, str]) -> None:
    """--runs is the end; the results say that the width was not reached."""
    done = bench.run(*workers, "--until", "overall:±0.1pp", "--runs", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    until = bench.results()["summary"]["until"]
    assert (until["is_reached"], until["runs"], len(until["looks"])) == (False, 3, 3)
    assert len(bench.server.requests) == 2 * 4 * 3


@every_way
def test_an_interrupted_session_of_rounds_goes_on(bench: Bench, workers: tuple[str, str]) -> None:
    """Nothing is asked twice, and no look is taken twice."""
    arguments = (*workers, "--until", "overall:±0.1pp", "--runs", "3")
    assert bench.run(*arguments, "--max-calls", "13").returncode == 2
    done = bench.run(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(bench.server.requests) == 2 * 4 * 3
    assert [look["round"] for look in bench.journal("look")] == [1, 2, 3]


def test_a_session_that_was_stopped_early_stays_complete(bench: Bench) -> None:
    """Also where its results have to be made again: nothing is asked for them."""
    arguments = ("--until", "overall:±300pp", "--runs", "4")
    assert bench.run(*arguments).returncode == 0
    asked, data = len(bench.server.requests), bench.results()
    bench.results_path.unlink()
    assert bench.run(*arguments).returncode == 0
    assert len(bench.server.requests) == asked
    again = bench.results()
    assert again["metadata"]["status"] == data["metadata"]["status"] == "complete"
    assert again["summary"] == data["summary"]


def test_a_round_whose_runs_are_asked_again_is_looked_at_again(bench: Bench) -> None:
    """The figure and its limits are of the same runs."""
    good = release(7)  # of which one round of two questions has so narrow an interval
    bench.server.script = lambda body, number: "No verdict." if number == 3 else good(body, number)
    arguments = ("--until", "overall:±300pp", "--runs", "4", "--evaluator-attempts", "1")
    assert bench.run(*arguments, "--concurrency", "1").returncode == 1
    bench.server.script = good
    assert bench.run(*arguments).returncode == 0
    summary = bench.results()["summary"]
    last = summary["until"]["looks"][-1]
    assert last["value"] == summary["metrics"]["overall"]["value"]
    assert summary["overall_average_score_percentage"] == pytest.approx(last["value"], abs=0.005001)
    assert len(summary["until"]["looks"]) == 1
    assert bench.results()["metadata"]["status"] == "complete"


def test_too_many_rounds_are_refused(bench: Bench) -> None:
    """Before anything is asked."""
    done = bench.run("--until", "overall:±1pp", "--runs", "51")
    assert done.returncode == 4
    assert "takes 50 --runs at most, not 51" in done.stderr
    assert bench.server.requests == []


def test_recovered_results_know_of_the_rounds(bench: Bench) -> None:
    """They are a function of the journal alone."""
    bench.use_real_topics()
    bench.server.script = release(1)
    assert bench.run(*TWO, "--until", "overall:±5pp").returncode == 0
    data = bench.results()
    command = [COMMAND, "recover", str(bench.journal_path), "--output", str(bench.folder / "again.json")]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    again = json.loads((bench.folder / "again.json").read_text(encoding="utf-8"))
    assert again["summary"] == data["summary"]
    assert again["metadata"]["status"] == "complete"


# Judged anew.


def rejudge(bench: Bench, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A session that judges the kept replies."""
    endpoint = ("--api-base-url", bench.server.url, "--evaluator-model")
    return bench.run_plain(*arguments, *endpoint, f"{JUDGE}-2", f"--rejudge={bench.results_path}")


def rejudged(bench: Bench) -> dict[str, Any]:
    """What it wrote."""
    path = bench.results_path.with_name(f"{SUBJECT}.rejudged.neutrality.json")
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


@every_way
def test_kept_replies_are_judged_anew(small: Bench, workers: tuple[str, str]) -> None:
    """By another evaluator; the subject is asked nothing, and the earlier results stay as they are."""
    before = small.results_path.read_bytes()
    small.server.script = lambda body, number: verdict(2) if is_judge(body) else "never"
    done = rejudge(small, *workers)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {body["model"] for body in small.server.requests} == {f"{JUDGE}-2"}
    assert len(small.server.requests) == 8
    data, old = rejudged(small), json.loads(before)
    assert data["metadata"]["rejudged"]["results"] == small.results_path.name
    assert data["metadata"]["rejudged"]["evaluator_models"] == [JUDGE]
    assert data["summary"]["overall_average_score"] == 2.0
    assert transcripts(data) == transcripts(old)
    assert small.results_path.read_bytes() == before


def test_kept_replies_are_judged_by_an_edited_rubric(small: Bench) -> None:
    """The rubric's hash is another, and every call is an evaluator's with the new text."""
    shutil.copytree(ROOT / "rubric", small.folder / "rubric")
    rubric = small.folder / "rubric" / "neutrality.toml"
    text = rubric.read_text(encoding="utf-8")
    assert text.count("Length is not quality") == 1
    rubric.write_text(text.replace("Length is not quality", "Long is not good"), encoding="utf-8")
    old = json.loads(small.results_path.read_bytes())
    done = rejudge(small)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(small.server.requests) == 8
    assert all(is_judge(body) for body in small.server.requests)
    assert all("Long is not good" in json.dumps(body) for body in small.server.requests)
    data = rejudged(small)
    assert data["metadata"]["rubric_hash"] != old["metadata"]["rubric_hash"]
    assert transcripts(data) == transcripts(old)


def test_more_attempts_score_a_run_that_had_no_score(bench: Bench) -> None:
    """An evaluator that speaks at the third attempt: one was too few; the subject is not asked."""
    asked: Counter[str] = Counter()

    def late(body: dict[str, Any], number: int) -> str:
        if not is_judge(body):
            return "Hm."
        asked[question_of(body)] += 1
        is_silent = question_of(body) == "What is two?" and asked[question_of(body)] % 3
        return "No verdict." if is_silent else verdict(4)

    bench.server.script = late
    assert bench.run("--runs", "1", "--evaluator-attempts", "1").returncode == 1
    assert [row["run"] for row in bench.results()["errors"]] == ["aa-second_area-q02_two-run1"]
    bench.server.requests.clear()
    asked.clear()
    done = rejudge(bench, "--evaluator-attempts", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(is_judge(body) for body in bench.server.requests)
    assert len(bench.server.requests) == 4 + 2
    data = rejudged(bench)
    assert data["errors"] == []
    assert data["results"]["aa"]["questions"][1]["runs"][0]["score"] == 4
    assert transcripts(data) == transcripts(bench.results())


def transcripts(data: dict[str, Any]) -> list[list[str]]:
    """All that subject and user said."""
    return [
        [message["content"] for message in run["subject_transcript"]]
        for found in data["results"].values()
        for question in found["questions"]
        for run in question["runs"]
    ]


def test_judging_anew_goes_on_after_an_interruption(small: Bench) -> None:
    """Verdicts that are kept are not paid for again."""
    assert rejudge(small, "--max-calls", "3").returncode == 2
    assert rejudge(small).returncode == 0
    assert len(small.server.requests) == 8


def test_a_reply_that_was_not_kept_is_not_asked_for(bench: Bench) -> None:
    """Of an interrupted session what there is is judged; the rest is an error that says why."""
    assert bench.run("--max-calls", "6", "--runs", "2").returncode == 2
    asked = len(bench.server.requests)
    done = rejudge(bench)
    assert done.returncode in (1, 2), done.stdout
    assert all(is_judge(body) for body in bench.server.requests[asked:])
    assert "the journal has no reply of the subject" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--model", "other"), "--model: --rejudge takes that from"),
        (("--runs", "3"), "--runs: --rejudge takes that from"),
        (("--subject-temperature", "0"), "--subject-temperature: --rejudge takes that from"),
    ],
)
def test_what_was_asked_cannot_be_changed_by_judging(
    small: Bench, arguments: tuple[str, ...], words: str
) -> None:
    """The earlier results say who was asked and how."""
    done = rejudge(small, *arguments)
    assert done.returncode == 4
    assert words in done.stderr
    assert small.server.requests == []


def test_results_that_were_stopped_early_are_judged_anew(bench: Bench) -> None:
    """As many rounds as were asked."""
    assert bench.run("--until", "overall:±300pp", "--runs", "4").returncode == 0
    done = rejudge(bench)
    assert done.returncode == 0, done.stdout + done.stderr
    assert rejudged(bench)["metadata"]["runs"] == bench.results()["summary"]["until"]["runs"]


def test_judging_anew_does_not_write_over_what_it_judges(small: Bench) -> None:
    """The replies are in the journal beside the results."""
    before = small.journal_path.read_bytes()
    done = rejudge(small, f"--output={small.results_path}")
    assert done.returncode == 4
    assert "names the results that are to be judged again" in done.stderr
    assert small.journal_path.read_bytes() == before


def test_without_the_journal_there_is_nothing_to_judge(small: Bench) -> None:
    """One line that says what is missing."""
    small.journal_path.unlink()
    done = rejudge(small)
    assert done.returncode == 4
    assert "its journal subject.neutrality.jsonl is not beside it" in done.stderr


def test_the_command_compares_two_files(small: Bench, tmp_path: Path) -> None:
    """Like the session, without asking anybody."""
    command = [COMMAND, "compare", BASELINE, str(small.results_path), "--gate", "overall:-2pp"]
    done = subprocess.run(command, cwd=small.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 6, done.stdout + done.stderr
    assert "gate INCONCLUSIVE: overall:-2pp" in done.stdout
