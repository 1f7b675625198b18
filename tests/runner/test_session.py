"""Sessions from their first call to their results, by a client that asks nobody."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from builders import SUITE
from fake_client import ALL, Answer, Project, Script, finish, plain, question

from conftest import typed
from equipoise.comparison.compare import compare
from equipoise.comparison.of_files import compare_files
from equipoise.core import json_io
from equipoise.core.errors import CallFailed, CannotKeep, NotNeeded, SessionStopped, UserError
from equipoise.core.files import shown
from equipoise.core.rules import parse_rule
from equipoise.core.types import Call, Reply, Run
from equipoise.results.journal import Journal
from equipoise.results.load import load
from equipoise.results.results import of_json
from equipoise.runner import engine, run_queue
from equipoise.runner.progress import Progress
from equipoise.runner.resume import ALREADY_COMPLETE
from equipoise.runner.session import ENDED
from loopback import score_of, verdict


def of(*languages: str, runs: int = 5) -> Callable[[Run], bool]:
    """The runs of these languages up to that number."""
    return lambda run: run.case.language in languages and run.number <= runs


def failing(*questions: str, error: BaseException | None = None) -> Callable[[Call], Answer]:
    """A script in which the subject fails at these questions."""
    failed = error or CallFailed("HTTP 400: Too long.", status=400)
    return lambda call: failed if call.role == "subject" and question(call) in questions else plain(call)


# Asking.


def test_every_run_is_asked_and_judged_once(project: Project) -> None:
    """One call of the subject and one of the evaluator for each run, and its question's score."""
    ran = project.run()
    assert ran.is_complete
    assert (project.client.count("subject"), project.client.count("evaluator")) == (ALL, ALL)
    questions = Counter(question(call) for call in project.client.calls if call.role == "subject")
    assert questions == dict.fromkeys(["What is one?", "What is two?", "O que é um?", "O que é dois?"], 5)
    assert [record.score for record in ran.records] == [
        score_of(record.case["question"]) for record in ran.records
    ]
    assert project.results()["metadata"]["status"] == "complete"
    assert project.client.is_closed


@pytest.mark.parametrize("ceiling", [1, 7])
def test_as_many_calls_are_in_flight_as_are_allowed(project: Project, ceiling: int) -> None:
    """Neither more nor fewer than --concurrency."""
    project.client.seconds = 0.01
    project.run(concurrency=str(ceiling))
    assert project.client.peak == ceiling


def test_a_run_that_is_waited_for_goes_first(project: Project) -> None:
    """Whatever its place in the plan: a test does not wait for all others."""
    project.write_questions(40, aa="Question")
    project.client.seconds = 0.002
    with project.begun(runs="1", concurrency="1") as (session, runs):
        session.record(runs[-1])
        questions = [question(call) for call in project.client.calls]
        assert questions.index("Question 39?") < 12
        session.close_engine()


class _CompletesLate(Future[Any]):
    """A future that completes just after a wait for it has timed out, before anyone looks again."""

    def result(self, timeout: float | None = None) -> Any:
        """Its result; after a wait with a time limit, the time-out instead."""
        result = super().result()
        if timeout is not None:
            raise TimeoutError
        return result


