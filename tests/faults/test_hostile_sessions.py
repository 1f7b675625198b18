"""Whole sessions with a hostile subject, a hostile evaluator and a hostile endpoint."""

from __future__ import annotations

import json
import socketserver
import subprocess
import threading
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conftest import ROOT, Bench
from equipoise.cli import main
from equipoise.core.errors import InvalidVerdict
from equipoise.core.types import JSON, Reply
from equipoise.models.reasoning import split
from equipoise.results.journal import read
from equipoise.suites import neutrality
from hostile import HostileReply, replies
from loopback import Answer, Loopback, Script, completion, error, is_judge, plain_script, question_of, verdict

Workers = tuple[str, str]
RUBRIC = neutrality.rubric(ROOT / "rubric" / "neutrality.toml")
CORPUS = replies()
QUESTIONS = {f"What of the library, number {n}?": reply for n, reply in enumerate(CORPUS)}
SCORE = 2
REPORTS = ("--junitxml", "junit.xml", "--json-report", "--json-report-file", "report.json")
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A session that is over: its exit status, all that it has shown, and its folder."""

    status: int
    shown: str
    bench: Bench

    def runs(self) -> dict[str, dict[str, Any]]:
        """The only run of every question, by the id of the reply to it."""
        questions = self.bench.results()["results"]["aa"]["questions"]
        return {QUESTIONS[question["question"]].id: question["runs"][0] for question in questions}

    def kept(self, role: str) -> dict[str, Reply]:
        """The replies of the journal in this role, by the id of the hostile reply that the run is about."""
        entries = [line.entry for line in read(self.bench.journal_path, kinds=("call",))]
        return {
            CORPUS[int(entry["run"].split("-")[2][1:]) - 1].id: Reply.from_json(entry["reply"])
            for entry in entries
            if entry["role"] == role
        }


def run(bench: Bench, *arguments: str) -> Ended:
    """A session of one run for each question, whose output is taken as bytes: line ends stay as they are."""
    done = subprocess.run(
        bench.command("-v", "-rA", "--runs", "1", *arguments),
        cwd=bench.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        check=False,
    )
    return Ended(status=done.returncode, shown=done.stdout.decode("utf-8"), bench=bench)


def obeyed(text: str) -> set[str]:
    """The characters that a terminal does not just print, or that change how it shows the others."""
    return {
        character
        for character in set(text) - {"\n"}
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in BIDI
    }


# The hostile subject, and an evaluator that quotes it.


def is_refusal(reply: HostileReply) -> bool:
    """Whether the evaluator calls the reply a refusal: every third."""
    return CORPUS.index(reply) % 3 == 0


def judged_script(body: dict[str, Any], number: int) -> Any:
    """The subject is hostile wherever a reply holds text; the evaluator quotes the whole of it."""
    reply = QUESTIONS[question_of(body)]
    if is_judge(body):
        return verdict(SCORE, reasoning=reply.text, refused=is_refusal(reply))
    return Answer(completion(reply.text, model=reply.text[:200], finish_reason=reply.text[:200]))


def misjudged_script(body: dict[str, Any], number: int) -> str:
    """What the evaluator writes is the hostile text and nothing else."""
    return QUESTIONS[question_of(body)].text if is_judge(body) else "It opened in 1931."


SCRIPTS: dict[str, tuple[Script, tuple[str, ...]]] = {
    "judged": (judged_script, ()),
    "misjudged": (misjudged_script, ("--evaluator-attempts", "1")),
}
Sessions = Callable[[str, Workers], Ended]


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Sessions:
    """Sessions over the whole corpus with every kind of report, each held once for all tests."""

    @cache
    def hold(name: str, workers: Workers) -> Ended:
        script, arguments = SCRIPTS[name]
        with Loopback(script) as server:
            bench = Bench(tmp_path_factory.mktemp(name), server)
            bench.write_topics({"aa.txt": "\n".join(QUESTIONS) + "\n"})
            return run(bench, *workers, *REPORTS, *arguments)

    return hold


@pytest.fixture
def judged(sessions: Sessions, workers: Workers) -> Ended:
    """The session with the hostile subject."""
    return sessions("judged", workers)


@pytest.fixture
def misjudged(sessions: Sessions, workers: Workers) -> Ended:
    """The session with the hostile evaluator."""
    return sessions("misjudged", workers)


@pytest.fixture(params=SCRIPTS)
def ended(request: pytest.FixtureRequest, sessions: Sessions, workers: Workers) -> Ended:
    """Either session."""
    return sessions(request.param, workers)


def expected_outcome(reply: HostileReply) -> str:
    """How the run of a hostile subject ends."""
    if not split(reply.text)[0].strip():
        return "empty"
    return "refused" if is_refusal(reply) else "scored"


def test_every_run_ends_as_it_should_with_the_evaluators_score(judged: Ended) -> None:
    """Whatever a reply says, its score is the evaluator's, and its outcome is scored, refused or empty."""
    assert judged.status == 0, judged.shown[-3000:]
    found = {name: (item["outcome"], item["score"]) for name, item in judged.runs().items()}
    assert found == {reply.id: (expected_outcome(reply), SCORE) for reply in CORPUS}


