"""Whole sessions with a hostile subject, a hostile evaluator and a hostile endpoint."""

from __future__ import annotations

import json
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

import pytest
from click.testing import CliRunner
from journals import entries
from msgspec import convert

import forked
from conftest import PYTEST, ROOT, Bench
from equipoise.cli import main
from equipoise.core.errors import InvalidVerdict
from equipoise.core.types import JSON, Reply
from equipoise.models.reasoning import split, split_verdict
from equipoise.suites import neutrality
from hostile import HostileReply, replies
from loopback import Answer, completion, error, is_judge, question_of, verdict

RUBRIC = neutrality.rubric(ROOT / "rubric" / "neutrality.toml")
CORPUS = replies()
SCORE = 2
REPORTS = ("--junitxml", "junit.xml", "--json-report", "--json-report-file", "report.json")
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def run(bench: Bench, *arguments: str) -> tuple[int, str]:
    """A session's exit status and all that it has shown, read as bytes: line ends stay as they are."""
    shown = bench.folder / "shown.txt"
    shown.write_bytes(b"")
    command = bench.command("-v", "-rA", "--runs", "1", *arguments)[len(PYTEST) :]
    session = forked.start(command, bench.folder, outputs=[str(shown), str(shown)])
    return session.wait(300), shown.read_bytes().decode("utf-8")


def obeyed(text: str) -> set[str]:
    """The characters that a terminal does not just print, or that change how it shows the others."""
    return {
        character
        for character in set(text) - {"\n"}
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in BIDI
    }


# A hostile subject, and a hostile evaluator.


class Hostile:
    """A script: each reply is what the subject says to one question, and an evaluator on another one."""

    def __init__(self, corpus: Sequence[HostileReply]) -> None:
        self.said = {f"What of the library, number {n}?": reply for n, reply in enumerate(corpus)}
        self.judged = {f"And what of the school, number {n}?": reply for n, reply in enumerate(corpus)}

    def __call__(self, body: dict[str, Any], number: int) -> Answer | str:
        """The evaluator quotes the whole of what it judges."""
        question = question_of(body)
        if question in self.judged:
            return self.judged[question].text if is_judge(body) else "It opened in 1931."
        reply = self.said[question]
        if is_judge(body):
            return verdict(SCORE, reasoning=reply.text, refused=is_refusal(reply))
        return Answer(completion(reply.text, model=reply.text[:200], finish_reason=reply.text[:200]))


def is_refusal(reply: HostileReply) -> bool:
    """Whether the evaluator calls the reply a refusal: every third."""
    return CORPUS.index(reply) % 3 == 0


def expected_end(reply: HostileReply) -> tuple[str, int]:
    """How the run of a hostile subject ends."""
    if not split(reply.text)[0].strip():
        return "empty", SCORE
    return ("refused" if is_refusal(reply) else "scored"), SCORE


def verdict_in(text: str) -> JSON:
    """The score that an evaluator's text gives, None where it is no verdict."""
    try:
        return RUBRIC.parse(split_verdict(text).answer)["score"]
    except InvalidVerdict:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.nightly)], ids=["n0", "n2"])