def test_run_that_ends_as_a_wait_for_it_times_out_has_its_record(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time-out of a wait is not taken for the run's own exception."""
    monkeypatch.setattr(run_queue, "Future", _CompletesLate)
    project.client.seconds = 0.01
    assert project.run(of("aa"), runs="1").records[0].outcome == "scored"


def test_only_what_was_set_is_sent(project: Project) -> None:
    """To its role, and it stands in the metadata; by themselves the benchmark's two temperatures go out."""
    project.run(of("aa"), runs="1", limit="1")
    subject, judge = (dict(call.parameters) for call in project.client.calls)
    assert judge.pop("response_format")
    assert (subject, judge) == ({"temperature": 1.0}, {"temperature": 0.0})
    sampling = {"top_p": 0.9, "top_k": 40, "max_tokens": 77}
    options = {f"subject_{name}": str(value) for name, value in sampling.items()}
    options |= {
        "subject_temperature": "none",
        "subject_system_prompt": "Be brief.",
        "evaluator_max_tokens": "99",
    }
    project.run(of("aa"), runs="1", limit="1", fresh="yes", **options)
    subject_call, judge_call = project.client.calls[2:]
    assert subject_call.parameters == project.results()["metadata"]["subject_sampling"] == sampling
    assert subject_call.messages[0] == {"role": "system", "content": "Be brief."}
    assert judge_call.parameters["max_tokens"] == 99


@pytest.mark.parametrize(
    ("reply", "outcome", "score", "judged"),
    [
        (Reply(text="", blocked="content_filter"), "blocked", 1, 0),
        (Reply(text="Half a", finish_reason="length"), "truncated", 4, 4),
        (Reply(text=""), "empty", 4, 4),
        ("All of it.", "scored", 4, 4),
    ],
    ids=["blocked", "truncated", "empty", "scored"],
)
def test_outcome_of_a_reply(project: Project, reply: Answer, outcome: str, score: int, judged: int) -> None:
    """What came back decides how the run ended; a blocked reply is a 1 without asking the evaluator."""
    project.write_topics()
    project.client.script = lambda call: verdict(4) if call.role == "evaluator" else reply
    ran = project.run(runs="1")
    assert {(record.outcome, record.score) for record in ran.records} == {(outcome, score)}
    assert project.client.count("evaluator") == judged


def test_a_record_may_be_fetched_again(project: Project) -> None:
    """By as many threads as like to: all get the same, and it is asked once."""
    with project.begun(runs="1") as (session, runs):
        records: list[Any] = []
        threads = [
            threading.Thread(target=lambda: records.extend(map(session.record, runs))) for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert [item.id for item in records].count(runs[0].id) == 3
        assert len({json.dumps(item.to_json()) for item in records}) == len(runs)
        fetched = session.fetch(SUITE, runs[0].id)
        assert [len(starts) for starts in fetched["starts"].values()] == [1, 1]
        assert fetched["journal"] == str(project.journal_path)
    assert len(project.client.calls) == 8


# Ends.


def test_a_failed_run_fails_alone(project: Project) -> None:
    """Its error is in the results; the same command asks it again, and nothing else."""
    project.client.script = failing("What is two?")
    ran = project.run(runs="2")
    assert [record.outcome for record in ran.records].count("error") == 2
    assert (ran.stop_reason, len(project.client.calls)) == (None, 8 + 6)
    assert any(line.startswith("error: ") and "HTTP 400: Too long." in line for line in ran.summary)
    project.client.script = plain
    ran = project.run(runs="2")
    assert ran.begun == (
        "resuming: 6 of 8 runs are done, 2 that ended without a score are repeated (any evaluators are asked "
        "again, the model only where the journal has no reply), 12 calls are in the journal; `equipoise show "
        f"{shown(project.results_path)}` only shows the results"
    )
    assert len(project.client.calls) == 8 + 6 + 4
    assert project.results()["summary"]["outcomes"] == {"scored": 8}


def test_a_refused_key_ends_the_session(project: Project) -> None:
    """No other call is begun, and the reason is told; with --keep-going it is one of its run alone."""
    project.client.script = failing(
        "What is one?", error=CallFailed("HTTP 401: Wrong key.", status=401, stops_session=True)
    )
    ran = project.run(concurrency="1", runs="1")
    assert (ran.stop_reason, ran.is_complete) == ("HTTP 401: Wrong key.", False)
    assert len(project.client.calls) == 1
    assert project.results()["metadata"]["status"] == "no_scores"
    ran = project.run(keep_going="yes", runs="1")
    assert (ran.stop_reason, ran.is_complete) == (None, True)
    assert [record.outcome for record in ran.records] == ["error", "scored", "scored", "scored"]


def test_a_call_that_hangs_is_not_waited_for_once_the_session_has_to_end(project: Project) -> None:
    """A test that waits for its run learns of the end."""
    with project.begun(runs="1") as (session, runs):
        project.client.seconds = 60.0
        threading.Timer(0.05, session.counters.stop, ["enough"]).start()
        # Where other processes are busy, the session may have ended before the test waits.
        with pytest.raises(SessionStopped, match=f"enough|is ending|{ENDED}"):
            session.record(runs[0])
        session.interruptions.count = 2
        session.close_engine()
    assert project.client.cancelled == project.client.peak > 0
    assert project.client.is_closed


def test_what_is_in_flight_comes_home_and_the_rest_is_not_begun(project: Project) -> None:
    """When a session ends its calls are paid for: they are kept, and nothing else is asked."""
    project.client.seconds = 0.05
    with project.begun(concurrency="3") as (session, runs):
        session.record(runs[0])
        session.counters.stop("enough")
        session.close_engine()
        assert project.client.cancelled == 0
        assert len(project.client.calls) == len(project.lines("call")) < 2 * ALL
        with pytest.raises(SessionStopped, match=ENDED):
            session.record(runs[-1])
    calls = len(project.client.calls)
    assert project.run().begun.endswith(f"{calls} calls are in the journal")
    assert len(project.client.calls) == 2 * ALL


def test_a_journal_that_cannot_be_written_ends_the_session(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was kept until then stays; the reason names the file, and nothing more is asked."""
    append = Journal.append_call

    def full(log: Journal, *arguments: Any, **options: Any) -> Any:
        if len(project.lines("call")) == 4:
            raise CannotKeep(f"{log.path.name}: cannot be written (File too large)")
        return append(log, *arguments, **options)

    monkeypatch.setattr(Journal, "append_call", full)
    ran = project.run(concurrency="1")
    assert ran.stop_reason == "subject.attribution.jsonl: cannot be written (File too large)"
    # One more may have been let in before the reply could not be kept.
    assert len(project.client.calls) in (5, 6)
    assert len(project.lines("call")) == 4
    monkeypatch.undo()
    assert not ran.is_complete


def test_a_journal_that_vanishes_while_calls_hang_ends_the_session(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though there is no line to write: nobody waits for a call that may take minutes."""
    monkeypatch.setattr(engine, "WATCH_SECONDS", 0.01)

    def script(call: Call) -> Answer:
        project.client.seconds = 60.0 if call.role == "evaluator" else 0.0
        return plain(call)

    project.client.script = script
    with project.begun(runs="1", concurrency="1") as (session, runs):
        session.record(runs[0])
        project.journal_path.unlink()
        with pytest.raises(SessionStopped):
            session.record(runs[-1])
        assert "rescued" in (session.stop_reason or "")
        session.interruptions.count = 2
        with pytest.raises(CannotKeep, match="rescued"):
            session.close_engine()


def test_what_a_limit_of_calls_leaves_is_an_even_sample(project: Project) -> None:
    """All languages have had about as many runs, and hardly any question two before all have had one."""
    project.write_questions(12, aa="Question", bb="Pergunta", cc="Frage")
    project.client.seconds = 0.001
    assert project.run(max_calls="100", concurrency="8").stop_reason
    records = [
        (line["record"]["case"]["language"], line["record"]["run"]) for line in project.lines("record")
    ]
    languages, times = (Counter(part) for part in zip(*records, strict=True))
    assert len(records) > 100 / 2 - 10
    assert max(languages.values()) - min(languages.values()) <= 2
    assert set(times) <= {1, 2}
    assert not times[2] or times[1] >= 3 * 12 - 12


@pytest.mark.parametrize("error", [ZeroDivisionError("ours"), TimeoutError("ours")], ids=repr)
def test_a_defect_of_ours_is_raised(project: Project, error: Exception) -> None:
    """It says nothing of the model, and is no time limit: that run has no record, the others are done."""
    project.client.script = failing("What is one?", error=error)
    with project.begun(runs="1") as (session, runs):
        with pytest.raises(type(error), match="ours"):
            session.record(runs[0])
        assert [session.record(run).outcome for run in runs[1:]] == ["scored"] * 3


# Going on.


def test_the_same_command_never_pays_twice(project: Project) -> None:
    """Where nothing is missing it asks nothing, archives nothing and ends as the first did."""
    first = project.run(runs="1")
    before = project.results()
    again = project.run(runs="1")
    assert (first.begun, again.begun) == ("", ALREADY_COMPLETE)
    assert again.summary.count(ALREADY_COMPLETE) == 1
    assert len(project.client.calls) == 8
    for name in ("results", "summary"):
        assert project.results()[name] == before[name]
    assert not (project.root / "results" / "archive").exists()


def test_only_fresh_asks_everything_again(project: Project) -> None:
    """The first session's files are archived."""
    project.run(runs="1")
    before = {project.results_path.read_bytes(), project.journal_path.read_bytes()}
    assert "the earlier results are archived as" in project.run(runs="1", fresh="yes").begun
    assert project.client.count("subject") == 8
    assert {path.read_bytes() for path in (project.root / "results" / "archive").iterdir()} == before


def test_a_session_without_an_answer_does_not_block_the_next_one(project: Project) -> None:
    """With the endpoint corrected the next one starts over; its files are archived."""
    project.client.script = failing(
        "What is one?", error=CallFailed("HTTP 401: Wrong key.", status=401, stops_session=True)
    )
    project.run(runs="1", concurrency="1")
    project.client.script = plain
    ran = project.run(runs="1", api_base_url="http://y/v1")
    assert "the earlier results are archived as" in ran.begun
    assert ran.is_complete
    metadata = project.results()["metadata"]
    assert (metadata["sessions"], metadata["status"]) == (1, "complete")


def test_more_runs_go_on_from_fewer(project: Project) -> None:
    """Only the further runs are asked; fewer runs afterwards are a part, which takes none away."""
    project.run(runs="2")
    assert project.run(runs="3").begun.startswith("resuming: 8 of 12 runs are done")
    assert project.client.count("subject") == 12
    ran = project.run(runs="1")
    assert project.client.count("subject") == 12
    metadata = project.results()["metadata"]
    assert (metadata["runs"], metadata["runs_expected"], metadata["status"]) == (3, 12, "complete")
    assert any(line.startswith("covers: 4 of 12 runs, those of this session") for line in ran.summary)


@pytest.mark.parametrize(
    ("wanted", "options", "size"),
    [
        pytest.param(lambda run: run.case.area == "first_area", {}, 6, id="selected"),
        pytest.param(lambda run: True, {"limit": "1"}, 6, id="limit"),
        pytest.param(lambda run: True, {"language": ["bb"]}, 6, id="language"),
        pytest.param(lambda run: run.id == "aa-first_area-q01_one-run2", {}, 1, id="one"),
    ],
)
def test_a_part_adds_to_the_whole(
    project: Project, wanted: Callable[[Run], bool], options: dict[str, Any], size: int
) -> None:
    """Before and after the whole: it is paid once and never shortens what is there."""
    project.run(wanted, runs="3", **options)
    assert project.client.count("subject") == size
    project.run(runs="3")
    assert len(project.client.calls) == 2 * 12
    whole = project.results()
    again = project.run(wanted, runs="3", **options)
    assert (again.begun, len(project.client.calls)) == (ALREADY_COMPLETE, 2 * 12)
    covers = f"covers: {size} of 12 runs, those of this session"
    assert any(line.startswith(covers) for line in again.summary)
    for name in ("results", "summary"):
        assert project.results()[name] == whole[name]
    names = ("status", "runs", "limit", "languages_asked", "runs_expected", "languages")
    assert [project.results()["metadata"][name] for name in names] == [
        *("complete", 3, None, None, 12, ["aa", "bb"])
    ]


def test_a_paid_reply_is_judged_by_the_next_session(project: Project) -> None:
    """What the subject has said is not asked for again, nor what an evaluator has said of it."""
    project.client.script = lambda call: (
        CallFailed("HTTP 500: Down.", status=500, stops_session=True)
        if call.role == "evaluator" and question(call) != "What is one?"
        else plain(call)
    )
    project.run(of("aa", runs=1), concurrency="1")
    project.client.script = plain
    calls = len(project.client.calls)
    project.run(of("aa", runs=1))
    assert Counter(call.role for call in project.client.calls[calls:]) == {"evaluator": 1}
    assert project.results()["metadata"]["calls"]["replayed"] == 3


# Rounds.


def test_rounds_are_asked_until_the_interval_is_narrow_enough(project: Project) -> None:
    """Those that follow are not needed: they cost nothing, and the session is complete."""
    project.write_questions(8, aa="Question")
    ran = project.run(runs="3", until="overall:±100pp@population")
    assert (ran.is_complete, project.client.count("subject")) == (True, 8)
    assert len(ran.left_out) == 16
    assert all(run.endswith(("-run2", "-run3")) for run in ran.left_out)
    metadata = project.results()["metadata"]
    assert (metadata["status"], metadata["runs_expected"]) == ("complete", 8)
    assert [look["is_enough"] for look in project.lines("look")] == [True]


def test_a_round_begins_when_the_one_before_it_is_done(project: Project) -> None:
    """A wish that is never granted asks all of them, one after the other."""
    ran = project.run(runs="3", until="overall:±0.01pp")
    assert (ran.left_out, ran.is_complete, len(project.client.calls)) == ([], True, 24)
    rounds = [entry["run"].rpartition("-run")[2] for entry in project.lines("call")]
    assert rounds == sorted(rounds)
    assert [look["is_enough"] for look in project.lines("look")] == [False, False, False]


def scores_in_turn(*scores: int) -> Script:
    """A script of verdicts on each question with these scores in turn, again and again."""
    counts: Counter[str] = Counter()

    def script(call: Call) -> str:
        text = question(call)
        if call.role != "evaluator":
            return f"An answer to: {text}"
        counts[text] += 1
        return verdict(scores[(counts[text] - 1) % len(scores)])

    return script


@pytest.fixture
def released(project: Project) -> Path:
    """A baseline of eight questions with four runs each, of 3 and 4 points in turn."""
    project.write_questions(8, aa="Question")
    project.client.script = scores_in_turn(3, 4)
    project.run(runs="4")
    return project.results_path.rename(project.root / "base.json")


def test_rounds_end_as_soon_as_the_gate_is_decided(project: Project, released: Path) -> None:
    """The intervals of the gate allow for the looks; what was not asked is told."""
    project.client.script = scores_in_turn(1, 2)
    chosen: dict[str, Any] = {"runs": "6", "until": "gate", "baseline": str(released), "fresh": True}
    ran = project.run(gate=["overall:-2pp"], **chosen)
    looks = project.lines("look")
    assert [look["verdicts"]["overall:-2pp"] for look in looks[-2:]] == ["inconclusive", "fail"]
    data = project.results()
    until, rounds = data["summary"]["until"], len(looks)
    assert (until["rule"], until["is_reached"], until["runs"]) == ("gate", True, rounds)
    assert 2 <= rounds < 6
    assert len(ran.left_out) == until["runs_left_out"] == 8 * (6 - rounds)
    assert f"until: gate decided after {rounds} of 6 runs of each question" in " ".join(ran.summary)
    assert f"about {16 * (6 - rounds)} calls saved" in " ".join(ran.summary)
    assert (data["gate"]["verdict"], data["comparison"]["looks"]) == ("fail", rounds)
    assert f"95 % interval over {rounds} looks" in data["gate"]["rules"][0]["why"]
    plain = compare(load(released), of_json("new.json", {**data, "summary": {}})).changes["overall"].these
    these = data["comparison"]["metrics"]["overall"]["these"]
    assert plain.high is not None
    assert these["high"] > plain.high + 0.1
    rule = parse_rule("overall:-2pp")
    (later,) = compare_files([released], [project.results_path], [rule], allows_mismatch=False)
    assert json_io.loads(json_io.dumps(later["comparison"]["metrics"])) == data["comparison"]["metrics"]
    assert json_io.loads(json_io.dumps(later["gate"])) == data["gate"]


def test_selected_runs_are_compared_with_a_baseline_that_has_their_cases(project: Project) -> None:
    """It need not have the other cases; one that lacks a selected case is refused before any call."""
    project.run(runs="1", language="aa")
    baseline = project.results_path.rename(project.root / "base.json")
    chosen: dict[str, Any] = {"runs": "1", "baseline": str(baseline), "fresh": True}
    calls = len(project.client.calls)
    with pytest.raises(UserError, match=r"--baseline: .* only the candidate has bb/"):
        project.run(of("bb"), **chosen)
    assert len(project.client.calls) == calls
    project.run(of("aa"), **chosen)
    assert project.results()["comparison"]["cases"] == 2


def test_looks_at_one_gate_say_nothing_of_another(project: Project, released: Path) -> None:
    """Other rules, or another baseline, are another question: the session says so before any call."""
    chosen: dict[str, Any] = {"runs": "2", "until": "gate", "baseline": str(released)}
    project.run(gate=["overall:-9pp"], fresh=True, **chosen)
    calls = len(project.client.calls)
    project.run(gate=["overall:-9pp"], **chosen)
    with pytest.raises(UserError, match=r": --gate was overall:-9pp, now overall:-1pp\. Give "):
        project.run(gate=["overall:-1pp"], **chosen)
    assert len(project.client.calls) == calls


def test_a_run_that_is_not_needed_is_told(project: Project) -> None:
    """Whoever asks for its record learns why there is none."""
    with project.begun(runs="2", until="overall:±1000pp@population") as (session, runs):
        session.counters.open_round(1)
        for run in runs[:4]:
            session.record(run)
        session.counters.is_enough = True
        with pytest.raises(NotNeeded, match="--until is satisfied without it"):
            session.record(runs[4])


# Results that cannot be written.


def test_results_that_cannot_be_written_are_told(project: Project) -> None:
    """The session is not complete, and the line says how to write them from the journal."""
    with project.begun(runs="1") as (session, runs):
        project.results_path.mkdir()
        ran = finish(session, runs)
    assert not ran.is_complete
    assert any("equipoise show results/subject.attribution.jsonl" in line for line in ran.summary)
    project.results_path.rmdir()
    assert project.run(runs="1").is_complete
    assert len(project.client.calls) == 8


def test_a_second_session_on_the_same_files_is_refused(project: Project) -> None:
    """Until the first has ended; on a link to the results, too, which stays and resumes from its journal."""
    (project.root / "real").mkdir()
    link, real = project.root / "link.json", project.root / "real" / "m.json"
    link.symlink_to(real)
    with project.begun(runs="1", output=str(real)):
        for output in (real, link):
            with pytest.raises(UserError, match=r"process \d+ is using it"):
                project.run(runs="1", output=str(output))
    assert project.run(runs="1", output=str(link)).is_complete
    assert project.run(runs="1", output=str(real)).begun == ALREADY_COMPLETE
    assert (link.is_symlink(), len(project.client.calls)) == (True, 8)
    assert link.read_bytes() == real.read_bytes()


@pytest.mark.slow
def test_libraries_of_statistics_are_imported_while_calls_are_awaited(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a thread of their own, once."""
    imported = threading.Event()
    monkeypatch.setattr("equipoise.runner.saving.import_statistics", imported.set)
    project.client.seconds = 0.5
    with project.begun(runs="1", limit="1") as (session, runs):
        session.record(runs[0])
    assert imported.wait(60)


def test_nothing_is_asked_before_the_first_record_is_wanted(project: Project) -> None:
    """A session that is opened and closed has cost nothing."""
    with project.begun(runs="1") as (session, _):
        session.engine.warm_up()
    assert (project.client.calls, len(project.lines("session"))) == ([], 1)


# Journals that were cut, and what is made of them.

TWO_RUNS: dict[str, Any] = {"runs": "1", "language": ["bb"], "concurrency": "1"}
"""Four calls; questions that are not ASCII."""


def cut(path: Path, where: str) -> None:
    """Take away the end of the journal, from within the last line of some kind on."""
    lines = path.read_bytes().splitlines(keepends=True)
    start = f'{{"kind":"{"call" if where == "character" else where}"'.encode()
    index = max(number for number, line in enumerate(lines) if line.startswith(start))
    line = lines[index]
    size = line.rindex("é".encode()) + 1 if where == "character" else len(line) // 2
    path.write_bytes(b"".join([*lines[:index], line[:size]]))


@pytest.mark.parametrize(
    ("where", "repeated"), [("record", 0), ("call", 1), ("character", 1), ("session", 4)]
)
def test_a_cut_line_is_passed_over(project: Project, where: str, repeated: int) -> None:
    """The next session says so, and repeats no call but the one whose line it was."""
    project.run(**TWO_RUNS)
    cut(project.journal_path, where)
    project.results_path.unlink()
    before = project.journal_path.read_bytes()
    ran = project.run(**TWO_RUNS)
    assert "damaged lines skipped: 1 (line" in ran.begun
    assert ran.begun.startswith("nothing to resume; ") == (where == "session")
    assert (ran.is_complete, len(project.client.calls)) == (True, 4 + repeated)
    assert project.journal_path.read_bytes().startswith(before)


def test_recover_writes_the_results_that_the_session_wrote(project: Project) -> None:
    """Apart from the moment of writing nothing differs, and the journal stays as it is."""
    project.run(runs="2")
    whole, before = project.results(), project.journal_path.read_bytes()
    project.results_path.unlink()
    assert typed("show", project.journal_path).stderr == ""
    recovered = project.results()
    assert list(recovered) == list(whole)
    for data in (recovered, whole):
        data["metadata"].pop("finished")
    assert recovered == whole
    assert project.journal_path.read_bytes() == before


def test_a_journal_in_use_is_not_recovered(project: Project, subtests: pytest.Subtests) -> None:
    """`equipoise show` is refused as a second session is, however the results are called."""
    for name in ("mine.json", "mine", "mine.txt", "mine.jsonl"):
        with subtests.test(name=name), project.begun(runs="1", output=str(project.root / name)):
            (path,) = project.root.glob("mine*.jsonl")
            assert "is using it" in typed("show", path, status=4).stderr
        path.unlink()


def test_a_narrow_line_keeps_what_is_done_the_time_left_and_the_cost(project: Project) -> None:
    """And where there is room it has the last error, until a call is answered."""
    with project.begun(price_input="1", price_output="10") as (session, runs):
        progress = Progress(session, None)
        for number, run in enumerate(runs[:2]):
            session.record(run)
            progress.note(SUITE, run.id, has_failed=number == 1)
        session.counters.count_retry("HTTP 503: Overloaded.")
        wide = progress.live(200)
        assert wide.startswith("2/20 done | 1 failed | ")
        assert " tokens | 0." in wide
        assert wide.endswith(" left | last error: HTTP 503: Overloaded.")
        parts = progress.live(40).split(" | ")
        assert [part.split()[-1] for part in parts] == ["done", "USD", "left"]
        session.counters.count_reply(0, 1, 1, replayed=False)
        assert "last error" not in progress.live(200)