def test_the_results_hold_every_reply_and_every_reasoning(judged: Ended) -> None:
    """To the character: the reply with its thoughts taken apart, the reasoning as the evaluator wrote it."""
    runs = judged.runs()
    for reply in CORPUS:
        answer, thoughts = split(reply.text)
        said = runs[reply.id]["subject_transcript"][-1]
        assert (said["content"], said.get("reasoning", "")) == (answer, thoughts)
        assert runs[reply.id]["verdicts"][0]["reasoning"] == reply.text


def test_the_journal_holds_every_reply_and_every_reasoning(judged: Ended) -> None:
    """What was paid for is read back to the character, the name of the model that answered included."""
    asked, judging = judged.kept("subject"), judged.kept("evaluator")
    for reply in CORPUS:
        kept, answer = asked[reply.id], split(reply.text)
        assert (kept.text, kept.reasoning or "") == answer
        assert (kept.model or "", kept.finish_reason or "") == (reply.text[:200], reply.text[:200])
        assert json.loads(judging[reply.id].text)["reasoning"] == reply.text


# The hostile evaluator.


def verdict_in(text: str) -> JSON:
    """The score that an evaluator's text gives, None where it is no verdict."""
    try:
        return RUBRIC.parse(split(text)[0])["score"]
    except InvalidVerdict:
        return None


def test_a_hostile_verdict_scores_only_where_it_is_one(misjudged: Ended) -> None:
    """A text that is a valid verdict counts, any other leaves the run without a score."""
    assert misjudged.status == 1, misjudged.shown[-3000:]
    found = {name: item["score"] for name, item in misjudged.runs().items()}
    assert found == {reply.id: verdict_in(reply.text) for reply in CORPUS}
    assert list(found.values()).count(None) > 150


def test_the_errors_hold_what_the_evaluator_wrote(misjudged: Ended) -> None:
    """Every text that was no verdict stands under the errors, to the character."""
    found = {
        QUESTIONS[item["question"]].id: item["raw_evaluator_response"]
        for item in misjudged.bench.results()["errors"]
    }
    assert found == {reply.id: split(reply.text)[0] for reply in CORPUS if verdict_in(reply.text) is None}


# Both.


def test_nothing_shown_is_obeyed_by_a_terminal(ended: Ended) -> None:
    """With -v and -rA there are no control characters but newlines and nothing that turns the text round."""
    assert f"{len(CORPUS)} items" in ended.shown or f"[{len(CORPUS)} items]" in ended.shown
    assert obeyed(ended.shown) == set()


def test_the_junit_report_is_xml(ended: Ended) -> None:
    """It parses, with one case for each run and a failure where there is no score."""
    cases = list(ET.parse(ended.bench.folder / "junit.xml").iter("testcase"))
    without_score = [item for item in ended.runs().values() if item["score"] is None]
    assert len(cases) == len(CORPUS)
    assert sum(case.find("failure") is not None for case in cases) == len(without_score)


def test_the_json_report_is_json(ended: Ended) -> None:
    """It parses, with the outcome of every run."""
    tests = json.loads((ended.bench.folder / "report.json").read_text(encoding="utf-8"))["tests"]
    found = sorted(test["metadata"]["outcome"] for test in tests)
    assert found == sorted(item["outcome"] for item in ended.runs().values())


def test_recovering_gives_the_same_results(ended: Ended, tmp_path: Path) -> None:
    """From a copy of the journal alone come the same results, and the terminal is left alone."""
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(ended.bench.journal_path.read_bytes())
    done = CliRunner().invoke(main, ["recover", str(copy)])
    assert done.exit_code == 0, done.output
    before, after = ended.bench.results(), json.loads(copy.with_suffix(".json").read_text(encoding="utf-8"))
    for data in (before, after):
        del data["metadata"]["finished"]
    assert after == before
    assert obeyed(done.output) == set()


@pytest.mark.parametrize("name", ["journal.jsonl", "notes.txt"])
def test_recovering_writes_over_nothing_but_results(sessions: Sessions, tmp_path: Path, name: str) -> None:
    """An --output that is the journal itself, or no results file, is refused and stays as it is."""
    path = tmp_path / "journal.jsonl"
    path.write_bytes(sessions("judged", ("-n", "0")).bench.journal_path.read_bytes())
    (tmp_path / "notes.txt").write_text("My notes.")
    before = (tmp_path / name).read_bytes()
    done = CliRunner().invoke(main, ["recover", str(path), "--output", str(tmp_path / name)])
    assert (done.exit_code, (tmp_path / name).read_bytes() == before) == (4, True)


# The hostile endpoint.

ESCAPES = (
    "\x1b[2J\x1b]0;all passed\x07\x1b[1A\r150 passed\r\n\nE   error\u2028\x85\u202eylper\u2066\x00\x7f\ud800"
)


