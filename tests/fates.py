"""Datasets in which every question has a fate of its own: what is said to it, and what became of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from conftest import Bench
from equipoise.report.terminal import FIRST_ERRORS
from loopback import Answer, is_judge, plain_script, question_of

Said = Answer | str


class Fates:
    """A script: to each question its own answers in turn, and the ordinary one once they are used up."""

    def __init__(
        self,
        subject: Mapping[str, Iterable[Said]] | None = None,
        judge: Mapping[str, Iterable[Said]] | None = None,
    ) -> None:
        by_role = ((False, subject or {}), (True, judge or {}))
        self._left = {(of, question): iter(all_of[question]) for of, all_of in by_role for question in all_of}

    def __call__(self, body: dict[str, Any], number: int) -> Said:
        """What to say next to the question of this request."""
        left = self._left.get((is_judge(body), question_of(body)), iter(()))
        answer = next(left, None)
        return plain_script(body, number) if answer is None else answer


def write_dataset(bench: Bench, questions: Iterable[str]) -> None:
    """A dataset of these questions in one language."""
    bench.write_topics({"aa.txt": "".join(f"{question}\n" for question in questions)})


def finish(bench: Bench, *arguments: str, status: int) -> str:
    """What a session prints that asks every question once and ends with this exit status."""
    done = bench.run("--runs", "1", *arguments, status=status)
    return done.stdout + done.stderr


def asked(bench: Bench, *, judge: bool) -> dict[str, int]:
    """How often each question was asked of the subject, or of the evaluators."""
    return dict(Counter(question_of(body) for body in bench.server.requests if is_judge(body) == judge))


def runs(bench: Bench) -> dict[str, dict[str, Any]]:
    """The run of every question in the results."""
    languages = bench.results()["results"].values()
    return {item["question"]: item["runs"][0] for part in languages for item in part["questions"]}


def outcomes(bench: Bench) -> dict[str, str]:
    """How the run of every question ended."""
    return {question: run["outcome"] for question, run in runs(bench).items()}


def errors(bench: Bench) -> dict[str, str]:
    """The message of every run without a score."""
    return {item["question"]: item["message"] for item in bench.results()["errors"]}


def calls(bench: Bench) -> dict[str, int]:
    """How many calls the results tell of."""
    counts: dict[str, int] = bench.results()["metadata"]["calls"]
    return counts


def lines(output: str, start: str) -> list[str]:
    """All lines that begin so, with single spaces."""
    plain = (" ".join(line.split()) for line in output.splitlines())
    return [line for line in plain if line.startswith(start)]


def stopped_by(output: str) -> list[str]:
    """Why pytest says that it was interrupted."""
    return re.findall(r"^!+ (?:xdist\.dsession\.)?Interrupted: (.*?) !+$", output, re.MULTILINE)


def assert_errors_are_told(bench: Bench, output: str) -> None:
    """Every reason why a run has no score has its one line in the summary, as far as those are shown."""
    errors = bench.results()["errors"]
    error_lines = [
        " ".join(f"{item['outcome']}: {item['run']}: {item['message']}".split()) for item in errors
    ]
    reasons = {item["message"] for item in errors}
    shown = lines(output, "error: ") + lines(output, "unscored: ")
    assert (set(shown) <= set(error_lines), len(shown)) == (True, min(FIRST_ERRORS, len(reasons)))
    assert (f"{len(error_lines):,} errors)" in output) == (len(error_lines) > len(shown))