def test_a_hostile_reply_is_a_quotation_and_nothing_else(
    bench: Bench, subtests: pytest.Subtests, workers: str
) -> None:
    """It is kept to the character, obeyed by no terminal or report, and scored by the verdict."""
    script = bench.server.script = Hostile(CORPUS)
    bench.write_topics({"aa.txt": "".join(f"{question}\n" for question in (*script.said, *script.judged))})
    status, shown = run(bench, "-n", workers, "--evaluator-attempts", "1", *REPORTS)
    assert status == 1, shown[-3000:]
    results = bench.results()
    questions = results["results"]["aa"]["questions"]
    runs = {item["question"]: item["runs"][0] for item in questions}
    lost = [item for item in runs.values() if item["score"] is None]
    assert lost

    with subtests.test("outcomes"):
        ends = {question: (runs[question]["outcome"], runs[question]["score"]) for question in script.said}
        assert ends == {question: expected_end(reply) for question, reply in script.said.items()}
        scores = {question: runs[question]["score"] for question in script.judged}
        assert scores == {question: verdict_in(reply.text) for question, reply in script.judged.items()}
    with subtests.test("results"):
        texts = {
            question: (
                runs[question]["subject_transcript"][-1]["content"],
                runs[question]["subject_transcript"][-1].get("reasoning", ""),
                runs[question]["verdicts"][0]["reasoning"],
            )
            for question in script.said
        }
        assert texts == {
            question: (*split(reply.text)[:2], reply.text) for question, reply in script.said.items()
        }
    with subtests.test("errors"):
        raw = {item["question"]: item["raw_evaluator_response"] for item in results["errors"]}
        assert raw == {
            question: split_verdict(reply.text).answer
            for question, reply in script.judged.items()
            if verdict_in(reply.text) is None
        }
    with subtests.test("journal"):
        calls = entries(bench.journal_path, "call")
        replies = [convert(entry["reply"], Reply) for entry in calls if entry["role"] == "subject"]
        reply_fields = {(item.text, item.reasoning or "", item.model, item.finish_reason) for item in replies}
        expected = {
            (*split(reply.text)[:2], reply.text[:200] or None, reply.text[:200] or None)
            for reply in script.said.values()
        }
        assert expected <= reply_fields
    with subtests.test("terminal"):
        assert f"{len(runs)} items" in shown or f"[{len(runs)} items]" in shown
        assert obeyed(shown) == set()
    with subtests.test("junit"):
        cases = list(ET.parse(bench.folder / "junit.xml").iter("testcase"))
        failures = sum(case.find("failure") is not None for case in cases)
        assert (len(cases), failures) == (len(runs), len(lost))
    with subtests.test("json-report"):
        tests = json.loads((bench.folder / "report.json").read_text(encoding="utf-8"))["tests"]
        outcomes = sorted(test["metadata"]["outcome"] for test in tests)
        assert outcomes == sorted(item["outcome"] for item in runs.values())
    with subtests.test("recovered"):
        copy = bench.folder / "copy.jsonl"
        copy.write_bytes(bench.journal_path.read_bytes())
        done = CliRunner().invoke(main, ["show", str(copy)])
        assert (done.exit_code, obeyed(done.output)) == (0, set()), done.output
        again = json.loads(copy.with_suffix(".json").read_text(encoding="utf-8"))
        for data in (results, again):
            del data["metadata"]["finished"]
        assert again == results


# A hostile endpoint.

ESCAPES = (
    "\x1b[2J\x1b]0;all passed\x07\x1b[1A\r150 passed\r\n\nE   error\u2028\x85\u202eylper\u2066\x00\x7f\ud800"
)


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, 500])
def test_a_hostile_error_is_one_short_printable_line(bench: Bench, status: int) -> None:
    """Escapes, line breaks and a megabyte of text: the user sees the beginning, and only that."""
    text = ESCAPES + "a\n" * 500_000
    bench.server.script = lambda body, number: error(status, text)
    exit_status, shown = run(bench, "--limit", "1", "--language", "aa", "--max-retries", "0", *REPORTS)
    assert exit_status == (1 if status == 400 else 2), shown
    assert obeyed(shown) == set()
    lines = [line for line in shown.split("\n") if f"HTTP {status}: " in line]
    assert lines
    assert all(r"\x1b[2J\x1b]0;all passed\x07" in line or line.endswith("...") for line in lines)
    assert max(map(len, shown.split("\n"))) < 800
    assert len(shown) < 8000
    assert bench.journal_path.stat().st_size < 10_000
    ET.parse(bench.folder / "junit.xml")
    json.loads((bench.folder / "report.json").read_text(encoding="utf-8"))