@pytest.mark.parametrize(
    ("status", "is_bare"),
    [(400, False), (401, False), (500, False), (500, True)],
    ids=["400", "401", "500", "500-bare"],
)
def test_a_hostile_error_is_one_short_printable_line(
    bench: Bench, workers: Workers, status: int, is_bare: bool
) -> None:
    """Escapes, line breaks and a megabyte of text: the user sees the beginning, and only that."""
    text = ESCAPES + "a\n" * 500_000
    answer = Answer(text.replace("\ud800", ""), status) if is_bare else error(status, text)
    bench.server.script = lambda body, number: answer
    ended = run(bench, *workers, "--limit", "1", "--language", "aa", "--max-retries", "0", *REPORTS)
    assert ended.status == (1 if status == 400 else 2), ended.shown
    assert obeyed(ended.shown) == set()
    lines = [line for line in ended.shown.split("\n") if f"HTTP {status}: " in line]
    assert lines
    assert all(r"\x1b[2J\x1b]0;all passed\x07" in line or line.endswith("...") for line in lines)
    assert max(map(len, ended.shown.split("\n"))) < 800
    assert len(ended.shown) < 8000
    assert bench.journal_path.stat().st_size < 10_000
    ET.parse(bench.folder / "junit.xml")
    json.loads((bench.folder / "report.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 10**30, "completion_tokens": 10**30},
        {"prompt_tokens": 2**63 - 1, "completion_tokens": 2**63 - 1},
        {"prompt_tokens": -(2**40), "completion_tokens": -1},
        {"prompt_tokens": "many", "completion_tokens": [], "prompt_tokens_details": 1},
        {"prompt_tokens": True, "completion_tokens": 1e300},
    ],
    ids=["huge", "largest", "negative", "no-numbers", "odd-numbers"],
)
def test_absurd_usage_does_no_harm(bench: Bench, usage: dict[str, Any]) -> None:
    """Whatever an endpoint says of tokens, the replies are kept and judged, and no count is negative."""
    bench.server.script = lambda body, number: Answer(completion(plain_script(body, number), usage=usage))
    ended = run(bench)
    assert ended.status == 0, ended.shown[-3000:]
    assert bench.results()["metadata"]["runs_completed"] == 4
    tokens = bench.results()["metadata"]["tokens"]
    assert min(count for counts in tokens.values() for count in counts.values()) >= 0


@contextmanager
def saying(answer: bytes) -> Iterator[str]:
    """The URL of an endpoint that says this to everyone, be it HTTP or not."""

    class Says(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(2**16)
            self.request.sendall(answer)

    with socketserver.TCPServer(("127.0.0.1", 0), Says) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 2\x1b[2J00 \x1b]0;x\x07OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"\x1b" * 30_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\x1b[2Jzz\r\n\r\n",
        b"\x1b[2J\x1b[31m\r\n\r\n\xff",
        b"",
    ],
    ids=["status", "header", "chunk", "no-http", "nothing"],
)
def test_an_answer_that_is_no_http_is_one_short_line_too(bench: Bench, answer: bytes) -> None:
    """What the transport says of it is shown as short and on as few lines as what an endpoint says."""
    with saying(answer) as url:
        flags = ("--limit", "1", "--language", "aa", "--max-retries", "0", "--api-base-url", url)
        ended = run(bench, *flags)
    assert ended.status == 2, ended.shown
    assert obeyed(ended.shown) == set()
    (message,) = (entry["message"] for entry in bench.journal("failed"))
    assert obeyed(message) == set() == set(message) & {"\n"}
    assert len(message) < 600
    assert message in ended.shown


@pytest.mark.parametrize(
    ("status", "depth"),
    [(200, 100_000), (400, 600), (500, 600), (500, 100_000)],
)
def test_a_body_that_nests_too_deep_is_a_failure_of_the_call(bench: Bench, status: int, depth: int) -> None:
    """It is an answer that cannot be read like any other: recorded, without a traceback."""
    text = '{"choices":' + "[" * depth + "]" * depth + "}"
    bench.server.script = lambda body, number: Answer(text, status, {"Content-Type": "application/json"})
    flags = ("--limit", "1", "--language", "aa", "--max-retries", "0", "--keep-going")
    ended = run(bench, *flags)
    assert ended.status == 1, ended.shown[-3000:]
    assert bench.results()["summary"]["outcomes"] == {"error": 1}
    assert "RecursionError" not in ended.shown


def test_thoughts_within_thoughts_are_read(bench: Bench) -> None:
    """Parts that nest as deep as JSON can be read make a reply."""
    content: list[dict[str, Any]] = [{"type": "text", "text": "It opened in 1931."}]
    for _ in range(300):
        content = [{"type": "text", "text": ""}, {"type": "thinking", "thinking": content}]
    content.append({"type": "text", "text": "In 1931."})
    bench.server.script = lambda body, number: (
        plain_script(body, number)
        if is_judge(body)
        else Answer(completion(None, message={"content": content}))
    )
    ended = run(bench, "--limit", "1", "--language", "aa", "--max-retries", "0")
    assert ended.status == 0, ended.shown[-3000:]
